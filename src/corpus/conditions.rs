//! What an engine filters by: the conditions of a search that need no look at a memory's texts. The small snapshot filters once
//! more, by everything. Not here: how an engine expresses it.

use crate::corpus_error::CorpusError;
use event::{Timestamp, tag_key};
use search::Filter;

/// Conditions that must all hold, besides that the memory is in force. Texts are in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Of each set, the memory has one: its repository.
    pub repos: Vec<Vec<String>>,
    /// Of each set, the memory has one: its kind.
    pub kinds: Vec<Vec<String>>,
    /// It is of none of these kinds.
    pub not_kinds: Vec<String>,
    /// Of each set, one learned it.
    pub agents: Vec<Vec<String>>,
    /// It has all of these tags.
    pub tags: Vec<String>,
    /// It was written then or later, in microseconds since 1970.
    pub since_us: Option<i64>,
    /// It was written then or earlier.
    pub until_us: Option<i64>,
}

impl Conditions {
    /// Returns the conditions of a filter. Who reads like an instruction, and phrases, are left to the small snapshot.
    ///
    /// # Errors
    /// [`CorpusError::Unsupported`] for files, folders and branches, which an engine does not know.
    pub fn from_filter(filter: &Filter) -> Result<Self, CorpusError> {
        let mut conditions = Self::default();
        let mut next = Some(filter);
        while let Some(filter) = next {
            if !filter.files.is_empty() {
                return Err(CorpusError::Unsupported("filter by files"));
            }
            if !filter.folders.is_empty() {
                return Err(CorpusError::Unsupported("filter by folders"));
            }
            if !filter.branches.is_empty() {
                return Err(CorpusError::Unsupported("filter by branches"));
            }
            conditions.add(filter);
            next = filter.also.as_deref();
        }
        Ok(conditions)
    }

    fn add(&mut self, filter: &Filter) {
        let lower = |texts: &[String]| -> Vec<String> {
            texts.iter().map(|text| text.trim().to_lowercase()).collect()
        };
        let repos = filter.repos.iter();
        self.repos
            .extend(repos.map(|repos| repos.iter().map(|repo| repo.as_str().to_owned()).collect()));
        self.kinds.extend(Some(lower(&filter.kinds)).filter(|kinds| !kinds.is_empty()));
        self.agents.extend(Some(lower(&filter.agents)).filter(|agents| !agents.is_empty()));
        self.not_kinds.extend(lower(&filter.not_kinds));
        self.tags.extend(filter.tags.iter().map(|tag| tag_key(tag)));
        let since = filter.since.map(Timestamp::as_microsecond);
        let until = filter.until.map(Timestamp::as_microsecond);
        self.since_us = self.since_us.into_iter().chain(since).max();
        self.until_us = self.until_us.into_iter().chain(until).min();
    }
}
