//! Two scores into one, each in its own absolute unit: the share of the query that the words cover, and the
//! cosine of the meanings. Both mean the same for every query, so their sum does too, which scores scaled by
//! the best and worst candidate do not. (A convex combination with a theoretical bound as the scale; S. Bruch
//! et al., "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 42, 2023.) Rank fusion was measured
//! to fall below plain BM25 on two of five sets.
//! Not here: what else a memory is worth (`prior`).

use super::candidates::Candidate;

/// What a cosine of one counts beside words that cover the whole query. Measured on four sets: .4 to .6 are
/// alike.
const MEANING_SHARE: f32 = 0.5;

/// What tokens that are all found count beside words that cover the whole query. Measured on six sets from .5
/// to 1.5, all alike: one was taken as the roundest.
const LATE_SHARE: f32 = 1.0;
/// How much more the nearness of tokens is on average than the fit without it, on `benches/lessons`: what stands
/// in for it where it is not known, so that what was not looked at closely keeps its place.
const LATE_ABOVE_FIT: f32 = 0.13;

/// How well a candidate fits, 0 to 1, when it is known how near its tokens are to those of the query.
pub(super) fn fit_with(fit: f32, late: f32) -> f32 {
    let share = 1.0 + MEANING_SHARE;
    (share * fit + LATE_SHARE * late) / (share + LATE_SHARE)
}

/// What stands in for the nearness of the tokens of a candidate that fits so well without it.
pub(super) fn late_instead(fit: f32) -> f32 {
    fit + LATE_ABOVE_FIT
}

/// How well a candidate fits, 0 to 1: 1 when its words say all of the query and it means the same.
pub(super) fn fit(candidate: &Candidate) -> f32 {
    // Not embedded yet: its words stand in for its meaning, so that it is not pushed down for being new.
    let meaning = candidate.dense.map_or(candidate.covered, |cosine| cosine.max(0.0));
    (candidate.covered + MEANING_SHARE * meaning) / (1.0 + MEANING_SHARE)
}

/// Each fit on the scale from the worst candidate to the best, 0 to 1: what priors weigh, so that they shift
/// what lies close together, and never what is far apart.
pub(super) fn relative(fits: &[f32]) -> Vec<f32> {
    let low = fits.iter().copied().fold(f32::INFINITY, f32::min);
    let high = fits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let width = high - low;
    fits.iter().map(|fit| if width > 0.0 { (fit - low) / width } else { 1.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(covered: f32, dense: Option<f32>) -> Candidate {
        Candidate { number: 0, lexical: covered, covered, dense }
    }

    // S-RANK-3
    #[test]
    fn words_and_meaning_add_up_and_all_of_both_is_one() {
        assert!((fit(&candidate(1.0, Some(1.0))) - 1.0).abs() < 1e-6);
        assert!(fit(&candidate(0.0, Some(0.0))).abs() < 1e-6);
        assert!(fit(&candidate(0.4, Some(0.2))) > fit(&candidate(0.2, Some(0.2))));
        assert!(fit(&candidate(0.4, Some(0.4))) > fit(&candidate(0.4, Some(0.2))));
        assert!(fit(&candidate(0.4, Some(-0.9))) <= fit(&candidate(0.4, Some(0.0))));
    }

    // S-RANK-3
    #[test]
    fn without_a_vector_words_stand_in_for_meaning() {
        let (new, near, far) =
            (candidate(0.4, None), candidate(0.4, Some(0.5)), candidate(0.4, Some(0.3)));
        assert!(fit(&near) > fit(&new) && fit(&new) > fit(&far));
    }

    // S-RANK-3
    #[test]
    fn the_best_is_one_and_the_worst_nothing_whatever_they_are() {
        assert_eq!(relative(&[0.25, 0.75, 0.5]), [0.0, 1.0, 0.5]);
        assert_eq!(relative(&[0.3, 0.3]), [1.0, 1.0]);
        assert!(relative(&[]).is_empty());
    }
}
