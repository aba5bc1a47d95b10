//! Changes of existing memories, written as events about them: verdicts, replacement, forgetting and undoing it.
//! Nothing is edited, and a change that would change nothing is not written. Not here: the state that the events
//! lead to (`memory::lifecycle`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::citation::cited_memories;
use super::{Local, snapshots, write};
use event::{Draft, EventId, MemoryChange, Node, Problems, Timestamp, Verdict};
use memory::{LifecycleState, Memory};
use reply::{Reply, operands};
use requests::{ApiError, ChangeRequest, Voice, WantedChange};
use search::snapshot::{CitedMemory, Snapshot};

/// How far a chain of replacements is followed before a change is refused. A longer chain is a mistake.
const CHAIN_MAX: usize = 256;

pub(super) fn change(
    local: &Local,
    request: &ChangeRequest,
    voice: &Voice,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    let mut memories = cited_memories(&request.ids, &snapshot)?;
    let mut seen = BTreeSet::new();
    memories.retain(|memory| seen.insert(memory.id.clone()));
    let change = meant(&request.change, &memories, &snapshot)?;
    let mut lines = Vec::with_capacity(memories.len());
    let mut done = Vec::with_capacity(memories.len());
    for memory in &memories {
        let status = match is_so(memory, &change) {
            true => "unchanged",
            false => {
                write_about(local, memory, change.clone(), request.note.clone(), voice)?;
                "written"
            }
        };
        lines.push(change_text(memory, &change, status));
        done.push(
            json!({ "id": memory.id.as_str(), "repo": memory.repo.as_str(), "status": status }),
        );
    }
    let json = json!({ "change": change.event_type(), "memories": Value::Array(done) });
    Ok(Reply::new(lines.join("\n"), json))
}

/// Finds the memories that a change names, and refuses a replacement that would close a circle.
fn meant(
    wanted: &WantedChange,
    memories: &[Arc<Memory>],
    snapshot: &Snapshot,
) -> Result<MemoryChange, ApiError> {
    Ok(match wanted {
        WantedChange::Feedback(verdict) => MemoryChange::Feedback(*verdict),
        WantedChange::Forgotten => MemoryChange::Retract,
        WantedChange::Restored => MemoryChange::Restore,
        WantedChange::Distinct { from } => {
            let from = cited_memories([from], snapshot)?.into_iter().next();
            let from = from.ok_or_else(|| Problems::one("ids", "must name two memories"))?;
            if memories.iter().any(|memory| memory.id == from.id) {
                return Err(Problems::one("other", "must be another memory").into());
            }
            MemoryChange::Distinct { from: from.id.clone() }
        }
        WantedChange::Pinned => MemoryChange::Pin,
        WantedChange::Unpinned => MemoryChange::Unpin,
        WantedChange::Superseded { by } => {
            let by = cited_memories([by], snapshot)?.into_iter().next();
            let by = by.ok_or_else(|| Problems::one("superseded_by", "is not a memory"))?;
            for memory in memories {
                refuse_circle(memory, &by, snapshot)?;
            }
            MemoryChange::Supersede { by: by.id.clone() }
        }
    })
}

fn write_about(
    local: &Local,
    memory: &Memory,
    change: MemoryChange,
    note: Option<String>,
    voice: &Voice,
) -> Result<(), ApiError> {
    let draft =
        write::draft_about(local, &Node::from_id(memory.id.clone()), &memory.repo, change, voice);
    let timestamp = after_known(memory, (local.core.clock)().now);
    write::record(local, Draft { lesson: note, timestamp, ..draft }).map(drop)
}

/// Returns the time of a change that must count after all known ones, where another machine's clock is ahead of ours:
/// a second after the latest. `None` is now.
fn after_known(memory: &Memory, now: Timestamp) -> Option<String> {
    let latest = memory.about().iter().filter_map(|version| version.event.timestamp).max()?;
    // At the end of time there is nothing after the latest.
    let after = Timestamp::from_second(latest.as_second().checked_add(1)?).ok()?;
    (latest > now).then(|| after.to_string())
}

