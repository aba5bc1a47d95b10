//! One line of the file of a session: what a hook saw or showed. Not here: the file, and what the lines add up to (`session`).

use guard::secrets::RedactedText;
use learning::command_failure::{CommandFailure, SessionStep};
use learning::same_command::SessionKey;
use serde::{Deserialize, Serialize};

/// One line of the file. Texts of a session stand in it without secrets; each lost them before the line was made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEntry {
    /// The key of the session's fingerprints. The first in the file counts.
    Key(SessionKey),
    /// The first prompt was looked up.
    Prompted,
    /// The memories with these ids were shown.
    #[serde(rename = "told")]
    Shown(Vec<String>),
    /// A process is about to show these memories. Of several processes, the first in the file shows them.
    #[serde(rename = "telling")]
    Showing {
        /// The ids.
        ids: Vec<String>,
        /// The process id.
        by: u32,
    },
    /// A process is about to show these memories beside a failure, where each may be shown once more.
    #[serde(rename = "telling_at_failure")]
    ShowingAtFailure {
        /// The ids.
        ids: Vec<String>,
        /// The process id.
        by: u32,
        /// The key of the failure.
        #[serde(default)]
        failure: Option<String>,
    },
    /// The conversation was emptied, and what was shown is gone from it.
    Emptied,
    /// An entry of one reader within the session, such as a subagent: what that one was shown.
    #[serde(rename = "of")]
    OfReader {
        /// The hash of the reader's id.
        reader: String,
        /// The entry.
        entry: Box<SessionEntry>,
    },
    /// A command failed.
    Failed(CommandFailure),
    /// A step that may have helped, or changed a file for the first time.
    #[serde(rename = "did")]
    Step(SessionStep),
    /// A command with this goal succeeded after a failure.
    #[serde(rename = "mended")]
    Fixed(RedactedText),
    /// It is unknown whether this goal still succeeds: its last command ended in a way that proves nothing.
    Doubted(RedactedText),
    /// A lesson with this key was saved or confirmed.
    Learnt(String),
    /// The summary was saved.
    Ended,
}

/// Where memories are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShowOccasion {
    /// Beside a failure, with its key, if it has one.
    Failure(Option<String>),
    /// Anywhere else.
    Other,
}

impl SessionEntry {
    /// Tells whether it is about what one reader was shown, and not about what the session did.
    pub(super) fn is_of_one_reader(&self) -> bool {
        matches!(
            self,
            Self::Prompted
                | Self::Shown(_)
                | Self::Showing { .. }
                | Self::ShowingAtFailure { .. }
                | Self::Emptied
        )
    }

    /// Returns it as a reader knows it; `None` for what another reader was shown.
    pub(super) fn of_reader(self, reader: Option<&str>) -> Option<Self> {
        match self {
            Self::OfReader { reader: other, entry } => (reader == Some(&other)).then_some(*entry),
            entry => (reader.is_none() || !entry.is_of_one_reader()).then_some(entry),
        }
    }
}
