//! The likelihood that a hit answers the query, 0 to 1. It depends on the query, the memory and the statistics of the
//! corpus alone. Not here: the order of hits (`fuse`, `prior`), the bars (`pipeline`).
//!
//! The likelihood is a logistic model of features that mean the same for every query and store: the share of the
//! query that the memory covers (terms that no memory contains count too), the rarity of the shared words, the
//! cosine, the nearness of the tokens, and the number of terms. Where no word is shared, a paraphrase is recognised by
//! its cosine alone, which then counts more. The coefficients were fitted by maximum likelihood; benches/runs has the
//! calibration.

use super::score::Score;

/// The coefficients of the log-odds.
struct Coefficients {
    covered: f32,
    rarity: f32,
    dense: f32,
    late: f32,
    terms: f32,
    bias: f32,
    /// Added to `bias` and `dense` where no word is shared, and faded out over [`FADING_RARITY`].
    unshared_bias: f32,
    unshared_dense: f32,
}

/// The rarity of shared words by which the terms for "no word is shared" have faded to 1/e: a stop word has more.
const FADING_RARITY: f32 = 0.7;

const WITH_MEANING: Coefficients = Coefficients {
    covered: -1.084,
    rarity: 2.627,
    dense: 3.308,
    late: 5.689,
    terms: -1.443,
    bias: -8.716,
    unshared_bias: -1.05,
    unshared_dense: 23.881,
};
const WORDS_ALONE: Coefficients = Coefficients {
    covered: 4.735,
    rarity: 2.882,
    dense: 0.0,
    late: 0.0,
    terms: -1.263,
    bias: -7.888,
    unshared_bias: 0.0,
    unshared_dense: 0.0,
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
    let rarity = score.rarity.max(0.0);
    let unshared = (-rarity / FADING_RARITY).exp();
    let odds = model.covered * score.covered
        + model.rarity * rarity.ln_1p()
        + (model.dense + model.unshared_dense * unshared) * score.dense.unwrap_or(0.0).max(0.0)
        + model.late * late
        + model.terms * terms
        + model.bias
        + model.unshared_bias * unshared;
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
        let likelihood_of = |rarity, dense| likelihood(&score(0.3, rarity, dense));
        assert!(likelihood_of(20.0, Some(0.5)) > likelihood_of(5.0, Some(0.5)));
        assert!(likelihood_of(20.0, Some(0.7)) > likelihood_of(20.0, Some(0.3)));
        assert!(likelihood_of(20.0, None) > likelihood_of(5.0, None));
        let of_length = |terms| likelihood(&Score { terms, ..score(0.3, 10.0, Some(0.5)) });
        assert!(of_length(5) > of_length(50), "a long query shares some words with anything");
    }

    // S-RANK-6
    #[test]
    fn nothing_shared_is_unlikely_and_a_full_match_is_likely() {
        assert!(likelihood(&score(0.0, 0.0, Some(0.2))) < 0.02);
        assert!(likelihood(&score(0.0, 0.0, Some(0.5))) > 0.1, "a paraphrase");
        assert!(likelihood(&score(0.0, 0.0, None)) < 0.02);
        assert!(likelihood(&score(0.8, 40.0, Some(0.8))) > 0.8);
        assert!(likelihood(&score(0.8, 40.0, None)) > 0.5);
    }
}
