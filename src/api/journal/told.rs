//! What an agent was told, by a hook or by a tool: which memories, how many tokens, and what it had asked. The text itself is
//! not kept. Not here: who says so (`clients::hooks`, the retriever's `mcp`).

use std::path::Path;

use serde_json::{Value, json};

use super::{Journal, kind};
use event::{RepoKey, Timestamp};
use guard::secrets::Redacted;
use settings::{Config, Switch};
use store::Store;

/// Most bytes of a question that are kept.
const ASKED_BYTES_MAX: usize = 300;

/// Most bytes of a name or an id.
const NAME_BYTES_MAX: usize = 256;

/// Most memories of one answer that are kept; none tells more.
const MEMORIES_MAX: usize = 50;

/// Writes down what one process tells agents.
#[derive(Debug, Clone)]
pub struct Teller {
    journal: Journal,
    store: Store,
    config: Config,
    keeps_questions: bool,
}

/// One answer.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The agent.
    pub agent: &'a Redacted,
    /// Its session.
    pub session: Option<&'a Redacted>,
    /// The repository that it named, else that of its directory.
    pub place: Place<'a>,
    /// `hook` or `tool`.
    pub by: &'a str,
    /// At which occasion, or which tool.
    pub occasion: &'a str,
    /// What was looked for.
    pub asked: Option<&'a Redacted>,
    /// The text that it got; empty where it got none.
    pub text: &'a str,
    /// Whether there was nothing to tell, also if the text says so.
    pub is_silent: bool,
    /// The memories in the text, as they are named there.
    pub memories: &'a [String],
}

/// Where an agent works.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// In a directory.
    Directory(&'a Path),
    /// It named the repository.
    Named(&'a str),
    /// Nobody knows.
    Unknown,
}

impl Teller {
    /// Makes one for a store, unless the settings switch the journal off.
    #[must_use]
    pub fn of(cache: &Path, store: &Store, config: &Config) -> Option<Self> {
        let is_on = config.general.journal == Switch::On && config.as_of.is_none();
        is_on.then(|| Self {
            journal: Journal::of(cache, store.root()),
            store: store.clone(),
            config: config.clone(),
            keeps_questions: config.general.query_log == Switch::On,
        })
    }

    /// Returns the journal.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Writes down one answer. A failure is ignored: no answer depends on it.
    pub fn note(&self, told: &Told<'_>, now: Timestamp) {
        let repo = self.repo(told.place);
        let log = repo.as_ref().and_then(|repo| self.store.log_of(repo).metadata().ok());
        let ids = told.memories.iter().take(MEMORIES_MAX);
        let memories = ids.map(|id| stamp(id));
        let mut line = json!({
            "event": if told.is_silent { kind::SILENT } else { kind::INJECTED },
            "at": format!("{now:.0}"),
            "agent": short(told.agent),
            "session": told.session.map(short),
            "repo": repo.as_ref().map(RepoKey::as_str),
            "by": told.by,
            "occasion": told.occasion,
            "tokens": reply::tokens(told.text),
            "log_bytes": log.map_or(0, |log| log.len()),
        });
        if let (false, Some(fields)) = (told.is_silent, line.as_object_mut()) {
            let asked = told.asked.filter(|_| self.keeps_questions).map(question);
            fields.insert("asked".to_owned(), json!(asked));
            fields.insert("memories".to_owned(), memories.collect::<Vec<_>>().into());
        }
        let _ = self.journal.add(&line, now);
    }

    fn repo(&self, place: Place<'_>) -> Option<RepoKey> {
        match place {
            Place::Directory(directory) => self.store.place_at(directory, &self.config).repository,
            Place::Named(name) => {
                let key = RepoKey::parse(name).ok()?;
                // The name may be short, and fit several.
                Some(self.store.resolve(&key, &self.config).unwrap_or(key))
            }
            Place::Unknown => None,
        }
    }
}

/// What [`Told::by`] says of an answer of a hook.
pub const HOOK: &str = "hook";
/// What it says of an answer of a tool.
pub const TOOL: &str = "tool";

/// A question as it is kept.
fn question(text: &Redacted) -> String {
    text.line().cut(ASKED_BYTES_MAX).into_string()
}

/// Returns a name or an id as it is kept, of a text that nobody has cut or respelled.
pub(crate) fn stamp(text: &str) -> Value {
    short(&Redacted::stamp(text))
}

fn short(text: &Redacted) -> Value {
    text.line().cut(NAME_BYTES_MAX).into_string().into()
}

#[cfg(test)]
mod tests {
    use settings::GeneralSettings;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    // S-EVENT-6
    #[test]
    fn questions_are_kept_short_without_secrets_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        let ids = ["AAAA1111".to_owned()];
        let asked = format!("why is password=hunter2secretX\nrefused {}", "ä".repeat(400)).into();
        let (agent, session) = ("codex".into(), "s".into());
        let told = Told {
            agent: &agent,
            session: Some(&session),
            place: Place::Named("acme/web"),
            by: TOOL,
            occasion: "memory_search",
            asked: Some(&asked),
            text: "1. something · AAAA1111",
            is_silent: false,
            memories: &ids,
        };
        let lines = |config: &Config| {
            let cache = tempfile::tempdir().unwrap();
            let teller = Teller::of(cache.path(), &store, config)?;
            teller.note(&told, now());
            teller.note(&Told { is_silent: true, ..told }, now());
            let journal = teller.journal();
            let lines = journal.read_on(journal.beginning()?, 9_999).unwrap().lines;
            Some(lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>())
        };
        let kept = lines(&Config::default()).unwrap();
        let asked = kept[0]["asked"].as_str().unwrap();
        assert!(asked.starts_with("why is password=[REDACTED") && asked.len() <= 300, "{asked}");
        assert!(!kept[0].to_string().contains("hunter2"), "{}", kept[0]);
        assert_eq!(kept[0]["tokens"], reply::tokens(told.text));
        assert_eq!(kept[0]["repo"], "acme/web");
        assert_eq!((&kept[1]["event"], kept[1].get("asked")), (&"silent".into(), None));
        let general = GeneralSettings { query_log: Switch::Off, ..<_>::default() };
        let without = Config { general, ..Config::default() };
        assert_eq!(lines(&without).unwrap()[0]["asked"], Value::Null);
        let general = GeneralSettings { journal: Switch::Off, ..<_>::default() };
        assert!(lines(&Config { general, ..Config::default() }).is_none());
    }
}
