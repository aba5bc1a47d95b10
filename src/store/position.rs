//! The past position of a store at which a log had a length. Not here: which lines it includes (`settings::PastPosition`).

use std::path::PathBuf;

use event::{Timestamp, codec};
use settings::PastPosition;

use super::{Store, StoreError, Tail};

impl Store {
    /// Returns the position of a log at a length in bytes. Other logs are included up to the latest time that a
    /// line of this log had at that point.
    ///
    /// # Errors
    /// [`StoreError`] if the log cannot be read.
    pub fn position_of(log: PathBuf, bytes: u64) -> Result<PastPosition, StoreError> {
        let file_repo = Self::repo_of(&log).to_string();
        let mut time = Timestamp::UNIX_EPOCH;
        Tail::from_beginning(log.clone()).read(|line| {
            let is_there = line.end() <= bytes;
            if let codec::DecodedLine::Event(event) = codec::decode(line.bytes, &file_repo)
                && let Some(at) = event.timestamp.filter(|_| is_there)
            {
                time = time.max(at);
            }
        })?;
        Ok(PastPosition { time, end: Some((log, bytes)) })
    }
}
