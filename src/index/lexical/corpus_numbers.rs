//! The numbers of a whole corpus, put in the place of an index's own where the index holds a part of it: the candidates
//! that an engine found. Then a query weighs its terms, and a document its words, as in an index of everything. Not here:
//! where the numbers come from (crate `corpus`), what they are used for (`query`, `weight`).

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use super::LexicalIndex;
use super::nearby_terms::nearest_of;
use super::query::TermPassages;
use super::weight::CorpusSize;

/// The size of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CorpusTotals {
    /// The number of passages.
    pub passages: usize,
    /// The number of documents.
    pub documents: usize,
    /// The number of terms of all passages in halves, repeats included.
    pub terms: u64,
    /// Those of them that are in replies.
    pub reply_terms: u64,
}

/// The numbers of a corpus, as far as they are known.
#[derive(Debug, Default)]
pub struct CorpusNumbers {
    totals: CorpusTotals,
    holding: HashMap<Box<str>, usize>,
    unions: HashMap<Vec<Box<str>>, usize>,
    near: HashMap<Box<str>, Vec<Box<str>>>,
    lacking: Mutex<LackingNumbers>,
}

/// Numbers that were looked up and are not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LackingNumbers {
    /// Terms whose document frequency is not known.
    pub terms: BTreeSet<Box<str>>,
    /// Sets of terms of which it is not known how many passages hold any. Each is sorted.
    pub unions: BTreeSet<Vec<Box<str>>>,
    /// Terms that no passage holds, whose neighbours in spelling are not known.
    pub near: BTreeSet<Box<str>>,
}

impl LackingNumbers {
    /// Tells whether nothing is lacking.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.unions.is_empty() && self.near.is_empty()
    }
}

impl CorpusNumbers {
    /// Makes the numbers of a corpus of this size, of which nothing else is known.
    #[must_use]
    pub fn from_totals(totals: CorpusTotals) -> Self {
        Self { totals, ..Self::default() }
    }

    /// Returns the size of the corpus.
    #[must_use]
    pub fn totals(&self) -> CorpusTotals {
        self.totals
    }

    /// Adds the document frequency of a term: in passages, 0 for a term that none holds.
    pub fn add_holding(&mut self, term: Box<str>, passages: usize) {
        self.holding.insert(term, passages);
    }

    /// Adds how many passages hold any of these terms.
    pub fn add_union(&mut self, mut terms: Vec<Box<str>>, passages: usize) {
        terms.sort_unstable();
        self.unions.insert(terms, passages);
    }

    /// Adds terms of the corpus that may be near to `term` in spelling, each with its document frequency. The nearest are
    /// chosen as in an index of everything.
    pub fn add_near(&mut self, term: Box<str>, candidates: &[(Box<str>, usize)]) {
        for (candidate, passages) in candidates {
            self.holding.insert(candidate.clone(), *passages);
        }
        let nearest = nearest_of(&term, candidates);
        self.near.insert(term, nearest);
    }

    /// Returns the same numbers for a corpus of another size.
    #[must_use]
    pub fn resized(self, totals: CorpusTotals) -> Self {
        Self { totals, ..self }
    }

    /// Returns how many passages hold a term, as far as is known.
    #[must_use]
    pub fn passages_with(&self, term: &str) -> usize {
        self.holding.get(term).copied().unwrap_or(0)
    }

    /// Tells whether the document frequency of a term is known.
    #[must_use]
    pub fn has_term(&self, term: &str) -> bool {
        self.holding.contains_key(term)
    }

