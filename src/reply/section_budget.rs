//! Divides the room of a reply between its sections. Each has a share; the next section gets what it leaves, and
//! the rest is offered to all once more. Not here: the content of a section.

/// The demand of a section.
#[derive(Debug, Clone)]
pub(super) struct SectionDemand {
    /// Its share of the room, beside those of the others.
    pub(super) weight: usize,
    /// The length of its title, in bytes; 0 where it has no line.
    pub(super) head_bytes: usize,
    /// Its lines, best first, in bytes.
    pub(super) lines_bytes: Vec<usize>,
}

impl SectionDemand {
    /// Returns the costs of the lines after the first `count`, one by one.
    fn rest(&self, count: usize) -> impl Iterator<Item = usize> {
        let head = if count == 0 { self.head_bytes } else { 0 };
        let first = std::iter::once(head).chain(std::iter::repeat(0));
        self.lines_bytes.iter().skip(count).zip(first).map(|(bytes, head)| bytes + head)
    }

    /// Returns the number of further lines with room, and the rest of the room.
    fn fitting(&self, count: usize, room: usize) -> (usize, usize) {
        let mut left = room;
        let mut more = 0;
        for bytes in self.rest(count) {
            let Some(rest) = left.checked_sub(bytes) else { break };
            left = rest;
            more += 1;
        }
        (more, left)
    }
}

/// Returns how many lines each section shows; together they never take more than `room_bytes`.
pub(super) fn section_bytes(demands: &[SectionDemand], room_bytes: usize) -> Vec<usize> {
    let mut weights: usize = demands.iter().map(|demand| demand.weight).sum();
    let mut counts = Vec::with_capacity(demands.len());
    let mut left = room_bytes;
    for demand in demands {
        // A share of the rest, so that later sections get the budget that earlier ones left.
        let share = left.saturating_mul(demand.weight) / weights.max(1);
        // The first section matters most: its first line comes before any share.
        let least = if counts.is_empty() { demand.rest(0).next() } else { None };
        let share = share.max(least.unwrap_or(0)).min(left);
        let (count, rest) = demand.fitting(0, share);
        counts.push(count);
        left -= share - rest;
        weights -= demand.weight;
    }
    for (demand, count) in demands.iter().zip(&mut counts) {
        let (more, rest) = demand.fitting(*count, left);
        *count += more;
        left = rest;
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn demand(weight: usize, lines_bytes: &[usize]) -> SectionDemand {
        SectionDemand { weight, head_bytes: 10, lines_bytes: lines_bytes.to_vec() }
    }

    // S-CONTEXT-3
    #[test]
    fn each_section_has_its_share_and_passes_on_what_it_leaves() {
        let even = [demand(1, &[40; 9]), demand(1, &[40; 9])];
        assert_eq!(section_bytes(&even, 200), [2, 2], "each a half");
        let first_is_short = [demand(1, &[40]), demand(1, &[40; 9])];
        assert_eq!(
            section_bytes(&first_is_short, 200),
            [1, 3],
            "the second has what the first leaves"
        );
        let last_is_short = [demand(1, &[40; 9]), demand(1, &[40])];
        assert_eq!(
            section_bytes(&last_is_short, 200),
            [3, 1],
            "what is left at the end goes round"
        );
        let uneven = [demand(3, &[40; 9]), demand(1, &[40; 9])];
        assert_eq!(section_bytes(&uneven, 400), [7, 2]);
        let three = [demand(2, &[40]), demand(1, &[40; 9]), demand(1, &[40; 9])];
        assert_eq!(
            section_bytes(&three, 400),
            [1, 4, 4],
            "what one leaves is shared by all after it"
        );
    }

    // S-CONTEXT-3
    #[test]
    fn the_first_section_has_a_line_in_any_budget() {
        assert_eq!(section_bytes(&[demand(1, &[80]), demand(1, &[80])], 100), [1, 0]);
        assert_eq!(section_bytes(&[demand(1, &[50]), demand(9, &[400])], 100), [1, 0]);
        assert_eq!(section_bytes(&[demand(9, &[400]), demand(1, &[50])], 100), [0, 1]);
        assert_eq!(section_bytes(&[demand(1, &[80]), demand(1, &[80])], 50), [0, 0]);
        assert_eq!(section_bytes(&[], 50), [0_usize; 0]);
    }

    proptest! {
        // S-CONTEXT-3
        #[test]
        fn the_budget_is_never_exceeded_and_all_that_fits_is_shown(
            given in prop::collection::vec((1_usize..40, 0_usize..60, prop::collection::vec(1_usize..300, 0..12)), 0..9),
            room in 0_usize..4_000,
        ) {
            let demands: Vec<SectionDemand> = given.into_iter()
                .map(|(weight, head_bytes, lines_bytes)| SectionDemand { weight, head_bytes, lines_bytes })
                .collect();
            let counts = section_bytes(&demands, room);
            let spent: usize = demands.iter().zip(&counts)
                .map(|(demand, count)| demand.rest(0).take(*count).sum::<usize>())
                .sum();
            prop_assert!(spent <= room);
            for (demand, count) in demands.iter().zip(&counts) {
                if let Some(next) = demand.rest(*count).next() {
                    prop_assert!(spent + next > room);
                }
            }
        }
    }
}
