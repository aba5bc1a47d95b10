//! A query prepared for one index: its terms, their weights in this corpus, and their postings. It is prepared once
//! for everything that is asked of it. Not here: scoring documents (`search`), analysis (`tokenize`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::analysis::WordCache;
use super::backticks::{self, QUOTED_SHARE};
use super::live_segment::LiveSegment;
use super::passage_weight::PassageWeight;
use super::postings::{HalfCount, PassageNumber, Postings, PostingsList};
use super::short_forms::other_forms;
use super::terms::TermList;
use super::weight::{CorpusSize, K1};
use super::{DocId, LexicalIndex, MatchedTerm, QueryTerm};

/// The greatest weight of one term in a text, in units of its inverse document frequency.
const SATURATED: f32 = K1 + 1.0;

/// In a corpus of a few documents, document frequencies say little. Coverage is therefore computed as if the corpus
/// had at least this many passages: as many as the benchmark that relevance was fitted on.
const DOCUMENTS_MIN: usize = 300;

/// The weight of a stand-in for a term that no document holds, relative to the term.
const STAND_IN_SHARE: f32 = 0.7;

/// Only terms of queries up to this length get stand-ins. Short queries are typed and contain slips; pasted texts
/// contain unknown names that are no slips. Measured: stand-ins in longer queries cost a quarter of a point on
/// lessons.
const SLIPS_TERMS_MAX: usize = 5;

/// Only terms of queries up to this length get their other forms: a longer one is pasted, and names its subject.
const FORMS_TERMS_MAX: usize = 12;

/// The overlap of a query with the best passage of a document.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PassageOverlap {
    /// The share of the query that the passage covers, 0 to 1; terms that no document holds count too.
    pub coverage: f32,
    /// The sum of the inverse document frequencies of the shared terms.
    pub rarity: f32,
}

/// A query and a frozen index.
#[derive(Debug)]
pub struct PreparedQuery<'index> {
    pub(super) index: &'index LexicalIndex,
    pub(super) corpus: CorpusSize,
    terms: Vec<PreparedTerm<'index>>,
    /// The terms by descending weight. Scores are added up in this order, so a sum has the same bits however many
    /// terms are read.
    order: Vec<usize>,
}

/// A query term with its weight in this corpus.
#[derive(Debug)]
pub(super) struct PreparedTerm<'index> {
    term: Box<str>,
    /// Inverse document frequency, times the number of uses in the query; less in backticks.
    said_weight: f32,
    /// The same, or the weight of its stand-ins.
    pub(super) weight: f32,
    documents: usize,
    /// Its postings in each part, in the order of the parts.
    lists: Vec<TermPassages<'index>>,
    /// Its stand-ins, or its other forms.
    stand_ins: Vec<Box<str>>,
}

/// The passages of one part that hold a query term, with their counts.
#[derive(Debug)]
pub(super) enum TermPassages<'index> {
    /// The postings of the term itself.
    Exact(PostingsList<'index>),
    /// The merged postings of its stand-ins, or of itself and its other forms.
    Merged(Postings),
}

impl TermPassages<'_> {
    /// Returns the passages of `part` that hold any of `terms`.
    pub(super) fn any(part: &LiveSegment, terms: &[Box<str>]) -> Self {
        let lists = terms.iter().filter_map(|term| part.segment.list(term));
        let mut counts: Vec<(PassageNumber, HalfCount)> =
            lists.flat_map(|list| list.iter()).collect();
        counts.sort_unstable();
        let mut postings = Postings::default();
        for of_passage in counts.chunk_by(|(one, _), (other, _)| one == other) {
            let Some((local, _)) = of_passage.first().copied() else { continue };
            let count =
                of_passage.iter().fold(0, |sum: HalfCount, (_, count)| sum.saturating_add(*count));
            let length = part.segment.lengths.get(local as usize).copied().unwrap_or(0);
            postings.push(local, count, length);
        }
        postings.seal_list();
        Self::Merged(postings)
    }

    pub(super) fn list(&self) -> PostingsList<'_> {
        match self {
            Self::Exact(list) => *list,
            Self::Merged(postings) => postings.list(0),
        }
    }
}

impl PreparedTerm<'_> {
    /// Returns the postings in the part with this index.
    pub(super) fn list(&self, place: usize) -> PostingsList<'_> {
        self.lists.get(place).map_or(PostingsList::EMPTY, TermPassages::list)
    }
}

