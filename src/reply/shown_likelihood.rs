//! The likelihoods that a reader sees beside hits. Not here: computing them (`search`).

use search::Hit;

/// Returns hits with likelihoods that agree with their order: each run of hits of one tier in which a later one is likelier gets the
/// mean of the run. The order tells something too, and a reader sees one order. Pool adjacent violators (Ayer and others, 1955).
pub(super) fn agreeing_hits(hits: &[Hit]) -> Vec<Hit> {
    let mut hits = hits.to_vec();
    for tier in hits.chunk_by_mut(|one, next| one.tier == next.tier) {
        let mut likelihoods: Vec<f32> = tier.iter().map(|hit| hit.score.likelihood).collect();
        agree_with_order(&mut likelihoods);
        let agreeing = tier.iter_mut().zip(likelihoods);
        agreeing.for_each(|(hit, likelihood)| hit.score.likelihood = likelihood);
    }
    hits
}

fn agree_with_order(likelihoods: &mut [f32]) {
    // Runs that are pooled: their sum and their length.
    let mut runs: Vec<(f32, u16)> = Vec::new();
    let mean = |(sum, len): (f32, u16)| sum / f32::from(len);
    for likelihood in likelihoods.iter() {
        let mut run = (*likelihood, 1);
        while let Some(before) = runs.pop_if(|before| mean(*before) < mean(run)) {
            run = (before.0 + run.0, before.1.saturating_add(run.1));
        }
        runs.push(run);
    }
    let means = runs.into_iter().flat_map(|run| std::iter::repeat_n(mean(run), run.1.into()));
    for (likelihood, mean) in likelihoods.iter_mut().zip(means) {
        *likelihood = mean;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // S-RANK-6
    #[test]
    fn likelihoods_fall_with_the_order_and_keep_their_sum() {
        let mut shown = [0.77, 0.70, 0.23, 0.68, 0.38];
        agree_with_order(&mut shown);
        let permille: Vec<String> = shown.iter().map(|share| format!("{share:.3}")).collect();
        assert_eq!(permille, ["0.770", "0.700", "0.455", "0.455", "0.380"]);
        let falling = [0.9_f32, 0.5, 0.5, 0.1];
        let mut shown = falling;
        agree_with_order(&mut shown);
        assert_eq!(shown.map(f32::to_bits), falling.map(f32::to_bits));
    }

    proptest! {
        // S-RANK-6
        #[test]
        fn agreeing_likelihoods_never_rise(mut given in prop::collection::vec(0.0_f32..1.0, 0..40)) {
            let sum: f32 = given.iter().sum();
            agree_with_order(&mut given);
            prop_assert!(given.windows(2).all(|pair| pair[0] >= pair[1]), "{given:?}");
            prop_assert!((given.iter().sum::<f32>() - sum).abs() < 1e-3);
        }
    }
}
