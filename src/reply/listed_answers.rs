//! Two small answers to programs of ours: the checksum of the state, and tags that a memory could have. Not here: lists of memories
//! (`program_lists`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, TextView};

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
