//! mcp-memory-service: its SQLite database, or the JSON of its exporter.

use serde_json::{Map, Value};

use super::super::error::ExchangeError;
use super::super::foreign_database::ForeignTables;
use super::super::foreign_place::{ForeignPlace, ForeignShape};
use super::super::harvest::{ForeignLink, Harvest, foreign_draft, relation_of};
use super::super::loose_values::{first_time, kind, object, tags, text, texts};
use super::foreign_store::{ForeignStore, unlike};
use event::Draft;

const NAME: &str = "mcp-memory-service";

pub(super) const STORE: ForeignStore = ForeignStore {
    name: NAME,
    form: "its SQLite database, or the JSON of its export",
    recognises,
    read,
};

const COLUMNS: [&str; 9] = [
    "content_hash",
    "content",
    "tags",
    "memory_type",
    "metadata",
    "created_at",
    "updated_at",
    "deleted_at",
    "superseded_by",
];

fn recognises(place: &ForeignPlace) -> bool {
    let is_export = |whole: &Value| {
        let first = whole.get("memories").and_then(|list| list.get(0));
        whole.get("export_metadata").is_some()
            && first.is_none_or(|one| one.get("content_hash").is_some())
    };
    // Other stores have a table of this name too, but not these two.
    place.has_tables(&["memories", "memory_embeddings"])
        || place.has_tables(&["memories", "memory_graph"])
        || place.json().is_some_and(is_export)
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let mut harvest = Harvest::default();
    match &place.shape {
        ForeignShape::Database(_) => {
            let tables = ForeignTables::open(&place.path)?;
            for row in tables.rows("memories", &COLUMNS)? {
                add_record(&mut harvest, &row);
            }
            let graph = ["source_hash", "target_hash", "relationship_type"];
            for row in tables.rows("memory_graph", &graph)? {
                harvest.links.extend(link_of(&row));
            }
            tables.finish()?;
        }
        ForeignShape::Json(whole) => {
            let list = whole.get("memories").and_then(Value::as_array);
            for value in list.ok_or_else(|| unlike(place, &STORE))? {
                match value.as_object() {
                    Some(record) => add_record(&mut harvest, record),
                    None => harvest.leave_out("entry that is no object"),
                }
            }
        }
        ForeignShape::Notes(_) | ForeignShape::Lines(_) => return Err(unlike(place, &STORE)),
    }
    Ok(harvest)
}

fn add_record(harvest: &mut Harvest, record: &Map<String, Value>) {
    let has = |name: &str| record.get(name).is_some_and(|value| !value.is_null());
    if has("deleted_at") {
        return harvest.leave_out("deleted memory");
    }
    if has("superseded_by") {
        return harvest.leave_out("memory that another one replaced");
    }
    let Some(said) = text(record, "content") else {
        return harvest.leave_out("memory without text");
    };
    let metadata = object(record.get("metadata"));
    let (event_type, word) = kind(text(record, "memory_type"));
    let project = text(&metadata, "project").map(str::to_owned);
    let draft = Draft {
        event_type: Some(event_type.to_owned()),
        tags: tags(texts(record.get("tags")).into_iter().chain(word).chain(project)),
        timestamp: first_time(record, &["updated_at", "created_at"]),
        ..foreign_draft(text(&metadata, "agent_id").unwrap_or(NAME), ("", said))
    };
    harvest.add_item(text(record, "content_hash").unwrap_or_default(), draft);
}

fn link_of(row: &Map<String, Value>) -> Option<ForeignLink> {
    let end = |name: &str| text(row, name).map(str::to_owned);
    let relation = relation_of(text(row, "relationship_type").unwrap_or_default());
    Some(ForeignLink { from: end("source_hash")?, to: end("target_hash")?, relation })
}
