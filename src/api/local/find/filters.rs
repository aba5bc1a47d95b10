//! Joins the filters of a request with those in its query. Not here: how filters stand in a query
//! (`search::ParsedQuery`), what each lets through (`search::Filter`).

use std::collections::BTreeSet;

use super::search_run::SearchRun;
use crate::local::repositories::{self, unnamed_error};
use event::{RepoKey, quoted};
use requests::{ApiError, SearchScope};
use search::{AskedFile, Filter, Flagged, SearchResult};

impl SearchRun<'_> {
    /// Joins the filters; a memory must pass all of them.
    ///
    /// # Errors
    /// [`ApiError::Invalid`] where a repository in the query could be several, or the caller has none.
    pub(super) fn joined_filter(&self) -> Result<Filter, ApiError> {
        let (request, parsed, now) = (self.request, self.parsed, self.local.core.now());
        Ok(Filter {
            repos: self.keys_of_scope()?,
            kinds: request.kinds.clone(),
            not_kinds: request.not_kinds.clone(),
            tags: request.tags.clone(),
            files: self.asked_files(&request.files),
            agents: request.agents.clone(),
            branches: request.branches.clone(),
            since: request.since.map(|since| since.first(now)),
            until: request.until.map(|until| until.last(now)),
            flagged: request.flagged,
            phrase: None,
            also: Some(Box::new(Filter {
                repos: self.keys_of_filters()?,
                kinds: parsed.kinds.clone(),
                not_kinds: Vec::new(),
                tags: parsed.tags.clone(),
                files: self.asked_files(&parsed.files),
                agents: parsed.agents.clone(),
                branches: parsed.branches.clone(),
                since: parsed.since.map(|since| since.first(now)),
                until: parsed.until.map(|until| until.last(now)),
                flagged: Flagged::Included,
                phrase: None,
                also: None,
            })),
        })
    }

    /// Reads the files, as the caller sees them.
    fn asked_files(&self, files: &[String]) -> Vec<AskedFile> {
        self.local.asked_files(files, self.here.as_ref(), self.snapshot)
    }

    /// Returns the keys of the repository that the search is limited to; `None` for all repositories.
    fn keys_of_scope(&self) -> Result<Option<BTreeSet<RepoKey>>, ApiError> {
        match &self.request.scope {
            SearchScope::All(_) => Ok(None),
            SearchScope::Only(_) => {
                let here = self.here.as_ref().ok_or_else(unnamed_error)?;
                Ok(Some(self.snapshot.keys_of(here)))
            }
        }
    }

    /// Returns every key of the repositories in the query; `None` where none is named.
    fn keys_of_filters(&self) -> Result<Option<BTreeSet<RepoKey>>, ApiError> {
        let mut keys = BTreeSet::new();
        for name in &self.parsed.repos {
            let repo = repositories::named_repo(self.local, name, self.snapshot)?;
            keys.append(&mut self.snapshot.keys_of(&repo));
        }
        Ok((!self.parsed.repos.is_empty()).then_some(keys))
    }

    /// Says how words of the query were read, where that may be why nothing was found.
    pub(super) fn misread_notice(&self, found: &SearchResult<'_>) -> Option<String> {
        if !found.hits.is_empty() {
            return None;
        }
        let misread = self.parsed.misread.as_deref().and_then(misread);
        misread.or_else(|| {
            self.parsed.has_filters().then(|| {
                "Note: words like kind:error were read as filters; put them in quotes to search for them as text."
                    .to_owned()
            })
        })
    }
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
