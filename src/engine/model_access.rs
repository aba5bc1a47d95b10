//! What an external model may see. Not here: the rules (the retriever), asking a model (`index::embed`).

use std::sync::Arc;

use event::RepoKey;
use memory::Memory;

/// What a model would see.
#[derive(Debug, Clone, Copy)]
pub enum ModelInput<'a> {
    /// The text of a memory.
    Memory(&'a Memory),
    /// A query of this repository.
    Query(&'a RepoKey),
}

/// Decides what an external model may see.
pub type ModelAccess = Arc<dyn Fn(ModelInput<'_>) -> bool + Send + Sync>;

/// A query, and the repositories that it may tell of.
#[derive(Debug, Clone, Copy)]
pub struct ScopedQuery<'a> {
    /// Its text.
    pub text: &'a str,
    /// The repository of the caller, and those that are searched: whole keys, since a short name does not tell who may see it. `None`
    /// where nobody has looked what the names mean; then no external model is asked.
    pub repos: Option<&'a [RepoKey]>,
}

impl ScopedQuery<'_> {
    /// Tells whether a model may see it; `None` where that is not known.
    #[must_use]
    pub fn is_visible_to(&self, may_see: &ModelAccess) -> Option<bool> {
        let is_seen = self.repos?.iter().all(|repo| may_see(ModelInput::Query(repo)));
        Some(is_seen)
    }
}
