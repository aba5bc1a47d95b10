//! Changes of many memories at once. The command line alone asks for them, with options of its own. Not here: which
//! memories are meant (`local::bulk_change`).

use serde::{Deserialize, Serialize};

use event::Author;

/// A change of many memories at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepRequest {
    /// Which memories, and the change.
    pub sweep: Sweep,
    /// Whether it is done, or only shown.
    pub extent: ChangeExtent,
    /// Why, in words.
    pub note: Option<String>,
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeExtent {
    /// Show what would be done.
    Show,
    /// Do it.
    Do,
}

/// Which memories, and the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sweep {
    /// Archive memories that nobody has needed for long, and bury those that were archived long ago.
    Fade {
        /// Only of this repository, by key or unique short name.
        repo: Option<String>,
    },
    /// Retract what an author wrote, and discount what the author said of other memories.
    Purge(Author),
    /// Undo a purge.
    Unpurge(Author),
}
