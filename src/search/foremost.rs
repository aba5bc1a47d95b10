//! Which candidates can be among the first once what else they are worth is known, without finding that out for all:
//! each memory that is asked is read from another place in memory. Not here: what they are worth (`prior`).

/// Weighs what can be among the `needed` of most weight, and returns at least those. Each comes with its fit, which is
/// not negative; its weight is at most `utmost` times that. What `weigh` finds nothing for is left out.
pub(super) fn weighed<Fitting, Weighed>(
    mut fitting: Vec<(f32, Fitting)>,
    needed: usize,
    utmost: f32,
    weigh: impl Fn(f32, Fitting) -> Option<Weighed>,
    weight: impl Fn(&Weighed) -> f32,
) -> Vec<Weighed> {
    if needed < fitting.len() {
        fitting.select_nth_unstable_by(needed, |(one, _), (other, _)| other.total_cmp(one));
    }
    let others = fitting.split_off(needed.min(fitting.len()));
    let mut weighed: Vec<Weighed> =
        fitting.into_iter().filter_map(|(fit, fitting)| weigh(fit, fitting)).collect();
    // Where some were left out, any other may take their place.
    let least = match weighed.len() < needed {
        true => f32::NEG_INFINITY,
        false => weighed.iter().map(weight).fold(f32::INFINITY, f32::min),
    };
    let can_be = others.into_iter().filter(|(fit, _)| fit * utmost >= least);
    weighed.extend(can_be.filter_map(|(fit, fitting)| weigh(fit, fitting)));
    weighed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::laws::snapshot;
    use super::super::{Hit, Query, Score, search};
    use super::*;
    use event::{RepoKey, Timestamp};

    proptest! {
        #[test]
        fn the_first_are_those_of_weighing_all(
            given in prop::collection::vec((0_u8..9, 0_u8..9, any::<bool>()), 0..60),
            needed in 0_usize..20,
        ) {
            // Factors from a half to one and a half.
            let weigh = |fit: f32, (factor, is_there, number): (u8, bool, usize)| {
                is_there.then(|| (fit * (0.5 + f32::from(factor) / 8.0), number))
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
            let found = weighed(fitting, needed, 1.5, weigh, |(weight, _)| *weight);
            prop_assert_eq!(first(found), first(all));
        }
    }

    #[test]
    fn what_cannot_be_among_the_first_is_not_weighed() {
        let asked = std::cell::Cell::new(0);
        let weigh = |fit: f32, ()| {
            asked.set(asked.get() + 1);
            Some(fit)
        };
        let fitting = (0..100).map(|fit: u8| (f32::from(fit), ())).collect();
        assert_eq!(weighed(fitting, 10, 1.1, weigh, |weight| *weight).len(), asked.get());
        // From 90 by 1.1 on.
        assert_eq!(asked.get(), 18);
    }

    /// Many that fit well, none of which is like another, and one that fits less, so many words the less, and is worth most.
    fn many_and_the_worthiest(worse_by: usize, now: Timestamp) -> Vec<Value> {
        let mut lines: Vec<Value> = (0..75)
            .map(|number| {
                json!({"id": format!("m{number:02}"), "repo": "there", "source": "imported",
                    "lesson": format!("zebra pipe valve {number:02}{}", " pad".repeat(number % 3))})
            })
            .collect();
        lines.push(json!({"id": "worthiest", "repo": "here", "source": "agent",
            "timestamp": now.to_string(), "success_rate": "100000/100000",
            "lesson": format!("zebra pipe valve{}", " pad".repeat(worse_by))}));
        // What all places are measured from.
        lines.push(json!({"id": "least", "repo": "there", "lesson": "zebra".to_owned() + &" pad".repeat(300)}));
        lines
    }

    // S-RANK-4
    #[test]
    fn what_is_worth_most_is_found_however_many_fit_better() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        let here = Some(RepoKey::parse("here").unwrap());
        let query = Query { text: "zebra pipe valve", here, ..Query::default() };
        let mut overtook = 0;
        for worse_by in (0..120).step_by(3) {
            let snapshot = snapshot(&many_and_the_worthiest(worse_by, now));
            let told = |hits: &[Hit]| -> Vec<(u32, Score)> {
                hits.iter().map(|hit| (hit.number, hit.score)).collect()
            };
            // With so many asked for all are weighed.
            let all = search(&snapshot, &query, now, 100);
            assert_eq!(all.len(), 77);
            for limit in [1, 5] {
                let hits = search(&snapshot, &query, now, limit);
                assert_eq!(told(&hits), told(&all[..limit]), "{worse_by} {limit}");
            }
            let worthiest = all.iter().find(|hit| hit.memory.id.as_str() == "worthiest").unwrap();
            let better = all.iter().filter(|hit| hit.score.fused > worthiest.score.fused).count();
            overtook += usize::from(all[0].number == worthiest.number && better == 75);
        }
        // Some of them are not among those that are weighed for their fit alone.
        assert!(overtook > 3, "{overtook}");
    }
}
