//! What can be asked of links: making and ending them, and what hangs together by them. Not here: what a link is
//! (`event::link`).

use serde::{Deserialize, Serialize};

use event::{Problems, Relation, Strength};
use search::Point;

pub use search::links::Way;

/// Most links that are made or ended at once: more make a line between processes that none would take.
pub const EDITS_MAX: usize = 50_000;

/// What becomes of links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkRequest {
    /// One is made or ended.
    One(Edit),
    /// Many are; what is wrong with one keeps no other from being written.
    Many(Vec<Numbered>),
    /// All of this origin are ended.
    EndOrigin(String),
}

/// A link among many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    /// The line that it stood in, from 1.
    pub line: usize,
    /// What it says, or what is wrong with that.
    pub edit: Result<Edit, Problems>,
}

/// What becomes of one link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What it goes out from: the id of a memory, any unique short form of it, or a file.
    pub source: String,
    /// How the two are related.
    pub relation: Relation,
    /// What it leads to, likewise.
    pub target: String,
    /// The repository of files that are named, by key or unique short name; `None` is that of the memory that is
    /// linked, else the one of the working directory.
    pub repo: Option<String>,
    /// Whether it is made or ended.
    pub deed: Deed,
}

/// Whether a link is made or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// It is made, or from now on says this.
    Make(Terms),
    /// It is ended.
    End,
}

/// What a link says besides its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// How sure or close.
    pub strength: Strength,
    /// Since when it holds: a time, a day, `now`, or an age.
    pub valid_from: Option<String>,
    /// Until when: a time, a day, `now`, or an age from now.
    pub valid_to: Option<String>,
    /// Who or what says so.
    pub origin: String,
}

/// Most steps of a walk: further on everything hangs together with everything.
pub const DEPTH_MAX: usize = 3;
/// Steps of a walk from a memory unless asked otherwise.
pub const DEPTH_DEFAULT: usize = 1;
/// Steps of a walk from a file unless asked otherwise: the memories that name it, and what these are linked to.
pub const DEPTH_IMPACT: usize = 2;

/// What hangs together with something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedRequest {
    /// A memory, by id or any unique short form of it, or a file.
    pub of: String,
    /// What for.
    pub purpose: Purpose,
    /// The repository of a file, by key or unique short name; `None` is the one of the working directory.
    pub repo: Option<String>,
    /// How many steps, 1 to [`DEPTH_MAX`].
    pub depth: usize,
    /// Which way.
    pub way: Way,
    /// Only by this relation.
    pub relation: Option<Relation>,
    /// As it was then.
    pub as_of: Option<Point>,
    /// Most tokens of the reply.
    pub max_tokens: usize,
}

/// What it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To go on from a memory or a file.
    Related,
    /// To know what a change to a file touches.
    Impact,
}