/// Tells whether a change would change nothing. Verdicts always count: each is one person's, at one time.
fn is_so(memory: &Memory, change: &MemoryChange) -> bool {
    let course = memory.lifecycle();
    match change {
        MemoryChange::Feedback(_)
        | MemoryChange::Archive
        | MemoryChange::Bury
        | MemoryChange::Discount { .. }
        | MemoryChange::Recount { .. }
        | MemoryChange::Link(_)
        | MemoryChange::Unlink { .. } => false,
        MemoryChange::Supersede { by } => {
            matches!(&course.state, LifecycleState::Superseded { by: now } if now == by)
        }
        MemoryChange::Retract => course.state == LifecycleState::Retracted,
        MemoryChange::Restore => course.state == LifecycleState::Live,
        MemoryChange::Distinct { from } => course.distinct.contains(from),
        MemoryChange::Pin => course.is_pinned,
        MemoryChange::Unpin => !course.is_pinned,
    }
}

/// Refuses to replace a memory by one that it replaces itself, directly or by several steps.
fn refuse_circle(memory: &Memory, by: &Memory, snapshot: &Snapshot) -> Result<(), ApiError> {
    let mut at = Some(by.id.clone());
    for _ in 0..CHAIN_MAX {
        let Some(id) = at.take() else { return Ok(()) };
        if id == memory.id {
            let message = format!(
                "{} is already replaced by {}, so it cannot replace it; restore it first, or swap the two",
                by.id.short(),
                memory.id.short()
            );
            return Err(Problems::one("superseded_by", message).into());
        }
        at = successor(&id, snapshot);
    }
    Err(Problems::one(
        "superseded_by",
        format!("is at the end of more than {CHAIN_MAX} replacements"),
    )
    .into())
}

/// Returns the memory that replaces another.
fn successor(id: &EventId, snapshot: &Snapshot) -> Option<EventId> {
    let CitedMemory::One(memory) = snapshot.find_cited(id.as_str()) else { return None };
    match &memory.lifecycle().state {
        LifecycleState::Superseded { by } => Some(by.clone()),
        LifecycleState::Live
        | LifecycleState::Retracted
        | LifecycleState::Archived
        | LifecycleState::Buried => None,
    }
}

/// Says what was done, and how to undo it.
fn change_text(memory: &Memory, change: &MemoryChange, status: &str) -> String {
    let id = memory.id.short();
    if status == "unchanged"
        && *change == MemoryChange::Restore
        && memory.provenance.expires.is_some()
    {
        return format!("{id}: nothing to restore; it counts until the time in its `expires`.");
    }
    if status == "unchanged" {
        return format!("{id}: nothing to do, already so.");
    }
    let undo = format!("forget --undo {}", operands(&[&memory.id]));
    match change {
        MemoryChange::Feedback(Verdict::Worked) => format!("{id}: noted that it worked."),
        MemoryChange::Feedback(Verdict::Failed) => format!("{id}: noted that it failed."),
        MemoryChange::Feedback(Verdict::Stale) => {
            format!(
                "{id}: noted as stale. If another lesson holds now, save it and supersede this one."
            )
        }
        MemoryChange::Feedback(Verdict::Confirmed) => format!("{id}: confirmed."),
        MemoryChange::Supersede { by } => {
            format!("{id}: superseded by {}; undo with {undo}.", by.short())
        }
        MemoryChange::Retract => {
            format!("{id}: forgotten, but kept in its log; undo with {undo}.")
        }
        MemoryChange::Discount { .. } | MemoryChange::Recount { .. } => format!("{id}: noted."),
        MemoryChange::Archive | MemoryChange::Bury => {
            format!("{id}: faded; undo with {undo}.")
        }
        MemoryChange::Restore => format!("{id}: counts again."),
        MemoryChange::Distinct { from } => {
            format!("{id} and {}: noted that both hold.", from.short())
        }
        MemoryChange::Pin => format!("{id}: pinned, it does not age."),
        MemoryChange::Unpin => format!("{id}: no longer pinned."),
        MemoryChange::Link(_) => format!("{id}: linked."),
        MemoryChange::Unlink { .. } => format!("{id}: no longer linked."),
    }
}
