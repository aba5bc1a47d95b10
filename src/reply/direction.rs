//! The way of a link, as programs read it. Not here: links (`search::links`).

/// The link leads away from what the answer is about.
pub(super) const OUTBOUND: &str = "outbound";

/// Returns the word for a link that leads away from what the answer is about, or for one that leads to it.
pub(super) fn direction(is_outward: bool) -> &'static str {
    if is_outward { OUTBOUND } else { "inbound" }
}
