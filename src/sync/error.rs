//! What can stop an exchange. Not here: what goes wrong with one origin, which the report tells and the others survive.

use store::StoreError;
use thiserror::Error;

/// A failure of an exchange.
#[derive(Debug, Error)]
pub enum SyncError {
    /// A file of the store.
    #[error("failed to {0}")]
    Store(#[from] StoreError),
    /// The remote does not answer, or refuses. Nothing is lost: the next exchange goes on from there.
    #[error("{remote} cannot be reached: {why}")]
    Remote {
        /// The remote, without a password.
        remote: String,
        /// What it said.
        why: String,
    },
    /// There is no program `git`.
    #[error("the program git is not there; install it, or name a folder that your team shares")]
    NoGit,
    /// The copy of the remote in the cache is of no use. It may be deleted at any time.
    #[error("the cache {path} cannot be used: {why}")]
    Cache {
        /// The cache.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// The address of the remote cannot be meant.
    #[error("{0}")]
    Address(String),
    /// Something must be set up first, as the text says.
    #[error("{0}")]
    Setup(String),
}
