//! Vectors of one model for the memories of a follower. Not here: making them (`next_space`).

use std::collections::BTreeSet;

use crate::model_access::{ModelAccess, ModelInput};
use index::late::{SignLocations, SignState};
use index::vector::VectorIndex;
use memory::Memory;

/// Vectors of one model for the memories of a follower.
#[derive(Default)]
pub(super) struct NextSpace {
    pub(super) vectors: Option<VectorIndex>,
    pub(super) sign_locations: SignLocations,
    /// Memories that the model may not see.
    pub(super) withheld: BTreeSet<u32>,
    pub(super) may_see: Option<ModelAccess>,
}

impl NextSpace {
    /// Returns the same without any vector, for memories that are read again.
    pub(super) fn emptied(&self) -> Self {
        Self { may_see: self.may_see.clone(), ..Self::default() }
    }

    /// Forgets the vector of a memory.
    pub(super) fn forget(&mut self, number: u32) {
        self.vectors.iter_mut().for_each(|vectors| vectors.remove(number));
        self.sign_locations.set(number, SignState::NotYet);
        self.withheld.remove(&number);
    }

    /// Tells whether nothing is left to do for a memory.
    pub(super) fn has(&self, number: u32) -> bool {
        self.withheld.contains(&number)
            || self.vectors.as_ref().is_some_and(|vectors| vectors.contains(number))
    }

    /// Returns the number of memories that are done.
    pub(super) fn len(&self) -> usize {
        self.vectors.as_ref().map_or(0, VectorIndex::len) + self.withheld.len()
    }
}

/// Tells whether a model may see a memory.
pub(super) fn may_see(may_see: Option<&ModelAccess>, memory: &Memory) -> bool {
    may_see.is_none_or(|may_see| may_see(ModelInput::Memory(memory)))
}
