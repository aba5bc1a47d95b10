//! Whether a task gives orders that are none of its business. A task asks for work: that it asks, and teaches nothing, is no
//! sign. Everything else is judged as in a lesson. Not here: notes of other kinds (`suspicion`).

use super::phrase_table::TextScope;
use super::{Judged, Suspicion, suspicion};

/// Tells why the texts of a task give orders to whoever reads them, if they do. `texts` are what remains to be done and what
/// was seen so far; `others` are the remaining texts. Takes time linear in their length.
#[must_use]
pub fn suspicion_of_task<'a>(
    texts: (&'a str, &'a str),
    others: impl Iterator<Item = &'a str>,
) -> Option<Suspicion> {
    let of_text = |text: &str| {
        let judged = Judged::of(text);
        judged.suspicion().or_else(|| judged.more_than_errand())
    };
    of_text(texts.0).or_else(|| of_text(texts.1)).or_else(|| suspicion("", "", others))
}

impl Judged<'_> {
    /// Returns what a short text asks for besides the work.
    fn more_than_errand(&self) -> Option<Suspicion> {
        let is_other = |reason: Suspicion| reason != Suspicion::Errand;
        self.found
            .first(TextScope::Short, is_other)
            .or_else(|| self.found.first(TextScope::Plain, is_other))
    }
}
