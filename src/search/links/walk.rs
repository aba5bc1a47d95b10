//! Walks from a node along stated and inferred links, step by step, each node once. A walk is bounded, and says
//! where it was cut. Not here: the links of one node (`stated_links`, `inferred_links`).

use std::collections::HashSet;

use super::inferred_links::is_counted;
use super::{InferredLinks, InferredReason, LinkEdge, Links, NodeRef};
use crate::asked_file::AskedFile;
use crate::snapshot::Snapshot;
use event::{Relation, Strength, Timestamp};
use guard::disclosure::DisclosureOccasion;

/// Most nodes of a walk.
const STEPS_MAX: usize = 200;

/// Nodes whose links are inferred; beyond them only stated links count. Each costs some milliseconds in a large store.
const FOUND_FOR_MAX: usize = 24;

/// The direction in which links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkDirection {
    /// From source to target.
    Outbound,
    /// From target to source.
    Inbound,
    /// Both.
    #[default]
    Both,
}

impl LinkDirection {
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
        Self::ALL.into_iter().find(|direction| text.trim().eq_ignore_ascii_case(direction.as_str()))
    }

    fn goes_out(self) -> bool {
        self != Self::Inbound
    }

    fn goes_in(self) -> bool {
        self != Self::Outbound
    }
}

/// The options of a walk.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// The nodes where it begins, which all mean one thing.
    pub starts: Vec<NodeRef>,
    /// The file that the question names, where it names one.
    pub file: Option<AskedFile>,
    /// Most steps from there.
    pub depth: usize,
    /// The direction.
    pub direction: LinkDirection,
    /// The only relation that is followed.
    pub relation: Option<Relation>,
    /// The time at which memories must count.
    pub now: Timestamp,
    /// The time of the state; `None` for now.
    pub as_of: Option<Timestamp>,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkStep {
    /// The node it leads to.
    pub node_ref: NodeRef,
    /// The node it comes from.
    pub from: NodeRef,
    /// The distance from the beginning, from 1.
    pub depth: usize,
    /// The relation.
    pub relation: Relation,
    /// Whether the relation goes the way of the step.
    pub is_outward: bool,
    /// The strength.
    pub strength: Strength,
    /// The origin or the inferred reason.
    pub reason: LinkReason,
}

/// Why two things are linked.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkReason {
    /// Somebody stated it.
    Stated(String),
    /// It was inferred.
    Inferred(InferredReason),
}

/// The result of a walk.
#[derive(Debug, Default, PartialEq)]
pub struct WalkResult {
    /// The steps, nearest first.
    pub steps: Vec<WalkStep>,
    /// The number of skipped memories that read like an instruction.
    pub held_back: usize,
    /// Whether there is more.
    pub is_cut: bool,
}

/// Walks the graph.
#[must_use]
pub fn walk(snapshot: &Snapshot, links: &Links, walk: &WalkOptions) -> WalkResult {
    let common =
        InferredLinks { snapshot, now: walk.now, until: walk.as_of, file: walk.file.as_ref() };
    let mut walked = WalkResult::default();
    let mut seen: HashSet<NodeRef> = walk.starts.iter().cloned().collect();
    let mut frontier = walk.starts.clone();
    let mut found_for = 0;
    for depth in 1..=walk.depth {
        let mut next = Vec::new();
        for from in std::mem::take(&mut frontier) {
            let mut steps = asserted_steps(links, &from, depth, walk);
            if found_for < FOUND_FOR_MAX {
                found_for += 1;
                steps.extend(inferred_steps(&common, &from, depth, walk));
            }
            for step in steps {
                if seen.contains(&step.node_ref) {
                    continue;
                }
                let fitness = fitness(snapshot, &step, walk);
                // By another link it may be asserted_steps yet.
                if fitness == Fitness::Out {
                    continue;
                }
                seen.insert(step.node_ref.clone());
                walked.held_back += usize::from(fitness == Fitness::HeldBack);
                if fitness != Fitness::Shown {
                    continue;
                }
                if walked.steps.len() >= STEPS_MAX {
                    walked.is_cut = true;
                    return walked;
                }
                next.push(step.node_ref.clone());
                walked.steps.push(step);
            }
        }
        frontier = next;
    }
    walked
}

