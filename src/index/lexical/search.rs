//! Finds the best few documents of a query, without scoring documents that cannot be among them. Pure. Not here: the
//! query's terms (`query`), reading a list (`cursor`), the formula (`weight`).
//!
//! The method is MaxScore (H. Turtle and J. Flood, "Query evaluation: strategies and optimizations", IPM 31, 1995)
//! over windows of documents, with the maxima of blocks (S. Ding and T. Suel, "Faster top-k document retrieval using
//! block-max indexes", SIGIR 2011). In each window, the heaviest terms are added up first. This stops when the
//! bounds of the other terms together cannot reach the worst score in the top k, or when few candidates are left:
//! reading a list in order costs less than many lookups in it. The other terms are then looked up for the remaining
//! candidates, one term after the other. Scores are always added in the same order, so they are equal to the plain
//! sum bit by bit.
//!
//! The threshold, which is the worst score in the final top k, is estimated from a sample beforehand. So few
//! passages are scored needlessly before the top k is full. If the estimate was too high, the search runs once more
//! without it.

use std::ops::Range;

use super::best_scores::BestScores;
use super::cursor::{Cursor, Scale};
use super::live_segment::LiveSegment;
use super::postings::PassageNumber;
use super::query::PreparedQuery;
use super::weight::Saturation;
use super::{DocId, LexicalIndex, ScoredDocument};
use crate::processor;

/// Passages of a window: their scores fit the fastest cache, and there are few windows. The number is small in
/// tests, so that small indexes have many windows.
const WINDOW: usize = if cfg!(test) { 24 } else { 4_096 };

/// The sample is one stretch of this many passages out of each this many; smaller parts have no sample. Measured:
/// the estimate saves an eighth of a search among 100,000 passages. Small in tests.
const SAMPLED: usize = if cfg!(test) { 6 } else { 512 };
const SAMPLED_OUT_OF: usize = if cfg!(test) { 24 } else { 16_384 };

/// The estimate is the score at a rank in the sample: this factor times the expected number of top passages there,
/// plus a margin. Similar passages stand together, and one repeated search costs as much as many good estimates
/// save. The factor is one in tests, so that many estimates are too high.
const SAMPLED_MORE: usize = 2;
const SAMPLED_BESIDES: usize = if cfg!(test) { 1 } else { 8 };

/// Scores that are compared at once with the cutoff: most of a window has no score.
const STRIDE: usize = 16;

/// Smaller indexes are scored in full. Skipping saves a tenth at 10,000 passages and more in larger indexes; smaller
/// ones were not measured. In tests, no index is too small.
const PASSAGES_MIN: usize = if cfg!(test) { 1 } else { 8_192 };

/// Queries with more terms are scored in full. The many bounds of a pasted text add up to so much that nothing is
/// skipped, and the attempt costs half of the search again.
const TERMS_MAX: usize = 32;

/// One lookup in a list costs as much as reading this many postings in order. Measured: with 8, 16 and 64, searches
/// among 100,000 passages take longer. Small in tests, so that short lists get several lookups.
const LOOKUP_POSTINGS: usize = if cfg!(test) { 2 } else { 32 };

/// The relative error that rounding may add to a sum of bounds, for each term: sixteen times the unit roundoff of a
/// 32-bit float. Each term takes two additions.
const ROUNDING: f32 = 8.0 * f32::EPSILON;

/// The least positive score.
const LEAST: f32 = f32::from_bits(1);

/// Roundings besides those of the sums: of the bounds, of the threshold and of the remaining threshold.
const ROUNDINGS_BESIDES: usize = 16;

impl LexicalIndex {
    /// Calls [`PreparedQuery::search`] for a query that is used once.
    #[must_use]
    pub fn search(
        &self,
        query: &str,
        keep: impl Fn(DocId) -> bool,
        top_k: usize,
    ) -> Vec<ScoredDocument> {
        self.prepare(query).search(keep, top_k)
    }
}

