//! A text that the rules have seen whole, before anybody cut, split, joined or respelled it. What is written, sent or shown takes this
//! type, as the log takes `event::CleanEvent`. Not here: the rules, and the secrets of a whole event (`event::clean`).

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::{Finding, findings, redacted, redacted_stamp, replaced};
use crate::text::{Layout, is_unsafe, neutralise, visible};

/// How far around a cut secrets are looked for, in bytes: longer than an RSA key of 4,096 bits.
const SECRET_BYTES: usize = 4 << 10;

/// A text without the secrets that the rules know. Only this module makes one, and each way runs the rules on the text as it came.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RedactedText(String);

impl RedactedText {
    /// Takes the secrets out of a text, also where an escape sequence or an invisible character hides them.
    #[must_use]
    pub fn redact(text: &str) -> Self {
        Self::seen(text, redacted)
    }

    fn seen(text: &str, rules: impl Fn(&str) -> Cow<'_, str>) -> Self {
        let clean = rules(text).into_owned();
        match shown(&clean) {
            None => Self(clean),
            Some(shown) => Self(rules(&shown).into_owned()),
        }
    }

    /// Takes the secrets out of a name or an id. Ids are random, so a random value alone is no secret.
    #[must_use]
    pub fn stamp(text: &str) -> Self {
        Self::seen(text, redacted_stamp)
    }

    /// Returns at most `bytes_max` bytes of the beginning of a long text, in time that does not depend on its length. A secret that
    /// the cut would halve is left out whole.
    #[must_use]
    pub fn beginning(text: &str, bytes_max: usize) -> Self {
        let near = begin_of(text, bytes_max.saturating_add(SECRET_BYTES));
        Self::redact(&before(near, near.floor_char_boundary(bytes_max)))
    }

    /// Returns both ends of a long text with `between` between them, in time that does not depend on its length; a text that is no
    /// longer than both is kept whole.
    #[must_use]
    pub fn head_and_tail(
        text: &str,
        (head_bytes, tail_bytes): (usize, usize),
        between: &str,
    ) -> Self {
        if text.len() <= head_bytes.saturating_add(tail_bytes) {
            return Self::redact(text);
        }
        let from = text.len().saturating_sub(tail_bytes.saturating_add(SECRET_BYTES));
        let near = text.get(text.ceil_char_boundary(from)..).unwrap_or_default();
        let tail = after(near, near.ceil_char_boundary(near.len().saturating_sub(tail_bytes)));
        let near = begin_of(text, head_bytes.saturating_add(SECRET_BYTES));
        let head = before(near, near.floor_char_boundary(head_bytes));
        Self::redact(&format!("{head}{between}{tail}"))
    }

    /// Gives the text another form: cuts it, respells it, takes a part of it. `form` can use nothing but this text, and the rules see
    /// what it makes: parts that come together may be a secret.
    #[must_use]
    pub fn reshaped(&self, form: fn(&str) -> String) -> Self {
        Self::redact(&form(&self.0))
    }

    /// Takes a part of the text, if it has one.
    #[must_use]
    pub fn part(&self, of: fn(&str) -> Option<String>) -> Option<Self> {
        of(&self.0).map(|part| Self::redact(&part))
    }

    /// Takes parts of the text.
    #[must_use]
    pub fn parts(&self, of: fn(&str) -> Vec<String>) -> Vec<Self> {
        of(&self.0).iter().map(|part| Self::redact(part)).collect()
    }

    /// Returns the text as one safe line.
    #[must_use]
    pub fn line(&self) -> Self {
        self.reshaped(|text| neutralise(text, Layout::Line))
    }

    /// Returns at most `bytes_max` bytes of its beginning.
    #[must_use]
    pub fn cut(&self, bytes_max: usize) -> Self {
        Self(begin_of(&self.0, bytes_max).to_owned())
    }

    /// Returns at most `characters_max` characters of its beginning.
    #[must_use]
    pub fn cut_to_characters(&self, characters_max: usize) -> Self {
        Self(self.0.chars().take(characters_max).collect())
    }

