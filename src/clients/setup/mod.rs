//! Puts us into the clients of this machine, and takes us out again: a table of data, and a way from it to bytes.
//!
//! `clients` (the table) and `places` say where; `desired` says what shall stand in a file, made of `server` and
//! `hooks`; `edit` changes texts and leaves every other byte alone; `plan` compares with what is there; `apply`
//! and `undo` write, through `files` and with a `record`; `check` asks whether it still holds and lives; `show`
//! and `report` tell; `shared_file` is for a part of ours in a file that is no client's configuration. Not here: the command line, and what our server and hooks do.

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

pub use check::{ClientsStatus, LastSeen, check, clients_status};
pub use clients::names;
pub use edit::EditError;
pub use locations::{Machine, Platform, SetupScope};
pub use report::{set_up, take_back};
pub use shared_file::{read_shared, replace_shared};

/// What is asked.
pub struct SetupRequest<'a> {
    /// The machine.
    pub machine: Machine<'a>,
    /// Our data directory, where the record is.
    pub data: &'a Path,
    /// The clients that are meant; none for all there are.
    pub names: Vec<String>,
    /// For whom; none for what the command takes where nothing is said.
    pub scope: Option<SetupScope>,
    /// Whether to do it.
    pub mode: SetupMode,
    /// The time.
    pub now: Timestamp,
}

/// Whether anything is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupMode {
    /// Only the report is made.
    DryRun,
    /// Files are changed.
    Apply,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SetupReport {
    /// SetupMode it ended.
    pub status: ReportStatus,
    /// For people.
    pub text: String,
    /// For programs.
    pub json: Value,
}

/// SetupMode it ended, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportStatus {
    /// Well.
    Fine,
    /// Something is not as it should be, or was refused.
    Problem,
    /// A file could not be read or written.
    Failed,
}

/// What was asked for that there is not.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownTarget {
    /// A client that is in no row.
    #[error("{0:?} is no client that can be set up; known are {all}", all = names().join(", "))]
    Client(String),
    /// A client without files of that scope.
    #[error("{0} has no configuration of a {scope}; leave out --{scope}", scope = .1.name())]
    Scope(String, SetupScope),
    /// A path that cannot be written into a file of text.
    #[error("the path {0:?} is no UTF-8, and configuration files hold text")]
    Path(PathBuf),
}

/// Why a file was left alone.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The system said no.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It does not parse, or has a form that is not changed by us.
    #[error("{}:{}:{}: {}; nothing was written, put that right and run this again", path.display(), wrong.line, wrong.column, wrong.why)]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where and why.
        wrong: EditError,
    },
    /// A link that leads nowhere.
    #[error("{} is a link that leads nowhere; nothing was written, remove it or make what it leads to", path.display())]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// A link, where a file of many writers is changed.
    #[error("{} is a link; nothing was written, name the file that it leads to", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A new file that makes its client deaf to another one.
    #[error("{} is not there, and were it made its client would not read {} any more; nothing was written, move your settings there first", path.display(), hidden.display())]
    Hides {
        /// The file that would be made.
        path: PathBuf,
        /// The file that is read now.
        hidden: PathBuf,
    },
    /// A file whose folder is not there now, perhaps on a disk that is away.
    #[error("{} and the folder it was in are not there now; it is kept in the record, run this again when its disk is there, or make the folder to have the file forgotten", path.display())]
    Away {
        /// The file.
        path: PathBuf,
    },
    /// A directory, a device, something too long, or bytes that are no UTF-8.
    #[error("{} is no file of text (UTF-8, at most 64 MiB); nothing was written", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
    },
    /// Somebody wrote it in between.
    #[error("{} was changed by another program just now; nothing was written, run this again", path.display())]
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
    /// Set up by another version, for a client that this one does not know.
    #[error("{} was changed since, and for a client that this version does not know; take agent-knowledge out of it by hand", path.display())]
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
