//! Which memories the work tree at hand speaks against: the list that is asked for, and the marks in other replies.
//! Not here: how it is found out (`staleness`), its words (`render`).

use std::sync::Arc;

use super::answers::Seen;
use super::{Local, unnamed};
use crate::{ApiError, Reply, StaleRequest};
use event::Problems;
use memory::Memory;
use reply::Checked;
use search::snapshot::Snapshot;
use search::staleness::{Changed, changed_since, look};

/// Most memories that are looked at, the newest: what is older than so many others is looked for by nobody.
const MEMORIES_MAX: usize = 20_000;

impl Local {
    /// Looks at the memories of the repository at hand.
    pub(super) fn looked_over(
        &self,
        request: &StaleRequest,
        seen: &Seen,
    ) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        seen.note(&snapshot);
        let (Some(here), Some(place)) = (&self.here, &self.place) else { return Err(unnamed()) };
        let repo = self.repo(request.repo.as_deref(), &snapshot)?.ok_or_else(unnamed)?;
        if repo != *here {
            let why = format!(
                "is {repo}, and this directory belongs to {here}; run it in a work tree of {repo}, whose files are looked at"
            );
            return Err(Problems::one("repo", why).into());
        }
        let keys = snapshot.keys_of(here);
        let now = (self.core.clock)().now;
        let counts =
            |memory: &&Arc<Memory>| keys.contains(&memory.repo) && !memory.is_inactive(now);
        let mut memories: Vec<Arc<Memory>> =
            snapshot.memories().iter().filter(counts).cloned().collect();
        memories.sort_by_cached_key(|memory| (memory.timestamp, memory.id.clone()));
        memories.reverse();
        let older = memories.len().saturating_sub(MEMORIES_MAX);
        memories.truncate(MEMORIES_MAX);
        let looked = look(&memories, place.top(), place.git.as_ref());
        Ok(reply::stale(&Checked { repo: here, looked: &looked, older }))
    }

    /// Finds which files of memories of the repository at hand were written since these last held.
    pub(super) fn changed_since<'a>(
        &self,
        memories: impl Iterator<Item = &'a Arc<Memory>>,
        snapshot: &Snapshot,
    ) -> Changed {
        let (Some(here), Some(place)) = (&self.here, &self.place) else { return Changed::new() };
        let Some(git) = &place.git else { return Changed::new() };
        // The work tree is of today, whatever the memories are of.
        if self.core.config.as_of.is_some() {
            return Changed::new();
        }
        let keys = snapshot.keys_of(here);
        changed_since(memories.filter(|memory| keys.contains(&memory.repo)), &git.top)
    }
}
