//! The best few documents of a query, without scoring what cannot be among them. Pure. Not here: the query's
//! terms (`query`), walking a list (`cursor`), the formula (`weight`).
//!
//! MaxScore (H. Turtle and J. Flood, "Query evaluation: strategies and optimizations", IPM 31, 1995) over
//! windows of documents, with the maxima of blocks (S. Ding and T. Suel, "Faster top-k document retrieval
//! using block-max indexes", SIGIR 2011). In each window the terms that are worth most are added up, until the
//! bounds of the others do not even together reach the worst of the best so far, and then until few documents are
//! left that could be among the best: reading a list in order costs less than looking up many places in it. For
//! those few the other terms are looked up, one after the other. Scores are always added up in the same order, so
//! they have the bits of the plain sum.

use std::ops::Range;

use super::cursor::{Cursor, Scale};
use super::part::Part;
use super::postings::Local;
use super::query::Prepared;
use super::top::Top;
use super::weight::Saturation;
use super::{DocId, LexicalIndex, Scored};

/// Passages looked at together: their scores fit the fastest cache, and there are few windows. Few in tests, so
/// that small indexes have many.
const WINDOW: usize = if cfg!(test) { 24 } else { 4_096 };

/// Scores looked at together for one that counts: most of a window has none.
const STRIDE: usize = 16;

/// Smaller indexes are scored in full: skipping saves a tenth at 10,000 passages and more at more; below that nothing
/// was measured. None is small in tests.
const PASSAGES_MIN: usize = if cfg!(test) { 1 } else { 8_192 };

/// Queries of more terms are scored in full: the many bounds of a pasted text together say nothing, so nothing
/// is left out, and looking for what could be costs a half more than it saves.
const TERMS_MAX: usize = 32;

/// Looking up a passage in a list takes as long as reading so many postings in order. Measured: with 4 and 8 searches
/// among 100,000 passages take longer. Few in tests, so that several passages are looked up in short lists.
const LOOKUP_POSTINGS: usize = if cfg!(test) { 2 } else { 16 };

/// What rounding may add to a sum of bounds, as a share for each term: sixteen times the half unit in the
/// last place of an addition of 32 bit floats, of which there are two for each term.
const ROUNDING: f32 = 8.0 * f32::EPSILON;

/// Roundings besides those of sums: of the bounds themselves, of the threshold and what is left of it.
const ROUNDINGS_BESIDES: usize = 16;

impl LexicalIndex {
    /// [`Prepared::search`] of a query that nothing else is asked of.
    #[must_use]
    pub fn search(&self, query: &str, keep: impl Fn(DocId) -> bool, top_k: usize) -> Vec<Scored> {
        self.prepare(query).search(keep, top_k)
    }
}

impl Prepared<'_> {
    /// The `top_k` best documents that `keep` lets through, best first, equal scores in the order of
    /// their ids. Every score is positive. Work grows with the postings of the query's rarer terms.
    #[must_use]
    pub fn search(&self, keep: impl Fn(DocId) -> bool, top_k: usize) -> Vec<Scored> {
        self.search_among(|_| true, keep, top_k)
    }

    /// The same among documents that `may` be let through, which costs less to ask than `keep`: stretches of which none
    /// may are passed over unread.
    #[must_use]
    pub fn search_among(
        &self,
        may: impl Fn(DocId) -> bool,
        keep: impl Fn(DocId) -> bool,
        top_k: usize,
    ) -> Vec<Scored> {
        let keep = |doc| may(doc) && keep(doc);
        if self.corpus.documents < PASSAGES_MIN || self.terms().len() > TERMS_MAX {
            return self.search_everything(keep, top_k);
        }
        let mut top = Top::new(top_k);
        let saturation = Saturation::of(self.corpus.length_norm());
        let mut scorer = Scorer {
            saturation: &saturation,
            // A query has at most some thousand terms.
            rounding: ROUNDING * (self.terms().len() + ROUNDINGS_BESIDES) as f32,
            cursors: Vec::new(),
            bounds: Vec::new(),
            scores: Vec::new(),
            found: Vec::new(),
        };
        for (place, part) in self.index.parts.iter().enumerate() {
            scorer.begin(self, place, part);
            scorer.search(part, &may, &keep, &mut top);
        }
        top.into_sorted()
    }
}

