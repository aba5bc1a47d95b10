//! What can go wrong with files. Each message fits after "failed to" and names the path.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A failure of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another process held the lock for the whole wait.
    #[error(
        "lock {path} within {wait_ms} ms: another process holds it; nothing was written, try again"
    )]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// How long was waited, in milliseconds.
        wait_ms: u64,
    },
    /// So much waits for its log already that no more is taken.
    #[error(
        "put more into {path}: {waiting} writes wait there, since another process holds the log; nothing was written"
    )]
    SpoolFull {
        /// The spool.
        path: PathBuf,
        /// How many writes wait.
        waiting: usize,
    },
    /// Reading or writing failed.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Part of a segment does not unpack; everything else in it was read.
    #[error("read all of {path}: {why}")]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where, and why.
        why: String,
    },
    /// Only part of a line could be written; it was taken back.
    #[error("write {path}: {source}; the part that was written was taken back, nothing was lost")]
    RolledBack {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The lines were written, but the disk did not confirm them.
    #[error(
        "sync {path}: {source}; the event is in the log, but may not survive a loss of power; do not send it again"
    )]
    NotSynced {
        /// The log, or its directory.
        path: PathBuf,
        /// What the system said. A failed sync is not tried again: the second could lie.
        source: io::Error,
    },
    /// What stands in the place of a log is no plain file.
    #[error("open {path}: {what}, not a plain file of its own; move it away")]
    NotALog {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// Others can write there, or it is not what we made.
    #[error("use {path}: it {why}; {remedy}")]
    Untrusted {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
        /// What to do, as one command where there is one.
        remedy: String,
    },
    /// Nobody said where the logs are, and the platform has no place for them.
    #[error("find the logs: no home directory; set AGENT_KNOWLEDGE_LOGS or give --logs DIR")]
    NoPlace,
    /// The configuration file cannot be understood.
    #[error("read the configuration {path}: {why}")]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A short repository name that could mean several.
    #[error("tell which repository {given:?} means: it could be {}; write one of them in full", .candidates.join(" or "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// The keys it could mean.
        candidates: Vec<String>,
    },
}

impl StoreError {
    /// Wraps what the system said about `path` while trying to do `action`.
    pub fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
