//! A memory with what is to be checked of it, and the point from which its files are compared. Not here: finding that point in
//! git (`base_commits`), checking.

use std::sync::Arc;

use event::Timestamp;
use memory::Memory;

/// A memory with something to check.
pub(super) struct CheckedMemory<'a> {
    pub(super) memory: &'a Arc<Memory>,
    pub(super) paths: Vec<String>,
    pub(super) base: ComparisonBase,
    pub(super) commit: Option<String>,
}

/// Returns when a memory last held: when it was written or last confirmed.
pub(crate) fn last_held(memory: &Memory) -> Option<Timestamp> {
    memory.timestamp.max(memory.verdicts().last_good)
}

/// The point from which a memory is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ComparisonBase {
    /// A commit, and a time in case git does not have the commit.
    Commit(String, Option<Timestamp>),
    /// A time; `None` where it is unknown.
    Time(Option<Timestamp>),
}
