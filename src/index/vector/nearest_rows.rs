//! The rows nearest to the query by a distance in small whole numbers: those worth a closer look.
//!
//! Distances are small whole numbers, so a count for each distance says at any time how far out a row may
//! lie to be among the nearest, and most rows cost one comparison.
//!
//! What is not here: how distances are made (`codes`), and the closer look (`among`).

/// How many rows are collected, as a multiple of the wanted number, before the far ones are dropped.
const SLACK: usize = 4;

/// The `wanted` nearest rows so far; of equally near ones the first.
pub(super) struct NearestRows {
    wanted: usize,
    rows: Vec<(u32, u32)>,
    /// How many rows were taken at each distance.
    counts: Vec<usize>,
    /// No row beyond this distance is among the nearest.
    radius: u32,
    /// How many were taken within radius.
    within: usize,
}

impl NearestRows {
    /// Collects rows at distances up to `radius`.
    pub(super) fn new(wanted: usize, radius: u32) -> Self {
        let counts = vec![0; radius as usize + 1];
        Self { wanted, rows: Vec::new(), counts, radius, within: 0 }
    }

    /// Returns the distance beyond which no row can be among the nearest.
    pub(super) fn radius(&self) -> u32 {
        self.radius
    }

    /// Tells whether a row at this distance would be among the nearest so far.
    pub(super) fn wants(&self, distance: u32) -> bool {
        distance < self.radius || distance == self.radius && self.within < self.wanted
    }

    /// Adds a row. Rows come in ascending order.
    pub(super) fn push(&mut self, distance: u32, doc: u32) {
        self.rows.push((distance, doc));
        if let Some(count) = self.counts.get_mut(distance as usize) {
            *count += 1;
            self.within += 1;
        }
        while self.radius > 0 && self.within - self.at_radius() >= self.wanted {
            self.within -= self.at_radius();
            self.radius -= 1;
        }
        if self.rows.len() >= self.wanted.saturating_mul(SLACK) {
            self.drop_far();
        }
    }

    /// Returns the nearest rows, in ascending order.
    pub(super) fn into_rows(mut self) -> impl Iterator<Item = u32> {
        self.drop_far();
        self.rows.into_iter().map(|(_, doc)| doc)
    }

    fn at_radius(&self) -> usize {
        self.counts.get(self.radius as usize).copied().unwrap_or(0)
    }

    fn drop_far(&mut self) {
        let radius = self.radius;
        // Among the rows at the radius, the first ones are kept, up to the limit.
        let mut room = self.wanted.saturating_sub(self.within - self.at_radius());
        let kept = self.at_radius().min(room);
        self.rows.retain(|(distance, _)| {
            let is_edge = *distance == radius;
            let is_kept = *distance < radius || is_edge && room > 0;
            room -= usize::from(is_edge && is_kept);
            is_kept
        });
        self.within -= self.at_radius() - kept;
        if let Some(count) = self.counts.get_mut(radius as usize) {
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
        fn nearest_rows_equal_a_sort_by_distance_then_number(
            distances in proptest::collection::vec(0_u32..=9, 0..400),
            wanted in 0_usize..30,
            radius in 0_u32..=9,
        ) {
            let mut nearest = NearestRows::new(wanted, radius);
            for (doc, distance) in (0_u32..).zip(&distances) {
                if nearest.wants(*distance) {
                    nearest.push(*distance, doc);
                }
                prop_assert!(nearest.rows.len() <= wanted.max(1) * SLACK);
            }
            let all = distances.iter().copied().zip(0_u32..);
            let mut all: Vec<(u32, u32)> = all.filter(|(distance, _)| *distance <= radius).collect();
            all.sort_unstable();
            let mut expected: Vec<u32> = all.iter().take(wanted).map(|(_, doc)| *doc).collect();
            expected.sort_unstable();
            prop_assert_eq!(nearest.into_rows().collect::<Vec<u32>>(), expected);
        }
    }
}
