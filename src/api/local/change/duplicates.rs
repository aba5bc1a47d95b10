//! What is already known of a new event. A memory that says exactly the same is, from the same author, one event sent twice, and from
//! another author evidence; a similar one may contradict it. Not here: all contradictions of a repository (`list::analysis`).

use std::sync::{Arc, TryLockError};

use super::write;
use crate::local::Local;
use event::{Draft, Event, MemoryChange, RepoKey, Timestamp, Verdict};
use index::lexical::AnalysisCache;
use memory::{LineOrigin, Memory, is_one_voice};
use reply::{Reply, SaveAnswer};
use requests::ApiError;
use search::ContradictionSign;
use search::snapshot::Snapshot;

/// Most similar memories that a save reports: each costs its reader tokens.
const SIMILAR_MAX: usize = 2;

/// Kinds of event where equal words mean a new event.
const ANEW: [&str; 2] = ["task", "session"];

/// Finds the memory that says exactly the same, whoever said it, wherever and whenever.
pub(super) fn find_copy<'a>(
    event: &Event,
    similar: &'a [(Arc<Memory>, Vec<ContradictionSign>)],
) -> Option<&'a Arc<Memory>> {
    // The same task may come up again, and two sessions are never the same.
    if ANEW.contains(&event.event_type.as_str()) {
        return None;
    }
    let wanted = content_only(event);
    let is_repeated = |signs: &[ContradictionSign]| signs == [ContradictionSign::Repeats];
    let mut alike =
        similar.iter().filter(|(_, signs)| is_repeated(signs)).map(|(memory, _)| memory);
    alike.find(|memory| content_only(&memory.event()) == wanted)
}

/// Returns an event without its author, place and time.
fn content_only(event: &Event) -> Event {
    let content = Event {
        id: event::EventId::mint(Timestamp::UNIX_EPOCH, 0),
        timestamp: None,
        agent_id: String::new(),
        repo: String::new(),
        commit: None,
        branch: None,
        session_id: None,
        host: None,
        source: None,
        schema: None,
        ..event.clone()
    };
    content.without_folder()
}

/// Writes only what is new: another author confirms the memory.
pub(super) fn confirm(local: &Local, known: &Memory, event: &Event) -> Result<Reply, ApiError> {
    let (id, repo) = (known.id.as_str(), known.repo.as_str());
    let answer = |status: &str| SaveAnswer::plain(id, repo, status);
    let is_own = known.origins().any(|origin| *origin == LineOrigin::Own);
    if is_own && is_one_voice(&known.event(), event) {
        let text = format!("Already saved as {id} for {repo}; nothing was written.");
        return Ok(Reply::with_text(text, &answer("known")));
    }
    let draft = Draft {
        memory_id: Some(id.to_owned()),
        repo: Some(repo.to_owned()),
        change: Some(MemoryChange::Feedback(Verdict::Confirmed)),
        agent_id: Some(event.agent_id.clone()),
        session_id: event.session_id.clone(),
        source: event.source.clone(),
        ..Draft::default()
    };
    write::record(local, draft)?;
    let text = format!("Already known as {id} for {repo}; recorded as confirmed.");
    Ok(Reply::with_text(text, &answer("confirmed")))
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
    found.truncate(SIMILAR_MAX);
    found
}
