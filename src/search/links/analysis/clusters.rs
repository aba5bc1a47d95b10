//! Clusters of memories of one repository that are much alike. Not here: when two texts are (`dedup`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use petgraph::unionfind::UnionFind;

use super::findings::{FindingBounds, FindingKind, GraphFinding};
use super::knowledge_graph::AnalysisScope;
use crate::TextSignature;
use crate::snapshot::Snapshot;

/// Memories of one group that are compared pair by pair; of more, the newest.
const COMPARED_MAX: usize = 600;

/// Finds the clusters, the largest first; each as its newest memory and the others.
#[must_use]
pub fn clusters(
    snapshot: &Snapshot,
    scope: &AnalysisScope,
    wanted: FindingBounds,
) -> Vec<GraphFinding> {
    let (newest, _) = scope.newest(snapshot);
    // Texts that differ in a number, a name of code or a "not" are never the same.
    let mut alike: BTreeMap<_, Vec<(usize, TextSignature)>> = BTreeMap::new();
    for (place, (_, memory)) in newest.iter().enumerate() {
        if let Some(said) = TextSignature::from_event(&memory.event()) {
            alike
                .entry((memory.repo.clone(), said.decisive_hash()))
                .or_default()
                .push((place, said));
        }
    }
    let mut joined: UnionFind<usize> = UnionFind::new(newest.len());
    for group in alike.values() {
        let group = group.get(..COMPARED_MAX).unwrap_or(group);
        for (at, (one, said)) in group.iter().enumerate() {
            for (other, also) in group.get(at + 1..).unwrap_or_default() {
                if !joined.equiv(*one, *other) && said.is_much_like(also) {
                    joined.union(*one, *other);
                }
            }
        }
    }
    let mut members: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (place, (number, _)) in newest.iter().enumerate() {
        members.entry(joined.find(place)).or_default().push(*number);
    }
    let mut clusters: Vec<Vec<u32>> = members.into_values().collect();
    clusters.retain(|all| all.len() >= wanted.at_least.unwrap_or(2).max(2));
    clusters.sort_by_key(|all| (Reverse(all.len()), all.first().copied()));
    clusters.truncate(wanted.limit);
    clusters
        .into_iter()
        .filter_map(|all| {
            let (first, others) = all.split_first()?;
            Some(GraphFinding { number: *first, about: FindingKind::Cluster(others.to_vec()) })
        })
        .collect()
}
