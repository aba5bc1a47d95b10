//! Laws and promises of the dense index.

use super::*;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;

const DIMS: usize = 11;
/// Each number is off by up to half a step of the largest; a cosine by no more than twice what that moves
/// a row: 2 × √11 / 254.
const ROUNDING: f64 = 0.027;

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
            prop_assert!((f64::from(*score) - cosine(&query, &naive[doc])).abs() < ROUNDING);
            prop_assert_eq!(index.score(*doc, &query), Some(*score));
        }
        if let Some((_, worst)) = found.last() {
            let left_out = kept.iter().filter(|doc| !found.iter().any(|(hit, _)| hit == *doc));
            for doc in left_out {
                prop_assert!(cosine(&query, &naive[doc]) <= f64::from(*worst) + ROUNDING);
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
    let docs: Vec<u32> = index.search(&[2.0, 2.0], |_| true, 3).iter().map(|hit| hit.0).collect();
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
    let kept = index.get(5).unwrap();
    assert!((kept[0] - 0.6).abs() < 0.004 && (kept[1] - 0.8).abs() < 0.004, "{kept:?}");
    index.remove(5);
    assert!(index.get(5).is_none() && index.get(6).is_some());
    index.remove(6);
    let present: Vec<bool> = index.chunks.iter().map(Option::is_some).collect();
    assert_eq!(present, [false, false, false, false, true]);
}

#[test]
fn a_vector_without_direction_is_refused() {
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

/// Directions in `dims` dimensions, the same for the same numbers.
fn scattered(seed: u32, dims: usize) -> Vec<f32> {
    let mut state = u64::from(seed) * 2 + 1;
    let mut number = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f32::from(i16::from_le_bytes([state.to_le_bytes()[6], state.to_le_bytes()[7]]))
    };
    (0..dims).map(|_| number()).collect()
}

/// More rows than an exact search scores, with gaps.
fn large(dims: usize) -> VectorIndex {
    let mut index = VectorIndex::new(dims);
    for doc in (0..12_000).filter(|doc| doc % 5 != 3) {
        index.set(doc, &scattered(doc, dims)).unwrap();
    }
    assert!(index.len() > SCORED_ROWS_MAX);
    index
}

#[test]
fn scoring_every_row_is_the_exact_search() {
    for dims in [70, 384] {
        let index = large(dims);
        let query = index.query(&scattered(99_991, dims)).unwrap();
        let keep = |doc: u32| doc % 3 == 1;
        let exact = index.scan_all(&query, keep, 40);
        assert_eq!(exact.len(), 40);
        assert_eq!(index.scan_by_signs(&query, keep, 40, index.len()), exact);
    }
}

#[test]
fn few_rows_behind_a_filter_are_searched_exactly() {
    let index = large(70);
    let vector = scattered(7, 70);
    let query = index.query(&vector).unwrap();
    // Asked of rows that are there, and those only.
    let keep = |doc: u32| {
        assert_ne!(doc % 5, 3);
        doc % 8 == 7
    };
    assert!((0..12_000).filter(|doc| doc % 8 == 7).count() < SCORED_MIN);
    assert_eq!(index.search(&vector, keep, 25), index.scan_all(&query, keep, 25));
}

#[test]
fn the_nearest_is_found_and_equals_come_in_order() {
    let mut index = large(70);
    let vector = scattered(123_456, 70);
    for doc in [11_000, 4, 5_000] {
        index.set(doc, &vector).unwrap();
    }
    let found = index.search(&vector, |_| true, 10);
    let docs: Vec<u32> = found.iter().take(3).map(|hit| hit.0).collect();
    assert_eq!((docs, found.len()), (vec![4, 5_000, 11_000], 10));
    for (doc, score) in found {
        assert_eq!(index.score(doc, &vector), Some(score));
    }
}

#[test]
fn nearly_all_of_the_best_are_found_among_many() {
    let index = large(384);
    for asked in 20_000..20_005 {
        let vector = scattered(asked, 384);
        let exact = index.scan_all(&index.query(&vector).unwrap(), |_| true, 40);
        let found = index.search(&vector, |_| true, 40);
        let missed = exact.iter().filter(|best| !found.contains(best)).count();
        assert!(missed <= 2, "{missed} of 40");
    }
}

/// Returns the result of [`VectorIndex::nearest_by_signs`] by sorting all rows.
fn nearest_of_all(
    index: &VectorIndex,
    query: &EncodedQuery,
    keep: impl Fn(u32) -> bool,
    wanted: usize,
) -> Vec<u32> {
    let distance = |doc: u32| {
        let (chunk, row) = place(doc);
        let mut distance = [0];
        let chunk = index.chunks[chunk].as_ref().unwrap();
        let words = codes::sign_words(index.dims());
        query.distances(&chunk.signs()[row * words..(row + 1) * words], &mut distance);
        (distance, doc)
    };
    let candidates = (0..12_000).filter(|doc| index.contains(*doc) && keep(*doc));
    let mut all: Vec<([u32; 1], u32)> = candidates.map(distance).collect();
    all.sort_unstable();
    let mut nearest: Vec<u32> = all.into_iter().take(wanted).map(|(_, doc)| doc).collect();
    nearest.sort_unstable();
    nearest
}

#[test]
fn the_nearest_by_signs_equal_a_sort_of_all_rows() {
    let vector = scattered(7, 70);
    let opposite: Vec<f32> = vector.iter().map(|number| -number).collect();
    for first in [&vector, &opposite] {
        let mut index = large(70);
        let firsts = (0..12_000).step_by(CHUNK_ROWS).flat_map(|first| first..first + 64);
        firsts.filter(|doc| *doc < 12_000).for_each(|doc| index.set(doc, first).unwrap());
        let query = index.query(&vector).unwrap();
        for wanted in [0, 1, 100, 700, 3000, 12_000] {
            for every in [1, 3, 500] {
                let keep = |doc: u32| doc.is_multiple_of(every);
                let expected = nearest_of_all(&index, &query, keep, wanted);
                assert_eq!(
                    index.nearest_by_signs(&query, keep, wanted),
                    expected,
                    "{wanted} {every}"
                );
            }
        }
    }
}

#[test]
fn among_thousands_of_equals_the_first_are_found() {
    let mut index = VectorIndex::new(70);
    for doc in 0..9_000 {
        index.set(doc, &scattered(1, 70)).unwrap();
    }
    let found = index.search(&scattered(1, 70), |doc| doc >= 100, 5);
    let docs: Vec<u32> = found.iter().map(|hit| hit.0).collect();
    assert_eq!(docs, [100, 101, 102, 103, 104]);
}

#[test]
fn the_highest_document_number_is_stored() {
    let mut index = VectorIndex::new(2);
    index.set(u32::MAX, &[0.0, 5.0]).unwrap();
    assert_eq!(index.search(&[0.0, 1.0], |_| true, 5), [(u32::MAX, 1.0)]);
    assert_eq!(index.search(&[0.0, 1.0], |_| true, 0), []);
}

#[test]
fn what_is_stored_again_stays_as_it_is() {
    let mut index = VectorIndex::new(70);
    for doc in 0..50 {
        index.set(doc, &scattered(doc, 70)).unwrap();
        let kept = index.get(doc).unwrap();
        index.set(doc + 1000, &kept).unwrap();
        assert_eq!(index.row(doc).unwrap().codes, index.row(doc + 1000).unwrap().codes);
    }
}
