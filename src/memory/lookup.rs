//! What only who adds events looks up: the numbers of memories by their ids, and the provenances that they share. Not
//! here: what is numbered (`fold`).

use std::collections::HashMap;
use std::sync::Arc;

use super::bound::{Key, key};
use super::{CowVec, Memory, Provenances};
use event::EventId;

/// What is looked up to add events to memories.
#[derive(Debug, Default)]
pub struct Lookup {
    pub(super) numbers: Numbers,
    pub(super) provenances: Provenances,
}

impl Lookup {
    /// What is looked up to add to these.
    #[must_use]
    pub fn of(memories: &CowVec<Arc<Memory>>) -> Self {
        let mut numbers = HashMap::with_capacity(memories.len());
        numbers.extend(memories.iter().map(|memory| key(&memory.id)).zip(0..));
        let provenances = Provenances::of_all(memories.iter().map(|memory| &memory.provenance));
        Self { numbers: Numbers(numbers), provenances }
    }
}

/// The number of each id.
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
