//! An answer as text and as JSON. Not here: its content.

use serde_json::Value;

use super::neutral_json::neutral;
use event::clean;
use guard::text::{Layout, escaped, neutralise};

/// An answer; text and JSON say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For agents and people.
    pub text: String,
    /// For programs, neutralised by [`Reply::new`]; null where only text was requested.
    pub json: Value,
}

impl Reply {
    /// Makes an answer from neutralised text and any JSON. Memories contain no secrets, but names of files and the
    /// caller's own words may.
    #[must_use]
    pub fn new(mut text: String, json: Value) -> Self {
        clean::redact(&mut text);
        Self { text, json: clean::json_without_secrets(neutral(json)) }
    }

    /// Adds a line to the text, under a name as in `status`; without a name it continues the line before.
    #[must_use]
    pub fn and(mut self, name: &str, said: &str) -> Self {
        let mut line = format!("\n{name:<9} {}", neutralise(said, Layout::Line));
        clean::redact(&mut line);
        self.text.push_str(&line);
        self
    }

    /// Adds a field to the JSON.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        if let Some(fields) = self.json.as_object_mut() {
            fields.insert(name.to_owned(), clean::json_without_secrets(neutral(value)));
        }
        self
    }

    /// Returns the JSON on one line. Characters that could command a terminal are escaped.
    #[must_use]
    pub fn json_line(&self) -> String {
        escaped(&self.json.to_string()).into_owned()
    }
}

/// The forms of a reply; a form that nobody reads is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Shape {
    /// Text and JSON.
    #[default]
    Whole,
    /// Text only.
    Words,
}

impl Shape {
    /// Makes the JSON, where it is asked for.
    pub(super) fn json(self, make: impl FnOnce() -> Value) -> Value {
        match self {
            Self::Whole => make(),
            Self::Words => Value::Null,
        }
    }
}

/// Whether a reply shows the parts of each score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Explain {
    /// No.
    #[default]
    Silent,
    /// Each component beside its hit.
    Components,
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard::text::is_unsafe;
    use serde_json::json;

    // S-REPLY-3
    #[test]
    fn json_holds_everything_and_no_control_characters() {
        let json = json!({ "a\u{202E}": "\u{1B}[31m\u{9B}\u{7F}\u{E0041} \n caf\u{E9}" });
        let line = Reply { text: String::new(), json: json.clone() }.json_line();
        assert!(!line.chars().any(is_unsafe) && line.contains("caf\u{E9}"), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), json);
    }
}
