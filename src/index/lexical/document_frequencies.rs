//! The document frequencies of the terms of many texts, cached: texts of one repository share most of their words.
//! Not here: the documents of a term (`query`).

use std::collections::HashMap;

use super::LexicalIndex;
use super::analysis::AnalysisCache;
use super::query::PreparedQuery;

/// An index and a cache of its answers. Grows with the distinct words of all texts.
#[derive(Debug)]
pub struct DocumentFrequencies<'index> {
    index: &'index LexicalIndex,
    words: &'index mut AnalysisCache,
    documents: HashMap<Box<str>, usize>,
}

impl LexicalIndex {
    /// Returns an empty cache for an index.
    pub fn holders<'index>(
        &'index self,
        words: &'index mut AnalysisCache,
    ) -> DocumentFrequencies<'index> {
        DocumentFrequencies { index: self, words, documents: HashMap::new() }
    }
}

impl<'index> DocumentFrequencies<'index> {
    /// Returns the index.
    #[must_use]
    pub fn index(&self) -> &LexicalIndex {
        self.index
    }

    /// Calls [`LexicalIndex::prepare`], and keeps the document frequencies that it finds.
    pub fn prepare(&mut self, query: &str) -> PreparedQuery<'index> {
        let prepared = self.index.prepare_next(query, &mut self.words.0);
        self.documents.extend(prepared.terms().map(|term| (term.term, term.documents)));
        prepared
    }

    /// Returns the distinct terms of a text, equal to [`PreparedQuery::terms`]. Costs the analysis of the text.
    pub fn terms_of(&mut self, text: &str) -> Vec<Box<str>> {
        let distinct = self.index.distinct(text, &mut self.words.0).into_iter();
        distinct.map(|(term, _)| term).collect()
    }

    /// Returns the document frequency of a term. Costs a lookup if the term is not cached.
    pub fn documents_with(&mut self, term: &str) -> usize {
        if let Some(documents) = self.documents.get(term) {
            return *documents;
        }
        let documents = self.index.documents_with(term);
        self.documents.insert(term.into(), documents);
        documents
    }
}

#[cfg(test)]
mod tests {
    use super::super::QueryTerm;
    use super::super::tests::indexed;
    use super::*;

    #[test]
    fn terms_are_those_of_a_query_whatever_was_asked_before() {
        let mut index = indexed(["npm install fails", "docker pull fails", "npm `pull` zebra"]);
        index.remove(super::super::DocId(1));
        let mut words = AnalysisCache::default();
        let mut holders = index.holders(&mut words);
        let prepared: Vec<QueryTerm> = holders.prepare("zebra docker").terms().collect();
        assert!(index.prepare("zebra docker").terms().eq(prepared));
        for text in ["npm fails", "npm pull not", "npm `pull` npm zebra", "okapi docker", "okapi"] {
            let plain: Vec<QueryTerm> = index.prepare(text).terms().collect();
            for _again in 0..2 {
                let terms = holders.terms_of(text).into_iter();
                let told: Vec<QueryTerm> = terms
                    .map(|term| QueryTerm { documents: holders.documents_with(&term), term })
                    .collect();
                assert_eq!(told, plain, "{text}");
            }
        }
    }
}
