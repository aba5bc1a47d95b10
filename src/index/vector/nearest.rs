//! The rows nearest to the query by a distance in small whole numbers: those worth a closer look.
//!
//! Distances are small whole numbers, so a count for each distance says at any time how far out a row may
//! lie to be among the nearest, and most rows cost one comparison.
//!
//! What is not here: how distances are made (`codes`), and the closer look (`among`).

/// Kept while looking, as a multiple of what is wanted, before those too far out by now are dropped.
const SLACK: usize = 4;

/// The `wanted` nearest rows seen so far; of equally near ones those that came first.
pub(super) struct Nearest {
    wanted: usize,
    rows: Vec<(u32, u32)>,
    /// How many rows were taken at each distance.
    counts: Vec<usize>,
    /// No row beyond this distance is among the nearest.
    reach: u32,
    /// How many were taken within reach.
    within: usize,
}

impl Nearest {
    /// Of rows at distances up to `reach`.
    pub(super) fn new(wanted: usize, reach: u32) -> Self {
        let counts = vec![0; reach as usize + 1];
        Self { wanted, rows: Vec::new(), counts, reach, within: 0 }
    }

    /// The distance beyond which no row is wanted any more.
    pub(super) fn reach(&self) -> u32 {
        self.reach
    }

    /// Whether as many as were wanted have been found.
    pub(super) fn is_full(&self) -> bool {
        self.within >= self.wanted
    }

    /// Whether a row at this distance would be among the nearest so far.
    pub(super) fn wants(&self, distance: u32) -> bool {
        distance < self.reach || distance == self.reach && self.within < self.wanted
    }

    /// Takes a row that is wanted. Rows come in ascending order.
    pub(super) fn take(&mut self, distance: u32, doc: u32) {
        self.rows.push((distance, doc));
        if let Some(count) = self.counts.get_mut(distance as usize) {
            *count += 1;
            self.within += 1;
        }
        while self.reach > 0 && self.within - self.at_reach() >= self.wanted {
            self.within -= self.at_reach();
            self.reach -= 1;
        }
        if self.rows.len() >= self.wanted.saturating_mul(SLACK) {
            self.drop_far();
        }
    }

    /// The nearest rows, in ascending order.
    pub(super) fn into_rows(mut self) -> impl Iterator<Item = u32> {
        self.drop_far();
        self.rows.into_iter().map(|(_, doc)| doc)
    }

    fn at_reach(&self) -> usize {
        self.counts.get(self.reach as usize).copied().unwrap_or(0)
    }

    fn drop_far(&mut self) {
        let reach = self.reach;
        // Of those at the edge the first ones, as many as there is room for.
        let mut room = self.wanted.saturating_sub(self.within - self.at_reach());
        let kept = self.at_reach().min(room);
        self.rows.retain(|(distance, _)| {
            let is_edge = *distance == reach;
            let is_kept = *distance < reach || is_edge && room > 0;
            room -= usize::from(is_edge && is_kept);
            is_kept
        });
        self.within -= self.at_reach() - kept;
        if let Some(count) = self.counts.get_mut(reach as usize) {
            *count = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_the_first_of_all_by_distance_then_number(
            distances in proptest::collection::vec(0_u32..=9, 0..400),
            wanted in 0_usize..30,
            reach in 0_u32..=9,
        ) {
            let mut nearest = Nearest::new(wanted, reach);
            for (doc, distance) in (0_u32..).zip(&distances) {
                if nearest.wants(*distance) {
                    nearest.take(*distance, doc);
                }
                prop_assert!(nearest.rows.len() <= wanted.max(1) * SLACK);
            }
            let all = distances.iter().copied().zip(0_u32..);
            let mut all: Vec<(u32, u32)> = all.filter(|(distance, _)| *distance <= reach).collect();
            all.sort_unstable();
            let mut expected: Vec<u32> = all.iter().take(wanted).map(|(_, doc)| *doc).collect();
            expected.sort_unstable();
            prop_assert_eq!(nearest.is_full(), expected.len() == wanted);
            prop_assert_eq!(nearest.into_rows().collect::<Vec<u32>>(), expected);
        }
    }
}
