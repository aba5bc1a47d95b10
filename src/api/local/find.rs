//! Answers a search. The words are searched while the model computes the vector of the query. Not here: ranking
//! (`search`), the words of the reply (`reply`).

use std::collections::BTreeSet;
use std::time::Duration;

use super::damage::UsedSnapshot;
use super::past_sessions::MemoriesAnswer;
use super::query_vector::QueryAbout;
use super::repositories::unnamed_error;
use super::{
    Local, analysis, filters, memory_bound, past_sessions, query_vector, repositories, reranked,
    snapshots, staleness,
};
use engine::{EngineView, LogCoverage};
use event::RepoKey;
use reply::{ReplyReader, SearchReply};
use requests::{ApiError, Explain, Mode, Reply, SearchRequest, SearchScope};
use search::snapshot::Snapshot;
use search::{ParsedQuery, Query, Tier, Tiers, WordMatching, links};

/// How long a search waits for the model while others write faster than lines are read.
const HURRIED: Duration = Duration::from_millis(60);

/// Most memories that an explained search names though they are no hits.
const NEAR_MISSES_MAX: usize = 10;

pub(super) fn search(
    local: &Local,
    request: &SearchRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let asked = ParsedQuery::parse(&request.query);
    let (SearchScope::All(named) | SearchScope::Only(named)) = &request.scope;
    let mode = affordable(local, request.mode);
    let about = QueryAbout { text: &asked.text, named: named.as_deref(), filters: &asked.repos };
    let put = query_vector::ask_model(local, about, mode);
    let (EngineView { snapshot, coverage: extent }, put) = query_vector::view_for(local, put)?;
    let put = if extent == LogCoverage::Behind { put.with_wait(HURRIED) } else { put };
    used.record(&snapshot);
    let mut notices: Vec<String> =
        memory_bound::bound_notice(snapshot.memory_usage()).into_iter().collect();
    let here = repositories::repo_or_here(local, named.as_deref(), &snapshot)?;
    let repos = keys_of_scope(request, here.as_ref(), &snapshot)?;
    if let Some((here, keys)) = here.as_ref().zip(repos.as_ref()) {
        notices.extend(none_of(here, keys, &snapshot));
    }
    let filter = filters::filter(local, request, repos, &asked, &snapshot)?;
    let words = if request.mode == Mode::Dense { WordMatching::Off } else { WordMatching::On };
    let query = Query {
        text: &asked.text,
        words,
        filter,
        here: here.clone(),
        min_likelihood: f32::from(request.min_relevance_percent) / 100.0,
        tiers: request.tiers,
        failure: request.failure.as_ref(),
        near_misses_max: near_misses_max(request.explain),
        ..Query::default()
    };
    let begun = search::begin(&snapshot, &query, local.core.now());
    let (meant, notice) = query_vector::query_meaning(local, put, request.mode, about, &snapshot)?;
    let of_meaning = query_vector::vector_notice(local, &snapshot, meant.as_ref(), request.explain);
    let recent = snapshots::recent_only_notice(extent, &snapshot);
    let first = [snapshots::no_store_notice(local), notice, recent, of_meaning];
    notices.splice(..0, first.into_iter().flatten());
    let (vector, tokens) = query_vector::parts(meant.as_ref());
    let query = Query { vector, tokens, ..query };
    let finish = || begun.finish(&query, request.limit);
    let hurried = SearchRequest { mode, ..request.clone() };
    let search::SearchResult { hits, held_back: held_back_len, near_misses, words } =
        reranked::search_reranked(
            local,
            (&snapshot, &mut notices),
            (&hurried, &query, about),
            finish,
        );
    let likely_len = likely_len(&hits);
    analysis::record_failed_search(
        local,
        request,
        &asked,
        likely_len + held_back_len,
        here.as_ref(),
    );
    notices.extend(held_back(held_back_len, local.reader()));
    notices.extend(filters::misread_notice(&asked, hits.len()));
    // Hooks show nothing but likely hits.
    let linked = match request.tiers {
        Tiers::Both if likely_len > 0 => linked(local, &snapshot, &hits, &query.filter),
        Tiers::Both | Tiers::Likely => Vec::new(),
    };
    let changed = staleness::changed_files(local, hits.iter().map(|hit| &hit.memory), &snapshot);
    let found = SearchReply {
        hits: &hits,
        here: here.as_ref(),
        linked: &linked,
        changed: &changed,
        notices: &notices,
        near_misses: &near_misses,
        explain: request.explain,
        shape: request.shape,
        reader: local.reader(),
        max_tokens: request.max_tokens,
    };
    let interest = words.map(|words| words.interest());
    let of_interest = |piece: &str| interest.as_ref().map_or(0.0, |interest| interest.weigh(piece));
    let reply = reply::search(&found, &of_interest);
    let reply = match request.explain {
        Explain::Components => reply::with_matched_words(reply, &asked.text),
        Explain::Silent => reply,
    };
    let of_here = here.as_ref().map(|here| with_here(snapshot.keys_of(here), here));
    Ok(with_past_session(local, request, of_here.as_ref(), (likely_len, reply)))
}

