//! One event: a line that has been understood. Not here: bytes (`codec`), rules for writing
//! (`validate`).

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{EventId, EventType, RepoKey, SuccessRate};

/// One event. A text field is empty if the line does not have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Identifies the event; derived from the line's bytes if the line has no id.
    pub id: EventId,
    /// When it was written; `None` if the line has no readable time.
    pub timestamp: Option<Timestamp>,
    /// The agent or person who learned it.
    pub agent_id: String,
    /// The repository as it stands in the line.
    pub repo: String,
    /// The kind of event.
    pub event_type: EventType,
    /// What was being done, and what went wrong.
    pub context: String,
    /// The command that failed, or the one that helped.
    pub command: String,
    /// What to remember.
    pub lesson: String,
    /// Successes/attempts so far, as first reported.
    pub success_rate: Option<SuccessRate>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How this would look next time.
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
    /// Who vouches for it.
    pub source: Option<String>,
    /// The version of the line format; absent means 1.
    pub schema: Option<u64>,
    /// The memory that this event is about. An event with this field is not a memory itself.
    pub memory_id: Option<EventId>,
    /// All other fields, and known fields whose value could not be understood, unchanged.
    pub extra: Map<String, Value>,
}

impl Event {
    /// Returns the key of the event's repository.
    #[must_use]
    pub fn repo_key(&self) -> RepoKey {
        RepoKey::from_line(&self.repo)
    }

    /// Calls `each` on every text that a person or agent wrote.
    pub fn texts_mut(&mut self, mut each: impl FnMut(&mut String)) {
        for text in [&mut self.context, &mut self.command, &mut self.lesson, &mut self.agent_id] {
            each(text);
        }
        for list in [&mut self.tags, &mut self.symptoms, &mut self.files] {
            list.iter_mut().for_each(&mut each);
        }
    }

    /// Calls `each` on every text that says where and when the event came from. Programs write most of these.
    pub fn stamps_mut(&mut self, each: impl FnMut(&mut String)) {
        let optional = [
            &mut self.commit,
            &mut self.branch,
            &mut self.session_id,
            &mut self.host,
            &mut self.source,
        ];
        optional.into_iter().flatten().for_each(each);
    }
}
