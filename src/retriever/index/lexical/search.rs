//! Scores a query against a frozen index: term at a time into one dense row of scores per segment,
//! then the best few. Pure. Not here: analysis (`tokenize`), the formula (`weight`).

use std::collections::{BTreeMap, HashMap};

use super::part::Part;
use super::postings::{Count, List, Local};
use super::quoted::{self, QUOTED_SHARE};
use super::terms::Terms;
use super::top::Top;
use super::weight::{Corpus, K1, LengthNorm};
use super::{DocId, LexicalIndex, MatchedTerm, QueryTerm, Scored};

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

/// A query term with what it is worth in this corpus.
struct Weighed<'index> {
    term: Box<str>,
    /// Inverse document frequency, once for each time the query says it; less in backticks.
    weight: f32,
    documents: usize,
    /// Who holds it in each part, in the order of the parts.
    lists: Vec<Held<'index>>,
    /// What stands in for it.
    stand_ins: Vec<Box<str>>,
}

/// The passages of one part that hold a query term, with their counts.
enum Held<'index> {
    /// None.
    Nowhere,
    /// The term itself.
    Exact(List<'index>),
    /// Terms that stand in for it, as if they were one.
    StandIn(BTreeMap<Local, Count>),
}

impl<'index> Held<'index> {
    fn count_in(&self, local: Local) -> Option<Count> {
        match self {
            Self::Nowhere => None,
            Self::Exact(list) => list.count_in(local),
            Self::StandIn(counts) => counts.get(&local).copied(),
        }
    }

    /// The passages that hold any of `terms`.
    fn any(part: &'index Part, terms: &[Box<str>]) -> Self {
        let mut counts: BTreeMap<Local, Count> = BTreeMap::new();
        let lists = terms.iter().filter_map(|term| part.segment.list(term));
        for (local, count) in lists.flat_map(|list| list.iter()) {
            let sum = counts.entry(local).or_insert(0);
            *sum = sum.saturating_add(count);
        }
        if counts.is_empty() { Self::Nowhere } else { Self::StandIn(counts) }
    }

    /// How many living passages of `part`, whose this is, there are.
    fn living(&self, part: &Part) -> usize {
        match self {
            Self::Nowhere => 0,
            Self::Exact(list) => part.living(*list),
            Self::StandIn(counts) => counts.keys().filter(|local| part.is_alive(**local)).count(),
        }
    }
}

impl LexicalIndex {
    /// The `top_k` best documents that `keep` lets through, best first, equal scores in the order of
    /// their ids. Every score is positive. Work grows with the postings of the query's terms.
    pub fn search(&self, query: &str, keep: impl Fn(DocId) -> bool, top_k: usize) -> Vec<Scored> {
        let terms = self.weighed(query);
        let norm = self.corpus().length_norm();
        let mut top = Top::new(top_k);
        let mut scores = Vec::new();
        for (place, part) in self.parts.iter().enumerate() {
            add_up(part, place, &terms, norm, &mut scores);
            collect(part, &scores, &keep, &mut top);
        }
        top.into_sorted()
    }

    /// The score that no document can exceed: that of one which says nothing but the query, endlessly.
    /// What a score is of it tells how much of the query a document covers, whatever the query; terms
    /// that no document holds count too. 0 for a query without terms.
    pub fn utmost(&self, query: &str) -> f32 {
        self.exact(query).map(|term| term.weight).sum::<f32>() * SATURATED
    }

    /// How much of the query `doc` covers, 0 to 1: what its best passage scores as a share of the utmost, in a
    /// corpus of three hundred documents or more. In a smaller one every word of the only memory would be common.
    pub fn coverage(&self, doc: DocId, query: &str) -> f32 {
        let corpus = self.corpus();
        let larger = Corpus { documents: corpus.documents.max(DOCUMENTS_MIN), ..corpus };
        let terms: HashMap<Box<str>, (f32, f32)> = self
            .exact(query)
            .map(|Weighed { term, weight, documents, .. }| {
                let rarity = larger.inverse_document_frequency(documents)
                    / corpus.inverse_document_frequency(documents);
                (term, (weight * rarity, rarity))
            })
            .collect();
        let utmost = terms.values().map(|(weight, _)| weight).sum::<f32>() * SATURATED;
        let matched = self.matched_terms(doc, query).into_iter();
        let score: f32 = matched
            .map(|matched| {
                matched.score * terms.get(&matched.term).map_or(1.0, |(_, rarity)| *rarity)
            })
            .sum();
        if utmost > 0.0 { (score / utmost).min(1.0) } else { 0.0 }
    }

    /// The distinct terms a query is made of, in its order, with how many documents hold each.
    pub fn query_terms(&self, query: &str) -> Vec<QueryTerm> {
        self.exact(query)
            .map(|Weighed { term, documents, .. }| QueryTerm { term, documents })
            .collect()
    }

    /// Why `doc` matches: its share of the score for each query term it holds, in the query's order.
    /// Empty when it does not match or is not indexed.
    pub fn matched_terms(&self, doc: DocId, query: &str) -> Vec<MatchedTerm> {
        let terms = self.weighed(query);
        let norm = self.corpus().length_norm();
        let mut best = (0.0, Vec::new());
        for (place, part) in self.parts.iter().enumerate() {
            for local in part.places_of(doc) {
                let length = part.segment.lengths.get(local as usize).copied().unwrap_or(0);
                let matched =
                    matched_in(&terms, place, local, |count| norm.saturated(count, length));
                let sum = matched.iter().map(|matched| matched.score).sum();
                if sum > best.0 {
                    best = (sum, matched);
                }
            }
        }
        best.1
    }

