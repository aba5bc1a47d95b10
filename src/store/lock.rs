//! A lock between processes, in a file of its own beside what it protects. The only file that names
//! fs2. Not here: what is done under the lock.
//!
//! The lock belongs to the open file: when a process dies it is gone, so there is nothing to clean
//! up. It is a file apart because some systems' locks would otherwise keep readers out of the log,
//! and because the log itself may be replaced while it is held.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{StoreError, layout};

/// An exclusive lock, released when dropped.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

/// How long an append waits for its turn. One append holds the lock for microseconds, so only a
/// stopped process makes anybody wait this long. An agent must not hang for more than two seconds, and
/// what cannot get its turn has still to be written to the spool.
pub(super) const WAIT_MS_MAX: u64 = 1_800;

/// The first pause between two tries; it doubles up to the longest.
const PAUSE_US_MIN: u64 = 50;
const PAUSE_US_MAX: u64 = 1_000;

impl FileLock {
    /// Takes the lock, waiting at most `wait_ms` milliseconds for others.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when the wait was not enough, [`StoreError::Io`] when the file cannot be
    /// opened or locked at all.
    pub fn take(path: &Path, wait_ms: u64) -> Result<Self, StoreError> {
        let mut file = open(path)?;
        let deadline = Instant::now() + Duration::from_millis(wait_ms);
        let mut pause_us = PAUSE_US_MIN;
        loop {
            // `fs2::FileExt::` spelled out: std has a method of the same name with other errors.
            match fs2::FileExt::try_lock_exclusive(&file) {
                Ok(()) if layout::is_still_at(&file, path) => return Ok(Self { file }),
                // Somebody cleaned up: who locks the new file would not be held off by the old one.
                Ok(()) if Instant::now() < deadline => file = open(path)?,
                Ok(()) => return Err(StoreError::Busy { path: path.to_owned(), wait_ms }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_contended(&error) => {
                    if Instant::now() >= deadline {
                        return Err(StoreError::Busy { path: path.to_owned(), wait_ms });
                    }
                    // Each process pauses a little differently, so that they do not try in step.
                    let jitter_us = u64::from(std::process::id()) % pause_us;
                    std::thread::park_timeout(Duration::from_micros(pause_us + jitter_us));
                    pause_us = (pause_us * 2).min(PAUSE_US_MAX);
                }
                Err(error) => return Err(StoreError::io("lock", path)(error)),
            }
        }
    }

    /// Returns the lock's file, for what else it holds.
    #[cfg(unix)]
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

fn is_contended(error: &io::Error) -> bool {
    let contended = fs2::lock_contended_error();
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == contended.raw_os_error()
}

fn open(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    layout::private(&mut options);
    let file = options.open(path).map_err(StoreError::io("open the lock", path))?;
    let metadata = file.metadata().map_err(StoreError::io("inspect", path))?;
    if metadata.is_file() {
        return Ok(file);
    }
    Err(StoreError::NotALog { path: path.to_owned(), what: layout::NO_PLAIN_FILE })
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file releases the lock as well, so a failure here has no consequence.
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

/// Returns where the lock of `protected` is: in `.locks` beside it, out of the way of `ls` and jq.
#[must_use]
pub(super) fn path_of(protected: &Path) -> PathBuf {
    let folder = protected.parent().unwrap_or(Path::new("."));
    let mut name = protected.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    folder.join(layout::LOCKS).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STORE-3
    #[test]
    fn a_held_lock_makes_others_busy_and_is_free_after_drop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = FileLock::take(&path, 0).unwrap();
        assert!(matches!(FileLock::take(&path, 20), Err(StoreError::Busy { wait_ms: 20, .. })));
        drop(held);
        FileLock::take(&path, 0).unwrap();
    }

    #[cfg(unix)]
    // S-STORE-3
    #[test]
    fn a_lock_whose_file_was_cleaned_away_holds_nobody_off_and_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = FileLock::take(&path, 0).unwrap();
        std::fs::remove_file(&path).unwrap();
        let second = FileLock::take(&path, 0).unwrap();
        assert!(
            layout::is_still_at(&second.file, &path) && !layout::is_still_at(&held.file, &path)
        );
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = FileLock::take(&path, 0).unwrap();
        let waiter = {
            let path = path.clone();
            std::thread::spawn(move || FileLock::take(&path, WAIT_MS_MAX).map(|_| ()))
        };
        drop(held);
        waiter.join().unwrap().unwrap();
    }
}
