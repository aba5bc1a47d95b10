//! A passage as its terms and their counts, as it is sent to an engine and comes back, so that no text is analysed
//! twice. Not here: how it is stored (crate `corpus`), analysis (`tokenize`).

use std::collections::BTreeMap;

use super::analysis::AnalysisCache;
use super::passage::{Passage, PassageTerms};
use super::postings::HalfCount;
use super::weight::CorpusSize;
use super::{CorpusTotals, DocId, LexicalIndex};

/// The terms of a passage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedPassage {
    /// Each term with its number of occurrences in halves, in the order of the terms.
    pub terms: Vec<(Box<str>, u16)>,
    /// The number of terms in halves, repeats included.
    pub length: u16,
    /// Whether it is a turn of an assistant.
    pub is_reply: bool,
}

impl CountedPassage {
    /// Returns the weight of each term in a corpus of this size, in the order of the terms. The BM25 of the passage is the
    /// sum of these, each times the weight of the term in the query.
    #[must_use]
    pub fn weights(&self, totals: CorpusTotals) -> Vec<(&str, f32)> {
        let size = CorpusSize { documents: totals.passages, terms: totals.terms };
        let norm = size.length_norm();
        let weight = |count: u16| norm.saturated(count, self.length);
        self.terms.iter().map(|(term, count)| (&**term, weight(*count))).collect()
    }
}

impl LexicalIndex {
    /// Analyses passages as this index would.
    pub fn counted(&self, passages: &[Passage], words: &mut AnalysisCache) -> Vec<CountedPassage> {
        let count = |passage| counted(&self.terms_of_passage(passage, &mut words.0));
        passages.iter().map(count).collect()
    }

    /// Adds documents that were analysed before. Their ids must be above all others, and ascend.
    pub fn put_counted(&mut self, documents: &[(DocId, Vec<CountedPassage>)]) {
        self.append_counted(documents);
    }
}

fn counted(passage: &PassageTerms) -> CountedPassage {
    let mut terms: BTreeMap<&str, HalfCount> = BTreeMap::new();
    for (term, weight) in passage.weighed() {
        let count = terms.entry(term).or_default();
        *count = count.saturating_add(weight);
    }
    let terms = terms.into_iter().map(|(term, count)| (term.into(), count)).collect();
    CountedPassage { terms, length: passage.length(), is_reply: passage.is_reply }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CORPUS-2
    #[test]
    fn counted_passages_make_the_same_index() {
        let passages = vec![
            Passage { nearby: "npm `install`".to_owned(), ..Passage::from_text("npm npm fails") },
            Passage { is_reply: true, ..Passage::from_text("use npm ci") },
        ];
        let mut plain = LexicalIndex::new();
        plain.put_all(&[(DocId(7), passages.clone())].into());
        let mut again = LexicalIndex::new();
        let counted = plain.counted(&passages, &mut AnalysisCache::default());
        again.put_counted(&[(DocId(7), counted.clone())]);
        assert_eq!(plain.fingerprints(), again.fingerprints());
        assert_eq!(plain.totals(), again.totals());
        let (weights, prepared) = (counted[0].weights(plain.totals()), plain.prepare("npm fails"));
        let of = |term: &str| weights.iter().find(|(other, _)| *other == term).unwrap().1;
        let asked = prepared.engine_terms();
        let dot: f32 = asked.iter().map(|(term, weight)| weight * of(term)).sum();
        assert!((dot - prepared.search(|_| true, 1)[0].score).abs() < 1e-6);
    }
}
