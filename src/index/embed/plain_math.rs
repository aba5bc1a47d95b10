//! The loops of the plain network that are no products of matrices, in a form that compilers turn into wide instructions. Not
//! here: the network (`plain_network`).

use super::loaded_model::DIMS;
use crate::processor::with_native_simd;

/// Added to a variance, so that nothing is divided by zero; the network was trained with it.
const VARIANCE_MIN: f32 = 1e-12;
/// Sums that run side by side, as many as a wide register holds.
const LANES: usize = 16;
/// Added and taken off again, it rounds a small number to a whole one.
const ROUNDER: f32 = 12_582_912.0;
/// The natural logarithm of two, in two parts.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// Brings each row of [`DIMS`] numbers to mean 0 and variance 1, then scales and shifts it.
pub(super) fn normalise_rows(rows: &mut [f32], weight: &[f32], bias: &[f32]) {
    // DIMS is small enough for an f32.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let share = 1.0 / DIMS as f32;
    with_native_simd(
        #[inline(always)]
        || {
            for row in rows.chunks_exact_mut(DIMS) {
                let mean = sum(row) * share;
                row.iter_mut().for_each(|number| *number -= mean);
                let variance = sum_of_squares(row) * share;
                let scale = 1.0 / (variance + VARIANCE_MIN).sqrt();
                for ((number, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
                    *number = *number * scale * weight + bias;
                }
            }
        },
    );
}

/// Makes the exponentials of each row, `width` numbers long, shares of their sum.
pub(super) fn softmax_rows(rows: &mut [f32], width: usize) {
    with_native_simd(
        #[inline(always)]
        || {
            for row in rows.chunks_exact_mut(width.max(1)) {
                let most = row.iter().copied().fold(f32::MIN, f32::max);
                row.iter_mut().for_each(
                    #[inline(always)]
                    |number| *number = exponential(*number - most),
                );
                let share = 1.0 / sum(row);
                row.iter_mut().for_each(|number| *number *= share);
            }
        },
    );
}

/// Multiplies each number with the share of a normal distribution below it.
pub(super) fn gelu_all(numbers: &mut [f32]) {
    with_native_simd(
        #[inline(always)]
        || {
            numbers.iter_mut().for_each(
                #[inline(always)]
                |number| *number = gelu(*number),
            );
        },
    );
}

#[inline(always)]
fn sum(row: &[f32]) -> f32 {
    let (parts, rest) = row.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, number)| *sum += number);
    }
    sums.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

#[inline(always)]
fn sum_of_squares(row: &[f32]) -> f32 {
    let (parts, rest) = row.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, number)| *sum += number * number);
    }
    sums.iter().sum::<f32>() + rest.iter().map(|number| number * number).sum::<f32>()
}

/// Returns e to the power of a number, right within 2e-7 of it: a power of two, and a polynomial for the rest (Cephes).
#[inline(always)]
fn exponential(number: f32) -> f32 {
    let number = number.clamp(-87.0, 88.0);
    let twos = (number * std::f32::consts::LOG2_E + ROUNDER) - ROUNDER;
    let rest = (number - twos * LN_2_HIGH) - twos * LN_2_LOW;
    let polynomial = 1.987_569_1e-4;
    let polynomial = polynomial * rest + 1.398_199_9e-3;
    let polynomial = polynomial * rest + 8.333_452e-3;
    let polynomial = polynomial * rest + 4.166_579_6e-2;
    let polynomial = polynomial * rest + 0.166_666_65;
    let polynomial = polynomial * rest + 0.5;
    let power = polynomial * rest * rest + rest + 1.0;
    // Between -126 and 127, see the clamp.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let exponent = twos as i32 + 127;
    power * f32::from_bits((exponent << 23).cast_unsigned())
}

/// The error function is that of Abramowitz and Stegun, 7.1.26, right within 1.5e-7.
#[inline(always)]
fn gelu(number: f32) -> f32 {
    let far = number.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let near = 1.0 / (1.0 + 0.327_591_1 * far);
    let polynomial = 1.061_405_4 * near - 1.453_152_1;
    let polynomial = polynomial * near + 1.421_413_8;
    let polynomial = polynomial * near - 0.284_496_72;
    let polynomial = polynomial * near + 0.254_829_6;
    let error_function = 1.0 - polynomial * near * exponential(-far * far);
    0.5 * number * (1.0 + error_function.copysign(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_right_within_rounding() {
        for step in -8_700..=8_700_i16 {
            let number = f32::from(step) / 100.0;
            let exact = number.exp();
            let found = exponential(number);
            assert!((found - exact).abs() <= exact * 1e-6, "{number}: {found} instead of {exact}");
        }
        assert!(exponential(f32::MIN) < 1e-37);
    }

    #[test]
    fn gelu_has_its_known_values() {
        for (number, expected) in
            [(0.0, 0.0), (1.0, 0.841_344_7), (-1.0, -0.158_655_3), (3.0, 2.995_95), (-9.0, 0.0)]
        {
            assert!((gelu(number) - expected).abs() < 1e-5, "{number}: {}", gelu(number));
        }
    }

    #[test]
    fn rows_are_normal_and_shares_have_sum_one() {
        let mut row: Vec<f32> = (0_u16..384).map(|at| f32::from(at % 7) * 3.0 - 5.0).collect();
        normalise_rows(&mut row, &[1.0; DIMS], &[0.0; DIMS]);
        assert!(
            (sum(&row) / 384.0).abs() < 1e-5 && (sum_of_squares(&row) / 384.0 - 1.0).abs() < 1e-4
        );
        let mut shares = vec![1.0, 2.0, 3.0, 80.0, 80.0, 0.0];
        softmax_rows(&mut shares, 3);
        assert!(
            (sum(&shares[..3]) - 1.0).abs() < 1e-6 && (shares[3] - 0.5).abs() < 1e-6,
            "{shares:?}"
        );
    }
}
