//! Answers questions to past sessions of other tools. Not here: the index and the search (`sessions`), the words of the reply
//! (`reply`).

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use super::repositories::unnamed_error;
use super::shared_core::{Local, SessionAccess};
use super::{repositories, snapshots};
use engine::EngineView;
use event::RepoKey;
use guard::disclosure::DisclosureOccasion;
use reply::{
    ChosenExchanges, DisclosedSessions, FoundSession, SessionAnswer, SessionsForSearch,
    SessionsFound,
};
use requests::sessions::{SessionListRequest, SessionSearchRequest};
use requests::{ApiError, FailedCommand, Reply, SearchRequest, SearchScope};
use search::snapshot::Snapshot;
use sessions::fixed_failure::{FailureSigns, known_fixes};
use sessions::session_judgement::may_recommend_fix;
use sessions::session_rows::{KeptSession, SessionFilter, SessionRow};
use sessions::session_search::{SessionHit, SessionQuery};
use sessions::session_store::{SessionError, SessionStore};
use settings::{ConfigTable, SessionPolicy};
use writer::exit::Exit;

/// How long a search of memories waits: sessions are only an addition to it.
const WAIT_ASIDE: Duration = Duration::from_millis(20);

/// Flagged sessions among the best that do not take the place of others.
const FLAGGED_MAX: usize = 20;

/// Sessions of different tools that may have one id.
const SAME_ID_MAX: usize = 8;

const NONE_KEPT: &str = "No past sessions are kept. A person can let agent-knowledge read them: agent-knowledge sessions import.";

/// Refuses a caller who is not the user of this machine, and everybody while the table of the settings is held.
fn check_access(local: &Local) -> Result<(), ApiError> {
    if let Some(finding) = local.core.config.hold(ConfigTable::Sessions) {
        return Err(ApiError::Failed { exit: Exit::Config, message: finding.to_string() });
    }
    match local.past_sessions {
        SessionAccess::Granted => Ok(()),
        SessionAccess::Withheld => {
            let message = "past sessions are shown to the owner of the server only";
            Err(ApiError::NotFound(message.to_owned()))
        }
    }
}

pub(super) fn search(local: &Local, request: &SessionSearchRequest) -> Result<Reply, ApiError> {
    check_access(local)?;
    let past = &local.core.past_sessions;
    let Some(kept) = past.open_store().map_err(|error| failed(&error))? else {
        return Ok(Reply::new(NONE_KEPT.to_owned(), serde_json::json!({ "sessions": [] })));
    };
    if let Some(failed) = &request.failed {
        return mended(local, &kept, failed);
    }
    if !request.ids.is_empty() {
        return show(&local.core.config.sessions, &kept, request);
    }
    let Some(view) = past.view(local.patience.query).map_err(|error| failed(&error))? else {
        return Ok(Reply::new(NONE_KEPT.to_owned(), serde_json::json!({ "sessions": [] })));
    };
    let repos = repos_of(local, &request.repos)?;
    let allowed = allowed_sessions(local, &kept, request, repos.as_ref())?;
    let since_ms = request.since.map(|since| since.first(local.core.now()).as_millisecond());
    let keep = |session: u32, at_ms: Option<i64>| {
        allowed.contains(&session)
            && since_ms.is_none_or(|since| at_ms.is_some_and(|at| at >= since))
    };
    let query = SessionQuery {
        text: &request.query,
        scope: request.scope,
        speaker: request.role,
        keep: &keep,
        limit: request.limit + FLAGGED_MAX,
    };
    let hits = view.index.find(&query);
    let sessions =
        disclosed(&kept, &hits, (DisclosureOccasion::Listed, request.limit), &request.query)?;
    let reply = reply::session_hits(&SessionsFound {
        sessions: &sessions,
        reader: local.reader(),
        is_behind: view.is_behind,
        shape: request.shape,
        max_tokens: request.max_tokens,
    });
    Ok(reply::with_matched_words(reply, &request.query))
}

/// Lists the newest sessions that people held, page by page.
pub(super) fn newest_sessions(
    local: &Local,
    request: &SessionListRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    check_access(local)?;
    let named = request.repo.as_deref().map(|name| repositories::named_repo(local, name, snapshot));
    let named = named.transpose()?;
    let Some(kept) = local.core.past_sessions.open_store().map_err(|error| failed(&error))? else {
        return Ok(reply::no_sessions_kept());
    };
    let now = local.core.now();
    let filter = SessionFilter {
        tool: request.tool.clone(),
        repo: named.map(|repo| repo.to_string()),
        since_ms: request.since.map(|since| since.first(now).as_millisecond()),
        is_with_programs: false,
    };
    let skip = request.limit.saturating_mul(request.page.saturating_sub(1));
    let policy = &local.core.config.sessions;
    let may_show = |session: &KeptSession| {
        let directory = session.facts.directory.as_deref();
        !policy.leaves_out(&session.tool, session.repo.as_deref(), directory)
    };
    let page = kept.page_of_sessions(&filter, may_show, (skip, request.limit));
    let (page, is_more) = page.map_err(|error| failed(&error))?;
    Ok(reply::session_list(&page, skip, is_more))
}

