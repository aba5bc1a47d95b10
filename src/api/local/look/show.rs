//! Shows memories by their ids: all that is known of each, with its links and the state of its files. Not here: the words of the
//! reply (`reply`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::staleness;
use crate::local::Local;
use crate::local::citation::cited_memories;
use event::EventId;
use memory::Memory;
use reply::{MemoryLink, MemoryState, Reply};
use requests::ApiError;
use search::links::NodeRef;
use search::snapshot::Snapshot;
use search::staleness::UnmergedPolicy;

/// Most links of a memory that are shown.
const LINKS_MAX: usize = 100;

pub(crate) fn show(local: &Local, ids: &[String]) -> Result<Reply, ApiError> {
    local.with_all(|snapshot| memories_of_ids(local, ids, snapshot))
}

fn memories_of_ids(local: &Local, ids: &[String], snapshot: &Snapshot) -> Result<Reply, ApiError> {
    let cited = cited_memories(ids, snapshot)?;
    let memories = snapshot.with_same_ids(cited);
    let now = local.core.now();
    let links = local.core.links.links_of(snapshot);
    let changed = staleness::changed_files(local, memories.iter(), snapshot);
    let unmerged = staleness::unmerged_memories(local, snapshot, UnmergedPolicy::Marked);
    let numbered: BTreeMap<&EventId, u32> = numbers(&memories, snapshot);
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
            snapshot,
            memory: Arc::clone(memory),
            is_inactive: memory.is_inactive(now),
            links: links.take(LINKS_MAX).collect(),
            changed: staleness::has_callers_work_tree(local, memory, snapshot)
                .then(|| changed.get(&memory.id).cloned().unwrap_or_default()),
            unmerged: unmerged.get(&memory.id).cloned(),
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
