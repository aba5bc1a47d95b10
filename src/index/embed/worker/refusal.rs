//! Why a text was refused, and why a query has no vector. Not here: what goes wrong with a model (`embed::error`).

use super::worker_jobs::Job;
use crate::embed::EmbedError;

/// A job that was refused, given back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// [`JOBS_MAX`](super::JOBS_MAX) texts are waiting.
    #[error("too many texts are waiting to be embedded")]
    Full(Job),
    /// The model did not load, so nothing will be embedded.
    #[error("there is no embedding model")]
    Stopped(Job),
}

/// Why a query has no vector; it then runs on words alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The model is still being loaded.
    #[error("the embedding model is still loading")]
    Loading,
    /// The model is being loaded again.
    #[error("the embedding model was not used for a while and is being loaded again")]
    Reloading,
    /// [`QUERIES_MAX`](super::QUERIES_MAX) queries are waiting.
    #[error("too many queries are waiting for the embedding model")]
    Busy,
    /// Not within the time given.
    #[error("the embedding model did not answer in time")]
    TimedOut,
    /// The model is one of others, and may not see queries of this repository.
    #[error("the settings send nothing of this repository to the embedding model")]
    Withheld,
    /// There is no model, or it failed on this query.
    #[error(transparent)]
    Failed(#[from] EmbedError),
    /// The thread is gone.
    #[error("the embedding thread has stopped")]
    Stopped,
}
