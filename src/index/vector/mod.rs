//! The dense index: one direction per memory, in eight bits a number.
//!
//! A search takes two steps. First the number of signs that differ from the query's is counted for every row, 48
//! bytes a row, at the speed of memory. Then the nearest few thousand rows are scored by cosine. If there are few
//! rows, all are scored. There is no graph or tree, so nothing is rebuilt, and a removal clears one bit.
//!
//! Rows live in chunks behind `Arc`, so that a frozen snapshot is a clone of a list of pointers and the
//! next write copies one chunk only.
//!
//! Reading order: this file, `codes` (rounding and comparing), `chunk` (rows), `sign_scan` (both steps, with
//! `nearest_rows` for the first and `top_k` for the second), `serialize` (to and from bytes). What is not here:
//! where vectors come from (`embed`), and what a document number means (the projection).

mod chunk;
mod codes;
mod nearest_rows;
mod serialize;
mod sign_scan;
mod top_k;

use std::sync::Arc;

use self::chunk::{CHUNK_ROWS, Chunk};
use self::codes::{CodedRow, EncodedQuery, codes_of};
use self::top_k::{ScoredRow, TopK};

/// Bytes of memory that a vector of 384 numbers takes: numbers, length, signs, its entry in the table of the cache,
/// and the location of its tokens' signs.
pub const VECTOR_BYTES: u64 = 384 + 4 + 384 / 8 + 100 + 12;
/// Up to this many rows all are scored, which is exact and takes some tenths of a millisecond more.
const SCORED_ROWS_MAX: usize = 8192;
/// Rows scored per requested result, and the number of rows per additional one: more rows are harder to tell apart by
/// signs. Measured on 40,000 real texts (benches/runs).
const SCORED_PER_RESULT: usize = 24;
const ROWS_PER_SCORED: usize = 128;
/// The least number of rows scored, even for few results.
const SCORED_MIN: usize = 4800;
/// Rows that are fetched together before they are scored, so that memory latency is paid once for all.
const FETCHED_ROWS: usize = 16;

/// Why a vector was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// The vector has another width than the index.
    #[error("expected a vector of {expected} numbers, got {found}")]
    Width {
        /// Width of the index.
        expected: usize,
        /// Width of the vector offered.
        found: usize,
    },
    /// All zero, or not finite: it has no direction, so no cosine.
    #[error("the vector has no direction (all zero, or not finite)")]
    NoDirection,
}

/// Directions by document number. Cloning is cheap and gives a frozen copy.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    dims: usize,
    /// `None` where no row was ever set, so that gaps in the numbering cost a pointer and no
    /// memory.
    chunks: Vec<Option<Arc<Chunk>>>,
    present: usize,
}

impl VectorIndex {
    /// An empty index for vectors of `dims` numbers.
    #[must_use]
    pub fn new(dims: usize) -> Self {
        Self { dims, chunks: Vec::new(), present: 0 }
    }

    /// Numbers per vector.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// How many documents have a vector.
    #[must_use]
    pub fn len(&self) -> usize {
        self.present
    }

    /// Whether no document has a vector.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Whether this document has a vector.
    #[must_use]
    pub fn contains(&self, doc: u32) -> bool {
        self.row(doc).is_some()
    }

    /// The vector of this document as it is kept, of length one: each number is off by up to a 254th of the
    /// largest. Storing it again changes nothing.
    #[must_use]
    pub fn get(&self, doc: u32) -> Option<Vec<f32>> {
        self.row(doc).map(CodedRow::direction)
    }

    /// The vector of this document as whole numbers from -127 to 127. Storing them as a vector gives the same row.
    #[must_use]
    pub fn codes(&self, doc: u32) -> Option<Vec<i8>> {
        self.row(doc).map(|row| row.codes.iter().map(|code| code.cast_signed()).collect())
    }

    /// Stores the direction of `vector` for `doc`, replacing what was there. Length does not
    /// matter.
    ///
    /// # Errors
    /// Another width than [`Self::dims`], or a vector without direction; the index is then
    /// unchanged.
    pub fn set(&mut self, doc: u32, vector: &[f32]) -> Result<(), VectorError> {
        self.check_width(vector)?;
        let codes = codes_of(vector).ok_or(VectorError::NoDirection)?;
        let (chunk_at, row) = place(doc);
        if self.chunks.len() <= chunk_at {
            self.chunks.resize(chunk_at + 1, None);
        }
        let dims = self.dims;
        let Some(slot) = self.chunks.get_mut(chunk_at) else { return Ok(()) };
        let chunk = Arc::make_mut(slot.get_or_insert_with(|| Arc::new(Chunk::empty(dims))));
        let is_new = !chunk.has(row);
        if chunk.set(row, &codes).is_some() {
            self.present += usize::from(is_new);
        }
        Ok(())
    }

