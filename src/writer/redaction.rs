//! The marks that stand for secrets in an event, and the message about them. Not here: finding secrets
//! (`guard::secrets`).

use std::collections::BTreeMap;

use event::Event;

/// The text before the name of the rule.
const MARK: &str = "[REDACTED:";

/// The secrets that were removed from an event, or from several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redactions(BTreeMap<String, usize>);

impl Redactions {
    /// Counts the marks in all texts of an event.
    pub(crate) fn count(event: &Event) -> Self {
        let mut counts = BTreeMap::new();
        let lists = [&event.tags, &event.symptoms, &event.files].into_iter().flatten();
        let texts = [&event.context, &event.command, &event.lesson, &event.agent_id];
        let stamps = [&event.commit, &event.branch, &event.session_id, &event.host, &event.source];
        for text in lists.chain(texts).chain(stamps.into_iter().flatten()) {
            for mark in text.split(MARK).skip(1) {
                let rule = mark.split_once(']').map_or("", |(rule, _)| rule);
                if !rule.is_empty() {
                    *counts.entry(rule.to_owned()).or_default() += 1;
                }
            }
        }
        Self(counts)
    }

    /// Returns what came on top of the marks that stood there before.
    pub(crate) fn beyond(mut self, before: &Self) -> Self {
        self.0.retain(|rule, count| {
            *count = count.saturating_sub(before.0.get(rule).copied().unwrap_or(0));
            *count > 0
        });
        self
    }

    /// Adds those of another event.
    pub fn add(&mut self, other: &Self) {
        for (rule, count) in &other.0 {
            *self.0.entry(rule.clone()).or_default() += count;
        }
    }

    /// Whether nothing was removed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the rules, each once.
    #[must_use]
    pub fn rules(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Says what was removed, for example `2 secrets removed (aws-access-key, password)`; `None` if nothing was.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        let count: usize = self.0.values().sum();
        let noun = if count == 1 { "secret" } else { "secrets" };
        (count > 0).then(|| format!("{count} {noun} removed ({})", self.rules().join(", ")))
    }
}