/// Returns the indexes of the terms by descending weight.
fn by_weight(terms: &[PreparedTerm<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..terms.len()).collect();
    let weight = |place: &usize| terms.get(*place).map_or(0.0, |term| term.weight);
    order.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    order
}

impl LexicalIndex {
    /// Prepares a query. Costs its analysis and a lookup of each term in each segment.
    #[must_use]
    pub fn prepare(&self, query: &str) -> PreparedQuery<'_> {
        self.prepare_next(query, &mut WordCache::default())
    }

    /// Does the same for one of many queries.
    pub(super) fn prepare_next(&self, query: &str, cache: &mut WordCache) -> PreparedQuery<'_> {
        let corpus = self.corpus();
        let distinct = self.distinct(query, cache).into_iter();
        let mut terms: Vec<PreparedTerm<'_>> =
            distinct.map(|(term, repeats)| self.weigh(term, repeats, corpus)).collect();
        if terms.len() <= FORMS_TERMS_MAX {
            let named: Vec<Box<str>> = terms.iter().map(|term| term.term.clone()).collect();
            terms.iter_mut().for_each(|term| self.add_forms(term, &named, corpus));
        }
        if terms.len() <= SLIPS_TERMS_MAX {
            let unheld = terms.iter_mut().filter(|term| term.documents == 0);
            unheld.for_each(|term| self.stand_in(term, corpus));
        }
        PreparedQuery { index: self, corpus, order: by_weight(&terms), terms }
    }

    fn corpus(&self) -> CorpusSize {
        if let Some(numbers) = &self.numbers {
            return numbers.size();
        }
        let terms = self.parts.iter().map(|part| part.terms).sum();
        CorpusSize { documents: self.len(), terms }
    }

    /// Adds the postings of the other forms of a term, unless the query names these too. All forms are weighted as one
    /// term.
    fn add_forms(&self, term: &mut PreparedTerm<'_>, named: &[Box<str>], corpus: CorpusSize) {
        let is_new =
            |form: &str| !named.iter().any(|name| **name == *form) && self.documents_with(form) > 0;
        let mut forms: Vec<Box<str>> =
            other_forms(&term.term).iter().filter(|form| is_new(form)).cloned().collect();
        if forms.is_empty() {
            return;
        }
        let repeats = term.weight / corpus.inverse_document_frequency(term.documents);
        forms.push(term.term.clone());
        term.lists = self.parts.iter().map(|part| TermPassages::any(part, &forms)).collect();
        term.documents = self.documents_with_any(&forms, &term.lists);
        term.weight = repeats * corpus.inverse_document_frequency(term.documents);
        term.said_weight = term.weight;
        forms.pop();
        term.stand_ins = forms;
    }

    /// Gives a term that no document holds the postings of the nearest terms, weighted as one term. So no score
    /// exceeds the maximum, in which the term itself counts.
    fn stand_in(&self, term: &mut PreparedTerm<'_>, corpus: CorpusSize) {
        let stand_ins = self.nearby_terms(&term.term);
        if stand_ins.is_empty() {
            return;
        }
        let lists: Vec<_> =
            self.parts.iter().map(|part| TermPassages::any(part, &stand_ins)).collect();
        let documents = self.documents_with_any(&stand_ins, &lists);
        let rarity = corpus.inverse_document_frequency(documents)
            / corpus.inverse_document_frequency(term.documents);
        term.weight *= STAND_IN_SHARE * rarity;
        (term.lists, term.stand_ins) = (lists, stand_ins);
    }

    /// Counts the living passages in the postings of all parts.
    pub(super) fn living(&self, lists: &[TermPassages<'_>]) -> usize {
        self.parts.iter().zip(lists).map(|(part, held)| part.living(held.list())).sum()
    }

    /// Returns the distinct terms in order of first use, those in backticks last. A repeated term counts for each
    /// use: error texts repeat what matters.
    pub(super) fn distinct(&self, query: &str, cache: &mut WordCache) -> Vec<(Box<str>, f32)> {
        if query.contains('`') {
            let (outside, inside) = backticks::parted(query);
            let outside = self.analyse_next(&outside, cache);
            if outside.len() > 0 {
                let inside = self.analyse_next(&inside, cache);
                return with_repeats([(&outside, 1.0), (&inside, QUOTED_SHARE)]);
            }
        }
        with_repeats([(&self.analyse_next(query, cache), 1.0)])
    }

    fn weigh(&self, term: Box<str>, repeats: f32, corpus: CorpusSize) -> PreparedTerm<'_> {
        let lists = self.parts.iter().map(|part| part.segment.list(&term));
        let lists: Vec<_> =
            lists.map(|list| TermPassages::Exact(list.unwrap_or(PostingsList::EMPTY))).collect();
        let documents = match &self.numbers {
            Some(numbers) => numbers.documents_with(&term),
            None => self.living(&lists),
        };
        let weight = repeats * corpus.inverse_document_frequency(documents);
        PreparedTerm { term, said_weight: weight, weight, documents, lists, stand_ins: Vec::new() }
    }
}

