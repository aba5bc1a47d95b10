//! Recognises secrets in a text.
//!
//! 1. **Prefilter.** One pass over the bytes finds anchors: prefixes, names and marks of the tables
//!    (`table`, `tables/*.txt`). A text without an anchor costs this pass and no more.
//! 2. **Rules.** Each anchor has a rule: a prefix and the length of what follows (`prefixed`), a form with a
//!    mark (`shape`), an argument or an address (`login`, `login_pair`, `user_info`, `bare_address`), a name bound to a value (`named_secret`, `provider_name`,
//!    `chosen_token`, `binding`, `binding_form`, `bound_value`, `before_name`, `after_name`), or the header of a column (`columns`).
//!    A word that means a secret also reaches what was drawn around it (`nearby_value`).
//! 3. **Judges.** A value after a name is a secret if a judge says so (`judge`, `password`), by what it is made of (`value_statistics`), and no
//!    `placeholder`.
//!
//! Random keys without any anchor are looked for last (`random_key`), and keys in names that programs made of paths (`respelled_key`). Text with escapes is read again with them
//! decoded (`escapes`), and text with accents without them (`accent_folding`). All work is linear in the length of the text: a look from an anchor is bounded, or
//! ends in a report after which the pass goes on.
//!
//! What is written, sent or shown takes a [`RedactedText`], which the rules have seen before anybody reshaped it.
//!
//! Not here: which texts of an event are searched (`event::clean`).

mod accent_folding;
mod after_name;
mod around_value;
mod bare_address;
mod before_name;
mod binding;
mod binding_form;
mod bound_value;
mod chance_match;
mod charset;
mod chosen_token;
mod columns;
mod context;
mod cookie;
mod escapes;
mod hit;
mod ids;
mod judge;
mod known_word;
mod login;
mod login_pair;
mod manifest;
mod named_secret;
mod nearby_value;
mod password;
mod placeholder;
mod prefixed;
mod provider_name;
mod random_key;
mod redacted_text;
mod respelled_key;
mod scan;
mod shape;
mod table;
mod text;
mod typed_word;
mod user_info;
mod value_start;
mod value_statistics;

#[cfg(test)]
mod blind_tests;
#[cfg(test)]
mod daily;
#[cfg(any(test, feature = "testing"))]
pub mod daily_forms;
#[cfg(test)]
mod form_tests;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

pub use self::redacted_text::RedactedText;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that recognised it, as it stands in `[REDACTED:rule]`.
    pub rule: &'static str,
    /// Where it is, in bytes; always on character boundaries.
    pub span: Range<usize>,
}

impl Finding {
    /// Returns the mark that replaces it.
    #[must_use]
    pub fn mark(&self) -> String {
        format!("[REDACTED:{}]", self.rule)
    }
}

/// Passes of [`redacted`]: the text around a secret can match once the secret is gone, hardly ever twice.
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

/// Finds the secrets in the stamps of an event, such as its session. Ids there are random, so a random value
/// alone is no secret.
#[must_use]
pub fn findings_in_stamp(text: &str) -> Vec<Finding> {
    let mut found = findings(text);
    found.retain(|finding| finding.rule != random_key::RULE);
    found
}

/// Returns `text` with `[REDACTED:rule]` in the place of every secret. Redacting twice changes nothing more.
#[must_use]
pub fn redacted(text: &str) -> Cow<'_, str> {
    without(text, findings)
}

/// Returns a stamp of an event with `[REDACTED:rule]` in the place of every secret.
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
