//! The cache file of the index of exchanges: a header with a key, the rows, both word indexes, and a checksum at the end.
//! Not here: where the file is and when it is written (the caller), the form of a word index (`index::lexical`).

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use index::lexical::LexicalIndex;
use thiserror::Error;

use super::exchange_index::{ExchangeIndex, ExchangeRow};
use super::scope::ScopeSet;

/// How a cache file begins. A change of the form, of the passages or of the scopes needs another number.
const MAGIC: &[u8; 8] = b"akexch1\n";

/// Longest key, in bytes.
const KEY_BYTES_MAX: usize = 4 << 10;

/// A time that is not known.
const NO_TIME: i64 = i64::MIN;

/// Why a cache file cannot be used. The index is then made anew.
#[derive(Debug, Error)]
pub enum IndexCacheError {
    /// It cannot be read or written.
    #[error("failed to read or write the index of sessions: {0}")]
    Io(#[from] io::Error),
    /// It is of another version, or of another archive.
    #[error("the index of sessions belongs to another version or archive")]
    Foreign,
    /// It is not what was written.
    #[error("the index of sessions is damaged")]
    Damaged,
}

impl ExchangeIndex {
    /// Writes the index. `key` names the archive and its state, in at most 4 KiB; it must be the same when the file is
    /// read. Give a buffered writer.
    ///
    /// # Errors
    /// [`IndexCacheError::Io`], also for a longer key.
    pub fn write_to(&self, key: &str, out: &mut dyn Write) -> Result<(), IndexCacheError> {
        if key.len() > KEY_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the key is too long").into());
        }
        let mut out = Summed { inner: out, hasher: crc32fast::Hasher::new() };
        out.write_all(MAGIC)?;
        out.write_all(&length_bytes(key.len()))?;
        out.write_all(key.as_bytes())?;
        out.write_all(&length_bytes(self.rows.len()))?;
        for (number, row) in &self.rows {
            out.write_all(&row_bytes(*number, row))?;
        }
        self.speech.write_to(&mut out)?;
        self.work.write_to(&mut out)?;
        let sum = out.hasher.finalize();
        out.inner.write_all(&sum.to_le_bytes())?;
        Ok(())
    }

    /// Reads an index that [`ExchangeIndex::write_to`] wrote with the same key. Give a buffered reader.
    ///
    /// # Errors
    /// [`IndexCacheError`]. Any bytes are safe.
    pub fn read_from(key: &str, input: &mut dyn Read) -> Result<Self, IndexCacheError> {
        let mut input = Summed { inner: input, hasher: crc32fast::Hasher::new() };
        if input.array()? != *MAGIC || input.length()? != key.len() as u64 {
            return Err(IndexCacheError::Foreign);
        }
        let mut found = vec![0; key.len()];
        input.read_exact(&mut found)?;
        if found != key.as_bytes() {
            return Err(IndexCacheError::Foreign);
        }
        let mut rows = BTreeMap::new();
        for _ in 0..input.length()? {
            let (number, row) = row_of(input.array()?);
            rows.insert(number, row);
        }
        let speech = LexicalIndex::read_from(&mut input).map_err(damaged)?;
        let work = LexicalIndex::read_from(&mut input).map_err(damaged)?;
        let sum = input.hasher.clone().finalize();
        if input.array()? != sum.to_le_bytes() {
            return Err(IndexCacheError::Damaged);
        }
        Ok(Self::from_parts(speech, work, rows))
    }
}

/// A word index that is none was damaged.
fn damaged(error: io::Error) -> IndexCacheError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => IndexCacheError::Damaged,
        _ => IndexCacheError::Io(error),
    }
}

/// Bytes of a row.
const ROW_BYTES: usize = 21;

fn row_bytes(number: u32, row: &ExchangeRow) -> [u8; ROW_BYTES] {
    let mut bytes = [0; ROW_BYTES];
    let at_ms = row.at_ms.unwrap_or(NO_TIME).to_le_bytes();
    let [number, session, said] = [number, row.session, row.speech_bytes].map(u32::to_le_bytes);
    let all = number.into_iter().chain(session).chain(said).chain(at_ms).chain([row.scopes.bits()]);
    bytes.iter_mut().zip(all).for_each(|(to, byte)| *to = byte);
    bytes
}

fn row_of(bytes: [u8; ROW_BYTES]) -> (u32, ExchangeRow) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, time @ .., scopes] = bytes;
    let at_ms = Some(i64::from_le_bytes(time)).filter(|time| *time != NO_TIME);
    let row = ExchangeRow {
        session: u32::from_le_bytes([e, f, g, h]),
        at_ms,
        scopes: ScopeSet::from_bits(scopes),
        speech_bytes: u32::from_le_bytes([i, j, k, l]),
    };
    (u32::from_le_bytes([a, b, c, d]), row)
}

fn length_bytes(length: usize) -> [u8; 8] {
    u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes()
}

/// A writer or reader with the checksum of all that went through.
struct Summed<Inner> {
    inner: Inner,
    hasher: crc32fast::Hasher,
}

impl Write for Summed<&mut dyn Write> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Read for Summed<&mut dyn Read> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(to)?;
        self.hasher.update(to.get(..count).unwrap_or_default());
        Ok(count)
    }
}

impl Summed<&mut dyn Read> {
    fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], IndexCacheError> {
        let mut bytes = [0; COUNT];
        self.read_exact(&mut bytes).map_err(damaged)?;
        Ok(bytes)
    }

    fn length(&mut self) -> Result<u64, IndexCacheError> {
        Ok(u64::from_le_bytes(self.array()?))
    }
}
