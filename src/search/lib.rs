//! From a query to ranked hits, pure: filter → candidates → fuse → weigh → cut. A search changes
//! nothing and reads nothing but its snapshot. Not here: what a hit looks like (`render`), where the
//! query's vector comes from (`engine`).

mod briefing;
mod candidates;
mod clash;
mod complete;
mod filter;
mod foremost;
mod fuse;
mod known;
mod late;
pub mod links;
mod phrase;
mod point;
mod prior;
mod relevance;
mod same;
pub mod snapshot;
pub mod staleness;
mod syntax;

#[cfg(test)]
mod laws;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

use std::cmp::Ordering;
use std::sync::Arc;

use candidates::{ByWords, Candidate, Held, Look};

use crate::snapshot::Snapshot;
use event::{RepoKey, Timestamp};
use index::late::AskedToken;
use index::lexical::{DocId, Prepared};
use memory::Memory;

pub use briefing::{LastSession, Note, Occasion, Picked, Section, near_the_best, pick};
pub use clash::{Clash, Clashes, Sign, clashes, clashes_of};
pub use complete::{COMPLETIONS_MAX, Completions, Slot, complete};
pub use filter::{Filter, Flagged, same_file};
pub use known::Failure;
pub use phrase::Phrase;
pub use point::Point;
pub use same::Said as WhatIsSaid;
pub use syntax::Asked;

/// A search, ready to run.
#[derive(Debug, Clone, Default)]
pub struct Query<'a> {
    /// What is looked for.
    pub text: &'a str,
    /// Its meaning, when there is a model; of the model's length.
    pub vector: Option<&'a [f32]>,
    /// The meaning of each of its tokens, when there is a model.
    pub tokens: &'a [AskedToken],
    /// Whether words count.
    pub words: Words,
    /// Which memories may be hits.
    pub filter: Filter,
    /// The repository at hand, preferred among equals.
    pub here: Option<RepoKey>,
    /// How likely it must be, 0 to 1, that the best hit answers the query; below, there are no hits.
    pub min_relevance: f32,
    /// The failure that hits must be about, where one is asked about.
    pub failure: Option<&'a Failure>,
}

/// Whether a search looks at words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Words {
    /// Yes.
    #[default]
    Count,
    /// No: meaning alone.
    DoNotCount,
}

/// A memory that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its number in the snapshot.
    pub number: u32,
    /// The memory.
    pub memory: Arc<Memory>,
    /// How it was ranked.
    pub score: Score,
    /// Others that say the same, which it stands for.
    pub also: Vec<Arc<Memory>>,
}

/// How a hit was ranked; what `--explain` shows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// BM25; 0 where no word matches.
    pub lexical: f32,
    /// Cosine of the meanings, -1 to 1; `None` without a vector.
    pub dense: Option<f32>,
    /// How near its tokens are to those of the query, each to its nearest, -1 to 1; `None` where that was not
    /// reckoned.
    pub late: Option<f32>,
    /// All together, on the scale from the worst candidate, 0, to the best, 1.
    pub fused: f32,
    /// What the same repository multiplies it by.
    pub repo: f32,
    /// What its age multiplies it by.
    pub recency: f32,
    /// What its success so far multiplies it by.
    pub success: f32,
    /// What the trust in its source multiplies it by.
    pub trust: f32,
    /// The product: what hits are sorted by.
    pub total: f32,
}

/// What a search found.
#[derive(Debug)]
pub struct Found<'index> {
    /// At most as many hits as were asked for, best first.
    pub hits: Vec<Hit>,
    /// How many memories would have been among them, had they not been held back. They have no part in the
    /// ranking of the others.
    pub held_back: usize,
    /// The query's words, ready for excerpts to be measured against; `None` without a text.
    pub words: Option<Prepared<'index>>,
}

/// Runs a search and returns at most `limit` hits, best first. Equal ones stand newest first, then by id; of
/// those that say the same there is one. None at all where not even the best is likely to answer the query.
/// Without a text it lists the newest memories that the filter lets through.
#[must_use]
pub fn search(snapshot: &Snapshot, query: &Query<'_>, now: Timestamp, limit: usize) -> Vec<Hit> {
    find(snapshot, query, now, limit).hits
}

