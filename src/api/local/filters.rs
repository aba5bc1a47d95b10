//! Joins the filters of a request with those in its query. Not here: how filters stand in a query
//! (`search::ParsedQuery`), what each lets through (`search::Filter`).

use std::collections::BTreeSet;

use super::{Local, repositories};
use event::{RepoKey, quoted};
use requests::{ApiError, SearchRequest};
use search::snapshot::Snapshot;
use search::{Filter, Flagged, ParsedQuery};

/// Joins the filters; a memory must pass all of them.
///
/// # Errors
/// [`ApiError::Invalid`] where a repository in the query could be several.
pub(super) fn filter(
    local: &Local,
    request: &SearchRequest,
    repos: Option<BTreeSet<RepoKey>>,
    asked: &ParsedQuery,
    snapshot: &Snapshot,
) -> Result<Filter, ApiError> {
    let now = local.core.now();
    Ok(Filter {
        repos,
        kinds: request.kinds.clone(),
        not_kinds: request.not_kinds.clone(),
        tags: request.tags.clone(),
        files: request.files.clone(),
        agents: request.agents.clone(),
        branches: request.branches.clone(),
        since: request.since.map(|since| since.first(now)),
        until: request.until.map(|until| until.last(now)),
        flagged: request.flagged,
        phrase: None,
        also: Some(Box::new(Filter {
            repos: keys_of_any(local, &asked.repos, snapshot)?,
            kinds: asked.kinds.clone(),
            not_kinds: Vec::new(),
            tags: asked.tags.clone(),
            files: asked.files.clone(),
            agents: asked.agents.clone(),
            branches: asked.branches.clone(),
            since: asked.since.map(|since| since.first(now)),
            until: asked.until.map(|until| until.last(now)),
            flagged: Flagged::Included,
            phrase: None,
            also: None,
        })),
    })
}

/// Returns every key of the named repositories; `None` where none is named.
fn keys_of_any(
    local: &Local,
    named: &[String],
    snapshot: &Snapshot,
) -> Result<Option<BTreeSet<RepoKey>>, ApiError> {
    let mut keys = BTreeSet::new();
    for name in named {
        keys.append(&mut snapshot.keys_of(&repositories::named_repo(local, name, snapshot)?));
    }
    Ok((!named.is_empty()).then_some(keys))
}

/// Says how words of the query were read, where that may be why nothing was found.
pub(super) fn misread_notice(asked: &ParsedQuery, hits: usize) -> Option<String> {
    if hits > 0 {
        return None;
    }
    let misread = asked.misread.as_deref().and_then(misread);
    misread.or_else(|| {
        asked.has_filters().then(|| {
            "Note: words like kind:error were read as filters; put them in quotes to search for them as text."
                .to_owned()
        })
    })
}

/// Says that a word is no filter, and what the filter takes.
fn misread(word: &str) -> Option<String> {
    let (name, _) = word.split_once(':')?;
    let (allowed, example) = match name {
        "kind" => ("one word", "error"),
        _ => ("a time, a day or an age", "30d"),
    };
    let word = quoted(word);
    Some(format!(
        "Note: {word} was read as text; {name}: takes {allowed}, for example {name}:{example}."
    ))
}
