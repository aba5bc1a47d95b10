//! Links that are inferred at query time: between a memory and the files it names, between memories that
//! name the same, between memories with near vectors. They come from the indexes of the snapshot, so nothing is
//! stored. Not here: stated links (`stated_links`).

use super::named_entities::{NamedEntity, named_entities};
use super::{CodePlace, NodeRef};
use crate::asked_file::{AskedFile, same_file};
use crate::snapshot::Snapshot;
use event::{Relation, Strength, Timestamp};
use index::lexical::DocId;
use memory::Memory;

/// Memories that are checked for a name: the best by words.
const LOOKED_AT_MAX: usize = 64;

/// A name that more memories have links none of them.
const NAMED_BY_MAX: usize = 24;

/// The most similar memories, and their least cosine.
const SIMILAR_MAX: usize = 3;
const SIMILAR_MIN: f32 = 0.7;

/// Memories of a file: more than any reply shows.
const OF_FILE_MAX: usize = 200;

/// An inferred link.
#[derive(Debug, Clone, PartialEq)]
pub struct InferredLink {
    /// The other node.
    pub node_ref: NodeRef,
    /// The reason.
    pub reason: InferredReason,
}

/// Why two nodes are linked.
#[derive(Debug, Clone, PartialEq)]
pub enum InferredReason {
    /// The memory names the file.
    MemoryNamesFile,
    /// Both name this.
    BothName(NamedEntity),
    /// Their vectors have this cosine.
    Similar(f32),
}

impl InferredReason {
    /// Returns the relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        match self {
            Self::MemoryNamesFile => Relation::Touches,
            Self::BothName(_) | Self::Similar(_) => Relation::RelatedTo,
        }
    }

    /// Returns the strength.
    #[must_use]
    pub fn strength(&self) -> Strength {
        let share = match self {
            Self::Similar(cosine) => f64::from(*cosine),
            Self::MemoryNamesFile | Self::BothName(_) => return Strength::USUAL,
        };
        Strength::from_share(share.clamp(0.0, 1.0)).unwrap_or(Strength::USUAL)
    }
}

/// Infers links in a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct InferredLinks<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// The time at which memories must count.
    pub now: Timestamp,
    /// Memories that were learned later do not count.
    pub until: Option<Timestamp>,
    /// The file that the question names, where it names one.
    pub file: Option<&'a AskedFile>,
}

impl InferredLinks<'_> {
    /// Returns the nodes that are linked to a node, each once, the strongest first.
    #[must_use]
    pub fn links_with(&self, node_ref: &NodeRef) -> Vec<InferredLink> {
        match node_ref {
            NodeRef::Memory(number) => self.with_memory(*number),
            NodeRef::Code(place) => self.with_place(place),
            NodeRef::Absent(_) => Vec::new(),
        }
    }

    fn with_memory(&self, number: u32) -> Vec<InferredLink> {
        let Some(memory) = self.snapshot.memory(number) else { return Vec::new() };
        let mut found: Vec<InferredLink> = Vec::new();
        let mut add = |node_ref: NodeRef, because: InferredReason| {
            if found.iter().all(|shared| shared.node_ref != node_ref) {
                found.push(InferredLink { node_ref, reason: because });
            }
        };
        for (other, cosine) in self.similar(number) {
            add(NodeRef::Memory(other), InferredReason::Similar(cosine));
        }
        for thing in named_entities(&memory.event()) {
            if let NamedEntity::File(path) = thing {
                let place = CodePlace { repo: memory.repo.clone(), path, symbol: None };
                add(NodeRef::Code(place), InferredReason::MemoryNamesFile);
                continue;
            }
            for other in self.others_naming(&thing, number, memory) {
                add(NodeRef::Memory(other), InferredReason::BothName(thing.clone()));
            }
        }
        found
    }

    /// Returns the memories with near vectors.
    fn similar(&self, number: u32) -> Vec<(u32, f32)> {
        let Some(vectors) = self.snapshot.vectors() else { return Vec::new() };
        let Some(vector) = vectors.get(number) else { return Vec::new() };
        let keep = |other: u32| other != number && self.counts(other);
        let near = vectors.search(&vector, keep, SIMILAR_MAX);
        near.into_iter().filter(|(_, cosine)| *cosine > SIMILAR_MIN).collect()
    }

    /// Returns the other memories with a name; none where the name is too common. A name of code counts within its
    /// repository only.
    fn others_naming(&self, thing: &NamedEntity, number: u32, memory: &Memory) -> Vec<u32> {
        let is_local = matches!(thing, NamedEntity::Symbol(_) | NamedEntity::Port(_));
        let keep = |doc: DocId| {
            let other = self.snapshot.memory(doc.0);
            doc.0 != number
                && other.is_some_and(|other| !is_local || other.repo == memory.repo)
                && self.counts(doc.0)
        };
        let found = self.snapshot.lexical().search(thing.text(), keep, LOOKED_AT_MAX);
        let names = |other: &u32| {
            let other = self.snapshot.memory(*other);
            other.is_some_and(|other| named_entities(&other.event()).contains(thing))
        };
        let found: Vec<u32> = found.into_iter().map(|scored| scored.doc.0).filter(names).collect();
        if found.len() > NAMED_BY_MAX { Vec::new() } else { found }
    }

    fn with_place(&self, place: &CodePlace) -> Vec<InferredLink> {
        let keys = self.snapshot.keys_of(&place.repo);
        let keep = |doc: DocId| {
            self.snapshot.memory(doc.0).is_some_and(|memory| keys.contains(&memory.repo))
                && self.counts(doc.0)
        };
        let found = self.snapshot.lexical().search(&place.path, keep, OF_FILE_MAX);
        let numbers = found.into_iter().map(|scored| scored.doc.0);
        let naming = numbers.filter(|number| {
            self.snapshot.memory(*number).is_some_and(|memory| self.names_place(memory, place))
        });
        naming
            .map(|number| InferredLink {
                node_ref: NodeRef::Memory(number),
                reason: InferredReason::MemoryNamesFile,
            })
            .collect()
    }

    fn names_place(&self, memory: &Memory, place: &CodePlace) -> bool {
        let event = memory.event();
        let asked = self.file.filter(|file| file.path() == place.path);
        let is_same = |path: &str| match asked {
            Some(file) => file.has_path(path, &memory.repo),
            None => same_file(path, &place.path),
        };
        let is_of = |thing: &NamedEntity| matches!(thing, NamedEntity::File(path) if is_same(path));
        let is_named = named_entities(&event).iter().any(is_of);
        let Some(symbol) = &place.symbol else { return is_named };
        let texts = [&event.context, &event.lesson, &event.command];
        is_named && texts.into_iter().any(|text| text.contains(symbol.as_str()))
    }

    /// Tells whether a memory is active and known.
    fn counts(&self, number: u32) -> bool {
        self.snapshot.memory(number).is_some_and(|memory| is_counted(memory, self.now, self.until))
    }
}

/// Tells whether a memory is active now; with `until`, whether it was known and active then.
pub(super) fn is_counted(memory: &Memory, now: Timestamp, until: Option<Timestamp>) -> bool {
    let Some(until) = until else { return !memory.is_inactive(now) };
    memory.timestamp.is_none_or(|at| at <= until) && !memory.was_inactive(until)
}
