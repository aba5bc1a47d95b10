//! PageRank: the share of time that somebody who follows links at random spends at a node. By S. Brin and L. Page, "The anatomy of
//! a large-scale hypertextual Web search engine", Computer Networks 30, 1998. petgraph's takes time in the square of the nodes. Not
//! here: its use (`findings`).

use std::collections::BTreeMap;

/// How often a link is followed rather than a new beginning made, as in the paper.
const FOLLOWED: f64 = 0.85;

/// Rounds at most; after each the error is a seventh smaller.
const ROUNDS_MAX: usize = 60;

/// The change of all ranks together below which they are known well enough.
const CHANGE_MIN: f64 = 1e-6;

/// Returns the rank of each node of the links, which point from the first to the second; all ranks together are one.
pub(super) fn page_rank(links: &[(u32, u32)]) -> BTreeMap<u32, f64> {
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for (source, target) in links {
        for node in [source, target] {
            let next = places.len();
            places.entry(*node).or_insert(next);
        }
    }
    let place = |node: &u32| places.get(node).copied().unwrap_or_default();
    let links: Vec<(usize, usize)> =
        links.iter().map(|(source, target)| (place(source), place(target))).collect();
    let ranks = ranks(&links, places.len());
    places.into_iter().filter_map(|(node, place)| Some((node, *ranks.get(place)?))).collect()
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer nodes than 2^52")]
fn ranks(links: &[(usize, usize)], nodes: usize) -> Vec<f64> {
    if nodes == 0 {
        return Vec::new();
    }
    let even = 1.0 / nodes as f64;
    let mut outgoing = vec![0.0; nodes];
    for (source, _) in links {
        add(&mut outgoing, *source, 1.0);
    }
    let mut ranks = vec![even; nodes];
    for _ in 0..ROUNDS_MAX {
        // What ends in nodes without links begins anywhere.
        let stuck: f64 =
            ranks.iter().zip(&outgoing).filter(|(_, out)| **out < 0.5).map(|(rank, _)| rank).sum();
        let mut next = vec![(1.0 - FOLLOWED) * even + FOLLOWED * stuck * even; nodes];
        for (source, target) in links {
            let at = |ranks: &[f64]| ranks.get(*source).copied().unwrap_or_default();
            add(&mut next, *target, FOLLOWED * at(&ranks) / at(&outgoing));
        }
        let change: f64 = ranks.iter().zip(&next).map(|(old, new)| (old - new).abs()).sum();
        ranks = next;
        if change < CHANGE_MIN {
            break;
        }
    }
    ranks
}

fn add(numbers: &mut [f64], place: usize, more: f64) {
    if let Some(number) = numbers.get_mut(place) {
        *number += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-ANALYZE-2
    #[test]
    fn ranks_are_those_of_a_calculation_by_hand() {
        // Two nodes that link each other share evenly.
        let pair = page_rank(&[(1, 2), (2, 1)]);
        assert!(pair.values().all(|rank| (rank - 0.5).abs() < 1e-4), "{pair:?}");
        // Of a chain of two, x = 0.15/2 + 0.85 y/2 and y = 0.15/2 + 0.85 (x + y/2); together one.
        let chain = page_rank(&[(1, 2)]);
        let x = 1.0 / 2.85;
        assert!((chain[&1] - x).abs() < 1e-4 && (chain[&2] - (1.0 - x)).abs() < 1e-4, "{chain:?}");
        // What a much linked node links is worth more than what an unlinked one links.
        let star = page_rank(&[(1, 9), (2, 9), (3, 9), (9, 5), (4, 6)]);
        assert!(star[&5] > star[&6] && star[&9] > star[&6], "{star:?}");
        let sum: f64 = star.values().sum();
        assert!((sum - 1.0).abs() < 1e-4 && page_rank(&[]).is_empty());
    }
}
