//! What was made of the logs, kept on disk, so that a restart reads only what is new. It can be thrown
//! away at any time, and is believed only as far as its checksums go: whatever is off, the logs are read
//! instead. Not here: when one is written and read (`follow`, `engine`), the bytes of the parts (`projection`,
//! `index`).
//!
//! A folder holds one checkpoint: a manifest, and files of its number. `heads` is what each memory has at
//! hand, with the places of the logs; `texts` is the records, read by offset whenever one is asked for;
//! `words` and `meanings` are the indexes. The manifest comes last and under its name at once, so a crash
//! leaves the old checkpoint or none. Nothing is synced: what a loss of power takes, the checksums miss.

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

use index::late::Places;
use index::lexical::LexicalIndex;
use index::vector::VectorIndex;
use memory::{CowVec, Fold, Neighbours};
use search::snapshot::Health;
use store::{Cursor, StoreError};

pub use manifest::CheckpointKey;
pub use spill::Spill;

/// A folder for one checkpoint.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    folder: PathBuf,
    program: String,
    model: Option<String>,
}

/// Why there is no checkpoint to use, or none was written.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// None was written yet.
    #[error("none was written yet")]
    Missing,
    /// It is of something else.
    #[error("it is {0}")]
    Foreign(&'static str),
    /// A file of it is not what was written.
    #[error("its {0} cannot be read")]
    Damaged(&'static str),
    /// Another process is writing one.
    #[error("another process is writing it")]
    Busy,
    /// The present state should not be kept.
    #[error("it was not written: {0}")]
    NotNow(&'static str),
    /// A file could not be made or opened.
    #[error("failed to {0}")]
    Store(#[from] StoreError),
    /// A file could not be written.
    #[error("failed to write it: {0}")]
    Io(#[from] io::Error),
}

/// What is written.
pub struct CheckpointParts<'a> {
    /// How far each log was read.
    pub cursors: Vec<(&'a str, Vec<u8>)>,
    /// How that went.
    pub health: &'a Health,
    /// The memories.
    pub fold: &'a mut Fold,
    /// Which of them were learned side by side.
    pub neighbours: &'a CowVec<Neighbours>,
    /// The index of words.
    pub lexical: &'a LexicalIndex,
    /// The index of meanings, and where the signs of tokens are.
    pub meanings: Option<(&'a VectorIndex, &'a Places)>,
}

/// What was read.
pub struct RestoredState {
    /// How far each log had been read.
    pub cursors: Vec<(PathBuf, Cursor)>,
    /// How that had gone: lines and skips.
    pub health: Health,
    /// The memories, without what is needed to add to them ([`Fold::complete`]).
    pub fold: Fold,
    /// Which of them were learned side by side.
    pub neighbours: CowVec<Neighbours>,
    /// The index of words.
    pub lexical: LexicalIndex,
    /// The index of meanings; `None` where another model made it, or none.
    pub vectors: Option<VectorIndex>,
    /// Where the signs of tokens are; empty without that index.
    pub places: Places,
    /// What the next checkpoint may add to.
    pub base: LastCheckpoint,
}

/// The checkpoint that a process wrote or read last: the records in memory may be added to its file.
#[derive(Debug, Clone)]
pub struct LastCheckpoint {
    number: u64,
    /// CheckpointKey its manifest, since a number may come again when a folder was emptied.
    checksum: u32,
    texts: Arc<checked_file::Records>,
    texts_number: u64,
    texts_bytes: u64,
}

impl Checkpoints {
    /// Names a folder; nothing is made or read. `program` tells versions of the program apart, `model` the
    /// models that make vectors.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>, program: &str, model: Option<&str>) -> Self {
        let model = model.map(str::to_owned);
        Self { folder: folder.into(), program: program.to_owned(), model }
    }

    /// Returns the version of the program that it was told.
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

/// The kinds of files that have a number.
const KINDS: [&str; 4] = ["heads", "texts", "words", "meanings"];
