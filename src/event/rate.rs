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
        Self::of_counts(successes, attempts).ok_or_else(help)
    }

    /// Makes a rate from two counts; returns `None` if the counts are not valid.
    #[must_use]
    pub fn of_counts(successes: u32, attempts: u32) -> Option<Self> {
        let is_rate = (1..=ATTEMPTS_MAX).contains(&attempts) && successes <= attempts;
        is_rate.then_some(Self { successes, attempts })
    }

    /// Returns how many attempts succeeded, and how many there were.
    #[must_use]
    pub fn counts(self) -> (u32, u32) {
        (self.successes, self.attempts)
    }

    /// Returns the lower end of the Wilson score interval, in 0..1: the success rate that this much evidence
    /// supports (E. B. Wilson, JASA 22, 1927, p. 209; one-sided, z = 1.2816).
    #[must_use]
    pub fn lower_bound(self) -> f64 {
        let n = f64::from(self.attempts);
        let p = f64::from(self.successes) / n;
        let z2 = Z * Z;
        let centre = p + z2 / (2.0 * n);
        let spread = Z * ((p * (1.0 - p) + z2 / (4.0 * n)) / n).sqrt();
        ((centre - spread) / (1.0 + z2 / n)).clamp(0.0, 1.0)
    }
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
