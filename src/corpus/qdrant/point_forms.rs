//! Points as they are sent: their ids, vectors and payloads. Pure. Not here: what counts of them (`visible_state`).
//!
//! ```text
//! id of a passage or record   13 bytes of the key | place 0 or 1 | number of the passage, 2 bytes
//! id of a term                16 bytes of a hash
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::conditions::Conditions;
use crate::corpus_entry::CorpusEntry;
use crate::counting::VECTOR_DIMENSIONS;
use crate::memory_key::MemoryKey;
use crate::term_code::coded_weights;

/// The bytes of a key with which ids begin, so that their order is that of the keys.
const OF_KEY: usize = 13;

/// Returns an id of 16 bytes as the server reads it.
fn uuid(bytes: [u8; 16]) -> String {
    MemoryKey(bytes).to_string()
}

/// Where a version of a memory lies: two have room side by side, the one that counts and the one that is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionPlace {
    First,
    Second,
}

impl VersionPlace {
    /// Both of them.
    pub(super) const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// Returns the other one.
    pub(super) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    fn byte(self) -> u8 {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// Returns the id of a passage; that of a record is the id of passage 0.
pub(super) fn point_id(key: MemoryKey, place: VersionPlace, passage: usize) -> String {
    id_with(key, place.byte(), u16::try_from(passage).unwrap_or(u16::MAX))
}

/// Returns an id behind all of a memory.
pub(super) fn id_behind(key: MemoryKey) -> String {
    id_with(key, u8::MAX, u16::MAX)
}

fn id_with(key: MemoryKey, place: u8, passage: u16) -> String {
    let end = std::iter::once(place).chain(passage.to_be_bytes());
    let mut id = [0; 16];
    let bytes = key.0.into_iter().take(OF_KEY).chain(end);
    id.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    uuid(id)
}

/// Returns the id of a term.
pub(super) fn term_id(term: &str) -> String {
    let mut id = [0; 16];
    let hash = Sha256::new_with_prefix("term").chain_update(term).finalize();
    id.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    uuid(id)
}

/// Reads a key as it was sent.
pub(super) fn key_of(text: &str) -> Option<MemoryKey> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let mut key = [0; 16];
    if digits.len() != 2 * key.len() {
        return None;
    }
    for (to, pair) in key.iter_mut().zip(digits.chunks(2)) {
        *to = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(MemoryKey(key))
}

/// A sparse vector.
#[derive(Debug, Serialize)]
pub(super) struct SparseVector {
    indices: Vec<i32>,
    values: Vec<f32>,
}

impl SparseVector {
    /// Makes the vector of terms with weights.
    pub(super) fn from_weights<'term>(weights: impl Iterator<Item = (&'term str, f32)>) -> Self {
        let (indices, values) = coded_weights(weights).into_iter().unzip();
        Self { indices, values }
    }
}

/// A passage that can be found.
#[derive(Serialize)]
pub(super) struct PassagePoint<'entry> {
    id: String,
    vector: PassageVectors,
    payload: PassagePayload<'entry>,
}

#[derive(Serialize)]
struct PassageVectors {
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<SparseVector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<Vec<i8>>,
}

#[derive(Serialize)]
struct PassagePayload<'entry> {
    key: String,
    from: u64,
    live: u8,
    repo: &'entry str,
    kind: &'entry str,
    agent: &'entry str,
    tags: &'entry [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
}

/// Returns the points of a memory, one at least: for what it is found by.
pub(super) fn passages(
    entry: &CorpusEntry,
    place: VersionPlace,
    from: u64,
) -> Vec<PassagePoint<'_>> {
    let vector = entry.vector.as_ref().filter(|codes| codes.len() == VECTOR_DIMENSIONS);
    let point = |number: usize| PassagePoint {
        id: point_id(entry.key, place, number),
        vector: PassageVectors {
            words: entry.passages.get(number).map(|passage| {
                SparseVector::from_weights(passage.weights(entry.reference_totals()).into_iter())
            }),
            meaning: vector.filter(|_| number == 0).cloned(),
        },
        payload: PassagePayload {
            key: entry.key.to_string(),
            from,
            live: entry.is_live.into(),
            repo: entry.repo.as_str(),
            kind: &entry.kind,
            agent: &entry.agent,
            tags: &entry.tags,
            time: entry.time_us,
        },
    };
    (0..entry.passages.len().max(1)).map(point).collect()
}

