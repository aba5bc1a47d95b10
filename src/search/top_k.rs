//! Chooses the candidates that can reach the top k after the priors, without computing the priors of all: each one
//! reads a memory from another place. Not here: the priors (`prior`).

/// Weighs the items that can be among the `needed` heaviest, and returns at least those. Each comes with its fit; its
/// weight is at most `weight_max` of its fit, which grows with the fit. Items without a weight are left out.
pub(super) fn weigh_top_k<Fitting, Weighed>(
    mut fitting: Vec<(f32, Fitting)>,
    needed: usize,
    weight_max: impl Fn(f32) -> f32,
    weigh: impl Fn(f32, Fitting) -> Option<Weighed>,
    weight: impl Fn(&Weighed) -> f32,
) -> Vec<Weighed> {
    if needed < fitting.len() {
        fitting.select_nth_unstable_by(needed, |(one, _), (other, _)| other.total_cmp(one));
    }
    let others = fitting.split_off(needed.min(fitting.len()));
    let mut weighed: Vec<Weighed> =
        fitting.into_iter().filter_map(|(fit, fitting)| weigh(fit, fitting)).collect();
    // Where some had no weight, any other may take their place.
    let least = match weighed.len() < needed {
        true => f32::NEG_INFINITY,
        false => weighed.iter().map(weight).fold(f32::INFINITY, f32::min),
    };
    let reachable = others.into_iter().filter(|(fit, _)| weight_max(*fit) >= least);
    weighed.extend(reachable.filter_map(|(fit, fitting)| weigh(fit, fitting)));
    weighed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::tests::snapshot;
    use super::super::{Hit, Query, Score, search};
    use super::*;
    use event::{RepoKey, Timestamp};

    proptest! {
        #[test]
        fn the_top_k_equals_weighing_everything(
            given in prop::collection::vec((0_u8..9, 0_u8..9, any::<bool>()), 0..60),
            needed in 0_usize..20,
        ) {
            // Bonuses from nothing to one.
            let weigh = |fit: f32, (factor, is_there, number): (u8, bool, usize)| {
                is_there.then(|| (fit + f32::from(factor) / 8.0, number))
            };
            let fitting: Vec<(f32, (u8, bool, usize))> = given
                .iter()
                .enumerate()
                .map(|(number, (fit, factor, is_there))| (f32::from(*fit), (*factor, *is_there, number)))
                .collect();
            let first = |mut weighed: Vec<(f32, usize)>| {
                weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                weighed.truncate(needed);
                weighed
            };
            let all = fitting.iter().filter_map(|(fit, fitting)| weigh(*fit, *fitting)).collect();
            let found = weigh_top_k(fitting, needed, |fit| fit + 1.0, weigh, |(weight, _)| *weight);
            prop_assert_eq!(first(found), first(all));
        }
    }

    #[test]
    fn items_that_cannot_reach_the_top_are_not_weighed() {
        let asked = std::cell::Cell::new(0);
        let weigh = |fit: f32, ()| {
            asked.set(asked.get() + 1);
            Some(fit)
        };
        let fitting = (0..100).map(|fit: u8| (f32::from(fit), ())).collect();
        assert_eq!(
            weigh_top_k(fitting, 10, |fit| fit + 8.0, weigh, |weight| *weight).len(),
            asked.get()
        );
        // From 82 on.
        assert_eq!(asked.get(), 18);
    }

    /// Many memories that fit well and differ, and one that fits less and has the best priors.
    fn many_and_one_with_the_best_priors(worse_by: usize, now: Timestamp) -> Vec<Value> {
        let mut lines: Vec<Value> = (0..75)
            .map(|number| {
                json!({"id": format!("m{number:02}"), "repo": "there", "source": "imported",
                    "lesson": format!("zebra pipe valve {number:02}{}", " pad".repeat(number % 3))})
            })
            .collect();
        lines.push(json!({"id": "proven", "repo": "here", "source": "agent",
            "timestamp": now.to_string(), "success_rate": "100000/100000",
            "lesson": format!("zebra pipe valve{}", " pad".repeat(worse_by))}));
        // The worst candidate, which is the zero of the scale.
        lines.push(json!({"id": "least", "repo": "there", "lesson": "zebra".to_owned() + &" pad".repeat(300)}));
        lines
    }

    // S-RANK-4
    #[test]
    fn the_best_priors_are_found_below_many_better_fits() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        let here = Some(RepoKey::parse("here").unwrap());
        let query = Query { text: "zebra pipe valve", here, ..Query::default() };
        let mut overtook = 0;
        for worse_by in 0..40 {
            let snapshot = snapshot(&many_and_one_with_the_best_priors(worse_by, now));
            let told = |hits: &[Hit]| -> Vec<(u32, Score)> {
                hits.iter().map(|hit| (hit.number, hit.score)).collect()
            };
            // With this limit all are weighed.
            let all = search(&snapshot, &query, now, 100);
            assert_eq!(all.len(), 77);
            for limit in [1, 5] {
                let hits = search(&snapshot, &query, now, limit);
                assert_eq!(told(&hits), told(&all[..limit]), "{worse_by} {limit}");
            }
            let proven = all.iter().find(|hit| hit.memory.id.as_str() == "proven").unwrap();
            let better = all.iter().filter(|hit| hit.score.fit > proven.score.fit).count();
            overtook += usize::from(all[0].number == proven.number && better == 75);
        }
        // In some rounds it is not among those that are weighed for their fit alone.
        assert!(overtook > 3, "{overtook}");
    }
}
