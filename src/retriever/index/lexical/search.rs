//! Scores a query against a frozen index: term at a time into one dense row of scores per segment,
//! then the best few. Pure. Not here: analysis (`tokenize`), the formula (`weight`).

use std::collections::HashMap;

use super::part::Part;
use super::postings::List;
use super::terms::Terms;
use super::top::Top;
use super::weight::{Corpus, LengthNorm};
use super::{DocId, LexicalIndex, MatchedTerm, QueryTerm, Scored};

/// A query term with what it is worth in this corpus.
struct Weighed<'index> {
    term: Box<str>,
    /// Inverse document frequency, once for each time the query says it.
    weight: f32,
    documents: usize,
    /// Its list in each part, in the order of the parts.
    lists: Vec<Option<List<'index>>>,
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

    /// The distinct terms a query is made of, in its order, with how many documents hold each.
    pub fn query_terms(&self, query: &str) -> Vec<QueryTerm> {
        let weighed = self.weighed(query).into_iter();
        weighed.map(|Weighed { term, documents, .. }| QueryTerm { term, documents }).collect()
    }

    /// Why `doc` matches: its share of the score for each query term it holds, in the query's order.
    /// Empty when it does not match or is not indexed.
    pub fn matched_terms(&self, doc: DocId, query: &str) -> Vec<MatchedTerm> {
        let mut parts = self.parts.iter().enumerate();
        let held = parts.find_map(|(place, part)| Some((place, part, part.place_of(doc)?)));
        let Some((place, part, local)) = held else { return Vec::new() };
        let length = part.segment.lengths.get(local as usize).copied().unwrap_or(0);
        let norm = self.corpus().length_norm();
        let matched = self.weighed(query).into_iter().filter_map(|term| {
            let count = term.lists.get(place).copied().flatten()?.count_in(local)?;
            let score = term.weight * norm.saturated(count, length);
            Some(MatchedTerm { term: term.term, score })
        });
        matched.collect()
    }

    /// The weight of each distinct term of a query: its inverse document frequency, once for each time
    /// the query says it.
    pub(super) fn term_weights(&self, query: &str) -> HashMap<Box<str>, f32> {
        self.weighed(query).into_iter().map(|weighed| (weighed.term, weighed.weight)).collect()
    }

    fn corpus(&self) -> Corpus {
        let terms = self.parts.iter().map(|part| part.terms).sum();
        Corpus { documents: self.len(), terms }
    }

    fn weighed(&self, query: &str) -> Vec<Weighed<'_>> {
        let corpus = self.corpus();
        let distinct = with_repeats(&self.analyse_query(query)).into_iter();
        distinct.map(|(term, repeats)| self.weigh(term, repeats, corpus)).collect()
    }

    fn weigh(&self, term: Box<str>, repeats: u16, corpus: Corpus) -> Weighed<'_> {
        let lists: Vec<_> = self.parts.iter().map(|part| part.segment.list(&term)).collect();
        let held = self.parts.iter().zip(&lists);
        let documents = held.filter_map(|(part, list)| Some(part.living((*list)?))).sum();
        let weight = f32::from(repeats) * corpus.inverse_document_frequency(documents);
        Weighed { term, weight, documents, lists }
    }
}

/// Distinct terms in order of first use. A repeated term counts as often as the query says it:
/// error texts repeat what matters.
fn with_repeats(terms: &Terms) -> Vec<(Box<str>, u16)> {
    let mut distinct: Vec<(Box<str>, u16)> = Vec::with_capacity(terms.len());
    let mut places = HashMap::with_capacity(terms.len());
    for term in terms.iter() {
        let place = *places.entry(term).or_insert(distinct.len());
        match distinct.get_mut(place) {
            Some((_, repeats)) => *repeats = repeats.saturating_add(1),
            None => distinct.push((term.into(), 1)),
        }
    }
    distinct
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
        let Some(list) = term.lists.get(place).copied().flatten() else { continue };
        for (local, count) in list.iter() {
            let local = local as usize;
            if let (Some(score), Some(&length)) = (scores.get_mut(local), lengths.get(local)) {
                *score += term.weight * norm.saturated(count, length);
            }
        }
    }
}

/// Offers the living, wanted documents with a score to `top`.
fn collect(part: &Part, scores: &[f32], keep: &impl Fn(DocId) -> bool, top: &mut Top) {
    for (local, (&score, &doc)) in (0..).zip(scores.iter().zip(&part.segment.docs)) {
        let scored = Scored { doc, score };
        if score > 0.0 && top.wants(scored) && part.is_alive(local) && keep(doc) {
            top.push(scored);
        }
    }
}
