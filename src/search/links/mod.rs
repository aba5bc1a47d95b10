//! What hangs together: memories and places in code, by links that somebody told and by what they have in common,
//! which is found when it is asked for and stored nowhere. The only room that names `petgraph`.
//!
//! Reading order: `spot` (what can stand in the graph), `asserted` (what was told) and `known` (that, kept), `named` (what a memory names),
//! `common` (what things have in common), `walk` (from one thing to the next), `analysis` (the whole of it), `patterns`
//! (what several repositories have learned alike). Not here: what is similar to a question
//! (`search`), words for any of it (`render`).

mod analysis;
mod asserted;
mod inferred;
mod link_cache;
mod names;
mod node_ref;
mod patterns;
mod walk;

#[cfg(test)]
mod tests;

pub use analysis::{
    About, Finding, Gap, IsolatedMemory, KnowledgeGraph, LoggedQuery, MEMORIES_MAX, Scope, Summary,
    bridges, clusters, gaps, grouped, hubs, isolated, summary,
};
pub use asserted::{LinkDetails, LinkEdge, Links};
pub use inferred::{InferredLink, InferredLinks, InferredReason};
pub use link_cache::LinkCache;
pub use names::{Thing, named};
pub use node_ref::{CodePlace, NodeRef};
pub use patterns::{Look, PATTERN, Suggestion, suggestions};
pub use walk::{Step, Walk, Walked, Way, Why, walk};