/// Returns the keys of the repository that a search is limited to; nothing for all repositories.
fn keys_of_scope(
    request: &SearchRequest,
    here: Option<&RepoKey>,
    snapshot: &Snapshot,
) -> Result<Option<BTreeSet<RepoKey>>, ApiError> {
    match &request.scope {
        SearchScope::All(_) => Ok(None),
        SearchScope::Only(_) => Ok(Some(snapshot.keys_of(here.ok_or_else(unnamed_error)?))),
    }
}

/// Returns the memories that stated links join to likely hits.
fn linked(
    local: &Local,
    snapshot: &Snapshot,
    hits: &[search::Hit],
    filter: &search::Filter,
) -> Vec<links::LinkedMemory> {
    let known = local.core.links.links_of(snapshot);
    links::linked_memories(snapshot, &known, hits, filter, local.core.now())
}

/// Returns the way of searching for which there is time. While others write faster than lines are read, the model would take
/// longer than everything else, and what is new has no vectors yet. A replica answers like the others, however much is
/// written to it.
fn affordable(local: &Local, asked: Mode) -> Mode {
    let may_skip = asked != Mode::Dense && local.core.config.member.is_none();
    if may_skip && local.core.engine.is_pressed() { Mode::Lexical } else { asked }
}

fn likely_len(hits: &[search::Hit]) -> usize {
    hits.iter().filter(|hit| hit.tier == Tier::Likely).count()
}

fn near_misses_max(explain: Explain) -> usize {
    match explain {
        Explain::Components => NEAR_MISSES_MAX,
        Explain::Silent => 0,
    }
}

/// Adds at most one past session. Hooks show nothing but memories, and what was known in the past is not what a session says
/// today.
fn with_past_session(
    local: &Local,
    request: &SearchRequest,
    of_here: Option<&BTreeSet<RepoKey>>,
    (likely_len, reply): (usize, Reply),
) -> Reply {
    if request.tiers == Tiers::Likely || local.core.config.as_of.is_some() {
        return reply;
    }
    let answered = if likely_len > 0 { MemoriesAnswer::Likely } else { MemoriesAnswer::No };
    let beside = past_sessions::sessions_for_search(local, request, of_here, answered);
    reply::with_session(reply, &beside, local.reader(), request.max_tokens)
}

/// Adds the name of the repository at hand, of which there may be no memory yet.
fn with_here(mut keys: BTreeSet<RepoKey>, here: &RepoKey) -> BTreeSet<RepoKey> {
    keys.insert(here.clone());
    keys
}

/// Runs a query that is complete already.
pub(super) fn query_hits(
    local: &Local,
    snapshot: &Snapshot,
    query: &Query<'_>,
    limit: usize,
) -> Vec<search::Hit> {
    search::search(snapshot, query, local.core.now(), limit)
}

/// Says that a repository has no memories, which may be why nothing was found.
fn none_of(repo: &RepoKey, keys: &BTreeSet<RepoKey>, snapshot: &Snapshot) -> Option<String> {
    let is_known = keys.iter().any(|key| snapshot.repos().contains_key(key));
    (!is_known).then(|| {
        let meant = repositories::similar_names(repo, snapshot);
        format!("Note: there are no memories of {repo}.{meant} Search without a repo to see other repositories.")
    })
}

/// Says how many memories a search held back, and how to see them.
fn held_back(count: usize, reader: ReplyReader) -> Option<String> {
    let notes = match count {
        0 => return None,
        1 => "1 note was held back because it reads like instructions".to_owned(),
        many => format!("{many} notes were held back because they read like instructions"),
    };
    Some(format!("Note: {notes}; {} shows them, marked.", reader.include_flagged()))
}
