//! What a line says about its own reliability: how sure its writer was, and until when it counts. Older readers
//! treat both fields as unknown fields. Not here: what later events say (`change`, `evidence`).

use jiff::Timestamp;
use serde_json::Value;

use super::{Event, parse_timestamp};

/// The field that says until when a memory counts.
pub(super) const EXPIRES: &str = "expires";
/// The field that says how sure its writer was.
pub(super) const CONFIDENCE: &str = "confidence";

/// How sure the writer of a memory was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Confidence {
    /// The writer saw it or was told so. This is the default.
    #[default]
    Stated,
    /// The writer concluded it.
    Inferred,
}

impl Confidence {
    /// All values, in the order help texts list them.
    pub const ALL: [Self; 2] = [Self::Stated, Self::Inferred];

    /// Returns the word as it stands in a line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stated => "stated",
            Self::Inferred => "inferred",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| text.trim().eq_ignore_ascii_case(one.as_str()))
    }
}

impl Event {
    /// Returns until when the event counts; `None` if the field is absent or cannot be read.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.extra.get(EXPIRES).and_then(Value::as_str).and_then(parse_timestamp)
    }

    /// Returns how sure the writer was.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        let said = self.extra.get(CONFIDENCE).and_then(Value::as_str);
        said.and_then(Confidence::parse).unwrap_or_default()
    }
}
