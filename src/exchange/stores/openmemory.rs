//! OpenMemory, the server of mem0: `memories.json` of a backup, or its lines (`memories.jsonl.gz`, unpacked).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::error::ExchangeError;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::{Harvest, foreign_draft};
use super::super::loose_values::{first_time, kind, object, tags, text, texts};
use super::foreign_store::{ForeignStore, unlike};
use event::Draft;

const NAME: &str = "openmemory";

pub(super) const STORE: ForeignStore =
    ForeignStore { name: NAME, form: "memories.json of a backup", recognises, read };

fn recognises(place: &ForeignPlace) -> bool {
    let is_line = |value: &Value| {
        ["content", "state", "created_at"].iter().all(|name| value.get(*name).is_some())
    };
    let in_lines = || place.lines()?.values.first().map(|(_, value)| is_line(value));
    let whole = place.json();
    whole.is_some_and(|whole| whole.get("memories").is_some() && whole.get("apps").is_some())
        || in_lines().unwrap_or_default()
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let mut harvest = Harvest::default();
    if let Some(lines) = place.lines() {
        for (number, value) in &lines.values {
            add_record(&mut harvest, *number, value, &BTreeMap::new());
        }
        (0..lines.broken).for_each(|_| harvest.leave_out("line that is no JSON"));
        return Ok(harvest);
    }
    let whole = place.json().ok_or_else(|| unlike(place, &STORE))?;
    let list = whole.get("memories").and_then(Value::as_array);
    let names = names_of(whole);
    for (number, value) in (1..).zip(list.ok_or_else(|| unlike(place, &STORE))?) {
        add_record(&mut harvest, number, value, &names);
    }
    Ok(harvest)
}

/// The names of apps and categories by their ids.
fn names_of(whole: &Value) -> BTreeMap<&str, &str> {
    let lists = ["apps", "categories"].into_iter().filter_map(|name| whole.get(name)?.as_array());
    lists.flatten().filter_map(name_of).collect()
}

fn name_of(one: &Value) -> Option<(&str, &str)> {
    Some((one.get("id")?.as_str()?, one.get("name")?.as_str()?))
}

fn add_record(harvest: &mut Harvest, number: usize, value: &Value, names: &BTreeMap<&str, &str>) {
    let Some(record) = value.as_object() else {
        return harvest.leave_out("entry that is no object");
    };
    let Some(said) = text(record, "content") else {
        return harvest.leave_out("entry without text");
    };
    match text(record, "state") {
        None | Some("active") => {}
        Some("paused") => return harvest.leave_out("paused memory"),
        Some("archived") => return harvest.leave_out("archived memory"),
        Some(_) => return harvest.leave_out("deleted memory"),
    }
    harvest.add_item(format!("entry {number}"), draft_of(record, said, names));
}

fn draft_of(record: &Map<String, Value>, said: &str, names: &BTreeMap<&str, &str>) -> Draft {
    let metadata = object(record.get("metadata"));
    let ids = texts(record.get("category_ids"));
    let categories = ids.iter().filter_map(|id| names.get(&**id)).map(|name| (*name).to_owned());
    let categories: Vec<String> = categories.chain(texts(record.get("categories"))).collect();
    let (event_type, _) = kind(categories.first().map(String::as_str));
    let app = text(record, "app").or_else(|| names.get(text(record, "app_id")?).copied());
    Draft {
        event_type: Some(event_type.to_owned()),
        tags: tags(categories.into_iter().chain(texts(metadata.get("tags")))),
        timestamp: first_time(record, &["updated_at", "created_at"]),
        ..foreign_draft(app.unwrap_or(NAME), ("", said))
    }
}
