//! Who is writing: which agent, in which session, on which machine. Told by the caller's variables,
//! never by a text to be remembered. Not here: reading the environment; a lookup is passed in.

use std::ffi::OsString;

use crate::event::{Draft, fits_short_field};

/// The writer's name and circumstances.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The agent or person.
    pub agent_id: String,
    /// The session, where the agent tells it.
    pub session_id: Option<String>,
    /// Whether an agent or a human writes.
    pub source: Option<String>,
}

/// A variable that an agent sets for the commands it runs, and the agent's name.
const AGENTS: [(&str, &str); 7] = [
    ("CLAUDECODE", "claude-code"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_CLI", "gemini-cli"),
    ("CURSOR_AGENT", "cursor"),
    ("OPENCODE", "opencode"),
    ("QWEN_CODE", "qwen-code"),
];

impl Identity {
    /// Finds out who is writing: `AGENT_KNOWLEDGE_AGENT`, else the agent whose variable is set, else
    /// the user. What cannot stand in a line is left out, and a name becomes `unknown`: nobody's
    /// write is refused for what we found out by ourselves.
    #[must_use]
    pub fn from_environment(lookup: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let fitting =
            |name: &str| set(name)?.into_string().ok().filter(|value| fits_short_field(value));
        let unknown = || "unknown".to_owned();
        let named = set("AGENT_KNOWLEDGE_AGENT")
            .map(|_| fitting("AGENT_KNOWLEDGE_AGENT").unwrap_or_else(unknown));
        let agent = named.or_else(|| {
            AGENTS
                .iter()
                .find(|(variable, _)| set(variable).is_some())
                .map(|(_, name)| (*name).to_owned())
        });
        let session_id = fitting("AGENT_KNOWLEDGE_SESSION")
            .or_else(|| fitting("CLAUDE_CODE_SESSION_ID"))
            .or_else(|| fitting("CODEX_THREAD_ID"));
        let source = Some(if agent.is_some() { "agent" } else { "human" }.to_owned());
        let user = || fitting("USER").or_else(|| fitting("USERNAME")).unwrap_or_else(unknown);
        Self { agent_id: agent.unwrap_or_else(user), session_id, source }
    }

    /// Fills in what the draft does not say.
    pub fn complete(&self, draft: &mut Draft) {
        draft.session_id = draft.session_id.take().or_else(|| self.session_id.clone());
        // Who is named is an agent: people do not introduce themselves.
        let named = draft.agent_id.as_ref().map(|_| "agent".to_owned());
        draft.source = draft.source.take().or(named).or_else(|| self.source.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(variables: &[(&str, &str)]) -> Identity {
        let lookup = |name: &str| {
            variables
                .iter()
                .find(|(other, _)| *other == name)
                .map(|(_, value)| OsString::from(value))
        };
        Identity::from_environment(&lookup)
    }

    #[test]
    fn an_agent_is_known_by_its_variables() {
        let claude =
            identity(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1"), ("USER", "me")]);
        assert_eq!(
            (claude.agent_id.as_str(), claude.session_id.as_deref()),
            ("claude-code", Some("s1"))
        );
        assert_eq!(claude.source.as_deref(), Some("agent"));
    }

    #[test]
    fn our_own_variables_win_and_the_user_is_last() {
        let named = identity(&[("AGENT_KNOWLEDGE_AGENT", "ci"), ("CLAUDECODE", "1")]);
        assert_eq!(named.agent_id, "ci");
        let human = identity(&[("USER", "me"), ("AGENT_KNOWLEDGE_AGENT", "")]);
        assert_eq!((human.agent_id.as_str(), human.source.as_deref()), ("me", Some("human")));
        let mut draft = Draft { agent_id: Some("ci-bot".into()), ..Draft::default() };
        human.complete(&mut draft);
        assert_eq!(draft.source.as_deref(), Some("agent"));
    }

    #[test]
    fn what_cannot_stand_in_a_line_is_left_out() {
        let odd = identity(&[
            ("AGENT_KNOWLEDGE_AGENT", "a\u{1B}[31m"),
            ("AGENT_KNOWLEDGE_SESSION", "two\nlines"),
            ("CODEX_THREAD_ID", "t1"),
        ]);
        assert_eq!((odd.agent_id.as_str(), odd.session_id.as_deref()), ("unknown", Some("t1")));
        assert_eq!(odd.source.as_deref(), Some("agent"), "somebody named an agent");
        let long = "x".repeat(257);
        assert_eq!(identity(&[("USER", &long)]).agent_id, "unknown");
    }
}
