//! Answers a page of memories, the newest first. A page goes on where the one before ended even if memories were added or
//! forgotten in between. Not here: finding by words (`find`).

use std::sync::Arc;

use super::page_end::{PageEnd, sort_key};
use crate::local::caller_files::{AskedFolders, PathQuestion};
use crate::local::{Local, repositories, unread_logs};
use event::Timestamp;
use guard::disclosure::DisclosureOccasion;
use memory::{LifecycleState, Memory};
use reply::{MemoryList, PageAnswer, Reply, ReplyReader};
use requests::ApiError;
use requests::browse::{BrowseRequest, BrowsedState, OUTLINE_MAX};
use search::snapshot::Snapshot;
use search::{Filter, Flagged};

/// Answers the memories that fit, each in one line, for somebody who chooses one of them.
pub(super) fn outline(
    local: &Local,
    request: &BrowseRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let mut fitting = fitting(local, request, snapshot)?.memories;
    let total = fitting.len();
    fitting.sort_unstable_by(|a, b| sort_key(b).cmp(&sort_key(a)));
    fitting.truncate(OUTLINE_MAX);
    Ok(reply::outline(&fitting, total, how(request)))
}

/// The memories that a request is about, in any order.
struct BrowsedMemories<'a> {
    memories: Vec<&'a Arc<Memory>>,
    folders: AskedFolders,
}

/// Finds the memories that a request is about.
fn fitting<'a>(
    local: &Local,
    request: &BrowseRequest,
    snapshot: &'a Snapshot,
) -> Result<BrowsedMemories<'a>, ApiError> {
    let (now, days) = (local.core.now(), local.core.config.days);
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), snapshot)?;
    let asked = PathQuestion::asked(repo.as_ref(), snapshot);
    let folders = local.asked_folders(&request.folders, asked)?;
    let filter = Filter {
        repos: repositories::keys_if_named(local, request.repo.as_deref(), snapshot)?,
        kinds: request.kinds.clone(),
        tags: request.tags.clone(),
        files: local.asked_files(&request.files, asked),
        folders: folders.folders.clone(),
        agents: request.agents.clone(),
        branches: request.branches.clone(),
        since: request.since.map(|since| since.first(now, days)),
        until: request.until.map(|until| until.last(now, days)),
        flagged: Flagged::Included,
        ..Filter::default()
    };
    let all = snapshot.memories().iter();
    let is_fitting =
        |memory: &&Arc<Memory>| is_in(request.state, memory, now) && filter.allows(memory);
    Ok(BrowsedMemories { memories: all.filter(is_fitting).collect(), folders })
}

pub(super) fn page(
    local: &Local,
    request: &BrowseRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let after = request.cursor.as_deref().map(PageEnd::read).transpose()?;
    let BrowsedMemories { memories: mut fitting, folders } = fitting(local, request, snapshot)?;
    let total = fitting.len();
    if let Some(after) = &after {
        fitting.retain(|memory| sort_key(memory) < (after.at, &after.id));
    }
    let is_more = fitting.len() > request.limit;
    if is_more {
        let (_, next, _) =
            fitting.select_nth_unstable_by(request.limit, |a, b| sort_key(b).cmp(&sort_key(a)));
        let next = Arc::clone(next);
        let left = fitting.split_off(request.limit);
        // Two memories may have one id and one time; a page does not end between them.
        let ends_between = fitting.iter().any(|memory| sort_key(memory) == sort_key(&next));
        let beyond =
            left.into_iter().filter(|memory| ends_between && sort_key(memory) == sort_key(&next));
        fitting.extend(beyond);
    }
    fitting.sort_unstable_by(|a, b| sort_key(b).cmp(&sort_key(a)));
    let shown: Vec<Arc<Memory>> = fitting.into_iter().cloned().collect();
    let next =
        shown.last().filter(|_| is_more).map(|memory| PageEnd::at_memory(memory).to_string());
    let MemoryList { mut text, answer } = reply::list("Memories", &shown, how(request));
    if let Some(why) = why_none(local, request, snapshot, total)? {
        text = why;
    }
    if let Some(next) = &next {
        let count = shown.len();
        let how = match local.reader() {
            ReplyReader::Caller => format!("cursor {next}"),
            ReplyReader::CommandLine => reply::next_page_of_command(next),
        };
        text.push_str(&format!("\n\n{count} of {total}. The next page: {how}"));
    }
    let reply = Reply::with_text(text, &PageAnswer { list: answer, total, next });
    Ok(folders.noted_in(reply))
}

/// Says why a page has nothing, where the request may be the reason.
fn why_none(
    local: &Local,
    request: &BrowseRequest,
    snapshot: &Snapshot,
    total: usize,
) -> Result<Option<String>, ApiError> {
    if total > 0 {
        return Ok(None);
    }
    let is_any_unread = unread_logs::notice(local, None, snapshot).is_some();
    if snapshot.memories().is_empty() && !is_any_unread {
        return Ok(Some("No memories yet. agent-knowledge add saves the first one.".to_owned()));
    }
    let repo = repositories::repo_if_named(local, request.repo.as_deref(), snapshot)?;
    let repo = repo.filter(|repo| !repositories::has_memories(repo, snapshot));
    let repo = repo.filter(|repo| !unread_logs::is_unread(local, repo, snapshot));
    Ok(Some(match repo {
        Some(repo) => {
            format!(
                "There are no memories of {repo}.{}",
                repositories::similar_names(&repo, snapshot)
            )
        }
        None => {
            "No memory fits. agent-knowledge list without options lists all that answer.".to_owned()
        }
    }))
}

/// Whoever asks for what is flagged sees it, marked.
fn how(request: &BrowseRequest) -> DisclosureOccasion {
    match request.state {
        BrowsedState::Flagged => DisclosureOccasion::Named,
        _ => DisclosureOccasion::Listed,
    }
}

fn is_in(state: BrowsedState, memory: &Memory, now: Timestamp) -> bool {
    let lifecycle = || &memory.lifecycle().state;
    match state {
        BrowsedState::Any => true,
        BrowsedState::Live => !memory.is_inactive(now),
        BrowsedState::Candidate => memory.is_candidate() && !memory.is_inactive(now),
        BrowsedState::Flagged => memory.flagged().is_some() && !memory.is_inactive(now),
        BrowsedState::Superseded => matches!(lifecycle(), LifecycleState::Superseded { .. }),
        BrowsedState::Forgotten => *lifecycle() == LifecycleState::Retracted,
        BrowsedState::Archived => {
            matches!(lifecycle(), LifecycleState::Archived | LifecycleState::Buried)
        }
        BrowsedState::Expired => *lifecycle() == LifecycleState::Live && memory.is_inactive(now),
    }
}
