//! The author: which agent, in which session, on which machine. The caller's environment says so, never the
//! text of a lesson, and git says who a person is. Not here: reading the environment; a lookup function is passed in.

use std::ffi::OsString;
use std::path::Path;

use event::{Draft, HOOK, fits_short_field, quoted};
use guard::secrets::RedactedText;
use guard::text::visible;
use place::{Machine, git_person};
use settings::variables;

/// The writer's name and circumstances.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The agent or person.
    pub agent_id: RedactedText,
    /// The session, if the agent names it.
    pub session_id: Option<RedactedText>,
    /// Whether an agent or a human writes.
    pub source: Option<String>,
    /// The machine.
    pub host: Option<RedactedText>,
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
    /// Detects who is writing: `AGENT_KNOWLEDGE_AGENT`, else the agent whose variable is set, else the person, by the name that
    /// git has for them in this directory, else by that of the user. A value that does not fit into a line is left out, and
    /// without any the name is `unknown`, because a detected value must not cause a refusal.
    #[must_use]
    pub fn from_environment(lookup: &dyn Fn(&str) -> Option<OsString>, directory: &Path) -> Self {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let fitting = |name: &str| {
            let value = set(name)?.into_string().ok().filter(|value| fits_short_field(value));
            Some(RedactedText::stamp(&value?))
        };
        let unknown = || RedactedText::redact("unknown");
        let named =
            set(variables::AGENT).map(|_| fitting(variables::AGENT).unwrap_or_else(unknown));
        let agent = named.or_else(|| {
            AGENTS
                .iter()
                .find(|(variable, _)| set(variable).is_some())
                .map(|(_, name)| RedactedText::redact(name))
        });
        let session_id = fitting(variables::SESSION)
            .or_else(|| fitting("CLAUDE_CODE_SESSION_ID"))
            .or_else(|| fitting("CODEX_THREAD_ID"));
        let source = Some(if agent.is_some() { "agent" } else { "human" }.to_owned());
        let user = || {
            let person = git_person(&Machine::from_environment(lookup), directory)
                .filter(|name| fits_short_field(name));
            person
                .map(|name| RedactedText::redact(&name))
                .or_else(|| fitting("USER"))
                .or_else(|| fitting("USERNAME"))
                .unwrap_or_else(unknown)
        };
        Self { agent_id: agent.unwrap_or_else(user), session_id, source, host: None }
    }

    /// Sets the machine.
    #[must_use]
    pub fn with_host(self, host: Option<&str>) -> Self {
        let fitting = host.map(str::trim).filter(|host| !host.is_empty() && fits_short_field(host));
        Self { host: fitting.map(RedactedText::stamp), ..self }
    }

    /// Fills in what the draft leaves out, and corrects false claims: only a human may claim to be one, only a
    /// hook may claim to be a hook, and only imported lessons may name another machine. Returns the `source`
    /// that was not believed.
    pub fn complete(&self, draft: &mut Draft) -> Option<String> {
        let own = || self.session_id.clone().map(RedactedText::into_string);
        draft.session_id = draft.session_id.take().or_else(own);
        // A named writer is an agent: people do not name themselves.
        let named = draft.agent_id.as_ref().map(|_| AGENT.to_owned());
        let ours = named.or_else(|| self.source.clone());
        let claimed = draft.source.take().filter(|source| !source.trim().is_empty());
        let is_raised = claimed.as_deref().is_some_and(|claimed| {
            let is_human_by_agent = is_human(claimed) && ours.as_deref() == Some(AGENT);
            is_human_by_agent || (is_hook(claimed) && !self.is_hook())
        });
        let not_believed = if is_raised { claimed.clone() } else { None };
        // A claim that is too high is recorded as an agent's.
        let ours = if is_raised { Some(AGENT.to_owned()) } else { ours };
        draft.source = claimed.filter(|_| !is_raised).or(ours);
        let is_first_hand = matches!(draft.source.as_deref(), None | Some(HUMAN | AGENT));
        if is_first_hand || draft.host.is_none() {
            draft.host = self.host.clone().map(RedactedText::into_string);
        }
        not_believed
    }

    /// Overrides what the text of a model must not decide: its name if the client named it, the time and the
    /// machine. Its `source` can only lower the trust in it.
    pub fn vouch_for_model(&self, draft: &mut Draft, client: Option<&str>) {
        draft.agent_id = client.map(str::to_owned).or_else(|| draft.agent_id.take());
        // The earliest content of an id counts, so a chosen time could replace another event.
        (draft.timestamp, draft.host) = (None, None);
        let lowered = draft.source.take().filter(|source| !is_human(source) && !is_hook(source));
        let ours = if self.is_hook() { HOOK } else { AGENT };
        draft.source = lowered.or_else(|| Some(ours.to_owned()));
    }

    /// Tells whether a hook is writing. Only the program sets this.
    fn is_hook(&self) -> bool {
        self.source.as_deref() == Some(HOOK)
    }
}

/// Tells whether readers would take a source for a hook.
fn is_hook(source: &str) -> bool {
    visible(source).trim().eq_ignore_ascii_case(HOOK)
}

/// Tells whether readers would take a source for a person. Invisible characters are dropped, as they are when
/// the event is written.
fn is_human(source: &str) -> bool {
    visible(source).trim().eq_ignore_ascii_case(HUMAN)
}

/// Explains that a claimed source was not accepted.
pub(super) fn ignored_source_notice(claimed: &str) -> String {
    format!(
        "--source {} is ignored: an agent is writing, so the source is recorded as agent",
        quoted(claimed)
    )
}

/// The `source` of lessons of a person, and of an agent.
const HUMAN: &str = "human";
const AGENT: &str = "agent";

