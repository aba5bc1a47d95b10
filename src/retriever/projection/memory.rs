//! One memory: an event that says something, and what later events say about it.
//! Not here: how events are put together (`fold`).

use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::passages::passages;
use crate::event::limits::SHORT_BYTES_MAX;
use crate::event::{Event, EventId, RepoKey, Suspicion, Timestamp, codec, suspicion};

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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
    /// What [`Memory::flagged`] found out.
    pub(super) flag: OnceLock<Option<Suspicion>>,
    /// Later events about it, in the order of their ids. Kept and shown; they change nothing yet.
    pub about: Vec<Arc<Version>>,
    /// Other contents found under the same id, in a fixed order: damage or a clash, never silently
    /// merged.
    pub conflicts: Vec<Arc<Version>>,
}

/// An event, with what tells it from others under its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The event.
    pub event: Event,
    /// The repository it belongs to, with aliases followed.
    pub repo: RepoKey,
    /// A line that holds it: of several, the first by log and offset.
    pub origin: Origin,
    pub(super) digest: Digest,
}

/// What a version says, without what the door fills in: an event that was sent twice is one.
pub(super) type Digest = [u8; 32];

/// The fields that the door fills in.
const STAMPS: [&str; 5] = ["timestamp", "commit", "branch", "session_id", "host"];

/// Whether a field can be what the door fills in, which is never longer (S-WRITE-2). Anything longer counts
/// as said, in the digest of a version and in its size.
pub(super) fn is_stamp(name: &str, value: &Value) -> bool {
    let is_short = || match value {
        Value::String(text) => text.len() <= SHORT_BYTES_MAX,
        other => other.to_string().len() <= SHORT_BYTES_MAX,
    };
    STAMPS.contains(&name) && is_short()
}

impl Version {
    /// Makes the version of an event that stands at `origin`; `repo` is its repository with aliases
    /// followed.
    #[must_use]
    pub fn new(event: Event, repo: RepoKey, origin: Origin) -> Self {
        let mut said = codec::fields_of(&event);
        said.retain(|name, value| !is_stamp(name, value));
        said.insert("repo".to_owned(), repo.as_str().into());
        let digest = Sha256::digest(Value::Object(said).to_string()).into();
        Self { event, repo, origin, digest }
    }

    /// Returns what versions are ordered by: nothing but what they say, so that every machine agrees.
    pub(super) fn order(&self) -> (&EventId, Option<Timestamp>, &Digest) {
        (&self.event.id, self.event.timestamp, &self.digest)
    }

    /// Returns all it says, for the rare case that the order leaves two of them equal.
    pub(super) fn whole(&self) -> String {
        format!("{:?}", self.event)
    }

    /// Returns a digest of what it says, without what the door fills in.
    #[must_use]
    pub fn says(&self) -> [u8; 32] {
        self.digest
    }
}

impl Memory {
    /// Tells why it reads like an instruction to its reader, if it does. Never stored in a log: better
    /// rules apply to old lines. Found out once and when first asked, since it takes tens of
    /// microseconds and most memories never are candidates.
    #[must_use]
    pub fn flagged(&self) -> Option<Suspicion> {
        *self.flag.get_or_init(|| suspicion(&self.event))
    }

    /// Tells whether it has been found to read like an instruction.
    #[must_use]
    pub fn is_known_as_flagged(&self) -> bool {
        matches!(self.flag.get(), Some(Some(_)))
    }

    /// Returns what is shown of it, as a version among others.
    pub(super) fn version(&self) -> Version {
        Version::new(self.event.clone(), self.repo.clone(), self.origin.clone())
    }

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

    /// Returns what word search indexes, cut into the passages that can each answer a query.
    #[must_use]
    pub fn passages(&self) -> Vec<String> {
        passages(&self.index_text()).into_iter().map(str::to_owned).collect()
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
