//! Memories that may contradict each other, in a whole repository or for a new event. Not here: finding them
//! (`search`), the words of the reply (`reply`).

use std::sync::{Arc, TryLockError};

use super::damage::UsedSnapshot;
use super::repositories::unnamed_error;
use super::{Local, repositories, snapshots};
use event::{Event, RepoKey};
use index::lexical::AnalysisCache;
use memory::Memory;
use reply::Reply;
use requests::{ApiError, ReviewRequest};
use search::ContradictionSign;
use search::snapshot::Snapshot;

/// Most similar memories that a save reports: each costs its reader tokens.
const KIN_MAX: usize = 2;

pub(super) fn review(
    local: &Local,
    request: &ReviewRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    used.record(&snapshot);
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), &snapshot)?
        .ok_or_else(unnamed_error)?;
    let found = search::contradictions(&snapshot, &snapshot.keys_of(&repo), local.core.now());
    Ok(reply::review(&repo, &found, request.limit))
}

/// Finds memories of the repository that say something similar to an event; at most a few.
pub(super) fn similar_memories(
    local: &Local,
    event: &Event,
    repo: &RepoKey,
    snapshot: &Snapshot,
) -> Vec<(Arc<Memory>, Vec<ContradictionSign>)> {
    let now = local.core.now();
    let mut own = AnalysisCache::default();
    let mut held = match local.core.analysis_cache.try_lock() {
        Ok(held) => Some(held),
        // The words of a text stay true, whichever thread panicked while holding them.
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        // A save does not wait for another one; it computes the words itself.
        Err(TryLockError::WouldBlock) => None,
    };
    let words = held.as_deref_mut().unwrap_or(&mut own);
    let mut found = search::contradictions_of(snapshot, event, repo, now, words);
    found.truncate(KIN_MAX);
    found
}
