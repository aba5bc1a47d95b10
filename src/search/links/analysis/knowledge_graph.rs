//! Memories, what they name, and stated links, as one undirected graph. Not here: what is computed on it
//! (`findings`, `betweenness`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use petgraph::graph::{NodeIndex, UnGraph};

use super::super::{Links, NodeRef, Thing, named};
use crate::snapshot::Snapshot;
use event::{RepoKey, Timestamp};
use memory::Memory;

/// So many of the newest memories are looked at: reading what each names takes some microseconds.
pub const MEMORIES_MAX: usize = 20_000;

/// What more memories name than so many ties none of them to another.
const NAMED_BY_MAX: usize = 24;

/// What is looked at.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Only these repositories; `None` for all.
    pub repos: Option<BTreeSet<RepoKey>>,
    /// The time at which memories must count.
    pub now: Timestamp,
}

impl Scope {
    /// Tells whether a memory is looked at.
    #[must_use]
    pub fn has(&self, memory: &Memory) -> bool {
        self.repos.as_ref().is_none_or(|repos| repos.contains(&memory.repo))
            && !memory.is_inactive(self.now)
    }

    /// Returns the newest memories that are looked at, the newest first, and how many there are in all.
    #[must_use]
    pub fn newest(&self, snapshot: &Snapshot) -> (Vec<(u32, Arc<Memory>)>, usize) {
        let memories = (0..).zip(snapshot.memories().iter());
        let mut all: Vec<(u32, Arc<Memory>)> = memories
            .filter(|(_, memory)| self.has(memory))
            .map(|(number, memory)| (number, Arc::clone(memory)))
            .collect();
        all.sort_by_cached_key(|(_, memory)| Reverse((memory.timestamp, memory.id.clone())));
        let count = all.len();
        all.truncate(MEMORIES_MAX);
        (all, count)
    }
}

/// One knot of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraphNode {
    /// A memory.
    Memory(u32),
    /// Something that several memories name, or a link does.
    Named,
}

/// Everything that is looked at, and how it hangs together.
#[derive(Debug)]
pub struct KnowledgeGraph {
    pub(super) graph: UnGraph<GraphNode, ()>,
    pub(super) places: BTreeMap<u32, NodeIndex>,
    /// The memories that are looked at, the newest first.
    pub(super) newest: Vec<(u32, Arc<Memory>)>,
    /// How many there are in all.
    pub count: usize,
}

/// What tells one thing from another: a file or a name of code is one of its repository.
type Key = (Option<RepoKey>, Thing);

fn key(repo: &RepoKey, thing: Thing) -> Key {
    let is_local = matches!(thing, Thing::File(_) | Thing::Symbol(_));
    (is_local.then(|| repo.clone()), thing)
}

impl KnowledgeGraph {
    /// Puts it together.
    #[must_use]
    pub fn of(snapshot: &Snapshot, links: &Links, scope: &Scope) -> Self {
        let (newest, count) = scope.newest(snapshot);
        let mut graph = UnGraph::default();
        let mut places = BTreeMap::new();
        let mut naming: BTreeMap<Key, Vec<NodeIndex>> = BTreeMap::new();
        for (number, memory) in &newest {
            let place = graph.add_node(GraphNode::Memory(*number));
            places.insert(*number, place);
            for thing in named(&memory.event()) {
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

    /// Adds what links tell of what is looked at.
    fn link(&mut self, links: &Links, scope: &Scope, things: &mut HashMap<Key, NodeIndex>) {
        for (source, target, said) in links.all().filter(|(_, _, said)| said.holds_at(scope.now)) {
            // Of two places in code nothing is known that would tie memories together.
            if !matches!((source, target), (NodeRef::Memory(_), _) | (_, NodeRef::Memory(_))) {
                continue;
            }
            let mut place = |spot: &NodeRef| match spot {
                NodeRef::Memory(number) => self.places.get(number).copied(),
                NodeRef::Absent(_) => None,
                NodeRef::Code(code) => {
                    let key = key(&said.repo, Thing::File(code.path.clone()));
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

    /// Counts what a memory is tied to.
    #[must_use]
    pub fn ties_of(&self, number: u32) -> usize {
        self.places.get(&number).map_or(0, |place| self.graph.neighbors(*place).count())
    }

    /// Returns the memories that are tied to a memory, over something both name too, each once.
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