    /// Takes what was looked up since the last call and is not known.
    #[must_use]
    pub fn take_lacking(&self) -> LackingNumbers {
        std::mem::take(&mut *self.lacking.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn size(&self) -> CorpusSize {
        CorpusSize { documents: self.totals.passages, terms: self.totals.terms }
    }

    pub(super) fn documents_with(&self, term: &str) -> usize {
        self.holding.get(term).copied().unwrap_or_else(|| {
            self.record_lacking(|lacking| {
                lacking.terms.insert(term.into());
            });
            0
        })
    }

    pub(super) fn nearby_terms(&self, term: &str) -> Vec<Box<str>> {
        self.near.get(term).cloned().unwrap_or_else(|| {
            self.record_lacking(|lacking| {
                lacking.near.insert(term.into());
            });
            Vec::new()
        })
    }

    fn documents_with_any(&self, terms: &[Box<str>]) -> usize {
        if let [only] = terms {
            return self.documents_with(only);
        }
        let mut sorted = terms.to_vec();
        sorted.sort_unstable();
        self.unions.get(&sorted).copied().unwrap_or_else(|| {
            self.record_lacking(|lacking| {
                lacking.unions.insert(sorted);
            });
            terms.iter().map(|term| self.documents_with(term)).max().unwrap_or(0)
        })
    }

    fn record_lacking(&self, lookup: impl FnOnce(&mut LackingNumbers)) {
        lookup(&mut self.lacking.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl LexicalIndex {
    /// Puts the numbers of a corpus in the place of this index's own.
    #[must_use]
    pub fn with_numbers(self, numbers: Arc<CorpusNumbers>) -> Self {
        let mut index = self;
        index.numbers = Some(numbers);
        index
    }

    /// Takes the numbers that were put in the place of this index's own. `None` where there are none, or another index has them.
    #[must_use]
    pub fn into_numbers(self) -> Option<CorpusNumbers> {
        self.numbers.and_then(Arc::into_inner)
    }

    /// Returns the size of the corpus that this index holds.
    #[must_use]
    pub fn totals(&self) -> CorpusTotals {
        CorpusTotals {
            passages: self.len(),
            documents: self.parts.iter().map(|part| part.documents).sum(),
            terms: self.terms_len(),
            reply_terms: self.parts.iter().map(|part| part.reply_terms).sum(),
        }
    }

    /// Returns the terms that living passages hold, each once, in order.
    #[must_use]
    pub fn vocabulary(&self) -> BTreeSet<Box<str>> {
        let terms = self.parts.iter().flat_map(|part| part.segment.terms());
        let terms = terms.filter_map(|(term, _)| std::str::from_utf8(term).ok());
        let held = terms.filter(|term| self.own_documents_with(term) > 0);
        held.map(Box::from).collect()
    }

    /// Returns how many passages of this index hold any of these terms.
    #[must_use]
    pub fn own_documents_with_any(&self, terms: &[Box<str>]) -> usize {
        let held = self.parts.iter().map(|part| (part, TermPassages::any(part, terms)));
        held.map(|(part, held)| part.living(held.list())).sum()
    }

    /// Returns how many passages hold any of these terms, whose postings in this index are `lists`.
    pub(super) fn documents_with_any(
        &self,
        terms: &[Box<str>],
        lists: &[TermPassages<'_>],
    ) -> usize {
        match &self.numbers {
            Some(numbers) => numbers.documents_with_any(terms),
            None => self.living(lists),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DocId, Passage};
    use super::*;

    const TEXTS: [&str; 6] = [
        "kubernetes rejects the manifest of the gateway",
        "k8s rejects the quota",
        "docker is full",
        "the panda broker waits for zookeeper",
        "gateway answers 429",
        "npm install fails without the lockfile of the gateway",
    ];

    fn index() -> LexicalIndex {
        let mut index = LexicalIndex::new();
        let passages = TEXTS.map(|text| vec![Passage::from_text(text)]);
        index.put_all(&(0..).map(DocId).zip(passages).collect());
        index
    }

    /// Answers from `whole` what a query of `part` looks up.
    fn complete(part: &LexicalIndex, whole: &LexicalIndex, query: &str) -> LexicalIndex {
        let mut known = CorpusNumbers::from_totals(whole.totals());
        loop {
            let asked = part.clone().with_numbers(Arc::new(known));
            drop(asked.prepare(query));
            let numbers = asked.numbers.clone().unwrap();
            let lacking = numbers.take_lacking();
            if lacking.is_empty() {
                return asked;
            }
            drop(asked);
            known = Arc::into_inner(numbers).unwrap();
            for term in lacking.terms {
                let passages = whole.own_documents_with(&term);
                known.add_holding(term, passages);
            }
            for terms in lacking.unions {
                let passages = whole.own_documents_with_any(&terms);
                known.add_union(terms, passages);
            }
            for term in lacking.near {
                let all = whole.vocabulary().into_iter();
                let all: Vec<_> =
                    all.map(|near| (near.clone(), whole.own_documents_with(&near))).collect();
                known.add_near(term, &all);
            }
        }
    }

    // S-CORPUS-2
    #[test]
    fn a_part_scores_as_the_whole_does() {
        let (whole, mut part) = (index(), LexicalIndex::new());
        let some = [0, 1, 3].map(|doc: u32| {
            (DocId(doc), vec![Passage::from_text(TEXTS[usize::try_from(doc).unwrap()])])
        });
        part.put_all(&some.into_iter().collect());
        for query in ["k8s manifest", "gateway rejects", "pandi", "zookeper quota npm", "the"] {
            let part = complete(&part, &whole, query);
            let (expected, found) = (whole.prepare(query), part.prepare(query));
            assert!(expected.terms().eq(found.terms()), "{query}");
            assert_eq!(expected.utmost().to_bits(), found.utmost().to_bits(), "{query}");
            for scored in found.search(|_| true, 10) {
                let all = expected.search(|doc| doc == scored.doc, 1);
                assert_eq!(all, [scored], "{query}");
                assert_eq!(expected.overlap(scored.doc), found.overlap(scored.doc), "{query}");
            }
        }
        let plain = part.prepare("gateway").utmost();
        assert_ne!(plain.to_bits(), whole.prepare("gateway").utmost().to_bits());
    }
}
