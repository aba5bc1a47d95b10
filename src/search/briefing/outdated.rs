//! Puts the current note into the place of one that it outdates. Not here: which note that is (`better_note`).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{BriefingMemory, Picker, Section};
use crate::better_note;
use crate::snapshot::Snapshot;
use crate::staleness::UnmergedPolicy;
use event::EventId;
use memory::Memory;

/// The sections whose notes may be told by others: what is to be done and what a session learned stands for itself.
fn is_replaced(section: Section) -> bool {
    !matches!(section, Section::OpenTasks | Section::LastSession)
}

impl Picker<'_> {
    /// Drops each note that a newer one outdates; the newer one takes its place unless it has one, or may not be shown.
    pub(super) fn replace_outdated(
        &mut self,
        snapshot: &Snapshot,
        sections: &mut [(Section, Vec<BriefingMemory>)],
    ) {
        let notes = sections.iter().flat_map(|(_, notes)| notes);
        let memories: Vec<&Arc<Memory>> = notes.map(|note| &note.memory).collect();
        let newer = better_note::newer_notes(snapshot, &memories, self.occasion.now);
        if newer.is_empty() {
            return;
        }
        let mut told: BTreeSet<EventId> = memories.iter().map(|memory| memory.id.clone()).collect();
        for (_, notes) in sections.iter_mut().filter(|(section, _)| is_replaced(*section)) {
            notes.retain_mut(|note| {
                let Some(current) = newer.get(&note.memory.id) else { return true };
                if told.contains(&current.id) {
                    return false;
                }
                if self.may_replace(current) {
                    told.insert(current.id.clone());
                    let gone = self.gone(current).files;
                    *note = BriefingMemory { memory: Arc::clone(current), gone };
                }
                true
            });
        }
    }

    fn may_replace(&mut self, current: &Memory) -> bool {
        let Self { occasion, .. } = self;
        let is_left_out = occasion.unmerged_policy == UnmergedPolicy::LeftOut
            && occasion.unmerged.contains_key(&current.id);
        !is_left_out && self.is_new(current)
    }
}
