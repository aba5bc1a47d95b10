//! The graph of memories and places in code: stated links, and links inferred on demand. The only folder that names
//! `petgraph`.
//!
//! Reading order: `node_ref` (what can be a node), `asserted` (stated links) and `link_cache`, `linked` (next to hits), `names` (what a
//! memory names), `inferred` (inferred links), `walk` (from one node to the next), `analysis` (the whole graph),
//! `patterns` (the same fix in several repositories). Not here: search by text (`pipeline`), words for any of it
//! (`reply`).

mod analysis;
mod inferred_links;
mod link_cache;
mod linked_memories;
mod named_entities;
mod node_ref;
mod patterns;
mod stated_links;
mod walk;

#[cfg(test)]
mod tests;

pub use analysis::{
    AnalysisScope, FindingBounds, FindingKind, GraphFinding, IsolatedMemory, KnowledgeGap,
    KnowledgeGraph, KnowledgeSummary, LinkCounts, LoggedQuery, MEMORIES_MAX, TIES_MAX, bridges,
    clusters, gaps, group_queries, hubs, isolated_memories, summarise,
};
pub use inferred_links::{InferredLink, InferredLinks, InferredReason};
pub use link_cache::LinkCache;
pub use linked_memories::{LinkedMemory, linked_memories};
pub use named_entities::{NamedEntity, named_entities};
pub use node_ref::{CodePlace, NodeRef};
pub use patterns::{FailureSignature, PATTERN, PatternSuggestion, pattern_suggestions};
pub use stated_links::{LinkDetails, LinkEdge, Links};
pub use walk::{LinkDirection, LinkReason, WalkOptions, WalkResult, WalkStep, walk};
