//! Values of foreign stores in the forms that they come in: times as texts and numbers, lists as arrays and texts.
//! Not here: which field means what (`stores`).

use serde_json::{Map, Value};

use event::limits::{TAG_BYTES_MAX, TAGS_MAX};
use event::{Timestamp, parse_timestamp};

/// Numbers above this are milliseconds: as seconds they would be after the year 5000.
const SECONDS_MAX: f64 = 1e11;

/// Returns a text that is not empty.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

/// Returns a list: an array of texts, an array written as a text, or a text with commas.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        Some(Value::String(text)) => match event::from_json(text) {
            Ok(list @ Value::Array(_)) => texts(Some(&list)),
            _ => text
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect(),
        },
        _ => Vec::new(),
    }
}

/// Returns an object, which may be written as a text.
pub(crate) fn object(value: Option<&Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(object)) => object.clone(),
        Some(Value::String(text)) => match event::from_json(text) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

/// Returns the first of these fields that is a time, as a line of a log has it. A field may be null, empty or
/// unreadable where the next one says when it was.
pub(crate) fn first_time(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| time(object.get(*name))).map(|time| time.to_string())
}

/// Returns a time: a text, or seconds or milliseconds since 1970. What is not after the beginning of 1970 is what
/// programs write for no time.
pub(crate) fn time(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::String(text) => time_of_text(text),
        Value::Number(number) => {
            let seconds = number.as_f64()?;
            let seconds = if seconds.abs() > SECONDS_MAX { seconds / 1_000.0 } else { seconds };
            #[expect(clippy::cast_possible_truncation, reason = "a part of a second tells nothing")]
            Timestamp::from_second(seconds as i64).ok().filter(is_stated)
        }
        _ => None,
    }
}

/// Reads a time as other programs write it, such as Go: `2026-01-02 03:04:05.5 +0100 CET m=+1.2`.
pub(crate) fn time_of_text(text: &str) -> Option<Timestamp> {
    if let Some(time) = parse_timestamp(text) {
        return Some(time).filter(is_stated);
    }
    let mut words = text.split_whitespace();
    let (day, clock) = (words.next()?, words.next()?);
    let offset = words.next().filter(|word| word.len() == 5 && word.starts_with(['+', '-']));
    let offset = offset.and_then(|word| Some(format!("{}:{}", word.get(..3)?, word.get(3..)?)));
    parse_timestamp(&format!("{day}T{clock}{}", offset.unwrap_or_default())).filter(is_stated)
}

fn is_stated(time: &Timestamp) -> bool {
    time.as_second() > 0
}

/// Returns those words that fit as tags, each once.
pub(crate) fn tags(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for word in words {
        let tag = word.trim().trim_start_matches('#');
        let tag = tag.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_known = tags.contains(&tag);
        if !tag.is_empty() && tag.len() <= TAG_BYTES_MAX && !is_known && tags.len() < TAGS_MAX {
            tags.push(tag);
        }
    }
    tags
}

/// The kinds that are known here, and the words of others for them.
const KINDS: [(&str, &str); 24] = [
    ("error", "error"),
    ("bug", "error"),
    ("success", "success"),
    ("pattern", "pattern"),
    ("learning", "pattern"),
    ("lesson", "pattern"),
    ("fact", "fact"),
    ("decision", "decision"),
    ("decisions", "decision"),
    ("architecture", "decision"),
    ("principle", "principle"),
    ("procedure", "procedure"),
    ("workflow", "procedure"),
    ("workflows", "procedure"),
    ("skill", "procedure"),
    ("guide", "procedure"),
    ("convention", "convention"),
    ("spec", "convention"),
    ("standard", "convention"),
    ("feedback", "convention"),
    ("preference", "preference"),
    ("user", "preference"),
    ("task", "task"),
    ("planning", "task"),
];

/// Words that say nothing about an item.
const EMPTY_KINDS: [&str; 7] =
    ["note", "notes", "observation", "memory", "reference", "project", "other"];

/// Returns the kind for a foreign word, and a tag where the kind says less than the word.
pub(crate) fn kind(word: Option<&str>) -> (&'static str, Option<String>) {
    let word = word.map(|word| word.trim().to_lowercase()).filter(|word| !word.is_empty());
    let Some(word) = word else { return ("fact", None) };
    match KINDS.iter().find(|(theirs, _)| *theirs == word) {
        Some((_, ours)) if *ours == word => (ours, None),
        Some((_, ours)) => (ours, Some(word)),
        None if EMPTY_KINDS.contains(&&*word) => ("fact", None),
        None => ("fact", Some(word)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // S-IMPORT-3
    #[test]
    fn times_are_read_in_every_form() {
        let expected = "2026-01-02T03:04:05Z".parse().ok();
        for value in [
            json!("2026-01-02T03:04:05Z"),
            json!("2026-01-02T04:04:05+01:00"),
            json!("2026-01-02 03:04:05 +0000 UTC"),
            json!("2026-01-02 04:04:05 +0100 CET m=+0.003"),
            json!("2026-01-02 03:04:05"),
            json!(1_767_323_045),
            json!(1_767_323_045_000_i64),
            json!(1_767_323_045.0),
        ] {
            assert_eq!(time(Some(&value)), expected, "{value}");
        }
        for value in UNREADABLE.map(|text| event::from_json(text).unwrap()) {
            assert_eq!(time(Some(&value)), None, "{value}");
        }
    }

    /// What stores have in the place of a time.
    const UNREADABLE: [&str; 9] = [
        "null",
        "\"\"",
        "\"soon\"",
        "true",
        "1e300",
        "\"1 2\"",
        "0",
        "\"0001-01-01T00:00:00Z\"",
        "\"0001-01-01 00:00:00 +0000 UTC\"",
    ];

    // S-IMPORT-3
    #[test]
    fn another_field_replaces_an_unreadable_time() {
        for value in UNREADABLE.map(|text| event::from_json(text).unwrap()) {
            let record = json!({ "updated": value, "created": "2026-01-02" });
            let record = record.as_object().unwrap();
            let read = first_time(record, &["none", "updated", "created"]);
            assert_eq!(read.as_deref(), Some("2026-01-02T00:00:00Z"), "{record:?}");
            assert_eq!(first_time(record, &["updated"]), None, "{record:?}");
        }
    }

    // S-IMPORT-3
    #[test]
    fn lists_and_tags_have_every_form() {
        for value in [json!(["a", "b c"]), json!("[\"a\",\"b c\"]"), json!("a, b c,")] {
            assert_eq!(texts(Some(&value)), ["a", "b c"], "{value}");
        }
        let many = (0..50).map(|number| format!("t{number}"));
        assert_eq!(tags(many).len(), TAGS_MAX);
        let odd = ["#a", "a", " ", "b\nc", &"x".repeat(65)].map(str::to_owned);
        assert_eq!(tags(odd), ["a", "b c"]);
    }

    // S-IMPORT-3
    #[test]
    fn kinds_of_others_become_known_kinds() {
        assert_eq!(kind(Some("Decision")), ("decision", None));
        assert_eq!(kind(Some("bug")), ("error", Some("bug".to_owned())));
        assert_eq!(kind(Some("note")), ("fact", None));
        assert_eq!(kind(Some("recipe")), ("fact", Some("recipe".to_owned())));
        assert_eq!(kind(None), ("fact", None));
    }
}
