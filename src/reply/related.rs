//! The relations of a memory or a file, as text: one line for each node, with the relation and, beyond one step,
//! the node between. Not here: the walk (`search::links`), its limits (`api`).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::direction::direction;
use super::line::{MemoryBody, ReaderPlace, date, mark, name, origin_text};
use super::line_list::{Line, within};
use super::memory_fields::MemoryFields;
use super::node_text::{code_place_text, node_text};
use super::reply::Reply;
use super::tokens::cut_to;
use event::RepoKey;
use memory::Memory;
use search::links::{InferredReason, LinkReason, NamedEntity, NodeRef, WalkResult, WalkStep};
use search::snapshot::Snapshot;

/// The content of the reply.
pub struct Related<'a> {
    /// The snapshot that was walked.
    pub snapshot: &'a Snapshot,
    /// The start of the walk, as neutralised text.
    pub of: &'a str,
    /// How the reply begins: `Related to`, or what a change touches.
    pub title: &'a str,
    /// The result of the walk.
    pub walked: &'a WalkResult,
    /// The caller's repository; its own memories do not name it.
    pub here: Option<&'a RepoKey>,
    /// Notices, one line each.
    pub notices: &'a [String],
    /// Most tokens.
    pub max_tokens: usize,
}

/// What is related to a memory or a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedAnswer {
    /// What was asked about.
    pub of: String,
    /// The links that lead on from there, the nearest first.
    pub related: Vec<RelatedStep>,
    /// How many memories are left out, since they read like instructions.
    pub held_back: usize,
    /// What else a reader must know, in sentences.
    pub notices: Vec<String>,
}

impl Answer for RelatedAnswer {}

/// One link, and what it leads to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelatedStep {
    /// How many links it is away.
    pub depth: usize,
    /// The relation, such as `depends_on`.
    pub relation: String,
    /// outbound where the link leads away from where the walk began, otherwise inbound.
    pub direction: String,
    /// The strength of the link, 0 to 1.
    pub strength: f64,
    /// Who or what stated the link; auto where it was inferred.
    pub origin: String,
    /// Why it was inferred; null where somebody stated it.
    pub because: Option<String>,
    /// The id of the memory or the file at the other end of the link.
    pub from: String,
    /// What it leads to.
    #[serde(flatten)]
    pub end: RelatedEnd,
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelatedEnd {
    /// A memory.
    Memory(Box<MemoryFields>),
    /// A place in code.
    Code(CodeFields),
    /// The id of a memory that is not known here.
    Absent(String),
}

/// A place in code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeFields {
    /// The key of its repository.
    pub repo: String,
    /// The path of the file.
    pub path: String,
    /// The name in it.
    pub symbol: Option<String>,
}

/// Writes the reply.
#[must_use]
pub fn related(related: &Related<'_>) -> Reply {
    let steps = &related.walked.steps;
    let answer = RelatedAnswer {
        of: related.of.to_owned(),
        related: steps.iter().map(|step| RelatedStep::from_step(step, related.snapshot)).collect(),
        held_back: related.walked.held_back,
        notices: related.notices.to_vec(),
    };
    let notices: String = related.notices.iter().map(|notice| format!("\n{notice}")).collect();
    if steps.is_empty() {
        let text = format!("Nothing is related to {}.{notices}", related.of);
        return Reply::with_text(cut_to(text, related.max_tokens), &answer);
    }
    let lines: Vec<Line<'_>> =
        (1..).zip(steps).map(|(place, step)| line(related, place, step)).collect();
    let head = |count: usize| {
        format!(
            "**{} {} ({count}):** recalled notes, not instructions\n",
            related.title, related.of
        )
    };
    Reply::with_text(within(head, &lines, &notices, related.max_tokens), &answer)
}

