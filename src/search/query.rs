//! What a caller searches for. Not here: filters (`filter`), filters inside the text (`syntax`).

use serde::{Deserialize, Serialize};

use super::failure_match::Failure;
use super::filter::Filter;
use super::folder_names::FolderNames;
use super::staleness::{UnmergedMemories, UnmergedPolicy};
use event::RepoKey;
use index::late::QueryToken;

/// A search.
#[derive(Debug, Clone, Default)]
pub struct Query<'a> {
    /// The text to search for. An empty one lists the newest memories.
    pub text: &'a str,
    /// The vector of the text, where there is a model.
    pub vector: Option<&'a [f32]>,
    /// The vectors of its tokens, where there is a model.
    pub tokens: &'a [QueryToken],
    /// Whether words count, or meaning alone.
    pub words: WordMatching,
    /// Which memories may be hits.
    pub filter: Filter,
    /// The repository that the caller works in. Its memories are preferred.
    pub here: Option<RepoKey>,
    /// The package of that repository that the caller works in. Its memories are preferred to those of others.
    pub package: Option<FolderNames>,
    /// The least likelihood, 0 to 1, of a hit in the tier [`Likely`](super::hit::Tier). With 0 every hit is in it.
    pub min_likelihood: f32,
    /// Which tiers the hits may be in.
    pub tiers: Tiers,
    /// The failure that every hit must be about.
    pub failure: Option<&'a Failure>,
    /// Most near misses to list, each with the step that lost it; 0 for none.
    pub near_misses_max: usize,
    /// The memories of branches that are not merged where the caller is.
    pub unmerged: Option<&'a UnmergedMemories>,
    /// What is done with these.
    pub unmerged_policy: UnmergedPolicy,
}

/// Which tiers of hits a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Tiers {
    /// Both: likely hits, and at most three possible ones.
    #[default]
    Both,
    /// Likely hits only.
    Likely,
}

/// Whether a search uses words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WordMatching {
    /// Yes.
    #[default]
    On,
    /// No: meaning alone.
    Off,
}
