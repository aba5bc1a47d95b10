//! Memories that the caller's work tree contradicts: the list of them, and the marks in other replies. Not here: how
//! they are found (`search::staleness`), the words of the reply (`reply`).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::local::Local;
use crate::local::caller_files::{AskedFolders, PathQuestion};
use crate::local::repositories::required_repo;
use crate::work_trees::known_tree::{KnownTree, TreeLook};
use crate::work_trees::moved_state::FollowedNames;
use event::{Problems, RepoKey};
use memory::Memory;
use reply::{CheckedRepo, CheckedTree};
use requests::{ApiError, Reply, StaleRequest};
use search::snapshot::Snapshot;
use search::staleness::{
    ChangedFiles, UnmergedMemories, UnmergedPolicy, changed_since, gone_from, path_in,
};

/// Work trees of one repository that one answer is about, those that callers came from last: each may be a look.
const TREES_MAX: usize = 4;

/// Checks the memories of the caller's repository in its work tree. For a caller without a directory, checks those of the
/// repository that it names, in the work trees that others came from.
pub(crate) fn stale(
    local: &Local,
    request: &StaleRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let repo = required_repo(local, request.repo.as_deref(), snapshot)?;
    let asked =
        local.asked_folders(&request.folders, PathQuestion::asked(Some(&repo), snapshot))?;
    let (Some(here), Some(place)) = (&local.here, &local.place) else {
        if local.is_of_others() {
            let message = "work trees are shown to the owner of the server only";
            return Err(ApiError::NotFound(message.to_owned()));
        }
        return Ok(elsewhere(local, &repo, &asked, snapshot));
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
    let look = tree.look((local.core.clock)().now, snapshot).ok_or_else(gone)?;
    Ok(reply::stale(&checked_repo(here, &look, &asked)))
}

/// Answers from the known work trees of a repository.
fn elsewhere(local: &Local, repo: &RepoKey, asked: &AskedFolders, snapshot: &Snapshot) -> Reply {
    let trees = local.core.work_trees.all();
    let of_repo = trees.iter().filter(|tree| tree.repo() == repo);
    let looks: Vec<_> = of_repo
        .filter_map(|tree| Some((tree.name(), tree.look((local.core.clock)().now, snapshot)?)))
        .take(TREES_MAX)
        .collect();
    let checked = looks.iter().map(|(name, look)| CheckedTree {
        name,
        at: look.at,
        checked: checked_repo(repo, look, asked),
    });
    reply::stale_by_tree(repo, &checked.collect::<Vec<_>>())
}

fn checked_repo<'a>(
    repo: &'a RepoKey,
    look: &'a TreeLook,
    AskedFolders { folders, notices }: &'a AskedFolders,
) -> CheckedRepo<'a> {
    CheckedRepo { repo, report: &look.report, older: look.older, folders, notices }
}

/// Returns the work tree of the caller, with the keys of its repository. `None` where it cannot tell which files changed.
fn own_work_tree<'a>(
    local: &'a Local,
    snapshot: &Snapshot,
) -> Option<(&'a Path, BTreeSet<RepoKey>)> {
    let (here, git) = (local.here.as_ref()?, local.place.as_ref()?.git()?);
    // The work tree is of today, also where the memories are of an earlier time.
    local.core.config.as_of.is_none().then(|| (git.top.as_path(), snapshot.keys_of(here)))
}

/// Tells whether the caller's work tree can tell which files of a memory changed.
pub(super) fn has_callers_work_tree(local: &Local, memory: &Memory, snapshot: &Snapshot) -> bool {
    own_work_tree(local, snapshot).is_some_and(|(_, keys)| keys.contains(&memory.repo))
}

/// Finds the memories of branches that are not merged in the caller's work tree.
pub(crate) fn unmerged_memories(
    local: &Local,
    snapshot: &Snapshot,
    policy: UnmergedPolicy,
) -> Arc<UnmergedMemories> {
    let is_own = own_work_tree(local, snapshot).is_some();
    let (Some(place), Some(here)) = (local.place.as_ref().filter(|_| is_own), &local.here) else {
        return Arc::default();
    };
    let tree = local.core.work_trees.at(&place.top).filter(|tree| tree.repo() == here);
    let now = (local.core.clock)().now;
    tree.map_or_else(Arc::default, |tree| tree.unmerged(place, snapshot, (now, policy.into())))
}

/// Tells whether a file that is gone from the caller's work tree is there under another name, as far as somebody looked before.
pub(crate) fn is_renamed(local: &Local, file: &str) -> bool {
    let tree = local.place.as_ref().and_then(|place| local.core.work_trees.at(&place.top));
    tree.is_some_and(|tree| tree.is_renamed(file))
}

/// Finds the files of memories of the caller's repository that are gone from the caller's work tree, and there under no other name.
pub(crate) fn gone_files<'a>(
    local: &Local,
    memories: impl Iterator<Item = &'a Arc<Memory>>,
    snapshot: &Snapshot,
    policy: UnmergedPolicy,
) -> ChangedFiles {
    let Some((top, keys)) = own_work_tree(local, snapshot) else { return ChangedFiles::new() };
    let memories = memories.filter(|memory| keys.contains(&memory.repo));
    let mut gone = gone_from(memories, top, |file| is_renamed(local, file));
    let names: Vec<String> = gone.values().flatten().cloned().collect();
    if names.is_empty() {
        return gone;
    }
    let asked = PathQuestion { repo: None, snapshot, patience: policy.into() };
    let moved = local.moved(&names, FollowedNames::Named, asked);
    let is_moved =
        |file: &String| path_in(top, file).is_some_and(|path| moved.present_name(&path).is_some());
    for files in gone.values_mut() {
        files.retain(|file| !is_moved(file));
    }
    gone.retain(|_, files| !files.is_empty());
    gone
}

/// Finds files that changed since the memories of the caller's repository that name them were last confirmed.
pub(crate) fn changed_files<'a>(
    local: &Local,
    memories: impl Iterator<Item = &'a Arc<Memory>>,
    snapshot: &Snapshot,
) -> ChangedFiles {
    let Some((top, keys)) = own_work_tree(local, snapshot) else { return ChangedFiles::new() };
    changed_since(memories.filter(|memory| keys.contains(&memory.repo)), top)
}
