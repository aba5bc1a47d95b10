//! A fingerprint of what a look at a work tree depends on: its checked-out commit, its branches, and the files that memories
//! name. It is made from git's files and the times of files, without git, so it costs less than a look by far. Not here: the
//! look itself.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use place::{Place, WorkTree};

/// Most folders of branches and tags that are looked at. A new or removed branch changes its folder.
const REF_FOLDERS_MAX: usize = 256;

/// Makes the fingerprint of a work tree as it is now.
pub(super) fn tree_print(place: &Place, files: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Some(git) = place.git() {
        (&git.branch, &git.commit).hash(&mut hasher);
        for name in ["packed-refs", "shallow", "reftable"] {
            stamp(&git.common_dir.join(name)).hash(&mut hasher);
        }
        // A linked work tree notes its own commit there.
        stamp(&git.git_dir.join("reftable")).hash(&mut hasher);
        for folder in ref_folders(git) {
            stamp(&folder).hash(&mut hasher);
        }
    }
    for file in files {
        stamp(&place.top.join(file)).hash(&mut hasher);
    }
    hasher.finish()
}

/// The folders with branches and tags.
fn ref_folders(git: &WorkTree) -> Vec<PathBuf> {
    let mut found = vec![git.common_dir.join("refs")];
    let mut at = 0;
    while let Some(folder) = found.get(at).cloned() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut below: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
        below.sort_unstable();
        found.extend(below.into_iter().take(REF_FOLDERS_MAX.saturating_sub(found.len())));
        at += 1;
    }
    found
}

/// What tells one state of a file from another without reading it.
#[derive(Hash)]
struct FileStamp {
    length_bytes: u64,
    is_file: bool,
    modified: Option<SystemTime>,
    /// The change time and the inode: another file may have been put in its place.
    changed: (i64, i64, u64),
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let metadata = path.symlink_metadata().ok()?;
    Some(FileStamp {
        length_bytes: metadata.len(),
        is_file: metadata.is_file(),
        modified: metadata.modified().ok(),
        changed: changed(&metadata),
    })
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> (i64, i64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
}

#[cfg(not(unix))]
fn changed(_metadata: &Metadata) -> (i64, i64, u64) {
    (0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    // S-STALE-8
    #[test]
    fn what_a_look_depends_on_changes_the_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        fs::create_dir_all(top.join(".git/objects")).unwrap();
        write(".git/HEAD", "ref: refs/heads/main");
        write(".git/refs/heads/main", &"a".repeat(40));
        write("src/a.rs", "a");
        write("src/b.rs", "b");
        let named = ["src/a.rs".to_owned(), "src/gone.rs".to_owned()];
        let print = || tree_print(&place::place_by_files(&top, &place::Machine::default()), &named);
        let mut last = print();
        let mut is_new = |what: &str, expected: bool| {
            let now = print();
            assert_eq!(now != last, expected, "{what}");
            last = now;
        };
        is_new("nothing", false);
        write("src/b.rs", "other");
        write("src/c.rs", "new");
        write(".git/index", "x");
        is_new("what no memory names", false);
        write("src/a.rs", "ab");
        is_new("a file", true);
        fs::remove_file(top.join("src/a.rs")).unwrap();
        is_new("a file that is gone", true);
        write("src/gone.rs", "");
        is_new("a file that is back", true);
        write(".git/refs/heads/main", &"b".repeat(40));
        is_new("a commit", true);
        write(".git/refs/heads/feature/one", &"b".repeat(40));
        is_new("a branch", true);
        write(".git/HEAD", "ref: refs/heads/feature/one");
        is_new("a checkout", true);
        fs::remove_file(top.join(".git/refs/heads/main")).unwrap();
        is_new("a branch that is gone", true);
        write(".git/packed-refs", "x");
        is_new("packed branches", true);
    }
}
