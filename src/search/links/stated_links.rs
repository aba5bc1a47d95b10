//! The links that people and agents stated, as a graph of one snapshot, with replacements, which are links too. Not
//! here: how events make a link (`memory::ties`), links that are inferred (`inferred_links`).

use std::collections::HashMap;
use std::sync::Arc;

use petgraph::Direction;
use petgraph::algo::astar;
use petgraph::graph::{Graph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};

use super::{CodePlace, NodeRef};
use crate::snapshot::Snapshot;
use event::{AUTO, EventId, Link, MANUAL, Node, Relation, RepoKey, Strength, Timestamp};
use memory::{IdShare, LifecycleState, Memory, Tie, ties};

/// The links of a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Links {
    graph: Graph<NodeRef, LinkDetails>,
    places: HashMap<NodeRef, NodeIndex>,
}

/// The details of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkDetails {
    /// Its repository.
    pub repo: RepoKey,
    /// When it was last stated.
    pub since: Option<Timestamp>,
    /// The relation.
    pub relation: Relation,
    /// Its strength.
    pub strength: Strength,
    /// Its origin.
    pub origin: String,
    /// The time from which it holds.
    pub valid_from: Option<Timestamp>,
    /// The time until which it holds.
    pub valid_to: Option<Timestamp>,
}

/// A link, seen from one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkEdge<'a> {
    /// The other end.
    pub to: &'a NodeRef,
    /// Whether it leads to the other end, instead of from it.
    pub is_outward: bool,
    /// Its details.
    pub details: &'a LinkDetails,
}

impl LinkDetails {
    /// Tells whether it holds at a time.
    #[must_use]
    pub fn holds_at(&self, time: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= time) && self.valid_to.is_none_or(|to| time < to)
    }

    /// Tells whether a program made the link by itself.
    #[must_use]
    pub fn is_automatic(&self) -> bool {
        self.origin == AUTO
    }

    /// Tells whether it equals a link.
    #[must_use]
    pub fn equals(&self, link: &Link) -> bool {
        let times = (self.valid_from, self.valid_to) == (link.valid_from, link.valid_to);
        times
            && (self.relation, self.strength) == (link.relation, link.strength)
            && self.origin == link.origin
    }
}

impl From<Tie> for LinkDetails {
    fn from(tie: Tie) -> Self {
        let Tie { repo, since, link } = tie;
        let Link { target: _, relation, strength, valid_from, valid_to, origin } = link;
        Self { repo, since, relation, strength, origin, valid_from, valid_to }
    }
}

impl Links {
    /// Collects the links stated by `until`, or all of them. Takes time proportional to the memories, where any has
    /// links or other events about it; hardly any otherwise.
    #[must_use]
    pub fn collect(snapshot: &Snapshot, until: Option<Timestamp>) -> Self {
        let numbers = MemoryNumbers::collect(snapshot);
        let mut links = Self::from_memories(snapshot, until, &numbers);
        for (number, memory) in spoken_of(snapshot) {
            links.replace(number, memory, until, &numbers);
        }
        links
    }

    /// Collects the links from link events, without the replacements.
    #[must_use]
    pub fn from_link_events(snapshot: &Snapshot) -> Self {
        Self::from_memories(snapshot, None, &MemoryNumbers::collect(snapshot))
    }

    fn from_memories(
        snapshot: &Snapshot,
        until: Option<Timestamp>,
        numbers: &MemoryNumbers<'_>,
    ) -> Self {
        let mut links = Self::default();
        for (number, memory) in spoken_of(snapshot) {
            for tie in ties(memory.about(), memory.only_origin(), until) {
                links.tie(NodeRef::Memory(number), tie, numbers);
            }
        }
        for (id, about) in snapshot.early() {
            let node = Node::from_id(id.clone());
            for tie in ties(about, None, until) {
                links.tie(numbers.node_ref(&node, &tie.repo), tie, numbers);
            }
        }
        links
    }

    fn tie(&mut self, source: NodeRef, tie: Tie, numbers: &MemoryNumbers<'_>) {
        let target = numbers.node_ref(&tie.link.target, &tie.repo);
        self.add(source, target, tie.into());
    }

