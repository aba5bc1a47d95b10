//! Walks from a node along stated and inferred links, step by step, each node once. A walk is bounded, and says
//! where it was cut. Not here: the links of one node (`asserted`, `inferred`).

use std::collections::HashSet;

use super::inferred::counts;
use super::{InferredLinks, InferredReason, LinkEdge, Links, NodeRef};
use crate::snapshot::Snapshot;
use event::{Relation, Strength, Timestamp};

/// Most steps of a walk: more is no answer.
const STEPS_MAX: usize = 200;

/// For so many things it is found out what they have in common with others; from there on only what was told counts.
/// Each costs some milliseconds in a large store.
const FOUND_FOR_MAX: usize = 24;

/// Which way links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// From source to target.
    Outbound,
    /// From target to source.
    Inbound,
    /// Either.
    #[default]
    Both,
}

impl Way {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 3] = [Self::Outbound, Self::Inbound, Self::Both];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outbound => "outbound",
            Self::Inbound => "inbound",
            Self::Both => "both",
        }
    }

    /// Reads its word, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| text.trim().eq_ignore_ascii_case(one.as_str()))
    }

    fn goes_out(self) -> bool {
        self != Self::Inbound
    }

    fn goes_in(self) -> bool {
        self != Self::Outbound
    }
}

/// What is walked.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Where it begins; these are all one thing.
    pub starts: Vec<NodeRef>,
    /// How many steps from there.
    pub depth: usize,
    /// Which way.
    pub way: Way,
    /// Only by this relation.
    pub relation: Option<Relation>,
    /// The time at which memories must count.
    pub now: Timestamp,
    /// As it was then; `None` for now.
    pub as_of: Option<Timestamp>,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where it leads.
    pub spot: NodeRef,
    /// From where.
    pub from: NodeRef,
    /// How many steps it is from the beginning, from 1.
    pub depth: usize,
    /// How the two are related.
    pub relation: Relation,
    /// Whether the relation goes the way of the step.
    pub is_outward: bool,
    /// How sure or close.
    pub strength: Strength,
    /// Who says so, or what was found.
    pub why: Why,
}

/// Why two things are linked.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// This origin says so.
    Told(String),
    /// It was found.
    Inferred(InferredReason),
}

/// What a walk found.
#[derive(Debug, Default, PartialEq)]
pub struct Walked {
    /// The steps, nearest first.
    pub steps: Vec<Step>,
    /// Memories that read like an instruction to their reader, and were passed over.
    pub held_back: usize,
    /// Whether there is more.
    pub is_cut: bool,
}

/// Walks.
#[must_use]
pub fn walk(snapshot: &Snapshot, links: &Links, walk: &Walk) -> Walked {
    let common = InferredLinks { snapshot, now: walk.now, until: walk.as_of };
    let mut walked = Walked::default();
    let mut seen: HashSet<NodeRef> = walk.starts.iter().cloned().collect();
    let mut frontier = walk.starts.clone();
    let mut found_for = 0;
    for depth in 1..=walk.depth {
        let mut next = Vec::new();
        for from in std::mem::take(&mut frontier) {
            let mut steps = told(links, &from, depth, walk);
            if found_for < FOUND_FOR_MAX {
                found_for += 1;
                steps.extend(found(&common, &from, depth, walk));
            }
            for step in steps {
                if seen.contains(&step.spot) {
                    continue;
                }
                let fitness = fitness(snapshot, &step, walk);
                // By another link it may be told yet.
                if fitness == Fitness::Out {
                    continue;
                }
                seen.insert(step.spot.clone());
                walked.held_back += usize::from(fitness == Fitness::HeldBack);
                if fitness != Fitness::Shown {
                    continue;
                }
                if walked.steps.len() >= STEPS_MAX {
                    walked.is_cut = true;
                    return walked;
                }
                next.push(step.spot.clone());
                walked.steps.push(step);
            }
        }
        frontier = next;
    }
    walked
}

/// The links that were told, the surest and then the newest first.
fn told(links: &Links, from: &NodeRef, depth: usize, walk: &Walk) -> Vec<Step> {
    let time = walk.as_of.unwrap_or(walk.now);
    let mut bonds: Vec<LinkEdge<'_>> = links
        .at(from)
        .filter(|bond| if bond.is_outward { walk.way.goes_out() } else { walk.way.goes_in() })
        .filter(|bond| bond.said.holds_at(time))
        .filter(|bond| walk.relation.is_none_or(|relation| relation == bond.said.relation))
        .collect();
    bonds.sort_by(|a, b| {
        let order = |bond: &LinkEdge<'_>| (bond.said.strength, bond.said.since);
        order(b).cmp(&order(a)).then_with(|| a.to.cmp(b.to))
    });
    let step = |bond: LinkEdge<'_>| Step {
        spot: bond.to.clone(),
        from: from.clone(),
        depth,
        relation: bond.said.relation,
        is_outward: bond.is_outward,
        strength: bond.said.strength,
        why: Why::Told(bond.said.origin.clone()),
    };
    bonds.into_iter().map(step).collect()
}

/// What they have in common goes both ways, but that a memory names a file.
fn found(common: &InferredLinks<'_>, from: &NodeRef, depth: usize, walk: &Walk) -> Vec<Step> {
    let is_asked = |because: &InferredReason| {
        let goes = match from {
            _ if *because != InferredReason::NamesIt => true,
            NodeRef::Memory(_) => walk.way.goes_out(),
            NodeRef::Absent(_) | NodeRef::Code(_) => walk.way.goes_in(),
        };
        goes && walk.relation.is_none_or(|relation| relation == because.relation())
    };
    let is_possible = walk
        .relation
        .is_none_or(|relation| matches!(relation, Relation::Touches | Relation::RelatedTo));
    if !is_possible {
        return Vec::new();
    }
    let shared = common.with(from).into_iter().filter(|shared| is_asked(&shared.because));
    let step = |shared: super::InferredLink| Step {
        is_outward: matches!(from, NodeRef::Memory(_)),
        from: from.clone(),
        depth,
        relation: shared.because.relation(),
        strength: shared.because.strength(),
        spot: shared.spot,
        why: Why::Inferred(shared.because),
    };
    shared.map(step).collect()
}

/// Whether what a step leads to may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fitness {
    Shown,
    /// It is out, and this is not the link that says so.
    Out,
    /// It reads like an instruction.
    HeldBack,
    /// It cannot be read.
    Lost,
}

/// Tells whether a memory may be shown. One that is out is passed over, but where it was superseded and that is the
/// link.
fn fitness(snapshot: &Snapshot, step: &Step, walk: &Walk) -> Fitness {
    let NodeRef::Memory(number) = &step.spot else { return Fitness::Shown };
    let Some(memory) = snapshot.memory(*number) else { return Fitness::Lost };
    if step.relation != Relation::Supersedes && !counts(memory, walk.now, walk.as_of) {
        Fitness::Out
    } else if memory.flagged().is_some() {
        Fitness::HeldBack
    } else if memory.is_lost() {
        Fitness::Lost
    } else {
        Fitness::Shown
    }
}
