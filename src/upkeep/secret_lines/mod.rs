//! Secrets in an existing line: where they are, and the line without them, otherwise unchanged. Not here: what
//! a secret looks like (`guard::secrets`), files (`scrub`).

mod members;

use std::ops::Range;

use serde_json::{Map, Value};

use self::members::{JsonText, Members, decoded_text};
use event::clean;
use event::{DecodedLine, Event, EventId, codec};
use guard::secrets::{Finding, findings};
use guard::text::escaped;

/// Recognises secrets. [`Recogniser::default`] is the real one; tests use their own rules.
pub struct Recogniser<'a> {
    /// Finds the secrets in a text.
    pub find: &'a dyn Fn(&str) -> Vec<Finding>,
    /// Returns the fields of an event in the form that may be written. It can use more than the text of a
    /// field, such as the field's name.
    pub fields: &'a dyn Fn(Event) -> Map<String, Value>,
}

impl Default for Recogniser<'_> {
    fn default() -> Self {
        Self { find: &findings, fields: &|event| codec::fields_of(clean::clean(event).event()) }
    }
}

/// The place of a secret in a line. It does not contain the secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SecretSpot {
    /// The field that contains the secret; empty if the line has no fields.
    pub field: String,
    /// The rule that recognised it.
    pub rule: String,
}

/// A line with secrets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExposedLine {
    /// The places of the secrets.
    pub spots: Vec<SecretSpot>,
    /// The line without them; `None` if removing them would lose something else.
    pub clean: Option<Vec<u8>>,
}

/// The beginning of redacted text. The rule and a bracket follow.
const MARK: &str = "[REDACTED:";

/// Fields that contain ids. A line must keep its own id, and the ids it refers to.
const IDS: [&str; 2] = ["id", "memory_id"];

