//! Analyses of the whole memory, and patterns that several repositories learned independently. Not here: computing
//! them (`search::links`), the words of the reply (`reply`).

use serde_json::{Value, json};

use super::damage::UsedSnapshot;
use super::{Local, memory_bound, repositories, snapshots, write};

use crate::signature::{Signature, failure_key};
use event::{
    Draft, Event, EventId, Link, MemoryChange, MemoryScope, Node, OwnTag, Problems, Relation,
    RepoKey,
};
use guard::secrets::RedactedText;
use reply::{Findings, Reply};
use requests::{
    AcceptedPattern, AnalyzeRequest, ApiError, MIN_RELEVANCE_PERCENT_DEFAULT, PatternsRequest,
    SearchRequest, Topic, Voice,
};
use search::ParsedQuery;
use search::links::{
    self, AnalysisScope, FailureSignature, KnowledgeGraph, LinkCounts, LoggedQuery, MEMORIES_MAX,
    PATTERN, PatternSuggestion, pattern_suggestions,
};
use search::snapshot::Snapshot;

pub(super) fn analyze(
    local: &Local,
    request: &AnalyzeRequest,
    used: &UsedSnapshot,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    used.record(&snapshot);
    let repo = request
        .repo
        .as_deref()
        .map(|named| repositories::named_repo(local, named, &snapshot))
        .transpose()?;
    let now = local.core.now();
    let scope = AnalysisScope { repos: repo.as_ref().map(|repo| snapshot.keys_of(repo)), now };
    let links = local.core.links.links_of(&snapshot);
    let (limit, max_tokens) = (request.limit, request.max_tokens());
    let notices = looked_at(request.topic, &snapshot, &scope);
    let wanted = links::FindingBounds { limit, at_least: request.at_least };
    let ties_max = request.at_most.unwrap_or(links::TIES_MAX);
    let whole = || KnowledgeGraph::build(&snapshot, &links, &scope);
    let (title, found) = match request.topic {
        Topic::Hubs | Topic::Stats => {
            ("Most linked", links::hubs(&snapshot, &links, &scope, wanted))
        }
        Topic::Bridges => {
            ("Memories that connect kinds", links::bridges(&snapshot, &whole(), wanted))
        }
        Topic::Gaps => ("Few or no links", links::gaps(&whole(), ties_max, limit)),
        Topic::Clusters => ("Similar lessons", links::clusters(&snapshot, &scope, wanted)),
        Topic::Brief => {
            let brief = links::summarise(&snapshot, &links, &scope);
            return Ok(reply::summary(&snapshot, &brief, &notices, max_tokens));
        }
        Topic::Reflect => {
            let lone = links::isolated_memories(&snapshot, &whole(), &scope, limit);
            return Ok(reply::reflect(&snapshot, &lone, &notices, max_tokens));
        }
        Topic::Searches if local.is_of_others() => {
            let message = "what was searched is shown to the owner of the server only";
            return Err(ApiError::NotFound(message.to_owned()));
        }
        Topic::Searches => return Ok(searches_without_hits(local, request, repo.as_ref())),
    };
    let reply = reply::findings(&Findings {
        snapshot: &snapshot,
        topic: request.topic.as_str(),
        title,
        found: &found,
        notices: &notices,
        max_tokens,
    });
    Ok(match request.topic {
        Topic::Stats => {
            reply::with_link_counts(reply, &LinkCounts::count(&snapshot, &links, &scope))
        }
        _ => reply,
    })
}

/// Says where only the newest memories were analyzed. Links are always analyzed whole.
fn looked_at(topic: Topic, snapshot: &Snapshot, scope: &AnalysisScope) -> Vec<String> {
    let count = match topic {
        Topic::Hubs | Topic::Searches | Topic::Stats => 0,
        _ => snapshot.memories().iter().filter(|memory| scope.contains(memory)).count(),
    };
    let bound = (count > MEMORIES_MAX).then(|| {
        format!("Note: only the {MEMORIES_MAX} newest of {count} memories were analyzed.")
    });
    bound.into_iter().chain(memory_bound::bound_notice(snapshot.memory_usage())).collect()
}

/// Records that a search found nothing. Some searches say nothing about missing knowledge and are not recorded: those
/// of hooks, which set their own threshold, and those with filters or of one repository, which may be why nothing was
/// found.
pub(super) fn record_failed_search(
    local: &Local,
    request: &SearchRequest,
    asked: &ParsedQuery,
    found: usize,
    here: Option<&RepoKey>,
) {
    let is_plain = request.min_relevance_percent <= MIN_RELEVANCE_PERCENT_DEFAULT
        && [&request.kinds, &request.tags, &request.files, &request.agents]
            .into_iter()
            .all(Vec::is_empty)
        && (request.since, request.until) == (None, None)
        && matches!(request.scope, requests::SearchScope::All(_))
        && !asked.has_filters();
    if let Some(log) = local.core.query_log.as_ref().filter(|_| found == 0 && is_plain)
        && !asked.text.trim().is_empty()
    {
        log.record_search(&asked.text, here, local.core.now());
    }
}

