//! Recognising secrets in a text.
//!
//! One pass over the bytes looks at places of three kinds (`anchors`): beginnings that only one
//! provider uses (`prefixed`), names before a value (`named`: providers' and words such as `token`;
//! `told`: what a sentence says of it), and forms such as PEM (`form`). Only what such a place calls
//! for is looked at more closely. A text with escapes is passed over once more with them undone
//! (`unescaped`). Work grows with the length of the text and nothing else: every look from a place is
//! bounded, or ends in a report that the pass goes on behind.
//!
//! Not here: which texts of an event are searched (`event::clean`).

mod alphabet;
mod anchors;
mod assigned;
mod command;
mod cookie;
mod form;
mod hit;
mod joined;
mod judge;
mod kubernetes;
mod named;
mod password;
mod phrase;
mod prefixed;
mod prefixes;
mod provider;
mod scan;
mod services;
mod stray;
mod structure;
mod text;
mod told;
mod unescaped;
mod vendor;
mod word;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that recognised it, as it stands in `[REDACTED:rule]`.
    pub rule: &'static str,
    /// Where it is, in bytes; always on character boundaries.
    pub span: Range<usize>,
}

impl Finding {
    /// Returns what stands in its place.
    #[must_use]
    pub fn mark(&self) -> String {
        format!("[REDACTED:{}]", self.rule)
    }
}

/// Passes of [`redacted`]: what stands around a secret can make sense once it is gone, hardly ever twice.
const PASSES_MAX: usize = 4;

/// Finds the secrets in a text, in order and without overlap.
#[must_use]
pub fn findings(text: &str) -> Vec<Finding> {
    let hits = scan::secrets(text.as_bytes());
    let at_boundary = |mut place: usize| {
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    };
    hits.into_iter()
        .map(|hit| Finding { rule: hit.rule, span: at_boundary(hit.from)..at_boundary(hit.to) })
        .collect()
}

/// Finds the secrets in what stamps an event, such as the name of a session: ids there are drawn by lot, so what
/// nothing names but its own make is none.
#[must_use]
pub fn findings_in_stamp(text: &str) -> Vec<Finding> {
    let mut found = findings(text);
    found.retain(|finding| finding.rule != stray::RULE);
    found
}

/// Returns `text` with `[REDACTED:rule]` in the place of every secret; what was redacted stays as it is.
#[must_use]
pub fn redacted(text: &str) -> Cow<'_, str> {
    without(text, findings)
}

/// Returns what stamps an event with `[REDACTED:rule]` in the place of every secret.
#[must_use]
pub fn redacted_stamp(text: &str) -> Cow<'_, str> {
    without(text, findings_in_stamp)
}

fn without(text: &str, find: impl Fn(&str) -> Vec<Finding>) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    for _ in 0..PASSES_MAX {
        let found = find(&out);
        if found.is_empty() {
            break;
        }
        out = Cow::Owned(replaced(&out, &found));
    }
    out
}

fn replaced(text: &str, found: &[Finding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied_to = 0;
    for finding in found {
        let span = &finding.span;
        out.push_str(text.get(copied_to..span.start).unwrap_or_default());
        out.push_str(&finding.mark());
        copied_to = span.end;
    }
    out.push_str(text.get(copied_to..).unwrap_or_default());
    out
}
