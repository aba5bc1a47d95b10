//! Lists of memories without a query: shown by id, the newest, those from agent files or for them, and those of a
//! session. Not here: agent files (`clients`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::damage::UsedSnapshot;
use super::repositories::unnamed_error;
use super::{
    Local, browse, citation, injected, past_sessions, records, repositories, savings, snapshots,
    staleness, tag_suggestions,
};
use event::{AGENT_FILE, Event, EventId, IMPORTED, RepoKey, SuccessRate, is_rule};
use guard::disclosure::DisclosureOccasion;
use memory::{LifecycleState, LineOrigin, Maturity, Memory};
use reply::{MemoryLink, MemoryState, Reply};
use requests::listing::{ExportRequest, KNOWN_IDS_MAX};
use requests::{ApiError, CompleteRequest, LIMIT_MAX, Listing};
use search::links::NodeRef;
use search::snapshot::Snapshot;

/// Most links of a memory that are told.
const LINKS_MAX: usize = 100;

/// The kinds worth telling every agent at its start.
const EXPORTED: [&str; 3] = ["convention", "decision", "pattern"];

pub(super) fn show(local: &Local, ids: &[String], used: &UsedSnapshot) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    used.record(&snapshot);
    let cited = citation::cited_memories(ids, &snapshot)?;
    let memories = snapshot.with_same_ids(cited);
    let now = local.core.now();
    let links = local.core.links.links_of(&snapshot);
    let changed = staleness::changed_files(local, memories.iter(), &snapshot);
    let numbered: BTreeMap<&EventId, u32> = numbers(&memories, &snapshot);
    let standing = |memory: &Arc<Memory>| {
        let number = numbered.get(&memory.id).copied();
        let edges = number
            .into_iter()
            .flat_map(|number| links.edges_at(&NodeRef::Memory(number)).collect::<Vec<_>>());
        let of_now = edges.filter(|edge| edge.details.holds_at(now));
        let links = of_now.map(|edge| MemoryLink {
            to: edge.to.clone(),
            relation: edge.details.relation.as_str(),
            is_outward: edge.is_outward,
            strength: edge.details.strength,
            origin: edge.details.origin.clone(),
        });
        MemoryState {
            snapshot: &snapshot,
            memory: Arc::clone(memory),
            is_inactive: memory.is_inactive(now),
            links: links.take(LINKS_MAX).collect(),
            changed: staleness::has_callers_work_tree(local, memory, &snapshot)
                .then(|| changed.get(&memory.id).cloned().unwrap_or_default()),
        }
    };
    Ok(reply::items_with_state(&memories.iter().map(standing).collect::<Vec<_>>()))
}

/// Finds the numbers of memories in one pass.
fn numbers<'a>(memories: &'a [Arc<Memory>], snapshot: &Snapshot) -> BTreeMap<&'a EventId, u32> {
    let ids: BTreeSet<&EventId> = memories.iter().map(|memory| &memory.id).collect();
    let all = (0..).zip(snapshot.memories().iter());
    let found = all.filter_map(|(number, memory)| Some((*ids.get(&memory.id)?, number)));
    found.collect()
}

pub(super) fn recent(local: &Local, limit: usize, used: &UsedSnapshot) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    used.record(&snapshot);
    let mut memories: Vec<Arc<Memory>> = snapshot.memories().iter().cloned().collect();
    memories.sort_by_cached_key(|memory| (memory.timestamp, memory.id.clone()));
    memories.reverse();
    memories.truncate(limit);
    Ok(reply::list("Recent memories", &memories, DisclosureOccasion::Listed))
}

pub(super) fn complete(
    local: &Local,
    request: &CompleteRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::answerable(local)?.snapshot;
    used.record(&snapshot);
    Ok(reply::completions(&search::complete(&snapshot, request.slot, &request.typed)))
}

pub(super) fn list(
    local: &Local,
    listing: &Listing,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    used.record(&snapshot);
    let json = match listing {
        Listing::Page(request) => return browse::page(local, request, &snapshot),
        Listing::Outline(request) => return browse::outline(local, request, &snapshot),
        Listing::SuggestedTags(request) => return tag_suggestions::suggest(request, &snapshot),
        Listing::Injected(request) => return injected::page(local, request, &snapshot),
        Listing::Sessions(request) => {
            return past_sessions::newest_sessions(local, request, &snapshot);
        }
        Listing::Savings(request) => return savings::savings(local, request, &snapshot),
        Listing::OfSession(session) => {
            let memories = of_session(&snapshot, session);
            return Ok(reply::list(
                "Memories of this session",
                &memories,
                DisclosureOccasion::Listed,
            ));
        }
        Listing::OfAgentFiles => {
            let (here, of_here) = of_here(local, &snapshot)?;
            let imported = of_here
                .into_iter()
                .filter(|memory| memory.provenance.source.as_deref() == Some(IMPORTED));
            let listed: Vec<Value> = imported.filter_map(|memory| imported_json(memory)).collect();
            json!({ "repo": here.as_str(), "memories": listed })
        }
        Listing::Export(request) => return export(local, request, &snapshot),
        Listing::Records(request) => return records::page(local, request, &snapshot),
        Listing::Known(ids) => known(ids, &snapshot),
        Listing::Grown { min, max_tokens } => {
            let (here, of_here) = of_here(local, &snapshot)?;
            let (lines, left_out) = grown(local, of_here, *min, *max_tokens);
            json!({ "repo": here.as_str(), "lines": lines, "left_out": left_out })
        }
    };
    Ok(Reply::new(String::new(), json))
}

