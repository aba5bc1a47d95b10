//! Rotates the vector of a token. Signs keep the most information where all numbers have the same variance, and the
//! model's do not. Two fixed random sign flips, each followed by a Walsh-Hadamard transform, are a cheap rotation. Not
//! here: what becomes of the rotated numbers (`token_signs`, `query_token`).

use super::mean_vector;
use crate::processor::with_native_simd;

/// Numbers that are transformed: a power of two.
const WIDTH: usize = 512;
/// Numbers that are kept, as many as the model has.
pub(super) const ROTATED_DIMS: usize = 384;
/// The seeds of the flips. Any would do, but stored signs were made with these.
const SEEDS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

const FLIPS: [[u64; WIDTH / 64]; 2] = [flips(SEEDS[0]), flips(SEEDS[1])];

/// Sixty-four flips a word, by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
#[expect(clippy::indexing_slicing, reason = "a constant: it is compiled or it is not")]
const fn flips(seed: u64) -> [u64; WIDTH / 64] {
    let mut words = [0; WIDTH / 64];
    let (mut state, mut at) = (seed, 0);
    while at < words.len() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        words[at] = word ^ (word >> 31);
        at += 1;
    }
    words
}

/// Returns the rotated direction of a token, minus the mean of all tokens. `None` where it has none.
pub(super) fn rotated(state: &[f32]) -> Option<[f32; ROTATED_DIMS]> {
    let mut numbers = [0.0; WIDTH];
    for ((number, state), mean) in numbers.iter_mut().zip(state).zip(mean_vector::numbers()) {
        *number = state - mean;
    }
    with_native_simd(
        #[inline(always)]
        || rotate(&mut numbers),
    );
    let (kept, _) = numbers.split_first_chunk::<ROTATED_DIMS>()?;
    let length = kept.iter().map(|number| number * number).sum::<f32>().sqrt();
    (length.is_finite() && length > 0.0).then(|| kept.map(|number| number / length))
}

#[inline(always)]
fn rotate(numbers: &mut [f32; WIDTH]) {
    for flips in &FLIPS {
        flip(numbers, flips);
        transform(numbers);
    }
}

#[inline(always)]
fn flip(numbers: &mut [f32; WIDTH], flips: &[u64; WIDTH / 64]) {
    for (numbers, word) in numbers.chunks_mut(64).zip(flips) {
        for (number, at) in numbers.iter_mut().zip(0..) {
            if word >> at & 1 == 1 {
                *number = -*number;
            }
        }
    }
}

/// The Walsh-Hadamard transform, unscaled: only directions are needed.
#[inline(always)]
fn transform(numbers: &mut [f32; WIDTH]) {
    let mut half = 1;
    while half < WIDTH {
        for pair in numbers.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(left: &[f32], right: &[f32]) -> f32 {
        left.iter().zip(right).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn a_rotation_keeps_lengths_and_angles() {
        let numbers = |step: f32| {
            let mut numbers = [0.0; WIDTH];
            numbers.iter_mut().zip(0_u16..).for_each(|(n, at)| *n = (f32::from(at) * step).sin());
            numbers
        };
        let (mut left, mut right) = (numbers(0.7), numbers(0.71));
        let before = dot(&left, &right) / dot(&left, &left);
        for numbers in [&mut left, &mut right] {
            flip(numbers, &FLIPS[0]);
            transform(numbers);
        }
        assert!((dot(&left, &right) / dot(&left, &left) - before).abs() < 1e-4);
    }

    #[test]
    fn the_flips_are_those_of_stored_signs() {
        let ones: Vec<u32> =
            FLIPS.iter().map(|words| words.iter().map(|w| w.count_ones()).sum()).collect();
        assert_eq!(FLIPS[0][0], 0x6e78_9e6a_a1b9_65f4);
        assert!(ones.iter().all(|ones| (200..312).contains(ones)), "{ones:?}");
        assert_ne!(FLIPS[0], FLIPS[1]);
    }

    #[test]
    fn a_state_without_direction_is_none() {
        let mean: Vec<f32> = mean_vector::numbers().collect();
        assert_eq!(mean.len(), ROTATED_DIMS);
        assert!(rotated(&mean).is_none());
        assert!(rotated(&[f32::NAN; ROTATED_DIMS]).is_none());
        assert!(rotated(&[0.5; ROTATED_DIMS]).is_some());
    }
}
