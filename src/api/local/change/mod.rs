//! Everything that writes: saving a memory (compared with what is known in `duplicates`), changes of one memory or of many, links,
//! and patterns. Not here: the door to the logs (`writer`), what the events add up to (`memory`).

mod bulk_change;
mod duplicates;
mod links;
mod memory_change;
mod patterns;
mod save;
mod write;

pub(super) use bulk_change::sweep;
pub(super) use links::link;
pub(super) use memory_change::change;
pub(super) use patterns::patterns;
pub(super) use save::save;
