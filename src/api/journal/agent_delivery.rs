//! What an agent was shown, by a hook or by a tool: which memories, how many tokens, and what it had asked. The text itself is
//! not kept. Not here: who says so (`clients::hooks`, the retriever's `mcp`).

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::sequence::Sequence;
use super::{Journal, kind};
use event::{RepoKey, Timestamp};
use guard::secrets::RedactedText;
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
pub struct DeliveryJournal {
    journal: Journal,
    store: Store,
    config: Config,
    keeps_questions: bool,
}

/// One answer.
#[derive(Debug, Clone, Copy)]
pub struct AgentDelivery<'a> {
    /// The agent.
    pub agent: &'a RedactedText,
    /// Its session.
    pub session: Option<&'a RedactedText>,
    /// The repository that it named, else that of its directory.
    pub place: AgentPlace<'a>,
    /// `hook` or `tool`.
    pub by: &'a str,
    /// At which occasion, or which tool.
    pub occasion: &'a str,
    /// What was looked for.
    pub query: Option<&'a RedactedText>,
    /// The text that it got; empty where it got none.
    pub text: &'a str,
    /// Whether there was nothing to tell, also if the text says so.
    pub is_silent: bool,
    /// The memories in the text, as they are named there.
    pub memories: &'a [String],
}

/// Where an agent works.
#[derive(Debug, Clone, Copy)]
pub enum AgentPlace<'a> {
    /// In a directory.
    Directory(&'a Path),
    /// It named the repository.
    Named(&'a str),
    /// Nobody knows.
    Unknown,
}

/// A line of the journal about an answer, or about an occasion at which there was nothing to tell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryLine {
    /// [`kind::INJECTED`] or [`kind::SILENT`].
    pub event: String,
    /// When.
    pub at: String,
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: Option<String>,
    /// The repository.
    pub repo: Option<String>,
    /// `hook` or `tool`.
    pub by: String,
    /// At which occasion, or which tool.
    pub occasion: String,
    /// The tokens of the text.
    pub tokens: u64,
    /// The bytes of the log of the repository at that time.
    pub log_bytes: u64,
    /// What was shown, where something was.
    #[serde(flatten)]
    pub delivered: Option<DeliveredMemories>,
}

/// The memories of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeliveredMemories {
    /// What was looked for.
    #[serde(default)]
    pub asked: Option<String>,
    /// The memories, as they were named.
    pub memories: Vec<String>,
}

impl DeliveryLine {
    /// Reads the lines of some of these kinds before a place, or up to the end, the newest first.
    #[must_use]
    pub fn back_from(
        journal: &Journal,
        before: Option<Sequence>,
        kinds: &[&str],
    ) -> Vec<(Sequence, Self)> {
        let lines = journal.read_back(before, kinds).into_iter();
        lines.filter_map(|(at, line)| Some((at, Self::deserialize(line).ok()?))).collect()
    }

    /// Returns the memories that were shown, as they were named.
    pub fn memories(&self) -> impl Iterator<Item = &str> {
        self.delivered.iter().flat_map(|delivered| &delivered.memories).map(String::as_str)
    }
}

impl DeliveryJournal {
    /// Makes one for a store, unless the settings switch the journal off.
    #[must_use]
    pub fn for_store(cache: &Path, store: &Store, config: &Config) -> Option<Self> {
        let is_on = config.general.journal == Switch::On && config.as_of.is_none();
        is_on.then(|| Self {
            journal: Journal::for_store(cache, store.root()),
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
    pub fn record(&self, delivery: &AgentDelivery<'_>, now: Timestamp) {
        let repo = self.repo(delivery.place);
        let log = repo.as_ref().and_then(|repo| self.store.log_of(repo).metadata().ok());
        let given = (!delivery.is_silent).then(|| DeliveredMemories {
            asked: delivery.query.filter(|_| self.keeps_questions).map(question),
            memories: delivery
                .memories
                .iter()
                .take(MEMORIES_MAX)
                .map(|id| short_stamp(id))
                .collect(),
        });
        let line = DeliveryLine {
            event: if delivery.is_silent { kind::SILENT } else { kind::INJECTED }.to_owned(),
            at: format!("{now:.0}"),
            agent: short(delivery.agent),
            session: delivery.session.map(short),
            repo: repo.as_ref().map(RepoKey::to_string),
            by: delivery.by.to_owned(),
            occasion: delivery.occasion.to_owned(),
            tokens: reply::tokens(delivery.text) as u64,
            log_bytes: log.map_or(0, |log| log.len()),
            delivered: given,
        };
        let _ = self.journal.add(&line, now);
    }

    fn repo(&self, place: AgentPlace<'_>) -> Option<RepoKey> {
        match place {
            AgentPlace::Directory(directory) => {
                self.store.place_at(directory, &self.config).repository
            }
            AgentPlace::Named(name) => {
                let key = RepoKey::parse(name).ok()?;
                // The name may be short, and fit several.
                Some(self.store.resolve(&key, &self.config).unwrap_or(key))
            }
            AgentPlace::Unknown => None,
        }
    }
}

/// What [`AgentDelivery::by`] says of an answer of a hook.
pub const BY_HOOK: &str = "hook";
/// What it says of an answer of a tool.
pub const BY_TOOL: &str = "tool";

/// A question as it is kept.
fn question(text: &RedactedText) -> String {
    text.line().cut(ASKED_BYTES_MAX).into_string()
}

/// Returns a name or an id as it is kept, of a text that nobody has cut or respelled.
pub(crate) fn short_stamp(text: &str) -> String {
    short(&RedactedText::stamp(text))
}

fn short(text: &RedactedText) -> String {
    text.line().cut(NAME_BYTES_MAX).into_string()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
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
        let delivery = AgentDelivery {
            agent: &agent,
            session: Some(&session),
            place: AgentPlace::Named("acme/web"),
            by: BY_TOOL,
            occasion: "memory_search",
            query: Some(&asked),
            text: "1. something · AAAA1111",
            is_silent: false,
            memories: &ids,
        };
        let lines = |config: &Config| {
            let cache = tempfile::tempdir().unwrap();
            let deliveries = DeliveryJournal::for_store(cache.path(), &store, config)?;
            deliveries.record(&delivery, now());
            deliveries.record(&AgentDelivery { is_silent: true, ..delivery }, now());
            let journal = deliveries.journal();
            let lines = journal.read_on(journal.start_sequence()?, 9_999).unwrap().lines;
            Some(lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>())
        };
        let kept = lines(&Config::default()).unwrap();
        let asked = kept[0]["asked"].as_str().unwrap();
        assert!(asked.starts_with("why is password=[REDACTED") && asked.len() <= 300, "{asked}");
        assert!(!kept[0].to_string().contains("hunter2"), "{}", kept[0]);
        assert_eq!(kept[0]["tokens"], reply::tokens(delivery.text));
        assert_eq!(kept[0]["repo"], "acme/web");
        assert_eq!((&kept[1]["event"], kept[1].get("asked")), (&"silent".into(), None));
        let general = GeneralSettings { query_log: Switch::Off, ..<_>::default() };
        let without = Config { general, ..Config::default() };
        assert_eq!(lines(&without).unwrap()[0]["asked"], Value::Null);
        let general = GeneralSettings { journal: Switch::Off, ..<_>::default() };
        assert!(lines(&Config { general, ..Config::default() }).is_none());
    }
}
