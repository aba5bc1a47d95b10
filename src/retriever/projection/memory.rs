//! One memory: an event that says something, and what later events say about it.
//! Not here: how events are put together (`fold`).

use std::path::Path;
use std::sync::Arc;

use crate::event::{Event, RepoKey};

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The log.
    pub log: Arc<Path>,
    /// Where in it the line begins, in bytes.
    pub offset: u64,
}

/// What is known under one id.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// The event that says it.
    pub event: Event,
    /// The repository it belongs to, with aliases followed.
    pub repo: RepoKey,
    /// A line that holds it.
    pub origin: Origin,
    /// Later events about it, in the order of their ids. Kept and shown; they change nothing yet.
    pub about: Vec<Event>,
    /// Other contents found under the same id: damage or a clash, never silently merged.
    pub conflicts: Vec<Event>,
}

impl Memory {
    /// Returns the text that word search indexes: everything somebody may remember it by.
    #[must_use]
    pub fn index_text(&self) -> String {
        let event = &self.event;
        let mut text = String::new();
        let single = [&event.context, &event.lesson, &event.command];
        let lists = [&event.symptoms, &event.tags, &event.files];
        for part in single.into_iter().chain(lists.into_iter().flatten()) {
            if !part.is_empty() {
                text.push_str(part);
                text.push('\n');
            }
        }
        text
    }

    /// Returns the text whose meaning is embedded. What the model reads first counts most, since it
    /// stops after some 200 words: what happened, how it looked, then what to do.
    #[must_use]
    pub fn meaning_text(&self) -> String {
        let event = &self.event;
        let mut parts: Vec<&str> = vec![&event.context];
        parts.extend(event.symptoms.iter().map(String::as_str));
        parts.extend([event.lesson.as_str(), &event.command]);
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }
}
