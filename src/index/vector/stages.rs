//! A search among many rows: first by signs, then by the query's own sizes too, and by cosine among the few that are left.
//!
//! What is not here: comparing (`codes`), keeping the nearest (`nearest`) and the best (`best`).

use super::chunk::CHUNK_ROWS;
use super::codes::{EncodedQuery, WEIGHT_MAX, sign_words};
use super::nearest_rows::NearestRows;
use super::top_k::{ScoredRow, TopK};
use super::{FETCHED_ROWS, VectorIndex, place};

/// The first rows of each chunk, a sample for estimating the radius of the nearest.
const SAMPLED_ROWS: usize = 64;
/// The expected number of rows within the radius, in quarters of the wanted number. More than four, since a second pass
/// costs more than some surplus rows.
const EXPECTED_QUARTERS: usize = 5;

/// The number of rows that pass each step.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageSizes {
    /// Rows nearest by signs, whose differing signs are weighed.
    pub(super) weighed: usize,
    /// Rows nearest by weight, which are scored.
    pub(super) scored: usize,
}

impl VectorIndex {
    pub(super) fn scan_in_stages(
        &self,
        query: &EncodedQuery,
        keep: impl Fn(u32) -> bool,
        top_k: usize,
        sizes: StageSizes,
    ) -> Vec<(u32, f32)> {
        let docs = self.nearest(query, keep, sizes.weighed);
        let docs = self.nearest_by_weight(query, docs, sizes.scored);
        let mut best = TopK::new(top_k);
        for (doc, score) in docs.iter().zip(self.cosines(query, &docs)) {
            if let Some(score) = score {
                best.offer(ScoredRow { score, doc: *doc });
            }
        }
        best.into_sorted()
    }

    /// Returns the `wanted` rows whose signs differ least from the query's, in ascending order; of equally near ones the
    /// first.
    pub(super) fn nearest(
        &self,
        query: &EncodedQuery,
        keep: impl Fn(u32) -> bool,
        wanted: usize,
    ) -> Vec<u32> {
        let distance_max = u32::try_from(self.dims).unwrap_or(u32::MAX);
        let expected = self.estimated_radius(query, &keep, wanted).unwrap_or(distance_max);
        let mut nearest = self.within(query, &keep, wanted, expected);
        if !nearest.is_full() && expected < distance_max {
            nearest = self.within(query, &keep, wanted, distance_max);
        }
        nearest.into_rows().collect()
    }

    /// Estimates the radius that holds the wanted number of rows and few more, from a sample of each chunk. With it a third
    /// of the rows are collected that would be collected without. `None` where there are too few rows.
    fn estimated_radius(
        &self,
        query: &EncodedQuery,
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
        query: &EncodedQuery,
        keep: &impl Fn(u32) -> bool,
        wanted: usize,
        radius: u32,
    ) -> NearestRows {
        let mut nearest = NearestRows::new(wanted, radius);
        let (mut distances, mut rows) = ([0; CHUNK_ROWS], [0; CHUNK_ROWS]);
        for (first, chunk) in self.chunks_here() {
            query.distances(chunk.signs(), &mut distances);
            for row in rows_within(&distances, nearest.radius(), &mut rows) {
                let (row_at, doc) = (*row as usize, first + row);
                let distance = distances.get(row_at).copied().unwrap_or(u32::MAX);
                // The filter costs more than the distance, so it comes last.
                if nearest.wants(distance) && chunk.has(row_at) && keep(doc) {
                    nearest.take(distance, doc);
                }
            }
        }
        nearest
    }

    /// Returns the `wanted` nearest of `docs` by weight. Both lists ascend.
    fn nearest_by_weight(&self, query: &EncodedQuery, docs: Vec<u32>, wanted: usize) -> Vec<u32> {
        if docs.len() <= wanted {
            return docs;
        }
        let distance_max = u32::try_from(self.dims).unwrap_or(u32::MAX).saturating_mul(WEIGHT_MAX);
        let mut nearest = NearestRows::new(wanted, distance_max);
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

/// Writes the rows at distances up to `radius` into `rows`. Every row is written, and the next one overwrites it where it
/// is too far, so that there is no branch to predict.
fn rows_within<'a>(
    distances: &[u32; CHUNK_ROWS],
    radius: u32,
    rows: &'a mut [u32; CHUNK_ROWS],
) -> &'a [u32] {
    let mut count = 0;
    for (row, distance) in (0..).zip(distances) {
        if let Some(place) = rows.get_mut(count) {
            *place = row;
        }
        count += usize::from(*distance <= radius);
    }
    rows.get(..count).unwrap_or_default()
}
