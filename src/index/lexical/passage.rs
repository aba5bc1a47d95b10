//! The indexed form of a document: its passages, each with the text near it. Not here: cutting a text into passages
//! and choosing the text nearby (`projection`), turning text into terms (`tokenize`).

use memory::Memory;

use super::postings::HalfCount;
use super::terms::TermList;

/// The weight of one occurrence in a passage's own text; one nearby counts half of it.
pub(super) const OWN: HalfCount = 2;
const NEARBY: HalfCount = 1;

/// A piece of a document that can answer a query by itself. The score of a document is that of its best passage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passage {
    /// The passage's own text.
    pub own: String,
    /// The text around it, which counts half: a lesson often does not name its subject.
    pub nearby: String,
    /// Whether it is a turn of an assistant. What a person says tells better what a conversation is about, so a reply
    /// counts as a passage but not for the whole.
    pub is_reply: bool,
}

impl Passage {
    /// Returns a passage with no text around it.
    pub fn from_text(own: impl Into<String>) -> Self {
        Self { own: own.into(), ..Self::default() }
    }
}

/// Bytes of each neighbour that are indexed with a memory: a whole lesson of the usual length.
const NEARBY_BYTES_MAX: usize = 1_000;

/// Returns the passages of a memory. A short one includes its neighbours in the session, in the order of time, since a
/// lesson often leaves out its subject.
pub fn passages_of<'near>(
    memory: &Memory,
    neighbours: impl Iterator<Item = &'near Memory>,
) -> Vec<Passage> {
    let passages = memory.passages().into_iter();
    let mut passages: Vec<Passage> = passages
        .map(|passage| Passage { is_reply: passage.is_reply, ..Passage::from_text(passage.text) })
        .collect();
    if let [only] = passages.as_mut_slice() {
        for neighbour in neighbours {
            only.nearby.push_str(beginning(&neighbour.index_text()));
            only.nearby.push('\n');
        }
    }
    passages
}

/// Returns the beginning of a neighbour's text.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(NEARBY_BYTES_MAX)).unwrap_or(text)
}

/// The terms of a passage.
pub(super) struct PassageTerms {
    pub(super) own: TermList,
    pub(super) nearby: TermList,
    pub(super) is_reply: bool,
}

impl PassageTerms {
    /// Returns its length in half terms.
    pub(super) fn length(&self) -> HalfCount {
        let count = |terms: &TermList, weight| {
            HalfCount::try_from(terms.len()).unwrap_or(HalfCount::MAX).saturating_mul(weight)
        };
        count(&self.own, OWN).saturating_add(count(&self.nearby, NEARBY))
    }

    /// Iterates over its terms, each with the weight of one occurrence.
    pub(super) fn weighed(&self) -> impl Iterator<Item = (&str, HalfCount)> {
        let own = self.own.iter().map(|term| (term, OWN));
        own.chain(self.nearby.iter().map(|term| (term, NEARBY)))
    }
}
