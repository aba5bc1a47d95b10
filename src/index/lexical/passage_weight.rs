//! The weight of a piece of text for a query, so that an excerpt can begin at the answer. Not here: cutting excerpts
//! (`reply::excerpt`), scoring documents (`search`).

use std::collections::HashMap;

use super::LexicalIndex;

/// The terms of a query with their weights in this corpus.
#[derive(Debug)]
pub struct PassageWeight<'index> {
    index: &'index LexicalIndex,
    weights: HashMap<Box<str>, f32>,
}

impl LexicalIndex {
    /// Calls [`super::PreparedQuery::interest`] for a query that is used once.
    #[must_use]
    pub fn interest(&self, query: &str) -> PassageWeight<'_> {
        self.prepare(query).interest()
    }
}

impl<'index> PassageWeight<'index> {
    pub(super) fn new(index: &'index LexicalIndex, weights: HashMap<Box<str>, f32>) -> Self {
        Self { index, weights }
    }
}

impl PassageWeight<'_> {
    /// Returns the summed weight of the distinct query terms in a piece of text; 0 for none.
    pub fn weigh(&self, piece: &str) -> f32 {
        let terms = self.index.analyse_query(piece);
        let mut held: Vec<&str> =
            terms.iter().filter(|term| self.weights.contains_key(*term)).collect();
        held.sort_unstable();
        held.dedup();
        held.into_iter().filter_map(|term| self.weights.get(term)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::DocId;

    #[test]
    fn pieces_with_more_and_rarer_words_of_the_query_weigh_more() {
        let mut index = LexicalIndex::new();
        for (doc, text) in (0..).zip(["npm install fails", "npm test fails", "docker EACCES npm"]) {
            index.insert(DocId(doc), text).unwrap();
        }
        let interest = index.interest("npm EACCES");
        assert!(interest.weigh("EACCES here") > interest.weigh("npm here"));
        assert!(interest.weigh("npm EACCES npm") > interest.weigh("EACCES"));
        assert!(interest.weigh("nothing of it") <= 0.0);
    }
}
