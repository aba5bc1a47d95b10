//! What programs of ours are told when they list memories, for agent files, exports and synchronization. Not here: lists for people
//! (`item`, `outline`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, TextView};

/// Proven memories of a repository, as lines for an agent file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportAnswer {
    /// The key of the repository.
    pub repo: String,
    /// The lines.
    pub lines: Vec<String>,
    /// How many more have no room.
    pub left_out: usize,
}

impl Answer for ExportAnswer {}

impl TextView for ExportAnswer {
    fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// Memories that were imported from agent files of a repository, also those that no longer count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFilesAnswer {
    /// The key of the repository.
    pub repo: String,
    /// The memories.
    pub memories: Vec<AgentFileMemory>,
}

impl Answer for AgentFilesAnswer {}

/// A memory that came from an agent file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFileMemory {
    /// Its id.
    pub id: String,
    /// The file.
    pub file: String,
    /// Whether it counts.
    pub live: bool,
    /// What the event says that decided whether it counts.
    pub note: Option<String>,
    /// Who vouches for that event.
    pub note_source: Option<String>,
    /// Whether it is a rule, and no lesson.
    #[serde(default)]
    pub is_rule: bool,
}

/// Which ids are memories here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownAnswer {
    /// Those that are.
    pub memories: Vec<KnownMemory>,
}

impl Answer for KnownAnswer {}

/// The state of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownMemory {
    /// Its id.
    pub id: String,
    /// The key of its repository.
    pub repo: String,
    /// Whether it counts.
    pub live: bool,
    /// What the event says that took it out of answers.
    pub note: Option<String>,
    /// Who vouches for that event.
    pub note_source: Option<String>,
    /// The memory that replaces it.
    pub superseded_by: Option<String>,
    /// The hash of its texts.
    pub texts: String,
}

/// A page of memories as lines of a log, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordsAnswer {
    /// The key of the repository; null for all.
    pub repo: Option<String>,
    /// The lines.
    pub lines: Vec<String>,
    /// Where the next page begins; null on the last one.
    pub next: Option<String>,
    /// How many are left out, since they are private.
    pub private: usize,
}

impl Answer for RecordsAnswer {}

/// One checksum of the whole state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DigestAnswer {
    /// The checksum.
    pub digest: String,
    /// How many memories there are.
    pub memories: usize,
    /// How many events are about memories that are not known.
    pub orphans: usize,
    /// How many texts the word index has.
    pub documents: usize,
    /// How many words it has.
    pub terms: u64,
}

impl Answer for DigestAnswer {}

impl TextView for DigestAnswer {
    fn text(&self) -> String {
        self.digest.clone()
    }
}

/// Tags that a memory could have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedTagsAnswer {
    /// The id of the memory.
    pub id: String,
    /// The tags, best first.
    pub suggested: Vec<SuggestedTag>,
}

impl Answer for SuggestedTagsAnswer {}

/// A tag that a memory could have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedTag {
    /// The tag.
    pub tag: String,
    /// How many similar memories have it.
    pub similar: usize,
    /// Whether the memory names it.
    pub named: bool,
}