impl<'index> PreparedQuery<'index> {
    /// Returns the same query with only the `count` heaviest terms. A whole text has dozens of terms, most of them
    /// common: they take nearly all the time of a search and hardly change its result.
    #[must_use]
    pub fn by_rarest(self, count: usize) -> Self {
        let rarest: BTreeSet<usize> = self.order.iter().take(count).copied().collect();
        let kept = self.terms.into_iter().enumerate().filter(|(place, _)| rarest.contains(place));
        let terms: Vec<_> = kept.map(|(_, term)| term).collect();
        Self { order: by_weight(&terms), terms, ..self }
    }

    /// Returns [`Self::by_rarest`] of the terms that at least two passages hold: what only one text has finds no other.
    #[must_use]
    pub fn by_rarest_shared(self, count: usize) -> Self {
        let terms: Vec<_> = self.terms.into_iter().filter(|term| term.documents > 1).collect();
        Self { order: by_weight(&terms), terms, ..self }.by_rarest(count)
    }

    /// Returns the score that no document can exceed: the score of a document that repeats the query endlessly.
    /// Terms that no document holds count too, so a score's share of it says how much of the query a document
    /// covers. 0 for a query without terms.
    #[must_use]
    pub fn utmost(&self) -> f32 {
        self.terms.iter().map(|term| term.said_weight).sum::<f32>() * SATURATED
    }

