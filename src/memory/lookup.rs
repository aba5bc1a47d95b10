//! The lookup tables that only applying events needs: the number of each id, and the shared
//! provenances. Not here: the memories (`fold`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::bound::{IdKey, key};
use super::{CowVec, Memory, Provenances};
use event::EventId;

/// The lookup tables for applying events to memories.
#[derive(Debug, Default)]
pub struct Lookup {
    pub(super) numbers: IdNumbers,
    pub(super) provenances: Provenances,
}

impl Lookup {
    /// Builds the tables of these memories.
    #[must_use]
    pub fn build(memories: &CowVec<Arc<Memory>>) -> Self {
        let mut numbers =
            IdNumbers { first: HashMap::with_capacity(memories.len()), further: HashMap::new() };
        memories.iter().zip(0..).for_each(|(memory, number)| numbers.add(&memory.id, number));
        let provenances = Provenances::of_all(memories.iter().map(|memory| &memory.provenance));
        Self { numbers, provenances }
    }
}

/// The memory numbers of each id.
#[derive(Debug, Default)]
pub(super) struct IdNumbers {
    first: HashMap<IdKey, u32>,
    /// Further ones, where an id has several memories (S-ORIGIN-3).
    further: HashMap<IdKey, Vec<u32>>,
}

impl IdNumbers {
    /// Returns the first number of an id.
    pub(super) fn get(&self, id: &EventId) -> Option<u32> {
        self.first.get(&key(id)).copied()
    }

    /// Returns all numbers of an id.
    pub(super) fn all(&self, id: &EventId) -> Vec<u32> {
        let key = key(id);
        let further = self.further.get(&key).into_iter().flatten().copied();
        self.first.get(&key).copied().into_iter().chain(further).collect()
    }

    /// Tells whether an id has several memories.
    pub(super) fn has_several(&self, id: &EventId) -> bool {
        !self.further.is_empty() && self.further.contains_key(&key(id))
    }

    /// Adds a number to an id.
    pub(super) fn add(&mut self, id: &EventId, number: u32) {
        match self.first.entry(key(id)) {
            Entry::Vacant(free) => {
                free.insert(number);
            }
            Entry::Occupied(_) => self.further.entry(key(id)).or_default().push(number),
        }
    }

    /// Takes a number from an id.
    pub(super) fn remove(&mut self, id: &EventId, number: u32) {
        let left: Vec<u32> = self.all(id).into_iter().filter(|other| *other != number).collect();
        self.first.remove(&key(id));
        self.further.remove(&key(id));
        left.into_iter().for_each(|number| self.add(id, number));
    }
}
