//! Lists of memories without a query: the newest, those from agent files or for them, and those of a session. Not here: pages of them
//! (`browse`), agent files (`clients`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{browse, deliveries, records, savings, tag_suggestions};
use crate::local::caller_files::PathQuestion;
use crate::local::find::newest_sessions;
use crate::local::repositories::required_repo;
use crate::local::snapshots::{self, undamaged_answer};
use crate::local::{Local, unread_logs};
use event::{AGENT_FILE, Event, EventId, IMPORTED, RepoKey, SESSION_RECORD, SuccessRate, is_rule};
use guard::disclosure::DisclosureOccasion;
use memory::{LifecycleState, LineOrigin, Maturity, Memory};
use reply::{
    CompletionsAnswer, ExportAnswer, ImportedAnswer, ImportedMemory, KnownAnswer, KnownMemory,
    Reply,
};
use requests::listing::{ExportRequest, KNOWN_IDS_MAX, RecentArguments};
use requests::{ApiError, CompleteRequest, LIMIT_MAX, Listing};
use search::snapshot::Snapshot;

/// The kinds worth telling every agent at its start.
const EXPORTED: [&str; 3] = ["convention", "decision", "pattern"];

pub(crate) fn recent(
    local: &Local,
    request: &RecentArguments,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let asked = local.asked_folders(&request.folders, PathQuestion::asked(None, snapshot))?;
    let is_record = |memory: &Memory| memory.provenance.kind.as_str() == SESSION_RECORD;
    let memories = snapshot.memories().iter();
    let memories = memories.filter(|memory| !is_record(memory) && asked.allow(memory));
    let mut memories: Vec<Arc<Memory>> = memories.cloned().collect();
    memories.sort_by_cached_key(|memory| (memory.timestamp, memory.id.clone()));
    memories.reverse();
    memories.truncate(request.limit);
    let list = reply::list("Recent memories", &memories, DisclosureOccasion::Listed);
    Ok(asked.noted_in(list.into()))
}

pub(crate) fn complete(local: &Local, request: &CompleteRequest) -> Result<Reply, ApiError> {
    undamaged_answer(|used| {
        let snapshot = snapshots::answerable(local)?.snapshot;
        used.record(&snapshot);
        let found = search::complete(&snapshot, request.slot, &request.typed);
        Ok(Reply::from_answer(&CompletionsAnswer { values: found.values, total: found.total }))
    })
}

pub(crate) fn list(
    local: &Local,
    listing: &Listing,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    match listing {
        Listing::Page(request) => browse::page(local, request, snapshot),
        Listing::Outline(request) => browse::outline(local, request, snapshot),
        Listing::SuggestedTags(request) => tag_suggestions::suggest(request, snapshot),
        Listing::Injected(request) => deliveries::page(local, request, snapshot),
        Listing::Sessions(request) => newest_sessions(local, request, snapshot),
        Listing::Savings(request) => savings::savings(local, request, snapshot),
        Listing::OfSession(session) => {
            let memories = of_session(snapshot, session);
            Ok(reply::list("Memories of this session", &memories, DisclosureOccasion::Listed)
                .into())
        }
        Listing::OfAgentFiles => {
            let here = required_repo(local, None, snapshot)?;
            let imported = memories_of(&here, snapshot)
                .filter(|memory| memory.provenance.source.as_deref() == Some(IMPORTED));
            let memories = imported.filter_map(|memory| imported_memory(memory)).collect();
            let answer = ImportedAnswer { repo: here.to_string(), memories };
            Ok(Reply::with_text(String::new(), &answer))
        }
        Listing::Export(request) => export(local, request, snapshot),
        Listing::Records(request) => records::page(local, request, snapshot),
        Listing::Known(ids) => Ok(Reply::with_text(String::new(), &known(ids, snapshot))),
        Listing::Grown { min, max_tokens } => {
            let here = required_repo(local, None, snapshot)?;
            unread_logs::refuse_unread(local, &here, snapshot)?;
            let all = memories_of(&here, snapshot);
            let answer = grown(local, &here, (*min, *max_tokens), all);
            Ok(Reply::with_text(String::new(), &answer))
        }
    }
}