    /// The weight of each distinct term of a query: its inverse document frequency, once for each time
    /// the query says it. What stands in for a term has that of the term.
    pub(super) fn term_weights(&self, query: &str) -> HashMap<Box<str>, f32> {
        let names = |term: Weighed<'_>| {
            let weight = term.weight;
            std::iter::once(term.term).chain(term.stand_ins).map(move |name| (name, weight))
        };
        self.weighed(query).into_iter().flat_map(names).collect()
    }

    fn corpus(&self) -> Corpus {
        let terms = self.parts.iter().map(|part| part.terms).sum();
        Corpus { documents: self.len(), terms }
    }

    /// The terms of a query, others in place of those that no document holds.
    fn weighed(&self, query: &str) -> Vec<Weighed<'_>> {
        let mut terms: Vec<Weighed<'_>> = self.exact(query).collect();
        if terms.len() <= SLIPS_TERMS_MAX {
            let unheld = terms.iter_mut().filter(|term| term.documents == 0);
            unheld.for_each(|term| self.stand_in(term));
        }
        terms
    }

    /// The terms of a query as it says them.
    fn exact(&self, query: &str) -> impl Iterator<Item = Weighed<'_>> {
        let corpus = self.corpus();
        let distinct = self.distinct(query).into_iter();
        distinct.map(move |(term, repeats)| self.weigh(term, repeats, corpus))
    }

    /// Gives a term that nobody holds the passages of those nearest to it, weighed as if these were one
    /// term: so no score exceeds the utmost, which counts the term itself.
    fn stand_in<'index>(&'index self, term: &mut Weighed<'index>) {
        let stand_ins = self.nearby_terms(&term.term);
        if stand_ins.is_empty() {
            return;
        }
        let lists: Vec<_> = self.parts.iter().map(|part| Held::any(part, &stand_ins)).collect();
        let documents = self.parts.iter().zip(&lists).map(|(part, list)| list.living(part)).sum();
        let corpus = self.corpus();
        let rarity = corpus.inverse_document_frequency(documents)
            / corpus.inverse_document_frequency(term.documents);
        term.weight *= STAND_IN_SHARE * rarity;
        (term.lists, term.stand_ins) = (lists, stand_ins);
    }

    /// Distinct terms in order of first use, those in backticks last. A repeated term counts as often as
    /// the query says it: error texts repeat what matters.
    fn distinct(&self, query: &str) -> Vec<(Box<str>, f32)> {
        let (outside, inside) = quoted::parted(query);
        if !query.contains('`') || self.analyse_query(&outside).len() == 0 {
            return with_repeats([(&self.analyse_query(query), 1.0)]);
        }
        let (outside, inside) = (self.analyse_query(&outside), self.analyse_query(&inside));
        with_repeats([(&outside, 1.0), (&inside, QUOTED_SHARE)])
    }

    fn weigh(&self, term: Box<str>, repeats: f32, corpus: Corpus) -> Weighed<'_> {
        let lists = self.parts.iter().map(|part| part.segment.list(&term));
        let lists: Vec<_> = lists.map(|list| list.map_or(Held::Nowhere, Held::Exact)).collect();
        let documents = self.parts.iter().zip(&lists).map(|(part, list)| list.living(part)).sum();
        let weight = repeats * corpus.inverse_document_frequency(documents);
        Weighed { term, weight, documents, lists, stand_ins: Vec::new() }
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

/// The query terms that one passage holds, with what each adds.
fn matched_in(
    terms: &[Weighed<'_>],
    place: usize,
    local: Local,
    saturated: impl Fn(Count) -> f32,
) -> Vec<MatchedTerm> {
    let matched = terms.iter().filter_map(|term| {
        let count = term.lists.get(place)?.count_in(local)?;
        Some(MatchedTerm { term: term.term.clone(), score: term.weight * saturated(count) })
    });
    matched.collect()
}

/// Fills `scores` with the score of every document of `part`, zero where nothing matches.
fn add_up(
    part: &Part,
    place: usize,
    terms: &[Weighed<'_>],
    norm: LengthNorm,
    scores: &mut Vec<f32>,
) {
    scores.clear();
    scores.resize(part.segment.docs.len(), 0.0);
    let lengths = &part.segment.lengths;
    for term in terms {
        let mut add = |local: Local, count| {
            let local = local as usize;
            if let (Some(score), Some(&length)) = (scores.get_mut(local), lengths.get(local)) {
                *score += term.weight * norm.saturated(count, length);
            }
        };
        match term.lists.get(place) {
            Some(Held::Exact(list)) => list.iter().for_each(|(local, count)| add(local, count)),
            Some(Held::StandIn(counts)) => {
                counts.iter().for_each(|(local, count)| add(*local, *count));
            }
            Some(Held::Nowhere) | None => {}
        }
    }
}

/// Offers the living, wanted documents with a score to `top`, each with that of its best passage.
fn collect(part: &Part, scores: &[f32], keep: &impl Fn(DocId) -> bool, top: &mut Top) {
    let mut first: Local = 0;
    for passages in part.segment.docs.chunk_by(|one, other| one == other) {
        let locals =
            first..first.saturating_add(Local::try_from(passages.len()).unwrap_or(Local::MAX));
        first = locals.end;
        let Some(&doc) = passages.first() else { continue };
        let score_of = |local: Local| scores.get(local as usize).copied().unwrap_or(0.0);
        let living = locals.filter(|local| score_of(*local) > 0.0 && part.is_alive(*local));
        let score = living.map(score_of).fold(0.0, f32::max);
        let scored = Scored { doc, score };
        if score > 0.0 && top.wants(scored) && keep(doc) {
            top.push(scored);
        }
    }
}