    /// Joins texts; the rules see the whole.
    #[must_use]
    pub fn joined(texts: &[Self], between: &str) -> Self {
        let texts: Vec<&str> = texts.iter().map(Self::as_str).collect();
        Self::redact(&texts.join(between))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text as a string, which is no longer known to be clean.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Returns a text as it is shown; `None` if that is what it is.
fn shown(text: &str) -> Option<String> {
    if text.chars().any(is_unsafe) {
        return Some(neutralise(text, Layout::Block));
    }
    match visible(text) {
        Cow::Owned(visible) => Some(visible),
        Cow::Borrowed(_) => None,
    }
}

/// Returns what of a text stands before a place, without secrets; one across the place is left out.
fn before(text: &str, place: usize) -> String {
    let found = findings(text);
    let across = found.iter().find(|one| one.span.start < place && place < one.span.end);
    let end = across.map_or(place, |one| one.span.start);
    let kept: Vec<Finding> = found.iter().filter(|one| one.span.end <= end).cloned().collect();
    let mut out = replaced(text.get(..end).unwrap_or_default(), &kept);
    out.extend(across.map(Finding::mark));
    out
}

/// Returns what of a text stands after a place, without secrets; one across the place is left out.
fn after(text: &str, place: usize) -> String {
    let found = findings(text);
    let across = found.iter().find(|one| one.span.start < place && place < one.span.end);
    let from = across.map_or(place, |one| one.span.end);
    let later = found.iter().filter(|one| one.span.start >= from);
    let kept: Vec<Finding> = later
        .map(|one| Finding { rule: one.rule, span: one.span.start - from..one.span.end - from })
        .collect();
    let mark = across.map(Finding::mark).unwrap_or_default();
    format!("{mark}{}", replaced(text.get(from..).unwrap_or_default(), &kept))
}

/// Returns the beginning of a text, up to a character.
fn begin_of(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

impl fmt::Debug for RedactedText {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, to)
    }
}

impl fmt::Display for RedactedText {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, to)
    }
}

impl Deref for RedactedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for RedactedText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for RedactedText {
    fn from(text: &str) -> Self {
        Self::redact(text)
    }
}

impl From<String> for RedactedText {
    fn from(text: String) -> Self {
        Self::redact(&text)
    }
}

impl From<RedactedText> for String {
    fn from(text: RedactedText) -> Self {
        text.0
    }
}

impl PartialEq<str> for RedactedText {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for RedactedText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token() -> String {
        ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat()
    }

    fn leaks(text: &str) -> bool {
        token().as_bytes().windows(8).any(|run| text.as_bytes().windows(8).any(|part| part == run))
    }

    // S-WRITE-8
    #[test]
    fn what_hides_a_secret_from_the_rules_does_not_help_it() {
        let token = token();
        let (begin, end) = token.split_at(20);
        for between in ["\u{1b}[0m", "\u{200b}", "\u{7}", "\u{feff}"] {
            let text = RedactedText::redact(&format!("use {begin}{between}{end} here"));
            assert!(!leaks(&text.line()), "{between:?}: {text}");
        }
    }

    // S-WRITE-8
    #[test]
    fn a_form_that_brings_a_secret_together_is_read_again() {
        let token = token();
        let (begin, end) = token.split_at(9);
        let text = RedactedText::redact(&format!("{begin} | {end}"));
        let joined = text.reshaped(|text| text.replace(" | ", ""));
        assert!(!leaks(&joined), "{joined}");
    }

    #[test]
    fn what_was_written_before_is_cleaned_when_it_is_read() {
        let read: RedactedText = serde_json::from_value(serde_json::json!(token())).unwrap();
        assert!(read.starts_with("[REDACTED:"), "{read}");
    }

    proptest! {
        // S-WRITE-8
        #[test]
        fn no_cut_leaves_a_part_of_a_secret(before in 0usize..3_000, after in 0usize..9_000, secrets in 1usize..40) {
            let secrets = vec![token(); secrets].join(" ");
            let text = format!("{}{secrets} {}", "a b c ".repeat(before / 6), "d e f ".repeat(after / 6));
            let beginning = RedactedText::beginning(&text, 1_500);
            prop_assert!(!leaks(&beginning), "{beginning}");
            let ends = RedactedText::head_and_tail(&text, (700, 1_300), "\n");
            prop_assert!(!leaks(&ends), "{ends}");
            prop_assert!(ends.len() <= 2_100);
        }
    }
}
