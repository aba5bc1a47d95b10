//! Analyses of the whole graph: hubs, bridges, gaps, clusters, failed searches. Pure and bounded: of a large store
//! the newest memories are analysed. Not here: words (`reply`).

mod betweenness;
mod clusters;
mod failed_searches;
mod findings;
mod isolated_memories;
mod knowledge_graph;
mod link_counts;
mod page_rank;
mod summary;

#[cfg(test)]
mod tests;

pub use clusters::clusters;
pub use failed_searches::{KnowledgeGap, LoggedQuery, group_queries};
pub use findings::{FindingBounds, FindingKind, GraphFinding, TIES_MAX, bridges, gaps, hubs};
pub use isolated_memories::{IsolatedMemory, isolated_memories};
pub use knowledge_graph::{AnalysisScope, KnowledgeGraph, MEMORIES_MAX};
pub use link_counts::LinkCounts;
pub use summary::{KnowledgeSummary, summarise};
