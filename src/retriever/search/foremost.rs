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

    use super::*;

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
}
