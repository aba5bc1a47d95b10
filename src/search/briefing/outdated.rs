//! The current notes of those that newer ones outdate, for the notes that a briefing may tell. Not here: which note that is
//! (`better_note`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Occasion, Picker, RankedMemory, RepoMemories, best_first};
use crate::better_note;
use crate::snapshot::Snapshot;
use crate::staleness::UnmergedPolicy;
use event::EventId;
use memory::Memory;

/// Most notes of a section that are compared: several times what has room, and each comparison takes a while.
const COMPARED_MAX: usize = 24;

/// The newer notes of those that a briefing may tell, by the id of the outdated one.
#[derive(Debug, Default)]
pub(super) struct CurrentNotes(BTreeMap<EventId, Arc<Memory>>);

impl CurrentNotes {
    /// Finds them among the best notes of each section.
    pub(super) fn find(
        snapshot: &Snapshot,
        here: &RepoMemories<'_>,
        about_files: &[RankedMemory<'_>],
        occasion: &Occasion<'_>,
    ) -> Self {
        let RepoMemories { of_user, everywhere, decided, gotchas, others, .. } = here;
        let sections = [of_user, everywhere, decided, gotchas, others].map(Vec::as_slice);
        let best = sections.into_iter().chain([about_files]);
        let best = best.flat_map(|section| best_first(section.to_vec()).take(COMPARED_MAX));
        let memories: Vec<&Arc<Memory>> = best.chain(occasion.for_task).collect();
        Self(better_note::newer_notes(snapshot, &memories, occasion.now))
    }
}

impl Picker<'_> {
    /// Returns the note that is told in the place of one: the newer one that outdates it, where that may be shown.
    pub(super) fn current(&self, memory: &Arc<Memory>) -> Arc<Memory> {
        let Occasion { unmerged, unmerged_policy, .. } = self.occasion;
        let is_left_out = |newer: &Memory| {
            *unmerged_policy == UnmergedPolicy::LeftOut && unmerged.contains_key(&newer.id)
        };
        let newer = self.newer.0.get(&memory.id).filter(|newer| !is_left_out(newer));
        Arc::clone(newer.unwrap_or(memory))
    }
}
