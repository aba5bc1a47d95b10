//! The graph of memories and places in code: stated links, and links inferred on demand. The only folder that names
//! `petgraph`.
//!
//! Reading order: `node_ref` (what can be a node), `asserted` (stated links) and `link_cache`, `linked` (next to hits), `names` (what a
//! memory names), `inferred` (inferred links), `walk` (from one node to the next), `analysis` (the whole graph),
//! `patterns` (the same fix in several repositories). Not here: search by text (`pipeline`), words for any of it
//! (`reply`).

mod analysis;
mod asserted;
mod inferred;
mod link_cache;
mod linked;
mod names;
mod node_ref;
mod patterns;
mod walk;

#[cfg(test)]
mod tests;

pub use analysis::{
    Finding, FindingBounds, FindingKind, Gap, IsolatedMemory, KnowledgeGraph, LinkCounts,
    LoggedQuery, MEMORIES_MAX, Scope, Summary, TIES_MAX, bridges, clusters, gaps, grouped, hubs,
    isolated, summary,
};
pub use asserted::{LinkDetails, LinkEdge, Links};
pub use inferred::{InferredLink, InferredLinks, InferredReason};
pub use link_cache::LinkCache;
pub use linked::{LinkedMemory, linked};
pub use names::{Thing, named};
pub use node_ref::{CodePlace, NodeRef};
pub use patterns::{FailureSignature, PATTERN, Suggestion, suggestions};
pub use walk::{LinkDirection, LinkReason, Step, WalkOptions, WalkResult, walk};
