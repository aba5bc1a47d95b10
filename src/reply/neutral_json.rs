//! Removes from JSON what could command a terminal, even after a program parsed and printed it. Not here: text
//! replies, which are neutralised line by line.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use guard::text::{Layout, neutralise};

/// Returns `json` without anything that could command a terminal or hide from a reader, in keys as in
/// strings at any depth. Harmless text stays as it was written.
pub(super) fn neutral(json: Value) -> Value {
    match json {
        Value::String(text) => Value::String(block(text)),
        Value::Array(items) => items.into_iter().map(neutral).collect(),
        Value::Object(fields) => Value::Object(object(fields)),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

fn block(text: String) -> String {
    // Nearly all texts: nothing in them is more than layout.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text;
    }
    let clean = neutralise(&text, Layout::Block);
    let words = |text: &str| text.chars().filter(|c| *c != '\n').collect::<String>();
    // Text that differs only in its layout stays as it was written.
    if clean == text || words(&clean) == words(&text) { text } else { clean }
}

fn object(fields: Map<String, Value>) -> Map<String, Value> {
    let mut clean = Map::new();
    let names: BTreeSet<String> = fields.keys().cloned().collect();
    for (name, value) in fields {
        let shown = neutralise(&name, Layout::Line);
        // A key that equals another key after it was neutralised must not replace it.
        let is_taken = shown != name && (names.contains(&shown) || clean.contains_key(&shown));
        let shown = if is_taken { name.escape_default().to_string() } else { shown };
        clean.insert(shown, neutral(value));
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard::text::is_unsafe;
    use proptest::prelude::*;
    use serde_json::json;

    /// Returns every string and key in `json`.
    fn texts(json: &Value) -> Vec<String> {
        match json {
            Value::String(text) => vec![text.clone()],
            Value::Array(items) => items.iter().flat_map(texts).collect(),
            Value::Object(fields) => fields
                .iter()
                .flat_map(|(name, value)| [vec![name.clone()], texts(value)].concat())
                .collect(),
            _ => Vec::new(),
        }
    }

    // S-REPLY-3
    #[test]
    fn strings_and_keys_are_harmless_at_any_depth() {
        let bad = "a\u{1B}[31m\u{9B}\u{202E}\u{E0041}\u{200F}b";
        let json = neutral(json!({ bad: [bad, { bad: { bad: bad } }], "n": [1, null, true] }));
        assert_eq!(json, json!({ "ab": ["ab", { "ab": { "ab": "ab" } }], "n": [1, null, true] }));
    }

    #[test]
    fn harmless_text_stays_as_it_was_written() {
        let json =
            json!({ "lesson": " a\n\n\n\n\tb \u{E9} \u{1F469}\u{200D}\u{1F4BB} ", "b  c": 1.5 });
        assert_eq!(neutral(json.clone())["lesson"], json["lesson"]);
    }

    // S-REPLY-3
    #[test]
    fn no_name_takes_the_place_of_another() {
        let forged =
            neutral(json!({ "id\u{202E}": "forged", "id": "true", "x\u{9B}": 1, "x\u{7F}": 2 }));
        let expected = json!({ "id\\u{202e}": "forged", "id": "true", "x": 1, "x\\u{7f}": 2 });
        assert_eq!(forged, expected);
    }

    proptest! {
        // S-REPLY-3
        #[test]
        fn nothing_unsafe_survives(fields in prop::collection::hash_map(any::<String>(), any::<String>(), 0..9)) {
            let count = fields.len();
            let json = neutral(json!({ "list": [fields] }));
            prop_assert_eq!(json["list"][0].as_object().unwrap().len(), count);
            prop_assert!(!texts(&json).iter().any(|text| text.chars().any(is_unsafe)), "{}", json);
        }
    }
}
