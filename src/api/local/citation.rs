//! Which memories the ids of a call name. Not here: ids in a query.

use std::sync::Arc;

use super::memory_bound;
use event::EventId;
use memory::Memory;
use requests::ApiError;
use search::snapshot::{CitedMemory, Snapshot};

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
            CitedMemory::None => {
                missing.push(memory_bound::no_memory_notice(id, snapshot.memory_usage()))
            }
            CitedMemory::LeftOut => {
                missing.push(memory_bound::too_old_notice(id, snapshot.memory_usage()))
            }
            CitedMemory::Several { first, count } => missing.push(several(id, &first, count)),
        }
    }
    if missing.is_empty() { Ok(memories) } else { Err(ApiError::NotFound(missing.join("\n"))) }
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
