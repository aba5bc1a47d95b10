//! Memories in the order in which they are worth telling, of which usually few are asked for. Not here: whether they may be told.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::worth;
use crate::event::Timestamp;
use crate::retriever::projection::Memory;

/// A memory and what it is worth; of equals the newer, then that of the greater id.
pub(super) struct Ranked<'a> {
    worth: f32,
    pub(super) memory: &'a Arc<Memory>,
}

impl<'a> Ranked<'a> {
    /// What is worth more the newer it is.
    pub(super) fn by_age(memory: &'a Arc<Memory>) -> Self {
        Self { worth: 0.0, memory }
    }

    /// What is worth more the better proven and the newer it is.
    pub(super) fn by_worth(memory: &'a Arc<Memory>, now: Timestamp) -> Self {
        Self { worth: worth(memory, now), memory }
    }
}

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let newer = || self.memory.timestamp.cmp(&other.memory.timestamp);
        let id = || self.memory.id.cmp(&other.memory.id);
        self.worth.total_cmp(&other.worth).then_with(newer).then_with(id)
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked<'_> {}

/// Gives the best first, sorting no more than is asked for: a repository may have a hundred thousand.
pub(super) fn best_first<'a>(ranked: Vec<Ranked<'a>>) -> impl Iterator<Item = &'a Arc<Memory>> {
    let mut heap = BinaryHeap::from(ranked);
    std::iter::from_fn(move || heap.pop().map(|best| best.memory))
}
