//! How both programs end: their exit codes, which are one table and a documented promise (SPEC.md), and how
//! they print an answer or a message. The numbers above 60 are those of BSD `sysexits`. 2 is never used,
//! because agents' hooks read it as "block".

use std::io::{self, Write};
use std::process::ExitCode;

use guard::secrets::redacted;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Exit {
    /// Success, also for a search without results.
    Done,
    /// The requested memory does not exist, or a check found a problem.
    NotFound,
    /// The command line is wrong: an unknown option, a missing value.
    Usage,
    /// A field is wrong, and nothing was written (in a batch: not this event).
    Invalid,
    /// Something required is missing, such as the embedding model.
    Unavailable,
    /// A bug in this program.
    Internal,
    /// A file could not be read or written.
    Io,
    /// Another process held a lock for too long; try again.
    Busy,
    /// The configuration file is wrong.
    Config,
}

impl Exit {
    /// Returns the number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotFound => 1,
            Self::Usage => 64,
            Self::Invalid => 65,
            Self::Unavailable => 69,
            Self::Internal => 70,
            Self::Io => 74,
            Self::Busy => 75,
            Self::Config => 78,
        }
    }

    /// Returns the exit for a failure of the store.
    #[must_use]
    pub fn of_store(error: &store::StoreError) -> Self {
        use store::StoreError as Error;
        match error {
            Error::Busy { .. } | Error::SpoolFull { .. } => Self::Busy,
            Error::Io { .. }
            | Error::Damaged { .. }
            | Error::RolledBack { .. }
            | Error::NotSynced { .. }
            | Error::Untrusted { .. }
            | Error::ReadOnly { .. }
            | Error::NotADirectory { .. }
            | Error::NotALog { .. } => Self::Io,
            Error::NoPlace
            | Error::NoFolder { .. }
            | Error::WrongPath { .. }
            | Error::Config { .. } => Self::Config,
            Error::Ambiguous { .. } => Self::Invalid,
        }
    }

    /// Returns the exit for a failed write.
    #[must_use]
    pub fn of_record(error: &super::RecordError) -> Self {
        match error {
            super::RecordError::Invalid(_) => Self::Invalid,
            super::RecordError::Store(error) | super::RecordError::NotSaved { error, .. } => {
                Self::of_store(error)
            }
        }
    }
}

/// Prints an answer. It is not a failure if the reader closed the pipe early.
///
/// # Errors
/// The system's error, for example a full disk.
pub fn deliver(output: &mut dyn Write, text: &str) -> io::Result<()> {
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a message, each line with the program's name. All messages of both programs pass through here, so
/// that no secret is printed.
pub fn complain(messages: &mut dyn Write, program: &str, text: &str) {
    for line in redacted(text).lines() {
        // A message that cannot be delivered must not change the result.
        let _ = writeln!(messages, "{program}: {line}");
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
