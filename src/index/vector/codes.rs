//! Vectors as small whole numbers: a direction in eight bits a number, and in one bit a number.
//!
//! A row is scaled so that its largest number becomes 127, and rounded. The direction of the rounded row is kept,
//! and its length is known exactly. A query is rounded in finer steps, so that the error is that of the rows alone:
//! a standard deviation of 0.0004 of cosine, 0.002 at most, on MiniLM. Sums are of whole numbers: the same on every
//! machine, in any order.
//!
//! One bit a number is its sign. The number of differing signs estimates the angle (Charikar, "Similarity estimation
//! techniques from rounding algorithms", 2002), well enough to select rows for a closer comparison.
//!
//! What is not here: rows of many documents (`chunk`).

use crate::processor::with_native_simd;

/// Largest size of a row's number. -128 is not used, so that the opposite of a row is a row.
const ROW_MAX: f32 = 127.0;
/// Signs per word.
const WORD_BITS: usize = u64::BITS as usize;
/// Independent sums in a dot product; one sum would make each addition wait for the one before.
const LANES: usize = 16;
/// Words of signs of 384 numbers, the width of the model in use.
const USUAL_WORDS: usize = 6;

/// One row: numbers from -127 to 127, each in a byte, and the length of the whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodedRow<'a> {
    pub(super) codes: &'a [u8],
    pub(super) length: f32,
}

impl CodedRow<'_> {
    /// Decodes it to a direction of length one.
    pub(super) fn direction(self) -> Vec<f32> {
        let number = |code: &u8| f32::from(code.cast_signed()) / self.length;
        self.codes.iter().map(number).collect()
    }
}

/// Rounds a vector to the numbers of a row. `None` where it has no direction: all zero, or not finite.
pub(super) fn codes_of(vector: &[f32]) -> Option<Vec<u8>> {
    let scale = ROW_MAX / largest(vector)?;
    #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127 by the scale")]
    let code = |number: &f32| ((number * scale).round() as i8).cast_unsigned();
    Some(vector.iter().map(code).collect())
}

/// Returns the length of a row. `None` where these are no numbers of a row: all zero, or one out of bounds.
pub(super) fn length_of(codes: &[u8]) -> Option<f32> {
    let is_sound = !codes.contains(&i8::MIN.cast_unsigned());
    let squares = |code: &u8| i64::from(i32::from(code.cast_signed()).pow(2));
    let sum: i64 = codes.iter().map(squares).sum();
    (is_sound && sum > 0).then_some((sum as f32).sqrt())
}

/// Returns the number of words for the signs of `dims` numbers.
pub(super) fn sign_words(dims: usize) -> usize {
    dims.div_ceil(WORD_BITS)
}

/// Returns the signs of a row: bit i of word w is set where number 64 w + i is below zero.
pub(super) fn signs_of(codes: &[u8]) -> impl Iterator<Item = u64> {
    codes.chunks(WORD_BITS).map(|codes| {
        let (eights, rest) = codes.as_chunks::<8>();
        let whole = eights.iter().rev().fold(0, |word, eight| word << 8 | signs_of_eight(*eight));
        let bits = rest.iter().rev().fold(0, |word, code| word << 1 | u64::from(code >> 7));
        // A word is eight eights, or fewer and a rest above them.
        bits.checked_shl(u32::try_from(eights.len() * 8).unwrap_or(u32::MAX)).unwrap_or(0) | whole
    })
}

