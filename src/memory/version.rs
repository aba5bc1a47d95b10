//! One content under an id, with its digest, and the order of several contents. Not here: which
//! memory they belong to (`fold`).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{LineOrigin, LinePlace};
use event::limits::SHORT_BYTES_MAX;
use event::{Event, EventId, RepoKey, Timestamp, codec};

/// An event with the digest of its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The event.
    pub event: Event,
    /// Its repository, with aliases resolved.
    pub repo: RepoKey,
    /// The line that holds it; of several of one origin, the first by log and offset.
    pub place: LinePlace,
    pub(super) digest: Digest,
}

/// The digest of a version's content, without the fields that the writer fills in: an event that
/// was sent twice is one.
pub(super) type Digest = [u8; 32];

/// The fields that the writer fills in.
const STAMPS: [&str; 6] = ["timestamp", "commit", "branch", "session_id", "host", "folder"];

/// Tells whether a field can come from the writer, which never makes it longer (S-WRITE-2). A
/// longer value counts as content, in the digest and in the size.
pub(super) fn is_stamp(name: &str, value: &Value) -> bool {
    let is_short = || match value {
        Value::String(text) => text.len() <= SHORT_BYTES_MAX,
        other => other.to_string().len() <= SHORT_BYTES_MAX,
    };
    STAMPS.contains(&name) && is_short()
}

impl Version {
    /// Makes the version of an event whose line is at `place`. `repo` is its repository with
    /// aliases resolved.
    #[must_use]
    pub fn new(event: Event, repo: RepoKey, place: LinePlace) -> Self {
        let mut content = codec::fields_of(&event);
        content.retain(|name, value| !is_stamp(name, value));
        content.insert("repo".to_owned(), repo.as_str().into());
        let digest = Sha256::digest(Value::Object(content).to_string()).into();
        Self { event, repo, place, digest }
    }

    /// Returns the sort key of versions: only content, so that every machine agrees.
    fn order(&self) -> (&EventId, Option<Timestamp>, &Digest) {
        (&self.event.id, self.event.timestamp, &self.digest)
    }

    /// Returns the whole content, for the rare case that two sort keys are equal.
    fn debug_text(&self) -> String {
        format!("{:?}", self.event)
    }

    /// Returns the digest of its content, without the fields that the writer fills in.
    #[must_use]
    pub fn content_digest(&self) -> [u8; 32] {
        self.digest
    }
}

/// Inserts a version into a sorted list. Of two versions of one origin with the same content one stays: the
/// earlier in time; at the same time the one that sorts first by content, including fields such as
/// the commit; and only if these are equal too, the first by log and offset.
pub(super) fn insert_version(list: &mut Vec<Arc<Version>>, version: Arc<Version>) {
    let same = |other: &Arc<Version>| {
        other.digest == version.digest
            && other.event.id == version.event.id
            && other.place.log.origin.is_same(&version.place.log.origin)
    };
    if let Some(place) = list.iter().position(same) {
        if list.get(place).is_some_and(|known| rank(known, &version).is_le()) {
            return;
        }
        list.remove(place);
    }
    let place = list.partition_point(|other| rank(other, &version).is_lt());
    list.insert(place, version);
}

/// At most so many contents of one origin are kept under one id, the first in their order. More is damage, or somebody who
/// wants to keep everybody busy.
const CONTENTS_MAX: usize = 16;

/// At most so many events of another origin are kept about one memory, the first by id.
const OTHERS_EVENTS_MAX: usize = 1_000;

/// Keeps the first contents of each origin under one id.
pub(super) fn keep_first_contents(list: &mut Vec<Arc<Version>>) {
    drop_surplus(list, CONTENTS_MAX, |_| true);
}

/// Keeps the first events of each other origin about one memory, and returns the others.
pub(super) fn drop_surplus_events(list: &mut Vec<Arc<Version>>) -> Vec<Arc<Version>> {
    drop_surplus(list, OTHERS_EVENTS_MAX, |version| version.place.log.origin.other().is_some())
}

fn drop_surplus(
    list: &mut Vec<Arc<Version>>,
    most: usize,
    counts: impl Fn(&Version) -> bool,
) -> Vec<Arc<Version>> {
    let mut dropped = Vec::new();
    if list.len() <= most {
        return dropped;
    }
    let mut seen: BTreeMap<LineOrigin, usize> = BTreeMap::new();
    list.retain(|version| {
        let count = seen.entry(version.place.log.origin.clone()).or_default();
        *count += usize::from(counts(version));
        let stays = *count <= most || !counts(version);
        if !stays {
            dropped.push(Arc::clone(version));
        }
        stays
    });
    dropped
}

/// Compares the whole content of two versions before their place: the same lines in other files,
/// or in another order, must fold alike.
fn rank(one: &Version, other: &Version) -> Ordering {
    by_content(one, other).then_with(|| one.place.cmp(&other.place))
}

/// Compares the whole content of two versions, the earlier in time first.
pub(super) fn by_content(one: &Version, other: &Version) -> Ordering {
    one.order().cmp(&other.order()).then_with(|| one.debug_text().cmp(&other.debug_text()))
}
