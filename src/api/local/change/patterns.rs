//! Patterns that several repositories learned independently: the list of suggestions, and saving one of them as a memory with links to
//! its sources. Not here: finding them (`search::links`), the words of the reply (`reply`).

use super::write;
use crate::local::{Local, snapshots};
use crate::signature::{Signature, failure_key};
use event::{
    Draft, Event, EventId, Link, MemoryChange, MemoryScope, Node, OwnTag, Problems, Relation,
    RepoKey,
};
use guard::secrets::RedactedText;
use reply::{Reply, SavedPattern};
use requests::{AcceptedPattern, ApiError, PatternsRequest, Voice};
use search::links::{FailureSignature, PATTERN, PatternSuggestion, pattern_suggestions};

pub(crate) fn patterns(
    local: &Local,
    request: &PatternsRequest,
    voice: &Voice,
) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    let found = pattern_suggestions(&snapshot, local.core.now(), failure_signature);
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
    let builds_on: Vec<String> = one.sources.iter().map(|memory| memory.id.to_string()).collect();
    let text = format!(
        "Saved as {id} for {repo}, a pattern of {} memories from {} repositories.",
        builds_on.len(),
        one.repos.len()
    );
    let saved = SavedPattern { id: id.to_string(), repo: repo.to_string(), builds_on };
    Ok(Reply::with_text(text, &saved))
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
fn failure_signature(event: &Event) -> Option<FailureSignature> {
    let symptoms = event.symptoms.join("\n");
    let marked = event.tags.iter().find(|tag| OwnTag::parse(tag) == Some(OwnTag::Failure));
    if let Some(tag) = marked {
        return Some(FailureSignature { mark: tag.clone(), excerpt: symptoms });
    }
    let is_error = matches!(event.event_type.as_str(), "error" | "success");
    let text = if symptoms.is_empty() && is_error { &event.context } else { &symptoms };
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
