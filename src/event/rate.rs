//! `success_rate`: evidence of the form X/Y, and how much of it to believe. Not here: counting later reports
//! (`memory`).

use std::fmt;

use super::limits::ATTEMPTS_MAX;
use super::quoted;

/// X successes in Y attempts, with X ≤ Y and 1 ≤ Y ≤ [`ATTEMPTS_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuccessRate {
    successes: u32,
    attempts: u32,
}

/// The z of a one-sided 90 % bound: strict enough that 5/5 does not beat 90/100, and mild enough that a first
/// success still counts.
const Z: f64 = 1.2816;

impl SuccessRate {
    /// Reads `X/Y`, spaces allowed around the slash.
    ///
    /// # Errors
    /// A sentence saying what is allowed, with an example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let help = || {
            format!(
                "must be successes/attempts such as \"9/10\", with successes <= attempts <= {ATTEMPTS_MAX}; got {}",
                quoted(text)
            )
        };
        let (left, right) = text.split_once('/').ok_or_else(help)?;
        let successes: u32 = left.trim().parse().map_err(|_| help())?;
        let attempts: u32 = right.trim().parse().map_err(|_| help())?;
        Self::from_counts(successes, attempts).ok_or_else(help)
    }

    /// Makes a rate from two counts; returns `None` if the counts are not valid.
    #[must_use]
    pub fn from_counts(successes: u32, attempts: u32) -> Option<Self> {
        let is_rate = (1..=ATTEMPTS_MAX).contains(&attempts) && successes <= attempts;
        is_rate.then_some(Self { successes, attempts })
    }

    /// Returns the rate with later reports counted in. It may have more attempts than a line may state: a report that
    /// found no room would turn the rate back to what it was before the reports.
    #[must_use]
    pub fn with_reports(first: Option<Self>, worked: u32, failed: u32) -> Option<Self> {
        let (successes, attempts) = first.map_or((0, 0), Self::counts);
        let failures = (attempts - successes).saturating_add(failed);
        let successes = successes.saturating_add(worked);
        let attempts = successes.saturating_add(failures);
        (attempts > 0).then_some(Self { successes, attempts })
    }

    /// Returns how many attempts succeeded, and how many there were.
    #[must_use]
    pub fn counts(self) -> (u32, u32) {
        (self.successes, self.attempts)
    }

    /// Returns the lower end of the Wilson score interval, in 0..1: the success rate that this much evidence
    /// supports.
    #[must_use]
    pub fn lower_bound(self) -> f64 {
        let (successes, attempts) = (f64::from(self.successes), f64::from(self.attempts));
        wilson_lower_bound(successes, attempts)
    }

    /// Returns how far to believe in success at this rate, in 0..1, and one half without a rate: the Wilson bound of the
    /// rate with two successes and two failures added (A. Agresti and B. A. Coull, The American
    /// Statistician 52, 1998, p. 119), on a scale on which these four alone are one half.
    ///
    /// The bound alone does not suffice: that of 1/1 is 0.38, so a first success would count less than no report. With the
    /// same four attempts under every count, the bound of "no report" lies on the curve of all others, and the curve rises
    /// with each success and falls with each failure.
    #[must_use]
    pub fn belief(rate: Option<Self>) -> f64 {
        Self::aged_belief(rate, 1.0, 1.0)
    }

    /// Returns [`Self::belief`] where each success counts as `success_share` of one, and each failure as `failure_share`, both 0
    /// to 1: a report says less as it ages. At 0 nothing is known any more.
    #[must_use]
    pub fn aged_belief(rate: Option<Self>, success_share: f64, failure_share: f64) -> f64 {
        let (successes, attempts) = rate.map_or((0, 0), Self::counts);
        let failures = f64::from(attempts - successes) * failure_share;
        let successes = f64::from(successes) * success_share;
        let attempts = successes + failures;
        let bound = wilson_lower_bound(successes + ADDED, attempts + 2.0 * ADDED);
        let unknown = wilson_lower_bound(ADDED, 2.0 * ADDED);
        let above = (bound - unknown).max(0.0) / (1.0 - unknown);
        let below = (unknown - bound).max(0.0) / unknown;
        (1.0 + above - below) / 2.0
    }
}

/// How many successes, and how many failures, every rate has before the first report.
const ADDED: f64 = 2.0;