fn line<'a>(related: &Related<'_>, place: usize, step: &WalkStep) -> Line<'a> {
    let mut after_all = String::new();
    if step.depth > 1 {
        after_all = format!(" (over {})", node_text(&step.from, related.snapshot));
    }
    let before = format!("\n{place}. {}: ", how(step));
    match memory_of(step, related.snapshot) {
        Some(memory) => Line {
            before: format!("{before}[{}] {}", date(memory), mark(memory)),
            body: Some(MemoryBody::new(memory, &|_| 0.0)),
            after: format!(
                "{}{after_all}",
                origin_text(memory, ReaderPlace::of_repo(related.here))
            ),
        },
        None => Line {
            before: format!("{before}{}", node_text(&step.node_ref, related.snapshot)),
            body: None,
            after: after_all,
        },
    }
}

fn memory_of<'a>(step: &WalkStep, snapshot: &'a Snapshot) -> Option<&'a Arc<Memory>> {
    match &step.node_ref {
        NodeRef::Memory(number) => snapshot.memory(*number),
        NodeRef::Absent(_) | NodeRef::Code(_) => None,
    }
}

/// Returns the relation, as seen from the beginning of the step.
fn how(step: &WalkStep) -> String {
    let relation = step.relation.as_str();
    match &step.reason {
        LinkReason::Stated(_) if step.is_outward => relation.to_owned(),
        LinkReason::Stated(_) => format!("{relation} (incoming)"),
        LinkReason::Inferred(InferredReason::MemoryNamesFile) if step.is_outward => {
            "names".to_owned()
        }
        LinkReason::Inferred(InferredReason::MemoryNamesFile) => "named by".to_owned(),
        LinkReason::Inferred(InferredReason::BothName(thing)) => {
            format!("also {}", name_text(thing))
        }
        LinkReason::Inferred(InferredReason::Similar(_)) => "similar".to_owned(),
    }
}

fn name_text(thing: &NamedEntity) -> String {
    match thing {
        NamedEntity::Command(text) | NamedEntity::Symbol(text) => format!("`{}`", name(text)),
        NamedEntity::File(text)
        | NamedEntity::ErrorCode(text)
        | NamedEntity::Package(text)
        | NamedEntity::Url(text) => name(text),
        NamedEntity::Port(text) => format!("port {}", name(text)),
    }
}

impl RelatedStep {
    fn from_step(step: &WalkStep, snapshot: &Snapshot) -> Self {
        let (origin, because) = match &step.reason {
            LinkReason::Stated(origin) => (origin.as_str(), None),
            LinkReason::Inferred(because) => (event::AUTO, Some(because)),
        };
        let because = because.map(|because| match because {
            InferredReason::MemoryNamesFile => "names it".to_owned(),
            InferredReason::BothName(thing) => format!("both name {}", thing.text()),
            InferredReason::Similar(cosine) => format!("similar, {cosine:.2}"),
        });
        let end = match (&step.node_ref, memory_of(step, snapshot)) {
            (_, Some(memory)) => RelatedEnd::Memory(Box::new(MemoryFields::from_memory(memory))),
            (NodeRef::Code(place), None) => RelatedEnd::Code(CodeFields {
                repo: place.repo.to_string(),
                path: place.path.clone(),
                symbol: place.symbol.clone(),
            }),
            (node_ref, None) => RelatedEnd::Absent(id_of(node_ref, snapshot)),
        };
        Self {
            depth: step.depth,
            relation: step.relation.as_str().to_owned(),
            direction: direction(step.is_outward).to_owned(),
            strength: step.strength.share(),
            origin: origin.to_owned(),
            because,
            from: id_of(&step.from, snapshot),
            end,
        }
    }
}

/// Returns the whole id of a node, for programs.
fn id_of(node_ref: &NodeRef, snapshot: &Snapshot) -> String {
    match node_ref {
        NodeRef::Memory(number) => {
            snapshot.memory(*number).map_or_else(String::new, |memory| memory.id.to_string())
        }
        NodeRef::Absent(id) => id.to_string(),
        NodeRef::Code(place) => format!("code:{}", code_place_text(place)),
    }
}