fn searches_without_hits(local: &Local, request: &AnalyzeRequest, repo: Option<&RepoKey>) -> Reply {
    let Some(log) = &local.core.query_log else {
        let notice = "Note: searches are not recorded (query_log is off).";
        return reply::searches(&[], Some(notice), request.max_tokens());
    };
    let mut askings: Vec<LoggedQuery> = log.read();
    askings.retain(|asking| repo.is_none_or(|repo| asking.repo.as_deref() == Some(repo.as_str())));
    let gaps = links::group_queries(&askings, request.limit);
    reply::searches(&gaps, None, request.max_tokens())
}

pub(super) fn patterns(
    local: &Local,
    request: &PatternsRequest,
    voice: &Voice,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    let found = pattern_suggestions(&snapshot, local.core.now(), look);
    match request {
        PatternsRequest::List { limit, max_tokens } => {
            Ok(reply::patterns(&found, *limit, *max_tokens))
        }
        PatternsRequest::Accept(accepted) => {
            accept(local, chosen(&accepted.which, &found)?, accepted, voice)
        }
    }
}

/// Shows a pattern with its sources, or writes it and its links to them in one append.
fn accept(
    local: &Local,
    one: &PatternSuggestion,
    accepted: &AcceptedPattern,
    voice: &Voice,
) -> Result<Reply, ApiError> {
    let best = one.sources.first().ok_or_else(|| Problems::one("accept", "has no source"))?;
    let moment = (local.core.clock)();
    let id = EventId::mint(moment.now, moment.random);
    let here = local.here.clone().unwrap_or_else(|| best.repo.clone());
    let (repo, scope) = match accepted.is_only_here {
        true => (here, MemoryScope::Repo),
        false => (RepoKey::global(), MemoryScope::Global),
    };
    let mut pattern = Draft {
        id: Some(id.to_string()),
        repo: Some(repo.to_string()),
        scope: Some(scope.as_str().to_owned()),
        ..pattern_draft(one, &best.event())
    };
    if !accepted.is_written {
        return Ok(reply::pattern(one, &pattern, &repo));
    }
    write::vouch(local, &mut pattern, voice);
    let (mut drafts, node) = (vec![pattern], Node::from_id(id.clone()));
    for source in &one.sources {
        let link = Link::plain(Relation::BuildsOn, Node::from_id(source.id.clone()));
        drafts.push(write::draft_about(local, &node, &repo, MemoryChange::Link(link), voice));
    }
    write::record_all(local, drafts).into_iter().collect::<Result<Vec<()>, ApiError>>()?;
    let sources: Vec<Value> = one.sources.iter().map(|memory| memory.id.as_str().into()).collect();
    let text = format!(
        "Saved as {id} for {repo}, a pattern of {} memories from {} repositories.",
        sources.len(),
        one.repos.len()
    );
    Ok(Reply::new(text, json!({ "id": id.as_str(), "repo": repo.as_str(), "builds_on": sources })))
}

/// Makes the memory of a pattern: the best proven lesson, where it was met, and what all sources share.
fn pattern_draft(one: &PatternSuggestion, best: &Event) -> Draft {
    let repos: Vec<&str> = one.repos.iter().map(RepoKey::short_name).collect();
    let first = one.signature.excerpt.lines().next().unwrap_or_default();
    Draft {
        event_type: Some(PATTERN.to_owned()),
        context: Some(format!("met in {}: {first}", repos.join(", "))),
        lesson: Some(best.lesson.clone()),
        command: Some(best.command.clone()).filter(|command| !command.is_empty()),
        symptoms: vec![one.signature.excerpt.clone()],
        success_rate: one.evidence.map(|rate| rate.to_string()),
        tags: vec![one.signature.mark.clone()],
        ..Draft::default()
    }
}

/// Returns what the failure of a memory looks like: as the hook that wrote it has marked it, else by its symptoms,
/// else by its context where that reports an error.
fn look(event: &Event) -> Option<FailureSignature> {
    let said = event.symptoms.join("\n");
    let marked = event.tags.iter().find(|tag| OwnTag::parse(tag) == Some(OwnTag::Failure));
    if let Some(tag) = marked {
        return Some(FailureSignature { mark: tag.clone(), excerpt: said });
    }
    let is_error = matches!(event.event_type.as_str(), "error" | "success");
    let text = if said.is_empty() && is_error { &event.context } else { &said };
    let signature = Signature::from_output(&RedactedText::redact(text))?;
    let excerpt = signature.excerpt.into_string();
    Some(FailureSignature { mark: failure_key(&signature.words), excerpt })
}

/// Finds a pattern by its number in the list, or by its mark, which stays the same when others are added.
fn chosen<'a>(
    which: &str,
    found: &'a [PatternSuggestion],
) -> Result<&'a PatternSuggestion, ApiError> {
    let which = which.trim();
    let by_mark = found.iter().find(|one| one.signature.mark == which);
    let by_place = || found.get(which.parse::<usize>().ok()?.checked_sub(1)?);
    by_mark.or_else(by_place).ok_or_else(|| {
        let count = found.len();
        let hint = "agent-knowledge patterns lists them";
        ApiError::NotFound(format!("no pattern {which:?} among {count} suggestions; {hint}"))
    })
}
