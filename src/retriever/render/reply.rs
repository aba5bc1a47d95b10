//! An answer, in both of its forms. Not here: what it says.

use serde_json::Value;

use super::harmless::harmless;
use crate::event::{escaped, redact};

/// An answer; text and JSON say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For agents and people.
    pub text: String,
    /// For programs; [`Reply::new`] makes it harmless.
    pub json: Value,
}

impl Reply {
    /// Makes an answer of a text that is harmless and of JSON that need not be. Memories hold no
    /// secrets, but names of files and what the caller asked for may.
    #[must_use]
    pub fn new(mut text: String, json: Value) -> Self {
        redact::redact(&mut text);
        Self { text, json: redact::json_without_secrets(harmless(json)) }
    }

    /// Returns the JSON on one line. Characters that could command a terminal stand as escapes, so
    /// that nothing is lost and nothing happens.
    #[must_use]
    pub fn json_line(&self) -> String {
        escaped(&self.json.to_string()).into_owned()
    }
}

/// Whether a reply shows how each score came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    use crate::event::is_unsafe;
    use serde_json::json;

    // S-REPLY-3
    #[test]
    fn json_says_everything_and_commands_nothing() {
        let json = json!({ "a\u{202E}": "\u{1B}[31m\u{9B}\u{7F}\u{E0041} \n caf\u{E9}" });
        let line = Reply { text: String::new(), json: json.clone() }.json_line();
        assert!(!line.chars().any(is_unsafe) && line.contains("caf\u{E9}"), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), json);
    }
}