/// Returns the name of this machine: `AGENT_KNOWLEDGE_HOST`, else the name that the system or a variable gives.
/// Only the mains call it; elsewhere the name is passed in.
#[must_use]
pub fn host(lookup: &dyn Fn(&str) -> Option<OsString>) -> Option<String> {
    let set = |name: &str| lookup(name)?.into_string().ok();
    let named = set(variables::HOST).filter(|host| !host.trim().is_empty());
    let by_variable = || set("HOSTNAME").or_else(|| set("COMPUTERNAME"));
    let host = named.or_else(by_the_system).or_else(by_variable)?;
    let host = host.trim();
    (!host.is_empty()).then(|| host.to_owned())
}

/// Asks the system directly. Reading the file with the name takes five system calls.
#[cfg(unix)]
fn by_the_system() -> Option<String> {
    let name = rustix::system::uname().nodename().to_str().ok()?.to_owned();
    (!name.is_empty()).then_some(name)
}

#[cfg(not(unix))]
fn by_the_system() -> Option<String> {
    None
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
        Identity::from_environment(&lookup, Path::new("/nowhere"))
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

    // S-WRITE-7
    #[test]
    fn a_person_is_named_as_git_does() {
        let lookup = |name: &str| match name {
            "GIT_AUTHOR_NAME" => Some(OsString::from("Ada Lovelace")),
            "USER" => Some(OsString::from("ada")),
            _ => None,
        };
        let person = Identity::from_environment(&lookup, Path::new("/nowhere"));
        assert_eq!(
            (person.agent_id.as_str(), person.source.as_deref()),
            ("Ada Lovelace", Some("human"))
        );
        let agent = |name: &str| match name {
            "CODEX_SANDBOX" => Some(OsString::from("1")),
            other => lookup(other),
        };
        assert_eq!(Identity::from_environment(&agent, Path::new("/nowhere")).agent_id, "codex");
    }

    #[test]
    fn only_a_human_vouches_as_one() {
        let human = identity(&[("USER", "me")]);
        let agent = identity(&[("CLAUDECODE", "1")]);
        for (who, claimed, source, not_believed) in [
            (&human, Some("human"), "human", None),
            (&human, Some("agent"), "agent", None),
            (&human, Some("imported"), "imported", None),
            (&human, None, "human", None),
            (&agent, Some("human"), "agent", Some("human")),
            (&agent, Some(" human "), "agent", Some(" human ")),
            (&agent, Some("human\u{200B}"), "agent", Some("human\u{200B}")),
            (&agent, Some("\u{2060}Human"), "agent", Some("\u{2060}Human")),
            (&agent, Some("team"), "team", None),
            (&agent, Some(""), "agent", None),
            (&agent, Some("hook"), "agent", Some("hook")),
            (&human, Some("Hook\u{200B}"), "agent", Some("Hook\u{200B}")),
        ] {
            let mut draft = Draft { source: claimed.map(str::to_owned), ..Draft::default() };
            assert_eq!(who.complete(&mut draft).as_deref(), not_believed, "{claimed:?}");
            assert_eq!(draft.source.as_deref(), Some(source), "{claimed:?}");
        }
        let claims = |agent_id: &str| Draft {
            agent_id: Some(agent_id.into()),
            source: Some("human".into()),
            ..Draft::default()
        };
        let mut named = claims("bot");
        assert_eq!(human.complete(&mut named).as_deref(), Some("human"));
        assert_eq!(named.source.as_deref(), Some("agent"));
    }

    #[test]
    fn the_machine_is_ours_unless_it_was_learned_elsewhere() {
        let ours = identity(&[("USER", "me")]).with_host(Some(" box-1\n"));
        for (source, expected) in
            [(None, "box-1"), (Some("agent"), "box-1"), (Some("imported"), "box-9")]
        {
            let source = source.map(str::to_owned);
            let mut draft = Draft { host: Some("box-9".into()), source, ..Draft::default() };
            ours.complete(&mut draft);
            assert_eq!(draft.host.as_deref(), Some(expected));
        }
        assert_eq!(ours.with_host(Some("a\u{1B}[31mb")).host, None);
    }

    // S-HOOK-7
    #[test]
    fn what_a_hook_writes_says_so() {
        let hook = Identity { source: Some(HOOK.to_owned()), ..identity(&[("USER", "me")]) };
        let mut draft = Draft::default();
        hook.vouch_for_model(&mut draft, None);
        assert_eq!(hook.complete(&mut draft), None);
        assert_eq!(draft.source.as_deref(), Some("hook"));
    }

    // S-MCP-5
    #[test]
    fn a_model_cannot_claim_a_person_a_time_or_a_machine() {
        let human = identity(&[("USER", "me")]).with_host(Some("box-1"));
        for (claimed, source) in [
            (Some("human"), "agent"),
            (Some("hook"), "agent"),
            (None, "agent"),
            (Some("imported"), "imported"),
        ] {
            let mut draft = Draft {
                agent_id: Some("the-boss".into()),
                session_id: Some("s1".into()),
                timestamp: Some("1970-01-01T00:00:00Z".into()),
                host: Some("box-9".into()),
                source: claimed.map(str::to_owned),
                ..Draft::default()
            };
            human.vouch_for_model(&mut draft, Some("codex"));
            human.complete(&mut draft);
            assert_eq!(
                (draft.agent_id.as_deref(), draft.source.as_deref()),
                (Some("codex"), Some(source))
            );
            assert_eq!((draft.host.as_deref(), draft.timestamp), (Some("box-1"), None));
            assert_eq!(draft.session_id.as_deref(), Some("s1"));
        }
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
