//! Whether a query is answered at all (the relevance of the best candidate), and the likelihood that each hit
//! answers it, 0 to 1. The likelihood depends on the query, the memory and the statistics of the corpus alone. Not
//! here: the order of hits (`fuse`, `prior`).
//!
//! The likelihood is a logistic model of five features that mean the same for every query and store: the share of
//! the query that the memory covers (terms that no memory contains count too), the rarity of the shared words, the
//! cosine, the nearness of the tokens, and the number of terms. Its coefficients were fitted by maximum likelihood;
//! benches/runs has the calibration.

use super::candidates::Candidate;
use super::score::Score;

/// The coefficients of the log-odds.
struct Coefficients {
    covered: f32,
    rarity: f32,
    dense: f32,
    late: f32,
    terms: f32,
    bias: f32,
}

const WITH_MEANING: Coefficients = Coefficients {
    covered: -0.916,
    rarity: 2.333,
    dense: 3.431,
    late: 5.644,
    terms: -1.31,
    bias: -8.337,
};
const WORDS_ALONE: Coefficients = Coefficients {
    covered: 4.735,
    rarity: 2.882,
    dense: 0.0,
    late: 0.0,
    terms: -1.263,
    bias: -7.888,
};
/// By how much the nearness of tokens exceeds the fit on average; for a memory whose tokens are not stored.
const LATE_ABOVE_FIT: f32 = 0.078;

/// Returns the likelihood of a hit, 0 to 1.
pub(super) fn likelihood(score: &Score) -> f32 {
    let model = if score.dense.is_some() { &WITH_MEANING } else { &WORDS_ALONE };
    let late = score.late.unwrap_or(score.fit + LATE_ABOVE_FIT).clamp(0.0, 1.0);
    // Queries have at most some thousand terms, which an f32 holds exactly.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let terms = (1.0 + score.terms as f32).ln();
    let odds = model.covered * score.covered
        + model.rarity * (1.0 + score.rarity).ln()
        + model.dense * score.dense.unwrap_or(0.0).max(0.0)
        + model.late * late
        + model.terms * terms
        + model.bias;
    1.0 / (1.0 + (-odds).exp())
}

/// The rank of the candidate that the best is compared with.
const COMPARED_WITH: usize = 5;

/// The coefficients of the log-odds that the best candidate is relevant.
struct BestCoefficients {
    covered: f32,
    meaning: f32,
    margin: f32,
    terms: f32,
    bias: f32,
}

const BEST_WITH_MEANING: BestCoefficients =
    BestCoefficients { covered: 7.30, meaning: 8.08, margin: 6.97, terms: 0.573, bias: -5.75 };
const BEST_BY_WORDS: BestCoefficients =
    BestCoefficients { covered: 14.3, meaning: 0.0, margin: 7.15, terms: 2.37, bias: -8.2 };

/// Returns the likelihood that the best candidate answers the query; 0 without candidates. `fits` are those of the
/// candidates, in their order; `terms` is the number of distinct terms of the query; `coverage` is the share of them
/// that a candidate's words cover.
pub(super) fn of_best(
    candidates: &[Candidate],
    fits: &[f32],
    terms: usize,
    coverage: impl Fn(u32) -> f32,
) -> f32 {
    let mut sorted = fits.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let best = candidates.iter().zip(fits).max_by(|a, b| a.1.total_cmp(b.1));
    let Some((best, fit)) = best else { return 0.0 };
    let margin = fit - sorted.get(COMPARED_WITH).copied().unwrap_or(0.0);
    let model = if best.dense.is_some() { &BEST_WITH_MEANING } else { &BEST_BY_WORDS };
    // Queries have at most some thousand terms, which an f32 holds exactly.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let terms = (1.0 + terms as f32).ln();
    let odds = model.covered * coverage(best.number)
        + model.meaning * best.dense.unwrap_or(0.0).max(0.0)
        + model.margin * margin
        + model.terms * terms
        + model.bias;
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(covered: f32, rarity: f32, dense: Option<f32>) -> Score {
        let late = dense.map(|cosine| cosine + 0.1);
        let fit = dense.map_or(covered, |cosine| covered.midpoint(cosine));
        Score { covered, rarity, terms: 8, dense, late, fit, ..Score::default() }
    }

    // S-RANK-6
    #[test]
    fn more_shared_words_and_nearer_meanings_are_more_likely() {
        let of = |rarity, dense| likelihood(&score(0.3, rarity, dense));
        assert!(of(20.0, Some(0.5)) > of(5.0, Some(0.5)));
        assert!(of(20.0, Some(0.7)) > of(20.0, Some(0.3)));
        assert!(of(20.0, None) > of(5.0, None));
        let of_length = |terms| likelihood(&Score { terms, ..score(0.3, 10.0, Some(0.5)) });
        assert!(of_length(5) > of_length(50), "a long query shares some words with anything");
    }

    // S-RANK-6
    #[test]
    fn nothing_shared_is_unlikely_and_a_full_match_is_likely() {
        assert!(likelihood(&score(0.0, 0.0, Some(0.2))) < 0.02);
        assert!(likelihood(&score(0.0, 0.0, None)) < 0.02);
        assert!(likelihood(&score(0.8, 40.0, Some(0.8))) > 0.8);
        assert!(likelihood(&score(0.8, 40.0, None)) > 0.5);
    }

    fn candidate(covered: f32, dense: Option<f32>) -> Candidate {
        Candidate { number: 0, lexical: covered, covered, dense }
    }

    fn of(candidates: &[Candidate]) -> f32 {
        let fits: Vec<f32> = candidates.iter().map(super::super::fuse::fit).collect();
        of_best(candidates, &fits, 6, |_| candidates[0].covered)
    }

    // S-RANK-6
    #[test]
    fn coverage_meaning_and_margin_raise_the_likelihood() {
        let one = |covered, dense| of(&[candidate(covered, dense)]);
        assert!(one(0.6, Some(0.5)) > one(0.3, Some(0.5)));
        assert!(one(0.3, Some(0.7)) > one(0.3, Some(0.3)));
        assert!(one(0.5, None) > one(0.1, None));
        let crowd = [candidate(0.3, Some(0.5)); 9];
        assert!(one(0.3, Some(0.5)) > of(&crowd));
    }

    // S-RANK-6
    #[test]
    fn no_candidate_is_unlikely_and_a_full_match_is_likely() {
        assert!(of(&[]).abs() < 1e-6);
        assert!(of(&[candidate(0.7, Some(0.8))]) > 0.95 && of(&[candidate(0.7, None)]) > 0.95);
        assert!(of(&[candidate(0.05, Some(0.2)); 9]) < 0.1);
        assert!(of(&[candidate(0.08, None); 9]) < 0.2);
    }
}
