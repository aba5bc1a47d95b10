//! The configuration file while a process runs: it is read again only if it may have changed since. Not here: what a change means
//! (`model_watch`, `reranking`).

use std::path::PathBuf;
use std::time::SystemTime;

use access::file_mark::{FileMark, settled_file_mark};
use settings::Config;
use store::{StoreError, read_config};

/// A configuration file, and how it looked when it was read.
pub struct FollowedConfig {
    path: PathBuf,
    mark: Option<FileMark>,
}

impl FollowedConfig {
    /// Follows a file that was not read yet.
    pub fn new(path: PathBuf) -> Self {
        Self { path, mark: None }
    }

    /// Reads the file unless it is as it was; then `None`. A file that could not be read is read again each time, since what was wrong
    /// may be a folder above it.
    #[expect(
        clippy::disallowed_methods,
        reason = "the system dates files by its own clock, whatever clock this process was given"
    )]
    pub fn read_if_changed(&mut self) -> Option<Result<Config, StoreError>> {
        self.changed_by(SystemTime::now())
    }

    fn changed_by(&mut self, now: SystemTime) -> Option<Result<Config, StoreError>> {
        // Looked at before it is read, so that what is written meanwhile is seen next time. A link counts as what it leads to.
        let found = self.path.metadata().ok();
        let mark = found.and_then(|found| settled_file_mark(&found, now));
        if mark.is_some() && mark == self.mark {
            return None;
        }
        let read = read_config(&self.path);
        self.mark = mark.filter(|_| read.is_ok());
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    /// What counts without a file, in MiB.
    const USUAL: u64 = 1_024;

    /// Writes the file, and returns when that was.
    fn write(path: &Path, mib: u64) -> SystemTime {
        std::fs::write(path, format!("memory_mib = {mib}\n")).unwrap();
        path.metadata().unwrap().modified().unwrap()
    }

    /// What the file says if it was read now, in MiB.
    fn read(followed: &mut FollowedConfig, now: SystemTime) -> Option<u64> {
        let config = followed.changed_by(now)?.unwrap();
        Some(config.general.memory_mib.bytes() / 1024 / 1024)
    }

    // S-RERANK-1
    #[test]
    fn a_settled_file_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let mut followed = FollowedConfig::new(path.clone());
        let nothing = read(&mut followed, SystemTime::UNIX_EPOCH);
        assert_eq!(nothing, Some(USUAL), "there is no file yet");
        let written = write(&path, 500);
        let later = |seconds| written + Duration::from_secs(seconds);
        assert_eq!(read(&mut followed, later(10)), Some(500));
        assert_eq!(read(&mut followed, later(11)), None);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read(&mut followed, later(12)), Some(USUAL));
    }

    // S-RERANK-1
    #[test]
    fn a_young_file_is_always_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let mut followed = FollowedConfig::new(path.clone());
        // The clock of the file stands still: each write is as old, and its text as long, as the one before.
        let written = write(&path, 400);
        let times = std::fs::FileTimes::new().set_modified(written);
        let write = |mib| {
            write(&path, mib);
            std::fs::File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
        };
        let now = written + Duration::from_secs(1);
        for mib in [500, 600, 700] {
            write(mib);
            assert_eq!(read(&mut followed, now), Some(mib));
            assert_eq!(read(&mut followed, now), Some(mib), "it may change yet");
        }
        let past = written - Duration::from_secs(3_600);
        assert_eq!(read(&mut followed, past), Some(700), "the clock was set back");
        assert_eq!(read(&mut followed, past), Some(700));
    }

    // S-RERANK-1
    #[test]
    fn a_file_that_cannot_be_read_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, "memory_mib = ").unwrap();
        let mut followed = FollowedConfig::new(path.clone());
        let later = path.metadata().unwrap().modified().unwrap() + Duration::from_secs(10);
        assert!(followed.changed_by(later).unwrap().is_err());
        assert!(followed.changed_by(later).unwrap().is_err());
    }
}
