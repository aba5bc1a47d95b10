//! A query made ready for one index: its terms, what each is worth in this corpus, and who holds it. Made
//! once for all that is asked of it. Not here: scoring documents (`search`), analysis (`tokenize`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::analysis::WordCache;
use super::live_segment::LiveSegment;
use super::passage_weight::PassageWeight;
use super::postings::{Count, List, Local, Postings};
use super::quoted::{self, QUOTED_SHARE};
use super::terms::Terms;
use super::weight::{Corpus, K1};
use super::{DocId, LexicalIndex, MatchedTerm, QueryTerm};

/// The most that one term of a text can be worth, in units of its inverse document frequency.
const SATURATED: f32 = K1 + 1.0;

/// A term's rarity says little in a corpus of a few documents: coverage is reckoned as if there were so many
/// more that hold none of the query. As many as the benchmark has that relevance was fitted on.
const DOCUMENTS_MIN: usize = 300;

/// What a term counts that stands in for one which no document holds.
const STAND_IN_SHARE: f32 = 0.7;

/// Up to how many terms of a query others may stand in: who looks for a few words makes slips, and pasted texts
/// hold names of their own, which are none. Measured: in longer queries they cost lessons a quarter of a point.
const SLIPS_TERMS_MAX: usize = 5;

/// What the best passage of a document has in common with a query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Overlap {
    /// The share of the query that its words cover, 0 to 1; terms that no document has count too.
    pub coverage: f32,
    /// The sum of the inverse document frequencies of the shared terms.
    pub rarity: f32,
}

/// A query and the index it is asked of, frozen.
#[derive(Debug)]
pub struct Prepared<'index> {
    pub(super) index: &'index LexicalIndex,
    pub(super) corpus: Corpus,
    terms: Vec<Weighed<'index>>,
    /// The places of the terms, those that are worth most first: the order in which scores are added up,
    /// so that however few of them are read, a sum has the same bits.
    order: Vec<usize>,
}

/// A query term with what it is worth in this corpus.
#[derive(Debug)]
pub(super) struct Weighed<'index> {
    term: Box<str>,
    /// Inverse document frequency, once for each time the query says it; less in backticks.
    said_weight: f32,
    /// The same, or what it is worth where others stand in for it.
    pub(super) weight: f32,
    documents: usize,
    /// Who holds it in each part, in the order of the parts.
    lists: Vec<Held<'index>>,
    /// What stands in for it.
    stand_ins: Vec<Box<str>>,
}

/// The passages of one part that hold a query term, with their counts.
#[derive(Debug)]
enum Held<'index> {
    /// The term itself.
    Exact(List<'index>),
    /// Terms that stand in for it, as if they were one.
    StandIn(Postings),
}

impl Held<'_> {
    /// The passages of `part` that hold any of `terms`.
    fn any(part: &LiveSegment, terms: &[Box<str>]) -> Self {
        let mut counts: BTreeMap<Local, Count> = BTreeMap::new();
        let lists = terms.iter().filter_map(|term| part.segment.list(term));
        for (local, count) in lists.flat_map(|list| list.iter()) {
            let sum = counts.entry(local).or_insert(0);
            *sum = sum.saturating_add(count);
        }
        let mut postings = Postings::default();
        for (local, count) in counts {
            let length = part.segment.lengths.get(local as usize).copied().unwrap_or(0);
            postings.push(local, count, length);
        }
        postings.seal_list();
        Self::StandIn(postings)
    }

    fn list(&self) -> List<'_> {
        match self {
            Self::Exact(list) => *list,
            Self::StandIn(postings) => postings.list(0),
        }
    }
}

impl Weighed<'_> {
    /// Who holds it in the part at `place`.
    pub(super) fn list(&self, place: usize) -> List<'_> {
        self.lists.get(place).map_or(List::EMPTY, Held::list)
    }
}

/// The places of terms, those that are worth most first.
fn by_weight(terms: &[Weighed<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..terms.len()).collect();
    let weight = |place: &usize| terms.get(*place).map_or(0.0, |term| term.weight);
    order.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    order
}

