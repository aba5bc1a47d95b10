//! A token of a query, prepared for comparison with the signs of memories. Not here: its weight (`search`).

use std::ops::Range;

use super::rotation::{ROTATED_DIMS, rotated};
use super::{SIGN_WORDS, Signs, TOKENS_KEPT_MAX, Token, TokenSigns};
use crate::processor::with_native_simd;

/// Bits of each number.
const BITS: usize = 4;
/// Numbers of a token.
const NUMBERS: i32 = 384;
/// Steps between the lowest number and the highest.
const LEVELS: f32 = 16.0;

/// A token of a query: its numbers in four bits, bit by bit.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryToken {
    /// Its position in the query, in bytes.
    pub span: Range<usize>,
    /// Bit i of word w of plane p is bit p of number 64 w + i.
    planes: [Signs; BITS],
    /// The sum of all numbers.
    sum: i32,
    /// The share of the cosine in one step of a number.
    step: f32,
}

impl QueryToken {
    /// `None` for a token without direction.
    #[must_use]
    pub fn from_token(token: &Token) -> Option<Self> {
        let numbers = rotated(&token.state)?;
        let largest = numbers.iter().map(|number| number.abs()).fold(0.0, f32::max);
        let mut planes = [[0; SIGN_WORDS]; BITS];
        let mut sum = 0;
        for (at, number) in numbers.iter().enumerate() {
            let level = ((number / largest + 1.0) * (LEVELS / 2.0)).clamp(0.0, LEVELS - 1.0);
            #[expect(clippy::cast_possible_truncation, reason = "from 0 to 15 by the line above")]
            let level = level as i32;
            sum += level;
            for (plane, bit) in planes.iter_mut().zip(0..) {
                if let Some(word) = plane.get_mut(at / 64) {
                    *word |= u64::from(level >> bit & 1 == 1) << (at % 64);
                }
            }
        }
        let step = largest / (LEVELS / 2.0) / (ROTATED_DIMS as f32).sqrt();
        Some(Self { span: token.span.clone(), planes, sum, step })
    }

    /// Returns the cosine between this token and the nearest one of a memory, from -1 to 1 except for rounding;
    /// `None` for a memory without tokens.
    #[must_use]
    pub fn nearest(&self, note: &TokenSigns) -> Option<f32> {
        let nearest = with_native_simd(
            #[inline(always)]
            || self.products(note).into_iter().take(note.len()).max(),
        )?;
        // At most 16 * 2 * 384, which an f32 holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        Some(self.step * (nearest as f32 / 2.0))
    }

    /// Returns, for each token of a memory, twice the sum of s (c - 7.5) over all numbers c and signs s of 1 and -1.
    /// With b = 1 where s is 1, that is 4 sum(b c) - 30 sum(b) - 2 sum(c) + 15 * 384. The loop takes one word of all
    /// tokens at a time, so that the compiler can vectorize it.
    #[inline(always)]
    fn products(&self, note: &TokenSigns) -> [i32; TOKENS_KEPT_MAX] {
        let mut sums = [0_u64; TOKENS_KEPT_MAX];
        for (plane, place) in self.planes.iter().zip(0..) {
            for (word, column) in plane.iter().zip(&note.columns) {
                for (sum, signs) in sums.iter_mut().zip(column) {
                    *sum += u64::from((word & signs).count_ones()) << place;
                }
            }
        }
        let mut products = [0; TOKENS_KEPT_MAX];
        for ((product, sum), ones) in products.iter_mut().zip(sums).zip(&note.ones) {
            #[expect(clippy::cast_possible_truncation, reason = "at most 15 * 384")]
            let both = sum as i32;
            *product = 4 * both - 30 * ones - 2 * self.sum + 15 * NUMBERS;
        }
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::late::test_tokens::tokens_of;
    use proptest::prelude::*;

    fn one(word: &str) -> (QueryToken, TokenSigns) {
        let tokens = tokens_of(word);
        (QueryToken::from_token(&tokens[0]).unwrap(), TokenSigns::from_tokens(&tokens))
    }

    fn level(token: &QueryToken, at: usize) -> i32 {
        let bit = |plane: &Signs| i32::from(plane[at / 64] >> (at % 64) & 1 == 1);
        token.planes.iter().zip(0..).map(|(plane, place)| bit(plane) << place).sum()
    }

    proptest! {
        // S-RANK-8
        #[test]
        fn counting_bits_gives_the_sum_of_products(left in "[a-z]{1,9}", right in "[a-z]{1,9}") {
            let ((asked, _), (_, note)) = (one(&left), one(&right));
            let signs = note.iter().next().unwrap();
            let sign = |at: usize| if signs[at / 64] >> (at % 64) & 1 == 1 { 1.0 } else { -1.0 };
            let sum: f32 =
                (0..ROTATED_DIMS).map(|at| sign(at) * (level(&asked, at) as f32 - 7.5)).sum();
            let nearest = asked.nearest(&note).unwrap();
            prop_assert!((nearest - asked.step * sum).abs() < 1e-4, "{nearest} {}", asked.step * sum);
            prop_assert!((-1.1..=1.1).contains(&nearest));
        }
    }

    // S-RANK-8
    #[test]
    fn a_token_is_nearest_to_itself_at_any_position() {
        let (asked, _) = one("walrus");
        let near = |text: &str| asked.nearest(&TokenSigns::from_tokens(&tokens_of(text))).unwrap();
        assert!(near("walrus") > 0.7, "{}", near("walrus"));
        assert!(near("otter heron badger") < 0.3);
        assert!((near("otter walrus heron") - near("walrus")).abs() < 1e-6);
        assert_eq!(asked.nearest(&TokenSigns::default()), None);
    }
}
