//! Why a measurement could not be made. Not here: what it came to.

use std::io;
use std::path::{Path, PathBuf};

use api::ApiError;
use event::Problems;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// A file or folder could not be read or written.
    #[error("failed to {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was named is not there.
    #[error("there is no file or folder {}", .0.display())]
    Missing(PathBuf),
    /// A file is not in its form.
    #[error("{place}: {field}: {message}")]
    Form {
        /// The file, and the line or element in it.
        place: String,
        /// The field.
        field: String,
        /// What is wrong, and what is allowed.
        message: String,
    },
    /// The options do not fit what was measured with.
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