/// Returns the lines that an agent file would get, and how many more there are.
fn grown(
    local: &Local,
    of_repo: Vec<&Arc<Memory>>,
    min: Maturity,
    max_tokens: usize,
) -> (Vec<String>, usize) {
    let now = local.core.now();
    let is_it = |memory: &&Arc<Memory>| !memory.is_inactive(now) && is_grown(memory, min);
    let mut grown: Vec<Arc<Memory>> = of_repo.into_iter().filter(is_it).cloned().collect();
    grown.sort_by(|a, b| best_first(a, b));
    reply::export(&grown, max_tokens)
}

/// Returns what `export` would write for a repository that the caller names.
fn export(local: &Local, request: &ExportRequest, snapshot: &Snapshot) -> Result<Reply, ApiError> {
    let repo = repositories::repo_or_here(local, request.repo.as_deref(), snapshot)?;
    let repo = repo.ok_or_else(unnamed_error)?;
    let keys = snapshot.keys_of(&repo);
    let of_repo = snapshot.memories().iter().filter(|memory| keys.contains(&memory.repo));
    let min = request.min.into();
    let (lines, left_out) = grown(local, of_repo.collect(), min, request.max_tokens);
    let json = json!({ "repo": repo.as_str(), "lines": lines, "left_out": left_out });
    Ok(Reply::new(lines.join("\n"), json))
}

/// Returns the caller's repository and its memories.
fn of_here<'a>(
    local: &'a Local,
    snapshot: &'a Snapshot,
) -> Result<(&'a RepoKey, Vec<&'a Arc<Memory>>), ApiError> {
    let here = local.here.as_ref().ok_or_else(unnamed_error)?;
    let keys = snapshot.keys_of(here);
    let of_here = snapshot.memories().iter().filter(|memory| keys.contains(&memory.repo));
    Ok((here, of_here.collect()))
}

/// Returns the memories that a session saved or reported on, the latest first.
fn of_session(snapshot: &Snapshot, session: &str) -> Vec<Arc<Memory>> {
    let is_it = |id: Option<&str>| id == Some(session);
    let last_said = |memory: &Memory| {
        let saved = is_it(memory.provenance.session_id.as_deref()).then_some(memory.timestamp);
        let events = memory.about().iter().map(|version| &version.event);
        let said = events.filter(|event| is_it(event.session_id.as_deref()));
        said.map(|event| event.timestamp).chain(saved).max()
    };
    let all = snapshot.memories().iter();
    let mut of_it: Vec<_> = all.filter_map(|memory| Some((last_said(memory)?, memory))).collect();
    of_it.sort_by(|a, b| (b.0, &b.1.id).cmp(&(a.0, &a.1.id)));
    of_it.into_iter().take(LIMIT_MAX).map(|(_, memory)| Arc::clone(memory)).collect()
}

/// Describes a memory that came from an agent file; `None` for one from elsewhere.
fn imported_json(memory: &Memory) -> Option<Value> {
    let event = memory.event();
    let file = event.files.first().filter(|_| event.tags.iter().any(|tag| tag == AGENT_FILE))?;
    let is_live = memory.lifecycle().state == LifecycleState::Live;
    let last = last_word(memory);
    let note = last.map(|event| event.lesson.clone());
    let note_source = last.and_then(|event| event.source.clone());
    Some(json!({ "id": event.id.as_str(), "file": file, "live": is_live, "note": note,
        "note_source": note_source, "is_rule": is_rule(&event) }))
}

/// Tells which ids are memories, and why one does not count.
fn known(ids: &[String], snapshot: &Snapshot) -> Value {
    let asked = ids.iter().take(KNOWN_IDS_MAX).filter_map(|id| EventId::foreign(id));
    let mut known: BTreeMap<EventId, Value> = asked.map(|id| (id, Value::Null)).collect();
    for memory in snapshot.first_of_ids() {
        if let Some(state) = known.get_mut(&memory.id) {
            *state = state_of(memory);
        }
    }
    let memories: Vec<Value> = known.into_values().filter(|state| !state.is_null()).collect();
    json!({ "memories": memories })
}

