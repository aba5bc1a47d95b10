//! Recognising secrets in a text. Not here: which texts are looked at (`redact`).

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

/// Finds the secrets in a text, in order and without overlap.
#[must_use]
pub fn findings(_text: &str) -> Vec<Finding> {
    Vec::new()
}

/// Returns `text` with `[REDACTED:rule]` in the place of every secret; what was redacted stays as it is.
#[must_use]
pub fn redacted(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied_to = 0;
    for Finding { rule, span } in findings(text) {
        out.push_str(text.get(copied_to..span.start).unwrap_or_default());
        out.push_str("[REDACTED:");
        out.push_str(rule);
        out.push(']');
        copied_to = span.end;
    }
    if copied_to == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied_to..).unwrap_or_default());
    Cow::Owned(out)
}
