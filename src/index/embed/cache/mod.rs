//! Vectors on disk, so that a restart embeds nothing again.
//!
//! One append-only file per model. A header says which model; then records of one size, each with a
//! checksum:
//!
//! ```text
//! header   magic 8 | version u32 | dims u32 | model hash 32 | checksum 8          = 56 bytes
//! record   text key 16 | dims × f32 | checksum 8                                  = 24 + 4 × dims bytes
//! ```
//!
//! Numbers are little-endian. A key is the first half of the SHA-256 of the exact text embedded, a
//! checksum the first 8 bytes of the SHA-256 of the bytes before it. A record that does not add
//! up is skipped and counted: losing one costs an embedding, believing one costs a wrong answer. A
//! torn tail is padded to a whole (broken) record by the next writer. A file with a foreign header
//! is left alone and a new one started beside it. A second file holds the signs of the texts' tokens, row by
//! row with this one (`sign_file`).
//!
//! In memory there is a number per vector and nothing more; the vectors themselves are read from
//! the file. Several processes may append to one file: each batch is one write under the lock the
//! caller brings.
//!
//! What is not here: the lock (`store` owns file locks), and when to look something up (`worker`).

mod private_file;
mod readahead;
mod record;
mod sign_file;

pub use self::record::TextKey;
pub use self::sign_file::SignFile;
use private_file::{open_private, read_at, to_u64};

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::record::{HEADER_BYTES, decode, encode, file_name, header, record_bytes};
use super::ModelId;
use crate::late::{SignLocation, SignStore, TokenSigns};
use store::make_private_dir;

/// Names tried while files with foreign headers are in the way.
const NAMES_MAX: u32 = 8;
/// Vectors one file may hold: 2 million are 3 GiB at 384 dimensions and twice the events the
/// program is built for. Beyond that vectors are made again at each start.
const ROWS_MAX: usize = 2_000_000;
/// Read per step while scanning, in bytes, rounded down to whole records.
const SCAN_BYTES: usize = 1024 * 1024;

/// Holds the lock of a file while `body` runs; the same lock in every process that appends to it.
pub trait AppendLock: Send + Sync {
    /// Locks `file` against all other appenders, runs `body` once, unlocks.
    ///
    /// # Errors
    /// The lock could not be had within the lock's own bound (then `body` did not run), or `body`'s
    /// error.
    fn with_lock(
        &self,
        file: &File,
        body: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> io::Result<()>;
}

/// The cache could not be opened or written; vectors then live in memory only.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Opening, reading or writing failed.
    #[error("the vector cache {} does not work: {why}", file.display())]
    Io {
        /// The file, or the directory that should hold it.
        file: PathBuf,
        /// The operating system's words.
        #[source]
        why: io::Error,
    },
    /// Every name that could be used is taken by a file that is not ours.
    #[error("{} holds too many foreign vector files for this model; remove them", dir.display())]
    NoFreeName {
        /// The cache directory.
        dir: PathBuf,
    },
}

/// What the cache holds and what it had to skip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Distinct texts with a vector.
    pub rows: usize,
    /// Records that did not add up.
    pub damaged: usize,
    /// Vectors not written because the file is full.
    pub refused: usize,
}

/// The vectors of one model.
pub struct VectorCache {
    file: File,
    path: PathBuf,
    lock: Arc<dyn AppendLock>,
    header: [u8; HEADER_BYTES],
    dims: usize,
    rows: HashMap<TextKey, u64>,
    /// The file of token signs, or why there is none.
    tokens: Result<Arc<SignFile>, String>,
    /// Bytes of the file already scanned; always a record boundary, or zero before there is a
    /// header.
    scanned_bytes: u64,
    stats: CacheStats,
}

impl std::fmt::Debug for VectorCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shape = formatter.debug_struct("VectorCache");
        shape.field("path", &self.path).field("stats", &self.stats).finish_non_exhaustive()
    }
}

