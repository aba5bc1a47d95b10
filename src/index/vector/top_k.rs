//! The best few of many scores.
//!
//! What is not here: where the scores come from.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A candidate; the greater one is the better one.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredRow {
    pub(super) score: f32,
    pub(super) doc: u32,
}

impl Ord for ScoredRow {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.doc.cmp(&self.doc))
    }
}

impl PartialOrd for ScoredRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ScoredRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ScoredRow {}

/// The best `top_k` seen so far: a heap with the worst of them on top, so that most rows cost one
/// comparison.
pub(super) struct TopK {
    top_k: usize,
    heap: BinaryHeap<std::cmp::Reverse<ScoredRow>>,
}

impl TopK {
    pub(super) fn new(top_k: usize) -> Self {
        Self { top_k, heap: BinaryHeap::new() }
    }

    pub(super) fn offer(&mut self, candidate: ScoredRow) {
        if self.heap.len() < self.top_k {
            self.heap.push(std::cmp::Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            worst.0 = candidate;
        }
    }

    pub(super) fn into_sorted(self) -> Vec<(u32, f32)> {
        let best_first = self.heap.into_sorted_vec();
        best_first.into_iter().map(|std::cmp::Reverse(scored)| (scored.doc, scored.score)).collect()
    }
}
