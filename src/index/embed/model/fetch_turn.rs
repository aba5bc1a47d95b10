//! Keeps a fetch of the model single, and tells others how far it is: a lock, and a file with the last line, in the model
//! directory. Not here: the fetch itself (`fetch`).

use std::path::{Path, PathBuf};

use super::atomic_write;
use store::{FileLock, StoreError, make_private_dir};

/// The lock of the fetch. The system releases it with the process.
const LOCK: &str = ".fetch.lock";
/// The last line of progress, or how the last fetch failed.
const STATE: &str = ".fetch.state";
/// What an error of a fetch begins with.
const NOT_FETCHED: &str = "the model was not fetched: ";
/// Begins the line of a fetch that failed.
const FAILED: &str = "failed: ";
/// The line of a fetch that has not said anything yet.
pub const STARTING: &str = "starting";
/// How long a fetch waits for the lock: others take it for a moment, to see whether it is free.
const WAIT_MS: u64 = 200;

/// What is known about the fetch of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchState {
    /// None runs, and the last one did not fail.
    None,
    /// One runs, and this is how far it is.
    Running(String),
    /// The last one failed, for this reason.
    Failed(String),
}

/// Returns what is known about the fetch into a directory. Leaves nothing behind.
#[must_use]
pub fn fetch_state(dir: &Path) -> FetchState {
    let lock = dir.join(LOCK);
    if !lock.exists() {
        return FetchState::None;
    }
    let is_running = matches!(FileLock::acquire(&lock, 0), Err(StoreError::Busy { .. }));
    let line = std::fs::read_to_string(dir.join(STATE)).unwrap_or_default();
    match line.strip_prefix(FAILED) {
        // A process that says so is about to end.
        Some(why) => FetchState::Failed(why.to_owned()),
        None if is_running => FetchState::Running(line),
        None => FetchState::None,
    }
}

/// The turn of the one process that fetches.
pub(super) struct FetchTurn {
    dir: PathBuf,
    _lock: FileLock,
}

impl FetchTurn {
    /// Takes the turn; `None` while another process has it.
    ///
    /// # Errors
    /// The directory cannot be made or written to.
    pub(super) fn begin(dir: &Path) -> Result<Option<Self>, StoreError> {
        make_private_dir(dir).map_err(|why| StoreError::Io {
            action: "create",
            path: dir.to_owned(),
            source: why,
        })?;
        match FileLock::acquire(&dir.join(LOCK), WAIT_MS) {
            Ok(lock) => {
                let turn = Self { dir: dir.to_owned(), _lock: lock };
                turn.record(STARTING);
                Ok(Some(turn))
            }
            Err(StoreError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Records how far it is. Without the file others know only that it runs.
    pub(super) fn record(&self, line: &str) {
        let _ = atomic_write::write(&self.dir, STATE, line.as_bytes());
    }

    /// Records the end.
    pub(super) fn end(self, failure: Option<&str>) {
        match failure {
            Some(why) => {
                // Whoever tells it says first that there is no model.
                let why = why.strip_prefix(NOT_FETCHED).unwrap_or(why);
                self.record(&format!("{FAILED}{why}"));
            }
            // Without it nothing is known, which is right for a model that is installed.
            None => drop(std::fs::remove_file(self.dir.join(STATE))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-INIT-3
    #[test]
    fn a_fetch_is_single_and_tells_how_far_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("model");
        assert_eq!(fetch_state(&model), FetchState::None);
        assert!(!model.exists(), "looking leaves nothing behind");
        let turn = FetchTurn::begin(&model).unwrap().unwrap();
        turn.record("40 %");
        assert_eq!(fetch_state(&model), FetchState::Running("40 %".to_owned()));
        assert!(FetchTurn::begin(&model).unwrap().is_none(), "another one runs");
        turn.end(Some("the model was not fetched: no way to the server"));
        assert_eq!(fetch_state(&model), FetchState::Failed("no way to the server".to_owned()));
        let again = FetchTurn::begin(&model).unwrap().unwrap();
        assert_eq!(fetch_state(&model), FetchState::Running(STARTING.to_owned()));
        // A process that is killed leaves its last line.
        drop(again);
        assert_eq!(fetch_state(&model), FetchState::None);
        FetchTurn::begin(&model).unwrap().unwrap().end(None);
        assert_eq!(fetch_state(&model), FetchState::None);
    }
}
