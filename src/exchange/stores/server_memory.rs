//! `@modelcontextprotocol/server-memory`: a graph of entities with observations, as lines of JSON. An observation is a
//! memory, and so is a relation, as a sentence.

use serde_json::{Map, Value};

use super::super::error::ExchangeError;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::{Harvest, foreign_draft};
use super::super::loose_values::{kind, tags, text};
use super::foreign_store::{ForeignStore, unlike};
use event::Draft;

const NAME: &str = "server-memory";

pub(super) const STORE: ForeignStore =
    ForeignStore { name: NAME, form: "its memory.jsonl", recognises, read };

fn recognises(place: &ForeignPlace) -> bool {
    let Some(lines) = place.lines() else { return false };
    lines.values.iter().take(10).any(|(_, value)| {
        let is = |kind: &str| value.get("type").and_then(Value::as_str) == Some(kind);
        (is("entity") && value.get("observations").is_some())
            || (is("relation") && value.get("relationType").is_some())
    })
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let lines = place.lines().ok_or_else(|| unlike(place, &STORE))?;
    let mut harvest = Harvest::default();
    for (number, value) in &lines.values {
        let Some(object) = value.as_object() else { continue };
        match text(object, "type") {
            Some("entity") => entity(&mut harvest, object, *number),
            Some("relation") => relation(&mut harvest, object, *number),
            _ => harvest.leave_out("line that is neither entity nor relation"),
        }
    }
    (0..lines.broken).for_each(|_| harvest.leave_out("line that is no JSON"));
    Ok(harvest)
}

fn entity(harvest: &mut Harvest, object: &Map<String, Value>, number: usize) {
    let observations = object.get("observations").and_then(Value::as_array);
    let observations = observations.map_or(&[][..], Vec::as_slice);
    let Some(name) = text(object, "name").filter(|_| !observations.is_empty()) else {
        return harvest.leave_out("entity without observations");
    };
    let (event_type, word) = kind(text(object, "entityType"));
    for observation in observations {
        let Some(said) = observation.as_str().filter(|said| !said.trim().is_empty()) else {
            harvest.leave_out("observation without text");
            continue;
        };
        let draft = Draft {
            event_type: Some(event_type.to_owned()),
            tags: tags([Some(name.to_owned()), word.clone()].into_iter().flatten()),
            ..foreign_draft(NAME, (name, said))
        };
        harvest.add_item(format!("line {number}"), draft);
    }
}

fn relation(harvest: &mut Harvest, object: &Map<String, Value>, number: usize) {
    let [Some(from), Some(to), Some(how)] =
        ["from", "to", "relationType"].map(|name| text(object, name))
    else {
        return harvest.leave_out("relation without its ends");
    };
    let sentence = format!("{from} {} {to}", how.replace('_', " "));
    let draft = Draft {
        event_type: Some("fact".to_owned()),
        tags: tags([from.to_owned(), to.to_owned()]),
        ..foreign_draft(NAME, (from, &sentence))
    };
    harvest.add_item(format!("line {number}"), draft);
}
