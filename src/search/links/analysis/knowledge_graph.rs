//! Memories, what they name, and stated links, as one undirected graph. Not here: what is computed on it
//! (`findings`, `betweenness`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use petgraph::graph::{NodeIndex, UnGraph};

use super::super::{Links, NamedEntity, NodeRef, named_entities};
use crate::snapshot::Snapshot;
use event::{RepoKey, Timestamp};
use memory::Memory;

/// The newest memories that are analysed: extracting the names of one takes some microseconds.
pub const MEMORIES_MAX: usize = 20_000;

/// A name that more memories have links none of them.
const NAMED_BY_MAX: usize = 24;

/// The memories that are analysed.
#[derive(Debug, Clone)]
pub struct AnalysisScope {
    /// Only these repositories; `None` for all.
    pub repos: Option<BTreeSet<RepoKey>>,
    /// The time at which memories must count.
    pub now: Timestamp,
}

impl AnalysisScope {
    /// Tells whether a memory is in scope.
    #[must_use]
    pub fn contains(&self, memory: &Memory) -> bool {
        self.repos.as_ref().is_none_or(|repos| repos.contains(&memory.repo))
            && !memory.is_inactive(self.now)
    }

    /// Returns the newest memories in scope, newest first, and the number of all.
    #[must_use]
    pub fn newest(&self, snapshot: &Snapshot) -> (Vec<(u32, Arc<Memory>)>, usize) {
        let memories = (0..).zip(snapshot.memories().iter());
        let mut all: Vec<(u32, Arc<Memory>)> = memories
            .filter(|(_, memory)| self.contains(memory))
            .map(|(number, memory)| (number, Arc::clone(memory)))
            .collect();
        all.sort_by_cached_key(|(_, memory)| Reverse((memory.timestamp, memory.id.clone())));
        let count = all.len();
        all.truncate(MEMORIES_MAX);
        (all, count)
    }
}

/// A node of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraphNode {
    /// A memory.
    Memory(u32),
    /// A name that several memories or a link have.
    Named,
}

/// The analysed memories and their links.
#[derive(Debug)]
pub struct KnowledgeGraph {
    pub(super) graph: UnGraph<GraphNode, ()>,
    pub(super) places: BTreeMap<u32, NodeIndex>,
    /// The analysed memories, the newest first.
    pub(super) newest: Vec<(u32, Arc<Memory>)>,
    /// The number of all memories in scope.
    pub count: usize,
}

/// The identity of a name: a file or a name of code belongs to its repository.
type Key = (Option<RepoKey>, NamedEntity);

fn key(repo: &RepoKey, thing: NamedEntity) -> Key {
    let is_local =
        matches!(thing, NamedEntity::File(_) | NamedEntity::Symbol(_) | NamedEntity::Port(_));
    (is_local.then(|| repo.clone()), thing)
}

impl KnowledgeGraph {
    /// Builds the graph.
    #[must_use]
    pub fn build(snapshot: &Snapshot, links: &Links, scope: &AnalysisScope) -> Self {
        let (newest, count) = scope.newest(snapshot);
        let mut graph = UnGraph::default();
        let mut places = BTreeMap::new();
        let mut naming: BTreeMap<Key, Vec<NodeIndex>> = BTreeMap::new();
        for (number, memory) in &newest {
            let place = graph.add_node(GraphNode::Memory(*number));
            places.insert(*number, place);
            for thing in named_entities(&memory.event()) {
                naming.entry(key(&memory.repo, thing)).or_default().push(place);
            }
        }
        let mut things: HashMap<Key, NodeIndex> = HashMap::new();
        for (key, by) in naming {
            if (2..=NAMED_BY_MAX).contains(&by.len()) {
                let thing = graph.add_node(GraphNode::Named);
                for memory in by {
                    graph.add_edge(memory, thing, ());
                }
                things.insert(key, thing);
            }
        }
        let mut whole = Self { graph, places, newest, count };
        whole.link(links, scope, &mut things);
        whole
    }

    /// Adds the stated links of the analysed memories.
    fn link(&mut self, links: &Links, scope: &AnalysisScope, things: &mut HashMap<Key, NodeIndex>) {
        for (source, target, said) in links.all().filter(|(_, _, said)| said.holds_at(scope.now)) {
            // A link between two places in code does not connect memories.
            if !matches!((source, target), (NodeRef::Memory(_), _) | (_, NodeRef::Memory(_))) {
                continue;
            }
            let mut place = |node_ref: &NodeRef| match node_ref {
                NodeRef::Memory(number) => self.places.get(number).copied(),
                NodeRef::Absent(_) => None,
                NodeRef::Code(code) => {
                    let key = key(&said.repo, NamedEntity::File(code.path.clone()));
                    Some(
                        *things.entry(key).or_insert_with(|| self.graph.add_node(GraphNode::Named)),
                    )
                }
            };
            if let (Some(source), Some(target)) = (place(source), place(target)) {
                self.graph.update_edge(source, target, ());
            }
        }
    }

    /// Counts the links of a memory.
    #[must_use]
    pub fn ties_of(&self, number: u32) -> usize {
        self.places.get(&number).map_or(0, |place| self.graph.neighbors(*place).count())
    }

    /// Returns the memories that are linked to a memory, directly or by a common name, each once.
    pub(super) fn near(&self, number: u32) -> BTreeSet<u32> {
        let mut near = BTreeSet::new();
        let Some(place) = self.places.get(&number) else { return near };
        for neighbour in self.graph.neighbors(*place) {
            match self.graph.node_weight(neighbour) {
                Some(GraphNode::Memory(other)) => drop(near.insert(*other)),
                Some(GraphNode::Named) => {
                    let others = self.graph.neighbors(neighbour);
                    near.extend(others.filter_map(|other| match self.graph.node_weight(other)? {
                        GraphNode::Memory(other) => Some(*other),
                        GraphNode::Named => None,
                    }));
                }
                None => {}
            }
        }
        near.remove(&number);
        near
    }
}
