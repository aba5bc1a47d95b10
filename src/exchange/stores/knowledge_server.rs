//! knowledge-server: the entries of its `knowledge.db` that are in force, and their relations.

use serde_json::{Map, Value};

use super::super::error::ExchangeError;
use super::super::foreign_database::ForeignTables;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::{ForeignLink, Harvest, foreign_draft, relation_of};
use super::super::loose_values::{first_time, kind, tags, text, texts};
use super::foreign_store::ForeignStore;
use event::Draft;

const NAME: &str = "knowledge-server";

pub(super) const STORE: ForeignStore =
    ForeignStore { name: NAME, form: "its knowledge.db", recognises, read };

const ENTRIES: [&str; 8] =
    ["id", "type", "content", "topics", "status", "updated_at", "is_synthesized", "created_at"];

fn recognises(place: &ForeignPlace) -> bool {
    place.has_tables(&["knowledge_entry"])
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let tables = ForeignTables::open(&place.path)?;
    let mut harvest = Harvest::default();
    for entry in tables.rows("knowledge_entry", &ENTRIES)? {
        add_entry(&mut harvest, &entry);
    }
    for row in tables.rows("knowledge_relation", &["source_id", "target_id", "type"])? {
        let end = |name: &str| text(&row, name).map(str::to_owned);
        let relation = relation_of(text(&row, "type").unwrap_or_default());
        if let (Some(from), Some(to)) = (end("source_id"), end("target_id")) {
            harvest.links.push(ForeignLink { from, to, relation });
        }
    }
    tables.finish()?;
    Ok(harvest)
}

fn add_entry(harvest: &mut Harvest, entry: &Map<String, Value>) {
    match text(entry, "status") {
        None | Some("active" | "conflicted") => {}
        Some("superseded") => return harvest.leave_out("entry that another one replaced"),
        Some("archived") => return harvest.leave_out("archived entry"),
        Some(_) => return harvest.leave_out("deleted entry"),
    }
    let Some(said) = text(entry, "content") else { return harvest.leave_out("entry without text") };
    let (event_type, word) = kind(text(entry, "type"));
    let is_inferred = entry.get("is_synthesized").and_then(Value::as_i64) == Some(1);
    let draft = Draft {
        event_type: Some(event_type.to_owned()),
        tags: tags(texts(entry.get("topics")).into_iter().chain(word)),
        timestamp: first_time(entry, &["updated_at", "created_at"]),
        confidence: is_inferred.then(|| "inferred".to_owned()),
        ..foreign_draft(NAME, ("", said))
    };
    harvest.add_item(text(entry, "id").unwrap_or_default(), draft);
}