/// What is needed to look through one part after the other.
struct Scorer<'query> {
    saturation: &'query Saturation,
    /// The share by which a sum of bounds may be too small.
    rounding: f32,
    /// Where each term's list is, the terms that are worth most first.
    cursors: Vec<Cursor<'query>>,
    /// What each term and all after it add at most to a passage of this window.
    bounds: Vec<f32>,
    /// What the terms that are read add up to, for each passage of this window.
    scores: Vec<f32>,
    /// Passages of this window that may be among the best, ascending.
    found: Vec<Local>,
}

impl<'query> Scorer<'query> {
    /// Goes to the beginning of a part.
    fn begin(&mut self, query: &'query Prepared<'_>, place: usize, part: &Part) {
        let scale = Scale { saturation: self.saturation, lengths: &part.segment.lengths };
        self.cursors.resize_with(query.terms().len(), Cursor::default);
        for (cursor, term) in self.cursors.iter_mut().zip(query.by_weight()) {
            cursor.begin(term.list(place), term.weight, scale);
        }
    }

    fn search(
        &mut self,
        part: &Part,
        may: &impl Fn(DocId) -> bool,
        keep: &impl Fn(DocId) -> bool,
        top: &mut Top,
    ) {
        if self.cursors.iter().all(Cursor::is_empty) {
            return;
        }
        let docs = &part.segment.docs;
        let mut start = 0;
        while start < docs.len() {
            let end = window_end(docs, start);
            if docs.get(start..end).is_some_and(|docs| docs.iter().any(|doc| may(*doc))) {
                self.look_at(part, local(start)..local(end), top.worst());
                self.offer(part, local(start), keep, top);
            }
            start = end;
        }
    }

    /// Finds the passages of a window that have a score of `worst` or more, with their scores.
    fn look_at(&mut self, part: &Part, window: Range<Local>, worst: Option<f32>) {
        self.found.clear();
        let needed = worst.map_or(0.0, |worst| worst * (1.0 - self.rounding));
        if worst.is_some() {
            self.bound(&window);
        }
        // While not enough are found all terms are read.
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

    /// Takes the bounds of a window.
    fn bound(&mut self, window: &Range<Local>) {
        self.bounds.clear();
        let saturation = self.saturation;
        self.bounds.extend(self.cursors.iter_mut().map(|cursor| cursor.bound(window, saturation)));
        let mut sum = 0.0;
        for bound in self.bounds.iter_mut().rev() {
            sum += *bound;
            *bound = sum;
        }
    }

    /// Finds the passages with a score of `cutoff` or more.
    fn find(&mut self, first: Local, cutoff: f32) {
        for (stride, scores) in self.scores.chunks(STRIDE).enumerate() {
            let is_higher = |high: f32, score: &f32| if *score > high { *score } else { high };
            let high = scores.iter().fold(0.0, is_higher);
            if high > 0.0 && high >= cutoff {
                let first = first + local(stride * STRIDE);
                let counting = |(_, score): &(Local, &f32)| **score > 0.0 && **score >= cutoff;
                let found = (first..).zip(scores).filter(counting);
                self.found.extend(found.map(|(local, _)| local));
            }
        }
    }

    /// Offers the living, wanted documents that were found to `top`, each with the score of its best passage.
    fn offer(&self, part: &Part, first: Local, keep: &impl Fn(DocId) -> bool, top: &mut Top) {
        let doc_of = |local: Local| part.segment.docs.get(local as usize).copied();
        let score_of = |local: Local| self.scores.get((local - first) as usize).copied();
        for passages in self.found.chunk_by(|one, other| doc_of(*one) == doc_of(*other)) {
            let Some(doc) = passages.first().and_then(|local| doc_of(*local)) else { continue };
            let living = passages.iter().filter(|local| part.is_alive(**local));
            let score = living.filter_map(|local| score_of(*local)).fold(0.0, f32::max);
            let scored = Scored { doc, score };
            if score > 0.0 && top.wants(scored) && keep(doc) {
                top.push(scored);
            }
        }
    }
}

/// How many scores of a window are `cutoff` or more. Without a way out, so that many are compared at once.
fn count(scores: &[f32], cutoff: f32) -> usize {
    let cutoff = cutoff.max(f32::MIN_POSITIVE);
    scores.iter().map(|score| u32::from(*score >= cutoff)).sum::<u32>() as usize
}

/// A part has fewer passages than a place can tell.
fn local(place: usize) -> Local {
    Local::try_from(place).unwrap_or(Local::MAX)
}

/// Where the window that begins at `start` ends: the passages of a document are not parted.
fn window_end(docs: &[DocId], start: usize) -> usize {
    let mut end = start.saturating_add(WINDOW).min(docs.len());
    while end < docs.len() && docs.get(end) == docs.get(end - 1) {
        end += 1;
    }
    end
}
