//! A frozen state of a fold, and the mark that recognises it. Not here: how it came about (`fold`).

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::bound::{LeftOutMemories, key};
use super::cow_vec::Chunk;
use super::fold::Orphans;
use super::texts::DamageFlag;
use super::{CowVec, Memory, MemoryBound, Version};
use event::EventId;

/// A frozen state of a fold. Making one costs a few reference counts, and a later change copies
/// little.
#[derive(Debug, Clone, Default)]
pub struct FrozenFold {
    pub(super) memories: CowVec<Arc<Memory>>,
    pub(super) orphans: Orphans,
    pub(super) bound: MemoryBound,
    pub(super) held_bytes: u64,
    pub(super) left_out: LeftOutMemories,
    pub(super) damage_flag: DamageFlag,
}

/// Recognises a state of a fold without keeping it alive. Every change of the fold gives another
/// mark, because a list is copied or moved before it is written while a mark of it exists.
#[derive(Debug, Clone)]
pub struct FoldMark {
    memories: Weak<Vec<Arc<Chunk<Arc<Memory>>>>>,
    orphans: Weak<HashMap<EventId, Vec<Arc<Version>>>>,
}

impl FrozenFold {
    /// Returns the mark of this state.
    #[must_use]
    pub fn mark(&self) -> FoldMark {
        FoldMark { memories: self.memories.mark(), orphans: Arc::downgrade(&self.orphans) }
    }

    /// Tells whether a mark belongs to this state.
    #[must_use]
    pub fn is_marked(&self, mark: &FoldMark) -> bool {
        self.memories.mark().ptr_eq(&mark.memories)
            && Arc::downgrade(&self.orphans).ptr_eq(&mark.orphans)
    }

    /// Returns the memories. A memory's index is its number.
    #[must_use]
    pub fn memories(&self) -> &CowVec<Arc<Memory>> {
        &self.memories
    }

    /// Returns the events about unknown memories, by the id of the memory, in no order.
    pub fn orphans(&self) -> impl Iterator<Item = (&EventId, &[Arc<Version>])> {
        self.orphans.iter().map(|(id, versions)| (id, versions.as_slice()))
    }

    /// Returns the memory bound.
    #[must_use]
    pub fn bound(&self) -> MemoryBound {
        self.bound
    }

    /// Returns the estimated size in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Returns the number of memories that the bound left out.
    #[must_use]
    pub fn left_out_len(&self) -> usize {
        self.left_out.len()
    }

    /// Tells whether the memory with exactly this id was left out.
    #[must_use]
    pub fn has_left_out(&self, id: &EventId) -> bool {
        !self.left_out.is_empty() && self.left_out.get(&key(id)).is_some()
    }

    /// Tells whether a record could not be read. Then an answer from this state may be incomplete,
    /// and the follower makes a new state at its next look.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.damage_flag.is_reported()
    }
}
