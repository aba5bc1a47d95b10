//! Sets up the clients of this machine, and undoes that: a table of clients, and the steps from the table to their
//! files.
//!
//! `clients` (the table) and `locations` say where files are; `desired_state` says what a file must contain, made of
//! `server` and `hooks`; `ownership` recognises entries of ours; `edit` changes texts and leaves every other byte
//! alone; `plan` compares with the files; `apply` and `undo` write, through `files` and with a `record`; `check`
//! finds what no longer works; `diff` and `report` describe the result; `shared_file` replaces other files in which a
//! part is ours. Not here: the command line, and what our server and hooks do.

mod apply;
mod check;
mod clients;
mod desired_state;
mod diff;
mod edit;
mod files;
mod hooks;
mod locations;
mod ownership;
mod plan;
mod record;
mod report;
mod server;
mod shared_file;
#[cfg(test)]
mod tests;
mod undo;

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use event::Timestamp;

pub use check::{ClientsStatus, LastSeenLookup, check, clients_status};
pub use clients::names;
pub use edit::EditError;
pub use locations::{Machine, Platform, SetupScope};
pub use report::{set_up, take_back};
pub use shared_file::{read_shared, replace_shared};

/// A request.
pub struct SetupRequest<'a> {
    /// The machine.
    pub machine: Machine<'a>,
    /// Our data directory, which holds the record.
    pub data: &'a Path,
    /// The chosen clients; empty for all.
    pub names: Vec<String>,
    /// The scope; none for the default of the command.
    pub scope: Option<SetupScope>,
    /// Whether files are changed.
    pub mode: SetupMode,
    /// The time.
    pub now: Timestamp,
}

/// Whether files are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupMode {
    /// Only a report is made.
    DryRun,
    /// Files are changed.
    Apply,
}

/// The result.
#[derive(Debug, Clone, PartialEq)]
pub struct SetupReport {
    /// Its status.
    pub status: ReportStatus,
    /// The text for people.
    pub text: String,
    /// The same for programs.
    pub json: Value,
}

/// The status of a result, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportStatus {
    /// Everything is fine.
    Fine,
    /// Something is wrong or was refused.
    Problem,
    /// A file could not be read or written.
    Failed,
}

/// A target that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownTarget {
    /// An unknown client.
    #[error("{0:?} is not a known client; known clients are {all}; for example: agent-knowledge setup codex", all = names().join(", "))]
    Client(String),
    /// A client without files in this scope.
    #[error("{0} has no {scope} configuration; leave out --{scope}", scope = .1.name())]
    Scope(String, SetupScope),
    /// A path that is not UTF-8.
    #[error("the path {0:?} is not UTF-8, so it cannot be written into a configuration file")]
    Path(PathBuf),
}

/// Why a file was not changed.
#[derive(Debug, Error)]
pub enum SetupError {
    /// An error of the operating system.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file is damaged, or has a form that setup does not change.
    #[error("{}:{}:{}: {}; nothing was written: change the file there and run this again", path.display(), wrong.line, wrong.column, wrong.why)]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where and why.
        wrong: EditError,
    },
    /// A broken link.
    #[error("{} is a broken link; nothing was written: remove the link or create its target", path.display())]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// A link in the place of a shared file.
    #[error("{} is a link; nothing was written: name the file that it points to", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A new file that would make its client ignore an existing one.
    #[error("{} does not exist, and if it did, its client would no longer read {}; nothing was written: move your settings to the new file first", path.display(), hidden.display())]
    Hides {
        /// The new file.
        path: PathBuf,
        /// The file that the client reads now.
        hidden: PathBuf,
    },
    /// The folder of the file is missing, perhaps because its disk is not mounted.
    #[error("{} and its folder do not exist now; the file stays in the record: run this again when its disk is mounted, or create the folder to remove the file from the record", path.display())]
    Away {
        /// The file.
        path: PathBuf,
    },
    /// A directory, a device, a file that is too long, or one that is not UTF-8.
    #[error("{} is not a text file (UTF-8, at most 64 MiB); nothing was written", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
    },
    /// Another program wrote the file in the meantime.
    #[error("another program has just changed {}; nothing was written: run this again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The record cannot be used.
    #[error("the record of what was set up, {}, cannot be used: {why}", path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The file was set up by another version, for a client that this version does not know.
    #[error("{} was changed since its setup, and this version does not know its client; remove agent-knowledge from it by hand", path.display())]
    Forgotten {
        /// The file.
        path: PathBuf,
    },
}

impl SetupError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    fn broken(path: &Path) -> impl FnOnce(EditError) -> Self {
        let path = path.to_owned();
        move |wrong| Self::Broken { path, wrong }
    }

    fn status(&self) -> ReportStatus {
        match self {
            Self::Io { .. } => ReportStatus::Failed,
            _ => ReportStatus::Problem,
        }
    }
}