/// [`search`], and what is told beside its hits, for little more than the search alone.
#[must_use]
pub fn find<'index>(
    snapshot: &'index Snapshot,
    query: &Query<'_>,
    now: Timestamp,
    limit: usize,
) -> Found<'index> {
    begin(snapshot, query, now).finish(query, limit)
}

/// A search that has looked for words; what the query means need not be known for that.
pub struct Begun<'index> {
    snapshot: &'index Snapshot,
    now: Timestamp,
    words: Prepared<'index>,
    /// The best by words, where they were looked for.
    best: Option<Vec<ByWords>>,
}

/// Begins a search with what can be done before it is known what the query means.
#[must_use]
pub fn begin<'index>(
    snapshot: &'index Snapshot,
    query: &Query<'_>,
    now: Timestamp,
) -> Begun<'index> {
    let words = snapshot.lexical().prepare(query.text);
    // Whoever asks for nothing but a phrase is first shown who holds it, and then another filter counts.
    let is_plain = !query.text.is_empty() && Phrase::alone(query.text).is_none();
    let best = is_plain.then(|| Look::of(snapshot, query, &words, now).by_words(Held::Shown));
    Begun { snapshot, now, words, best }
}

impl<'index> Begun<'index> {
    /// [`find`], for the same query, in which its meaning may stand by now.
    #[must_use]
    pub fn finish(self, query: &Query<'_>, limit: usize) -> Found<'index> {
        let Self { snapshot, now, words, best } = self;
        if query.text.is_empty() {
            let (hits, held_back) = newest(snapshot, &query.filter, now, limit);
            return Found { hits, held_back, words: None };
        }
        let asked = Ranking { snapshot, words: &words, now, limit };
        let Ranked { shown, with_flagged } = asked.found(query, best);
        let flagged = with_flagged.iter().flatten().filter(|hit| hit.memory.flagged().is_some());
        let held_back = flagged.count();
        Found { hits: shown, held_back, words: Some(words) }
    }
}

/// What all that is ranked for one query has in common.
struct Ranking<'a> {
    snapshot: &'a Snapshot,
    words: &'a Prepared<'a>,
    now: Timestamp,
    limit: usize,
}

/// Two lists of hits.
struct Ranked {
    shown: Vec<Hit>,
    /// Those there would be if none were held back, where that makes a difference.
    with_flagged: Option<Vec<Hit>>,
}

