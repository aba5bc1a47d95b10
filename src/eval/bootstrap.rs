//! How certain a difference between two runs is. Queries are drawn repeatedly with replacement, the same ones
//! for both runs (paired bootstrap; B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter
//! 13, percentile interval). Not here: what is compared (`measure`).

use super::measure::{mean, nearest_rank};

/// The number of resamples. With this many, the ends of the interval move by less than a tenth of its width
/// between seeds.
pub const RESAMPLES: usize = 2_000;

/// A difference, with the interval that contains 95 % of the resampled differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean difference.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Difference {
    /// Tells whether the interval excludes 0.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Computes the mean of some differences and its interval; `None` for an empty list. The same seed gives the
/// same result.
#[must_use]
pub fn mean_difference(differences: &[f64], seed: u64) -> Option<Difference> {
    let mean_of_all = mean(differences.iter().copied())?;
    let mut random = SplitMix { state: seed };
    let mut means: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let drawn = (0..differences.len())
            .filter_map(|_| differences.get(random.below(differences.len())).copied());
        means.extend(mean(drawn));
    }
    means.sort_unstable_by(f64::total_cmp);
    let at = |share| means.get(nearest_rank(share, means.len())).copied();
    Some(Difference { mean: mean_of_all, low: at(0.025)?, high: at(0.975)? })
}

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
/// 2014). It is sufficient for resampling and gives the same numbers on every machine.
struct SplitMix {
    state: u64,
}

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `count`. The bias of the product with 64 random bits is below 2^-40 for any
    /// realistic number of queries.
    fn below(&mut self, count: usize) -> usize {
        let count = u128::try_from(count).unwrap_or(0);
        usize::try_from((u128::from(self.next()) * count) >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn another_seed_gives_nearly_the_same_interval() {
        let differences: Vec<f64> = (0..200).map(|n| f64::from(n % 7) / 10.0 - 0.2).collect();
        let first = mean_difference(&differences, 1).unwrap();
        assert_eq!(mean_difference(&differences, 1), Some(first));
        let other = mean_difference(&differences, 2).unwrap();
        assert!(near(first.mean, other.mean) && (first.low - other.low).abs() < 0.01);
    }

    #[test]
    fn no_difference_is_never_sure_and_a_constant_one_always_is() {
        let nothing = mean_difference(&[0.0; 50], 3).unwrap();
        assert!(!nothing.is_sure() && near(nothing.low, 0.0) && near(nothing.high, 0.0));
        let constant = mean_difference(&[0.1; 50], 3).unwrap();
        assert!(constant.is_sure() && near(constant.low, constant.high));
        assert_eq!(mean_difference(&[], 3), None);
    }

    #[test]
    fn an_interval_is_about_two_standard_errors_each_way() {
        // 100 queries, half better by one and half worse: the standard error of the mean is 0.1.
        let differences: Vec<f64> = (0..100).map(|n| if n % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let found = mean_difference(&differences, 5).unwrap();
        assert!((found.high - 0.196).abs() < 0.03 && (found.low + 0.196).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn numbers_agree_with_the_published_generator() {
        let mut random = SplitMix { state: 1_234_567 };
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.next(), random.next()], expected);
    }
}
