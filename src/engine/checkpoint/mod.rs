//! Checkpoints: the state on disk, so that a restart reads only new lines. A checkpoint is a cache.
//! It can be deleted at any time, and wherever a checksum does not match, the logs are read
//! instead. Not here: when one is written and read (`follow`, `owner`), the bytes of the parts
//! (`memory`, `index`).
//!
//! A folder holds one checkpoint: a manifest, and files with its number. `heads` holds the log
//! positions and the in-memory fields of all memories; `texts` holds the records, which are read by
//! offset on demand; `words` and `meanings` hold the lexical index and the vectors.
//! The manifest is written last and renamed into place, so a crash leaves the old checkpoint or
//! none. Nothing is synced: checksums detect what a power loss destroyed.

mod checked_file;
mod manifest;
mod progress;
mod read;
mod spill;
mod write;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use index::late::SignLocations;
use index::lexical::LexicalIndex;
use index::vector::VectorIndex;
use memory::{CowVec, Fold, Neighbours};
use search::snapshot::Health;
use store::{Cursor, StoreError};

pub use manifest::CheckpointKey;
pub use spill::SpillFile;

/// A folder for one checkpoint.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
    program: String,
    model: Option<String>,
}

/// Why no checkpoint could be read or written.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// None was written yet.
    #[error("none was written yet")]
    Missing,
    /// It belongs to something else.
    #[error("it is {0}")]
    Foreign(&'static str),
    /// A file does not match its checksum.
    #[error("its {0} cannot be read")]
    Damaged(&'static str),
    /// Another process is writing one.
    #[error("another process is writing it")]
    Busy,
    /// The present state must not be saved.
    #[error("it was not written: {0}")]
    NotNow(&'static str),
    /// A file could not be created or opened.
    #[error("failed to {0}")]
    Store(#[from] StoreError),
    /// A file could not be written.
    #[error("failed to write it: {0}")]
    Io(#[from] io::Error),
}

/// The parts to write.
pub struct CheckpointParts<'a> {
    /// The position of each log.
    pub cursors: Vec<(&'a str, Vec<u8>)>,
    /// What reading the logs found: lines and skips.
    pub health: &'a Health,
    /// The memories.
    pub fold: &'a mut Fold,
    /// Their neighbours.
    pub neighbours: &'a CowVec<Neighbours>,
    /// The lexical index.
    pub lexical: &'a LexicalIndex,
    /// The vector index, and the locations of the token signs.
    pub meanings: Option<(&'a VectorIndex, &'a SignLocations)>,
}

/// The parts that were read.
pub struct RestoredState {
    /// The position of each log.
    pub cursors: Vec<(PathBuf, Cursor)>,
    /// What reading the logs found: lines and skips.
    pub health: Health,
    /// The memories, without the lookup tables for new events ([`Fold::set_lookup`]).
    pub fold: Fold,
    /// Their neighbours.
    pub neighbours: CowVec<Neighbours>,
    /// The lexical index.
    pub lexical: LexicalIndex,
    /// The vector index. `None` where another model made it, or none.
    pub vectors: Option<VectorIndex>,
    /// The locations of the token signs; empty without that index.
    pub sign_locations: SignLocations,
    /// What the next checkpoint can append to.
    pub base: LastCheckpoint,
}

/// The checkpoint that a process wrote or read last. New records can be appended to its file.
#[derive(Debug, Clone)]
pub struct LastCheckpoint {
    number: u64,
    /// The checksum of its manifest, since a number can come again after the folder was emptied.
    checksum: u32,
    texts: Arc<checked_file::CheckpointRecords>,
    texts_number: u64,
    texts_bytes: u64,
}

impl Checkpoints {
    /// Names a folder; nothing is created or read. `program` is the version of the program, `model`
    /// the embedding model.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>, program: &str, model: Option<&str>) -> Self {
        let model = model.map(str::to_owned);
        Self { folder: folder.into(), program: program.to_owned(), model }
    }

    /// Keeps the vectors of another model from now on.
    pub fn keep_vectors_of(&mut self, model: &str) {
        self.model = Some(model.to_owned());
    }

    /// Returns the version of the program.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    fn file(&self, kind: &str, number: u64) -> PathBuf {
        self.folder.join(format!("{kind}-{number}"))
    }

    fn manifest(&self) -> PathBuf {
        self.folder.join("manifest")
    }
}

/// The kinds of numbered files.
const KINDS: [&str; 4] = ["heads", "texts", "words", "meanings"];
