//! Removes checkpoints that no retriever has used for long: of stores that are gone, and of settings that were
//! changed. A file in each folder records when the folder was last used. Not here: what a checkpoint is
//! (`engine::checkpoint`).

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use daemon::endpoint::Endpoint;
use store::{make_private_dir, write_private};

/// After this many days a store is unlikely to be asked again. If it is, its logs are read instead.
const UNUSED_DAYS_MAX: u64 = 60;

/// The file whose content is the time of the last use.
const MARK: &str = "used";

/// Records that a folder is in use, and removes folders beside it that were not used for long. On any failure they
/// stay: they only cost disk space.
pub fn remove_unused_checkpoints(index: &Path, endpoint: &Endpoint, now: Timestamp) {
    let mine = index.join(endpoint.name());
    let _ = make_private_dir(&mine);
    let _ = write_private(&mine.join(MARK), &format!("{now}\n"));
    let Ok(folders) = std::fs::read_dir(index) else { return };
    for folder in
        folders.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| *path != mine)
    {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(other) = endpoint.sibling(name).filter(|_| is_old(&folder, now)) else { continue };
        // A process that holds the lock uses the folder, whatever the mark says.
        if let Ok(_nobody_else) = other.elect_now() {
            let _ = std::fs::remove_dir_all(&folder);
            let _ = std::fs::remove_file(other.message_log());
        }
    }
}

/// Tells whether the mark is old. A folder of a version without marks gets one first.
fn is_old(folder: &Path, now: Timestamp) -> bool {
    if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return false;
    }
    let mark = folder.join(MARK);
    let used =
        std::fs::read_to_string(&mark).ok().and_then(|text| text.trim().parse::<Timestamp>().ok());
    let Some(used) = used else {
        let _ = write_private(&mark, &format!("{now}\n"));
        return false;
    };
    let age = Duration::try_from(now.duration_since(used)).unwrap_or_default();
    age > Duration::from_secs(UNUSED_DAYS_MAX * 24 * 60 * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_AGO: &str = "2026-01-01T00:00:00Z\n";

    #[test]
    fn only_long_unused_checkpoints_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (index, run) = (folder.path().join("index"), folder.path().join("run"));
        let endpoint = Endpoint::for_settings(run, &["mine"]);
        endpoint.create_folder().unwrap();
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        let made = |name: &str, mark: Option<&str>| {
            let path = index.join(name);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("manifest"), "x").unwrap();
            if let Some(mark) = mark {
                std::fs::write(path.join(MARK), mark).unwrap();
            }
            path
        };
        let old = made("0123456789abcdef", Some(LONG_AGO));
        let held = made("1123456789abcdef", Some(LONG_AGO));
        let kept = [
            made("2123456789abcdef", Some("2026-05-01T00:00:00Z\n")),
            made("3123456789abcdef", None),
            made("no name of ours", Some(LONG_AGO)),
            made(endpoint.name(), Some(LONG_AGO)),
            held.clone(),
        ];
        let in_use = endpoint.sibling("1123456789abcdef").unwrap().elect_now().unwrap();
        remove_unused_checkpoints(&index, &endpoint, now);
        assert!(!old.exists());
        assert!(kept.iter().all(|path| path.join("manifest").exists()));
        drop(in_use);
        remove_unused_checkpoints(&index, &endpoint, now);
        assert!(!held.exists());
        assert_eq!(
            std::fs::read_to_string(index.join(endpoint.name()).join(MARK)).unwrap(),
            format!("{now}\n")
        );
        let marked = std::fs::read_to_string(kept[1].join(MARK));
        assert_eq!(marked.unwrap(), format!("{now}\n"), "it is counted from now on");
    }
}
