//! How many links there are, by relation and by who stated them. Not here: the memories with the most (`findings`).

use std::collections::{BTreeMap, BTreeSet};

use super::AnalysisScope;
use crate::links::{Links, NodeRef};
use crate::snapshot::Snapshot;
use event::Relation;

/// The links that hold, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// All of them.
    pub links: usize,
    /// Those that a program made by itself.
    pub automatic: usize,
    /// By relation.
    pub relations: BTreeMap<Relation, usize>,
    /// Memories with a link.
    pub memories: usize,
    /// Places in code with a link.
    pub places: usize,
    /// Memories that links name and no log has.
    pub absent: usize,
}

impl LinkCounts {
    /// Counts the links of which one end at least is in the scope.
    #[must_use]
    pub fn count(snapshot: &Snapshot, links: &Links, scope: &AnalysisScope) -> Self {
        let is_in = |node_ref: &NodeRef| match node_ref {
            NodeRef::Memory(number) => {
                snapshot.memory(*number).is_some_and(|memory| scope.contains(memory))
            }
            NodeRef::Code(place) => {
                scope.repos.as_ref().is_none_or(|repos| repos.contains(&place.repo))
            }
            NodeRef::Absent(_) => false,
        };
        let mut counts = Self::default();
        let mut ends: BTreeSet<&NodeRef> = BTreeSet::new();
        for (source, target, said) in links.all() {
            if !said.holds_at(scope.now) || !(is_in(source) || is_in(target)) {
                continue;
            }
            counts.links += 1;
            counts.automatic += usize::from(said.is_automatic());
            *counts.relations.entry(said.relation).or_default() += 1;
            ends.extend([source, target]);
        }
        for end in ends {
            *match end {
                NodeRef::Memory(_) => &mut counts.memories,
                NodeRef::Code(_) => &mut counts.places,
                NodeRef::Absent(_) => &mut counts.absent,
            } += 1;
        }
        counts
    }
}
