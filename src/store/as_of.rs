//! A past position of the store: which lines had been written by then. Not here: reading them (`tail`).

use std::path::{Path, PathBuf};

use event::{Timestamp, codec};

use super::{Store, StoreError, Tail};

/// A past position of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsOf {
    /// Lines with a later time are excluded. Lines without a time are included.
    pub time: Timestamp,
    /// The first bytes of this log, up to this offset, are included whatever time their lines state.
    pub end: Option<(PathBuf, u64)>,
}

impl AsOf {
    /// Returns the position of a log at a length in bytes. Other logs are included up to the latest time that a
    /// line of this log had at that point.
    ///
    /// # Errors
    /// [`StoreError`] if the log cannot be read.
    pub fn of_log(log: PathBuf, bytes: u64) -> Result<Self, StoreError> {
        let file_repo = Store::repo_of(&log).to_string();
        let mut time = Timestamp::UNIX_EPOCH;
        Tail::of(log.clone()).read(|line| {
            let is_there = line.end() <= bytes;
            if let codec::Decoded::Event(event) = codec::decode(line.bytes, &file_repo)
                && let Some(at) = event.timestamp.filter(|_| is_there)
            {
                time = time.max(at);
            }
        })?;
        Ok(Self { time, end: Some((log, bytes)) })
    }

    /// Tells whether a line that ends at byte `end` of a log is included.
    #[must_use]
    pub fn has(&self, log: &Path, end: u64, timestamp: Option<Timestamp>) -> bool {
        match &self.end {
            Some((cut, bytes)) if cut == log => end <= *bytes,
            Some(_) | None => timestamp.is_none_or(|at| at <= self.time),
        }
    }
}
