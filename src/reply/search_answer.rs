//! What a search answers, for programs. Not here: the same as text (`hits`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::item::ShownMemories;
use super::memory_fields::{MemoryFields, or_absent};
use super::near_misses::NearMissFields;
use super::score_parts::ScoreParts;

/// The memories that a search found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchAnswer {
    /// The likely hits, best first.
    #[serde(default)]
    pub memories: Vec<MemoryHit>,
    /// Memories that may be an answer, by title alone.
    #[serde(default)]
    pub possible: Vec<PossibleMemory>,
    /// Memories that stated links join to likely hits.
    #[serde(default)]
    pub linked: Vec<LinkedTitle>,
    /// What else a reader must know, in sentences.
    #[serde(default)]
    pub notices: Vec<String>,
    /// The words of the query that were read as filters, as they were written; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<Vec<String>>,
    /// The files of hits that are gone from the caller's work tree, by the id of the memory; absent where none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<FilesById>,
    /// The files of hits that changed since these were last confirmed, by the id of the memory; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<FilesById>,
    /// The branches of hits that are not merged in the caller's work tree, by the id of the memory; absent where all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<BranchById>,
    /// Memories that are no hits, each with the step that lost it; present where `explain` asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_misses: Option<Vec<NearMissFields>>,
    /// The words of the answer that the query matched, in lower case; present where `explain` asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched_words: Option<Vec<String>>,
    /// How past sessions can be searched, where no memory answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past_sessions: Option<String>,
    /// A past session that likely answers, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past_session: Option<String>,
    /// How to open that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past_session_open: Option<String>,
    /// The past time that the answer is of; absent for the present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
}

impl Answer for SearchAnswer {}

/// Files by the id of the memory that names them.
pub type FilesById = BTreeMap<String, Vec<String>>;

/// The branch of each memory, by its id.
pub type BranchById = BTreeMap<String, String>;

/// A likely hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryHit {
    /// The memory.
    #[serde(flatten)]
    pub memory: MemoryFields,
    /// How likely it answers the query, 0 to 1.
    #[serde(default, deserialize_with = "or_absent")]
    pub likelihood: f64,
    /// The ids of memories that say the same and that it stands for; absent where there are none.
    #[serde(default, deserialize_with = "or_absent", skip_serializing_if = "Option::is_none")]
    pub also: Option<Vec<String>>,
    /// The id of a newer or better proven memory about the same subject.
    #[serde(default, deserialize_with = "or_absent", skip_serializing_if = "Option::is_none")]
    pub better: Option<String>,
    /// The id of the older memory about the same subject that this one outdates, where that is an answer too.
    #[serde(default, deserialize_with = "or_absent", skip_serializing_if = "Option::is_none")]
    pub outdates: Option<String>,
    /// The parts of its score; present where `explain` asks for them.
    #[serde(default, deserialize_with = "or_absent", skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreParts>,
}

/// A memory that may be an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PossibleMemory {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// Its first words and its id.
    #[serde(default)]
    pub title: String,
    /// How likely it answers the query, 0 to 1.
    #[serde(default)]
    pub likelihood: f64,
    /// The parts of its score; present where `explain` asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreParts>,
    /// What a newer server adds.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A memory that a stated link joins to a likely hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkedTitle {
    /// Its id.
    #[serde(default)]
    pub id: String,
    /// Its first words and its id.
    #[serde(default)]
    pub title: String,
    /// The relation, such as `depends_on`.
    #[serde(default)]
    pub relation: String,
    /// outbound where the link leads from the hit to it, otherwise inbound.
    #[serde(default)]
    pub direction: String,
    /// The id of the hit.
    #[serde(default)]
    pub of: Option<String>,
    /// What a newer server adds.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A search; given ids, it shows those memories whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum SearchOrShown {
    /// What the query found.
    Found(SearchAnswer),
    /// The memories with these ids.
    Shown(ShownMemories),
}

impl Answer for SearchOrShown {}
