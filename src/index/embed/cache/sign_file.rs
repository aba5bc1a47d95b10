//! The signs of notes' tokens on disk, beside the vectors of the same model and row by row with them.
//!
//! ```text
//! header   magic 8 | version u32 | signs of a token u32 | model hash 32 | checksum 8   = 56 bytes
//! record   checksum 8 | how many tokens u64 | 64 tokens × 48 bytes                     = 3,088 bytes
//! ```
//!
//! Record i belongs to the text whose vector is record i of the file of vectors, so no lookup table is needed and
//! opening reads only the header. A record that was never written is a hole: it takes no space on a file system with
//! holes, and reads as zeros, which are no record. The checksum covers the key of the text too, so that no text gets
//! the signs of another after one of the two files was lost or restored. Writing a record twice is harmless, and a
//! torn record is ignored. Nothing is kept in memory.
//!
//! What is not here: the lock under which it is written, which row a text has (`cache`), what signs are (`late`).

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::private_file::{open_private, read_at, to_u64};
use super::readahead;
use super::record::{HEADER_BYTES, TextKey, prefix};
use crate::embed::ModelId;
use crate::late::{SIGN_WORDS, SignLocation, SignStore, Signs, TOKENS_KEPT_MAX, TokenSigns};
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"AKTOKENS";
/// Goes up when the layout changes, or what signs mean. It is in the file name too.
const VERSION: u32 = 1;
const WORD_BYTES: usize = size_of::<u64>();
const START_BYTES: usize = 2 * WORD_BYTES;
const TOKEN_BYTES: usize = SIGN_WORDS * WORD_BYTES;
pub(super) const RECORD_BYTES: usize = START_BYTES + TOKENS_KEPT_MAX * TOKEN_BYTES;

/// The file of signs that stands beside a file of vectors.
#[derive(Debug)]
pub struct SignFile {
    file: File,
    header: [u8; HEADER_BYTES],
}

impl SignFile {
    /// Opens the file beside `vectors`, or makes it, readable by its owner only.
    ///
    /// # Errors
    /// It cannot be opened, or is not ours.
    pub(super) fn open(vectors: &Path, model: &ModelId) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = open_private(&path_beside(vectors), options)?;
        let header = header(model);
        let mut found = [0; HEADER_BYTES];
        let count = read_at(&file, 0, &mut found)?;
        // The beginning of a header is what a crash leaves.
        if found.get(..count) != header.get(..count) {
            return Err(io::Error::other("the file of signs beside it is not ours; move it away"));
        }
        readahead::expect_scattered(&file);
        Ok(Self { file, header })
    }

    /// Writes the signs of a text into its row. Under the lock of the cache.
    pub(super) fn write(&self, place: SignLocation, signs: &TokenSigns) -> io::Result<()> {
        if self.file.metadata()?.len() < to_u64(HEADER_BYTES) {
            write_at(&self.file, 0, &self.header)?;
        }
        write_at(&self.file, offset(place), &encoded(place, signs))
    }
}

impl SignStore for SignFile {
    fn expect(&self, places: &[SignLocation]) {
        places
            .iter()
            .for_each(|place| readahead::expect(&self.file, offset(*place), to_u64(RECORD_BYTES)));
    }

    fn signs(&self, place: SignLocation) -> Option<TokenSigns> {
        let mut record = [0; RECORD_BYTES];
        // The unused end of the last record may never have been written.
        let count = read_at(&self.file, offset(place), &mut record).ok()?;
        decoded(place, record.get(..count)?)
    }
}

fn path_beside(vectors: &Path) -> PathBuf {
    vectors.with_extension(format!("v{VERSION}.tokens"))
}

fn header(model: &ModelId) -> [u8; HEADER_BYTES] {
    let signs = u32::try_from(SIGN_WORDS * 64).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&signs.to_le_bytes());
    bytes.extend_from_slice(model.hash());
    let sum: [u8; 8] = prefix(&Sha256::digest(&bytes));
    bytes.extend_from_slice(&sum);
    prefix(&bytes)
}

/// The place of a text's signs: the row of its vector.
pub(super) fn location(row: u64, key: TextKey) -> Option<SignLocation> {
    Some(SignLocation { row: u32::try_from(row).ok()?, check: key.check() })
}

fn offset(place: SignLocation) -> u64 {
    to_u64(HEADER_BYTES) + u64::from(place.row) * to_u64(RECORD_BYTES)
}

/// The tokens there are, without the room of those there are not.
fn encoded(place: SignLocation, signs: &TokenSigns) -> Vec<u8> {
    let count = to_u64(signs.len());
    let words: Vec<u64> = std::iter::once(count).chain(signs.iter().flatten()).collect();
    let mut bytes = checksum(place, &words).to_le_bytes().to_vec();
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

fn decoded(place: SignLocation, record: &[u8]) -> Option<TokenSigns> {
    let (words, _) = record.as_chunks::<WORD_BYTES>();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    let (sum, count) = (words.next()?, words.next()?);
    let count = usize::try_from(count).ok().filter(|count| *count <= TOKENS_KEPT_MAX)?;
    let mut record = vec![to_u64(count)];
    record.extend(words.take(count * SIGN_WORDS));
    let (_, signs) = record.split_first()?;
    let (signs, _): (&[Signs], _) = signs.as_chunks();
    let is_whole = signs.len() == count && checksum(place, &record) == sum;
    is_whole.then(|| TokenSigns::new(signs.iter().copied()))
}

/// A sum over words of which none can change, move or be missing unseen but by chance; a cryptographic one
/// would take longer than comparing the signs. (Multiplying and turning, as in P. Evensen's and others'
/// mixers of 64 bits.)
fn checksum(place: SignLocation, words: &[u64]) -> u64 {
    let start = u64::from(place.check) ^ 0x616b_746f_6b65_6e73;
    let mixed = words
        .iter()
        .fold(start, |sum, word| (sum.rotate_left(23) ^ word).wrapping_mul(0x9fb2_1c65_1e98_df25));
    mixed ^ mixed >> 32
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(count..).unwrap_or_default();
        offset += to_u64(count);
    }
    Ok(())
}
