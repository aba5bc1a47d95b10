//! How both programs end: their exit codes, one table and part of what we promise (SPEC.md), and how
//! they deliver an answer or a complaint. The numbers above 60 are those of BSD `sysexits`. 2 is never
//! used: agents' hooks read it as "block".

use std::io::{self, Write};
use std::process::ExitCode;

use guard::secrets::redacted;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Exit {
    /// Done; for a search also when nothing was found.
    Done,
    /// The asked-for memory does not exist, or a check found something wrong.
    NotFound,
    /// The command line is wrong: an unknown option, a missing value.
    Usage,
    /// A field is wrong; nothing was written (of a batch: not this event).
    Invalid,
    /// Something needed is not there, such as the embedding model.
    Unavailable,
    /// A bug of ours.
    Internal,
    /// A file could not be read or written.
    Io,
    /// Another writer held the lock too long; try again.
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

    /// Tells which exit a failure of the store calls for.
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
            | Error::NotALog { .. } => Self::Io,
            Error::NoPlace | Error::Config { .. } => Self::Config,
            Error::Ambiguous { .. } => Self::Invalid,
        }
    }

    /// Tells which exit a failed write calls for.
    #[must_use]
    pub fn of_record(error: &super::RecordError) -> Self {
        match error {
            super::RecordError::Invalid(_) => Self::Invalid,
            super::RecordError::Store(error) => Self::of_store(error),
        }
    }
}

/// Prints an answer. A reader that went away early is no failure.
///
/// # Errors
/// What the system said, as on a full disk.
pub fn deliver(output: &mut dyn Write, text: &str) -> io::Result<()> {
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Says what went wrong, each line with the program's name. All that both programs say on the message
/// stream comes through here, so that no secret does.
pub fn complain(messages: &mut dyn Write, program: &str, text: &str) {
    for line in redacted(text).lines() {
        // A message that cannot be delivered changes nothing about what happened.
        let _ = writeln!(messages, "{program}: {line}");
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
