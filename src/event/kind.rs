//! The kinds of event. The list is open: an unknown kind is kept and shown unchanged. Not here: what a kind
//! does to a memory (`memory`).

use std::fmt;

use super::limits::KIND_BYTES_MAX;

/// The `event_type` of a line: three founding kinds, seven more known kinds, and any other name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventType(Box<str>);

/// The known kinds, in the order help texts list them. The first three are the founding kinds.
pub(super) const KNOWN: [&str; 10] = [
    "error",
    "success",
    "pattern",
    "fact",
    "decision",
    "principle",
    "procedure",
    "convention",
    "preference",
    "task",
];

impl EventType {
    /// Takes the kind of a line unchanged. No line is refused for its kind.
    #[must_use]
    pub fn from_line(text: &str) -> Self {
        Self(text.trim().into())
    }

    /// Accepts a kind for writing: `[a-z][a-z0-9_-]*`, at most 32 bytes. Upper case becomes lower case.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn for_writing(text: &str) -> Result<Self, String> {
        let folded = text.trim().to_ascii_lowercase();
        let starts_well = folded.starts_with(|first: char| first.is_ascii_lowercase());
        let is_name =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        if starts_well && folded.len() <= KIND_BYTES_MAX && folded.chars().all(is_name) {
            return Ok(Self(folded.into_boxed_str()));
        }
        Err(format!(
            "must be a short lower-case name such as {} (at most {KIND_BYTES_MAX} characters of a-z, 0-9, _ and -)",
            KNOWN.join(", ")
        ))
    }

    /// Returns the name as written in the line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-LINE-5
    #[test]
    fn unknown_kinds_are_kept_as_they_are() {
        assert_eq!(EventType::from_line("Gotcha!").as_str(), "Gotcha!");
        assert_eq!(EventType::for_writing("gotcha").unwrap().as_str(), "gotcha");
    }

    #[test]
    fn known_kinds_may_be_written_in_any_case() {
        for kind in KNOWN {
            assert_eq!(EventType::for_writing(&kind.to_uppercase()).unwrap().as_str(), kind);
        }
    }

    // S-WRITE-2
    #[test]
    fn a_kind_that_is_not_a_name_is_refused_with_the_allowed_ones() {
        for bad in ["", "two words", "../x", "9lives", &"x".repeat(33)] {
            assert!(EventType::for_writing(bad).unwrap_err().contains("error, success, pattern"));
        }
    }
}
