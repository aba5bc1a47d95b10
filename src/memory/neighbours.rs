//! The neighbours of a memory in its session, and their encoding. Not here: finding them
//! (`session`).

use std::io::{self, Write};

use super::CowVec;
use super::binary_encoding::{BinaryDecoder, BinaryEncoder};

/// Neighbours on each side. Measured on dialogue: two turns each way.
pub const NEIGHBOURS_MAX: usize = 2;

/// Bytes that are buffered before they are written.
const PART_BYTES: usize = 256 * 1024;

/// The neighbours of a memory in its session: those before it and those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Neighbours {
    /// The numbers of those before it, the nearest first.
    pub before: [Option<u32>; NEIGHBOURS_MAX],
    /// The numbers of those after it, the nearest first.
    pub after: [Option<u32>; NEIGHBOURS_MAX],
}

impl Neighbours {
    /// Iterates over all of them in the order of time.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        let before = self.before.iter().rev().flatten();
        before.chain(self.after.iter().flatten()).copied()
    }

    /// Iterates over all of them with their distance; the nearest has 1.
    pub fn with_distance(&self) -> impl Iterator<Item = (usize, u32)> {
        let sides = [self.before, self.after].into_iter();
        sides.flat_map(|side| (1..).zip(side).filter_map(|(far, number)| Some((far, number?))))
    }
}

/// Writes the neighbours of all memories.
///
/// # Errors
/// An error of `out`.
pub fn write_neighbours(neighbours: &CowVec<Neighbours>, out: &mut dyn Write) -> io::Result<()> {
    let mut packing = BinaryEncoder::default();
    packing.size(neighbours.len());
    for (number, neighbours) in (0..).zip(neighbours.iter()) {
        for other in neighbours.before.iter().chain(&neighbours.after) {
            packing.number(other.map_or(0, |other| step(number, other)));
        }
        packing.flush_over(out, PART_BYTES)?;
    }
    packing.flush_over(out, 0)
}

/// Reads what [`write_neighbours`] wrote. `None` for anything else.
#[must_use]
pub fn read_neighbours(from: &mut BinaryDecoder<'_>) -> Option<CowVec<Neighbours>> {
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

/// Encodes a neighbour's number relative to the memory's own in few bits, since neighbours mostly
/// have adjacent numbers: twice the distance, less one upwards. 0 means no neighbour.
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
        fn neighbours_round_trip(
            seen in prop::collection::vec(prop::collection::vec(prop::option::of(0_u32..40), 4), 40),
        ) {
            let neighbours = (0..).zip(&seen).map(|(number, seen)| {
                let other = |at: usize| seen[at].filter(|other| *other != number);
                Neighbours { before: [other(0), other(1)], after: [other(2), other(3)] }
            });
            let neighbours: CowVec<Neighbours> = neighbours.collect();
            let bytes = bytes(&neighbours);
            let mut packed = BinaryDecoder::new(&bytes);
            prop_assert_eq!(read_neighbours(&mut packed), Some(neighbours));
            prop_assert!(packed.is_at_end());
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read_neighbours(&mut BinaryDecoder::new(&bytes));
        }
    }

    #[test]
    fn a_neighbour_out_of_range_is_refused() {
        let far = Neighbours { after: [Some(1), None], ..Neighbours::default() };
        assert_eq!(
            read_neighbours(&mut BinaryDecoder::new(&bytes(&[far].into_iter().collect()))),
            None
        );
        assert_eq!(other_of(u32::MAX, 1), None);
        assert_eq!(other_of(0, u64::MAX), None);
    }
}
