//! An event, with what tells it from others under its id. Not here: which of several counts (`fold`).

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Origin;
use event::limits::SHORT_BYTES_MAX;
use event::{Event, EventId, RepoKey, Timestamp, codec};

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
    pub fn content_digest(&self) -> [u8; 32] {
        self.digest
    }
}
