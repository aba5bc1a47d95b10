//! Why a measurement failed. Not here: its result.

use std::io;
use std::path::{Path, PathBuf};

use event::Problems;
use requests::ApiError;

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// A file or folder could not be read or written.
    #[error("failed to {doing} {}: {source}", path.display())]
    Io {
        /// The action that failed.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The given path does not exist.
    #[error("there is no file or folder {}", .0.display())]
    Missing(PathBuf),
    /// A file does not have the expected format.
    #[error("{place}: {field}: {message}")]
    Form {
        /// The file, and the line or element in it.
        place: String,
        /// The field.
        field: String,
        /// What is wrong, and what is allowed.
        message: String,
    },
    /// The options do not fit the set.
    #[error("{0}")]
    Options(#[from] Problems),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] ApiError),
}

impl EvalError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    pub(super) fn form(
        place: impl Into<String>,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::Form { place: place.into(), field: field.into(), message: message.into() }
    }
}
