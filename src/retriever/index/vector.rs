//! The dense index: one unit vector per memory, searched exactly.
//!
//! Exact on purpose: a straight scan never misses and has nothing to rebuild. It runs at the speed of
//! memory: 10,000 rows of 384 numbers were measured at 2 to 3 ms, 100,000 at some 20 ms, on one core
//! of a busy machine. Rows the caller does not keep are not read, so a search within one repo costs
//! what that repo holds. Rows live in chunks behind `Arc`, so that a frozen snapshot is a clone of a
//! list of pointers and the next write copies one chunk only.
//!
//! What is not here: where vectors come from (`embed`), and what a document number means (the
//! projection).

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Rows per chunk. A write after a snapshot copies one chunk: 1,024 × 384 × 4 bytes = 1.5 MiB, 1
/// to 2 ms; smaller chunks would copy less and make the list of pointers, cloned per
/// snapshot, longer.
const CHUNK_ROWS: usize = 1024;
/// What a vector of 384 numbers takes in all: its row, and its entry in the table of the cache.
pub const VECTOR_BYTES: u64 = 384 * 4 + 100;
/// Presence bits per word.
const WORD_BITS: usize = u64::BITS as usize;
/// Independent sums in the dot product; one sum would make each addition wait for the one before,
/// eight fill two 128-bit or one 256-bit register.
const LANES: usize = 8;

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

#[derive(Debug, Clone)]
struct Chunk {
    /// `CHUNK_ROWS` rows, back to back; an absent row is zeros.
    numbers: Vec<f32>,
    present: [u64; CHUNK_ROWS / WORD_BITS],
}

impl Chunk {
    fn empty(dims: usize) -> Self {
        Self { numbers: vec![0.0; CHUNK_ROWS * dims], present: [0; CHUNK_ROWS / WORD_BITS] }
    }

    fn has(&self, row: usize) -> bool {
        self.present.get(row / WORD_BITS).is_some_and(|word| word >> (row % WORD_BITS) & 1 == 1)
    }

    fn mark(&mut self, row: usize, presence: Presence) {
        let Some(word) = self.present.get_mut(row / WORD_BITS) else { return };
        let bit = 1 << (row % WORD_BITS);
        match presence {
            Presence::Here => *word |= bit,
            Presence::Gone => *word &= !bit,
        }
    }

    fn row(&self, row: usize, dims: usize) -> Option<&[f32]> {
        let numbers = self.numbers.get(row * dims..(row + 1) * dims)?;
        self.has(row).then_some(numbers)
    }
}

#[derive(Clone, Copy)]
enum Presence {
    Here,
    Gone,
}

