//! From a query to ranked hits, pure: candidates, fusion, priors, dedup, cut. A search changes nothing and reads only
//! its snapshot. Not here: each step (its own file), the text of a hit (`reply`), the vector of the query (`engine`).

use std::sync::Arc;

use super::candidates::{ByWords, Candidate, CandidateSearch, FlaggedPolicy};
use super::dedup::SimilarPolicy;
use super::failure_match::FailureMatch;
use super::filter::Filter;
use super::hit::{Hit, Tier, newest_first};
use super::near_miss::{self, LossReason, Losses, NearMiss};
use super::phrase::{self, Phrase};
use super::prior::{self, CallerScope};
use super::query::{Query, Tiers, WordMatching};
use super::score::Score;
use super::staleness::UnmergedPolicy;
use super::{better_note, dedup, fuse, late_interaction, relevance, top_k};
use crate::snapshot::Snapshot;
use event::Timestamp;
use index::lexical::{DocId, PreparedQuery};
use memory::Memory;

/// The least likelihood of a possible hit, as a share of that of a likely one.
const POSSIBLE_SHARE: f32 = 0.115;
/// Most possible hits: their titles cost the reader tokens too.
pub(super) const POSSIBLE_MAX: usize = 3;

/// The result of a search.
#[derive(Debug)]
pub struct SearchResult<'index> {
    /// The hits, best first, at most as many as the limit.
    pub hits: Vec<Hit>,
    /// How many memories would be among the hits if they were not held back. They do not affect the ranking of
    /// the others.
    pub held_back: usize,
    /// The best memories that are no hits, as many as [`Query::near_misses_max`] asks for.
    pub near_misses: Vec<NearMiss>,
    /// The terms of the query, for choosing excerpts; `None` without a text.
    pub words: Option<PreparedQuery<'index>>,
}

/// Runs a search and returns at most `limit` hits, best first. Equals are sorted newest first, then by id. Of
/// memories that say the same, one is returned. Hits that are unlikely to answer the query are left out.
/// Without a text it lists the newest memories that pass the filter.
#[must_use]
pub fn search(snapshot: &Snapshot, query: &Query<'_>, now: Timestamp, limit: usize) -> Vec<Hit> {
    find(snapshot, query, now, limit).hits
}

/// Returns the hits of [`search`], the number of those held back, and the terms of the query.
#[must_use]
pub fn find<'index>(
    snapshot: &'index Snapshot,
    query: &Query<'_>,
    now: Timestamp,
    limit: usize,
) -> SearchResult<'index> {
    begin(snapshot, query, now).finish(query, limit)
}

/// A search that has finished its search by words and waits for the vector of the query.
pub struct PendingSearch<'index> {
    snapshot: &'index Snapshot,
    now: Timestamp,
    words: PreparedQuery<'index>,
    /// The best memories by words, where that search was needed.
    best: Option<Vec<ByWords>>,
}

/// Begins a search with what needs no vector of the query.
#[must_use]
pub fn begin<'index>(
    snapshot: &'index Snapshot,
    query: &Query<'_>,
    now: Timestamp,
) -> PendingSearch<'index> {
    let words = snapshot.lexical().prepare(query.text);
    // A query that is only a phrase uses another filter first.
    let is_plain = !query.text.is_empty() && Phrase::from_whole_query(query.text).is_none();
    let best = is_plain.then(|| {
        CandidateSearch::new(snapshot, query, &words, now).by_words(FlaggedPolicy::Include)
    });
    PendingSearch { snapshot, now, words, best }
}

impl<'index> PendingSearch<'index> {
    /// Finishes the search of the same query, which may have its vector by now.
    #[must_use]
    pub fn finish(self, query: &Query<'_>, limit: usize) -> SearchResult<'index> {
        let Self { snapshot, now, words, best } = self;
        if query.text.is_empty() {
            let (hits, held_back) = newest(snapshot, &query.filter, now, limit);
            return SearchResult { hits, held_back, near_misses: Vec::new(), words: None };
        }
        let ranking = Ranking { snapshot, words: &words, now, limit };
        let RankedHits { shown, with_flagged, near_misses } = ranking.hits(query, best);
        let policy = query.filter.flagged;
        let hidden = with_flagged.iter().flatten().filter(|hit| policy.hides(&hit.memory));
        let held_back = hidden.count();
        SearchResult { hits: shown, held_back, near_misses, words: Some(words) }
    }
}

/// The ranking of one query.
struct Ranking<'a> {
    snapshot: &'a Snapshot,
    words: &'a PreparedQuery<'a>,
    now: Timestamp,
    limit: usize,
}

