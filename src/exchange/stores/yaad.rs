//! Yaad: the nodes of its SQLite graph that say something, their edges, and the files they touch.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::error::ExchangeError;
use super::super::foreign_database::{ForeignRow, ForeignTables};
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::{ForeignLink, Harvest, foreign_draft, relation_of};
use super::super::loose_values::{first_time, kind, tags, text, texts};
use super::foreign_store::ForeignStore;
use event::Draft;
use event::limits::FILES_MAX;

const NAME: &str = "yaad";

pub(super) const STORE: ForeignStore =
    ForeignStore { name: NAME, form: "its yaad.db", recognises, read };

const NODES: [&str; 10] = [
    "id",
    "type",
    "content",
    "summary",
    "project",
    "tags",
    "confidence",
    "updated_at",
    "source_agent",
    "created_at",
];

fn recognises(place: &ForeignPlace) -> bool {
    place.has_tables(&["nodes", "edges", "node_versions"])
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let tables = ForeignTables::open(&place.path)?;
    let nodes = tables.rows("nodes", &NODES)?;
    let edges = tables.rows("edges", &["from_id", "to_id", "type", "invalid_at"])?;
    tables.finish()?;
    let mut harvest = Harvest::default();
    let touched = touched_files(&nodes, &edges);
    for node in &nodes {
        add_node(&mut harvest, node, &touched);
    }
    harvest.links.extend(edges.iter().filter_map(link_of));
    Ok(harvest)
}

fn is_file(node: &ForeignRow) -> bool {
    text(node, "type") == Some("file")
}

/// The files that each node touches.
fn touched_files<'a>(
    nodes: &'a [ForeignRow],
    edges: &'a [ForeignRow],
) -> BTreeMap<&'a str, Vec<String>> {
    let files = nodes.iter().filter(|node| is_file(node));
    let paths: BTreeMap<&str, &str> =
        files.filter_map(|node| Some((text(node, "id")?, text(node, "content")?))).collect();
    let mut touched = BTreeMap::<&str, Vec<String>>::new();
    for edge in edges {
        let path = text(edge, "to_id").and_then(|to| paths.get(to));
        if let (Some(from), Some(path)) = (text(edge, "from_id"), path) {
            touched.entry(from).or_default().push((*path).to_owned());
        }
    }
    touched
}

fn add_node(
    harvest: &mut Harvest,
    node: &Map<String, Value>,
    touched: &BTreeMap<&str, Vec<String>>,
) {
    match text(node, "type") {
        Some("file" | "entity") => return harvest.leave_out("node that is only a name"),
        Some("session") => return harvest.leave_out("session"),
        _ => {}
    }
    if node.get("confidence").and_then(Value::as_f64) == Some(0.0) {
        return harvest.leave_out("forgotten memory");
    }
    let Some(said) = text(node, "content") else { return harvest.leave_out("node without text") };
    let id = text(node, "id").unwrap_or_default();
    let (event_type, word) = kind(text(node, "type"));
    let project = text(node, "project").and_then(|path| path.rsplit(['/', '\\']).next());
    let words = texts(node.get("tags")).into_iter().chain(word).chain(project.map(str::to_owned));
    let mut files = touched.get(id).cloned().unwrap_or_default();
    files.truncate(FILES_MAX);
    let draft = Draft {
        event_type: Some(event_type.to_owned()),
        tags: tags(words),
        files,
        timestamp: first_time(node, &["updated_at", "created_at"]),
        ..foreign_draft(
            text(node, "source_agent").unwrap_or(NAME),
            (text(node, "summary").unwrap_or_default(), said),
        )
    };
    harvest.add_item(id, draft);
}

fn link_of(edge: &ForeignRow) -> Option<ForeignLink> {
    let end = |name: &str| text(edge, name).map(str::to_owned);
    let is_over = text(edge, "invalid_at").is_some();
    let relation = relation_of(text(edge, "type").unwrap_or_default());
    let link = ForeignLink { from: end("from_id")?, to: end("to_id")?, relation };
    (!is_over).then_some(link)
}
