//! Lists of memories that the commands `import` and `export` read: the lines for an agent file, and what is known of memories by
//! their ids. Not here: which memories (`api`), lists that people read (`item`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, TextView};
use event::EventId;

/// The lines that an agent file gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportAnswer {
    /// The repository.
    pub repo: String,
    /// The lines, by kind and the oldest first.
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

/// A page of memories as they stand in logs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordsAnswer {
    /// The repository; none for all.
    pub repo: Option<String>,
    /// The lines, the oldest first.
    pub lines: Vec<String>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// How many private memories stay here.
    pub private: usize,
}

impl Answer for RecordsAnswer {}

/// The memories that came from agent files of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedAnswer {
    /// The repository.
    pub repo: String,
    /// The memories.
    pub memories: Vec<ImportedMemory>,
}

impl Answer for ImportedAnswer {}

/// A memory that came from an agent file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedMemory {
    /// Its id.
    #[schemars(with = "String")]
    pub id: EventId,
    /// The file, below the top of the work tree.
    pub file: String,
    /// Whether it counts.
    pub live: bool,
    /// The note of the event that decided that.
    pub note: Option<String>,
    /// The source of that event.
    pub note_source: Option<String>,
    /// Whether it reads as a rule.
    pub is_rule: bool,
}

/// The memories that are known of some ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownAnswer {
    /// The memories, by their ids.
    pub memories: Vec<KnownMemory>,
}

impl Answer for KnownAnswer {}

/// What is known of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownMemory {
    /// Its id.
    #[schemars(with = "String")]
    pub id: EventId,
    /// Its repository.
    pub repo: String,
    /// Whether it counts.
    pub live: bool,
    /// The note of the event because of which it does not count.
    pub note: Option<String>,
    /// The source of that event.
    pub note_source: Option<String>,
    /// The memory that replaces it.
    #[schemars(with = "Option<String>")]
    pub superseded_by: Option<EventId>,
    /// The digest of its texts.
    #[schemars(with = "String")]
    pub texts: EventId,
}
