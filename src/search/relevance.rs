//! The likelihood that the best candidate answers the query, 0 to 1, so that a question without an answer gets none.
//! Not here: which candidate is the best (`fuse`, `prior`).
//!
//! A logistic model of four features that mean the same for every query and index: the share of the query that the best
//! candidate covers (terms that no memory contains count too), its cosine, its margin over the sixth best, and the
//! number of terms. Its coefficients were fitted
//! by maximum likelihood on the tune half of `benches/lessons`; benches/runs has the curve on that, on its
//! test half, and on sets of others.

use super::candidates::Candidate;

/// The rank of the candidate that the best is compared with.
const COMPARED_WITH: usize = 5;

/// The coefficients of the log-odds.
struct Coefficients {
    covered: f32,
    meaning: f32,
    margin: f32,
    terms: f32,
    bias: f32,
}

const WITH_MEANING: Coefficients =
    Coefficients { covered: 7.30, meaning: 8.08, margin: 6.97, terms: 0.573, bias: -5.75 };
const WORDS_ALONE: Coefficients =
    Coefficients { covered: 14.3, meaning: 0.0, margin: 7.15, terms: 2.37, bias: -8.2 };

/// Returns the likelihood that the best candidate answers the query; 0 without candidates. `fits` are those of the
/// candidates, in their order; `terms` is the number of distinct terms of the query; `coverage` is the share of them that
/// a candidate's words cover.
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
    let model = if best.dense.is_some() { &WITH_MEANING } else { &WORDS_ALONE };
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
