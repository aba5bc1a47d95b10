//! The memories that stated links join to the hits of a search, one step away. Not here: longer walks, and links that
//! are inferred (`walk`).

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use super::{LinkEdge, Links, NodeRef};
use crate::filter::Filter;
use crate::hit::{Hit, Tier};
use crate::snapshot::Snapshot;
use event::{Relation, Timestamp};
use memory::Memory;

/// Most linked memories for all hits of a reply.
const LINKED_MAX: usize = 3;

/// A memory that a link joins to a hit.
#[derive(Debug, Clone)]
pub struct LinkedMemory {
    /// The memory.
    pub memory: Arc<Memory>,
    /// The place of the hit among all hits, from 0.
    pub hit: usize,
    /// The relation.
    pub relation: Relation,
    /// Whether the link leads from the hit to the memory.
    pub is_outward: bool,
}

/// Follows the stated links of the likely hits, the best hit first; of one hit the strongest and then the newest link
/// first. Returns at most three memories, each once. Automatic and ended links do not count, nor do memories that are
/// hits themselves, are inactive, read like an instruction or do not pass the filter.
#[must_use]
pub fn linked_memories(
    snapshot: &Snapshot,
    links: &Links,
    hits: &[Hit],
    filter: &Filter,
    now: Timestamp,
) -> Vec<LinkedMemory> {
    let mut seen: HashSet<u32> = hits.iter().map(|hit| hit.number).collect();
    let mut found = Vec::new();
    for (place, hit) in hits.iter().enumerate().filter(|(_, hit)| hit.tier == Tier::Likely) {
        let is_followed =
            |edge: &LinkEdge<'_>| !edge.details.is_automatic() && edge.details.holds_at(now);
        let mut edges: Vec<LinkEdge<'_>> =
            links.edges_at(&NodeRef::Memory(hit.number)).filter(is_followed).collect();
        edges.sort_by_key(|edge| Reverse((edge.details.strength, edge.details.since)));
        for edge in edges {
            let NodeRef::Memory(number) = edge.to else { continue };
            let Some(memory) = snapshot.memory(*number) else { continue };
            let is_shown = !memory.is_inactive(now)
                && !memory.is_lost()
                && memory.flagged().is_none()
                && filter.allows(memory);
            if !is_shown || !seen.insert(*number) {
                continue;
            }
            found.push(LinkedMemory {
                memory: Arc::clone(memory),
                hit: place,
                relation: edge.details.relation,
                is_outward: edge.is_outward,
            });
            if found.len() == LINKED_MAX {
                return found;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{now, snapshot};

    fn lesson(id: &str) -> Value {
        json!({"id": id, "event_type": "error", "lesson": format!("lesson {id}")})
    }

    fn link(id: &str, from: &str, relation: &str, to: &str, strength: f64) -> Value {
        json!({"id": id, "memory_id": from, "event_type": "link", "target": to, "relation": relation,
            "strength": strength})
    }

    /// The linked memories of the hit m1, as "relation id"; "<" marks a link that leads to the hit.
    fn of_first(lines: &[Value], filter: &Filter) -> Vec<String> {
        let snapshot = snapshot(lines);
        let mut hits = crate::search(&snapshot, &crate::Query::default(), now(), 50);
        hits.retain(|hit| hit.memory.id.as_str() == "m1");
        let linked =
            linked_memories(&snapshot, &Links::collect(&snapshot, None), &hits, filter, now());
        let named = linked.iter().map(|one| {
            let way = if one.is_outward { "" } else { "<" };
            format!("{way}{} {}", one.relation.as_str(), one.memory.id)
        });
        named.collect()
    }

    // S-RANK-11
    #[test]
    fn stated_links_are_followed_one_step_both_ways() {
        let mut lines: Vec<Value> = ["m1", "m2", "m3", "m4", "m5", "m6"].map(lesson).to_vec();
        lines.extend([
            link("l1", "m1", "caused_by", "m2", 0.4),
            link("l2", "m3", "related_to", "m1", 0.9),
            link("l3", "m2", "related_to", "m4", 1.0),
        ]);
        let all = Filter::default();
        assert_eq!(
            of_first(&lines, &all),
            ["<related_to m3", "caused_by m2"],
            "the strongest first"
        );
        lines.push(
            json!({"id": "f1", "memory_id": "m2", "event_type": "retract", "reason": "wrong"}),
        );
        assert_eq!(of_first(&lines, &all), ["<related_to m3"], "a forgotten memory is not shown");
        let ended = json!({"id": "u1", "memory_id": "m3", "event_type": "unlink", "relation": "related_to",
            "target": "m1", "timestamp": "2026-01-01T00:00:00Z"});
        lines.push(ended);
        assert_eq!(of_first(&lines, &all), Vec::<String>::new());
    }

    // S-RANK-11
    #[test]
    fn at_most_three_that_pass_the_filter_are_shown() {
        let mut lines: Vec<Value> = ["m1", "m2", "m3", "m4", "m5"].map(lesson).to_vec();
        for to in ["m2", "m3", "m4", "m5"] {
            lines.push(link(&format!("to-{to}"), "m1", "related_to", to, 0.5));
        }
        assert_eq!(of_first(&lines, &Filter::default()).len(), LINKED_MAX);
        let other = Filter { kinds: vec!["fix".to_owned()], ..Filter::default() };
        assert_eq!(of_first(&lines, &other), Vec::<String>::new());
    }
}
