//! Keeps the best few of many scored documents. Not here: scoring.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{DocId, ScoredDocument};

/// Capacity reserved at once; a larger limit grows as documents arrive.
const RESERVED_MAX: usize = 1_024;

/// The best `limit` documents so far, the worst on top.
pub(super) struct BestScores {
    limit: usize,
    /// The estimate of the worst score in the final result, if there is one.
    guess: Option<f32>,
    heap: BinaryHeap<Reverse<Ranked>>,
}

/// Orders by score, then by age with the older document first, so that equal scores have one order.
struct Ranked(ScoredDocument);

impl BestScores {
    pub(super) fn new(limit: usize) -> Self {
        let heap = BinaryHeap::with_capacity(limit.min(RESERVED_MAX));
        Self { limit, guess: None, heap }
    }

    /// Returns the same, with an estimate of the worst score in the final result: documents below it are left out.
    pub(super) fn above(limit: usize, guess: f32) -> Self {
        Self { guess: Some(guess), ..Self::new(limit) }
    }

    /// Tells whether the estimate was right, so that no document of the result was left out for it.
    pub(super) fn is_right(&self) -> bool {
        let worst = self.heap.peek().map(|Reverse(worst)| worst.0.score);
        self.heap.len() >= self.limit && worst.is_none_or(|worst| Some(worst) >= self.guess)
    }

    /// Tells whether a document with this score would be in the result. Ask this first, as the caller's filter costs
    /// more.
    pub(super) fn wants(&self, scored: ScoredDocument) -> bool {
        if self.heap.len() < self.limit {
            return true;
        }
        self.heap.peek().is_some_and(|Reverse(worst)| Ranked(scored) > *worst)
    }

    /// Returns the score below which a document is left out, whether for the limit or for the estimate; `None` if
    /// every document is taken.
    pub(super) fn worst(&self) -> Option<f32> {
        if self.heap.len() < self.limit {
            return self.guess;
        }
        let worst = self.heap.peek().map_or(f32::INFINITY, |Reverse(worst)| worst.0.score);
        Some(self.guess.map_or(worst, |guess| guess.max(worst)))
    }

    pub(super) fn push(&mut self, scored: ScoredDocument) {
        if self.heap.len() >= self.limit {
            self.heap.pop();
        }
        self.heap.push(Reverse(Ranked(scored)));
    }

    /// Returns the documents, best first.
    pub(super) fn into_sorted(self) -> Vec<ScoredDocument> {
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
            let scored = |(doc, &score): (u32, &u8)| ScoredDocument { doc: DocId(doc), score: score.into() };
            let all: Vec<ScoredDocument> = (0..).zip(&scores).map(scored).collect();
            let mut top = BestScores::new(limit);
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
    #[test]
    fn a_guess_is_right_where_the_worst_of_the_best_is_not_below_it() {
        for (guess, is_right) in [(1.0, true), (2.0, true), (2.5, false)] {
            let mut top = BestScores::above(2, guess);
            assert!(top.worst() == Some(guess) && !top.is_right());
            for (doc, score) in (0..).zip([1.0, 3.0, 2.0]) {
                let scored = ScoredDocument { doc: DocId(doc), score };
                if top.wants(scored) {
                    top.push(scored);
                }
            }
            assert_eq!((top.worst(), top.is_right()), (Some(guess.max(2.0)), is_right), "{guess}");
        }
    }
}
