//! Logs that could not be read: each answer that lacks their memories names them. Not here: why (`status`), and the remedy (`doctor`).

use std::collections::BTreeSet;

use event::RepoKey;
use reply::{Reply, with_notice};
use requests::ApiError;
use search::snapshot::Snapshot;
use store::Store;
use writer::exit::Exit;

use super::Local;

/// Most logs that are named; the others are counted.
const NAMED_MAX: usize = 3;

/// Returns the repositories with logs that could not be read.
fn unread_repos(local: &Local, snapshot: &Snapshot) -> BTreeSet<RepoKey> {
    let root = local.writer.store.root();
    // Where the directory itself cannot be read, there is no answer.
    let logs = snapshot.health().troubles.keys().filter(|path| path.as_path() != root);
    logs.map(|path| local.writer.config.current(&Store::repo_of(path))).collect()
}

/// Tells whether a log of a repository could not be read: then nobody can say that there are no memories of it.
pub(super) fn is_unread(local: &Local, repo: &RepoKey, snapshot: &Snapshot) -> bool {
    unread_repos(local, snapshot).contains(repo)
}

/// Refuses to say what belongs into a file where the log could not be read: the file would lose what is there.
pub(super) fn refuse_unread(
    local: &Local,
    repo: &RepoKey,
    snapshot: &Snapshot,
) -> Result<(), ApiError> {
    if !is_unread(local, repo, snapshot) {
        return Ok(());
    }
    let message = format!(
        "the log of {repo} cannot be read, so the file stays as it is; agent-knowledge doctor says how to mend it"
    );
    Err(ApiError::Failed { exit: Exit::Io, message })
}

/// Names the logs that an answer lacks: those of `repos`, or any if it is about all.
pub(super) fn notice(
    local: &Local,
    repos: Option<&BTreeSet<RepoKey>>,
    snapshot: &Snapshot,
) -> Option<String> {
    if snapshot.health().troubles.is_empty() {
        return None;
    }
    let mut unread = unread_repos(local, snapshot);
    unread.retain(|repo| repos.is_none_or(|repos| repos.contains(repo)));
    let named: Vec<&str> = unread.iter().take(NAMED_MAX).map(RepoKey::as_str).collect();
    let which = match (named.as_slice(), unread.len().saturating_sub(NAMED_MAX)) {
        ([], _) => return None,
        ([only], _) => format!("the log of {only}"),
        ([names @ .., last], 0) => format!("the logs of {} and {last}", names.join(", ")),
        (names, more) => format!("the logs of {} and {more} more", names.join(", ")),
    };
    Some(format!(
        "Note: {which} cannot be read, so memories may be missing here; agent-knowledge doctor says how to mend it."
    ))
}

/// Adds the notice to an answer about all memories, and to an error that finds none.
pub(super) fn with_unread_logs(
    local: &Local,
    snapshot: &Snapshot,
    answer: Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    let Some(notice) = notice(local, None, snapshot) else { return answer };
    match answer {
        Ok(reply) if reply.notices().contains(&notice) => Ok(reply),
        Ok(reply) => Ok(with_notice(reply, &notice)),
        Err(ApiError::NotFound(message)) => Err(ApiError::NotFound(format!("{message}\n{notice}"))),
        Err(error) => Err(error),
    }
}