/// Unit vectors by document number. Cloning is cheap and gives a frozen copy.
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

    /// The vector of this document, of length one.
    #[must_use]
    pub fn get(&self, doc: u32) -> Option<Vec<f32>> {
        self.row(doc).map(<[f32]>::to_vec)
    }

    /// Stores the direction of `vector` for `doc`, replacing what was there. Length does not
    /// matter: it is scaled to one.
    ///
    /// # Errors
    /// Another width than [`Self::dims`], or a vector without direction; the index is then
    /// unchanged.
    pub fn set(&mut self, doc: u32, vector: &[f32]) -> Result<(), VectorError> {
        let unit = self.unit(vector)?;
        let (chunk_at, row) = place(doc);
        if self.chunks.len() <= chunk_at {
            self.chunks.resize(chunk_at + 1, None);
        }
        let dims = self.dims;
        let Some(slot) = self.chunks.get_mut(chunk_at) else { return Ok(()) };
        let chunk = Arc::make_mut(slot.get_or_insert_with(|| Arc::new(Chunk::empty(dims))));
        self.present += usize::from(!chunk.has(row));
        chunk.mark(row, Presence::Here);
        if let Some(numbers) = chunk.numbers.get_mut(row * dims..(row + 1) * dims) {
            numbers.copy_from_slice(&unit);
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
            Arc::make_mut(chunk).mark(row, Presence::Gone);
            self.present -= 1;
        }
        let is_empty = |chunk: &Arc<Chunk>| chunk.present.iter().all(|word| *word == 0);
        if let Some(slot) = self.chunks.get_mut(chunk_at) {
            slot.take_if(|chunk| is_empty(chunk));
        }
    }

    /// Cosine between `query` and the vector of `doc`, from -1 to 1. `None` when the document has
    /// no vector or the query does not fit. For a list of documents, [`Self::scores`] scales the
    /// query once.
    #[must_use]
    pub fn score(&self, doc: u32, query: &[f32]) -> Option<f32> {
        let unit = self.unit(query).ok()?;
        self.row(doc).map(|row| dot(row, &unit))
    }

    /// Cosine of each of `docs`, in their order; see [`Self::score`].
    #[must_use]
    pub fn scores(&self, docs: &[u32], query: &[f32]) -> Vec<Option<f32>> {
        let unit = self.unit(query).ok();
        let score = |doc: &u32| Some(dot(self.row(*doc)?, unit.as_deref()?));
        docs.iter().map(score).collect()
    }

    /// The `top_k` documents nearest to `query` by cosine among those that `keep` lets through,
    /// best first, equal scores by ascending number. Exact. `keep` is asked only about documents
    /// with a vector.
    ///
    /// A query of another width or without direction finds nothing.
    #[must_use]
    pub fn search(
        &self,
        query: &[f32],
        keep: impl Fn(u32) -> bool,
        top_k: usize,
    ) -> Vec<(u32, f32)> {
        let Ok(unit) = self.unit(query) else { return Vec::new() };
        let mut best = Best::new(top_k);
        for (chunk_at, chunk) in self.chunks.iter().enumerate() {
            let Some(chunk) = chunk else { continue };
            for (row_at, row) in chunk.numbers.chunks_exact(self.dims).enumerate() {
                let Ok(doc) = u32::try_from(chunk_at * CHUNK_ROWS + row_at) else { break };
                if chunk.has(row_at) && keep(doc) {
                    best.offer(Scored { score: dot(row, &unit), doc });
                }
            }
        }
        best.into_sorted()
    }

    fn row(&self, doc: u32) -> Option<&[f32]> {
        let (chunk_at, row) = place(doc);
        self.chunks.get(chunk_at)?.as_ref()?.row(row, self.dims)
    }

    fn unit(&self, vector: &[f32]) -> Result<Vec<f32>, VectorError> {
        if vector.len() != self.dims {
            return Err(VectorError::Width { expected: self.dims, found: vector.len() });
        }
        let length = dot(vector, vector).sqrt();
        if !length.is_normal() {
            return Err(VectorError::NoDirection);
        }
        Ok(vector.iter().map(|number| number / length).collect())
    }
}

/// (chunk, row in it) of a document.
fn place(doc: u32) -> (usize, usize) {
    let doc = usize::try_from(doc).unwrap_or(usize::MAX);
    (doc / CHUNK_ROWS, doc % CHUNK_ROWS)
}