impl LexicalIndex {
    /// Makes a query ready to be asked. Costs its analysis and a lookup of each term in each segment.
    #[must_use]
    pub fn prepare(&self, query: &str) -> Prepared<'_> {
        self.prepare_next(query, &mut WordCache::default())
    }

    /// The same for one of many.
    pub(super) fn prepare_next(&self, query: &str, cache: &mut WordCache) -> Prepared<'_> {
        let corpus = self.corpus();
        let distinct = self.distinct(query, cache).into_iter();
        let mut terms: Vec<Weighed<'_>> =
            distinct.map(|(term, repeats)| self.weigh(term, repeats, corpus)).collect();
        if terms.len() <= SLIPS_TERMS_MAX {
            let unheld = terms.iter_mut().filter(|term| term.documents == 0);
            unheld.for_each(|term| self.stand_in(term, corpus));
        }
        Prepared { index: self, corpus, order: by_weight(&terms), terms }
    }

    fn corpus(&self) -> Corpus {
        let terms = self.parts.iter().map(|part| part.terms).sum();
        Corpus { documents: self.len(), terms }
    }

    /// Gives a term that nobody holds the passages of those nearest to it, weighed as if these were one
    /// term: so no score exceeds the utmost, which counts the term itself.
    fn stand_in(&self, term: &mut Weighed<'_>, corpus: Corpus) {
        let stand_ins = self.nearby_terms(&term.term);
        if stand_ins.is_empty() {
            return;
        }
        let lists: Vec<_> = self.parts.iter().map(|part| Held::any(part, &stand_ins)).collect();
        let rarity = corpus.inverse_document_frequency(self.living(&lists))
            / corpus.inverse_document_frequency(term.documents);
        term.weight *= STAND_IN_SHARE * rarity;
        (term.lists, term.stand_ins) = (lists, stand_ins);
    }

    /// How many living passages there are in lists of all parts.
    fn living(&self, lists: &[Held<'_>]) -> usize {
        self.parts.iter().zip(lists).map(|(part, held)| part.living(held.list())).sum()
    }

    /// Distinct terms in order of first use, those in backticks last. A repeated term counts as often as
    /// the query says it: error texts repeat what matters.
    pub(super) fn distinct(&self, query: &str, cache: &mut WordCache) -> Vec<(Box<str>, f32)> {
        if query.contains('`') {
            let (outside, inside) = quoted::parted(query);
            let outside = self.analyse_next(&outside, cache);
            if outside.len() > 0 {
                let inside = self.analyse_next(&inside, cache);
                return with_repeats([(&outside, 1.0), (&inside, QUOTED_SHARE)]);
            }
        }
        with_repeats([(&self.analyse_next(query, cache), 1.0)])
    }

    fn weigh(&self, term: Box<str>, repeats: f32, corpus: Corpus) -> Weighed<'_> {
        let lists = self.parts.iter().map(|part| part.segment.list(&term));
        let lists: Vec<_> = lists.map(|list| Held::Exact(list.unwrap_or(List::EMPTY))).collect();
        let documents = self.living(&lists);
        let weight = repeats * corpus.inverse_document_frequency(documents);
        Weighed { term, said_weight: weight, weight, documents, lists, stand_ins: Vec::new() }
    }
}

impl<'index> Prepared<'index> {
    /// The same query by only the `count` terms that are worth most. A whole text has dozens, most of them common: they
    /// cost nearly all the time of a search, and hardly change who is found by the others.
    #[must_use]
    pub fn by_rarest(self, count: usize) -> Self {
        let rarest: BTreeSet<usize> = self.order.iter().take(count).copied().collect();
        let kept = self.terms.into_iter().enumerate().filter(|(place, _)| rarest.contains(place));
        let terms: Vec<_> = kept.map(|(_, term)| term).collect();
        Self { order: by_weight(&terms), terms, ..self }
    }

    /// The score that no document can exceed: that of one which says nothing but the query, endlessly.
    /// What a score is of it tells how much of the query a document covers, whatever the query; terms
    /// that no document holds count too. 0 for a query without terms.
    #[must_use]
    pub fn utmost(&self) -> f32 {
        self.terms.iter().map(|term| term.said_weight).sum::<f32>() * SATURATED
    }