/// From which batch on a point counts, and until which one it does.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct EpochSpan {
    pub(super) from: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<u64>,
}

impl EpochSpan {
    /// Counts from a batch on.
    pub(super) fn from(epoch: u64) -> Self {
        Self { from: epoch, until: None }
    }

    /// Tells whether it counts after a batch.
    pub(super) fn holds_at(self, epoch: u64) -> bool {
        self.from <= epoch && self.until.is_none_or(|until| until > epoch)
    }
}

/// The payload of a record, and of what is looked up about one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordPayload {
    pub(super) key: String,
    pub(super) mark: i64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    record: String,
    #[serde(flatten)]
    pub(super) span: EpochSpan,
}

impl RecordPayload {
    /// Makes the payload of the record of a memory.
    pub(super) fn from_entry(entry: &CorpusEntry, span: EpochSpan) -> Self {
        let record = STANDARD.encode(&entry.record);
        Self { key: entry.key.to_string(), mark: entry.mark.0, record, span }
    }

    /// Returns the bytes of the record. `None` where they are none.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.record).ok()
    }
}

/// Returns the first letter and the length of a term, by which its neighbours in spelling are found.
pub(super) fn shape(first: char, letters: usize) -> String {
    format!("{first}{letters}")
}

/// Returns what the points that count up to a batch meet, with more that they must and must not.
pub(super) fn visible(epoch: u64, must: &[Value], must_not: &[Value]) -> Value {
    let mut not = vec![
        json!({"key": "from", "range": {"gt": epoch}}),
        json!({"key": "until", "range": {"lte": epoch}}),
    ];
    not.extend_from_slice(must_not);
    json!({"must": must, "must_not": not})
}

/// Returns the conditions of a search as the server reads them.
pub(super) fn filter_of(conditions: &Conditions, epoch: u64) -> Value {
    let any = |key: &str, texts: &[String]| json!({"key": key, "match": {"any": texts}});
    let mut must = vec![json!({"key": "live", "match": {"value": 1}})];
    must.extend(conditions.repos.iter().map(|repos| any("repo", repos)));
    must.extend(conditions.kinds.iter().map(|kinds| any("kind", kinds)));
    must.extend(conditions.agents.iter().map(|agents| any("agent", agents)));
    must.extend(conditions.tags.iter().map(|tag| json!({"key": "tags", "match": {"value": tag}})));
    let mut time = serde_json::Map::new();
    time.extend(conditions.since_us.map(|since| ("gte".to_owned(), since.into())));
    time.extend(conditions.until_us.map(|until| ("lte".to_owned(), until.into())));
    if !time.is_empty() {
        must.push(json!({"key": "time", "range": time}));
    }
    let not = Some(&conditions.not_kinds).filter(|kinds| !kinds.is_empty());
    let not: Vec<Value> = not.map(|kinds| any("kind", kinds)).into_iter().collect();
    visible(epoch, &must, &not)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_the_order_of_keys() {
        let keys = [MemoryKey([1; 16]), MemoryKey([2; 16]), MemoryKey([0xfe; 16])];
        let mut before = String::new();
        for key in keys {
            assert_eq!(key_of(&key.to_string()), Some(key));
            for place in VersionPlace::BOTH {
                for passage in [0, 1, 300] {
                    let id = point_id(key, place, passage);
                    assert!(id > before && id < id_behind(key), "{id}");
                    before = id;
                }
            }
            assert!(id_behind(key) > before);
        }
        for wrong in ["", "01", "zz010101-0101-0101-0101-010101010101"] {
            assert_eq!(key_of(wrong), None, "{wrong}");
        }
        assert_ne!(term_id("walrus"), term_id("walru"));
    }
}
