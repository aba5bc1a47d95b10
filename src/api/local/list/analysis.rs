//! Analyses of the whole memory, and memories of a repository that may contradict each other. Not here: computing them (`search`), the
//! words of the reply (`reply`).

use crate::local::Local;
use crate::local::caller_files::PathQuestion;
use crate::local::repositories::{repo_if_named, required_repo};
use crate::local::snapshots::bound_notice;
use event::RepoKey;
use reply::{AnalysisAnswer, FindingList, Findings, Reply};
use requests::{AnalyzeRequest, ApiError, ReviewRequest, Topic};
use search::links::{self, AnalysisScope, KnowledgeGraph, LinkCounts, LoggedQuery, MEMORIES_MAX};
use search::snapshot::Snapshot;

pub(crate) fn analyze(
    local: &Local,
    request: &AnalyzeRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let repo = repo_if_named(local, request.repo.as_deref(), snapshot)?;
    let now = local.core.now();
    let scope = AnalysisScope { repos: repo.as_ref().map(|repo| snapshot.keys_of(repo)), now };
    let links = local.core.links.links_of(snapshot);
    let (limit, max_tokens) = (request.limit, request.max_tokens());
    let notices = scope_notices(request.topic, snapshot, &scope);
    let wanted = links::FindingBounds { limit, at_least: request.at_least };
    let ties_max = request.at_most.unwrap_or(links::TIES_MAX);
    let whole = || KnowledgeGraph::build(snapshot, &links, &scope);
    let (topic, title, found): (fn(FindingList) -> AnalysisAnswer, _, _) = match request.topic {
        Topic::Hubs | Topic::Stats => {
            (AnalysisAnswer::Hubs, "Most linked", links::hubs(snapshot, &links, &scope, wanted))
        }
        Topic::Bridges => {
            let found = links::bridges(snapshot, &whole(), wanted);
            (AnalysisAnswer::Bridges, "Memories that connect kinds", found)
        }
        Topic::Gaps => {
            (AnalysisAnswer::Gaps, "Few or no links", links::gaps(&whole(), ties_max, limit))
        }
        Topic::Clusters => {
            let found = links::clusters(snapshot, &scope, wanted);
            (AnalysisAnswer::Clusters, "Similar lessons", found)
        }
        Topic::Brief => {
            let brief = links::summarise(snapshot, &links, &scope);
            return Ok(reply::knowledge_brief(snapshot, &brief, &notices, max_tokens));
        }
        Topic::Reflect => {
            let lone = links::isolated_memories(snapshot, &whole(), &scope, limit);
            return Ok(reply::reflect(snapshot, &lone, &notices, max_tokens));
        }
        Topic::Searches if local.is_of_others() => {
            let message = "what was searched is shown to the owner of the server only";
            return Err(ApiError::NotFound(message.to_owned()));
        }
        Topic::Searches => return Ok(searches_without_hits(local, request, repo.as_ref())),
    };
    let (found, notices) = (&*found, &*notices);
    let findings = Findings { snapshot, title, found, notices, max_tokens };
    Ok(match request.topic {
        Topic::Stats => reply::link_stats(&findings, &LinkCounts::count(snapshot, &links, &scope)),
        _ => reply::findings(&findings, topic),
    })
}

/// Says where only the newest memories were analyzed. Links are always analyzed whole.
fn scope_notices(topic: Topic, snapshot: &Snapshot, scope: &AnalysisScope) -> Vec<String> {
    let count = match topic {
        Topic::Hubs | Topic::Searches | Topic::Stats => 0,
        _ => snapshot.memories().iter().filter(|memory| scope.contains(memory)).count(),
    };
    let bound = (count > MEMORIES_MAX).then(|| {
        format!("Note: only the {MEMORIES_MAX} newest of {count} memories were analyzed.")
    });
    bound.into_iter().chain(bound_notice(snapshot.memory_usage())).collect()
}

/// Lists memories of a repository that may contradict each other.
pub(crate) fn review(
    local: &Local,
    request: &ReviewRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let repo = required_repo(local, request.repo.as_deref(), snapshot)?;
    let asked =
        local.asked_folders(&request.folders, PathQuestion::asked(Some(&repo), snapshot))?;
    let mut found = search::contradictions(snapshot, &snapshot.keys_of(&repo), local.core.now());
    found.pairs.retain(|pair| asked.allow(&pair.older) || asked.allow(&pair.newer));
    Ok(asked.noted_in(reply::review(&repo, &found, request.limit)))
}

fn searches_without_hits(local: &Local, request: &AnalyzeRequest, repo: Option<&RepoKey>) -> Reply {
    let Some(log) = &local.core.query_log else {
        let notice = "Note: searches are not recorded (query_log is off).";
        return reply::searches(&[], Some(notice), request.max_tokens());
    };
    let mut queries: Vec<LoggedQuery> = log.read();
    queries.retain(|query| repo.is_none_or(|repo| query.repo.as_deref() == Some(repo.as_str())));
    let gaps = links::group_queries(&queries, request.limit);
    reply::searches(&gaps, None, request.max_tokens())
}
