//! The state of the knowledge in a few figures. Not here: words (`reply`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::findings::{FindingBounds, FindingKind, hubs};
use super::knowledge_graph::AnalysisScope;
use super::{GraphFinding, KnowledgeGraph, clusters, gaps};
use crate::links::Links;
use crate::snapshot::Snapshot;
use event::RepoKey;
use memory::Maturity;

/// The age of a recent memory, in seconds: thirty days.
const RECENT_SECONDS: i64 = 30 * 24 * 3_600;

/// Repositories, kinds and hubs of a summary.
const LISTED_MAX: usize = 4;

/// The state of the knowledge.
#[derive(Debug, Default)]
pub struct KnowledgeSummary {
    /// The number of active memories.
    pub memories: usize,
    /// The number of repositories.
    pub repos: usize,
    /// The number of recent memories.
    pub recent: usize,
    /// The repositories with the most recent memories.
    pub active: Vec<(RepoKey, usize)>,
    /// The most frequent kinds.
    pub kinds: Vec<(String, usize)>,
    /// The number of proven memories.
    pub proven: usize,
    /// The number of established memories.
    pub established: usize,
    /// The memories with the most links.
    pub hubs: Vec<GraphFinding>,
    /// The number of analysed memories without links.
    pub unlinked: usize,
    /// The number of memories that are said more than once.
    pub repeated: usize,
}

/// Adds it up.
#[must_use]
pub fn summarise(snapshot: &Snapshot, links: &Links, scope: &AnalysisScope) -> KnowledgeSummary {
    let mut brief = KnowledgeSummary::default();
    let (mut repos, mut active) = (BTreeMap::new(), BTreeMap::new());
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for memory in snapshot.memories().iter().filter(|memory| scope.contains(memory)) {
        brief.memories += 1;
        *repos.entry(memory.repo.clone()).or_insert(0_usize) += 1;
        *kinds.entry(memory.provenance.kind.as_str().to_owned()).or_default() += 1;
        let age = memory.timestamp.map(|at| scope.now.as_second().saturating_sub(at.as_second()));
        if age.is_some_and(|seconds| seconds <= RECENT_SECONDS) {
            brief.recent += 1;
            *active.entry(memory.repo.clone()).or_insert(0_usize) += 1;
        }
        match memory.maturity() {
            Maturity::Proven => brief.proven += 1,
            Maturity::Established => brief.established += 1,
            Maturity::Candidate => {}
        }
    }
    brief.repos = repos.len();
    (brief.active, brief.kinds) = (most(active), most(kinds));
    brief.hubs = hubs(snapshot, links, scope, FindingBounds { limit: LISTED_MAX, at_least: None });
    let whole = KnowledgeGraph::build(snapshot, links, scope);
    let lonely =
        |finding: &&GraphFinding| matches!(finding.about, FindingKind::Gap { ties: 0, .. });
    brief.unlinked = gaps(&whole, 0, usize::MAX).iter().filter(lonely).count();
    brief.repeated =
        clusters(snapshot, scope, FindingBounds { limit: usize::MAX, at_least: None }).len();
    brief
}

fn most<K: Ord + Clone>(counts: BTreeMap<K, usize>) -> Vec<(K, usize)> {
    let mut counts: Vec<(K, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(name, count)| (Reverse(*count), name.clone()));
    counts.truncate(LISTED_MAX);
    counts
}
