//! mem0: the result of `get_all`, as its library and its platform export it. Not here: backups of `OpenMemory`.

use serde_json::{Map, Value};

use super::super::error::ExchangeError;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::{Harvest, foreign_draft};
use super::super::loose_values::{first_time, kind, object, tags, text, texts};
use super::foreign_store::{ForeignStore, unlike};
use event::Draft;

const NAME: &str = "mem0";

pub(super) const STORE: ForeignStore =
    ForeignStore { name: NAME, form: "the JSON of get_all or of an export", recognises, read };

/// Names under which exports have the list.
const LISTS: [&str; 3] = ["results", "memories", "data"];

fn recognises(place: &ForeignPlace) -> bool {
    let records = place.json().and_then(records);
    records.is_some_and(|records| {
        let first = records.first().and_then(Value::as_object);
        first.is_some_and(|first| text(first, "memory").is_some() && first.contains_key("id"))
    })
}

fn records(whole: &Value) -> Option<&Vec<Value>> {
    let listed = || LISTS.iter().find_map(|name| whole.get(*name));
    whole.as_array().or_else(|| listed().and_then(Value::as_array))
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let records = place.json().and_then(records).ok_or_else(|| unlike(place, &STORE))?;
    let mut harvest = Harvest::default();
    for (number, record) in (1..).zip(records) {
        let Some(record) = record.as_object() else {
            harvest.leave_out("entry that is no object");
            continue;
        };
        match text(record, "memory").or_else(|| text(record, "content")) {
            Some(said) => harvest.add_item(format!("entry {number}"), draft_of(record, said)),
            None => harvest.leave_out("entry without text"),
        }
    }
    Ok(harvest)
}

fn draft_of(record: &Map<String, Value>, said: &str) -> Draft {
    let metadata = object(record.get("metadata"));
    let category = text(record, "category").or_else(|| text(&metadata, "category"));
    let (event_type, word) = kind(category);
    let more = [record.get("categories"), metadata.get("categories"), metadata.get("tags")];
    let agent = text(record, "agent_id").unwrap_or(NAME);
    Draft {
        event_type: Some(event_type.to_owned()),
        tags: tags(word.into_iter().chain(more.into_iter().flat_map(texts))),
        timestamp: first_time(record, &["updated_at", "created_at"]),
        ..foreign_draft(agent, ("", said))
    }
}
