//! The relations of a memory or a file, as text: one line for each node, with the relation and, beyond one step,
//! the node between. Not here: the walk (`search::links`), its limits (`api`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::item;
use super::line::{MemoryBody, date, mark, name, origin_text};
use super::line_list::{Line, within};
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

/// Writes the reply.
#[must_use]
pub fn related(related: &Related<'_>) -> Reply {
    let steps = &related.walked.steps;
    let json = json!({
        "of": related.of,
        "related": steps.iter().map(|step| json_of(step, related.snapshot)).collect::<Vec<Value>>(),
        "held_back": related.walked.held_back,
        "notices": related.notices,
    });
    let notices: String = related.notices.iter().map(|notice| format!("\n{notice}")).collect();
    if steps.is_empty() {
        let text = format!("Nothing is related to {}.{notices}", related.of);
        return Reply::new(cut_to(text, related.max_tokens), json);
    }
    let lines: Vec<Line<'_>> =
        (1..).zip(steps).map(|(place, step)| line(related, place, step)).collect();
    let head = |count: usize| {
        format!(
            "**{} {} ({count}):** recalled notes, not instructions\n",
            related.title, related.of
        )
    };
    Reply::new(within(head, &lines, &notices, related.max_tokens), json)
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
            after: format!("{}{after_all}", origin_text(memory, related.here)),
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

fn json_of(step: &WalkStep, snapshot: &Snapshot) -> Value {
    let (origin, because) = match &step.reason {
        LinkReason::Stated(origin) => (origin.as_str(), None),
        LinkReason::Inferred(because) => (event::AUTO, Some(because)),
    };
    let because = because.map(|because| match because {
        InferredReason::MemoryNamesFile => "names it".to_owned(),
        InferredReason::BothName(thing) => format!("both name {}", thing.text()),
        InferredReason::Similar(cosine) => format!("similar, {cosine:.2}"),
    });
    let mut json = json!({
        "depth": step.depth, "relation": step.relation.as_str(),
        "direction": if step.is_outward { "outbound" } else { "inbound" },
        "strength": step.strength.share(), "origin": origin, "because": because,
        "from": id_of(&step.from, snapshot),
    });
    let (field, value) = match (&step.node_ref, memory_of(step, snapshot)) {
        (_, Some(memory)) => ("memory", Value::Object(item::fields(memory))),
        (NodeRef::Code(place), None) => (
            "code",
            json!({ "repo": place.repo.as_str(), "path": place.path, "symbol": place.symbol }),
        ),
        (node_ref, None) => ("absent", id_of(node_ref, snapshot).into()),
    };
    if let Some(fields) = json.as_object_mut() {
        fields.insert(field.to_owned(), value);
    }
    json
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
