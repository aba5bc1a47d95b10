//! A past position of the store: which lines had been written by then. Not here: reading them (`tail`).

use std::path::{Path, PathBuf};

use event::{Timestamp, codec};

use super::{Store, StoreError, Tail};

/// A past position of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsOf {
    /// Lines of a later time are not there. One without a time is.
    pub time: Timestamp,
    /// Of this log its first so many bytes are there, whatever their lines say of their time.
    pub end: Option<(PathBuf, u64)>,
}

impl AsOf {
    /// The position of a log where it had so many bytes. Of other logs there is what is no later than the latest
    /// line that was in it by then.
    ///
    /// # Errors
    /// [`StoreError`] where the log cannot be read.
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

    /// Tells whether a line of a log that ends after so many bytes was there.
    #[must_use]
    pub fn has(&self, log: &Path, end: u64, timestamp: Option<Timestamp>) -> bool {
        match &self.end {
            Some((cut, bytes)) if cut == log => end <= *bytes,
            Some(_) | None => timestamp.is_none_or(|at| at <= self.time),
        }
    }
}
