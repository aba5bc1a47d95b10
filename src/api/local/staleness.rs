//! Memories that the caller's work tree contradicts: the list of them, and the marks in other replies. Not here: how
//! they are found (`search::staleness`), the words of the reply (`reply`).

use std::sync::Arc;

use super::damage::UsedSnapshot;
use super::repositories::unnamed;
use super::{Local, repositories, snapshots};
use crate::{ApiError, Reply, StaleRequest};
use event::Problems;
use memory::Memory;
use reply::Checked;
use search::snapshot::Snapshot;
use search::staleness::{Changed, changed_since, look};

/// Most memories that are checked, the newest.
const MEMORIES_MAX: usize = 20_000;

/// Checks the memories of the caller's repository.
pub(super) fn stale(
    local: &Local,
    request: &StaleRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::all(local)?;
    used.note(&snapshot);
    let (Some(here), Some(place)) = (&local.here, &local.place) else { return Err(unnamed()) };
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), &snapshot)?
        .ok_or_else(unnamed)?;
    if repo != *here {
        let why = format!(
            "is {repo}, but this directory belongs to {here}; run this in a work tree of {repo}"
        );
        return Err(Problems::one("repo", why).into());
    }
    let keys = snapshot.keys_of(here);
    let now = (local.core.clock)().now;
    let counts = |memory: &&Arc<Memory>| keys.contains(&memory.repo) && !memory.is_inactive(now);
    let mut memories: Vec<Arc<Memory>> =
        snapshot.memories().iter().filter(counts).cloned().collect();
    memories.sort_by_cached_key(|memory| (memory.timestamp, memory.id.clone()));
    memories.reverse();
    let older = memories.len().saturating_sub(MEMORIES_MAX);
    memories.truncate(MEMORIES_MAX);
    let report = look(&memories, place.top(), place.git.as_ref());
    Ok(reply::stale(&Checked { repo: here, report: &report, older }))
}

/// Tells whether the caller's work tree can tell which files of a memory changed.
pub(super) fn is_told(local: &Local, memory: &Memory, snapshot: &Snapshot) -> bool {
    let has_tree = local.place.as_ref().is_some_and(|place| place.git.is_some());
    let here = local.here.as_ref().filter(|_| has_tree && local.core.config.as_of.is_none());
    here.is_some_and(|here| snapshot.keys_of(here).contains(&memory.repo))
}

/// Finds files that changed since the memories of the caller's repository that name them were last confirmed.
pub(super) fn changed_files<'a>(
    local: &Local,
    memories: impl Iterator<Item = &'a Arc<Memory>>,
    snapshot: &Snapshot,
) -> Changed {
    let (Some(here), Some(place)) = (&local.here, &local.place) else { return Changed::new() };
    let Some(git) = &place.git else { return Changed::new() };
    // The work tree is of today, also where the memories are of an earlier time.
    if local.core.config.as_of.is_some() {
        return Changed::new();
    }
    let keys = snapshot.keys_of(here);
    changed_since(memories.filter(|memory| keys.contains(&memory.repo)), &git.top)
}
