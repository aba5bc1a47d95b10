//! Writes files into the model directory: each is there whole or not at all, even if a process is killed meanwhile.
//!
//! What is not here: what is in them (`checksum_cache`, `int8`).

use std::fs::DirEntry;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A draft this old was left by a process that was killed: writing one takes seconds at most.
const LEFT_AFTER: Duration = Duration::from_secs(60 * 60);

/// Writes a draft beside `name` in `dir` and renames it into place; old drafts of it are removed.
///
/// # Errors
/// The directory cannot be written to, or is full; then all is as before.
pub(super) fn write(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let drafts = format!(".draft-{}.", name.trim_start_matches('.'));
    remove_left(dir, &drafts);
    let draft = dir.join(format!("{drafts}{}", std::process::id()));
    let done = std::fs::write(&draft, bytes)
        .and_then(|()| store::give_to_folder_owner(&draft))
        .and_then(|()| std::fs::rename(&draft, dir.join(name)));
    if done.is_err() {
        // This fails where there is no draft.
        let _ = std::fs::remove_file(&draft);
    }
    done
}

fn remove_left(dir: &Path, drafts: &str) {
    let is_left = |entry: &DirEntry| {
        let is_draft = entry.file_name().to_string_lossy().starts_with(drafts);
        let written = entry.metadata().ok().filter(|_| is_draft)?.modified().ok()?;
        written.elapsed().ok().filter(|age| *age > LEFT_AFTER)
    };
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for left in entries.filter(|entry| is_left(entry).is_some()) {
        // Another process may just have removed it.
        let _ = std::fs::remove_file(left.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::time::SystemTime;

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_only_old_drafts_of_it_go() {
        let dir = tempfile::tempdir().unwrap();
        let old = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
        for name in [".draft-model.1", ".draft-model.2", ".draft-other.1", "model"] {
            std::fs::write(dir.path().join(name), "before").unwrap();
            if name != ".draft-model.2" {
                let file = File::options().write(true).open(dir.path().join(name)).unwrap();
                file.set_times(old).unwrap();
            }
        }
        write(dir.path(), "model", b"now").unwrap();
        assert_eq!(names(dir.path()), [".draft-model.2", ".draft-other.1", "model"]);
        assert_eq!(std::fs::read(dir.path().join("model")).unwrap(), b"now");
    }

    #[test]
    fn what_cannot_be_replaced_stays_and_no_draft_is_left() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("model")).unwrap();
        write(dir.path(), "model", b"now").unwrap_err();
        assert_eq!(names(dir.path()), ["model"]);
    }
}
