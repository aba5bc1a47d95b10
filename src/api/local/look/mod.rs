//! Looks at one thing: a memory, what is related to it, the work tree, and the state of the store. Not here: searches (`find`).

pub(super) mod link_nodes;
pub(super) mod related;
pub(super) mod staleness;
pub(super) mod status;
