//! Which tasks are open. A task ends when it is tagged `done`, when a task tagged `done` has its id among its tags,
//! or when an event about it says that it worked. Not here: what other events about a memory mean.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::order::{RankedMemory, best_first};
use event::Event;
use guard::disclosure::DisclosureOccasion;
use memory::Memory;

/// The newest tasks that are read.
const LOOKED_AT_MAX: usize = 256;

/// The tag that ends a task.
const DONE: &str = "done";

/// The kinds of events about a task that end it.
const ENDING: [&str; 2] = ["success", DONE];

/// The verdicts of feedback that end a task: it is done, or no longer wanted.
const ENDING_VERDICTS: [&str; 2] = ["worked", "stale"];

/// Returns the open tasks, newest first.
pub(super) fn open<'a>(tasks: Vec<RankedMemory<'a>>) -> impl Iterator<Item = &'a Arc<Memory>> {
    let tasks: Vec<(&Arc<Memory>, Event)> =
        best_first(tasks).take(LOOKED_AT_MAX).map(|memory| (memory, memory.event())).collect();
    let ended: BTreeSet<String> = tasks
        .iter()
        .filter(|(memory, event)| {
            is_tagged_done(event) && !memory.is_left_out(DisclosureOccasion::Listed)
        })
        .flat_map(|(_, event)| event.tags.iter().map(|tag| tag.trim().to_ascii_uppercase()))
        .collect();
    let is_open = move |(memory, event): &(&Arc<Memory>, Event)| {
        let id = memory.id.as_str().to_ascii_uppercase();
        let short = memory.id.short().to_ascii_uppercase();
        !is_tagged_done(event)
            && !ended.contains(&id)
            && !ended.contains(&short)
            && !memory.about().iter().any(|about| is_ending(&about.event))
    };
    tasks.into_iter().filter(is_open).map(|(memory, _)| memory)
}

fn is_tagged_done(event: &Event) -> bool {
    event.tags.iter().any(|tag| tag.trim().eq_ignore_ascii_case(DONE))
}

/// Tells whether an event about a task ends it.
fn is_ending(event: &Event) -> bool {
    let verdict = event.extra.get("verdict").and_then(|verdict| verdict.as_str());
    ENDING.contains(&event.event_type.as_str())
        || is_tagged_done(event)
        || verdict.is_some_and(|verdict| ENDING_VERDICTS.contains(&verdict))
}
