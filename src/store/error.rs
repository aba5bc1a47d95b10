//! What can go wrong with files. Each message continues "failed to" and names the path.

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
        /// How long the writer waited, in milliseconds.
        wait_ms: u64,
    },
    /// The spool is full: too many writes wait for their logs.
    #[error(
        "put more into {path}: {waiting} writes are waiting there, because another process holds the log; nothing was written"
    )]
    SpoolFull {
        /// The spool.
        path: PathBuf,
        /// How many writes are waiting.
        waiting: usize,
    },
    /// Reading or writing failed.
    #[error("{action} {path}: {source}")]
    Io {
        /// The action that failed, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Part of a segment does not unpack; everything else in it was read.
    #[error("read all of {path}: {why}")]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// The place and the reason.
        why: String,
    },
    /// Only part of a line could be written, and it was rolled back.
    #[error("write {path}: {source}; the partial write was rolled back, nothing was lost")]
    RolledBack {
        /// The log.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The lines were written, but the disk did not confirm the sync.
    #[error(
        "sync {path}: {source}; the event is in the log, but may not survive a loss of power; do not send it again"
    )]
    NotSynced {
        /// The log, or its directory.
        path: PathBuf,
        /// The system's error. A failed sync is not repeated, because a second one could report success
        /// wrongly.
        source: io::Error,
    },
    /// The path of a log is not a plain file.
    #[error("open {path}: {what}, not a plain file with one name; move it away")]
    NotALog {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// Other users can write to a directory, or it is not one that we made.
    #[error("use {path}: it {why}; {remedy}")]
    Untrusted {
        /// The directory.
        path: PathBuf,
        /// What is wrong with the directory.
        why: &'static str,
        /// The remedy, as one command if there is one.
        remedy: String,
    },
    /// A variable or an option names a path that is not the same from everywhere.
    #[error("use {name}: its path {why}; write the whole path, for example {name}{example}")]
    WrongPath {
        /// The variable or the option.
        name: &'static str,
        /// What is wrong with the path.
        why: String,
        /// What may stand there.
        example: String,
    },
    /// No directory for the logs was given, and the platform has none.
    #[error("find the logs: no home directory; set AGENT_KNOWLEDGE_LOGS or give --logs DIR")]
    NoPlace,
    /// The folder in which a named store would be made does not exist.
    #[error(
        "find the logs: {path} does not exist; correct --logs or AGENT_KNOWLEDGE_LOGS, or make it: mkdir -p {path}"
    )]
    NoFolder {
        /// The folder above the store.
        path: PathBuf,
    },
    /// A file is where the store would be.
    #[error(
        "use {path}: {what} is a file, and a directory is needed; correct --logs or AGENT_KNOWLEDGE_LOGS, for example --logs ~/knowledge/logs"
    )]
    NotADirectory {
        /// The store.
        path: PathBuf,
        /// The file: the store itself (`it`), or the path of one above it.
        what: String,
    },
    /// The user may not write into the store.
    #[error("write into {path}: {why}; nothing was saved; {remedy}")]
    ReadOnly {
        /// The store.
        path: PathBuf,
        /// What keeps it from writing.
        why: String,
        /// The remedy, as one command if there is one.
        remedy: String,
    },
    /// The configuration file cannot be understood.
    #[error("read the configuration {path}{}: {why}", .line.map_or_else(String::new, |line| format!(", line {line}")))]
    Config {
        /// The file.
        path: PathBuf,
        /// The line, where it is known.
        line: Option<usize>,
        /// What is wrong.
        why: String,
    },
    /// A short repository name matches several repositories.
    #[error("find out which repository {given:?} means: it matches {}; give one of them in full", .candidates.join(" or "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// The keys it matches.
        candidates: Vec<String>,
    },
}

impl StoreError {
    /// Wraps a system error about `path` that occurred while trying to do `action`.
    pub fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