/// Sum of products, written so that the compiler turns it into vector instructions. Both have the
/// same length.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left_lanes, left_rest) = left.as_chunks::<LANES>();
    let (right_lanes, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (lefts, rights) in left_lanes.iter().zip(right_lanes) {
        for ((sum, a), b) in sums.iter_mut().zip(lefts).zip(rights) {
            *sum += a * b;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// A candidate; the greater one is the better one.
#[derive(Debug, Clone, Copy)]
struct Scored {
    score: f32,
    doc: u32,
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.doc.cmp(&self.doc))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

/// The best `top_k` seen so far: a heap with the worst of them on top, so that most rows cost one
/// comparison.
struct Best {
    top_k: usize,
    heap: BinaryHeap<std::cmp::Reverse<Scored>>,
}

impl Best {
    fn new(top_k: usize) -> Self {
        Self { top_k, heap: BinaryHeap::new() }
    }

    fn offer(&mut self, candidate: Scored) {
        if self.heap.len() < self.top_k {
            self.heap.push(std::cmp::Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            worst.0 = candidate;
        }
    }

    fn into_sorted(self) -> Vec<(u32, f32)> {
        let best_first = self.heap.into_sorted_vec();
        best_first.into_iter().map(|std::cmp::Reverse(scored)| (scored.doc, scored.score)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const DIMS: usize = 11;

    fn vector() -> impl Strategy<Value = Vec<f32>> {
        // Few distinct values, so that equal scores happen and the tie rule is exercised.
        proptest::collection::vec((-3_i8..=3).prop_map(f32::from), DIMS)
    }

    fn cosine(left: &[f32], right: &[f32]) -> f64 {
        let product = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
        };
        product(left, right) / (product(left, left) * product(right, right)).sqrt()
    }

    fn has_direction(vector: &[f32]) -> bool {
        vector.iter().any(|number| *number != 0.0)
    }

    proptest! {
        #[test]
        fn search_equals_scoring_everything_and_sorting(
            rows in proptest::collection::vec((0_u32..3000, vector()), 0..60),
            query in vector(),
            top_k in 0_usize..20,
            modulus in 1_u32..4,
        ) {
            let mut index = VectorIndex::new(DIMS);
            let mut naive = BTreeMap::new();
            for (doc, row) in rows.iter().filter(|(_, row)| has_direction(row)) {
                index.set(*doc, row).unwrap();
                naive.insert(*doc, row.clone());
            }
            prop_assert_eq!(index.len(), naive.len());
            let found = index.search(&query, |doc| doc % modulus == 0, top_k);
            let kept: Vec<u32> = naive.keys().copied().filter(|doc| doc % modulus == 0).collect();
            let expected_len = if has_direction(&query) { kept.len().min(top_k) } else { 0 };
            prop_assert_eq!(found.len(), expected_len);
            for pair in found.windows(2) {
                let order = pair[1].1.total_cmp(&pair[0].1).then(pair[0].0.cmp(&pair[1].0));
                prop_assert_eq!(order, Ordering::Less);
            }
            for (doc, score) in &found {
                prop_assert!((f64::from(*score) - cosine(&query, &naive[doc])).abs() < 1e-5);
                prop_assert_eq!(index.score(*doc, &query), Some(*score));
            }
            if let Some((_, worst)) = found.last() {
                let left_out = kept.iter().filter(|doc| !found.iter().any(|(hit, _)| hit == *doc));
                for doc in left_out {
                    prop_assert!(cosine(&query, &naive[doc]) <= f64::from(*worst) + 1e-5);
                }
            }
        }
    }

    #[test]
    fn equal_scores_come_in_order_of_document() {
        let mut index = VectorIndex::new(2);
        for doc in [7, 3, 2000, 5] {
            index.set(doc, &[1.0, 1.0]).unwrap();
        }
        let docs: Vec<u32> =
            index.search(&[2.0, 2.0], |_| true, 3).iter().map(|hit| hit.0).collect();
        assert_eq!(docs, [3, 5, 7]);
    }

    #[test]
    fn a_clone_does_not_see_later_writes() {
        let mut index = VectorIndex::new(2);
        index.set(1, &[1.0, 0.0]).unwrap();
        let frozen = index.clone();
        index.set(1, &[0.0, 1.0]).unwrap();
        index.set(2, &[1.0, 0.0]).unwrap();
        assert_eq!(frozen.score(1, &[1.0, 0.0]), Some(1.0));
        assert_eq!((frozen.len(), frozen.contains(2)), (1, false));
        assert_eq!((index.len(), index.score(1, &[1.0, 0.0])), (2, Some(0.0)));
    }

    #[test]
    fn a_write_copies_only_the_chunk_it_touches() {
        let mut index = VectorIndex::new(2);
        index.set(0, &[1.0, 0.0]).unwrap();
        index.set(5000, &[1.0, 0.0]).unwrap();
        let frozen = index.clone();
        index.set(5001, &[1.0, 0.0]).unwrap();
        let shared = |at: usize| match (&frozen.chunks[at], &index.chunks[at]) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        assert_eq!([shared(0), shared(1), shared(4)], [true, true, false]);
    }

    #[test]
    fn a_removed_document_is_not_found_and_may_return() {
        let mut index = VectorIndex::new(2);
        index.set(9, &[1.0, 0.0]).unwrap();
        index.remove(9);
        index.remove(9);
        index.remove(123_456);
        assert!(index.is_empty() && index.search(&[1.0, 0.0], |_| true, 5).is_empty());
        index.set(9, &[0.0, 2.0]).unwrap();
        assert_eq!(index.search(&[0.0, 1.0], |_| true, 5), [(9, 1.0)]);
    }

    // S-BOUND-2
    #[test]
    fn a_chunk_without_vectors_takes_no_memory() {
        let mut index = VectorIndex::new(2);
        for doc in [5, 6, 5_000] {
            index.set(doc, &[3.0, 4.0]).unwrap();
        }
        assert_eq!(index.get(5), Some(vec![0.6, 0.8]));
        index.remove(5);
        assert!(index.get(5).is_none() && index.get(6).is_some());
        index.remove(6);
        let here: Vec<bool> = index.chunks.iter().map(Option::is_some).collect();
        assert_eq!(here, [false, false, false, false, true]);
    }

    #[test]
    fn a_vector_that_cannot_be_compared_is_refused_and_changes_nothing() {
        let mut index = VectorIndex::new(2);
        let width = VectorError::Width { expected: 2, found: 3 };
        assert_eq!(index.set(0, &[1.0, 2.0, 3.0]), Err(width));
        for bad in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0]] {
            assert_eq!(index.set(0, &bad), Err(VectorError::NoDirection));
        }
        assert!(index.is_empty());
        index.set(0, &[1.0, 0.0]).unwrap();
        assert!(index.search(&[1.0], |_| true, 5).is_empty());
        assert_eq!(index.scores(&[0, 1], &[0.0, 3.0]), [Some(0.0), None]);
    }
}
