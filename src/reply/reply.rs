//! An answer as text and as JSON. Not here: its content.

use serde_json::Value;

use super::neutral_json::neutral;
use event::clean;
use guard::secrets::{findings, redacted};
use guard::text::{Layout, escaped, neutralise};

/// What stands between the parts of a line. A text of others never has it ([`inert`](crate::inert)).
pub(super) const BETWEEN_PARTS: &str = " · ";

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
    pub fn new(text: String, json: Value) -> Self {
        Self { text: without_secrets(text), json: clean::json_without_secrets(neutral(json)) }
    }

    /// Adds a line to the text, under a name as in `status`; without a name it continues the line before.
    #[must_use]
    pub fn with_line(mut self, name: &str, said: &str) -> Self {
        let line = format!("\n{name:<9} {}", neutralise(said, Layout::Line));
        self.text.push_str(&without_secrets(line));
        self
    }

    /// Adds a field to the JSON.
    #[must_use]
    pub fn with_field(mut self, name: &str, value: Value) -> Self {
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

/// Returns a text without secrets. Each part of a line is judged by itself: a lesson may end in a word that means
/// secret, and the id behind it is none.
fn without_secrets(mut text: String) -> String {
    if findings(&text).is_empty() {
        return text;
    }
    let parts: Vec<_> = text.split(BETWEEN_PARTS).map(redacted).collect();
    text = parts.join(BETWEEN_PARTS);
    text
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

    #[test]
    fn an_id_behind_a_secret_word_stays() {
        let drawn = ["Xk3v", "9QpZ2m"].concat();
        let line = format!(
            "1. Ask ops for the smtp password · claude-code · 01M4RRK9\n2. password {drawn} · codex · 01M4RRKA"
        );
        let reply = Reply::new(line, Value::Null);
        assert!(reply.text.contains("password · claude-code · 01M4RRK9\n"), "{}", reply.text);
        assert!(
            !reply.text.contains(&drawn) && reply.text.ends_with("· 01M4RRKA"),
            "{}",
            reply.text
        );
    }

    // S-REPLY-3
    #[test]
    fn json_holds_everything_and_no_control_characters() {
        let json = json!({ "a\u{202E}": "\u{1B}[31m\u{9B}\u{7F}\u{E0041} \n caf\u{E9}" });
        let line = Reply { text: String::new(), json: json.clone() }.json_line();
        assert!(!line.chars().any(is_unsafe) && line.contains("caf\u{E9}"), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), json);
    }
}
