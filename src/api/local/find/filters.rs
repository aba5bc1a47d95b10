//! Joins the filters of a request with those in its query. Not here: which words of a query are filters (`filter_words`),
//! what each filter lets through (`search::Filter`).

use std::collections::BTreeSet;

use super::search_run::SearchRun;
use crate::local::repositories::{self, unnamed_error};
use event::{RepoKey, SESSION_RECORD, quoted};
use requests::{ApiError, SearchScope};
use search::{
    AskedFile, Filter, FilterWord, Flagged, FolderNames, ParsedQuery, SearchResult, in_quotes,
};

impl SearchRun<'_> {
    /// Joins the filters; a memory must pass all of them.
    ///
    /// # Errors
    /// [`ApiError::Invalid`] where the caller has no repository.
    pub(super) fn joined_filter(&self) -> Result<Filter, ApiError> {
        let request = self.request;
        let (now, days) = (self.local.core.now(), self.local.core.config.days);
        Ok(Filter {
            repos: self.keys_of_scope()?,
            kinds: request.kinds.clone(),
            not_kinds: self.left_out_kinds(),
            tags: request.tags.clone(),
            files: self.asked_files(&request.files),
            folders: match request.scope {
                // A folder that is named with its repository and all others is the one at hand.
                SearchScope::All(Some(_)) => Vec::new(),
                _ => self.asked_folders.folders.clone(),
            },
            agents: request.agents.clone(),
            branches: request.branches.clone(),
            since: request.since.map(|since| since.first(now, days)),
            until: request.until.map(|until| until.last(now, days)),
            flagged: request.flagged,
            phrase: None,
            also: Some(Box::new(self.filter_of_query())),
        })
    }

    /// Returns the kinds that are left out: those that the request names, and records of sessions where it names no kind. A record
    /// tells what was done, which is seldom what somebody wants to know.
    fn left_out_kinds(&self) -> Vec<String> {
        let is_kind = |filter: &FilterWord| matches!(filter, FilterWord::Kind(_));
        let is_kind_named =
            !self.request.kinds.is_empty() || self.parsed.filters.iter().any(is_kind);
        let records = (!is_kind_named).then(|| SESSION_RECORD.to_owned());
        self.request.not_kinds.iter().cloned().chain(records).collect()
    }

    /// Returns the filter that stood in the query: any of its repositories, kinds, files, agents and branches, all of
    /// its tags, the last of its times.
    fn filter_of_query(&self) -> Filter {
        let (now, days) = (self.local.core.now(), self.local.core.config.days);
        let mut joined = Filter { flagged: Flagged::Included, ..Filter::default() };
        for filter in self.parsed.filters.iter().cloned() {
            match filter {
                FilterWord::Repo(name) => {
                    let named = repositories::named_repos(self.local, &name, self.snapshot);
                    let keys = named.iter().flat_map(|repo| self.snapshot.keys_of(repo));
                    joined.repos.get_or_insert_default().extend(keys);
                }
                FilterWord::Kind(kind) => joined.kinds.push(kind),
                FilterWord::Tag(tag) => joined.tags.push(tag),
                FilterWord::File(file) => joined.files.extend(self.asked_files(&[file])),
                FilterWord::Folder(folder) => {
                    let asked = self.local.asked_folders(&[folder], self.path_question());
                    joined.folders.extend(asked.unwrap_or_default().folders);
                }
                FilterWord::Agent(agent) => joined.agents.push(agent),
                FilterWord::Branch(branch) => joined.branches.push(branch),
                FilterWord::Since(since) => joined.since = Some(since.first(now, days)),
                FilterWord::Until(until) => joined.until = Some(until.last(now, days)),
            }
        }
        joined
    }

    /// Reads the files, as the caller sees them.
    fn asked_files(&self, files: &[String]) -> Vec<AskedFile> {
        self.local.asked_files(files, self.path_question())
    }

    /// Finds the package at hand: the one that is named, or that of the caller's directory.
    pub(super) fn found_package(&self) -> Option<FolderNames> {
        let named = self.asked_folders.folders.first().map(|folder| folder.names.clone());
        named.or_else(|| self.local.package_at_hand(self.path_question()))
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

    /// Says how words of the query were read, where that may be why nothing was found.
    pub(super) fn misread_notice(&self, found: &SearchResult<'_>) -> Option<String> {
        if !found.hits.is_empty() {
            return None;
        }
        let ParsedQuery { filter_words, unknown, misread, .. } = self.parsed;
        let misread = misread.as_deref().and_then(self::misread);
        misread.or_else(|| filter_notice(filter_words)).or_else(|| {
            let (word, filter) = unknown.as_ref()?;
            Some(format!("Note: {filter}, so {word} was searched as text."))
        })
    }
}

/// Names the words that were read as filters, and says how to search for them as text.
fn filter_notice(words: &[String]) -> Option<String> {
    let quoted_words: Vec<String> = words.iter().map(|word| in_quotes(word)).collect();
    let (all, quoted_words) = (words.join(" "), quoted_words.join(" "));
    let (read, them) = match words.len() {
        0 => return None,
        1 => ("was read as a filter", "it"),
        _ => ("were read as filters", "them"),
    };
    Some(format!("Note: {all} {read}; {quoted_words}, in quotes, searches for {them} as text."))
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