impl VectorCache {
    /// Opens the file of `model` in `dir`, making both if needed (readable by their owner only), and
    /// reads through it once. Hashing sets the pace: at the 140 MB/s seen without SHA instructions,
    /// 100,000 vectors of 384 numbers take about a second.
    ///
    /// # Errors
    /// The directory or file cannot be made or read.
    pub fn open(
        dir: &Path,
        model: &ModelId,
        dims: usize,
        lock: Arc<dyn AppendLock>,
    ) -> Result<Self, CacheError> {
        let failed = |file: &Path, why| CacheError::Io { file: file.to_path_buf(), why };
        make_private_dir(dir).map_err(|why| failed(dir, why))?;
        let header = header(model, dims);
        for attempt in 0..NAMES_MAX {
            let path = dir.join(file_name(model, attempt));
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true);
            let file = open_private(&path, options).map_err(|why| failed(&path, why))?;
            if is_foreign(&file, &header).map_err(|why| failed(&path, why))? {
                continue;
            }
            let (rows, stats) = (HashMap::new(), CacheStats::default());
            let tokens = SignFile::open(&path, model).map(Arc::new);
            let tokens = tokens.map_err(|why| failed(&path, why).to_string());
            let mut cache =
                Self { file, path, lock, header, dims, rows, tokens, scanned_bytes: 0, stats };
            cache.scan().map_err(|why| failed(&cache.path, why))?;
            return Ok(cache);
        }
        Err(CacheError::NoFreeName { dir: dir.to_path_buf() })
    }

    /// What is in it.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        CacheStats { rows: self.rows.len(), ..self.stats }
    }

    /// Returns the file of token signs.
    ///
    /// # Errors
    /// Why there is no file of them.
    pub fn tokens(&self) -> Result<&Arc<SignFile>, &str> {
        self.tokens.as_ref().map_err(String::as_str)
    }

    /// Returns the location of this text's signs, if they are there and undamaged.
    #[must_use]
    pub fn place(&self, key: TextKey) -> Option<SignLocation> {
        let place = self.row_of(key)?;
        self.tokens.as_ref().ok()?.signs(place).map(|_| place)
    }

    /// Stores the signs of texts whose vectors are stored; others are skipped.
    ///
    /// # Errors
    /// The lock or a write failed.
    pub fn keep_signs(&self, batch: &[(TextKey, TokenSigns)]) -> Result<(), CacheError> {
        let Ok(tokens) = &self.tokens else { return Ok(()) };
        let placed = batch.iter().filter_map(|(key, signs)| Some((self.row_of(*key)?, signs)));
        let placed: Vec<(SignLocation, &TokenSigns)> = placed.collect();
        if placed.is_empty() {
            return Ok(());
        }
        let written = self.lock.with_lock(&self.file, &mut |_| {
            placed.iter().try_for_each(|(place, signs)| tokens.write(*place, signs))
        });
        written.map_err(|why| CacheError::Io { file: self.path.clone(), why })
    }

    fn row_of(&self, key: TextKey) -> Option<SignLocation> {
        let offset = *self.rows.get(&key)?;
        let row = offset.saturating_sub(to_u64(HEADER_BYTES)) / to_u64(record_bytes(self.dims));
        sign_file::location(row, key)
    }

    /// The vector of this text, if it is there and still adds up.
    pub fn get(&mut self, key: TextKey) -> Option<Vec<f32>> {
        let offset = *self.rows.get(&key)?;
        let mut record = vec![0; record_bytes(self.dims)];
        let read = read_at(&self.file, offset, &mut record);
        let found = read.ok().and_then(|count| (count == record.len()).then(|| decode(&record))?);
        match found {
            Some((stored, vector)) if stored == key => Some(vector),
            _ => {
                // Damaged since the scan: forget it, so that it is embedded and appended anew.
                self.rows.remove(&key);
                self.stats.damaged += 1;
                None
            }
        }
    }

    /// Appends the vectors that are not there yet, in one write. What other processes appended
    /// meanwhile is taken over, not written twice. Vectors of another width or with a number that
    /// is not finite are skipped.
    ///
    /// # Errors
    /// The lock or the write failed; nothing of the batch is then in the file.
    pub fn append(&mut self, batch: &[(TextKey, Vec<f32>)]) -> Result<(), CacheError> {
        let failed = |cache: &Self, why| CacheError::Io { file: cache.path.clone(), why };
        let handle = self.file.try_clone().map_err(|why| failed(self, why))?;
        let lock = Arc::clone(&self.lock);
        let result = lock.with_lock(&handle, &mut |file| self.append_locked(file, batch));
        result.map_err(|why| failed(self, why))
    }

    fn append_locked(&mut self, mut file: &File, batch: &[(TextKey, Vec<f32>)]) -> io::Result<()> {
        self.scan()?;
        let length = self.drop_torn_header(file)?;
        let bytes = self.encode_new(batch, length);
        if bytes.is_empty() {
            return Ok(());
        }
        if let Err(error) = file.write_all(&bytes) {
            // A short write (full disk) is taken back; if that fails too, the next writer pads it.
            let _ = file.set_len(length);
            return Err(error);
        }
        self.scan()
    }

    /// A file torn inside its very first write has no records to lose. Returns the length to append
    /// at.
    fn drop_torn_header(&self, file: &File) -> io::Result<u64> {
        let length = file.metadata()?.len();
        if length == 0 || length >= to_u64(HEADER_BYTES) {
            return Ok(length);
        }
        file.set_len(0)?;
        Ok(0)
    }

    /// Header if the file is empty, padding if it ends inside a record, then what is new of
    /// `batch`.
    fn encode_new(&mut self, batch: &[(TextKey, Vec<f32>)], length: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut listed = HashSet::new();
        for (key, vector) in batch {
            let sound = vector.len() == self.dims && vector.iter().all(|number| number.is_finite());
            if !sound || self.rows.contains_key(key) || !listed.insert(*key) {
                continue;
            }
            if self.rows.len() + listed.len() > ROWS_MAX {
                self.stats.refused += 1;
                continue;
            }
            encode(*key, vector, &mut bytes);
        }
        if bytes.is_empty() {
            return bytes;
        }
        let mut whole = if length == 0 { self.header.to_vec() } else { self.padding(length) };
        whole.append(&mut bytes);
        whole
    }

    fn padding(&self, length: u64) -> Vec<u8> {
        let record = to_u64(record_bytes(self.dims));
        let torn = length.saturating_sub(to_u64(HEADER_BYTES)) % record;
        let missing = (record - torn) % record;
        vec![0; usize::try_from(missing).unwrap_or_default()]
    }

    /// Reads the whole records that appeared since the last scan.
    fn scan(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length < to_u64(HEADER_BYTES) {
            return Ok(());
        }
        self.scanned_bytes = self.scanned_bytes.max(to_u64(HEADER_BYTES));
        let record_bytes = record_bytes(self.dims);
        let mut block = vec![0; (SCAN_BYTES / record_bytes).max(1) * record_bytes];
        loop {
            let count = read_at(&self.file, self.scanned_bytes, &mut block)?;
            let whole = count - count % record_bytes;
            if whole == 0 {
                return Ok(());
            }
            for record in block.get(..whole).unwrap_or_default().chunks_exact(record_bytes) {
                self.index_record(record);
                self.scanned_bytes += to_u64(record_bytes);
            }
        }
    }

    fn index_record(&mut self, record: &[u8]) {
        let Some((key, _)) = decode(record) else {
            self.stats.damaged += 1;
            return;
        };
        if self.rows.len() < ROWS_MAX {
            self.rows.insert(key, self.scanned_bytes);
        }
    }
}

/// Foreign: neither ours nor the beginning of ours, which is what a crash at creation leaves.
fn is_foreign(file: &File, header: &[u8; HEADER_BYTES]) -> io::Result<bool> {
    let mut found = [0; HEADER_BYTES];
    let count = read_at(file, 0, &mut found)?;
    Ok(found.get(..count) != header.get(..count))
}

#[cfg(test)]
mod tests;