fn state_of(memory: &Memory) -> Value {
    let state = &memory.lifecycle().state;
    let is_live = *state == LifecycleState::Live;
    let last = last_word(memory).filter(|_| !is_live);
    let note = last.map(|event| event.lesson.clone());
    let note_source = last.and_then(|event| event.source.clone());
    let superseded_by = match state {
        LifecycleState::Superseded { by } => Some(by.as_str()),
        _ => None,
    };
    let texts = event::text_digest(event::clean::clean(memory.event()).event());
    json!({ "id": memory.id.as_str(), "repo": memory.repo.as_str(), "live": is_live, "note": note,
        "note_source": note_source, "superseded_by": superseded_by, "texts": texts.as_str() })
}

/// Returns the event that decides whether a memory counts.
fn last_word(memory: &Memory) -> Option<&Event> {
    let decided_by = memory.lifecycle().decided_by.as_ref()?;
    let mut about = memory.about().iter().map(|version| &version.event);
    about.find(|event| event.id == *decided_by)
}

/// Tells whether a memory may go into an agent file: proven, not stale, not private, not from such a file itself, and
/// not worded like an instruction.
fn is_grown(memory: &Memory, min: Maturity) -> bool {
    EXPORTED.contains(&memory.provenance.kind.as_str())
        && memory.maturity() >= min
        && !memory.verdicts().is_stale
        && !memory.event().tags.iter().any(|tag| tag == AGENT_FILE)
        && memory.flagged().is_none()
        && !memory.provenance.is_private
        // Its proofs may all be of the store it came from.
        && !matches!(memory.provenance.log.origin, LineOrigin::Voice(_))
}

fn best_first(a: &Memory, b: &Memory) -> std::cmp::Ordering {
    let bound = |memory: &Memory| memory.evidence().map_or(0.0, SuccessRate::lower_bound);
    let by_bound = bound(b).total_cmp(&bound(a));
    let newest = |memory: &Memory| (memory.timestamp, memory.id.clone());
    b.maturity().cmp(&a.maturity()).then(by_bound).then_with(|| newest(b).cmp(&newest(a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::{DecodedLine, MemoryChange, codec};
    use memory::{Fold, LinePlace};

    /// Returns the id of the last event that decides, given events in the order of time.
    fn last_of(said: &[Value]) -> Option<String> {
        let mut fold = Fold::default();
        let memory = json!({ "id": "m1", "event_type": "convention", "lesson": "x" });
        for (offset, line) in (0..).zip(std::iter::once(&memory).chain(said)) {
            let mut line = line.clone();
            line["timestamp"] = json!(format!("2026-01-02T03:04:{offset:02}Z"));
            let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "api")
            else {
                panic!("{line}")
            };
            assert!(offset == 0 || MemoryChange::from_event(&event).is_some(), "{line}");
            let repo = event.repo_key();
            fold.apply(*event, repo, LinePlace::own("a", offset));
        }
        last_word(fold.memories().iter().next().unwrap()).map(|event| event.id.to_string())
    }

    fn say(id: &str, kind: &str, agent: &str, more: &Value) -> Value {
        let mut line =
            json!({ "id": id, "event_type": kind, "memory_id": "m1", "agent_id": agent });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    }

    // S-FILE-4
    #[test]
    fn only_lifecycle_events_decide_whether_a_memory_counts() {
        let none = json!({});
        let retract = say("e1", "retract", "alice", &none);
        let link = json!({ "target": "m2", "relation": "depends_on" });
        let of_bob = json!({ "of_agent": "bob" });
        for other in [
            say("e2", "link", "alice", &link),
            say("e2", "unlink", "alice", &link),
            say("e2", "distinct", "alice", &json!({ "distinct_from": "m2" })),
            say("e2", "discount", "alice", &of_bob),
            say("e2", "recount", "alice", &of_bob),
            say("e2", "pin", "alice", &none),
            say("e2", "feedback", "alice", &json!({ "verdict": "worked" })),
        ] {
            assert_eq!(
                last_of(&[retract.clone(), other.clone()]).as_deref(),
                Some("e1"),
                "{other}"
            );
        }
        let restore = say("e2", "restore", "bob", &none);
        assert_eq!(last_of(&[retract.clone(), restore.clone()]).as_deref(), Some("e2"));
        let discount = say("e3", "discount", "alice", &of_bob);
        assert_eq!(last_of(&[retract, restore, discount]).as_deref(), Some("e1"));
        assert_eq!(last_of(&[]), None);
    }
}
