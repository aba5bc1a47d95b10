//! Answers questions to past sessions of other tools. Not here: the index and the search (`sessions`), the words of the reply
//! (`reply`).

use std::collections::HashSet;
use std::time::Duration;

use super::search_run::{SearchRun, likely_count};
use crate::local::repositories::{repo_if_named, required_repo};
use crate::local::shared_core::SessionAccess;
use crate::local::{Local, snapshots};
use engine::EngineView;
use event::RepoKey;
use guard::disclosure::DisclosureOccasion;
use reply::{
    ChosenExchanges, DisclosedSessions, FoundSession, SessionAnswer, SessionHitsAnswer,
    SessionsForSearch, SessionsFound,
};
use requests::sessions::{SessionListRequest, SessionSearchRequest};
use requests::{ApiError, FailedCommand, Reply, SearchScope};
use search::snapshot::Snapshot;
use search::{SearchResult, Tiers};
use sessions::failure_signs::FailureSigns;
use sessions::fixed_failure::known_fixes;
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

fn none_kept() -> Reply {
    Reply::with_text(NONE_KEPT.to_owned(), &SessionHitsAnswer::default())
}

pub(crate) fn search_sessions(
    local: &Local,
    request: &SessionSearchRequest,
) -> Result<Reply, ApiError> {
    check_access(local)?;
    let past = &local.core.past_sessions;
    let Some(kept) = past.open_store().map_err(|error| store_error(&error))? else {
        return Ok(none_kept());
    };
    if let Some(failure) = &request.failed {
        return known_fix(local, &kept, failure);
    }
    if !request.ids.is_empty() {
        return show(&local.core.config.sessions, &kept, request);
    }
    let Some(view) = past.view(local.patience.query).map_err(|error| store_error(&error))? else {
        return Ok(none_kept());
    };
    let repos = repos_of(local, &request.repos)?;
    let allowed = allowed_sessions(local, &kept, request, repos.as_ref())?;
    let (now, days) = (local.core.now(), local.core.config.days);
    let since_ms = request.since.map(|since| since.first(now, days).as_millisecond());
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
        disclosed(&kept, &hits, DisclosureOccasion::Listed, request.limit, &request.query)?;
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
pub(crate) fn newest_sessions(
    local: &Local,
    request: &SessionListRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    check_access(local)?;
    let repo = repo_if_named(local, request.repo.as_deref(), snapshot)?;
    let Some(kept) = local.core.past_sessions.open_store().map_err(|error| store_error(&error))?
    else {
        return Ok(reply::no_sessions_kept());
    };
    let (now, days) = (local.core.now(), local.core.config.days);
    let filter = SessionFilter {
        tool: request.tool.clone(),
        repo: repo.map(|repo| repo.to_string()),
        since_ms: request.since.map(|since| since.first(now, days).as_millisecond()),
        is_with_programs: false,
    };
    let skip = request.limit.saturating_mul(request.page.saturating_sub(1));
    let policy = &local.core.config.sessions;
    let may_show = |session: &KeptSession| {
        let directory = session.facts.directory.as_deref();
        !policy.leaves_out(&session.tool, session.repo.as_deref(), directory)
    };
    let page = kept.page_of_sessions(&filter, may_show, (skip, request.limit));
    let (page, is_more) = page.map_err(|error| store_error(&error))?;
    Ok(reply::session_list(&page, skip, is_more))
}

impl SearchRun<'_> {
    /// Finds at most one past session. Hooks show nothing but memories, and what was known in the past is not what a session says
    /// today. Where memories do not answer, there is more time.
    pub(super) fn sessions_for_search(&self, found: &SearchResult<'_>) -> SessionsForSearch {
        let local = self.local;
        if self.request.tiers == Tiers::Likely || local.core.config.as_of.is_some() {
            return SessionsForSearch::Nothing;
        }
        let is_answered = likely_count(&found.hits) > 0;
        let wait = if is_answered { WAIT_ASIDE } else { local.patience.query };
        match self.past_session(wait) {
            Some(Some(answer)) => SessionsForSearch::Answer(answer),
            Some(None) if !is_answered => SessionsForSearch::Unlikely,
            Some(None) | None => SessionsForSearch::Nothing,
        }
    }

    /// Returns the past session that likely answers, if one does; nothing where none may be looked at. Sessions are those of the
    /// repository at hand, or all where there is none.
    fn past_session(&self, wait: Duration) -> Option<Option<SessionAnswer>> {
        let (local, query) = (self.local, &self.request.query);
        check_access(local).ok()?;
        let past = &local.core.past_sessions;
        let (view, kept) = (past.view(wait).ok()??, past.open_store().ok()??);
        let repos = self.here.as_ref().map(|here| names_of(here, self.snapshot));
        let all = SessionSearchRequest::default();
        let allowed = allowed_sessions(local, &kept, &all, repos.as_ref()).ok()?;
        let keep = |session: u32, _: Option<i64>| allowed.contains(&session);
        let mut hits = view.index.find(&SessionQuery {
            text: query,
            scope: <_>::default(),
            speaker: None,
            keep: &keep,
            limit: 1 + FLAGGED_MAX,
        });
        hits.retain(SessionHit::is_likely);
        let disclosed = disclosed(&kept, &hits, DisclosureOccasion::Unasked, 1, query).ok()?;
        Some(reply::session_answer(&disclosed))
    }
}