impl PreparedQuery<'_> {
    /// Returns the `top_k` best documents that `keep` lets through, best first; documents with equal scores are in
    /// the order of their ids. Every score is positive. The work grows with the postings of the query's rarer terms.
    #[must_use]
    pub fn search(&self, keep: impl Fn(DocId) -> bool, top_k: usize) -> Vec<ScoredDocument> {
        self.search_among(|_| true, keep, top_k)
    }

    /// Does the same among the documents that `may` lets through. `may` must cost less than `keep`: stretches
    /// without such a document are skipped unread.
    #[must_use]
    pub fn search_among(
        &self,
        may: impl Fn(DocId) -> bool,
        keep: impl Fn(DocId) -> bool,
        top_k: usize,
    ) -> Vec<ScoredDocument> {
        if top_k == 0 {
            return Vec::new();
        }
        let keep = |doc| may(doc) && keep(doc);
        if self.index.len() < PASSAGES_MIN || self.terms().len() > TERMS_MAX {
            return self.search_everything(keep, top_k);
        }
        let saturation = Saturation::from_norm(self.corpus.length_norm());
        let mut scorer = Scorer {
            saturation: &saturation,
            // A query has at most some thousand terms.
            rounding: ROUNDING * (self.terms().len() + ROUNDINGS_BESIDES) as f32,
            cursors: Vec::new(),
            bounds: Vec::new(),
            scores: Vec::new(),
            found: Vec::new(),
        };
        let expected = top_k / (SAMPLED_OUT_OF / SAMPLED);
        let sampled_k = expected.saturating_mul(SAMPLED_MORE).saturating_add(SAMPLED_BESIDES);
        let mut sample = BestScores::new(sampled_k);
        let may_hold = |docs: &[DocId], window: &Range<usize>| {
            docs.get(window.clone()).is_some_and(|docs| docs.iter().any(|doc| may(*doc)))
        };
        let sampled = |docs| sample_of(docs).filter(move |window| may_hold(docs, window));
        let whole = |docs| windows_of(docs).filter(move |window| may_hold(docs, window));
        scorer.search(self, sampled, &keep, &mut sample);
        if let Some(guess) = sample.worst() {
            let mut top = BestScores::above(top_k, guess);
            scorer.search(self, whole, &keep, &mut top);
            if top.is_right() {
                return top.into_sorted();
            }
        }
        let mut top = BestScores::new(top_k);
        scorer.search(self, whole, &keep, &mut top);
        top.into_sorted()
    }

    /// Returns the score that a search gives `doc`, bit by bit, whether or not the document is among the best; 0 where it
    /// does not match.
    #[must_use]
    pub fn score_of(&self, doc: DocId) -> f32 {
        let norm = self.corpus.length_norm();
        let mut best: f32 = 0.0;
        for (place, part) in self.index.parts.iter().enumerate() {
            for local in part.places_of(doc) {
                let length = part.segment.lengths.get(local as usize).copied().unwrap_or(0);
                let mut score = 0.0;
                for term in self.by_weight() {
                    if let Some(count) = term.list(place).count_in(local) {
                        score += term.weight * norm.saturated(count, length);
                    }
                }
                best = best.max(score);
            }
        }
        best
    }
}

/// The state of a search through the parts, one after the other.
struct Scorer<'query> {
    saturation: &'query Saturation,
    /// The relative error of a sum of bounds.
    rounding: f32,
    /// The cursor of each term's list, heaviest term first.
    cursors: Vec<Cursor<'query>>,
    /// The bound of each term together with all terms after it, in this window.
    bounds: Vec<f32>,
    /// The sum of the terms read so far, for each passage of this window.
    scores: Vec<f32>,
    /// The passages of this window that may be in the top k, ascending.
    found: Vec<PassageNumber>,
}

