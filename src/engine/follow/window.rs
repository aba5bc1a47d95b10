//! The window on the ends of the logs, for answers while all logs are read. Not here: reading
//! (`store`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use store::Tail;

/// How much of the end of each log is read for answers while all logs are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The logs of the callers' repositories.
    pub homes: BTreeSet<PathBuf>,
    /// Bytes of each of those.
    pub home_bytes: u64,
    /// Bytes of all other logs together.
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