/// Says how a failure ended in past sessions of the repository at hand; an empty text if that is unknown.
fn known_fix(
    local: &Local,
    kept: &SessionStore,
    failure: &FailedCommand,
) -> Result<Reply, ApiError> {
    let signs = FailureSigns::recognise(&failure.command, &failure.output);
    let Some((signs, here)) = signs.zip(local.here.as_ref()) else {
        return Ok(reply::known_fix(None));
    };
    let own = local.writer.identity.session_id.as_deref();
    let mut rows = kept
        .fixed_failures_like(here.as_str(), &signs, own)
        .map_err(|error| store_error(&error))?;
    let policy = &local.core.config.sessions;
    // Most people exclude nothing, and a failing command waits for this.
    if *policy != SessionPolicy::default() && !rows.is_empty() {
        let all = kept.session_rows().map_err(|error| store_error(&error))?;
        let left_out = all.into_values().filter(|session| leaves_out(policy, session));
        let left_out: HashSet<String> = left_out.map(|session| session.native_id).collect();
        rows.retain(|row| !left_out.contains(&row.session));
    }
    // A hook says it, and nobody asked.
    rows.retain(|row| may_recommend_fix(row, &failure.command));
    let fixes = known_fixes(&signs, &rows, 1);
    let Some(fix) = fixes.first() else { return Ok(reply::known_fix(None)) };
    let cited = kept.cited_id(&fix.latest.session).map_err(|error| store_error(&error))?;
    Ok(reply::known_fix(Some((fix, &cited))))
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
        let mut found =
            kept.sessions_named(named, SAME_ID_MAX).map_err(|error| store_error(&error))?;
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
        let exchanges = kept.exchanges_of(session.row).map_err(|error| store_error(&error))?;
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
    Ok(Some(names_of(&required_repo(local, named.as_deref(), &snapshot)?, &snapshot)))
}

/// Returns the names of a repository, of which there may be no memory yet.
fn names_of(repo: &RepoKey, snapshot: &Snapshot) -> HashSet<String> {
    snapshot.keys_of(repo).iter().chain([repo]).map(ToString::to_string).collect()
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
    let rows = kept.session_rows().map_err(|error| store_error(&error))?;
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
    how: DisclosureOccasion,
    limit: usize,
    question: &str,
) -> Result<DisclosedSessions, ApiError> {
    let mut disclosed = DisclosedSessions::new(how);
    for hit in hits {
        if disclosed.shown().len() >= limit {
            break;
        }
        let session = kept.session_for_reply(hit.session).map_err(|error| store_error(&error))?;
        let exchange = kept.exchange(hit.exchange).map_err(|error| store_error(&error))?;
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

fn store_error(error: &SessionError) -> ApiError {
    ApiError::Failed { exit: Exit::Io, message: error.to_string() }
}