    /// Compares the query with the best passage of a document, in units that mean the same for every query and
    /// store: a corpus of fewer than 300 passages counts as one of 300. Otherwise every word of the only memory
    /// would be common.
    #[must_use]
    pub fn overlap(&self, doc: DocId) -> PassageOverlap {
        let larger =
            CorpusSize { documents: self.corpus.documents.max(DOCUMENTS_MIN), ..self.corpus };
        let least = CorpusSize { documents: DOCUMENTS_MIN, ..self.corpus };
        let rarity_max = least.inverse_document_frequency(1);
        let scale = |term: &PreparedTerm<'_>| {
            larger.inverse_document_frequency(term.documents)
                / self.corpus.inverse_document_frequency(term.documents)
        };
        let score_max = self.terms.iter().map(|term| term.said_weight * scale(term)).sum::<f32>();
        let matched = self.matched_in_best(doc);
        let score: f32 = matched.iter().map(|(term, score)| score * scale(term)).sum();
        let rarity = |term: &PreparedTerm<'_>| {
            larger.inverse_document_frequency(term.documents).min(rarity_max)
        };
        let has_words = score_max > 0.0;
        PassageOverlap {
            coverage: if has_words { (score / (score_max * SATURATED)).min(1.0) } else { 0.0 },
            rarity: matched.iter().map(|(term, _)| rarity(term)).sum(),
        }
    }

    /// Returns the distinct terms of the query in its order, with their document frequencies.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = QueryTerm> {
        self.terms
            .iter()
            .map(|term| QueryTerm { term: term.term.clone(), documents: term.documents })
    }

    /// Explains the score of `doc`: the part of each query term that it holds, in the query's order. Empty if it
    /// does not match or is not indexed.
    #[must_use]
    pub fn matched_terms(&self, doc: DocId) -> Vec<MatchedTerm> {
        let matched = self.matched_in_best(doc).into_iter();
        matched.map(|(term, score)| MatchedTerm { term: term.term.clone(), score }).collect()
    }

    /// Returns the inverse document frequency of the rarest term in a piece of the query; 0 without terms.
    #[must_use]
    pub fn rarity(&self, piece: &str) -> f32 {
        let find_term = |term: &str| self.terms.iter().find(|weighed| &*weighed.term == term);
        let rarity =
            |term: &PreparedTerm<'_>| self.corpus.inverse_document_frequency(term.documents);
        let terms = self.index.analyse_query(piece);
        terms.iter().filter_map(find_term).map(rarity).fold(0.0, f32::max)
    }

    /// Returns the inverse document frequency of a term that only one passage has.
    #[must_use]
    pub fn rarity_max(&self) -> f32 {
        self.corpus.inverse_document_frequency(1)
    }

    /// Returns the inverse document frequency of a term of the query in a corpus of at least 300 passages, at most
    /// that of a term in one passage of 300: a rare word says no more in a large store. `None` if the query does not
    /// have the term.
    pub(super) fn bounded_rarity(&self, term: &str) -> Option<f32> {
        let weighed = self.terms.iter().find(|weighed| &*weighed.term == term)?;
        let least = CorpusSize { documents: DOCUMENTS_MIN, ..self.corpus };
        let larger =
            CorpusSize { documents: self.corpus.documents.max(DOCUMENTS_MIN), ..self.corpus };
        let rarity = larger.inverse_document_frequency(weighed.documents);
        Some(rarity.min(least.inverse_document_frequency(1)))
    }

    /// Returns the rarity that a document with every word of the query shares with it, in the units of [`PassageOverlap::rarity`].
    #[must_use]
    pub fn rarity_possible(&self) -> f32 {
        self.terms.iter().filter_map(|term| self.bounded_rarity(&term.term)).sum()
    }

    /// Returns the terms whose postings the query reads, each with its weight, in their order: what an engine needs to
    /// find the candidates.
    #[must_use]
    pub fn engine_terms(&self) -> Vec<(Box<str>, f32)> {
        let mut sums: BTreeMap<Box<str>, f32> = BTreeMap::new();
        for term in &self.terms {
            for name in std::iter::once(&term.term).chain(&term.stand_ins) {
                *sums.entry(name.clone()).or_default() += term.weight;
            }
        }
        sums.into_iter().filter(|(_, weight)| *weight > 0.0).collect()
    }

    /// Prepares to weigh pieces of text for the query.
    #[must_use]
    pub fn interest(&self) -> PassageWeight<'index> {
        PassageWeight::new(self.index, self.term_weights())
    }

    /// Returns the terms by descending weight.
    pub(super) fn by_weight(&self) -> impl Iterator<Item = &PreparedTerm<'index>> {
        self.order.iter().filter_map(|place| self.terms.get(*place))
    }

    /// Returns the terms that the best passage of `doc` holds, with what each adds to the score.
    fn matched_in_best(&self, doc: DocId) -> Vec<(&PreparedTerm<'index>, f32)> {
        let norm = self.corpus.length_norm();
        let mut best = (0.0, Vec::new());
        for (place, part) in self.index.parts.iter().enumerate() {
            for local in part.places_of(doc) {
                let length = part.segment.lengths.get(local as usize).copied().unwrap_or(0);
                let matched = self.terms.iter().filter_map(|term| {
                    let count = term.list(place).count_in(local)?;
                    Some((term, term.weight * norm.saturated(count, length)))
                });
                let matched: Vec<_> = matched.collect();
                let sum = matched.iter().map(|(_, score)| score).sum();
                if sum > best.0 {
                    best = (sum, matched);
                }
            }
        }
        best.1
    }

    /// Returns the weight of each distinct term: its inverse document frequency, times its uses in the query. A
    /// stand-in has the weight of its term.
    fn term_weights(&self) -> HashMap<Box<str>, f32> {
        let names = |term: &PreparedTerm<'_>| {
            let weight = term.weight;
            let names: Vec<Box<str>> =
                std::iter::once(&term.term).chain(&term.stand_ins).cloned().collect();
            names.into_iter().map(move |name| (name, weight))
        };
        self.terms.iter().flat_map(names).collect()
    }
}

/// Returns the distinct terms, each with the sum of its uses.
fn with_repeats<'terms>(
    lists: impl IntoIterator<Item = (&'terms TermList, f32)>,
) -> Vec<(Box<str>, f32)> {
    let mut distinct: Vec<(Box<str>, f32)> = Vec::new();
    let mut places = HashMap::new();
    for (terms, share) in lists {
        for term in terms.iter() {
            let place = *places.entry(term).or_insert(distinct.len());
            match distinct.get_mut(place) {
                Some((_, repeats)) => *repeats += share,
                None => distinct.push((term.into(), share)),
            }
        }
    }
    distinct
}
