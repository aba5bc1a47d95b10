//! Which memories are nearest to one in its session, and that as bytes. Not here: finding them (`session`).

use std::io::{self, Write};

use super::CowVec;
use super::packed::{Packed, Packing};

/// How far to each side a neighbour is neighbours. Measured on dialogue: two turns each way.
pub const NEIGHBOURS_MAX: usize = 2;

/// Bytes that are gathered before they are handed on.
const PART_BYTES: usize = 256 * 1024;

/// The memories nearest to one in its session, by distance: before it and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbours {
    /// The numbers of those before it, the next one first.
    pub before: [Option<u32>; NEIGHBOURS_MAX],
    /// The numbers of those after it, the next one first.
    pub after: [Option<u32>; NEIGHBOURS_MAX],
}

impl Neighbours {
    /// All of them, in the order of time.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        let before = self.before.iter().rev().flatten();
        before.chain(self.after.iter().flatten()).copied()
    }

    /// Each with its distance: one for the next.
    pub fn with_distance(&self) -> impl Iterator<Item = (usize, u32)> {
        let sides = [self.before, self.after].into_iter();
        sides.flat_map(|side| (1..).zip(side).filter_map(|(far, number)| Some((far, number?))))
    }
}

/// Writes who is near each memory.
///
/// # Errors
/// What `out` said.
pub fn write_neighbours(neighbours: &CowVec<Neighbours>, out: &mut dyn Write) -> io::Result<()> {
    let mut packing = Packing::default();
    packing.size(neighbours.len());
    for (number, neighbours) in (0..).zip(neighbours.iter()) {
        for other in neighbours.before.iter().chain(&neighbours.after) {
            packing.number(other.map_or(0, |other| step(number, other)));
        }
        packing.flush_over(out, PART_BYTES)?;
    }
    packing.flush_over(out, 0)
}

/// Reads what [`write_neighbours`] wrote; `None` where it did not write that.
#[must_use]
pub fn read_neighbours(from: &mut Packed<'_>) -> Option<CowVec<Neighbours>> {
    let count = u32::try_from(from.count()?).ok()?;
    let mut other = |number: u32| match from.number()? {
        0 => Some(None),
        step => other_of(number, step).filter(|other| *other < count).map(Some),
    };
    let mut neighbours = |number| {
        let before = [other(number)?, other(number)?];
        Some(Neighbours { before, after: [other(number)?, other(number)?] })
    };
    (0..count).map(&mut neighbours).collect()
}

/// The way from one number to another in few bits, since neighbours mostly stand side by side: twice the distance,
/// one less upwards. Not 0, which is nobody.
fn step(number: u32, other: u32) -> u64 {
    let twice = u64::from(number.abs_diff(other)) * 2;
    if other > number { twice - 1 } else { twice }
}

fn other_of(number: u32, step: u64) -> Option<u32> {
    let distance = u32::try_from(step.div_ceil(2)).ok()?;
    if step % 2 == 1 { number.checked_add(distance) } else { number.checked_sub(distance) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(neighbours: &CowVec<Neighbours>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_neighbours(neighbours, &mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            seen in prop::collection::vec(prop::collection::vec(prop::option::of(0_u32..40), 4), 40),
        ) {
            let neighbours = (0..).zip(&seen).map(|(number, seen)| {
                let other = |at: usize| seen[at].filter(|other| *other != number);
                Neighbours { before: [other(0), other(1)], after: [other(2), other(3)] }
            });
            let neighbours: CowVec<Neighbours> = neighbours.collect();
            let bytes = bytes(&neighbours);
            let mut packed = Packed::of(&bytes);
            prop_assert_eq!(read_neighbours(&mut packed), Some(neighbours));
            prop_assert!(packed.is_done());
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read_neighbours(&mut Packed::of(&bytes));
        }
    }

    #[test]
    fn a_neighbour_that_is_nobody_is_refused() {
        let far = Neighbours { after: [Some(1), None], ..Neighbours::default() };
        assert_eq!(read_neighbours(&mut Packed::of(&bytes(&[far].into_iter().collect()))), None);
        assert_eq!(other_of(u32::MAX, 1), None);
        assert_eq!(other_of(0, u64::MAX), None);
    }
}
