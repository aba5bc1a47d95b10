//! The locations of signs as bytes, for a checkpoint.
//!
//! ```text
//! start    magic 8 | how many memories u32                                 = 12 bytes
//! memory   0: not yet | 1: row u32, check u32 | 2: never                   = 1 or 9 bytes
//! ```
//!
//! Numbers are little-endian. What is not here: checksums, and which store the bytes belong to (the checkpoint).

use std::io::{Error, ErrorKind, Read, Result, Write};

use super::{SignLocation, SignLocations, SignState};

/// The last byte goes up when the layout changes.
const MAGIC: &[u8; 8] = b"AKPLACE\x01";
const NOT_YET: u8 = 0;
const AT: u8 = 1;
const NEVER: u8 = 2;

impl SignLocations {
    /// Writes all of it.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_to(&self, out: &mut dyn Write) -> Result<()> {
        let count = u32::try_from(self.states.len()).map_err(|_| damaged())?;
        out.write_all(MAGIC)?;
        out.write_all(&count.to_le_bytes())?;
        for signed in self.states.iter() {
            match signed {
                SignState::NotYet | SignState::Failed => out.write_all(&[NOT_YET])?,
                SignState::Never => out.write_all(&[NEVER])?,
                SignState::At(SignLocation { row, check }) => {
                    let mut bytes = [AT; 9];
                    let numbers = row.to_le_bytes().into_iter().chain(check.to_le_bytes());
                    bytes.iter_mut().skip(1).zip(numbers).for_each(|(to, from)| *to = from);
                    out.write_all(&bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Reads what [`Self::write_to`] wrote, and not a byte more.
    ///
    /// # Errors
    /// Errors of `input`; [`ErrorKind::InvalidData`] where these are no saved locations.
    pub fn read_from(input: &mut dyn Read) -> Result<Self> {
        if array::<8>(input)? != *MAGIC {
            return Err(damaged());
        }
        let count = u32::from_le_bytes(array(input)?);
        (0..count).map(|_| read_one(input)).collect()
    }
}

fn read_one(input: &mut dyn Read) -> Result<SignState> {
    match array(input)? {
        [NOT_YET] => Ok(SignState::NotYet),
        [NEVER] => Ok(SignState::Never),
        [AT] => {
            let (row, check) = (array(input)?, array(input)?);
            let (row, check) = (u32::from_le_bytes(row), u32::from_le_bytes(check));
            Ok(SignState::At(SignLocation { row, check }))
        }
        [_] => Err(damaged()),
    }
}

fn array<const N: usize>(input: &mut dyn Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(damaged()),
        other => other.map(|()| bytes),
    }
}

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "these are no saved places of signs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signed() -> impl Strategy<Value = SignState> {
        let at = (any::<u32>(), any::<u32>());
        prop_oneof![
            Just(SignState::NotYet),
            Just(SignState::Never),
            Just(SignState::Failed),
            at.prop_map(|(row, check)| SignState::At(SignLocation { row, check })),
        ]
    }

    proptest! {
        // S-READ-6
        #[test]
        fn what_was_written_is_read_back_and_half_of_it_is_damage(
            entries in prop::collection::vec(signed(), 0..50), cut in any::<prop::sample::Index>(),
        ) {
            let places: SignLocations = entries.iter().copied().collect();
            let mut bytes = Vec::new();
            places.write_to(&mut bytes).unwrap();
            let read = SignLocations::read_from(&mut bytes.as_slice()).unwrap();
            let again = |signed| if signed == SignState::Failed { SignState::NotYet } else { signed };
            let expected: SignLocations = entries.into_iter().map(again).collect();
            prop_assert_eq!(&read.states, &expected.states);
            prop_assert_eq!(read.known_len(), expected.known_len());
            let half = &bytes[..cut.index(bytes.len())];
            prop_assert!(SignLocations::read_from(&mut &*half).is_err());
        }
    }
}