/// The links that were asserted_steps, the surest and then the newest first.
fn asserted_steps(
    links: &Links,
    from: &NodeRef,
    depth: usize,
    walk: &WalkOptions,
) -> Vec<WalkStep> {
    let time = walk.as_of.unwrap_or(walk.now);
    let mut bonds: Vec<LinkEdge<'_>> =
        links
            .edges_at(from)
            .filter(|bond| {
                if bond.is_outward { walk.direction.goes_out() } else { walk.direction.goes_in() }
            })
            .filter(|bond| bond.details.holds_at(time))
            .filter(|bond| walk.relation.is_none_or(|relation| relation == bond.details.relation))
            .collect();
    bonds.sort_by(|a, b| {
        let order = |bond: &LinkEdge<'_>| (bond.details.strength, bond.details.since);
        order(b).cmp(&order(a)).then_with(|| a.to.cmp(b.to))
    });
    let step = |bond: LinkEdge<'_>| WalkStep {
        node_ref: bond.to.clone(),
        from: from.clone(),
        depth,
        relation: bond.details.relation,
        is_outward: bond.is_outward,
        strength: bond.details.strength,
        reason: LinkReason::Stated(bond.details.origin.clone()),
    };
    bonds.into_iter().map(step).collect()
}

/// Shared properties link both ways; "names a file" links one way.
fn inferred_steps(
    common: &InferredLinks<'_>,
    from: &NodeRef,
    depth: usize,
    walk: &WalkOptions,
) -> Vec<WalkStep> {
    let is_asked = |because: &InferredReason| {
        let goes = match from {
            _ if *because != InferredReason::MemoryNamesFile => true,
            NodeRef::Memory(_) => walk.direction.goes_out(),
            NodeRef::Absent(_) | NodeRef::Code(_) => walk.direction.goes_in(),
        };
        goes && walk.relation.is_none_or(|relation| relation == because.relation())
    };
    let is_possible = walk
        .relation
        .is_none_or(|relation| matches!(relation, Relation::Touches | Relation::RelatedTo));
    if !is_possible {
        return Vec::new();
    }
    let shared = common.links_with(from).into_iter().filter(|shared| is_asked(&shared.reason));
    let step = |shared: super::InferredLink| WalkStep {
        is_outward: matches!(from, NodeRef::Memory(_)),
        from: from.clone(),
        depth,
        relation: shared.reason.relation(),
        strength: shared.reason.strength(),
        node_ref: shared.node_ref,
        reason: LinkReason::Inferred(shared.reason),
    };
    shared.map(step).collect()
}

/// Whether the node of a step may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fitness {
    Shown,
    /// It is inactive, and the link does not say why.
    Out,
    /// It is somebody else's and reads like an instruction.
    HeldBack,
    /// It cannot be read.
    Lost,
}

/// Tells whether a memory may be shown. An inactive one is skipped, unless the link says that it was superseded.
fn fitness(snapshot: &Snapshot, step: &WalkStep, walk: &WalkOptions) -> Fitness {
    let NodeRef::Memory(number) = &step.node_ref else { return Fitness::Shown };
    let Some(memory) = snapshot.memory(*number) else { return Fitness::Lost };
    if step.relation != Relation::Supersedes && !is_counted(memory, walk.now, walk.as_of) {
        Fitness::Out
    } else if memory.is_left_out(DisclosureOccasion::Listed) {
        Fitness::HeldBack
    } else if memory.is_lost() {
        Fitness::Lost
    } else {
        Fitness::Shown
    }
}
