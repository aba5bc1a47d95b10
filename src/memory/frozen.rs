//! A fold as it was at one time, and what it is known again by. Not here: how it came about (`fold`).

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::bound::{LeftOut, key};
use super::cow_vec::Chunk;
use super::fold::Orphans;
use super::texts::Damage;
use super::{Bound, CowVec, Memory, Version};
use event::EventId;

/// A fold as it was at one time. Taking one costs a few reference counts, and what comes later copies little.
#[derive(Debug, Clone, Default)]
pub struct Frozen {
    pub(super) memories: CowVec<Arc<Memory>>,
    pub(super) orphans: Orphans,
    pub(super) bound: Bound,
    pub(super) held_bytes: u64,
    pub(super) left_out: LeftOut,
    pub(super) damage: Damage,
}

/// What a state of a fold is known by. It keeps nothing of that state; whatever changes the fold makes another state of it,
/// since both lists are copied or moved to a new place before they are written to while a mark of them is there.
#[derive(Debug, Clone)]
pub struct Mark {
    memories: Weak<Vec<Arc<Chunk<Arc<Memory>>>>>,
    orphans: Weak<HashMap<EventId, Vec<Arc<Version>>>>,
}

impl Frozen {
    /// Returns what this state is known by.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { memories: self.memories.mark(), orphans: Arc::downgrade(&self.orphans) }
    }

    /// Tells whether a mark is of this state.
    #[must_use]
    pub fn is_marked(&self, mark: &Mark) -> bool {
        self.memories.mark().ptr_eq(&mark.memories)
            && Arc::downgrade(&self.orphans).ptr_eq(&mark.orphans)
    }

    /// Returns the memories; a memory's place is its number.
    #[must_use]
    pub fn memories(&self) -> &CowVec<Arc<Memory>> {
        &self.memories
    }

    /// Returns the events about memories that are not here, under the ids of those, in no order.
    pub fn orphans(&self) -> impl Iterator<Item = (&EventId, &[Arc<Version>])> {
        self.orphans.iter().map(|(id, versions)| (id, versions.as_slice()))
    }

    /// Returns the bound it keeps within.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// Returns how many bytes it holds, as they are estimated.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Returns how many memories were left out for the bound.
    #[must_use]
    pub fn left_out_len(&self) -> usize {
        self.left_out.len()
    }

    /// Tells whether the memory of exactly this id was left out.
    #[must_use]
    pub fn has_left_out(&self, id: &EventId) -> bool {
        !self.left_out.is_empty() && self.left_out.get(&key(id)).is_some()
    }

    /// Tells whether a record could not be read when it was asked for. Then what was found in this state
    /// may lack something, and the follower makes another at its next look.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.damage.is_reported()
    }
}
