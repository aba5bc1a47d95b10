//! Reads JSON as clients' files have it (comments, trailing commas, a byte order mark) and remembers where
//! everything stands. Not here: changing anything.

use std::ops::Range;

use serde_json::Value;

use crate::setup::edit::EditError;

/// Deeper than any client nests; the reader calls itself once for each level.
const DEPTH_MAX: usize = 100;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Object(Vec<Item>),
    Array(Vec<Item>),
    Scalar(Value),
}

/// A value in an object or an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// Its name, and where it begins with its quote; an element of an array has none.
    pub(super) key: Option<String>,
    pub(super) begins: usize,
    pub(super) value: Node,
    /// Where the comma after it stands.
    pub(super) comma: Option<usize>,
}

impl Node {
    /// The items of an object or an array.
    pub(super) fn items(&self) -> &[Item] {
        match &self.kind {
            Kind::Object(items) | Kind::Array(items) => items,
            Kind::Scalar(_) => &[],
        }
    }

    /// Finds a member of an object. Of several with one name the last one counts, as for all readers.
    pub(super) fn member(&self, name: &str) -> Option<(usize, &Item)> {
        let Kind::Object(items) = &self.kind else { return None };
        items.iter().enumerate().rev().find(|(_, item)| item.key.as_deref() == Some(name))
    }

    /// What it means.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(items) => items.iter().map(|item| item.value.value()).collect(),
            Kind::Object(items) => {
                let pairs = items.iter().filter_map(|item| {
                    let key = item.key.clone()?;
                    Some((key, item.value.value()))
                });
                Value::Object(pairs.collect())
            }
        }
    }
}

/// Reads a whole text.
pub(super) fn scan(text: &str) -> Result<Node, EditError> {
    let mut scanner = Scanner { text, at: 0 };
    if text.starts_with('\u{FEFF}') {
        scanner.at = '\u{FEFF}'.len_utf8();
    }
    let node = scanner.value(0)?;
    scanner.space()?;
    if scanner.at < text.len() {
        return Err(scanner.wrong("there is more after the end of the value"));
    }
    Ok(node)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, why: &str) -> EditError {
        EditError::at(self.text, self.at, why)
    }

    /// Passes white space and comments.
    fn space(&mut self) -> Result<(), EditError> {
        loop {
            let rest = self.rest();
            let kept = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - kept.len();
            let kept = self.rest();
            if kept.starts_with("//") {
                self.at += kept.find('\n').unwrap_or(kept.len());
            } else if kept.starts_with("/*") {
                let end = kept.find("*/").ok_or_else(|| self.wrong("this comment has no end"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, EditError> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("it is nested too deep"));
        }
        self.space()?;
        let start = self.at;
        let kind = match self.byte() {
            Some(b'{') => Kind::Object(self.items(b'}', depth)?),
            Some(b'[') => Kind::Array(self.items(b']', depth)?),
            Some(b'"') => Kind::Scalar(self.string()?.into()),
            Some(_) => Kind::Scalar(self.word()?),
            None => return Err(self.wrong("it ends where a value must stand")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn items(&mut self, end: u8, depth: usize) -> Result<Vec<Item>, EditError> {
        let mut items: Vec<Item> = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            if self.byte() == Some(end) {
                self.at += 1;
                return Ok(items);
            }
            if items.last().is_some_and(|item| item.comma.is_none()) {
                let why = format!("a comma or \"{}\" must stand here", char::from(end));
                return Err(self.wrong(&why));
            }
            let begins = self.at;
            let key = if end == b'}' { Some(self.key()?) } else { None };
            let value = self.value(depth + 1)?;
            self.space()?;
            let comma = (self.byte() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            items.push(Item { key, begins, value, comma });
        }
    }

    fn key(&mut self) -> Result<String, EditError> {
        if self.byte() != Some(b'"') {
            return Err(self.wrong("a name in double quotes must stand here"));
        }
        let key = self.string()?;
        self.space()?;
        if self.byte() != Some(b':') {
            return Err(self.wrong("a colon must stand here"));
        }
        self.at += 1;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, EditError> {
        let rest = self.rest();
        let mut is_escaped = false;
        let end = rest.bytes().skip(1).position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        let literal = end.and_then(|end| rest.get(..end + 2));
        let literal = literal.ok_or_else(|| self.wrong("this text has no closing quote"))?;
        let text = serde_json::from_str(literal)
            .map_err(|_| self.wrong("this is no text as JSON writes it"))?;
        self.at += literal.len();
        Ok(text)
    }

    fn word(&mut self) -> Result<Value, EditError> {
        let rest = self.rest();
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c));
        let word = rest.get(..rest.find(is_end).unwrap_or(rest.len())).unwrap_or_default();
        let value = serde_json::from_str(word).map_err(|_| {
            self.wrong("a value must stand here, such as \"text\", 1, true, { or [")
        })?;
        self.at += word.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_clients_write_is_read() {
        let text = "\u{FEFF}// top\n{ \"a\": [1, -2.5e3, /* two */ \"x\\\"y\", true,], // end\n \"b\": {\"c\": null} }\r\n";
        let node = scan(text).unwrap();
        assert_eq!(node.value(), json!({"a": [1, -2500.0, "x\"y", true], "b": {"c": null}}));
        let (place, item) = node.member("b").unwrap();
        assert_eq!((place, text.get(item.value.span.clone())), (1, Some("{\"c\": null}")));
    }

    // S-SETUP-4
    #[test]
    fn what_does_not_parse_is_told_with_line_and_column() {
        for (text, line, column, why) in [
            ("", 1, 1, "ends"),
            ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "comma"),
            ("{a: 1}", 1, 2, "name"),
            ("{\"a\" 1}", 1, 6, "colon"),
            ("{\"a\": 'x'}", 1, 7, "value"),
            ("{} {}", 1, 4, "more"),
            ("[1,\n\"é\", \"x", 2, 6, "closing quote"),
            ("[1] /*", 1, 5, "comment"),
            ("{\"a\":1,,}", 1, 8, "name"),
            ("{\"a\": 01}", 1, 7, "value"),
        ] {
            let wrong = scan(text).unwrap_err();
            assert_eq!((wrong.line, wrong.column), (line, column), "{text}: {wrong:?}");
            assert!(wrong.why.contains(why), "{text}: {wrong:?}");
        }
        assert!(scan(&"[".repeat(9_999)).unwrap_err().why.contains("deep"));
    }
}
