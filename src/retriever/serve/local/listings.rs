//! Memories of the repository at hand, for what this program does with agent files: those that came from there, and
//! those that may go there. Not here: the files (`import`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::answers::Seen;
use super::{Local, unnamed};
use crate::event::{AGENT_FILE, Change, Event, IMPORTED, SuccessRate};
use crate::retriever::projection::{Life, Maturity, Memory};
use crate::retriever::render::{self, Reply};
use crate::retriever::serve::api::{ApiError, Listing};

/// The kinds that are worth telling every agent at its start.
const EXPORTED: [&str; 3] = ["convention", "decision", "pattern"];

impl Local {
    pub(super) fn listed_as(&self, listing: &Listing, seen: &Seen) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        seen.note(&snapshot);
        let here = self.here.as_ref().ok_or_else(unnamed)?;
        let keys = snapshot.keys_of(here);
        let of_here = snapshot.memories().iter().filter(|memory| keys.contains(&memory.repo));
        let json = match listing {
            Listing::OfAgentFiles => {
                let imported =
                    of_here.filter(|memory| memory.setting.source.as_deref() == Some(IMPORTED));
                let told: Vec<Value> =
                    imported.filter_map(|memory| imported_json(memory)).collect();
                json!({ "repo": here.as_str(), "memories": told })
            }
            Listing::Grown { min, max_tokens } => {
                let now = (self.core.clock)().now;
                let grown = of_here.filter(|memory| !memory.is_out(now) && is_grown(memory, *min));
                let mut grown: Vec<Arc<Memory>> = grown.cloned().collect();
                grown.sort_by(|a, b| best_first(a, b));
                let (lines, left_out) = render::exported(&grown, *max_tokens);
                json!({ "repo": here.as_str(), "lines": lines, "left_out": left_out })
            }
        };
        Ok(Reply::new(String::new(), json))
    }
}

/// What is known of a memory that came from an agent file; `None` for one from elsewhere.
fn imported_json(memory: &Memory) -> Option<Value> {
    let event = memory.event();
    let file = event.files.first().filter(|_| event.tags.iter().any(|tag| tag == AGENT_FILE))?;
    let is_live = memory.course().life == Life::Live;
    let note = last_word(memory).map(|event| event.lesson.clone());
    Some(json!({ "id": event.id.as_str(), "file": file, "live": is_live, "note": note }))
}

/// The event that says last whether a memory counts.
fn last_word(memory: &Memory) -> Option<&Event> {
    let says_so = |event: &&Event| {
        let change = Change::of(event);
        change.is_some_and(|change| {
            !matches!(change, Change::Feedback(_) | Change::Pin | Change::Unpin)
        })
    };
    let events = memory.about().iter().map(|version| &version.event).filter(says_so);
    events.max_by_key(|event| (event.timestamp, event.id.clone()))
}

/// Whether a memory may be told to every agent: proven enough, not said to be stale, not from such a file itself,
/// and nothing that reads like an instruction.
fn is_grown(memory: &Memory, min: Maturity) -> bool {
    EXPORTED.contains(&memory.setting.kind.as_str())
        && memory.maturity() >= min
        && !memory.standing().is_stale
        && !memory.event().tags.iter().any(|tag| tag == AGENT_FILE)
        && memory.flagged().is_none()
}

fn best_first(a: &Memory, b: &Memory) -> std::cmp::Ordering {
    let bound = |memory: &Memory| memory.evidence().map_or(0.0, SuccessRate::lower_bound);
    let by_bound = bound(b).total_cmp(&bound(a));
    let newest = |memory: &Memory| (memory.timestamp, memory.id.clone());
    b.maturity().cmp(&a.maturity()).then(by_bound).then_with(|| newest(b).cmp(&newest(a)))
}
