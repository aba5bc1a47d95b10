//! Keeps the best few of many scored documents. Not here: scoring.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{DocId, Scored};

/// Room reserved at once; a larger limit grows as documents arrive.
const RESERVED_MAX: usize = 1_024;

/// The best `limit` so far, worst on top.
pub(super) struct Top {
    limit: usize,
    heap: BinaryHeap<Reverse<Ranked>>,
}

/// Orders by score, then the older document first, so that equal scores have one order.
struct Ranked(Scored);

impl Top {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::with_capacity(limit.min(RESERVED_MAX)) }
    }

    /// Would this document be among the best? Asked first, as the caller's filter costs more.
    pub(super) fn wants(&self, scored: Scored) -> bool {
        if self.heap.len() < self.limit {
            return true;
        }
        self.heap.peek().is_some_and(|Reverse(worst)| Ranked(scored) > *worst)
    }

    /// The score below which a document is not among the best; nothing while all are.
    pub(super) fn worst(&self) -> Option<f32> {
        if self.heap.len() < self.limit {
            return None;
        }
        Some(self.heap.peek().map_or(f32::INFINITY, |Reverse(worst)| worst.0.score))
    }

    pub(super) fn push(&mut self, scored: Scored) {
        if self.heap.len() >= self.limit {
            self.heap.pop();
        }
        self.heap.push(Reverse(Ranked(scored)));
    }

    /// Best first.
    pub(super) fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(Ranked(scored))| scored).collect()
    }
}

impl Ranked {
    fn key(&self) -> (f32, Reverse<DocId>) {
        (self.0.score, Reverse(self.0.doc))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((score, doc), (other_score, other_doc)) = (self.key(), other.key());
        score.total_cmp(&other_score).then(doc.cmp(&other_doc))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_few_are_the_head_of_a_full_sort(
            scores in prop::collection::vec(0_u8..5, 0..40),
            limit in 0_usize..12,
        ) {
            let scored = |(doc, &score): (u32, &u8)| Scored { doc: DocId(doc), score: score.into() };
            let all: Vec<Scored> = (0..).zip(&scores).map(scored).collect();
            let mut top = Top::new(limit);
            for &scored in all.iter().rev() {
                if top.wants(scored) {
                    top.push(scored);
                }
            }
            let mut sorted = all;
            sorted.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc)));
            sorted.truncate(limit);
            prop_assert_eq!(top.into_sorted(), sorted);
        }
    }
}
