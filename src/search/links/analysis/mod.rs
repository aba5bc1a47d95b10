//! Analyses of the whole graph: hubs, bridges, gaps, clusters, failed searches. Pure and bounded: of a large store
//! the newest memories are analysed. Not here: words (`reply`).

mod betweenness;
mod clusters;
mod failed_searches;
mod findings;
mod isolated;
mod knowledge_graph;
mod link_counts;
mod page_rank;
mod summary;

#[cfg(test)]
mod tests;

pub use clusters::clusters;
pub use failed_searches::{Gap, LoggedQuery, grouped};
pub use findings::{Finding, FindingBounds, FindingKind, TIES_MAX, bridges, gaps, hubs};
pub use isolated::{IsolatedMemory, isolated};
pub use knowledge_graph::{KnowledgeGraph, MEMORIES_MAX, Scope};
pub use link_counts::LinkCounts;
pub use summary::{Summary, summary};
