//! The last step before a log: only this crate makes a [`CleanEvent`], and only a `CleanEvent` can be appended.
//! It contains no unsafe characters and no secret that our rules recognise. Readers remove secrets from lines
//! of other writers by the same rules. Not here: the rules (`guard`).

use std::borrow::Cow;

use serde_json::{Map, Value};

use guard::secrets::{findings, findings_in_stamp, redacted, redacted_stamp};
use guard::text;

use super::{Event, EventId, EventType};

/// An event that may be written to disk.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanEvent(Event);

/// Makes an event safe to write: unsafe and invisible characters are dropped from every text, and secrets are
/// replaced by `[REDACTED:rule]`. Events that passed `validate` have no unsafe characters; imported events may
/// have some.
#[must_use]
pub fn clean(mut event: Event) -> CleanEvent {
    event.texts_mut(show);
    event.stamps_mut(show);
    // An entry of nothing but such characters is empty now, and an empty entry would not survive a round trip.
    for list in [&mut event.tags, &mut event.symptoms, &mut event.files] {
        list.retain(|text| !text.is_empty());
    }
    for optional in [
        &mut event.commit,
        &mut event.branch,
        &mut event.session_id,
        &mut event.host,
        &mut event.source,
    ] {
        optional.take_if(|text| text.is_empty());
    }
    // Secrets are searched last, because an escape sequence in the middle of a secret must not hide it.
    CleanEvent(without_secrets(event))
}

/// Removes unsafe and invisible characters from a text.
fn show(text: &mut String) {
    if let Cow::Owned(visible) = text::visible(text) {
        *text = visible;
    }
    if text.chars().any(text::is_unsafe) {
        *text = text::neutralise(text, text::Layout::Block);
    }
}

/// Returns an event that was read with `[REDACTED:rule]` in place of every secret. The id stays unless it is a
/// secret itself. A new id is then derived from the old one, so that events about the memory still find it.
#[must_use]
pub fn without_secrets(mut event: Event) -> Event {
    event.texts_mut(redact);
    event.stamps_mut(|stamp| {
        if let Cow::Owned(clean) = redacted_stamp(stamp) {
            *stamp = clean;
        }
    });
    redact(&mut event.repo);
    if let Cow::Owned(kind) = redacted(event.event_type.as_str()) {
        event.event_type = EventType::from_line(&kind);
    }
    for id in std::iter::once(&mut event.id).chain(&mut event.memory_id) {
        if !findings_in_stamp(id.as_str()).is_empty() {
            *id = EventId::derive(None, id.as_str().as_bytes());
        }
    }
    if !event.extra.is_empty() {
        event.extra = object_without_secrets(std::mem::take(&mut event.extra));
    }
    event
}

/// Returns JSON with `[REDACTED:rule]` in place of every secret, in strings and names at any depth. The name of
/// a field hints at what its value is, as in `{"password": "…"}`.
#[must_use]
pub fn json_without_secrets(json: Value) -> Value {
    match json {
        Value::String(mut text) => {
            redact(&mut text);
            Value::String(text)
        }
        Value::Array(items) => items.into_iter().map(json_without_secrets).collect(),
        Value::Object(fields) => Value::Object(object_without_secrets(fields)),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

fn object_without_secrets(fields: Map<String, Value>) -> Map<String, Value> {
    let mut clean = Map::new();
    for (name, value) in fields {
        let mut clean_name = name.clone();
        redact(&mut clean_name);
        // The line that is written has the clean name, and must be read as it was written.
        let named = |text| {
            let text = named_without_secrets(&name, text);
            let is_same = clean_name == name;
            Value::String(if is_same { text } else { named_without_secrets(&clean_name, text) })
        };
        let value = match value {
            Value::String(text) => named(text),
            Value::Array(items) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => named(text),
                    other => json_without_secrets(other),
                })
                .collect(),
            other => json_without_secrets(other),
        };
        let mut name = clean_name;
        // Two secret names must not collapse into one field.
        while clean.contains_key(&name) {
            name.push('\'');
        }
        clean.insert(name, value);
    }
    clean
}

fn named_without_secrets(name: &str, mut text: String) -> String {
    redact(&mut text);
    // Quotes inside the text must not begin or end the quoted value, so another character replaces them.
    let plain = text.replace(['"', '\'', '`'], "_");
    let lead = format!("{name}=\"");
    let assigned = format!("{lead}{plain}\"");
    let whole = lead.len()..lead.len() + text.len();
    match findings(&assigned).iter().find(|finding| finding.span == whole) {
        Some(finding) => finding.mark(),
        None => text,
    }
}

/// Replaces every secret in a text by `[REDACTED:rule]`.
pub fn redact(text: &mut String) {
    if let Cow::Owned(clean) = redacted(text) {
        *text = clean;
    }
}

impl CleanEvent {
    /// Returns the event.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-WRITE-8
    #[test]
    fn a_field_name_marks_its_values_despite_quotes() {
        let typed = ["Tr0ub", "4dor&3"].concat();
        for value in [
            serde_json::json!({ "password": format!("a\"b'c{typed}") }),
            serde_json::json!({ "passwords": [typed, format!("`'\"{typed}")] }),
            serde_json::json!({ "deep": [{ "db_password": typed }] }),
        ] {
            let clean = json_without_secrets(value).to_string();
            assert!(!clean.contains(&typed) && clean.contains("[REDACTED:password]"), "{clean}");
        }
        let harmless =
            serde_json::json!({ "passwords": ["required", "hidden"], "keys": ["a", "b"] });
        assert_eq!(json_without_secrets(harmless.clone()), harmless);
    }

    // S-WRITE-8
    #[test]
    fn stamps_keep_random_ids_and_lose_marked_secrets() {
        let id = ["zbr_", "q7RtB2xKd9", "WmZ4pLs8VnYc3HfGj6", "Xv5TqN1yKw8"].concat();
        assert_eq!(redacted(&id), "[REDACTED:drawn-key]");
        assert_eq!(redacted_stamp(&id), id);
        let token = format!("{}_{}", ["gh", "p"].concat(), "q7RtB2xKd9WmZ4pLs8VnYc3HfGj6x4k9q2m7");
        assert!(!redacted_stamp(&token).contains(&token));
    }
}
