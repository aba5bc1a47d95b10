//! Where a search looks besides the memories of this machine: an engine, where the settings name one. This machine stays the
//! truth and answers in any case. Not here: engines (crate `corpus`), joining the hits (`search`).

use std::collections::BTreeMap;

use event::{RepoKey, Timestamp};
use index::embed::SpaceId;
use search::{Hit, Query};

/// Another source of hits. It answers within a quarter of a second, or says why it does not.
pub trait SecondSource: Send + Sync {
    /// Returns the vectors that its own can be compared with. It is asked with no other one.
    fn space(&self) -> SpaceId;

    /// Returns its best hits, at most `limit`, best first. Their numbers mean nothing here.
    ///
    /// # Errors
    /// Why there is no answer, as it stands behind "the engine".
    fn find(
        &self,
        query: &Query<'_>,
        limit: usize,
        known: &LocalKnowledge<'_>,
    ) -> Result<Vec<Hit>, String>;
}

/// What this machine knows when it asks.
#[derive(Debug, Clone, Copy)]
pub struct LocalKnowledge<'a> {
    /// Its repositories, with the number of their memories.
    pub repos: &'a BTreeMap<RepoKey, usize>,
    /// The time of the search.
    pub now: Timestamp,
}
