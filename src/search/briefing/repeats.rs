//! Prevents repeats in a briefing: a memory is shown once, and so are memories with the same text.
//! Not here: the order of the sections.

use std::collections::BTreeSet;

use super::{HUMAN, TASK};
use crate::TextSignature;
use event::{EventId, Timestamp};
use guard::disclosure::DisclosureOccasion;
use memory::Memory;

/// The memories that are shown so far.
#[derive(Default)]
pub(super) struct Repeats {
    ids: BTreeSet<EventId>,
    said: Vec<TextSignature>,
}

impl Repeats {
    /// Tells whether a memory may be shown and is new, and notes it. A memory that reads like an instruction is not
    /// shown, except for the user's own tasks and wishes: they are asked for, and marked. A memory that cannot be read is never
    /// shown, nor is a candidate that nothing confirmed in time.
    pub(super) fn is_new(&mut self, memory: &Memory, now: Timestamp) -> bool {
        // What a person wants everywhere is an order, and only a person can have written it.
        let is_own_wish = memory.is_global() && memory.provenance.source.as_deref() == Some(HUMAN);
        let is_task = memory.provenance.kind.as_str() == TASK;
        let how = if is_task { DisclosureOccasion::Listed } else { DisclosureOccasion::Unasked };
        let is_held_back = !is_own_wish && memory.is_left_out(how);
        let is_unfit = is_held_back || memory.is_lost() || memory.is_inactive(now);
        if is_unfit || self.ids.contains(&memory.id) {
            return false;
        }
        let said = TextSignature::from_event(&memory.event());
        let is_said =
            said.as_ref().is_some_and(|said| self.said.iter().any(|other| other.is_same_as(said)));
        if is_said {
            return false;
        }
        self.ids.insert(memory.id.clone());
        self.said.extend(said);
        true
    }
}