/// The top bits of eight bytes side by side. Multiplying adds the word to itself at distances of seven,
/// so that bit 8 i lands on bit 56 + i, and nothing else lands there.
fn signs_of_eight(codes: [u8; 8]) -> u64 {
    let tops = u64::from_le_bytes(codes) >> 7 & 0x0101_0101_0101_0101;
    tops.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// A query, encoded for comparison with rows of its width.
#[derive(Debug, Clone)]
pub(super) struct EncodedQuery {
    codes: Vec<i16>,
    length: f32,
    signs: Vec<u64>,
}

impl EncodedQuery {
    /// `None` where the vector has no direction.
    pub(super) fn encode(vector: &[f32]) -> Option<Self> {
        let largest = largest(vector)?;
        // The finest step with which no sum of products exceeds 32 bits.
        let distance_max = f64::from(i32::MAX) / (f64::from(ROW_MAX) * vector.len().max(1) as f64);
        let scale = distance_max.floor().min(f64::from(i16::MAX)) / f64::from(largest);
        #[expect(clippy::cast_possible_truncation, reason = "within sixteen bits by the scale")]
        let code = |number: &f32| (f64::from(*number) * scale).round() as i16;
        let codes: Vec<i16> = vector.iter().map(code).collect();
        let squares: i64 = codes.iter().map(|code| i64::from(*code).pow(2)).sum();
        let sign = |number: &f32| if *number < 0.0 { u8::MAX } else { 0 };
        let signs: Vec<u8> = vector.iter().map(sign).collect();
        let signs = signs_of(&signs).collect();
        Some(Self { codes, length: (squares as f32).sqrt(), signs })
    }

    /// Cosine between the query and a row, from -1 to 1.
    pub(super) fn cosine(&self, row: CodedRow<'_>) -> f32 {
        let product = with_native_simd(
            #[inline(always)]
            || dot(&self.codes, row.codes),
        );
        let cosine = product as f32 / (self.length * row.length);
        cosine.clamp(-1.0, 1.0)
    }

    /// Counts how many signs of each of `rows`, which lie back to back, differ from the query's.
    pub(super) fn distances(&self, rows: &[u64], distances: &mut [u32]) {
        with_native_simd(
            #[inline(always)]
            || self.count_distances(rows, distances),
        );
    }

    /// Writes into a slice: code that grows a vector is not inlined, and so not compiled for this processor.
    #[inline(always)]
    fn count_distances(&self, rows: &[u64], distances: &mut [u32]) {
        // With a constant number of words the compiler unrolls the loop.
        if let Ok(signs) = <&[u64; USUAL_WORDS]>::try_from(self.signs.as_slice()) {
            let (rows, _) = rows.as_chunks::<USUAL_WORDS>();
            for (distance, row) in distances.iter_mut().zip(rows) {
                *distance = differing(row, signs);
            }
        } else {
            let rows = rows.chunks_exact(self.signs.len().max(1));
            for (distance, row) in distances.iter_mut().zip(rows) {
                *distance = differing(row, &self.signs);
            }
        }
    }
}

#[inline(always)]
fn differing(left: &[u64], right: &[u64]) -> u32 {
    left.iter().zip(right).map(|(left, right)| (left ^ right).count_ones()).sum()
}

/// Sum of products, written so that the compiler turns it into vector instructions. Both have the same
/// length.
#[inline(always)]
fn dot(left: &[i16], right: &[u8]) -> i32 {
    let product = |left: i16, right: u8| i32::from(left) * i32::from(right.cast_signed());
    let (left_lanes, left_rest) = left.as_chunks::<LANES>();
    let (right_lanes, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0_i32; LANES];
    for (lefts, rights) in left_lanes.iter().zip(right_lanes) {
        for ((sum, left), right) in sums.iter_mut().zip(lefts).zip(rights) {
            *sum += product(*left, *right);
        }
    }
    let rest: i32 =
        left_rest.iter().zip(right_rest).map(|(left, right)| product(*left, *right)).sum();
    sums.iter().sum::<i32>() + rest
}

/// Returns the largest size of a number; `None` where the vector has no direction.
fn largest(vector: &[f32]) -> Option<f32> {
    let squares: f32 = vector.iter().map(|number| number * number).sum();
    let largest = vector.iter().map(|number| number.abs()).fold(0.0, f32::max);
    squares.sqrt().is_normal().then_some(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn signs_are_those_of_the_numbers(codes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let words: Vec<u64> = signs_of(&codes).collect();
            prop_assert_eq!(words.len(), sign_words(codes.len()));
            for (at, code) in codes.iter().enumerate() {
                prop_assert_eq!(words[at / 64] >> (at % 64) & 1 == 1, code.cast_signed() < 0);
            }
            let set: u32 = words.iter().map(|word| word.count_ones()).sum();
            prop_assert_eq!(set as usize, codes.iter().filter(|code| **code > 127).count());
        }

        // The rounding moves each number by half a step at most; the chord between two directions is
        // twice what a unit vector was moved at most.
        #[test]
        fn a_cosine_is_right_within_the_rounding(
            row in proptest::collection::vec(-1.0_f32..1.0, 384),
            query in proptest::collection::vec(-1.0_f32..1.0, 384),
        ) {
            let exact = |left: &[f32], right: &[f32]| -> f64 {
                left.iter().zip(right).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
            };
            let (Some(codes), Some(asked)) = (codes_of(&row), EncodedQuery::encode(&query)) else { return Ok(()) };
            let length = length_of(&codes).unwrap();
            let found = f64::from(asked.cosine(CodedRow { codes: &codes, length }));
            let lengths = (exact(&row, &row) * exact(&query, &query)).sqrt();
            let step = f64::from(largest(&row).unwrap()) / 127.0;
            let moved = step / 2.0 * 384_f64.sqrt() / exact(&row, &row).sqrt();
            prop_assert!((found - exact(&row, &query) / lengths).abs() <= 2.0 * moved + 1e-4);
        }
    }

    #[test]
    fn the_widest_rows_do_not_overflow() {
        for dims in [1, 384, 517, 4096] {
            let (vector, opposite) = (vec![1.0_f32; dims], vec![-1.0_f32; dims]);
            let codes = codes_of(&vector).unwrap();
            let row = CodedRow { codes: &codes, length: length_of(&codes).unwrap() };
            assert!(
                (EncodedQuery::encode(&vector).unwrap().cosine(row) - 1.0).abs() < 1e-6,
                "{dims}"
            );
            assert!(
                (EncodedQuery::encode(&opposite).unwrap().cosine(row) + 1.0).abs() < 1e-6,
                "{dims}"
            );
        }
    }

    #[test]
    fn what_has_no_direction_has_no_numbers() {
        for vector in
            [vec![], vec![0.0; 3], vec![f32::NAN, 1.0], vec![f32::INFINITY], vec![1e-30; 3]]
        {
            assert!(
                codes_of(&vector).is_none() && EncodedQuery::encode(&vector).is_none(),
                "{vector:?}"
            );
        }
        assert_eq!(length_of(&[0, 0]), None);
        assert_eq!(length_of(&[5, 128]), None, "-128 is no number of a row");
        assert_eq!(length_of(&[3, 252]), Some(5.0));
    }
}
