//! What a write answers: a save, a change, links, and changes of many memories. Not here: doing it (`api`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, TextView};
use super::review::SimilarMemory;

/// Most refused links in the text of a reply; the fields have all.
const REFUSED_SHOWN_MAX: usize = 20;

/// A lesson that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SaveAnswer {
    /// Its id, or that of the memory that says the same already.
    pub id: String,
    /// The key of its repository.
    pub repo: String,
    /// written; confirmed where somebody else had saved the same; known where the same author had.
    pub status: String,
    /// Its kind; present where none was given and its words suggest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// The rules by which secrets were taken out; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<Vec<String>>,
    /// Why it reads like an instruction; absent where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flagged: Option<String>,
    /// When it expired; present where that was before it was saved, so that no search finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired: Option<String>,
    /// Files that it names and that are nowhere in the work tree; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_files: Option<Vec<String>>,
    /// Memories that it repeats or may contradict; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<Vec<SimilarMemory>>,
}

impl Answer for SaveAnswer {}

impl SaveAnswer {
    /// Says that it was written, or that it was known in some way, and nothing else.
    #[must_use]
    pub fn plain(id: &str, repo: &str, status: &str) -> Self {
        let [id, repo, status] = [id, repo, status].map(str::to_owned);
        Self {
            id,
            repo,
            status,
            event_type: None,
            redacted: None,
            flagged: None,
            expired: None,
            missing_files: None,
            similar: None,
        }
    }
}

/// A change of memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeAnswer {
    /// The kind of the event, such as feedback or retract.
    pub change: String,
    /// The memories that were named.
    pub memories: Vec<ChangedMemory>,
}

impl Answer for ChangeAnswer {}

/// What became of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedMemory {
    /// Its id.
    pub id: String,
    /// The key of its repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// written; unchanged where it was so already; failed.
    pub status: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A link that was made or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkAnswer {
    /// The link.
    pub links: Vec<LinkResult>,
}

impl Answer for LinkAnswer {}

/// What became of one link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkResult {
    /// The line that it was read from, where many are read from lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// written; unchanged where it was so already; overtaken by a later line about the same link; refused.
    pub status: String,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Many links that were made or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinksAnswer {
    /// The links, in the order of their lines.
    pub links: Vec<LinkResult>,
    /// How many were written.
    pub written: usize,
    /// How many were so already.
    pub unchanged: usize,
    /// How many a later line is about.
    pub overtaken: usize,
    /// How many were refused.
    pub refused: usize,
}

impl Answer for LinksAnswer {}

impl TextView for LinksAnswer {
    fn text(&self) -> String {
        let Self { links, written, unchanged, overtaken, refused } = self;
        let mut text = format!("{written} written, {unchanged} unchanged, {refused} refused.");
        if *overtaken > 0 {
            text.push_str(&format!(" {overtaken} overtaken: a later line is about the same link."));
        }
        for link in links.iter().filter(|link| link.problem.is_some()).take(REFUSED_SHOWN_MAX) {
            let (line, problem) = (link.line.unwrap_or_default(), link.problem.as_deref());
            text.push_str(&format!("\nline {line}: {}", problem.unwrap_or_default()));
        }
        if let Some(more) = refused.checked_sub(REFUSED_SHOWN_MAX).filter(|more| *more > 0) {
            text.push_str(&format!("\nand {more} more; --json lists all"));
        }
        text
    }
}

/// All links of one origin that were ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndedOriginAnswer {
    /// How many links it had.
    pub written: usize,
    /// The origin.
    pub origin: String,
}

impl Answer for EndedOriginAnswer {}

impl TextView for EndedOriginAnswer {
    fn text(&self) -> String {
        let Self { written, origin } = self;
        match written {
            0 => format!("No links have the origin {origin:?}."),
            count => format!("{count} links of origin {origin:?} ended."),
        }
    }
}
