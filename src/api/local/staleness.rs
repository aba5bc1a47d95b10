//! Memories that the caller's work tree contradicts: the list of them, and the marks in other replies. Not here: how
//! they are found (`search::staleness`), the words of the reply (`reply`).

use std::sync::Arc;

use super::damage::UsedSnapshot;
use super::repositories::unnamed;
use super::{Local, repositories, snapshots};
use crate::work_trees::known_tree::KnownTree;
use event::{Problems, RepoKey};
use memory::Memory;
use reply::{Checked, CheckedTree};
use requests::{ApiError, Reply, StaleRequest};
use search::snapshot::Snapshot;
use search::staleness::{Changed, changed_since};

/// Work trees of one repository that one answer is about, those that callers came from last: each may be a look.
const TREES_MAX: usize = 4;

/// Checks the memories of the caller's repository in its work tree. For a caller without a directory, checks those of the
/// repository that it names, in the work trees that others came from.
pub(super) fn stale(
    local: &Local,
    request: &StaleRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::all(local)?;
    used.note(&snapshot);
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), &snapshot)?
        .ok_or_else(unnamed)?;
    let (Some(here), Some(place)) = (&local.here, &local.place) else {
        if local.is_of_others() {
            let message = "work trees are shown to the owner of the server only";
            return Err(ApiError::NotFound(message.to_owned()));
        }
        return Ok(elsewhere(local, &repo, &snapshot));
    };
    if repo != *here {
        let why = format!(
            "is {repo}, but this directory belongs to {here}; run this in a work tree of {repo}"
        );
        return Err(Problems::one("repo", why).into());
    }
    let tree = local.core.work_trees.at(&place.top).filter(|tree| tree.repo() == here);
    let tree = tree.unwrap_or_else(|| Arc::new(KnownTree::new(place.top.clone(), here.clone())));
    let gone = || ApiError::NotFound(format!("the folder {} is gone", tree.name()));
    let look = tree.look((local.core.clock)().now, &snapshot).ok_or_else(gone)?;
    Ok(reply::stale(&Checked { repo: here, report: &look.report, older: look.older }))
}

/// Answers from the known work trees of a repository.
fn elsewhere(local: &Local, repo: &RepoKey, snapshot: &Snapshot) -> Reply {
    let trees = local.core.work_trees.all();
    let of_repo = trees.iter().filter(|tree| tree.repo() == repo);
    let looks: Vec<_> = of_repo
        .filter_map(|tree| Some((tree.name(), tree.look((local.core.clock)().now, snapshot)?)))
        .take(TREES_MAX)
        .collect();
    let checked = looks.iter().map(|(name, look)| CheckedTree {
        name,
        at: look.at,
        checked: Checked { repo, report: &look.report, older: look.older },
    });
    reply::stale_by_tree(repo, &checked.collect::<Vec<_>>())
}

/// Tells whether the caller's work tree can tell which files of a memory changed.
pub(super) fn is_told(local: &Local, memory: &Memory, snapshot: &Snapshot) -> bool {
    let has_tree = local.place.as_ref().is_some_and(|place| place.git().is_some());
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
    let Some(git) = place.git() else { return Changed::new() };
    // The work tree is of today, also where the memories are of an earlier time.
    if local.core.config.as_of.is_some() {
        return Changed::new();
    }
    let keys = snapshot.keys_of(here);
    changed_since(memories.filter(|memory| keys.contains(&memory.repo)), &git.top)
}
