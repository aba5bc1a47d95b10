//! What can go wrong when an engine is asked. Not here: what is told about it (`api`).

use thiserror::Error;

/// Why an engine did not answer. Each reads behind "the engine".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CorpusError {
    /// The deadline passed.
    #[error("is too slow")]
    Late,
    /// It cannot be reached, or refuses.
    #[error("cannot be asked: {0}")]
    Unreachable(String),
    /// It answered what cannot be.
    #[error("answers wrongly: {0}")]
    Wrong(String),
    /// It holds nothing.
    #[error("is empty")]
    Empty,
    /// It cannot do that.
    #[error("cannot {0}")]
    Unsupported(&'static str),
}
