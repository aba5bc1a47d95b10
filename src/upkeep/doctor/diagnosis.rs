//! One finding: what it is about, how bad it is, and the command that fixes it. Not here: the checks.

use store::Remedy;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// No problem.
    Fine,
    /// It works, but could work better.
    Warn,
    /// Memories cannot be written or read, or other users can access them.
    Fail,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnosis {
    pub(super) about: &'static str,
    pub(super) level: Level,
    pub(super) says: String,
    /// The one command that fixes it.
    pub(super) fix: Option<String>,
}

impl Diagnosis {
    pub(super) fn fine(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, level: Level::Fine, says: says.into(), fix: None }
    }

    pub(super) fn warn(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, level: Level::Warn, says: says.into(), fix: None }
    }

    pub(super) fn fail(about: &'static str, says: impl Into<String>) -> Self {
        Self { about, level: Level::Fail, says: says.into(), fix: None }
    }

    pub(super) fn with_fix(self, command: String) -> Self {
        Self { fix: Some(command), ..self }
    }

    /// Adds what the user can do, in words and as a command.
    pub(super) fn with_remedy(self, remedy: Remedy) -> Self {
        let Remedy { lead, command } = remedy;
        let says = if lead.is_empty() { self.says } else { format!("{}; {lead}", self.says) };
        Self { says, fix: command, ..self }
    }
}
