//! The vectors that are requested, with generations that tell outdated requests. Not here:
//! computing them (`index::embed`).

use std::collections::BTreeMap;

/// The generation of the requested vector of each memory, so that a vector of an older text is
/// refused. Generations only grow, also over a start-over.
#[derive(Default)]
pub(super) struct RequestedVectors {
    pub(super) last: u64,
    pub(super) since_start: u64,
    pub(super) changed: BTreeMap<u32, u64>,
}

/// A memory whose vector is requested. Its text is built when its turn comes: the texts of half a
/// million memories would take hundreds of megabytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingRequest {
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

/// The result of catching up.
#[derive(Debug, Default)]
pub struct CatchUpReport {
    /// Memories that need a vector, in the order in which they were read.
    pub to_embed: Vec<EmbeddingRequest>,
    /// Memories that have a vector and need the signs of their tokens, which is less urgent.
    pub to_sign: Vec<EmbeddingRequest>,
    /// Whether everything was read again, so that earlier requests are outdated.
    pub started_over: bool,
}
