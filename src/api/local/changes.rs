//! What somebody says of memories that are there, written down as events about them: verdicts, replacement,
//! forgetting and its undoing. Nothing is edited; who says what is so already writes nothing. Not here: what
//! the events add up to (`projection::course`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Local, cited};
use crate::{ApiError, ChangeRequest, Voice, Wanted};
use event::{Draft, EventId, MemoryChange, Node, Problems, Verdict, fits_short_field};
use memory::{LifecycleState, Memory};
use reply::{Reply, operands};
use search::snapshot::{Cited, Snapshot};

/// How far a chain of replacements is followed before a change is refused: longer ones are a mistake.
const CHAIN_MAX: usize = 256;

impl Local {
    pub(super) fn changed(
        &self,
        request: &ChangeRequest,
        voice: &Voice,
    ) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        let mut memories = cited(&request.ids, &snapshot)?;
        let mut seen = BTreeSet::new();
        memories.retain(|memory| seen.insert(memory.id.clone()));
        let change = self.meant(&request.change, &memories, &snapshot)?;
        let mut lines = Vec::with_capacity(memories.len());
        let mut done = Vec::with_capacity(memories.len());
        for memory in &memories {
            let status = match is_so(memory, &change) {
                true => "unchanged",
                false => {
                    self.write_about(memory, change.clone(), request.note.clone(), voice)?;
                    "written"
                }
            };
            lines.push(said(memory, &change, status));
            done.push(
                json!({ "id": memory.id.as_str(), "repo": memory.repo.as_str(), "status": status }),
            );
        }
        let json = json!({ "change": change.event_type(), "memories": Value::Array(done) });
        Ok(Reply::new(lines.join("\n"), json))
    }

    /// Finds the memory that a replacement names, and refuses one that leads back to where it came from.
    fn meant(
        &self,
        wanted: &Wanted,
        memories: &[Arc<Memory>],
        snapshot: &Snapshot,
    ) -> Result<MemoryChange, ApiError> {
        Ok(match wanted {
            Wanted::Feedback(verdict) => MemoryChange::Feedback(*verdict),
            Wanted::Forgotten => MemoryChange::Retract,
            Wanted::Restored => MemoryChange::Restore,
            Wanted::Distinct { from } => {
                let from = cited([from], snapshot)?.into_iter().next();
                let from = from.ok_or_else(|| Problems::one("ids", "name no two memories"))?;
                if memories.iter().any(|memory| memory.id == from.id) {
                    return Err(Problems::one("other", "must be another memory").into());
                }
                MemoryChange::Distinct { from: from.id.clone() }
            }
            Wanted::Pinned => MemoryChange::Pin,
            Wanted::Unpinned => MemoryChange::Unpin,
            Wanted::Superseded { by } => {
                let by = cited([by], snapshot)?.into_iter().next();
                let by = by.ok_or_else(|| Problems::one("by", "names no memory"))?;
                for memory in memories {
                    refuse_circle(memory, &by, snapshot)?;
                }
                MemoryChange::Supersede { by: by.id.clone() }
            }
        })
    }

    fn write_about(
        &self,
        memory: &Memory,
        change: MemoryChange,
        note: Option<String>,
        voice: &Voice,
    ) -> Result<(), ApiError> {
        let draft = self.draft_about(&Node::of(memory.id.clone()), &memory.repo, change, voice);
        self.recorded(Draft { lesson: note, ..draft }).map(drop)
    }

    /// Puts into a draft in whose name it is written.
    pub(super) fn vouch(&self, draft: &mut Draft, voice: &Voice) {
        let Voice::Model { client, session } = voice else { return };
        let client = client.as_deref().filter(|name| fits_short_field(name));
        draft.session_id = session.clone().filter(|session| fits_short_field(session));
        self.writer.identity.vouch_for_model(draft, client);
    }
}

/// Tells whether a change would change nothing. A verdict is always heard: it is somebody's, at some time.
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
            matches!(&course.life, LifecycleState::Superseded { by: now } if now == by)
        }
        MemoryChange::Retract => course.life == LifecycleState::Retracted,
        MemoryChange::Restore => course.life == LifecycleState::Live,
        MemoryChange::Distinct { from } => course.distinct.contains(from),
        MemoryChange::Pin => course.is_pinned,
        MemoryChange::Unpin => !course.is_pinned,
    }
}

/// Refuses that a memory is replaced by one that it replaces itself, by however many steps.
fn refuse_circle(memory: &Memory, by: &Memory, snapshot: &Snapshot) -> Result<(), ApiError> {
    let mut at = Some(by.id.clone());
    for _ in 0..CHAIN_MAX {
        let Some(id) = at.take() else { return Ok(()) };
        if id == memory.id {
            let message = format!(
                "{} is replaced by {} already, so it cannot stand in its place; restore it first, or turn the two around",
                by.id.short(),
                memory.id.short()
            );
            return Err(Problems::one("by", message).into());
        }
        at = successor(&id, snapshot);
    }
    Err(Problems::one("by", format!("is at the end of more than {CHAIN_MAX} replacements")).into())
}

/// Returns what stands in the place of a memory.
fn successor(id: &EventId, snapshot: &Snapshot) -> Option<EventId> {
    let Cited::One(memory) = snapshot.cited(id.as_str()) else { return None };
    match &memory.lifecycle().life {
        LifecycleState::Superseded { by } => Some(by.clone()),
        LifecycleState::Live
        | LifecycleState::Retracted
        | LifecycleState::Archived
        | LifecycleState::Buried => None,
    }
}

/// Says what was done, and how it is undone.
fn said(memory: &Memory, change: &MemoryChange, status: &str) -> String {
    let id = memory.id.short();
    if status == "unchanged" && *change == MemoryChange::Restore && memory.setting.expires.is_some()
    {
        return format!("{id}: nothing took it out; it counts until the time in its `expires`.");
    }
    if status == "unchanged" {
        return format!("{id}: nothing to do, it is so already.");
    }
    let undo = format!("forget --undo {}", operands(&[&memory.id]));
    match change {
        MemoryChange::Feedback(Verdict::Worked) => format!("{id}: noted that it worked."),
        MemoryChange::Feedback(Verdict::Failed) => format!("{id}: noted that it failed."),
        MemoryChange::Feedback(Verdict::Stale) => {
            format!(
                "{id}: noted as stale. If another lesson holds now, save it and let it supersede this one."
            )
        }
        MemoryChange::Feedback(Verdict::Confirmed) => format!("{id}: confirmed."),
        MemoryChange::Supersede { by } => {
            format!("{id}: superseded by {}; {undo} takes that back.", by.short())
        }
        MemoryChange::Retract => {
            format!("{id}: forgotten, its log keeps it; {undo} takes that back.")
        }
        MemoryChange::Discount { .. } | MemoryChange::Recount { .. } => format!("{id}: noted."),
        MemoryChange::Archive | MemoryChange::Bury => {
            format!("{id}: faded; {undo} takes that back.")
        }
        MemoryChange::Restore => format!("{id}: counts again."),
        MemoryChange::Distinct { from } => {
            format!("{id} and {}: noted that both hold.", from.short())
        }
        MemoryChange::Pin => format!("{id}: pinned, it does not grow old."),
        MemoryChange::Unpin => format!("{id}: no longer pinned."),
        MemoryChange::Link(_) => format!("{id}: linked."),
        MemoryChange::Unlink { .. } => format!("{id}: no longer linked."),
    }
}
