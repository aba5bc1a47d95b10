//! A past position of the store: which lines had been written by then. A command sets it beside the settings. Not here: the
//! position of a log (`store`).

use std::path::{Path, PathBuf};

use event::Timestamp;

/// A past position of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastPosition {
    /// Lines with a later time are excluded. Lines without a time are included.
    pub time: Timestamp,
    /// The first bytes of this log, up to this offset, are included whatever time their lines state.
    pub end: Option<(PathBuf, u64)>,
}

impl PastPosition {
    /// Tells whether a line that ends at byte `end` of a log is included.
    #[must_use]
    pub fn has(&self, log: &Path, end: u64, timestamp: Option<Timestamp>) -> bool {
        match &self.end {
            Some((cut, bytes)) if cut == log => end <= *bytes,
            Some(_) | None => timestamp.is_none_or(|at| at <= self.time),
        }
    }
}
