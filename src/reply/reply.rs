//! An answer as text and as JSON. Not here: its content.

use serde::Serialize;
use serde_json::Value;

use super::answer::{Answer, TextView};
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

    /// Makes both forms of an answer whose text follows from its fields.
    #[must_use]
    pub fn from_answer(answer: &impl TextView) -> Self {
        Self::with_text(answer.text(), answer)
    }

    /// Makes both forms of an answer whose text needs more than its fields, such as a budget or what to highlight. The text is
    /// neutralised already.
    #[must_use]
    pub fn with_text(text: String, answer: &impl Serialize) -> Self {
        Self::new(text, json_of(answer))
    }

    /// Makes an answer that is data: not a character of it changes. It holds no secrets, or they are what was asked for.
    #[must_use]
    pub fn verbatim(text: String, answer: &impl Serialize) -> Self {
        Self { text, json: json_of(answer) }
    }

    /// As `with_text`, where nobody may read the JSON: then the answer is not made at all.
    #[must_use]
    pub fn shaped<A: Answer>(text: String, shape: Shape, make: impl FnOnce() -> A) -> Self {
        Self::new(text, shape.json(|| json_of(&make())))
    }

    /// Reads the answer back from the JSON.
    ///
    /// # Errors
    /// A field that is missing or of another kind, as `serde_json` names it.
    pub fn answer<A: Answer>(&self) -> Result<A, serde_json::Error> {
        A::deserialize(&self.json)
    }

    /// Adds a line to the text, under a name as in `status`; without a name it continues the line before.
    #[must_use]
    pub fn with_line(mut self, name: &str, value: &str) -> Self {
        let line = format!("\n{name:<9} {}", neutralise(value, Layout::Line));
        self.text.push_str(&without_secrets(line));
        self
    }

    /// Adds a part of the answer that another room knows, under its name there.
    #[must_use]
    pub fn with_part(self, name: &str, part: &impl Serialize) -> Self {
        self.with_field(name, serde_json::to_value(part).unwrap_or_default())
    }

    /// Adds a field to the JSON.
    #[must_use]
    pub fn with_field(mut self, name: &str, value: Value) -> Self {
        if let Some(fields) = self.json.as_object_mut() {
            fields.insert(name.to_owned(), clean::json_without_secrets(neutral(value)));
        }
        self
    }

    /// Returns the notices of its JSON: what the answer lacks, one sentence each.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let notices = self.json.get("notices").and_then(Value::as_array).into_iter().flatten();
        notices.filter_map(|notice| notice.as_str().map(str::to_owned)).collect()
    }

    /// Returns the JSON on one line. Characters that could command a terminal are escaped.
    #[must_use]
    pub fn json_line(&self) -> String {
        escaped(&self.json.to_string()).into_owned()
    }
}

/// Returns the JSON of an answer. Every key of ours is a text, so it cannot fail.
fn json_of(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
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
