//! Which memories the ids of a call name. Not here: ids in a query.

use std::sync::Arc;

use event::EventId;
use memory::Memory;
use requests::ApiError;
use search::snapshot::{CitedMemory, MemoryUsage, Snapshot};

/// Finds the memories that ids name.
pub(super) fn cited_memories<'a>(
    ids: impl IntoIterator<Item = &'a String>,
    snapshot: &Snapshot,
) -> Result<Vec<Arc<Memory>>, ApiError> {
    let mut memories = Vec::new();
    let mut missing = Vec::new();
    for id in ids {
        match snapshot.find_cited(id.trim()) {
            CitedMemory::One(memory) => memories.push(memory),
            CitedMemory::None => missing.push(no_memory_notice(id, snapshot.memory_usage())),
            CitedMemory::LeftOut => missing.push(too_old_notice(id, snapshot.memory_usage())),
            CitedMemory::Several { first, count } => missing.push(several(id, &first, count)),
        }
    }
    if missing.is_empty() { Ok(memories) } else { Err(ApiError::NotFound(missing.join("\n"))) }
}

/// Says that a memory was left out.
fn too_old_notice(id: &str, room: MemoryUsage) -> String {
    let notice = room.notice().unwrap_or_default();
    format!("memory {id:?} is too old to be loaded: {notice}")
}

/// Says that there is no such memory. It may be among those left out: a short form of their ids cannot be recognized.
pub(super) fn no_memory_notice(id: &str, room: MemoryUsage) -> String {
    let hint = format!("no memory {id:?}; each line of a search ends with an id");
    match room.notice() {
        Some(notice) => format!("{hint}; {notice}"),
        None => hint,
    }
}

/// Lists the memories that a short id could mean; only some where there are many.
fn several(id: &str, first: &[EventId], count: usize) -> String {
    let listed = first.iter().map(EventId::as_str).collect::<Vec<_>>().join(", ");
    let more = match count.saturating_sub(first.len()) {
        0 => String::new(),
        more => format!(" … ({more} more)"),
    };
    format!("{id:?} could be {listed}{more}; give more characters")
}