/// Returns the lines that an agent file would get.
fn grown<'a>(
    local: &Local,
    repo: &RepoKey,
    (min, max_tokens): (Maturity, usize),
    memories: impl Iterator<Item = &'a Arc<Memory>>,
) -> ExportAnswer {
    let now = local.core.now();
    let mut grown: Vec<Arc<Memory>> = memories
        .filter(|memory| !memory.is_inactive(now) && is_grown(memory, min))
        .cloned()
        .collect();
    grown.sort_by(|a, b| best_first(a, b));
    let (lines, left_out) = reply::export(&grown, max_tokens);
    ExportAnswer { repo: repo.to_string(), lines, left_out }
}

/// Returns what `export` would write for a repository that the caller names.
fn export(local: &Local, request: &ExportRequest, snapshot: &Snapshot) -> Result<Reply, ApiError> {
    let repo = required_repo(local, request.repo.as_deref(), snapshot)?;
    let asked =
        local.asked_folders(&request.folders, PathQuestion::asked(Some(&repo), snapshot))?;
    let memories = memories_of(&repo, snapshot).filter(|memory| asked.allow(memory));
    let answer = grown(local, &repo, (request.min.into(), request.max_tokens), memories);
    Ok(asked.noted_in(Reply::from_answer(&answer)))
}

fn memories_of<'a>(
    repo: &RepoKey,
    snapshot: &'a Snapshot,
) -> impl Iterator<Item = &'a Arc<Memory>> {
    let keys = snapshot.keys_of(repo);
    snapshot.memories().iter().filter(move |memory| keys.contains(&memory.repo))
}

/// Returns the memories that a session saved or reported on, the latest first.
fn of_session(snapshot: &Snapshot, session: &str) -> Vec<Arc<Memory>> {
    let is_session = |id: Option<&str>| id == Some(session);
    let last_event = |memory: &Memory| {
        let saved = is_session(memory.provenance.session_id.as_deref()).then_some(memory.timestamp);
        let events = memory.about().iter().map(|version| &version.event);
        let reports = events.filter(|event| is_session(event.session_id.as_deref()));
        reports.map(|event| event.timestamp).chain(saved).max()
    };
    let all = snapshot.memories().iter();
    let mut found: Vec<_> = all.filter_map(|memory| Some((last_event(memory)?, memory))).collect();
    found.sort_by(|a, b| (b.0, &b.1.id).cmp(&(a.0, &a.1.id)));
    found.into_iter().take(LIMIT_MAX).map(|(_, memory)| Arc::clone(memory)).collect()
}

/// Describes a memory that came from an agent file; `None` for one from elsewhere.
fn imported_memory(memory: &Memory) -> Option<ImportedMemory> {
    let event = memory.event();
    let file = event.files.first().filter(|_| event.tags.iter().any(|tag| tag == AGENT_FILE))?;
    let last = last_word(memory);
    Some(ImportedMemory {
        id: event.id.clone(),
        file: file.clone(),
        live: memory.lifecycle().state == LifecycleState::Live,
        note: last.map(|event| event.lesson.clone()),
        note_source: last.and_then(|event| event.source.clone()),
        is_rule: is_rule(&event),
    })
}

/// Tells which ids are memories, and why one does not count.
fn known(ids: &[String], snapshot: &Snapshot) -> KnownAnswer {
    let asked = ids.iter().take(KNOWN_IDS_MAX).filter_map(|id| EventId::foreign(id));
    let asked: BTreeSet<EventId> = asked.collect();
    let found = snapshot.first_of_ids().filter(|memory| asked.contains(&memory.id));
    let known: BTreeMap<&EventId, KnownMemory> =
        found.map(|memory| (&memory.id, known_memory(memory))).collect();
    KnownAnswer { memories: known.into_values().collect() }
}

fn known_memory(memory: &Memory) -> KnownMemory {
    let state = &memory.lifecycle().state;
    let live = *state == LifecycleState::Live;
    let last = last_word(memory).filter(|_| !live);
    KnownMemory {
        id: memory.id.clone(),
        repo: memory.repo.to_string(),
        live,
        note: last.map(|event| event.lesson.clone()),
        note_source: last.and_then(|event| event.source.clone()),
        superseded_by: match state {
            LifecycleState::Superseded { by } => Some(by.clone()),
            _ => None,
        },
        texts: event::text_digest(event::clean::clean(memory.event()).event()),
    }
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
    use serde_json::{Value, json};

    /// Returns the id of the last event that decides, given events in the order of time.
    fn last_of(later: &[Value]) -> Option<String> {
        let mut fold = Fold::default();
        let memory = json!({ "id": "m1", "event_type": "convention", "lesson": "x" });
        for (offset, line) in (0..).zip(std::iter::once(&memory).chain(later)) {
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
