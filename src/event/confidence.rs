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

    /// Returns what a number from 0 to 1 counts as; `None` for any other number.
    #[must_use]
    pub fn from_share(share: f64) -> Option<Self> {
        let known = (0.0..=1.0).contains(&share);
        known.then_some(if share < SHARE_STATED_MIN { Self::Inferred } else { Self::Stated })
    }
}

/// The least number that counts as stated: the writer thinks it likelier than not.
const SHARE_STATED_MIN: f64 = 0.5;

impl Event {
    /// Returns until when the event counts; `None` if the field is absent or cannot be read.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.extra.get(EXPIRES).and_then(Value::as_str).and_then(parse_timestamp)
    }

    /// Returns how sure the writer was.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        let said = self.extra.get(CONFIDENCE);
        let word = said.and_then(Value::as_str).and_then(Confidence::parse);
        let share = || said.and_then(Value::as_f64).and_then(Confidence::from_share);
        word.or_else(share).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedLine, codec};
    use serde_json::json;

    // S-LINE-3
    #[test]
    fn a_number_counts_as_the_nearer_word() {
        for (said, counts) in [
            (json!(0), Confidence::Inferred),
            (json!(0.49), Confidence::Inferred),
            (json!(0.5), Confidence::Stated),
            (json!(1), Confidence::Stated),
            (json!("inferred"), Confidence::Inferred),
            (json!("0.1"), Confidence::Stated),
            (json!(-1), Confidence::Stated),
            (json!(7), Confidence::Stated),
            (json!([0.1]), Confidence::Stated),
        ] {
            let line = json!({ "lesson": "x", "confidence": said }).to_string();
            let DecodedLine::Event(event) = codec::decode(line.as_bytes(), "api") else {
                panic!("{line}")
            };
            assert_eq!(event.confidence(), counts, "{line}");
            let again = codec::encode(&crate::clean::clean(*event)).as_str().to_owned();
            assert!(again.contains(&format!("\"confidence\":{said}")), "{again}");
        }
    }
}