/// Returns what past sessions say beside the memories of a search: those of the repository at hand, or all where there is none
/// and all repositories are searched. Where memories do not answer, there is more time.
pub(super) fn sessions_for_search(
    local: &Local,
    request: &SearchRequest,
    repos: Option<&BTreeSet<RepoKey>>,
    answered: MemoriesAnswer,
) -> SessionsForSearch {
    let wait = match answered {
        MemoriesAnswer::Likely => WAIT_ASIDE,
        MemoriesAnswer::No => local.patience.query,
    };
    match (answer_of_session(local, request, repos, wait), answered) {
        (Some(Some(answer)), _) => SessionsForSearch::Answer(answer),
        (Some(None), MemoriesAnswer::No) => SessionsForSearch::Unlikely,
        (Some(None), MemoriesAnswer::Likely) | (None, _) => SessionsForSearch::Nothing,
    }
}

/// Whether a memory likely answers a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoriesAnswer {
    Likely,
    No,
}

/// Returns the past session that likely answers, if one does; nothing where none may be looked at.
fn answer_of_session(
    local: &Local,
    request: &SearchRequest,
    repos: Option<&BTreeSet<RepoKey>>,
    wait: Duration,
) -> Option<Option<SessionAnswer>> {
    check_access(local).ok()?;
    if repos.is_none() && matches!(request.scope, SearchScope::Only(_)) {
        return None;
    }
    let past = &local.core.past_sessions;
    let (view, kept) = (past.view(wait).ok()??, past.open_store().ok()??);
    let repos: Option<HashSet<String>> =
        repos.map(|repos| repos.iter().map(ToString::to_string).collect());
    let all = SessionSearchRequest::default();
    let allowed = allowed_sessions(local, &kept, &all, repos.as_ref()).ok()?;
    let keep = |session: u32, _: Option<i64>| allowed.contains(&session);
    let query = SessionQuery {
        text: &request.query,
        scope: <_>::default(),
        speaker: None,
        keep: &keep,
        limit: 1 + FLAGGED_MAX,
    };
    let mut hits = view.index.find(&query);
    hits.retain(SessionHit::is_likely);
    let one = (DisclosureOccasion::Unasked, 1);
    Some(reply::session_answer(&disclosed(&kept, &hits, one, &request.query).ok()?))
}

/// Says how a failure ended in past sessions of the repository at hand; an empty text if that is unknown.
fn mended(local: &Local, kept: &SessionStore, failure: &FailedCommand) -> Result<Reply, ApiError> {
    let signs = FailureSigns::recognise(&failure.command, &failure.output);
    let Some((signs, here)) = signs.zip(local.here.as_ref()) else {
        return Ok(reply::known_end(None));
    };
    let own = local.writer.identity.session_id.as_deref();
    let mut rows =
        kept.fixed_failures_like(here.as_str(), &signs, own).map_err(|error| failed(&error))?;
    let policy = &local.core.config.sessions;
    // Most people exclude nothing, and a failing command waits for this.
    if *policy != SessionPolicy::default() && !rows.is_empty() {
        let all = kept.session_rows().map_err(|error| failed(&error))?;
        let left_out = all.into_values().filter(|session| leaves_out(policy, session));
        let left_out: HashSet<String> = left_out.map(|session| session.native_id).collect();
        rows.retain(|row| !left_out.contains(&row.session));
    }
    // A hook says it, and nobody asked.
    rows.retain(|row| may_recommend_fix(row, &failure.command));
    let ends = known_fixes(&signs, &rows, 1);
    let Some(end) = ends.first() else { return Ok(reply::known_end(None)) };
    let cited = kept.cited_id(&end.latest.session).map_err(|error| failed(&error))?;
    Ok(reply::known_end(Some((end, &cited))))
}