/// The hits, with and without those held back.
struct RankedHits {
    shown: Vec<Hit>,
    /// The hits if none were held back, where that makes a difference.
    with_flagged: Option<Vec<Hit>>,
    near_misses: Vec<NearMiss>,
}

impl Ranking<'_> {
    /// `best` are the best memories by words, where they are known.
    fn hits(&self, query: &Query<'_>, best: Option<Vec<ByWords>>) -> RankedHits {
        let phrase = Phrase::from_whole_query(query.text).filter(|_| query.filter.phrase.is_none());
        let Some(phrase) = phrase else { return self.rank_with_flagged(query, best) };
        let filter = Filter { phrase: Some(phrase), ..query.filter.clone() };
        // A memory with the very phrase is relevant.
        let held =
            self.rank_with_flagged(&Query { filter, min_likelihood: 0.0, ..query.clone() }, None);
        if !held.shown.is_empty() {
            return held;
        }
        let others = self.rank_with_flagged(query, best);
        let with_flagged = held.with_flagged.filter(|hits| !hits.is_empty());
        RankedHits { with_flagged: with_flagged.or(others.with_flagged), ..others }
    }

    fn rank_with_flagged(&self, query: &Query<'_>, best: Option<Vec<ByWords>>) -> RankedHits {
        let candidates =
            CandidateSearch::new(self.snapshot, query, self.words, self.now).find(best);
        let mut losses = Losses::wanted(query.near_misses_max);
        let shown = self.rank(query, candidates.shown, &mut losses);
        let rank = |candidates| self.rank(query, candidates, &mut Losses::default());
        let with_flagged = candidates.with_flagged.map(rank);
        let near_misses = match query.near_misses_max {
            0 => Vec::new(),
            count => near_miss::best_near_misses(self.misses(query, &shown, &losses), count),
        };
        RankedHits { shown, with_flagged, near_misses }
    }

    /// Returns every memory that fits the query somehow and is no hit, with the step that lost it. What another step
    /// lost before is listed only where it would have been a hit.
    fn misses(&self, query: &Query<'_>, shown: &[Hit], losses: &Losses) -> Vec<NearMiss> {
        let search = CandidateSearch::new(self.snapshot, query, self.words, self.now);
        let considered = search.find(None).shown;
        let search = CandidateSearch::new(self.snapshot, query, self.words, self.now);
        let mut all = search.all_candidates();
        all.extend(considered);
        all.sort_unstable_by_key(|candidate| candidate.number);
        all.dedup_by_key(|candidate| candidate.number);
        let is_shown = |hit: &Hit| shown.iter().any(|other| other.number == hit.number);
        let least = match query.tiers {
            Tiers::Both => query.min_likelihood * POSSIBLE_SHARE,
            Tiers::Likely => query.min_likelihood,
        };
        let miss = |hit: Hit| {
            if is_shown(&hit) || hit.memory.is_lost() {
                return None;
            }
            let (score, tier) = self.assess(query, &hit);
            let is_likely = tier.is_some();
            let left_out = near_miss::exclusion_reason(&hit.memory, &query.filter, self.now)
                .or_else(|| query.filter.flagged.hides(&hit.memory).then_some(LossReason::Flagged));
            let (score, lost_by) = match (left_out, losses.loss_of(hit.number)) {
                (Some(_), _) if !is_likely => return None,
                (Some(lost_by), _) => (score, lost_by),
                (None, Some((lost, by @ (LossReason::Duplicate(_) | LossReason::Failure)))) => {
                    (self.assess(query, lost).0, by.clone())
                }
                (None, _) if !is_likely => (score, LossReason::Floor { least }),
                (None, Some((lost, lost_by))) => (self.assess(query, lost).0, lost_by.clone()),
                // It was too far behind to be compared.
                (None, None) => (score, LossReason::Limit(self.limit)),
            };
            Some(NearMiss { memory: hit.memory, score, reason: lost_by })
        };
        self.weigh(query, all, usize::MAX).into_iter().filter_map(miss).collect()
    }

    fn rank(&self, query: &Query<'_>, candidates: Vec<Candidate>, losses: &mut Losses) -> Vec<Hit> {
        let snapshot = self.snapshot;
        let mut hits = self.weigh(query, candidates, dedup::compared_max(self.limit));
        hits.sort_by(better_note::best_first);
        let is_shown = |hit: &Hit| self.assess(query, hit).1.is_some();
        let fits = |memory: &Memory| {
            let unmerged = query.unmerged.filter(|unmerged| unmerged.contains_key(&memory.id));
            let is_left_out =
                query.unmerged_policy == UnmergedPolicy::LeftOut && unmerged.is_some();
            query.filter.fits(memory) && !query.filter.flagged.hides(memory) && !is_left_out
        };
        let similar = match query.min_likelihood > 0.0 {
            true => SimilarPolicy::AsTitles,
            false => SimilarPolicy::Keep,
        };
        let room = dedup::DistinctTexts::new(self.limit, similar);
        let subjects = better_note::compare(snapshot, &mut hits, room, self.now, is_shown, fits);
        let mut hits = dedup::collapse(hits, self.limit, similar, &subjects, losses);
        if let Some(failure) = query.failure {
            let failure = FailureMatch::new(failure, self.words);
            hits.retain(|hit| {
                let outdated = hit.outdates.as_ref().map(|note| &note.memory);
                let mut notes = std::iter::once(&hit.memory).chain(outdated);
                let is_about_it = notes.any(|memory| failure.matches(memory));
                if !is_about_it {
                    losses.record_loss(hit, || LossReason::Failure);
                }
                is_about_it
            });
        }
        hits.retain(|hit| !hit.memory.is_lost());
        self.judge(query, &mut hits, losses);
        hits
    }

    /// Computes the scores of the candidates that can be among the `needed` best, in no order.
    fn weigh(&self, query: &Query<'_>, candidates: Vec<Candidate>, needed: usize) -> Vec<Hit> {
        let snapshot = self.snapshot;
        let phrases = phrase::Phrases::parse(query.text);
        let boost = |number| snapshot.memory(number).map_or(1.0, |memory| phrases.boost(memory));
        let query_tokens = late_interaction::QueryTokens::new(query, self.words);
        let late_scores = query_tokens
            .and_then(|tokens| late_interaction::scores(snapshot, &tokens, &candidates));
        let fits: Vec<f32> = match &late_scores {
            None => candidates.iter().map(|found| fuse::fit(found) * boost(found.number)).collect(),
            Some(late_scores) => {
                let with = |(found, late): (&Candidate, &late_interaction::LateScore)| {
                    let fit = fuse::fit(found);
                    let late = found.embedded * late.value()
                        + (1.0 - found.embedded) * fuse::late_estimate(fit);
                    fuse::fit_with(fit, late) * boost(found.number)
                };
                candidates.iter().zip(late_scores).map(with).collect()
            }
        };
        let computed = late_scores
            .iter()
            .flatten()
            .map(late_interaction::LateScore::computed)
            .chain(std::iter::repeat(None));
        let caller = CallerScope::new(snapshot, query);
        let weigh = |fit, (candidate, late): (Candidate, Option<f32>)| {
            let memory = Arc::clone(snapshot.memory(candidate.number)?);
            let is_unmerged =
                query.unmerged.is_some_and(|unmerged| unmerged.contains_key(&memory.id));
            if is_unmerged && query.unmerged_policy == UnmergedPolicy::LeftOut {
                return None;
            }
            let locality = caller.locality(&memory);
            let score = prior::weigh(&candidate, fit, &memory, self.now, locality);
            let score = Score { late, ..score };
            let score = if is_unmerged { prior::on_other_branch(score) } else { score };
            Some(Hit {
                number: candidate.number,
                memory,
                score,
                tier: Tier::Likely,
                duplicates: Vec::new(),
                better: None,
                outdates: None,
            })
        };
        let fitting = fits.into_iter().zip(candidates.into_iter().zip(computed)).collect();
        let total = |hit: &Hit| hit.score.total;
        top_k::weigh_top_k(
            fitting,
            needed,
            |fit| prior::total_max(fit, caller.nearest()),
            weigh,
            total,
        )
    }

    /// Returns the score of a hit with its likelihood, and its tier; no tier where it is unlikely. A note in the place of one
    /// that it outdates answers the query at least as likely as that one.
    fn assess(&self, query: &Query<'_>, hit: &Hit) -> (Score, Option<Tier>) {
        let own = self.with_likelihood(query, hit.number, hit.score);
        let tier = self.tier(query, &own);
        let Some(outdated) = &hit.outdates else { return (own, tier) };
        let other = self.with_likelihood(query, outdated.number, outdated.score);
        let best = tier.into_iter().chain(self.tier(query, &other)).min();
        (Score { likelihood: own.likelihood.max(other.likelihood), ..own }, best)
    }

    /// Returns the score of the memory of a number with its likelihood.
    fn with_likelihood(&self, query: &Query<'_>, number: u32, score: Score) -> Score {
        let mut score = Score { terms: self.words.terms().len(), ..score };
        if query.words == WordMatching::On {
            let overlap = self.words.overlap(DocId(number));
            (score.covered, score.rarity) = (overlap.coverage, overlap.rarity);
        }
        Score { likelihood: relevance::likelihood(&score), ..score }
    }

    /// Returns the tier of a score; `None` for an unlikely one.
    fn tier(&self, query: &Query<'_>, score: &Score) -> Option<Tier> {
        // A query of one word looks for a memory that the caller knows, if the memory has the word.
        let is_named = score.terms <= 1 && score.rarity > 0.0;
        // The likelihood needs words; a search by meaning alone has a least cosine instead.
        let is_certain = query.words == WordMatching::Off || is_named;
        if is_certain || score.likelihood >= query.min_likelihood {
            return Some(Tier::Likely);
        }
        let least = query.min_likelihood * POSSIBLE_SHARE;
        (query.tiers == Tiers::Both && score.likelihood >= least).then_some(Tier::Possible)
    }

    /// Computes the likelihood and the tier of each hit, and drops the unlikely ones.
    fn judge(&self, query: &Query<'_>, hits: &mut Vec<Hit>, losses: &mut Losses) {
        hits.retain_mut(|hit| {
            let (score, tier) = self.assess(query, hit);
            hit.score = score;
            // What is much like a better hit is a title at most.
            hit.tier = tier.unwrap_or_default().max(hit.tier);
            let is_kept =
                tier.is_some() && (query.tiers == Tiers::Both || hit.tier == Tier::Likely);
            if !is_kept {
                losses.record_loss(hit, || LossReason::Floor { least: query.min_likelihood });
            }
            is_kept
        });
        // Likely hits come first, and each tier keeps its order.
        hits.sort_by_key(|hit| hit.tier == Tier::Possible);
        let likely_len = hits.iter().filter(|hit| hit.tier == Tier::Likely).count();
        for hit in hits.iter().skip(likely_len + POSSIBLE_MAX) {
            losses.record_loss(hit, || LossReason::Possible(POSSIBLE_MAX));
        }
        hits.truncate(likely_len + POSSIBLE_MAX);
    }
}

