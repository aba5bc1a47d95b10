//! Answers a page of memories, the newest first. A page goes on where the one before ended even if memories were added or
//! forgotten in between. Not here: finding by words (`find`).

use std::sync::Arc;

use serde_json::json;

use super::page_end::PageEnd;
use super::{Local, repositories};
use crate::ApiError;
use crate::requests::browse::{BrowseRequest, BrowsedState};
use event::{EventId, Timestamp};
use memory::{LifecycleState, Memory};
use reply::Reply;
use search::snapshot::Snapshot;
use search::{Filter, Flagged};

pub(super) fn page(
    local: &Local,
    request: &BrowseRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let after = request.cursor.as_deref().map(PageEnd::read).transpose()?;
    let now = (local.core.clock)().now;
    let named = request.repo.as_deref().map(|name| repositories::named(local, name, snapshot));
    let repos = named.transpose()?.map(|repo| snapshot.keys_of(&repo));
    let filter = Filter {
        repos,
        kinds: request.kinds.clone(),
        tags: request.tags.clone(),
        files: request.files.clone(),
        agents: request.agents.clone(),
        since: request.since.map(|since| since.first(now)),
        until: request.until.map(|until| until.last(now)),
        flagged: Flagged::Included,
        ..Filter::default()
    };
    let all = snapshot.memories().iter();
    let mut fitting: Vec<&Arc<Memory>> =
        all.filter(|memory| is_in(request.state, memory, now) && filter.allows(memory)).collect();
    let total = fitting.len();
    if let Some(after) = &after {
        fitting.retain(|memory| key(memory) < (after.at, &after.id));
    }
    let is_more = fitting.len() > request.limit;
    if is_more {
        fitting.select_nth_unstable_by(request.limit, |a, b| key(b).cmp(&key(a)));
        fitting.truncate(request.limit);
    }
    fitting.sort_unstable_by(|a, b| key(b).cmp(&key(a)));
    let shown: Vec<Arc<Memory>> = fitting.into_iter().cloned().collect();
    let next = shown.last().filter(|_| is_more).map(|memory| place_of(memory).to_string());
    let mut reply = reply::list("Memories", &shown);
    if let Some(next) = &next {
        let count = shown.len();
        reply.text.push_str(&format!("\n\n{count} of {total}. The next page: cursor {next}"));
    }
    Ok(reply.with("total", total.into()).with("next", json!(next)))
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
