//! What the whole of it looks like: what much hangs on, what ties parts together, what stands alone, what is there
//! several times, and what was looked for in vain. Pure, and bounded: of a large store the newest memories are looked
//! at. Not here: words for it (`render`).

mod betweenness;
mod clusters;
mod failed_searches;
mod findings;
mod isolated;
mod knowledge_graph;
mod summary;

#[cfg(test)]
mod tests;

pub use clusters::clusters;
pub use failed_searches::{Gap, LoggedQuery, grouped};
pub use findings::{About, Finding, bridges, gaps, hubs};
pub use isolated::{IsolatedMemory, isolated};
pub use knowledge_graph::{KnowledgeGraph, MEMORIES_MAX, Scope};
pub use summary::{Summary, summary};
