//! The input of a caller, before any check. Not here: rules about values (`validate`).

use super::{MemoryChange, Problems};

/// An event as a caller gave it: every field is optional and unchecked.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Draft {
    /// The caller's own id, so that the same event may be sent twice without harm.
    pub id: Option<String>,
    /// When it happened; the default is the time of writing.
    pub timestamp: Option<String>,
    /// Which agent or person learned it.
    pub agent_id: Option<String>,
    /// The repository, as a key, a short name or a URL.
    pub repo: Option<String>,
    /// The kind of event.
    pub event_type: Option<String>,
    /// What was being done, and what went wrong.
    pub context: Option<String>,
    /// The command that failed, or the one that helped.
    pub command: Option<String>,
    /// What to remember.
    pub lesson: Option<String>,
    /// Successes/attempts so far.
    pub success_rate: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How this would look next time: error text, other words.
    pub symptoms: Vec<String>,
    /// The files it is about.
    pub files: Vec<String>,
    /// The commit it was learned at.
    pub commit: Option<String>,
    /// The branch it was learned on.
    pub branch: Option<String>,
    /// The session that learned it.
    pub session_id: Option<String>,
    /// The machine that learned it.
    pub host: Option<String>,
    /// Who vouches for it: `human`, `agent`, `imported`, `team`.
    pub source: Option<String>,
    /// How sure its writer is: `stated` or `inferred`.
    pub confidence: Option<String>,
    /// Until when it counts: a time, a day, or an age from now such as `30d`.
    pub expires: Option<String>,
    /// Where it applies: `repo` or `global`.
    pub scope: Option<String>,
    /// The folder it was learned in, where that is a package of the repository: as the writer sees it, or empty for none.
    #[cfg_attr(feature = "serde", serde(default))]
    pub folder: Option<String>,
    /// Whether it must never leave this machine.
    pub private: bool,
    /// The memory this event is about. Only programs set it; callers cannot.
    pub memory_id: Option<String>,
    /// What the event does to that memory. It determines the event's type.
    pub change: Option<MemoryChange>,
    /// Whether it was sent before, by somebody who got no answer. Only programs set it; callers cannot.
    pub is_retry: bool,
    /// Those of its files that are in the form in which they are kept, since they are of an earlier version. Only programs set it;
    /// callers cannot.
    #[cfg_attr(feature = "serde", serde(default))]
    pub kept_files: Vec<String>,
    /// Whether its folder is that of an earlier version, so that no directory says another. Only programs set it; callers cannot.
    #[cfg_attr(feature = "serde", serde(default))]
    pub is_folder_kept: bool,
    /// Problems with the form of the input, reported together with problems of its values.
    pub problems: Problems,
}
