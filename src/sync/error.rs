//! What can stop a round. Not here: what goes wrong with one origin, which the report says and which stops no other origin.

use store::StoreError;
use thiserror::Error;

/// A failure of a round.
#[derive(Debug, Error)]
pub enum SyncError {
    /// A file of the store.
    #[error("failed to {0}")]
    Store(#[from] StoreError),
    /// The remote does not answer, or refuses. Nothing is lost: the next round goes on from there.
    #[error("{remote} cannot be reached: {why}")]
    Remote {
        /// The remote, without a password.
        remote: String,
        /// What it said.
        why: String,
    },
    /// The remote answered, but no store publishes what an origin has there.
    #[error("what is there cannot be read: {0}")]
    Unreadable(String),
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
    /// The address of the remote is wrong.
    #[error("{0}")]
    Address(String),
    /// Our tree could not be signed.
    #[error(
        "the key of sync.signing_key cannot sign: {0}. A key with a passphrase works as its .pub, with ssh-agent"
    )]
    Signing(String),
    /// Something must be set up first, as the text says.
    #[error("{0}")]
    Setup(String),
}