    /// How much of the query `doc` covers, 0 to 1: what its best passage scores as a share of the utmost, in a
    /// corpus of three hundred documents or more. In a smaller one every word of the only memory would be common.
    /// Compares the query with the best passage of a document, in units that mean the same for every query and store: a
    /// store of fewer than 300 passages counts as one of 300.
    #[must_use]
    pub fn overlap(&self, doc: DocId) -> Overlap {
        let larger = Corpus { documents: self.corpus.documents.max(DOCUMENTS_MIN), ..self.corpus };
        let least = Corpus { documents: DOCUMENTS_MIN, ..self.corpus };
        let rarity_max = least.inverse_document_frequency(1);
        let scale = |term: &Weighed<'_>| {
            larger.inverse_document_frequency(term.documents)
                / self.corpus.inverse_document_frequency(term.documents)
        };
        let score_max = self.terms.iter().map(|term| term.said_weight * scale(term)).sum::<f32>();
        let matched = self.matched_in_best(doc);
        let score: f32 = matched.iter().map(|(term, score)| score * scale(term)).sum();
        let rarity =
            |term: &Weighed<'_>| larger.inverse_document_frequency(term.documents).min(rarity_max);
        let has_words = score_max > 0.0;
        Overlap {
            coverage: if has_words { (score / (score_max * SATURATED)).min(1.0) } else { 0.0 },
            rarity: matched.iter().map(|(term, _)| rarity(term)).sum(),
        }
    }

    /// The distinct terms the query is made of, in its order, with how many documents hold each.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = QueryTerm> {
        self.terms
            .iter()
            .map(|term| QueryTerm { term: term.term.clone(), documents: term.documents })
    }

    /// Why `doc` matches: its share of the score for each query term it holds, in the query's order.
    /// Empty when it does not match or is not indexed.
    #[must_use]
    pub fn matched_terms(&self, doc: DocId) -> Vec<MatchedTerm> {
        let matched = self.matched_in_best(doc).into_iter();
        matched.map(|(term, score)| MatchedTerm { term: term.term.clone(), score }).collect()
    }

    /// How rare the rarest of the terms of a piece of the query is, as its inverse document frequency; 0 for one
    /// without terms.
    #[must_use]
    pub fn rarity(&self, piece: &str) -> f32 {
        let of = |term: &str| self.terms.iter().find(|weighed| &*weighed.term == term);
        let rarity = |term: &Weighed<'_>| self.corpus.inverse_document_frequency(term.documents);
        let terms = self.index.analyse_query(piece);
        terms.iter().filter_map(of).map(rarity).fold(0.0, f32::max)
    }

    /// How rare a term is, as its inverse document frequency in a corpus of three hundred documents or more, but no
    /// more than that of one in three hundred: however large the store, a word is no more than a word. `None` where it
    /// is none of the query's.
    pub(super) fn bounded_rarity(&self, term: &str) -> Option<f32> {
        let weighed = self.terms.iter().find(|weighed| &*weighed.term == term)?;
        let least = Corpus { documents: DOCUMENTS_MIN, ..self.corpus };
        let larger = Corpus { documents: self.corpus.documents.max(DOCUMENTS_MIN), ..self.corpus };
        let rarity = larger.inverse_document_frequency(weighed.documents);
        Some(rarity.min(least.inverse_document_frequency(1)))
    }

    /// Prepares to measure pieces of text against the query.
    #[must_use]
    pub fn interest(&self) -> PassageWeight<'index> {
        PassageWeight::new(self.index, self.term_weights())
    }

    /// The terms, those that are worth most first.
    pub(super) fn by_weight(&self) -> impl Iterator<Item = &Weighed<'index>> {
        self.order.iter().filter_map(|place| self.terms.get(*place))
    }

    /// The terms that the best passage of `doc` holds, with what each adds.
    fn matched_in_best(&self, doc: DocId) -> Vec<(&Weighed<'index>, f32)> {
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

    /// The weight of each distinct term: its inverse document frequency, once for each time the query
    /// says it. What stands in for a term has that of the term.
    fn term_weights(&self) -> HashMap<Box<str>, f32> {
        let names = |term: &Weighed<'_>| {
            let weight = term.weight;
            let names: Vec<Box<str>> =
                std::iter::once(&term.term).chain(&term.stand_ins).cloned().collect();
            names.into_iter().map(move |name| (name, weight))
        };
        self.terms.iter().flat_map(names).collect()
    }
}

/// Distinct terms, each with the sum of what its uses count.
fn with_repeats<'terms>(
    lists: impl IntoIterator<Item = (&'terms Terms, f32)>,
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