/// Returns the newest memories that pass a filter, newest first, and how many more would be among them if none were
/// held back.
pub(super) fn newest(
    snapshot: &Snapshot,
    filter: &Filter,
    now: Timestamp,
    limit: usize,
) -> (Vec<Hit>, usize) {
    let numbered = (0..).zip(snapshot.memories().iter());
    let mut fitting: Vec<(u32, &Arc<Memory>)> =
        numbered.filter(|(_, memory)| filter.fits(memory) && !memory.is_inactive(now)).collect();
    fitting.sort_unstable_by(|(_, a), (_, b)| newest_first(a, b));
    // Whether a memory reads like an instruction is computed only here, one by one.
    let is_shown = |memory: &Memory| !filter.flagged.hides(memory);
    let first = fitting.iter().take(limit);
    let held_back = first.filter(|(_, memory)| !is_shown(memory)).count();
    let shown = fitting.into_iter().filter(|(_, memory)| is_shown(memory)).take(limit);
    let hit = |(number, memory): (u32, &Arc<Memory>)| Hit {
        number,
        memory: Arc::clone(memory),
        score: Score::default(),
        tier: Tier::Likely,
        duplicates: Vec::new(),
        better: None,
        outdates: None,
    };
    let shown = shown.filter(|(_, memory)| !memory.is_lost());
    (shown.map(hit).collect(), held_back)
}
