//! Checks what writers do without leaving anything behind: can a file be created here, is a lock held. Not
//! here: judging the result (`upkeep::doctor`).

use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

use super::lock::{self, FileLock};
use super::open_private;
use super::{Store, StoreError};
use event::{EventId, RepoKey};

/// The result of trying a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockState {
    /// The lock is free, or was never taken.
    Free,
    /// The lock was held and became free after this many milliseconds.
    FreeAfter(u64),
    /// The lock was held longer than a writer waits, which is this many milliseconds.
    Held(u64),
}

/// What the probe writes: one block, since a full disk still takes an empty file.
const PROBE: [u8; 4096] = [b' '; 4096];

/// Writes a small file to the disk in a folder and removes it again. Returns the file's metadata, whose owner is the user
/// of this process.
///
/// # Errors
/// The system's error.
pub fn create_probe_file(folder: &Path) -> io::Result<Metadata> {
    let path = folder.join(format!(".probe-{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    let mut file = open_private(&mut options, &path)?;
    let written = file.write_all(&PROBE).and_then(|()| file.sync_data());
    let metadata = file.metadata();
    std::fs::remove_file(&path)?;
    written.and(metadata)
}

/// Bytes at the end of a log in which a write is looked for that may have happened a moment ago.
const RECENT_BYTES: u64 = 16 * 1024 * 1024;

impl Store {
    /// Tells whether a line with this id stands near the end of the log of a repository, or waits for it.
    #[must_use]
    pub fn holds_recent(&self, repo: &RepoKey, id: &EventId) -> bool {
        let needle = format!("\"id\":{}", serde_json::Value::from(id.as_str()));
        let waiting = self.spooled().unwrap_or_default();
        let mut files = waiting.into_iter().chain([self.log_of(repo)]);
        files.any(|file| {
            end_of(&file).is_ok_and(|bytes| {
                bytes.windows(needle.len()).any(|part| part == needle.as_bytes())
            })
        })
    }

    /// Tries the lock of a log and releases it at once. Creates no lock file.
    ///
    /// # Errors
    /// [`StoreError`] if the lock cannot be tried.
    pub fn try_lock_of(&self, log: &Path) -> Result<LockState, StoreError> {
        let path = lock::path_of(log);
        if path.symlink_metadata().is_err() {
            return Ok(LockState::Free);
        }
        if let Some(state) = taken(FileLock::acquire(&path, 0), LockState::Free)? {
            return Ok(state);
        }
        let begun = Instant::now();
        let outcome = FileLock::acquire(&path, lock::WAIT_MS_MAX);
        let waited_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let state = taken(outcome, LockState::FreeAfter(waited_ms))?;
        Ok(state.unwrap_or(LockState::Held(lock::WAIT_MS_MAX)))
    }
}

fn end_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(RECENT_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(RECENT_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn taken(
    outcome: Result<FileLock, StoreError>,
    state: LockState,
) -> Result<Option<LockState>, StoreError> {
    match outcome {
        Ok(_) => Ok(Some(state)),
        Err(StoreError::Busy { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_told_from_a_free_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let log = folder.path().join("a.jsonl");
        assert_eq!(store.try_lock_of(&log).unwrap(), LockState::Free);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is made");
        store.ensure().unwrap();
        let held = FileLock::acquire(&lock::path_of(&log), 0).unwrap();
        assert_eq!(store.try_lock_of(&log).unwrap(), LockState::Held(lock::WAIT_MS_MAX));
        drop(held);
        assert_eq!(store.try_lock_of(&log).unwrap(), LockState::Free);
    }

    // S-SERVE-3
    #[test]
    fn a_write_is_found_near_the_end_of_its_log_or_waiting_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let (repo, other) = (RepoKey::parse("api").unwrap(), RepoKey::parse("web").unwrap());
        let id = |text: &str| EventId::foreign(text).unwrap();
        assert!(!store.holds_recent(&repo, &id("m1")));
        std::fs::write(store.log_of(&repo), "{\"id\":\"m1\",\"lesson\":\"x\"}\n").unwrap();
        assert!(store.holds_recent(&repo, &id("m1")) && !store.holds_recent(&repo, &id("m")));
        assert!(!store.holds_recent(&other, &id("m1")));
    }

    #[test]
    fn a_probe_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        assert!(create_probe_file(folder.path()).unwrap().is_file());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(create_probe_file(&folder.path().join("nowhere")).is_err());
    }
}
