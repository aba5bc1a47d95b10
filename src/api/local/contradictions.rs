//! What may contradict each other, asked of a whole repository or of something new. Not here: finding it (`search`),
//! its words (`render`).

use std::sync::{Arc, TryLockError};

use super::damage::UsedSnapshot;
use super::repositories::unnamed;
use super::{Local, repositories, snapshots};
use crate::{ApiError, ReviewRequest};
use event::{Event, RepoKey};
use index::lexical::KnownWords;
use memory::Memory;
use reply::Reply;
use search::Sign;
use search::snapshot::Snapshot;

/// So many memories that are like something new are told: each costs its reader tokens.
const KIN_MAX: usize = 2;

pub(super) fn review(
    local: &Local,
    request: &ReviewRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::all(local)?;
    used.note(&snapshot);
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), &snapshot)?
        .ok_or_else(unnamed)?;
    let found = search::clashes(&snapshot, &snapshot.keys_of(&repo), (local.core.clock)().now);
    Ok(reply::review(&repo, &found, request.limit))
}

/// What is there already of what an event says, in its repository; at most a few.
pub(super) fn kin_of(
    local: &Local,
    event: &Event,
    repo: &RepoKey,
    snapshot: &Snapshot,
) -> Vec<(Arc<Memory>, Vec<Sign>)> {
    let now = (local.core.clock)().now;
    let mut own = KnownWords::default();
    let mut held = match local.core.words.try_lock() {
        Ok(held) => Some(held),
        // Words that are known are true, whoever panicked over them.
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        // Who saves at the same time has to do without.
        Err(TryLockError::WouldBlock) => None,
    };
    let words = held.as_deref_mut().unwrap_or(&mut own);
    let mut found = search::clashes_of(snapshot, event, repo, now, words);
    found.truncate(KIN_MAX);
    found
}
