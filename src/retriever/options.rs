//! The options that all commands have, and what a command needs of the memory. Not here: the settings (`resolved_settings`).

use std::path::PathBuf;

/// The options of every command, read before anything is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GlobalOptions {
    /// The directory of the logs, if given.
    pub logs: Option<PathBuf>,
    /// The directory of the embedding model, if given.
    pub model: Option<PathBuf>,
    /// The past position of the store that the command asks about, if given.
    pub as_of: Option<String>,
}

/// The parts of the memory that a command needs. Loading the model takes longer than everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryNeed {
    /// The logs and their words.
    Words,
    /// Also the embedding model.
    Meaning,
}
