//! Why an import or an export failed. Not here: items of a store that are left out (`harvest`).

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use transcripts::source::ReadError;

/// Why an import or an export failed.
#[derive(Debug, Error)]
pub enum ExchangeError {
    /// A file or folder cannot be read or written.
    #[error("failed to {doing} {}: {error}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The path holds something that cannot be imported.
    #[error("{} {fault}", path.display())]
    Form {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, with the remedy.
        fault: String,
    },
    /// A database cannot be read.
    #[error("{0}")]
    Database(#[from] ReadError),
}

impl ExchangeError {
    /// Returns a function that adds what was tried to an error of the system.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { doing, path, error }
    }

    /// Returns an error about what a path holds.
    #[must_use]
    pub fn form(path: &Path, fault: impl Into<String>) -> Self {
        Self::Form { path: path.to_owned(), fault: fault.into() }
    }
}