impl Recogniser<'_> {
    /// Looks for secrets in a line without its line break. `file_repo` is as for [`codec::decode`].
    pub(super) fn find_secrets(&self, line: &[u8], file_repo: &str) -> Option<ExposedLine> {
        self.find_secrets_in(line, &codec::decode(line, file_repo), file_repo)
    }

    /// Looks for secrets in a line that is already decoded.
    pub(super) fn find_secrets_in(
        &self,
        line: &[u8],
        decoded: &DecodedLine,
        file_repo: &str,
    ) -> Option<ExposedLine> {
        match decoded {
            DecodedLine::Blank => None,
            DecodedLine::Event(event) => self.exposed_event(line, event, file_repo),
            DecodedLine::Skipped(_) if is_json(line) => self.in_texts(line).map(ExposedLine::from),
            DecodedLine::Skipped(_) => self.in_bytes(line).map(ExposedLine::from),
        }
    }

    fn exposed_event(&self, line: &[u8], event: &Event, file_repo: &str) -> Option<ExposedLine> {
        let (mut clean, mut spots) = (Vec::new(), Vec::new());
        let mut left = event.clone();
        if let Some((cleaner, found)) = self.in_texts(line) {
            if let DecodedLine::Event(event) = codec::decode(&cleaner, file_repo) {
                left = *event;
            }
            (clean, spots) = (cleaner, found);
        }
        let fields = (self.fields)(left);
        if fields.values().any(holds_mark) {
            let known = if spots.is_empty() { line } else { &clean };
            let (cleaner, more) = in_fields(known, &fields);
            spots.extend(more);
            clean = cleaner;
        }
        if spots.is_empty() {
            return None;
        }
        let clean = with_id(clean, &event.id);
        let still = codec::decode(&clean, file_repo);
        let is_same = matches!(still, DecodedLine::Event(still) if still.id == event.id);
        Some(ExposedLine { spots, clean: is_same.then_some(clean) })
    }

    /// Removes secrets from each text in JSON, including names. Everything else is unchanged.
    fn in_texts(&self, line: &[u8]) -> Option<(Vec<u8>, Vec<SecretSpot>)> {
        let members = Members::parse(line);
        let mut edits = Edits::default();
        let mut spots = Vec::new();
        for JsonText { place, field, .. } in members.texts {
            let said = line.get(place.clone()).and_then(decoded_text);
            let Some(said) = said.filter(|_| !IDS.contains(&field.as_str())) else { continue };
            let found = (self.find)(&said);
            if !found.is_empty() {
                // The report shows the field's name, which may contain the secret itself.
                let field = without(&field, &(self.find)(&field));
                spots.extend(found.iter().map(|found| spot(&field, found.rule)));
                edits.push(place, json_of(&Value::from(without(&said, &found))));
            }
        }
        (!spots.is_empty()).then(|| (edits.apply(line), spots))
    }

    /// Removes secrets from bytes that are not JSON, wherever they are text.
    fn in_bytes(&self, line: &[u8]) -> Option<(Vec<u8>, Vec<SecretSpot>)> {
        let (mut out, mut spots) = (Vec::with_capacity(line.len()), Vec::new());
        for chunk in line.utf8_chunks() {
            let found = (self.find)(chunk.valid());
            spots.extend(found.iter().map(|found| spot("", found.rule)));
            out.extend_from_slice(without(chunk.valid(), &found).as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        (!spots.is_empty()).then_some((out, spots))
    }

    /// Looks for secrets in a line that is no event: in each text of JSON, else in all of it. Returns the line without them.
    pub(super) fn exposed_text(&self, line: &[u8]) -> Option<(Vec<u8>, Vec<SecretSpot>)> {
        if is_json(line) { self.in_texts(line) } else { self.in_bytes(line) }
    }

    /// Returns bytes without their secrets, for a copy.
    pub(super) fn redacted_copy(&self, line: &[u8]) -> Vec<u8> {
        let exposed = self.find_secrets(line, "");
        exposed.and_then(|exposed| exposed.clean).unwrap_or_else(|| line.to_vec())
    }
}

impl From<(Vec<u8>, Vec<SecretSpot>)> for ExposedLine {
    fn from((clean, spots): (Vec<u8>, Vec<SecretSpot>)) -> Self {
        Self { spots, clean: Some(clean) }
    }
}

fn spot(field: &str, rule: &str) -> SecretSpot {
    SecretSpot { field: field.to_owned(), rule: rule.to_owned() }
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_str::<Value>(&String::from_utf8_lossy(line)).is_ok()
}

fn without(text: &str, found: &[Finding]) -> String {
    let (mut out, mut copied_to) = (String::with_capacity(text.len()), 0);
    for Finding { rule, span } in found {
        out.push_str(text.get(copied_to..span.start).unwrap_or_default());
        out.push_str(MARK);
        out.push_str(rule);
        out.push(']');
        copied_to = span.end;
    }
    out + text.get(copied_to..).unwrap_or_default()
}

/// Encodes a value as our lines do.
fn json_of(value: &Value) -> Vec<u8> {
    escaped(&value.to_string()).into_owned().into_bytes()
}

/// Replaces the fields that contain more secrets by those that may be written.
fn in_fields(line: &[u8], fields: &Map<String, Value>) -> (Vec<u8>, Vec<SecretSpot>) {
    let (mut edits, mut spots) = (Edits::default(), Vec::new());
    for (name, place) in Members::parse(line).values {
        let value = line.get(place.clone()).unwrap_or_default();
        let (Some(clean), false) = (fields.get(&name), IDS.contains(&name.as_str())) else {
            continue;
        };
        let mut rules = rules_in(&clean.to_string());
        for known in rules_in(&String::from_utf8_lossy(value)) {
            if let Some(same) = rules.iter().position(|rule| *rule == known) {
                rules.remove(same);
            }
        }
        if !rules.is_empty() {
            spots.extend(rules.iter().map(|rule| spot(&name, rule)));
            edits.push(place, json_of(clean));
        }
    }
    (edits.apply(line), spots)
}

fn holds_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MARK),
        Value::Array(items) => items.iter().any(holds_mark),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains(MARK) || holds_mark(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Lists the rules that a redacted text names.
fn rules_in(text: &str) -> Vec<String> {
    let after = text.split(MARK).skip(1);
    after.filter_map(|rest| rest.split_once(']')).map(|(rule, _)| rule.to_owned()).collect()
}

/// An id derived from the bytes of a line would change with them, so it is written into the line. It goes after
/// an id that could not be understood, because the last of two fields counts.
fn with_id(clean: Vec<u8>, id: &EventId) -> Vec<u8> {
    let members = Members::parse(&clean);
    let is_there = members.values.iter().any(|(name, _)| name == "id");
    if !is_there {
        let mut edits = Edits::default();
        edits.push(members.begin..members.begin, format!("\"id\":\"{id}\",").into_bytes());
        return edits.apply(&clean);
    }
    match codec::decode(&clean, "") {
        DecodedLine::Event(event) if event.id == *id => clean,
        DecodedLine::Event(_) | DecodedLine::Blank | DecodedLine::Skipped(_) => {
            let mut edits = Edits::default();
            edits.push(members.end..members.end, format!(",\"id\":\"{id}\"").into_bytes());
            edits.apply(&clean)
        }
    }
}

/// Replacements of separate parts of a line, in order.
#[derive(Default)]
struct Edits(Vec<(Range<usize>, Vec<u8>)>);

impl Edits {
    fn push(&mut self, place: Range<usize>, bytes: Vec<u8>) {
        self.0.push((place, bytes));
    }

    fn apply(self, line: &[u8]) -> Vec<u8> {
        let (mut out, mut copied_to) = (Vec::with_capacity(line.len()), 0);
        for (place, bytes) in self.0 {
            out.extend_from_slice(line.get(copied_to..place.start).unwrap_or_default());
            out.extend(bytes);
            copied_to = place.end;
        }
        out.extend_from_slice(line.get(copied_to..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
pub(super) mod tests;
