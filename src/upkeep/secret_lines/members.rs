//! The byte ranges of texts and fields in a line of JSON, so that one of them can be changed alone. Not here:
//! whether the line is JSON. The ranges mean nothing if it is not.

use event::surrogates_mended;
use std::ops::Range;

/// A text, including its quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct JsonText {
    /// The byte range.
    pub place: Range<usize>,
    /// The top-level field that contains the text. For the name of a field, that name.
    pub field: String,
}

/// The parts of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Members {
    /// All texts, in order.
    pub texts: Vec<JsonText>,
    /// The values of the top-level fields, in order.
    pub values: Vec<(String, Range<usize>)>,
    /// Where the first field begins.
    pub begin: usize,
    /// Where the last field ends.
    pub end: usize,
}

/// The state of a pass over a line.
#[derive(Default)]
struct MemberWalk {
    found: Members,
    depth: usize,
    field: String,
    /// Where the value of the current field begins.
    value_from: Option<usize>,
}

impl Members {
    pub(super) fn parse(line: &[u8]) -> Self {
        let (mut walk, mut at) = (MemberWalk::default(), 0);
        while let Some(byte) = line.get(at) {
            at = match byte {
                b'"' => walk.text(line, at),
                b'{' | b'[' => walk.opened(at),
                b'}' | b']' => walk.closed(line, at),
                b',' if walk.depth == 1 => walk.value_ended(line, at),
                _ => at + 1,
            };
        }
        walk.found
    }
}

impl MemberWalk {
    fn text(&mut self, line: &[u8], start: usize) -> usize {
        let end = end_of_text(line, start);
        let rest = line.get(end..).unwrap_or_default();
        let gap = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_name = rest.get(gap) == Some(&b':');
        if is_name && self.depth == 1 {
            let name = line.get(start..end).and_then(decoded_text);
            self.field = name.unwrap_or_default();
            self.value_from = Some(end + gap + 1);
        }
        self.found.texts.push(JsonText { place: start..end, field: self.field.clone() });
        end
    }

    fn opened(&mut self, at: usize) -> usize {
        self.depth += 1;
        if self.depth == 1 {
            self.found.begin = at + 1;
        }
        at + 1
    }

    fn closed(&mut self, line: &[u8], at: usize) -> usize {
        if self.depth == 1 {
            self.value_ended(line, at);
            self.found.end = at;
        }
        self.depth = self.depth.saturating_sub(1);
        at + 1
    }

    fn value_ended(&mut self, line: &[u8], at: usize) -> usize {
        if let Some(from) = self.value_from.take() {
            let bytes = line.get(from..at).unwrap_or_default();
            let (kept, trimmed) = (bytes.trim_ascii_start(), bytes.trim_ascii());
            let start = at - kept.len();
            self.found.values.push((self.field.clone(), start..start + trimmed.len()));
        }
        at + 1
    }
}

/// Returns the end of the text that begins with the quote at `start`: after its closing quote, or at the end of
/// the line.
fn end_of_text(line: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    line.len()
}

/// Decodes a text of JSON, given with its quotes.
pub(super) fn decoded_text(literal: &[u8]) -> Option<String> {
    let literal = String::from_utf8_lossy(literal);
    let whole = serde_json::from_str(&literal).ok();
    whole.or_else(|| serde_json::from_str(&surrogates_mended(&literal)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    /// Returns the texts, each with its field.
    fn texts(line: &str) -> Vec<(&str, String)> {
        let texts = Members::parse(line.as_bytes()).texts.into_iter();
        texts.map(|text| (line.get(text.place).unwrap(), text.field)).collect()
    }

    /// Returns the names and values of fields.
    fn values(line: &str) -> Vec<(String, &str)> {
        let values = Members::parse(line.as_bytes()).values.into_iter();
        values.map(|(name, place)| (name, line.get(place).unwrap())).collect()
    }

    #[test]
    fn names_and_values_are_told_apart_at_every_depth() {
        let line = r#" { "a" : "x\"}" ,"b":[1,{"c":"y"}], "d":{"a":2} }"#;
        let expected = [
            (r#""a""#, "a"),
            (r#""x\"}""#, "a"),
            (r#""b""#, "b"),
            (r#""c""#, "b"),
            (r#""y""#, "b"),
            (r#""d""#, "d"),
            (r#""a""#, "d"),
        ];
        let expected: Vec<(&str, String)> =
            expected.iter().map(|(text, field)| (*text, (*field).to_owned())).collect();
        assert_eq!(texts(line), expected);
        let values: Vec<&str> = values(line).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [r#""x\"}""#, r#"[1,{"c":"y"}]"#, r#"{"a":2}"#]);
    }

    #[test]
    fn what_is_no_json_ends_nothing() {
        for line in ["", "\"", "\"\\", "}}]", "{\"a\":", "{\"a\":\"b", ",,,:\""] {
            Members::parse(line.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn every_value_is_found_whole(object in prop::collection::btree_map(any::<String>(), any::<String>(), 0..6)) {
            let json: Map<String, Value> = object.iter().map(|(name, text)| (name.clone(), Value::from(text.clone()))).collect();
            let line = Value::Object(json).to_string();
            let found: Vec<(String, String)> = values(&line).into_iter().map(|(name, value)| (name, serde_json::from_str(value).unwrap())).collect();
            prop_assert_eq!(found, object.into_iter().collect::<Vec<_>>());
        }
    }
}
