//! Which request does to a memory at the team's server what somebody wants, or what a line of the own log says. Not here: when it
//! is sent (`outbox`, `remote_team`), lessons (`delivery`).

use event::{Event, EventId, MemoryChange, Verdict};
use serde_json::{Value, json};

use crate::team_server::{ServerRequest, url_encoded};
use requests::WantedChange;

/// A deed, apart from the memory that it is about.
#[derive(Debug, Clone, Copy)]
pub enum TeamAction<'a> {
    Feedback(Verdict),
    /// By another memory.
    Supersede(&'a str),
    Forget,
    Restore,
    /// From another memory.
    Distinct(&'a str),
    Pin,
    Unpin,
}

impl<'a> From<&'a WantedChange> for TeamAction<'a> {
    fn from(wanted: &'a WantedChange) -> Self {
        match wanted {
            WantedChange::Feedback(verdict) => Self::Feedback(*verdict),
            WantedChange::Superseded { by } => Self::Supersede(by),
            WantedChange::Forgotten => Self::Forget,
            WantedChange::Restored => Self::Restore,
            WantedChange::Distinct { from } => Self::Distinct(from),
            WantedChange::Pinned => Self::Pin,
            WantedChange::Unpinned => Self::Unpin,
        }
    }
}

impl<'a> TeamAction<'a> {
    /// `None` for a change that has no such request: a link, and what only an owner does.
    fn from_change(change: &'a MemoryChange) -> Option<Self> {
        Some(match change {
            MemoryChange::Feedback(verdict) => Self::Feedback(*verdict),
            MemoryChange::Supersede { by } => Self::Supersede(by.as_str()),
            MemoryChange::Retract => Self::Forget,
            MemoryChange::Restore => Self::Restore,
            MemoryChange::Distinct { from } => Self::Distinct(from.as_str()),
            MemoryChange::Pin => Self::Pin,
            MemoryChange::Unpin => Self::Unpin,
            _ => return None,
        })
    }

    /// Returns the other memory that it names.
    pub fn other_memory(self) -> Option<&'a str> {
        match self {
            Self::Supersede(other) | Self::Distinct(other) => Some(other),
            _ => None,
        }
    }

    /// Returns the request that does it to this memory.
    pub fn request(self, memory: &str, note: Option<&str>, agent: Option<String>) -> ServerRequest {
        let (deed, mut body) = match self {
            Self::Feedback(verdict) => ("feedback", json!({ "verdict": verdict.as_str() })),
            Self::Supersede(by) => ("supersede", json!({ "superseded_by": by })),
            Self::Forget => ("forget", json!({})),
            Self::Restore => ("restore", json!({})),
            Self::Distinct(from) => ("distinct", json!({ "other": from })),
            Self::Pin => ("pin", json!({})),
            Self::Unpin => ("pin", json!({ "undo": true })),
        };
        let name = if deed == "feedback" { "note" } else { "reason" };
        if let (Some(note), Some(fields)) = (note, body.as_object_mut()) {
            fields.insert(name.to_owned(), note.into());
        }
        ServerRequest::post(format!("memories/{}/{deed}", url_encoded(memory)), body, agent)
    }
}

/// Returns the request that does what a line says to its memory. `None` if only the own machine needs that.
pub fn action_request(
    event: &Event,
    memory: &EventId,
    agent: Option<String>,
) -> Option<ServerRequest> {
    let change = MemoryChange::from_event(event)?;
    let note = Some(event.lesson.trim()).filter(|note| !note.is_empty());
    if let Some(deed) = TeamAction::from_change(&change) {
        return Some(deed.request(memory.as_str(), note, agent));
    }
    let path = match change {
        MemoryChange::Link(_) => "links",
        MemoryChange::Unlink { .. } => "links/end",
        _ => return None,
    };
    let mut fields = change.fields();
    fields.insert("source".to_owned(), memory.as_str().into());
    fields.insert("repo".to_owned(), event.repo_key().as_str().into());
    Some(ServerRequest::post(path.to_owned(), Value::Object(fields), agent))
}

/// Returns the memories that a line is about: the one that it changes, and the other one where it names one.
pub fn named_memories(event: &Event) -> Vec<EventId> {
    let other = match MemoryChange::from_event(event) {
        Some(MemoryChange::Supersede { by: other } | MemoryChange::Distinct { from: other }) => {
            Some(other)
        }
        Some(MemoryChange::Link(link)) => Some(link.target.id().clone()),
        Some(MemoryChange::Unlink { target, .. }) => Some(target.id().clone()),
        _ => None,
    };
    event.memory_id.iter().cloned().chain(other).collect()
}
