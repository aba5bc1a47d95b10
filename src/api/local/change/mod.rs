//! Everything that writes: saving, changes of memories, and links. Not here: the door to the logs (`writer`).

pub(super) mod bulk_change;
pub(super) mod contradictions;
pub(super) mod duplicates;
pub(super) mod links;
pub(super) mod memory_change;
pub(super) mod save;
pub(super) mod write;
