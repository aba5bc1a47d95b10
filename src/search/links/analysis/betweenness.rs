//! Betweenness centrality: the share of shortest paths that pass through a node. By U. Brandes, "A faster algorithm
//! for betweenness centrality", Journal of Mathematical Sociology 25, 2001; from a sample of sources, after Brandes
//! and Pich, "Centrality estimation in large networks", 2007. petgraph has none. Not here: its use (`findings`).

use std::collections::VecDeque;

use petgraph::graph::{NodeIndex, UnGraph};

/// Sources, spread evenly: in a graph of half a million edges they take seconds.
const SOURCES_MAX: usize = 64;

/// Returns the betweenness of each node, as a sum over the sources.
pub(super) fn betweenness<N>(graph: &UnGraph<N, ()>) -> Vec<f64> {
    let count = graph.node_count();
    let mut sums = vec![0.0; count];
    let stride = count.div_ceil(SOURCES_MAX).max(1);
    for source in graph.node_indices().step_by(stride) {
        follow(graph, source, &mut sums);
    }
    sums
}

/// A node as seen from one source.
#[derive(Clone, Copy, Default)]
struct VisitedNode {
    /// The distance plus one; 0 for a node that was not reached.
    far: u32,
    /// The number of shortest paths.
    ways: f64,
    /// The share of other nodes' paths that pass through it.
    share: f64,
}

fn follow<N>(graph: &UnGraph<N, ()>, source: NodeIndex, sums: &mut [f64]) {
    let mut seen = vec![VisitedNode::default(); sums.len()];
    let node_at =
        |seen: &[VisitedNode], knot: NodeIndex| seen.get(knot.index()).copied().unwrap_or_default();
    let mut order = Vec::new();
    let mut waiting = VecDeque::from([source]);
    if let Some(first) = seen.get_mut(source.index()) {
        (first.far, first.ways) = (1, 1.0);
    }
    while let Some(knot) = waiting.pop_front() {
        order.push(knot);
        let VisitedNode { far, ways, .. } = node_at(&seen, knot);
        for next in graph.neighbors(knot) {
            let Some(neighbour) = seen.get_mut(next.index()) else { continue };
            if neighbour.far == 0 {
                neighbour.far = far + 1;
                waiting.push_back(next);
            }
            if neighbour.far == far + 1 {
                neighbour.ways += ways;
            }
        }
    }
    for knot in order.into_iter().rev() {
        let VisitedNode { far, ways, .. } = node_at(&seen, knot);
        let share: f64 = graph
            .neighbors(knot)
            .map(|next| node_at(&seen, next))
            .filter(|next| next.far == far + 1)
            .map(|next| ways / next.ways * (1.0 + next.share))
            .sum();
        if let Some(visited) = seen.get_mut(knot.index()) {
            visited.share = share;
        }
        if knot != source
            && let Some(sum) = sums.get_mut(knot.index())
        {
            *sum += share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(edges: &[(u32, u32)]) -> UnGraph<(), ()> {
        UnGraph::from_edges(edges)
    }

    /// Counts every shortest path between every two nodes.
    fn counted(graph: &UnGraph<(), ()>) -> Vec<f64> {
        let mut sums = vec![0.0; graph.node_count()];
        for from in graph.node_indices() {
            for to in graph.node_indices().filter(|to| *to != from) {
                let mut ways: Vec<Vec<NodeIndex>> = vec![vec![from]];
                let mut reached = Vec::new();
                while reached.is_empty() && !ways.is_empty() && ways[0].len() <= graph.node_count()
                {
                    ways = ways
                        .iter()
                        .flat_map(|way| {
                            let next = graph.neighbors(way[way.len() - 1]);
                            next.filter(|next| !way.contains(next))
                                .map(|next| [&way[..], &[next]].concat())
                        })
                        .collect();
                    reached = ways.iter().filter(|way| way.last() == Some(&to)).cloned().collect();
                }
                for way in &reached {
                    for knot in &way[1..way.len() - 1] {
                        sums[knot.index()] += 1.0 / reached.len() as f64;
                    }
                }
            }
        }
        sums
    }

    // S-ANALYZE-2
    #[test]
    fn what_ties_two_parts_together_lies_between() {
        let found = betweenness(&graph(&[(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]));
        assert_eq!(found, [0.0, 0.0, 12.0, 12.0, 0.0, 0.0]);
    }

    proptest! {
        // S-ANALYZE-2
        #[test]
        fn it_is_what_counting_the_ways_gives(edges in prop::collection::btree_set((0_u32..7, 0_u32..7), 0..14)) {
            let edges: std::collections::BTreeSet<(u32, u32)> = edges
                .into_iter()
                .filter(|(a, b)| a != b)
                .map(|(a, b)| (a.min(b), a.max(b)))
                .collect();
            let graph = graph(&edges.into_iter().collect::<Vec<_>>());
            for (found, expected) in betweenness(&graph).into_iter().zip(counted(&graph)) {
                prop_assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }
}
