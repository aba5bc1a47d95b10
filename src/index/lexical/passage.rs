//! What is indexed of a document: its passages, each with what stands near it. Not here: how a text is
//! cut into passages and what is near (`projection`), what becomes a term (`tokenize`).

use super::postings::Count;
use super::terms::Terms;

/// How much one occurrence in a passage's own text counts; one nearby counts half of it.
pub(super) const OWN: Count = 2;
const NEARBY: Count = 1;

/// A piece of a document that can answer a query by itself. A document is as good as its best passage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passage {
    /// What it says.
    pub own: String,
    /// What was said around it, which counts half: a lesson often leaves out what it is about.
    pub nearby: String,
}

impl Passage {
    /// A passage with nothing around it.
    pub fn of(own: impl Into<String>) -> Self {
        Self { own: own.into(), nearby: String::new() }
    }
}

/// The terms of a passage.
pub(super) struct PassageTerms {
    pub(super) own: Terms,
    pub(super) nearby: Terms,
}

impl PassageTerms {
    /// How long it is, in half terms.
    pub(super) fn length(&self) -> Count {
        let count = |terms: &Terms, weight| {
            Count::try_from(terms.len()).unwrap_or(Count::MAX).saturating_mul(weight)
        };
        count(&self.own, OWN).saturating_add(count(&self.nearby, NEARBY))
    }

    /// Its terms, each with what one occurrence counts.
    pub(super) fn weighed(&self) -> impl Iterator<Item = (&str, Count)> {
        let own = self.own.iter().map(|term| (term, OWN));
        own.chain(self.nearby.iter().map(|term| (term, NEARBY)))
    }
}
