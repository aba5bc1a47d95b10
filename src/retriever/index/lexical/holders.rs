//! How many documents hold the terms of one text after the other: what was found out for one is known for the next.
//! Texts of one repository have most of their words in common. Not here: who holds them (`query`).

use std::collections::HashMap;

use super::query::Prepared;
use super::words::WordCache;
use super::{LexicalIndex, QueryTerm};

/// An index, and what it was asked already. Grows with the distinct words of all texts.
#[derive(Debug)]
pub struct Holders<'index> {
    index: &'index LexicalIndex,
    words: WordCache,
    documents: HashMap<Box<str>, usize>,
}

impl LexicalIndex {
    /// Prepares to be asked about many texts.
    #[must_use]
    pub fn holders(&self) -> Holders<'_> {
        Holders { index: self, words: WordCache::default(), documents: HashMap::new() }
    }
}

impl Holders<'_> {
    /// The index that is asked.
    #[must_use]
    pub fn index(&self) -> &LexicalIndex {
        self.index
    }

    /// Takes over what a query of the same index found out.
    pub fn learn(&mut self, query: &Prepared<'_>) {
        self.documents.extend(query.terms().map(|term| (term.term, term.documents)));
    }

    /// What [`Prepared::terms`] says of a query of this text. Costs its analysis, and a lookup of each term that was
    /// not asked about before.
    pub fn terms_of(&mut self, text: &str) -> Vec<QueryTerm> {
        let distinct = self.index.distinct(text, &mut self.words).into_iter();
        let known = &mut self.documents;
        let mut documents = |term: &str| match known.get(term) {
            Some(documents) => *documents,
            None => {
                let documents = self.index.documents_with(term);
                known.insert(term.into(), documents);
                documents
            }
        };
        distinct.map(|(term, _)| QueryTerm { documents: documents(&term), term }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::indexed;
    use super::*;

    #[test]
    fn terms_are_those_of_a_query_whatever_was_asked_before() {
        let mut index = indexed(["npm install fails", "docker pull fails", "npm `pull` zebra"]);
        index.remove(super::super::DocId(1));
        let mut holders = index.holders();
        holders.learn(&index.prepare("zebra docker"));
        for text in ["npm fails", "npm pull not", "npm `pull` npm zebra", "okapi docker", "okapi"] {
            let plain: Vec<QueryTerm> = index.prepare(text).terms().collect();
            assert_eq!(holders.terms_of(text), plain, "{text}");
            assert_eq!(holders.terms_of(text), plain, "{text}, again");
        }
    }
}
