//! A lock between processes, in a file beside what it protects. This is the only file that uses fs2. Not here:
//! what is done under the lock.
//!
//! The lock belongs to the open file. It ends with the process, so no stale lock needs cleaning up. The lock is
//! a separate file because on some systems it would keep readers out of the log, and because the log itself may
//! be replaced while the lock is held.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::log_file::describe_non_log;
use super::open_private;
use super::{StoreError, layout};

/// An exclusive lock that is released on drop.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    /// Whether the file has only this name, so that writing to it changes nothing elsewhere.
    is_ours_alone: bool,
}

/// How long an append waits for the lock. One append holds it for microseconds, so only a stopped process
/// causes a wait this long. An agent must not hang for more than two seconds, and a write that does not get the
/// lock still has to go to the spool.
pub(super) const WAIT_MS_MAX: u64 = 1_800;

/// The first pause between two tries; it doubles up to the longest.
const PAUSE_US_MIN: u64 = 50;
const PAUSE_US_MAX: u64 = 1_000;

/// The longest text that a lock's file keeps, in bytes.
const NOTE_BYTES_MAX: usize = 1024;

impl FileLock {
    /// Takes the lock and waits at most `wait_ms` milliseconds for other holders.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if the wait was too short, [`StoreError::Io`] if the file cannot be opened or
    /// locked.
    pub fn acquire(path: &Path, wait_ms: u64) -> Result<Self, StoreError> {
        let (mut file, mut ours) = open(path)?;
        let deadline = Instant::now() + Duration::from_millis(wait_ms);
        let mut pause_us = PAUSE_US_MIN;
        loop {
            // `fs2::FileExt::` is spelled out, because std has a method of the same name with other errors.
            match fs2::FileExt::try_lock_exclusive(&file) {
                Ok(()) if layout::named(&ours, path).is_some() => {
                    let is_ours_alone = describe_non_log(&ours).is_none();
                    return Ok(Self { file, is_ours_alone });
                }
                // The lock file was deleted. A process that locks the new file would not wait for this lock.
                Ok(()) if Instant::now() < deadline => (file, ours) = open(path)?,
                Ok(()) => return Err(StoreError::Busy { path: path.to_owned(), wait_ms }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_contended(&error) => {
                    if Instant::now() >= deadline {
                        return Err(StoreError::Busy { path: path.to_owned(), wait_ms });
                    }
                    // Each process pauses for a slightly different time, so that they do not retry in step.
                    let jitter_us = u64::from(std::process::id()) % pause_us;
                    std::thread::park_timeout(Duration::from_micros(pause_us + jitter_us));
                    pause_us = (pause_us * 2).min(PAUSE_US_MAX);
                }
                Err(error) => return Err(StoreError::io("lock", path)(error)),
            }
        }
    }

    /// Returns the lock's file, which may hold other data.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Reads the text that the holder of the lock keeps in its file. No other file need be opened for it, but the text is gone
    /// with the file, so callers must be able to do without it.
    pub(super) fn read_note(&self) -> io::Result<Vec<u8>> {
        if !self.is_ours_alone {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; NOTE_BYTES_MAX];
        let count = read_from_start(&self.file, &mut bytes)?;
        bytes.truncate(count);
        Ok(bytes)
    }

    /// Writes a text over the earlier one. The end of a longer earlier text stays. Fails if the file has a second name.
    pub(super) fn write_note(&self, text: &str) -> io::Result<()> {
        if !self.is_ours_alone {
            return Err(io::Error::other("the file of the lock has a second name"));
        }
        write_at_start(&self.file, text.as_bytes())
    }

    /// Writes a text of any length.
    pub(super) fn set_note(&self, text: &str) -> io::Result<()> {
        self.write_note(text)?;
        self.file.set_len(u64::try_from(text.len()).unwrap_or(0))
    }
}

#[cfg(unix)]
fn read_from_start(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, 0)
}

#[cfg(unix)]
fn write_at_start(file: &File, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, 0)
}

#[cfg(not(unix))]
fn read_from_start(mut file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    io::Seek::rewind(&mut file)?;
    io::Read::read(&mut file, bytes)
}

#[cfg(not(unix))]
fn write_at_start(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    io::Seek::rewind(&mut file)?;
    io::Write::write_all(&mut file, bytes)
}

fn is_contended(error: &io::Error) -> bool {
    let contended = fs2::lock_contended_error();
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == contended.raw_os_error()
}

fn open(path: &Path) -> Result<(File, Metadata), StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    let file = open_private(&mut options, path).map_err(StoreError::io("open the lock", path))?;
    let metadata = file.metadata().map_err(StoreError::io("inspect", path))?;
    if metadata.is_file() {
        return Ok((file, metadata));
    }
    Err(StoreError::NotALog { path: path.to_owned(), what: layout::NO_PLAIN_FILE })
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file also releases the lock, so a failure has no effect.
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

/// Returns the path of the lock of `protected`: in `.locks` beside it, invisible to `ls` and jq.
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
        let held = FileLock::acquire(&path, 0).unwrap();
        assert!(matches!(FileLock::acquire(&path, 20), Err(StoreError::Busy { wait_ms: 20, .. })));
        drop(held);
        FileLock::acquire(&path, 0).unwrap();
    }

    #[cfg(unix)]
    // S-STORE-3
    #[test]
    fn a_lock_whose_file_was_deleted_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = FileLock::acquire(&path, 0).unwrap();
        std::fs::remove_file(&path).unwrap();
        let second = FileLock::acquire(&path, 0).unwrap();
        assert!(
            layout::is_still_at(&second.file, &path) && !layout::is_still_at(&held.file, &path)
        );
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let held = FileLock::acquire(&path, 0).unwrap();
        let waiter = {
            let path = path.clone();
            std::thread::spawn(move || FileLock::acquire(&path, WAIT_MS_MAX).map(|_| ()))
        };
        drop(held);
        waiter.join().unwrap().unwrap();
    }
}
