//! A memory that a search found. Not here: how it was ranked (`score`).

use std::cmp::Ordering;
use std::sync::Arc;

use super::score::Score;
use memory::Memory;

/// A memory that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its number in the snapshot.
    pub number: u32,
    /// The memory.
    pub memory: Arc<Memory>,
    /// How it was ranked.
    pub score: Score,
    /// How likely it answers the query.
    pub tier: Tier,
    /// Other memories with the same text. This one is shown for them.
    pub duplicates: Vec<Arc<Memory>>,
    /// A newer or better proven memory of the same repository about the same subject.
    pub better: Option<Arc<Memory>>,
    /// The memory about the same subject that this one outdates, where that is a hit too.
    pub outdates: Option<Box<OutdatedNote>>,
}

/// A hit that a newer note about the same subject outdates.
#[derive(Debug, Clone)]
pub struct OutdatedNote {
    /// Its number in the snapshot.
    pub(crate) number: u32,
    /// The memory.
    pub memory: Arc<Memory>,
    /// How it was ranked before the newer note took its place.
    pub(crate) score: Score,
}

/// How likely a hit answers the query, in two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tier {
    /// Likely enough to be shown in full.
    #[default]
    Likely,
    /// Less likely: its title is enough.
    Possible,
}

/// Orders memories by time, then by id, the newest first; of one id our own first.
pub(super) fn newest_first(a: &Memory, b: &Memory) -> Ordering {
    let age = |memory: &Memory| (memory.timestamp, memory.id.clone());
    let origins = || a.provenance.log.origin.cmp(&b.provenance.log.origin);
    age(b).cmp(&age(a)).then_with(origins)
}