    /// Forgets the vector of `doc`, for a memory whose text changed or that is gone. Absent is
    /// fine.
    pub fn remove(&mut self, doc: u32) {
        if !self.contains(doc) {
            return;
        }
        let (chunk_at, row) = place(doc);
        if let Some(Some(chunk)) = self.chunks.get_mut(chunk_at) {
            Arc::make_mut(chunk).forget(row);
            self.present -= 1;
        }
        if let Some(slot) = self.chunks.get_mut(chunk_at) {
            slot.take_if(|chunk| chunk.is_empty());
        }
    }

    /// Cosine between `query` and the vector of `doc`, from -1 to 1, right within about 0.002. `None` when
    /// the document has no vector or the query does not fit. For a list of documents, [`Self::scores`]
    /// prepares the query once.
    #[must_use]
    pub fn score(&self, doc: u32, query: &[f32]) -> Option<f32> {
        self.scores(&[doc], query).pop().flatten()
    }

    /// Cosine of each of `docs`, in their order; see [`Self::score`].
    #[must_use]
    pub fn scores(&self, docs: &[u32], query: &[f32]) -> Vec<Option<f32>> {
        match self.query(query) {
            Some(query) => self.cosines(&query, docs),
            None => vec![None; docs.len()],
        }
    }

    /// The `top_k` documents nearest to `query` by cosine among those that `keep` lets through,
    /// best first, equal scores by ascending number. `keep` is asked only about documents with a
    /// vector, and not about all of them.
    ///
    /// Exact up to the rounding of rows while there are no more than some thousands, or `keep` lets no more
    /// through; above, almost: see benches/runs. A query of another width or without direction
    /// finds nothing.
    #[must_use]
    pub fn search(
        &self,
        query: &[f32],
        keep: impl Fn(u32) -> bool,
        top_k: usize,
    ) -> Vec<(u32, f32)> {
        let Some(query) = self.query(query) else { return Vec::new() };
        if self.present <= SCORED_ROWS_MAX {
            return self.scan_all(&query, keep, top_k);
        }
        let scored = top_k.saturating_mul(SCORED_PER_RESULT).max(SCORED_MIN);
        let scored = scored.saturating_add(self.present / ROWS_PER_SCORED);
        self.scan_by_signs(&query, keep, top_k, scored)
    }

    fn scan_all(
        &self,
        query: &EncodedQuery,
        keep: impl Fn(u32) -> bool,
        top_k: usize,
    ) -> Vec<(u32, f32)> {
        let mut best = TopK::new(top_k);
        for (first, chunk) in self.chunks_here() {
            for (doc, row_at) in (first..=u32::MAX).zip(0..CHUNK_ROWS) {
                if let Some(row) = chunk.row(row_at, self.dims).filter(|_| keep(doc)) {
                    best.offer(ScoredRow { score: query.cosine(row), doc });
                }
            }
        }
        best.into_sorted()
    }

    fn cosines(&self, query: &EncodedQuery, docs: &[u32]) -> Vec<Option<f32>> {
        let mut codes = vec![0; FETCHED_ROWS * self.dims];
        let mut cosines = Vec::with_capacity(docs.len());
        for docs in docs.chunks(FETCHED_ROWS) {
            let mut lengths = [None; FETCHED_ROWS];
            let places = lengths.iter_mut().zip(codes.chunks_exact_mut(self.dims));
            for (doc, (length, codes)) in docs.iter().zip(places) {
                let Some(row) = self.row(*doc) else { continue };
                codes.copy_from_slice(row.codes);
                *length = Some(row.length);
            }
            let fetched = lengths.iter().zip(codes.chunks_exact(self.dims)).take(docs.len());
            cosines.extend(fetched.map(|(length, codes)| {
                length.map(|length| query.cosine(CodedRow { codes, length }))
            }));
        }
        cosines
    }

    /// The chunks that hold something, each with the number of its first document.
    fn chunks_here(&self) -> impl Iterator<Item = (u32, &Chunk)> {
        let firsts = (0..=u32::MAX).step_by(CHUNK_ROWS);
        firsts.zip(&self.chunks).filter_map(|(first, chunk)| Some((first, chunk.as_deref()?)))
    }

    fn row(&self, doc: u32) -> Option<CodedRow<'_>> {
        let (chunk_at, row) = place(doc);
        self.chunks.get(chunk_at)?.as_ref()?.row(row, self.dims)
    }

    fn query(&self, vector: &[f32]) -> Option<EncodedQuery> {
        self.check_width(vector).ok()?;
        EncodedQuery::encode(vector)
    }

    fn check_width(&self, vector: &[f32]) -> Result<(), VectorError> {
        if vector.len() == self.dims {
            return Ok(());
        }
        Err(VectorError::Width { expected: self.dims, found: vector.len() })
    }
}

/// (chunk, row in it) of a document.
fn place(doc: u32) -> (usize, usize) {
    let doc = usize::try_from(doc).unwrap_or(usize::MAX);
    (doc / CHUNK_ROWS, doc % CHUNK_ROWS)
}

#[cfg(test)]
mod tests;