impl Ranking<'_> {
    /// `best` are the best by words, where they are known.
    fn found(&self, query: &Query<'_>, best: Option<Vec<ByWords>>) -> Ranked {
        let phrase = Phrase::alone(query.text).filter(|_| query.filter.phrase.is_none());
        let Some(phrase) = phrase else { return self.both(query, best) };
        let filter = Filter { phrase: Some(phrase), ..query.filter.clone() };
        // Who holds the very words is relevant.
        let held = self.both(&Query { filter, min_relevance: 0.0, ..query.clone() }, None);
        if !held.shown.is_empty() {
            return held;
        }
        let others = self.both(query, best);
        let with_flagged = held.with_flagged.filter(|hits| !hits.is_empty());
        Ranked { shown: others.shown, with_flagged: with_flagged.or(others.with_flagged) }
    }

    fn both(&self, query: &Query<'_>, best: Option<Vec<ByWords>>) -> Ranked {
        let candidates = Look::of(self.snapshot, query, self.words, self.now).find(best);
        let rank = |candidates| self.rank(query, candidates);
        Ranked { shown: rank(candidates.shown), with_flagged: candidates.with_flagged.map(rank) }
    }

    fn rank(&self, query: &Query<'_>, candidates: Vec<Candidate>) -> Vec<Hit> {
        let snapshot = self.snapshot;
        let phrases = phrase::Phrases::of(query.text);
        let boost = |number| snapshot.memory(number).map_or(1.0, |memory| phrases.boost(memory));
        let fits: Vec<f32> =
            candidates.iter().map(|found| fuse::fit(found) * boost(found.number)).collect();
        // Without words the model has nothing to go by; meaning has a floor of its own.
        if query.min_relevance > 0.0 && query.words == Words::Count {
            let terms = self.words.terms().len();
            let coverage = |number| self.words.coverage(DocId(number));
            // Who looks for one word knows that it is there.
            if terms > 1
                && relevance::of_best(&candidates, &fits, terms, coverage) < query.min_relevance
            {
                return Vec::new();
            }
        }
        let asked = late::Asked::of(query, self.words);
        let each_late = asked.and_then(|asked| late::of(snapshot, &asked, &candidates, &fits));
        let fits: Vec<f32> = match &each_late {
            None => fits,
            Some(each_late) => {
                let with = |(found, late): (&Candidate, &late::Late)| {
                    fuse::fit_with(fuse::fit(found), late.counted()) * boost(found.number)
                };
                candidates.iter().zip(each_late).map(with).collect()
            }
        };
        let fused = fuse::relative(&fits);
        let seen = each_late.iter().flatten().map(late::Late::seen).chain(std::iter::repeat(None));
        let here = query.here.as_ref().map(|here| snapshot.keys_of(here));
        let nearest = prior::Place::of(here.is_some());
        let weigh = |fused, (candidate, late): (Candidate, Option<f32>)| {
            let memory = Arc::clone(snapshot.memory(candidate.number)?);
            let is_here = here.as_ref().is_some_and(|keys| keys.contains(&memory.repo));
            let place = prior::Place::of(is_here);
            let score = prior::weigh(&candidate, fused, &memory, self.now, place);
            let score = Score { late, ..score };
            Some(Hit { number: candidate.number, memory, score, also: Vec::new() })
        };
        let fitting = fused.into_iter().zip(candidates.into_iter().zip(seen)).collect();
        let needed = same::looked_at_max(self.limit);
        let total = |hit: &Hit| hit.score.total;
        let mut hits = foremost::weighed(fitting, needed, prior::utmost(nearest), weigh, total);
        hits.sort_by(|a, b| {
            b.score.total.total_cmp(&a.score.total).then_with(|| newest_first(&a.memory, &b.memory))
        });
        let mut hits = same::collapse(hits, self.limit);
        if let Some(failure) = query.failure {
            let known = known::Known::of(failure, self.words);
            let met = hits.iter().take_while(|hit| known.is_met_by(&hit.memory)).count();
            hits.truncate(met);
        }
        hits.retain(|hit| !hit.memory.is_lost());
        hits
    }
}

/// The newest memories that a filter lets through, newest first, and how many would be among them, had they
/// not been held back.
fn newest(snapshot: &Snapshot, filter: &Filter, now: Timestamp, limit: usize) -> (Vec<Hit>, usize) {
    let numbered = (0..).zip(snapshot.memories().iter());
    let mut fitting: Vec<(u32, &Arc<Memory>)> =
        numbered.filter(|(_, memory)| filter.fits(memory) && !memory.is_inactive(now)).collect();
    fitting.sort_unstable_by(|(_, a), (_, b)| newest_first(a, b));
    // Looked at one by one: whether a memory reads like an instruction is found out late.
    let is_shown =
        |memory: &Memory| filter.flagged == Flagged::Included || memory.flagged().is_none();
    let first = fitting.iter().take(limit);
    let held_back = first.filter(|(_, memory)| !is_shown(memory)).count();
    let shown = fitting.into_iter().filter(|(_, memory)| is_shown(memory)).take(limit);
    let hit = |(number, memory): (u32, &Arc<Memory>)| Hit {
        number,
        memory: Arc::clone(memory),
        score: Score::default(),
        also: Vec::new(),
    };
    let shown = shown.filter(|(_, memory)| !memory.is_lost());
    (shown.map(hit).collect(), held_back)
}

/// Our ids sort by time, those of others may not.
fn newest_first(a: &Memory, b: &Memory) -> Ordering {
    let age = |memory: &Memory| (memory.timestamp, memory.id.clone());
    age(b).cmp(&age(a))
}
