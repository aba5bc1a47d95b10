//! Puts likely hits into the order of a reranker, where the settings name one and there is time for it. It never shows what is unlikely,
//! and hides a likely hit by the limit alone. Without an answer our own order stands. Not here: asking it (the retriever).

use std::sync::Arc;

use super::query_vector::QueryAbout;
use super::{Local, beside, query_vector};
use crate::reranker::Reranker;
use engine::{ModelInput, ScopedQuery};
use guard::secrets::RedactedText;
use memory::Memory;
use requests::{Explain, Mode, SearchRequest};
use search::snapshot::Snapshot;
use search::{Hit, LossReason, NearMiss, Query, SearchResult, Tier, Tiers};

/// Most hits that are sent: what a reranker reads in a second, and more than anybody reads.
const SENT_MAX: usize = 30;

/// Most characters of a text or a query that are sent.
const CHARS_MAX: usize = 2_000;

/// Runs the search of this machine and of the second source, and orders its likely hits.
pub(super) fn search_reranked<'index>(
    local: &Local,
    (snapshot, notices): (&Snapshot, &mut Vec<String>),
    (request, query, about): (&SearchRequest, &Query<'_>, QueryAbout<'_>),
    here: impl FnOnce() -> SearchResult<'index>,
) -> SearchResult<'index> {
    let mut found =
        beside::search_both_sources(local, (snapshot, notices), query, request.limit, here);
    ordered(local, (snapshot, notices), (request, query, about), &mut found);
    found
}

/// Orders the likely hits of a finished search, and adds a notice where the reranker did not answer.
fn ordered(
    local: &Local,
    (snapshot, notices): (&Snapshot, &mut Vec<String>),
    (request, query, about): (&SearchRequest, &Query<'_>, QueryAbout<'_>),
    found: &mut SearchResult<'_>,
) {
    let Some(reranker) = to_ask(local, (request, about), snapshot) else { return };
    let own = std::mem::take(&mut found.hits);
    let mut likely = all_likely(local, snapshot, (request, query), &own);
    match reorder(&mut likely, &*reranker, query.text) {
        Ok(Order::Reranked) => {}
        Ok(Order::Own) => {
            found.hits = own;
            return;
        }
        Err(note) => {
            found.hits = own;
            notices.extend(note);
            return;
        }
    }
    let cut = likely.split_off(request.limit.min(likely.len()));
    found.near_misses.retain(|miss| likely.iter().all(|hit| !is_of(hit, &miss.memory)));
    if request.explain == Explain::Components {
        notices.push(format!("Note: likely notes are in the order of {}.", reranker.name()));
        told_as_cut(found, &own, cut, request.limit);
    }
    let possible = own.into_iter().filter(|hit| hit.tier == Tier::Possible);
    likely.extend(possible);
    found.hits = likely;
}

/// Returns the reranker that this search may ask: hooks have no time, nor has a machine on which others press (its mode is lexical),
/// a search by words alone asks no model, replicas of a team answer alike, and of a repository that is left out not even the query is
/// sent.
fn to_ask(
    local: &Local,
    (request, about): (&SearchRequest, QueryAbout<'_>),
    snapshot: &Snapshot,
) -> Option<Arc<dyn Reranker>> {
    let is_for_hooks = request.tiers == Tiers::Likely;
    let is_alone = local.core.config.member.is_some() || local.core.config.as_of.is_some();
    if is_for_hooks || is_alone || request.mode == Mode::Lexical || about.text.is_empty() {
        return None;
    }
    let reranker = (local.core.reranker.as_ref()?)()?;
    if reranker.is_resting() {
        return None;
    }
    let repos = query_vector::asked_repos(local, about, Some(snapshot))?;
    let asked = ScopedQuery { text: about.text, repos: Some(&repos) };
    let is_seen = asked.is_visible_to(reranker.may_see());
    (is_seen == Some(true)).then_some(reranker)
}

/// Returns the likely hits of a search in our own order, also those behind the limit, as many as are sent.
fn all_likely(
    local: &Local,
    snapshot: &Snapshot,
    (request, query): (&SearchRequest, &Query<'_>),
    own: &[Hit],
) -> Vec<Hit> {
    let mut likely: Vec<Hit> = own.iter().filter(is_likely).cloned().collect();
    if request.limit < SENT_MAX {
        let query = Query { near_misses_max: 0, ..query.clone() };
        let more = search::search(snapshot, &query, local.core.now(), SENT_MAX);
        let more = more.into_iter().filter(|hit| is_likely(&hit));
        let is_new = |hit: &Hit| own.iter().all(|other| !is_of(other, &hit.memory));
        likely.extend(more.filter(is_new).collect::<Vec<Hit>>());
    }
    likely
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "filters of iterators take it so")]
fn is_likely(hit: &&Hit) -> bool {
    hit.tier == Tier::Likely
}

/// Tells whether a hit shows a memory. Memories of an engine have numbers of their own.
fn is_of(hit: &Hit, memory: &Memory) -> bool {
    hit.memory.id == memory.id && hit.memory.provenance.log == memory.provenance.log
}

/// Whose order hits are in.
#[derive(Debug, PartialEq, Eq)]
enum Order {
    Own,
    Reranked,
}

/// Sends the first hits that may be sent, and puts them in the order of their scores, equal ones in ours. The others stay where they are.
fn reorder(
    hits: &mut [Hit],
    reranker: &dyn Reranker,
    query: &str,
) -> Result<Order, Option<String>> {
    let may_see = reranker.may_see();
    let is_sent = |(_, hit): &(usize, &Hit)| may_see(ModelInput::Memory(&hit.memory));
    let first = hits.iter().enumerate().take(SENT_MAX);
    let (places, texts): (Vec<usize>, Vec<RedactedText>) =
        first.filter(is_sent).map(|(place, hit)| (place, text_of(&hit.memory))).unzip();
    if places.len() < 2 {
        return Ok(Order::Own);
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
    Ok(Order::Reranked)
}

/// Returns the text of a memory as it is sent. Its title is the beginning of it.
fn text_of(memory: &Memory) -> RedactedText {
    let event = memory.event();
    let both = [event.context.as_str(), event.lesson.as_str()];
    let said: Vec<&str> = both.into_iter().filter(|text| !text.is_empty()).collect();
    RedactedText::redact(&said.join("\n")).cut_to_characters(CHARS_MAX)
}

/// Tells in an explained search which hits the new order has pushed behind the limit.
fn told_as_cut(found: &mut SearchResult<'_>, own: &[Hit], cut: Vec<Hit>, limit: usize) {
    let was_shown = |hit: &Hit| own.iter().any(|other| is_of(other, &hit.memory));
    let miss = |hit: Hit| NearMiss {
        memory: hit.memory,
        score: hit.score,
        reason: LossReason::Limit(limit),
    };
    let lost = cut.into_iter().filter(was_shown).map(miss).collect::<Vec<_>>();
    found.near_misses.splice(..0, lost);
}
