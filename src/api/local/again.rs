//! What is saved a second time: the same voice saying the very same is one event that was sent twice; another voice
//! saying it is evidence. Not here: what is merely alike (`reviewed`).

use std::sync::Arc;

use serde_json::json;

use super::Local;
use crate::ApiError;
use event::{Draft, Event, MemoryChange, Timestamp, Verdict};
use memory::{Memory, is_one_voice};
use reply::Reply;
use search::Sign;

/// Kinds of which the same words are another matter each time.
const ANEW: [&str; 2] = ["task", "session"];

/// Finds the memory that says the very same, whoever says it, wherever and whenever.
pub(super) fn copy_of<'a>(
    event: &Event,
    kin: &'a [(Arc<Memory>, Vec<Sign>)],
) -> Option<&'a Arc<Memory>> {
    // The same task may come up again, and no two sessions are one.
    if ANEW.contains(&event.event_type.as_str()) {
        return None;
    }
    let plain = said(event);
    let is_repeated = |signs: &[Sign]| signs == [Sign::Repeats];
    let mut alike = kin.iter().filter(|(_, signs)| is_repeated(signs)).map(|(memory, _)| memory);
    alike.find(|memory| said(&memory.event()) == plain)
}

/// An event without who said it, where and when.
fn said(event: &Event) -> Event {
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

impl Local {
    /// Writes nothing but what is new: that another voice says it, too.
    pub(super) fn said_again(&self, known: &Memory, event: &Event) -> Result<Reply, ApiError> {
        let (id, repo) = (known.id.as_str(), known.repo.as_str());
        let json = |status: &str| json!({ "id": id, "repo": repo, "status": status });
        if is_one_voice(&known.event(), event) {
            let text = format!("Saved already as {id} for {repo}; nothing was written.");
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
        self.recorded(draft)?;
        let text = format!("Known as {id} for {repo}; noted that it was learned again.");
        Ok(Reply::new(text, json("confirmed")))
    }
}
