//! The ends of the logs, for an answer while all is read. Not here: reading (`store`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use store::Tail;

/// How much of the end of each log is read, where not all is: enough for an answer while all is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The logs of the repositories at hand.
    pub homes: BTreeSet<PathBuf>,
    /// How much of each of those, in bytes.
    pub home_bytes: u64,
    /// How much of all others together, in bytes.
    pub others_bytes: u64,
}

impl Window {
    /// Follows the end of one of `count` logs.
    pub(super) fn tail(&self, log: &Path, count: u64) -> Tail {
        let is_home = self.homes.contains(log);
        let bytes = if is_home { self.home_bytes } else { self.others_bytes / count.max(1) };
        Tail::near_the_end_of(log, bytes)
    }
}
