//! What is wrong with an input: all problems at once, each with its field and the remedy. Not here: damage in a
//! log, which is a [`crate::SkipReason`].

use std::fmt;

use guard::secrets::redacted;

/// Most characters of a refused value that a message repeats. That is enough to recognise the value, and a
/// value of megabytes does not produce a message of megabytes.
const QUOTED_CHARS_MAX: usize = 80;

/// Most problems that a text lists, each under a kilobyte. All fields of an event together have fewer, unless a
/// program sends thousands of unknown fields. A model has to read the text.
const TOLD_MAX: usize = 32;

/// Quotes a refused value for a message and cuts it if it is long. Secrets are removed before the cut, because
/// half a secret is hard to recognise.
#[must_use]
pub fn quoted(text: &str) -> String {
    let text = redacted(text);
    let mut chars = text.chars();
    let beginning: String = chars.by_ref().take(QUOTED_CHARS_MAX).collect();
    let rest = if chars.next().is_some() { "…" } else { "" };
    format!("{beginning:?}{rest}")
}

/// One thing wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Problem {
    /// The field as the caller names it, for example `lesson` or `tags[3]`.
    pub field: String,
    /// What is wrong, what is allowed, and an example.
    pub message: String,
}

/// Everything that is wrong with one input. An empty list means the input is valid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Returns an empty list.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns a list of one.
    pub fn one(field: impl Into<String>, message: impl Into<String>) -> Self {
        let mut problems = Self::none();
        problems.add(field, message);
        problems
    }

    /// Adds a problem.
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.push(Problem { field: field.into(), message: message.into() });
    }

    /// Adds a problem that somebody else described.
    pub fn push(&mut self, problem: Problem) {
        let clean = |text: String| redacted(&text).into_owned();
        self.0.push(Problem { field: clean(problem.field), message: clean(problem.message) });
    }

    /// Adds all problems of another list.
    pub fn append(&mut self, other: Problems) {
        self.0.extend(other.0);
    }

    /// Tells whether there are no problems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the problems in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// Tells whether a field already has a problem.
    #[must_use]
    pub fn names(&self, field: &str) -> bool {
        self.0.iter().any(|problem| problem.field == field)
    }

    /// Returns `value` if there are no problems.
    ///
    /// # Errors
    /// The problems, if there are any.
    pub fn or<T>(self, value: T) -> Result<T, Problems> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.field, self.message)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, problem) in self.0.iter().take(TOLD_MAX).enumerate() {
            if place > 0 {
                out.write_str("\n")?;
            }
            write!(out, "{problem}")?;
        }
        match self.0.len().checked_sub(TOLD_MAX) {
            None | Some(0) => Ok(()),
            Some(more) => write!(out, "\nand {more} more problems"),
        }
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    // S-WRITE-4
    #[test]
    fn thousands_of_problems_are_told_in_a_bounded_text() {
        let mut problems = Problems::none();
        (0..TOLD_MAX).for_each(|_| problems.add("lesson", "is empty"));
        assert_eq!(problems.to_string().lines().count(), TOLD_MAX);
        (0..10_000).for_each(|_| problems.add("lesson", "is empty"));
        assert_eq!(problems.to_string().lines().last(), Some("and 10000 more problems"));
        assert_eq!(problems.to_string().lines().count(), TOLD_MAX + 1);
    }

    #[test]
    fn no_message_repeats_a_secret_nor_half_of_one() {
        let token = ["gh", "p_", "a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        let long = format!("{}{token}", "x ".repeat(35));
        for problems in [
            Problems::one(token.clone(), "is unknown"),
            Problems::one("timestamp", format!("must be a time; got {}", quoted(&long))),
            Problems::one("lesson", token.clone()),
        ] {
            assert!(!problems.to_string().contains("a8Kd03j"), "{problems}");
            assert!(problems.to_string().contains("[REDACTED:"), "{problems}");
        }
    }

    #[test]
    fn a_long_value_is_quoted_in_part() {
        assert_eq!(quoted("so\n"), r#""so\n""#);
        assert_eq!(quoted(&"ü".repeat(80)).chars().count(), 82);
        let long = quoted(&"ü".repeat(1_000_000));
        assert!(long.ends_with("ü\"…") && long.chars().count() == 83, "{long}");
    }
}
