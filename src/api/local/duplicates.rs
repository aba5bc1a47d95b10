//! Events that say exactly what a memory says. From the same author it is one event sent twice; from another author
//! it is evidence. Not here: similar memories (`contradictions`).

use std::sync::Arc;

use serde_json::json;

use super::{Local, write};
use event::{Draft, Event, MemoryChange, Timestamp, Verdict};
use memory::{LineOrigin, Memory, is_one_voice};
use reply::Reply;
use requests::ApiError;
use search::ContradictionSign;

/// Kinds of event where equal words mean a new event.
const ANEW: [&str; 2] = ["task", "session"];

/// Finds the memory that says exactly the same, whoever said it, wherever and whenever.
pub(super) fn find_copy<'a>(
    event: &Event,
    kin: &'a [(Arc<Memory>, Vec<ContradictionSign>)],
) -> Option<&'a Arc<Memory>> {
    // The same task may come up again, and two sessions are never the same.
    if ANEW.contains(&event.event_type.as_str()) {
        return None;
    }
    let plain = content_only(event);
    let is_repeated = |signs: &[ContradictionSign]| signs == [ContradictionSign::Repeats];
    let mut alike = kin.iter().filter(|(_, signs)| is_repeated(signs)).map(|(memory, _)| memory);
    alike.find(|memory| content_only(&memory.event()) == plain)
}

/// Returns an event without its author, place and time.
fn content_only(event: &Event) -> Event {
    Event {
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
    }
}

/// Writes only what is new: another author confirms the memory.
pub(super) fn confirm(local: &Local, known: &Memory, event: &Event) -> Result<Reply, ApiError> {
    let (id, repo) = (known.id.as_str(), known.repo.as_str());
    let json = |status: &str| json!({ "id": id, "repo": repo, "status": status });
    let is_own = known.origins().any(|origin| *origin == LineOrigin::Own);
    if is_own && is_one_voice(&known.event(), event) {
        let text = format!("Already saved as {id} for {repo}; nothing was written.");
        return Ok(Reply::new(text, json("known")));
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
    Ok(Reply::new(text, json("confirmed")))
}
