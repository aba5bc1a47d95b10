//! Hubs, bridges and gaps in the graph of knowledge. Not here: the graph (`knowledge_graph`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::KnowledgeGraph;
use super::betweenness::betweenness;
use super::knowledge_graph::AnalysisScope;
use super::page_rank::page_rank;
use crate::links::{Links, NodeRef};
use crate::snapshot::Snapshot;
use event::Relation;
use memory::Maturity;

/// A memory that stands out, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphFinding {
    /// Its number.
    pub number: u32,
    /// The reason.
    pub about: FindingKind,
}

/// Why a memory stands out.
#[derive(Debug, Clone, PartialEq)]
pub enum FindingKind {
    /// It has many links.
    Hub {
        /// Their number, by relation.
        relations: BTreeMap<Relation, usize>,
        /// Its PageRank among the linked memories, 0 to 1: memories that many link link to it.
        rank: f64,
    },
    /// It connects memories of several kinds.
    Bridge {
        /// The estimated number of shortest paths through it.
        ways: f64,
        /// The number of memories of each kind.
        kinds: BTreeMap<String, usize>,
    },
    /// It has few links.
    Gap {
        /// Their number.
        ties: usize,
        /// Its maturity.
        maturity: Maturity,
    },
    /// Other memories say the same.
    Cluster(Vec<u32>),
}

/// The most links of a gap, unless another number is wanted.
pub const TIES_MAX: usize = 1;

/// How many findings are wanted, and from which size on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingBounds {
    /// Most findings.
    pub limit: usize,
    /// The fewest links of a hub, kinds of a bridge or lessons of a cluster; without it 1, 2 and 2.
    pub at_least: Option<usize>,
}

/// Finds the memories with the most stated links, among equals those of the higher rank. Automatic and ended links do not count, nor do links to inactive
/// memories.
#[must_use]
pub fn hubs(
    snapshot: &Snapshot,
    links: &Links,
    scope: &AnalysisScope,
    wanted: FindingBounds,
) -> Vec<GraphFinding> {
    let mut stated = Vec::new();
    let mut counts: BTreeMap<u32, BTreeMap<Relation, usize>> = BTreeMap::new();
    for (source, target, said) in links.all() {
        let is_inactive = |node_ref: &NodeRef| match node_ref {
            NodeRef::Memory(number) => {
                snapshot.memory(*number).is_none_or(|memory| memory.is_inactive(scope.now))
            }
            NodeRef::Absent(_) | NodeRef::Code(_) => false,
        };
        let is_dead = is_inactive(source) || is_inactive(target);
        if said.is_automatic() || !said.holds_at(scope.now) || is_dead {
            continue;
        }
        if let (NodeRef::Memory(source), NodeRef::Memory(target)) = (source, target) {
            stated.push((*source, *target));
        }
        for node_ref in [source, target] {
            if let NodeRef::Memory(number) = node_ref {
                *counts.entry(*number).or_default().entry(said.relation).or_default() += 1;
            }
        }
    }
    counts
        .retain(|number, _| snapshot.memory(*number).is_some_and(|memory| scope.contains(memory)));
    let ranks = page_rank(&stated);
    let rank = |number: u32| ranks.get(&number).copied().unwrap_or_default();
    let mut hubs: Vec<(usize, u32, BTreeMap<Relation, usize>)> = counts
        .into_iter()
        .map(|(number, relations)| (relations.values().sum(), number, relations))
        .collect();
    hubs.retain(|(count, ..)| *count >= wanted.at_least.unwrap_or(1));
    hubs.sort_by(|(count, number, _), (other, next, _)| {
        other.cmp(count).then(rank(*next).total_cmp(&rank(*number))).then(number.cmp(next))
    });
    hubs.truncate(wanted.limit);
    let about = |number, relations| FindingKind::Hub { relations, rank: rank(number) };
    let found = hubs.into_iter().map(|(_, number, relations)| (number, about(number, relations)));
    found.map(|(number, about)| GraphFinding { number, about }).collect()
}

/// Finds the memories that connect memories of two kinds or more, by the shortest paths through them.
#[must_use]
pub fn bridges(
    snapshot: &Snapshot,
    whole: &KnowledgeGraph,
    wanted: FindingBounds,
) -> Vec<GraphFinding> {
    let sums = betweenness(&whole.graph);
    let ways = |number: u32| {
        let place = whole.places.get(&number)?;
        sums.get(place.index()).copied().filter(|ways| *ways > 0.0)
    };
    let mut ranked: Vec<(f64, u32)> =
        whole.places.keys().filter_map(|number| Some((ways(*number)?, *number))).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let kinds = |number: u32| -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for other in whole.near(number) {
            if let Some(memory) = snapshot.memory(other) {
                *kinds.entry(memory.provenance.kind.as_str().to_owned()).or_default() += 1;
            }
        }
        kinds
    };
    let bridges = ranked.into_iter().map(|(ways, number)| (ways, number, kinds(number)));
    bridges
        .filter(|(_, _, kinds)| kinds.len() >= wanted.at_least.unwrap_or(2).max(2))
        .take(wanted.limit)
        .map(|(ways, number, kinds)| GraphFinding {
            number,
            about: FindingKind::Bridge { ways, kinds },
        })
        .collect()
}

/// Finds the memories with at most so many links: the most mature first, then the newest.
#[must_use]
pub fn gaps(whole: &KnowledgeGraph, ties_max: usize, limit: usize) -> Vec<GraphFinding> {
    let mut gaps: Vec<(Reverse<u8>, usize, u32, Maturity)> = (0..)
        .zip(&whole.newest)
        .filter_map(|(age, (number, memory))| {
            let is_gap = whole.ties_of(*number) <= ties_max;
            is_gap.then(|| (Reverse(worth(memory.maturity())), age, *number, memory.maturity()))
        })
        .collect();
    gaps.sort_by_key(|(worth, age, ..)| (*worth, *age));
    gaps.truncate(limit);
    gaps.into_iter()
        .map(|(_, _, number, maturity)| GraphFinding {
            number,
            about: FindingKind::Gap { ties: whole.ties_of(number), maturity },
        })
        .collect()
}

fn worth(maturity: Maturity) -> u8 {
    match maturity {
        Maturity::Candidate => 0,
        Maturity::Established => 1,
        Maturity::Proven => 2,
    }
}