/// The lower end of the Wilson score interval (E. B. Wilson, JASA 22, 1927, p. 209; one-sided, z = 1.2816). It rises with
/// each success and falls with each failure, also of counts that are no integers. It is p² divided by the upper end, since
/// the difference of centre and spread is nothing but rounding where p is 0.
fn wilson_lower_bound(successes: f64, attempts: f64) -> f64 {
    let p = successes / attempts;
    let z2 = Z * Z;
    let centre = p + z2 / (2.0 * attempts);
    let spread = Z * ((p * (1.0 - p) + z2 / (4.0 * attempts)) / attempts).sqrt();
    p * p / (centre + spread)
}

impl fmt::Display for SuccessRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.successes, self.attempts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> f64 {
        SuccessRate::parse(text).unwrap().lower_bound()
    }

    // S-RANK-4
    #[test]
    fn much_good_evidence_beats_little_perfect_evidence() {
        assert!(bound("90/100") > bound("5/5"));
        assert!(bound("5/5") > bound("1/1"));
        assert!(bound("1/1") > bound("0/1"));
    }

    // S-RANK-4
    #[test]
    fn the_bound_agrees_with_the_published_formula() {
        // By hand: p = .9, n = 10, z = 1.2816.
        assert!((bound("9/10") - 0.7176).abs() < 0.001, "{}", bound("9/10"));
    }

    /// What a line may state at first, and nothing.
    fn first_rates() -> impl Iterator<Item = Option<SuccessRate>> {
        let texts =
            ["0/1", "1/1", "1/2", "5/5", "0/9", "9/10", "90/100", "999999/1000000", "0/1000000"];
        texts.into_iter().map(|text| SuccessRate::parse(text).ok()).chain([None])
    }

    // S-RANK-4
    #[test]
    fn no_success_lowers_and_no_failure_raises() {
        for first in first_rates() {
            let rate = |worked, failed| SuccessRate::with_reports(first, worked, failed);
            let belief = |worked, failed| SuccessRate::belief(rate(worked, failed));
            let bound = |worked, failed| rate(worked, failed).map_or(0.0, SuccessRate::lower_bound);
            for (worked, failed) in
                (0..=60).flat_map(|worked| (0..=60).map(move |failed| (worked, failed)))
            {
                let at = (first, worked, failed);
                assert!(belief(worked + 1, failed) > belief(worked, failed), "worked: {at:?}");
                assert!(belief(worked, failed + 1) < belief(worked, failed), "failed: {at:?}");
                assert!(bound(worked + 1, failed) >= bound(worked, failed), "worked: {at:?}");
                assert!(bound(worked, failed + 1) <= bound(worked, failed), "failed: {at:?}");
            }
        }
    }

    // S-RANK-4
    #[test]
    fn no_report_is_one_half_and_so_much_success_is_never_less() {
        let belief = |text: &str| SuccessRate::belief(SuccessRate::parse(text).ok());
        assert!((SuccessRate::belief(None) - 0.5).abs() < 1e-12);
        for count in 1..=60 {
            let half = SuccessRate::from_counts(count, 2 * count);
            assert!(SuccessRate::belief(half) > 0.5, "{half:?}");
        }
        assert!(belief("90/100") > belief("5/5") && belief("5/5") > belief("1/1"));
        assert!(belief("1000000/1000000") > 0.99 && belief("0/1000000") < 0.01);
    }

    // S-LIFE-2
    #[test]
    fn no_report_is_lost_where_a_line_states_as_many_as_it_may() {
        let full = SuccessRate::parse("999990/1000000").ok();
        let after = SuccessRate::with_reports(full, 1, 2).unwrap();
        assert_eq!(after.counts(), (999_991, 1_000_003));
        let most = SuccessRate::with_reports(full, u32::MAX, u32::MAX).unwrap();
        assert_eq!(most.counts(), (u32::MAX, u32::MAX));
        assert_eq!(SuccessRate::with_reports(None, 0, 0), None);
    }

    // S-LINE-2
    #[test]
    fn nonsense_is_refused_with_an_example() {
        for bad in ["", "often", "10/9", "1/0", "-1/2", "1/2/3", "1e3/2e3", "1/9999999"] {
            assert!(SuccessRate::parse(bad).unwrap_err().contains("9/10"), "{bad}");
        }
    }

    #[test]
    fn a_rate_is_written_as_it_was_read() {
        assert_eq!(SuccessRate::parse(" 9 / 10 ").unwrap().to_string(), "9/10");
    }
}
