//! The dense index as bytes, for a checkpoint.
//!
//! ```text
//! start    magic 8 | numbers per vector u32                                            = 12 bytes
//! slot     0: a chunk without rows | 1: a chunk, which follows | 2: no more chunks      = 1 byte
//! chunk    which rows are there: 1,024 bits | the numbers of each that is, in order
//! ```
//!
//! Numbers are little-endian. Lengths and signs are computed from the numbers, so the bytes cannot contradict
//! themselves. A chunk takes memory only once one of its rows was read.
//!
//! What is not here: checksums, and which store the bytes belong to (the checkpoint).

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::Arc;

use super::VectorIndex;
use super::chunk::{CHUNK_ROWS, Chunk, PRESENCE_WORDS};

/// The last byte goes up when the layout changes.
const MAGIC: &[u8; 8] = b"AKDENSE\x01";
const NO_ROWS: u8 = 0;
const ROWS: u8 = 1;
const END: u8 = 2;
/// Numbers per vector at most: ten times those of the model in use, and what the largest ones give. A
/// chunk then takes 5 MB.
const DIMS_MAX: usize = 4096;
/// The limit of document numbers of 32 bits.
const CHUNKS_MAX: usize = (u32::MAX as usize + 1) / CHUNK_ROWS;

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "these are no saved vectors")
}

impl VectorIndex {
    /// Writes all of it, in one piece per chunk.
    ///
    /// # Errors
    /// Errors of `out`; [`ErrorKind::InvalidInput`] for vectors of more than 4,096 numbers.
    pub fn write_to(&self, out: &mut dyn Write) -> Result<()> {
        let too_wide = || Error::new(ErrorKind::InvalidInput, "vectors too wide to be saved");
        let dims = u32::try_from(self.dims).ok().filter(|_| self.dims <= DIMS_MAX);
        out.write_all(MAGIC)?;
        out.write_all(&dims.ok_or_else(too_wide)?.to_le_bytes())?;
        let mut block = Vec::new();
        for chunk in &self.chunks {
            block.clear();
            match chunk {
                None => block.push(NO_ROWS),
                Some(chunk) => {
                    block.push(ROWS);
                    block.extend(chunk.present().iter().flat_map(|word| word.to_le_bytes()));
                    let rows = (0..CHUNK_ROWS).filter_map(|row| chunk.row(row, self.dims));
                    rows.for_each(|row| block.extend_from_slice(row.codes));
                }
            }
            out.write_all(&block)?;
        }
        out.write_all(&[END])
    }

    /// Reads what [`Self::write_to`] wrote, and not a byte more. Takes memory in proportion to the rows
    /// that are there, whatever the bytes claim.
    ///
    /// # Errors
    /// Errors of `input`; [`ErrorKind::InvalidData`] if these are no saved vectors, or are cut off.
    pub fn read_from(input: &mut dyn Read) -> Result<Self> {
        let magic: [u8; MAGIC.len()] = array(input)?;
        let dims = usize::try_from(u32::from_le_bytes(array(input)?)).unwrap_or(usize::MAX);
        if magic != *MAGIC || dims > DIMS_MAX {
            return Err(damaged());
        }
        let mut index = Self::new(dims);
        loop {
            let chunk = match array(input)? {
                [END] => return Ok(index),
                [NO_ROWS] => None,
                [ROWS] => Some(read_chunk(input, dims)?),
                [_] => return Err(damaged()),
            };
            if index.chunks.len() == CHUNKS_MAX {
                return Err(damaged());
            }
            index.present += chunk.as_ref().map_or(0, Chunk::rows);
            index.chunks.push(chunk.map(Arc::new));
        }
    }
}

fn read_chunk(input: &mut dyn Read, dims: usize) -> Result<Chunk> {
    let present: [u8; PRESENCE_WORDS * size_of::<u64>()] = array(input)?;
    let is_present =
        |row: &usize| present.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1);
    let rows: Vec<usize> = (0..CHUNK_ROWS).filter(is_present).collect();
    let bytes = rows.len() * dims;
    let mut numbers = Vec::new();
    input.take(bytes as u64).read_to_end(&mut numbers)?;
    if bytes == 0 || numbers.len() != bytes {
        return Err(damaged());
    }
    let mut chunk = Chunk::empty(dims);
    for (row, codes) in rows.into_iter().zip(numbers.chunks_exact(dims)) {
        chunk.set(row, codes).ok_or_else(damaged)?;
    }
    Ok(chunk)
}

/// The next `N` bytes; their end is damage, not an end of file.
fn array<const N: usize>(input: &mut dyn Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match input.read_exact(&mut bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(damaged()),
        other => other.map(|()| bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DIMS: usize = 70;

    fn saved(index: &VectorIndex) -> Vec<u8> {
        let mut bytes = Vec::new();
        index.write_to(&mut bytes).unwrap();
        bytes
    }

    fn index(docs: &[u32]) -> VectorIndex {
        let mut index = VectorIndex::new(DIMS);
        for doc in docs {
            let number =
                |at: u32| f32::from(u8::try_from((at * 7 + doc * 13) % 97).unwrap()) - 48.0;
            index.set(*doc, &(0..70).map(number).collect::<Vec<f32>>()).unwrap();
        }
        index
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(
            docs in proptest::collection::vec(0_u32..5000, 0..50),
            removed in proptest::collection::vec(0_u32..5000, 0..5),
            later in any::<u8>(),
        ) {
            let mut index = index(&docs);
            docs.iter().take(3).chain(&removed).for_each(|doc| index.remove(*doc));
            let mut bytes = saved(&index);
            let whole = bytes.len();
            bytes.push(later);
            let mut rest = bytes.as_slice();
            let read = VectorIndex::read_from(&mut rest).unwrap();
            prop_assert_eq!(rest, [later], "what comes after is left to others");
            prop_assert_eq!(read.len(), index.len());
            prop_assert_eq!(&saved(&read), &bytes[..whole]);
            let query: Vec<f32> = (0_u8..70).map(|at| f32::from(at) - 30.0).collect();
            prop_assert_eq!(read.search(&query, |_| true, 9), index.search(&query, |_| true, 9));
        }

        #[test]
        fn any_bytes_are_an_index_or_damage(bytes in proptest::collection::vec(0_u8..4, 0..2000)) {
            let begun = [&MAGIC[..], &[2, 0, 0, 0], &bytes].concat();
            for bytes in [bytes, begun] {
                match VectorIndex::read_from(&mut bytes.as_slice()) {
                    Ok(index) => prop_assert!(bytes.starts_with(&saved(&index))),
                    Err(error) => prop_assert_eq!(error.kind(), ErrorKind::InvalidData),
                }
            }
        }
    }

    #[test]
    fn a_part_of_it_is_damage_and_a_flipped_bit_is_no_panic() {
        let bytes = saved(&index(&[0, 3, 2000]));
        for end in 0..bytes.len() {
            let error = VectorIndex::read_from(&mut &bytes[..end]).err();
            assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::InvalidData), "{end}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(index) = VectorIndex::read_from(&mut bytes.as_slice()) {
                assert!(bytes.starts_with(&saved(&index)), "{bit}");
            }
        }
    }

    #[test]
    fn vectors_too_wide_are_not_saved_and_an_empty_index_is() {
        let error = VectorIndex::new(DIMS_MAX + 1).write_to(&mut Vec::new()).err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::InvalidInput));
        let read = VectorIndex::read_from(&mut saved(&VectorIndex::new(384)).as_slice()).unwrap();
        assert_eq!((read.dims(), read.len()), (384, 0));
    }
}