impl<'query> Scorer<'query> {
    /// Offers the passages of some windows of each part.
    fn search<Windows: Iterator<Item = Range<usize>>>(
        &mut self,
        query: &'query PreparedQuery<'_>,
        windows_of: impl Fn(&'query [DocId]) -> Windows,
        keep: &impl Fn(DocId) -> bool,
        top: &mut BestScores,
    ) {
        for (place, part) in query.index.parts.iter().enumerate() {
            // Small parts have no sample, so their lists are not opened for it.
            let mut windows = windows_of(&part.segment.docs).peekable();
            if windows.peek().is_none() {
                continue;
            }
            self.begin(query, place, part);
            if self.cursors.iter().all(Cursor::is_empty) {
                continue;
            }
            for window in windows {
                let first = local(window.start);
                self.look_at(part, first..local(window.end), top.worst());
                self.offer(part, first, keep, top);
            }
        }
    }

    /// Goes to the beginning of a part.
    fn begin(&mut self, query: &'query PreparedQuery<'_>, place: usize, part: &LiveSegment) {
        let scale = Scale { saturation: self.saturation, lengths: &part.segment.lengths };
        self.cursors.resize_with(query.terms().len(), Cursor::default);
        for (cursor, term) in self.cursors.iter_mut().zip(query.by_weight()) {
            cursor.begin(term.list(place), term.weight, scale);
        }
    }

    /// Finds the passages of a window whose score is `worst` or more, with their scores.
    fn look_at(&mut self, part: &LiveSegment, window: Range<PassageNumber>, worst: Option<f32>) {
        self.found.clear();
        let needed = worst.map_or(0.0, |worst| worst * (1.0 - self.rounding));
        if worst.is_some() {
            self.bound(&window);
        }
        // Until the top k is full, all terms are read.
        let read = match worst {
            Some(_) => {
                self.bounds.iter().take_while(|bound| bound.total_cmp(&needed).is_ge()).count()
            }
            None => self.cursors.len(),
        };
        if read == 0 {
            return;
        }
        let scale = Scale { saturation: self.saturation, lengths: &part.segment.lengths };
        self.scores.clear();
        self.scores.resize(window.len(), 0.0);
        for cursor in self.cursors.iter_mut().take(read) {
            cursor.pour(&window, scale, &mut self.scores);
        }
        let left_out = |bounds: &[f32], next: usize| match worst {
            Some(_) => bounds.get(next).copied().unwrap_or(0.0),
            None => 0.0,
        };
        let passages = part.segment.docs.len().max(1);
        let (mut read, mut cutoff) = (read, needed - left_out(&self.bounds, read));
        while let Some(cursor) = self.cursors.get_mut(read) {
            let of_window = cursor.len() * window.len() / passages;
            if count(&self.scores, cutoff) * LOOKUP_POSTINGS <= of_window {
                break;
            }
            cursor.pour(&window, scale, &mut self.scores);
            read += 1;
            cutoff = needed - left_out(&self.bounds, read);
        }
        self.find(window.start, cutoff);
        for next in read..self.cursors.len() {
            let cutoff = needed - left_out(&self.bounds, next + 1);
            let (Some(cursor), false) = (self.cursors.get_mut(next), self.found.is_empty()) else {
                return;
            };
            self.found.retain(|local| {
                let score = self.scores.get_mut((local - window.start) as usize);
                score.is_some_and(|score| {
                    *score += cursor.adds_to(*local, scale).unwrap_or(0.0);
                    *score >= cutoff
                })
            });
        }
    }

    /// Reads the bounds of a window.
    fn bound(&mut self, window: &Range<PassageNumber>) {
        self.bounds.clear();
        let saturation = self.saturation;
        self.bounds.extend(self.cursors.iter_mut().map(|cursor| cursor.bound(window, saturation)));
        let mut sum = 0.0;
        for bound in self.bounds.iter_mut().rev() {
            sum += *bound;
            *bound = sum;
        }
    }

    /// Finds the passages whose score is `cutoff` or more.
    fn find(&mut self, first: PassageNumber, cutoff: f32) {
        let cutoff = cutoff.max(LEAST);
        let Self { scores, found, .. } = self;
        processor::with_native_simd(
            #[inline(always)]
            || {
                for (stride, scores) in scores.chunks(STRIDE).enumerate() {
                    // No early exit, so that the compiler can compare many at once.
                    if scores.iter().fold(false, |any, score| any | (*score >= cutoff)) {
                        let first = first + local(stride * STRIDE);
                        let counting = |(_, score): &(PassageNumber, &f32)| **score >= cutoff;
                        let counted = (first..).zip(scores).filter(counting);
                        found.extend(counted.map(|(local, _)| local));
                    }
                }
            },
        );
    }

    /// Offers the living documents that the filter keeps to `top`, each with the score of its best passage.
    fn offer(
        &self,
        part: &LiveSegment,
        first: PassageNumber,
        keep: &impl Fn(DocId) -> bool,
        top: &mut BestScores,
    ) {
        let doc_of = |local: PassageNumber| part.segment.docs.get(local as usize).copied();
        let score_of = |local: PassageNumber| self.scores.get((local - first) as usize).copied();
        for passages in self.found.chunk_by(|one, other| doc_of(*one) == doc_of(*other)) {
            let Some(doc) = passages.first().and_then(|local| doc_of(*local)) else { continue };
            let living = passages.iter().filter(|local| part.is_alive(**local));
            let score = living.filter_map(|local| score_of(*local)).fold(0.0, f32::max);
            let scored = ScoredDocument { doc, score };
            if score > 0.0 && top.wants(scored) && keep(doc) {
                top.push(scored);
            }
        }
    }
}

/// Counts the scores of a window that are `cutoff` or more. No early exit, so that the compiler can compare many at
/// once.
fn count(scores: &[f32], cutoff: f32) -> usize {
    let cutoff = cutoff.max(LEAST);
    processor::with_native_simd(
        #[inline(always)]
        || scores.iter().map(|score| u32::from(*score >= cutoff)).sum::<u32>() as usize,
    )
}

/// A part has fewer passages than a passage number can count.
fn local(place: usize) -> PassageNumber {
    PassageNumber::try_from(place).unwrap_or(PassageNumber::MAX)
}

/// Returns the windows of a part. The passages of one document stay in one window.
fn windows_of(docs: &[DocId]) -> impl Iterator<Item = Range<usize>> {
    let mut start: usize = 0;
    std::iter::from_fn(move || {
        let mut end = start.saturating_add(WINDOW).min(docs.len());
        while end < docs.len() && docs.get(end) == docs.get(end - 1) {
            end += 1;
        }
        let window = start..end;
        start = end;
        (!window.is_empty()).then_some(window)
    })
}

/// Returns the stretches of a part that form the sample.
fn sample_of(docs: &[DocId]) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..docs.len() / SAMPLED_OUT_OF).map(|stretch| stretch * SAMPLED_OUT_OF);
    starts.map(|start| start..start + SAMPLED)
}
