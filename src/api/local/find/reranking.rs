//! Puts likely hits into the order of a reranker, where the settings name one and there is time for it. It never shows what is unlikely,
//! and hides a likely hit by the limit alone. Without an answer our own order stands. Not here: asking it (the retriever).

use std::sync::Arc;

use super::search_run::SearchRun;
use crate::reranker::Reranker;
use engine::{ModelInput, ScopedQuery};
use guard::secrets::RedactedText;
use memory::Memory;
use requests::{Explain, Mode};
use search::{Hit, LossReason, NearMiss, Query, SearchResult, Tier, Tiers};

/// Most hits that are sent: what a reranker reads in a second, and more than anybody reads.
const SENT_MAX: usize = 30;

/// Most characters of a text or a query that are sent.
const CHARS_MAX: usize = 2_000;

impl SearchRun<'_> {
    /// Orders the likely hits of a finished search, and adds a notice where the reranker did not answer.
    pub(super) fn rerank(&mut self, found: &mut SearchResult<'_>) {
        let Some(reranker) = self.reranker() else { return };
        let limit = self.request.limit;
        let mut likely = self.all_likely(&found.hits);
        if let Err(notice) = reorder(&mut likely, &*reranker, &self.parsed.text) {
            self.notices.extend(notice);
            return;
        }
        let cut = likely.split_off(limit.min(likely.len()));
        let own = std::mem::take(&mut found.hits);
        found.near_misses.retain(|miss| likely.iter().all(|hit| !is_of(hit, &miss.memory)));
        if self.request.explain == Explain::Components {
            self.notices
                .push(format!("Note: likely notes are in the order of {}.", reranker.name()));
            add_cut_hits(found, &own, cut, limit);
        }
        likely.extend(own.into_iter().filter(|hit| hit.tier == Tier::Possible));
        found.hits = likely;
    }

    /// Returns the reranker that this search may ask: hooks have no time, nor has a machine on which others press (its mode is lexical),
    /// a search by words alone asks no model, replicas of a team answer alike, and of a repository that is left out not even the query is
    /// sent.
    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        let core = &self.local.core;
        let text = &self.parsed.text;
        let is_for_hooks = self.request.tiers == Tiers::Likely;
        let is_alone = core.config.member.is_some() || core.config.as_of.is_some();
        if is_for_hooks || is_alone || self.mode == Mode::Lexical || text.is_empty() {
            return None;
        }
        let reranker = (core.reranker.as_ref()?)()?;
        if reranker.is_resting() {
            return None;
        }
        let repos = self.vector_query().asked_repos(Some(self.snapshot))?;
        let query = ScopedQuery { text, repos: Some(&repos) };
        (query.is_visible_to(reranker.may_see()) == Some(true)).then_some(reranker)
    }

    /// Returns the likely hits of a search in our own order, also those behind the limit, as many as are sent.
    fn all_likely(&self, own: &[Hit]) -> Vec<Hit> {
        let mut likely: Vec<Hit> = own.iter().filter(is_likely).cloned().collect();
        if self.request.limit < SENT_MAX {
            let query = Query { near_misses_max: 0, ..self.query() };
            let more = search::search(self.snapshot, &query, self.local.core.now(), SENT_MAX);
            let more = more.into_iter().filter(|hit| is_likely(&hit));
            let is_new = |hit: &Hit| own.iter().all(|other| !is_of(other, &hit.memory));
            likely.extend(more.filter(is_new));
        }
        likely
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "filters of iterators take it so")]
fn is_likely(hit: &&Hit) -> bool {
    hit.tier == Tier::Likely
}

/// Tells whether a hit shows a memory. Memories of an engine have numbers of their own.
fn is_of(hit: &Hit, memory: &Memory) -> bool {
    hit.memory.id == memory.id && hit.memory.provenance.log == memory.provenance.log
}

/// Sends the first hits that may be sent, and puts them in the order of their scores, equal ones in ours. The others stay where they are.
/// Without scores it returns a notice, unless there is nothing to say.
fn reorder(hits: &mut [Hit], reranker: &dyn Reranker, query: &str) -> Result<(), Option<String>> {
    let may_see = reranker.may_see();
    let is_sent = |(_, hit): &(usize, &Hit)| may_see(ModelInput::Memory(&hit.memory));
    let first = hits.iter().enumerate().take(SENT_MAX);
    let (places, texts): (Vec<usize>, Vec<RedactedText>) =
        first.filter(is_sent).map(|(place, hit)| (place, text_of(&hit.memory))).unzip();
    if places.len() < 2 {
        return Err(None);
    }
    let scores =
        reranker.scores(&RedactedText::redact(query).cut_to_characters(CHARS_MAX), &texts)?;
    let mut sent: Vec<(f64, Hit)> = Vec::with_capacity(places.len());
    for (place, score) in places.iter().zip(scores) {
        let Some(mut hit) = hits.get(*place).cloned() else { continue };
        // It is only shown.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let shown = score as f32;
        hit.score.reranker = Some(shown);
        sent.push((score, hit));
    }
    sent.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    for (place, (_, hit)) in places.iter().zip(sent) {
        if let Some(slot) = hits.get_mut(*place) {
            *slot = hit;
        }
    }
    Ok(())
}

/// Returns the text of a memory as it is sent. Its title is the beginning of it.
fn text_of(memory: &Memory) -> RedactedText {
    let event = memory.event();
    let both = [event.context.as_str(), event.lesson.as_str()];
    let parts: Vec<&str> = both.into_iter().filter(|text| !text.is_empty()).collect();
    RedactedText::redact(&parts.join("\n")).cut_to_characters(CHARS_MAX)
}

/// Adds to the near misses of an explained search the hits that the new order has pushed behind the limit.
fn add_cut_hits(found: &mut SearchResult<'_>, own: &[Hit], cut: Vec<Hit>, limit: usize) {
    let was_shown = |hit: &Hit| own.iter().any(|other| is_of(other, &hit.memory));
    let miss = |hit: Hit| NearMiss {
        memory: hit.memory,
        score: hit.score,
        reason: LossReason::Limit(limit),
    };
    let lost = cut.into_iter().filter(was_shown).map(miss).collect::<Vec<_>>();
    found.near_misses.splice(..0, lost);
}