/// Shows exchanges by the ids of an answer: `SESSION#NUMBER`, a session alone for its beginning and end, or the address
/// `session://TOOL/SESSION` for all of it.
fn show(
    policy: &SessionPolicy,
    kept: &SessionStore,
    request: &SessionSearchRequest,
) -> Result<Reply, ApiError> {
    let mut shown = Vec::new();
    for id in &request.ids {
        let address = id.trim().strip_prefix("session://").and_then(|id| id.split_once('/'));
        let (tool, named) = address.map_or((None, id.trim()), |(tool, id)| (Some(tool), id));
        let (named, number) = named.split_once('#').unwrap_or((named, ""));
        let mut found = kept.sessions_named(named, SAME_ID_MAX).map_err(|error| failed(&error))?;
        found.retain(|session| {
            let (repo, directory) = (&session.repo, &session.facts.directory);
            tool.is_none_or(|tool| session.tool == tool)
                && !policy.leaves_out(&session.tool, repo.as_deref(), directory.as_deref())
        });
        let session = found.pop().filter(|_| found.is_empty()).ok_or_else(|| {
            let id = event::quoted(id);
            ApiError::NotFound(format!(
                "no past session has the id {id}; give one of an answer of session_search, such as 1f2e3d4c#2, or session://claude-code/ID"
            ))
        })?;
        let exchanges = kept.exchanges_of(session.row).map_err(|error| failed(&error))?;
        let which = match (number.parse(), address) {
            (Ok(number), _) => ChosenExchanges::One(number),
            (Err(_), Some(_)) => ChosenExchanges::All,
            (Err(_), None) => ChosenExchanges::Ends,
        };
        shown.push((session, exchanges, which));
    }
    Ok(reply::session_exchanges(&shown, request.max_tokens))
}

/// Returns the repositories to look at; nothing for all.
fn repos_of(local: &Local, scope: &SearchScope) -> Result<Option<HashSet<String>>, ApiError> {
    let SearchScope::Only(named) = scope else { return Ok(None) };
    let EngineView { snapshot, .. } = snapshots::view(local)?;
    let here = repositories::repo_or_here(local, named.as_deref(), &snapshot)?
        .ok_or_else(unnamed_error)?;
    let keys = snapshot.keys_of(&here).into_iter().map(|key| key.to_string());
    Ok(Some(keys.chain([here.to_string()]).collect()))
}

/// Returns the rows of the sessions that may be an answer. The caller's own session is none: it knows that already.
fn allowed_sessions(
    local: &Local,
    kept: &SessionStore,
    request: &SessionSearchRequest,
    repos: Option<&HashSet<String>>,
) -> Result<HashSet<u32>, ApiError> {
    let own = request.without.as_deref().or(local.writer.identity.session_id.as_deref());
    let policy = &local.core.config.sessions;
    let rows = kept.session_rows().map_err(|error| failed(&error))?;
    let is_allowed = |session: &SessionRow| {
        let is_in_repo = repos
            .is_none_or(|repos| session.repo.as_ref().is_some_and(|repo| repos.contains(repo)));
        let is_of_tool = request.tools.is_empty() || request.tools.contains(&session.tool);
        is_in_repo
            && is_of_tool
            && !leaves_out(policy, session)
            && Some(session.native_id.as_str()) != own
    };
    Ok(rows.into_iter().filter(|(_, session)| is_allowed(session)).map(|(row, _)| row).collect())
}

/// Tells whether the settings leave out a session. It may have been read before they said so.
fn leaves_out(policy: &SessionPolicy, session: &SessionRow) -> bool {
    policy.leaves_out(&session.tool, session.repo.as_deref(), session.directory.as_deref())
}

/// Reads the sessions of hits, each with the part that fits the question, until enough of them may be shown.
fn disclosed(
    kept: &SessionStore,
    hits: &[SessionHit],
    (how, limit): (DisclosureOccasion, usize),
    question: &str,
) -> Result<DisclosedSessions, ApiError> {
    let mut disclosed = DisclosedSessions::new(how);
    for hit in hits {
        if disclosed.shown().len() >= limit {
            break;
        }
        let session = kept.session_for_reply(hit.session).map_err(|error| failed(&error))?;
        let exchange = kept.exchange(hit.exchange).map_err(|error| failed(&error))?;
        // Somebody may have forgotten it in between.
        if let (Some(session), Some(exchange)) = (session, exchange) {
            let matched = hit.matched.best_part(&exchange.exchange, question);
            disclosed.add(FoundSession {
                session,
                matched,
                exchange: exchange.exchange,
                is_likely: hit.is_likely(),
                is_weak: hit.is_weak(),
                others: hit.others,
            });
        }
    }
    Ok(disclosed)
}

fn failed(error: &SessionError) -> ApiError {
    ApiError::Failed { exit: Exit::Io, message: error.to_string() }
}
