//! A search among many rows: first by signs, then by cosine among the nearest.
//!
//! What is not here: comparing (`codes`), collecting the nearest (`nearest_rows`) and the best (`top_k`).

use super::VectorIndex;
use super::chunk::CHUNK_ROWS;
use super::codes::EncodedQuery;
use super::nearest_rows::NearestRows;
use super::top_k::{ScoredRow, TopK};

impl VectorIndex {
    /// Scores the `scored` rows nearest by signs, and returns the `top_k` best of them by cosine.
    pub(super) fn scan_by_signs(
        &self,
        query: &EncodedQuery,
        keep: impl Fn(u32) -> bool,
        top_k: usize,
        scored: usize,
    ) -> Vec<(u32, f32)> {
        let docs = self.nearest_by_signs(query, keep, scored);
        let mut best = TopK::new(top_k);
        for (doc, score) in docs.iter().zip(self.cosines(query, &docs)) {
            if let Some(score) = score {
                best.offer(ScoredRow { score, doc: *doc });
            }
        }
        best.into_sorted()
    }

    /// Returns the `wanted` rows whose signs differ least from the query's, in ascending order; of equally near ones
    /// the first.
    pub(super) fn nearest_by_signs(
        &self,
        query: &EncodedQuery,
        keep: impl Fn(u32) -> bool,
        wanted: usize,
    ) -> Vec<u32> {
        let distance_max = u32::try_from(self.dims).unwrap_or(u32::MAX);
        let mut nearest = NearestRows::new(wanted, distance_max);
        let (mut distances, mut rows) = ([0; CHUNK_ROWS], [0; CHUNK_ROWS]);
        for (first, chunk) in self.chunks_here() {
            query.distances(chunk.signs(), &mut distances);
            for row in rows_within(&distances, nearest.radius(), &mut rows) {
                let (row_at, doc) = (*row as usize, first + row);
                let distance = distances.get(row_at).copied().unwrap_or(u32::MAX);
                // The filter costs more than the distance, so it comes last.
                if nearest.wants(distance) && chunk.has(row_at) && keep(doc) {
                    nearest.push(distance, doc);
                }
            }
        }
        nearest.into_rows().collect()
    }
}

/// Writes the rows at distances up to `radius` into `rows`. Every row is written, and the next one overwrites it
/// where it is too far, so that there is no branch to predict.
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
