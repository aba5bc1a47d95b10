//! A search among many rows: first by signs, then by the query's own sizes too, and by cosine among the few that are left.
//!
//! What is not here: comparing (`codes`), keeping the nearest (`nearest`) and the best (`best`).

use super::best::{Best, Scored};
use super::chunk::CHUNK_ROWS;
use super::codes::{Query, WEIGHT_MAX, sign_words};
use super::nearest::Nearest;
use super::{FETCHED_ROWS, VectorIndex, place};

/// The first rows of each chunk say how far out the nearest will lie.
const SAMPLED_ROWS: usize = 64;
/// A share of what is wanted, in quarters, that the sample lets one expect: somewhat more than all, since looking
/// twice is dearer than taking a few too many.
const EXPECTED_QUARTERS: usize = 5;

/// How many rows are looked at in each step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looks {
    /// Those nearest by signs, whose signs are weighed.
    pub(super) weighed: usize,
    /// Those nearest by weight, which are scored.
    pub(super) scored: usize,
}

impl VectorIndex {
    pub(super) fn best_of_nearest(
        &self,
        query: &Query,
        keep: impl Fn(u32) -> bool,
        top_k: usize,
        looks: Looks,
    ) -> Vec<(u32, f32)> {
        let docs = self.nearest(query, keep, looks.weighed);
        let docs = self.nearest_by_weight(query, docs, looks.scored);
        let mut best = Best::new(top_k);
        for (doc, score) in docs.iter().zip(self.cosines(query, &docs)) {
            if let Some(score) = score {
                best.offer(Scored { score, doc: *doc });
            }
        }
        best.into_sorted()
    }

    /// The `wanted` rows whose signs differ least from the query's, in ascending order; of equally near ones the first.
    pub(super) fn nearest(
        &self,
        query: &Query,
        keep: impl Fn(u32) -> bool,
        wanted: usize,
    ) -> Vec<u32> {
        let utmost = u32::try_from(self.dims).unwrap_or(u32::MAX);
        let expected = self.expected_reach(query, &keep, wanted).unwrap_or(utmost);
        let mut nearest = self.within(query, &keep, wanted, expected);
        if !nearest.is_full() && expected < utmost {
            nearest = self.within(query, &keep, wanted, utmost);
        }
        nearest.into_rows().collect()
    }

    /// The distance up to which there will be as many as are wanted, and not many more: whoever knows it takes a third
    /// of the rows that are taken else while the nearest are still unknown. `None` where there are too few.
    fn expected_reach(
        &self,
        query: &Query,
        keep: &impl Fn(u32) -> bool,
        wanted: usize,
    ) -> Option<u32> {
        let mut counts = vec![0_usize; self.dims + 1];
        let mut distances = [0; SAMPLED_ROWS];
        for (first, chunk) in self.chunks_here() {
            query.distances(chunk.signs(), &mut distances);
            for ((doc, row), distance) in (first..=u32::MAX).zip(0..).zip(distances) {
                if chunk.has(row) && keep(doc) {
                    counts.iter_mut().skip(distance as usize).take(1).for_each(|count| *count += 1);
                }
            }
        }
        let expected = wanted.saturating_mul(EXPECTED_QUARTERS) / 4;
        let sampled = expected / (CHUNK_ROWS / SAMPLED_ROWS);
        let within = counts.iter().scan(0, |within, count| {
            *within += count;
            Some(*within)
        });
        within.zip(0..).find_map(|(within, distance)| (within > sampled).then_some(distance))
    }

    fn within(
        &self,
        query: &Query,
        keep: &impl Fn(u32) -> bool,
        wanted: usize,
        reach: u32,
    ) -> Nearest {
        let mut nearest = Nearest::new(wanted, reach);
        let (mut distances, mut rows) = ([0; CHUNK_ROWS], [0; CHUNK_ROWS]);
        for (first, chunk) in self.chunks_here() {
            query.distances(chunk.signs(), &mut distances);
            for row in rows_within(&distances, nearest.reach(), &mut rows) {
                let (row_at, doc) = (*row as usize, first + row);
                let distance = distances.get(row_at).copied().unwrap_or(u32::MAX);
                // What a filter asks is dearer than the distance, so it is asked last.
                if nearest.wants(distance) && chunk.has(row_at) && keep(doc) {
                    nearest.take(distance, doc);
                }
            }
        }
        nearest
    }

    /// Of `docs`, which ascend, the `wanted` nearest by weight, ascending.
    fn nearest_by_weight(&self, query: &Query, docs: Vec<u32>, wanted: usize) -> Vec<u32> {
        if docs.len() <= wanted {
            return docs;
        }
        let utmost = u32::try_from(self.dims).unwrap_or(u32::MAX).saturating_mul(WEIGHT_MAX);
        let mut nearest = Nearest::new(wanted, utmost);
        let absent = vec![0; sign_words(self.dims)];
        let mut signs = Vec::with_capacity(FETCHED_ROWS * absent.len());
        let mut distances = [0; FETCHED_ROWS];
        for docs in docs.chunks(FETCHED_ROWS) {
            signs.clear();
            docs.iter().for_each(|doc| signs.extend(self.signs(*doc).unwrap_or(&absent)));
            query.weighed_distances(&signs, &mut distances);
            for (doc, distance) in docs.iter().zip(distances) {
                if nearest.wants(distance) {
                    nearest.take(distance, *doc);
                }
            }
        }
        nearest.into_rows().collect()
    }

    /// The signs of a row that is there.
    fn signs(&self, doc: u32) -> Option<&[u64]> {
        let (chunk_at, row) = place(doc);
        self.chunks.get(chunk_at)?.as_ref()?.signs_of(row, self.dims)
    }
}

/// The rows at distances up to `reach`, written into `rows`: every row is, and the next one over it where it is
/// too far, so that the processor has nothing to guess.
fn rows_within<'a>(
    distances: &[u32; CHUNK_ROWS],
    reach: u32,
    rows: &'a mut [u32; CHUNK_ROWS],
) -> &'a [u32] {
    let mut count = 0;
    for (row, distance) in (0..).zip(distances) {
        if let Some(place) = rows.get_mut(count) {
            *place = row;
        }
        count += usize::from(*distance <= reach);
    }
    rows.get(..count).unwrap_or_default()
}
