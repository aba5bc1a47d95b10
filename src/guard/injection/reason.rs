//! The reasons for which a text is flagged, in words. Not here: the rules that give them.

use std::fmt;

/// Why a text gives orders to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Suspicion {
    /// It sets aside earlier instructions.
    Override,
    /// It assigns the reader a role, often one without limits.
    Role,
    /// It pretends to be the system, or addresses any AI that reads it.
    Frame,
    /// It hides something from the user.
    Conceal,
    /// It asks for credentials or for the system prompt.
    Credentials,
    /// It sends data or money to somebody else.
    Send,
    /// It runs a download without a check.
    Download,
    /// It brings code to insert into the reader's work.
    Insert,
    /// It dictates the reader's reply.
    Steer,
    /// It makes failing checks pass.
    Check,
    /// It sets a rule for later: in memories, or for later questions.
    Plant,
    /// It asks for a task or an answer, and teaches nothing.
    Errand,
}

impl Suspicion {
    /// Every reason.
    pub const ALL: [Self; 12] = [
        Self::Override,
        Self::Role,
        Self::Frame,
        Self::Conceal,
        Self::Credentials,
        Self::Send,
        Self::Download,
        Self::Insert,
        Self::Steer,
        Self::Check,
        Self::Plant,
        Self::Errand,
    ];

    /// Returns the reason whose name a table writes in lower case.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| format!("{reason:?}").eq_ignore_ascii_case(name))
    }

    /// Returns the reason in words that follow "it".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Override => "tells the reader to ignore instructions",
            Self::Role => "assigns the reader a role",
            Self::Frame => "addresses the AI that reads it",
            Self::Conceal => "hides something from the user",
            Self::Credentials => "asks for secrets",
            Self::Send => "sends data or money to somebody else",
            Self::Download => "runs a download without a check",
            Self::Insert => "brings code to insert",
            Self::Steer => "dictates the reader's reply",
            Self::Check => "makes failing checks pass",
            Self::Plant => "sets a rule for later sessions",
            Self::Errand => "asks for a task instead of telling a lesson",
        }
    }
}

impl Suspicion {
    /// Returns the advice for the writer of such a text: what happens to it, and how to word it instead.
    #[must_use]
    pub fn advice(self) -> String {
        format!(
            "Flagged: it {self}, so searches rank it lower and mark it, and hooks never show it. Write \
             what happened and what helped, not an order to the reader."
        )
    }
}

impl fmt::Display for Suspicion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
