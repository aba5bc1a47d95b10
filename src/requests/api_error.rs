//! Why a request failed, for every face. Not here: how a face tells it.

use event::Problems;
use thiserror::Error;
use writer::exit::Exit;

/// Why a request failed.
#[derive(Debug, Clone, Error)]
pub enum ApiError {
    /// The request is wrong; every problem names its field.
    #[error("{0}")]
    Invalid(#[from] Problems),
    /// There is no such memory or address; the message names near ones.
    #[error("{0}")]
    NotFound(String),
    /// Answering failed.
    #[error("{message}")]
    Failed {
        /// The exit code of a program that fails for it.
        exit: Exit,
        /// What happened, and the remedy.
        message: String,
    },
}
