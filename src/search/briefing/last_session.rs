//! The session before this one: the one with the newest memory. Not here: which of its memories are shown
//! (`briefing`).

use std::sync::Arc;

use super::order::{RankedMemory, best_first};
use event::SESSION_RECORD;
use event::Timestamp;
use guard::disclosure::DisclosureOccasion;
use memory::Memory;

/// A session with memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSession {
    /// Its id.
    pub id: String,
    /// Its agent.
    pub agent_id: String,
    /// The time of its last memory.
    pub at: Option<Timestamp>,
    /// The number of its memories.
    pub memories: usize,
}

/// Returns the newest session and its memories: first the record of the session, then the newest. The caller's session
/// does not count.
pub(super) fn newest_session<'a>(
    memories: &[&'a Arc<Memory>],
    own: Option<&str>,
) -> Option<(LastSession, Vec<&'a Arc<Memory>>)> {
    let session_of = |memory: &Memory| memory.provenance.session_id.clone();
    let is_told = |memory: &Memory| !memory.is_left_out(DisclosureOccasion::Unasked);
    let others = memories.iter().copied();
    let others = others.filter(|memory| memory.provenance.session_id.as_deref() != own);
    let newest =
        best_first(others.map(RankedMemory::by_age).collect()).find(|memory| is_told(memory))?;
    let id = session_of(newest)?;
    let of_it = memories.iter().copied().filter(|memory| {
        memory.provenance.session_id.as_deref() == Some(&id) && memory.repo == newest.repo
    });
    let mut learned: Vec<&Arc<Memory>> =
        best_first(of_it.map(RankedMemory::by_age).collect()).collect();
    learned.sort_by_key(|memory| memory.provenance.kind.as_str() != SESSION_RECORD);
    let session = LastSession {
        id,
        agent_id: newest.provenance.agent_id.clone(),
        at: newest.timestamp,
        memories: learned.len(),
    };
    Some((session, learned))
}
