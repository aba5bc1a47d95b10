//! Sorts the memories of a section lazily, since usually few are needed. Not here: whether a memory may be shown.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::worth;
use event::Timestamp;
use memory::Memory;

/// A memory and its sort key; of equals the newer is first, then the greater id.
#[derive(Clone)]
pub(super) struct RankedMemory<'a> {
    worth: f32,
    pub(super) memory: &'a Arc<Memory>,
}

impl<'a> RankedMemory<'a> {
    /// Sorts by age.
    pub(super) fn by_age(memory: &'a Arc<Memory>) -> Self {
        Self { worth: 0.0, memory }
    }

    /// Sorts by evidence and age.
    pub(super) fn by_worth(memory: &'a Arc<Memory>, now: Timestamp) -> Self {
        Self { worth: worth(memory, now), memory }
    }
}

impl Ord for RankedMemory<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let newer = || self.memory.timestamp.cmp(&other.memory.timestamp);
        let id = || self.memory.id.cmp(&other.memory.id);
        self.worth.total_cmp(&other.worth).then_with(newer).then_with(id)
    }
}

impl PartialOrd for RankedMemory<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedMemory<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RankedMemory<'_> {}

/// Memories that are sorted at once: nearly always more than are needed.
const FOUND_AT_ONCE: usize = 64;

/// Returns the best first. A repository may have a hundred thousand memories, of which a dozen are shown, so only
/// the best few are sorted at once, and the others when they are needed.
pub(super) fn best_first<'a>(
    ranked: Vec<RankedMemory<'a>>,
) -> impl Iterator<Item = &'a Arc<Memory>> {
    let (best, others) = split_best(ranked);
    let mut others = Some(others);
    let mut heap = BinaryHeap::new();
    let others = std::iter::from_fn(move || {
        if let Some(others) = others.take() {
            heap = BinaryHeap::from(others);
        }
        heap.pop()
    });
    best.into_iter().chain(others).map(|ranked| ranked.memory)
}

/// Returns the best, sorted, and all others, unsorted.
fn split_best(ranked: Vec<RankedMemory<'_>>) -> (Vec<RankedMemory<'_>>, Vec<RankedMemory<'_>>) {
    let mut best: BinaryHeap<Reverse<RankedMemory<'_>>> = BinaryHeap::with_capacity(FOUND_AT_ONCE);
    let mut others = Vec::with_capacity(ranked.len().saturating_sub(FOUND_AT_ONCE));
    for mut ranked_memory in ranked {
        if best.len() < FOUND_AT_ONCE {
            best.push(Reverse(ranked_memory));
            continue;
        }
        if let Some(mut least) = best.peek_mut().filter(|least| ranked_memory > least.0) {
            std::mem::swap(&mut ranked_memory, &mut least.0);
        }
        others.push(ranked_memory);
    }
    (
        best.into_sorted_vec().into_iter().map(|Reverse(ranked_memory)| ranked_memory).collect(),
        others,
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::super::tests::snapshot;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        // S-CONTEXT-4
        #[test]
        fn the_best_come_first_however_many_there_are(
            days in prop::collection::vec((1..29_u32, 0..4_u32), 0..3 * FOUND_AT_ONCE),
        ) {
            let lines = (0..).zip(&days).map(|(number, (day, rate))| {
                json!({"id": format!("m{number}"), "repo": "api", "lesson": "x",
                    "timestamp": format!("2026-05-{day:02}T00:00:00Z"), "success_rate": format!("{rate}/4")})
            });
            let snapshot = snapshot(&lines.collect::<Vec<_>>());
            let now = "2026-06-01T00:00:00Z".parse().unwrap();
            let ranked =
                || snapshot.memories().iter().map(|memory| RankedMemory::by_worth(memory, now)).collect();
            let found: Vec<&str> = best_first(ranked()).map(|memory| memory.id.as_str()).collect();
            let mut sorted: Vec<RankedMemory<'_>> = ranked();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let sorted: Vec<&str> = sorted.iter().map(|one| one.memory.id.as_str()).collect();
            prop_assert_eq!(found, sorted);
        }
    }
}
