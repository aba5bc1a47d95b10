//! agentcache: the memories and lessons of its key-value table. Its observations are a record of work, and stay.

use serde_json::{Map, Value};

use super::super::error::ExchangeError;
use super::super::foreign_database::ForeignTables;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::{Harvest, foreign_draft};
use super::super::loose_values::{first_time, kind, tags, text, texts};
use super::foreign_store::ForeignStore;
use event::Draft;
use event::limits::FILES_MAX;

const NAME: &str = "agentcache";

pub(super) const STORE: ForeignStore =
    ForeignStore { name: NAME, form: "its agentcache.db", recognises, read };

fn recognises(place: &ForeignPlace) -> bool {
    place.has_tables(&["kv_store", "audit_log"])
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let tables = ForeignTables::open(&place.path)?;
    let rows = tables.rows("kv_store", &["scope", "key", "value"])?;
    tables.finish()?;
    let mut harvest = Harvest::default();
    for row in &rows {
        let value = || event::from_json(text(row, "value")?).ok();
        let key = text(row, "key").unwrap_or_default();
        match text(row, "scope") {
            Some("mem:memories") => add_memory(&mut harvest, key, value(), "fact"),
            Some("mem:lessons") => add_memory(&mut harvest, key, value(), "lesson"),
            Some(scope) if is_work(scope) => harvest.leave_out("observation of work"),
            // Indexes, counters and its audit.
            _ => {}
        }
    }
    Ok(harvest)
}

fn is_work(scope: &str) -> bool {
    scope.starts_with("mem:folder:") || scope.starts_with("mem:obs:")
}

fn add_memory(harvest: &mut Harvest, key: &str, value: Option<Value>, usual: &str) {
    let Some(Value::Object(memory)) = value else {
        return harvest.leave_out("value that is no JSON");
    };
    if memory.get("isLatest") == Some(&Value::Bool(false)) {
        return harvest.leave_out("earlier version of a memory");
    }
    if memory.get("deleted").is_some_and(|deleted| *deleted != Value::Bool(false)) {
        return harvest.leave_out("deleted memory");
    }
    match text(&memory, "content") {
        Some(said) => harvest.add_item(key, draft_of(&memory, said, usual)),
        None => harvest.leave_out("memory without text"),
    }
}

fn draft_of(memory: &Map<String, Value>, said: &str, usual: &str) -> Draft {
    let (event_type, word) = kind(text(memory, "type").or(Some(usual)));
    let words = [memory.get("concepts"), memory.get("tags")].into_iter().flat_map(texts);
    let project = text(memory, "project").map(str::to_owned);
    let mut files = texts(memory.get("files"));
    files.truncate(FILES_MAX);
    Draft {
        event_type: Some(event_type.to_owned()),
        tags: tags(words.chain(word).chain(project)),
        files,
        timestamp: first_time(memory, &["updatedAt", "createdAt"]),
        expires: first_time(memory, &["forgetAfter"]),
        ..foreign_draft(
            text(memory, "agentId").unwrap_or(NAME),
            (text(memory, "context").unwrap_or_default(), said),
        )
    }
}
