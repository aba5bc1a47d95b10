//! Which vectors are wanted, and which were requested for too early. Not here: making them (`index::embed`).

use std::collections::BTreeMap;

/// Which vector is awaited for each memory, so that one for an older text is not taken. Numbers only
/// grow, also over a start-over.
#[derive(Default)]
pub(super) struct RequestedVectors {
    pub(super) last: u64,
    pub(super) since_start: u64,
    pub(super) changed: BTreeMap<u32, u64>,
}

/// A memory whose vector is wanted. Its text is made when its turn comes: of half a million memories
/// they would take hundreds of megabytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    pub(super) doc: u32,
    pub(super) generation: u64,
}

impl RequestedVectors {
    pub(super) fn generation_of(&self, number: u32) -> u64 {
        self.changed.get(&number).copied().unwrap_or(self.since_start)
    }

    pub(super) fn bump(&mut self, number: u32) {
        self.last += 1;
        self.changed.insert(number, self.last);
    }
}

/// What catching up brought.
#[derive(Debug, Default)]
pub struct CaughtUp {
    /// Memories that need a vector, in the order they were read.
    pub to_embed: Vec<Wanted>,
    /// Memories that have a vector and need the signs of their tokens, which is less urgent.
    pub to_sign: Vec<Wanted>,
    /// Whether everything was read anew, so that texts requested for before are of no use.
    pub started_over: bool,
}
