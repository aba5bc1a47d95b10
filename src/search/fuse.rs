//! Combines two scores, each in its own absolute unit: the share of the query that the words cover, and the cosine.
//! Both mean the same for every query, and so does their sum. (A convex combination with a theoretical bound as the
//! scale; S. Bruch et al., "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 42, 2023.) Rank fusion was
//! measured to fall below plain BM25 on two of five sets. Not here: what else a memory is worth (`prior`).

use super::candidates::Candidate;

/// The weight of a cosine of one, relative to full coverage by words. Measured on four sets: .4 to .6 are alike.
const MEANING_SHARE: f32 = 0.5;

/// The weight of the late score, relative to full coverage by words. Measured on six sets: .5 to 1.5 are alike.
const LATE_SHARE: f32 = 1.0;
/// By how much the late score exceeds the fit without it on average, on `benches/lessons`. With this estimate a
/// candidate whose tokens are unknown keeps its place.
const LATE_ABOVE_FIT: f32 = 0.13;

/// Returns the fit of a candidate with its late score, 0 to 1.
pub(super) fn fit_with(fit: f32, late: f32) -> f32 {
    let share = 1.0 + MEANING_SHARE;
    (share * fit + LATE_SHARE * late.max(0.0)) / (share + LATE_SHARE)
}

/// Returns the estimated late score of a candidate with this fit.
pub(super) fn late_estimate(fit: f32) -> f32 {
    fit + LATE_ABOVE_FIT
}

/// Returns the fit of a candidate, 0 to 1: 1 when its words cover the query and the cosine is 1.
pub(super) fn fit(candidate: &Candidate) -> f32 {
    // Not embedded yet: coverage stands in for the cosine, so that a new memory loses nothing.
    let meaning = candidate.dense.map_or(candidate.covered, |cosine| {
        candidate.embedded * cosine.max(0.0) + (1.0 - candidate.embedded) * candidate.covered
    });
    (candidate.covered + MEANING_SHARE * meaning) / (1.0 + MEANING_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(covered: f32, dense: Option<f32>) -> Candidate {
        Candidate { number: 0, lexical: covered, covered, dense, embedded: 1.0 }
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
}
