//! Answers a page of memories, the newest first. A page goes on where the one before ended even if memories were added or
//! forgotten in between. Not here: finding by words (`find`).

use std::sync::Arc;

use serde_json::json;

use super::page_end::PageEnd;
use super::{Local, repositories};
use event::{EventId, RepoKey, Timestamp};
use guard::disclosure::DisclosureOccasion;
use memory::{LifecycleState, Memory};
use reply::{Reply, ReplyReader};
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
    let mut fitting = fitting(local, request, snapshot)?;
    let total = fitting.len();
    fitting.sort_unstable_by(|a, b| key(b).cmp(&key(a)));
    fitting.truncate(OUTLINE_MAX);
    Ok(reply::outline(&fitting, total, how(request)))
}

/// Finds the memories that a request is about, in any order.
fn fitting<'a>(
    local: &Local,
    request: &BrowseRequest,
    snapshot: &'a Snapshot,
) -> Result<Vec<&'a Arc<Memory>>, ApiError> {
    let now = local.core.now();
    let named = request.repo.as_deref().map(|name| repositories::named_repo(local, name, snapshot));
    let repos = named.transpose()?.map(|repo| snapshot.keys_of(&repo));
    let filter = Filter {
        repos,
        kinds: request.kinds.clone(),
        tags: request.tags.clone(),
        files: request.files.clone(),
        agents: request.agents.clone(),
        branches: request.branches.clone(),
        since: request.since.map(|since| since.first(now)),
        until: request.until.map(|until| until.last(now)),
        flagged: Flagged::Included,
        ..Filter::default()
    };
    let all = snapshot.memories().iter();
    Ok(all.filter(|memory| is_in(request.state, memory, now) && filter.allows(memory)).collect())
}

pub(super) fn page(
    local: &Local,
    request: &BrowseRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let after = request.cursor.as_deref().map(PageEnd::read).transpose()?;
    let mut fitting = fitting(local, request, snapshot)?;
    let total = fitting.len();
    if let Some(after) = &after {
        fitting.retain(|memory| key(memory) < (after.at, &after.id));
    }
    let is_more = fitting.len() > request.limit;
    if is_more {
        let (_, next, _) =
            fitting.select_nth_unstable_by(request.limit, |a, b| key(b).cmp(&key(a)));
        let next = Arc::clone(next);
        let left = fitting.split_off(request.limit);
        // Two memories may have one id and one time; a page does not end between them.
        let ends_between = fitting.iter().any(|memory| key(memory) == key(&next));
        let beyond = left.into_iter().filter(|memory| ends_between && key(memory) == key(&next));
        fitting.extend(beyond);
    }
    fitting.sort_unstable_by(|a, b| key(b).cmp(&key(a)));
    let shown: Vec<Arc<Memory>> = fitting.into_iter().cloned().collect();
    let next = shown.last().filter(|_| is_more).map(|memory| place_of(memory).to_string());
    let mut reply = reply::list("Memories", &shown, how(request));
    if let Some(why) = why_none(local, request, snapshot, total)? {
        reply.text = why;
    }
    if let Some(next) = &next {
        let count = shown.len();
        let how = match local.reader() {
            ReplyReader::Caller => format!("cursor {next}"),
            ReplyReader::CommandLine => reply::next_page_of_command(next),
        };
        reply.text.push_str(&format!("\n\n{count} of {total}. The next page: {how}"));
    }
    Ok(reply.with_field("total", total.into()).with_field("next", json!(next)))
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
    if snapshot.memories().is_empty() {
        return Ok(Some("No memories yet. agent-knowledge add saves the first one.".to_owned()));
    }
    let name = request.repo.as_deref();
    let repo = name.map(|name| repositories::named_repo(local, name, snapshot)).transpose()?;
    let is_known = |repo: &RepoKey| {
        snapshot.keys_of(repo).iter().any(|key| snapshot.repos().contains_key(key))
    };
    let repo = repo.filter(|repo| !is_known(repo));
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

/// What the list is sorted by.
fn key(memory: &Memory) -> (Option<Timestamp>, &EventId) {
    (memory.timestamp, &memory.id)
}

fn place_of(memory: &Memory) -> PageEnd {
    PageEnd { at: memory.timestamp, id: memory.id.clone(), more: 0 }
}
