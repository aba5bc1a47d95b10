//! Who wrote something, as narrowly as an incident needs it: everything of one agent, or of one session. Not
//! here: what a discounted author changes (`change`).

use super::Event;

/// An author whose statements are discounted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Author {
    /// An agent or person; case does not matter.
    Agent(String),
    /// A session, by its id.
    Session(String),
}

impl Author {
    /// Tells whether this author matches an agent in a session.
    #[must_use]
    pub fn matches(&self, agent_id: &str, session_id: Option<&str>) -> bool {
        match self {
            Self::Agent(agent) => agent.trim().eq_ignore_ascii_case(agent_id.trim()),
            Self::Session(session) => session_id == Some(session.as_str()),
        }
    }

    /// Tells whether this author wrote an event.
    #[must_use]
    pub fn wrote(&self, event: &Event) -> bool {
        self.matches(&event.agent_id, event.session_id.as_deref())
    }

    /// Returns the field of a line that names this author, and the author's name.
    pub(super) fn field(&self) -> (&'static str, &str) {
        match self {
            Self::Agent(agent) => (AGENT, agent),
            Self::Session(session) => (SESSION, session),
        }
    }

    /// Reads an author from the fields of a line.
    pub(super) fn read<'a>(text: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let agent = text(AGENT).map(|agent| Self::Agent(agent.to_owned()));
        agent.or_else(|| text(SESSION).map(|session| Self::Session(session.to_owned())))
    }
}

const AGENT: &str = "of_agent";
const SESSION: &str = "of_session";