    /// Links a memory to the one that it replaces.
    fn replace(
        &mut self,
        number: u32,
        memory: &Memory,
        until: Option<Timestamp>,
        numbers: &MemoryNumbers<'_>,
    ) {
        let then = until.map(|until| memory.lifecycle_at(until));
        let course = then.as_ref().unwrap_or_else(|| memory.lifecycle());
        let LifecycleState::Superseded { by } = &course.state else { return };
        let said = LinkDetails {
            repo: memory.repo.clone(),
            since: course.since,
            relation: Relation::Supersedes,
            strength: Strength::from_share(1.0).unwrap_or(Strength::USUAL),
            origin: MANUAL.to_owned(),
            valid_from: None,
            valid_to: None,
        };
        let by = numbers.node_ref(&Node::from_id(by.clone()), &memory.repo);
        self.add(by, NodeRef::Memory(number), said);
    }

    /// Adds a link.
    pub fn add(&mut self, source: NodeRef, target: NodeRef, said: LinkDetails) {
        let (source, target) = (self.place(source), self.place(target));
        self.graph.add_edge(source, target, said);
    }

    fn place(&mut self, node_ref: NodeRef) -> NodeIndex {
        if let Some(place) = self.places.get(&node_ref) {
            return *place;
        }
        let place = self.graph.add_node(node_ref.clone());
        self.places.insert(node_ref, place);
        place
    }

    /// Returns the links of a node, outgoing ones first.
    pub fn edges_at<'a>(&'a self, node_ref: &NodeRef) -> impl Iterator<Item = LinkEdge<'a>> {
        let place = self.places.get(node_ref).copied();
        let ways = [(Direction::Outgoing, true), (Direction::Incoming, false)];
        place.into_iter().flat_map(move |place| {
            ways.into_iter().flat_map(move |(direction, is_outward)| {
                self.graph.edges_directed(place, direction).filter_map(move |edge| {
                    let other = if is_outward { edge.target() } else { edge.source() };
                    let to = self.graph.node_weight(other)?;
                    Some(LinkEdge { to, is_outward, details: edge.weight() })
                })
            })
        })
    }

    /// Returns all links, with their ends.
    pub fn all(&self) -> impl Iterator<Item = (&NodeRef, &NodeRef, &LinkDetails)> {
        self.graph.edge_references().filter_map(|edge| {
            let source = self.graph.node_weight(edge.source())?;
            Some((source, self.graph.node_weight(edge.target())?, edge.weight()))
        })
    }

    /// Returns all nodes with links, in no order.
    pub fn node_refs(&self) -> impl Iterator<Item = &NodeRef> {
        self.graph.node_weights()
    }

    /// Finds the shortest path by links of one relation between two nodes, both included.
    #[must_use]
    pub fn shortest_path(
        &self,
        relation: Relation,
        from: &NodeRef,
        to: &NodeRef,
    ) -> Option<Vec<&NodeRef>> {
        let (from, to) = (*self.places.get(from)?, *self.places.get(to)?);
        let such = EdgeFiltered::from_fn(&self.graph, |edge| edge.weight().relation == relation);
        let (_, way) = astar(&such, from, |place| place == to, |_| 1_u32, |_| 0)?;
        Some(way.into_iter().filter_map(|place| self.graph.node_weight(place)).collect())
    }
}

/// Returns the memories that have events about them, with their numbers. A search in a store that others write to
/// without pause asks each time, and most memories have none and need not be read.
fn spoken_of(snapshot: &Snapshot) -> impl Iterator<Item = (u32, &Arc<Memory>)> {
    let marked = snapshot.memories().all_that_may_be_inactive();
    marked
        .filter(|(_, memory)| !memory.about().is_empty())
        .filter_map(|(place, memory)| Some((u32::try_from(place).ok()?, memory)))
}

/// The numbers of memories by their ids.
struct MemoryNumbers<'a>(HashMap<&'a EventId, u32>);

impl<'a> MemoryNumbers<'a> {
    /// Built when needed, since most stores have no links.
    fn collect(snapshot: &'a Snapshot) -> Self {
        let is_needed = spoken_of(snapshot).next().is_some() || snapshot.early().next().is_some();
        if !is_needed {
            return Self(HashMap::new());
        }
        let memories = snapshot.memories().iter().zip(0..);
        let first = memories.filter(|(memory, _)| memory.id_share() != IdShare::Beside);
        Self(first.map(|(memory, number)| (&memory.id, number)).collect())
    }

    fn node_ref(&self, node: &Node, repo: &RepoKey) -> NodeRef {
        if let Some(place) = CodePlace::from_node(node, repo) {
            return NodeRef::Code(place);
        }
        let number = self.0.get(&node.id());
        number.map_or_else(|| NodeRef::Absent(node.id().clone()), |number| NodeRef::Memory(*number))
    }
}
