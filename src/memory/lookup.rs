//! The lookup tables that only applying events needs: the number of each id, and the shared
//! provenances. Not here: the memories (`fold`).

use std::collections::HashMap;
use std::sync::Arc;

use super::bound::{Key, key};
use super::{CowVec, Memory, Provenances};
use event::EventId;

/// The lookup tables for applying events to memories.
#[derive(Debug, Default)]
pub struct Lookup {
    pub(super) numbers: Numbers,
    pub(super) provenances: Provenances,
}

impl Lookup {
    /// Builds the tables of these memories.
    #[must_use]
    pub fn of(memories: &CowVec<Arc<Memory>>) -> Self {
        let mut numbers = HashMap::with_capacity(memories.len());
        numbers.extend(memories.iter().map(|memory| key(&memory.id)).zip(0..));
        let provenances = Provenances::of_all(memories.iter().map(|memory| &memory.provenance));
        Self { numbers: Numbers(numbers), provenances }
    }
}

/// The memory number of each id.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<Key, u32>);

impl Numbers {
    pub(super) fn get(&self, id: &EventId) -> Option<u32> {
        self.0.get(&key(id)).copied()
    }

    pub(super) fn insert(&mut self, id: &EventId, number: u32) {
        self.0.insert(key(id), number);
    }

    pub(super) fn remove(&mut self, id: &EventId) {
        self.0.remove(&key(id));
    }
}
