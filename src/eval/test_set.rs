//! A test set: documents, queries, and which document answers which query. Not here: the formats of sets
//! (`forms`).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use sha2::{Digest, Sha256};

use super::EvalError;
use event::Problems;

/// A test set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestSet {
    /// The name in the report: its folder or file.
    pub name: String,
    /// The documents, in the order of the file.
    pub documents: Vec<SetDocument>,
    /// The queries.
    pub queries: Vec<SetQuery>,
    /// Remarks from reading the set, for the person who runs the measurement.
    pub notes: Vec<String>,
}

/// A document that can be found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetDocument {
    /// Its id in the set.
    pub id: String,
    /// The text; empty if the document is an event.
    pub text: String,
    /// The title.
    pub title: Option<String>,
    /// The date, as written in the set.
    pub timestamp: Option<String>,
    /// The group: a repository, a conversation, a haystack.
    pub group: Option<String>,
    /// The fields of a whole event, if the set contains events.
    pub event: Option<Map<String, Value>>,
    /// The file and line of the document.
    pub place: String,
}

/// A query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetQuery {
    /// Its id in the set.
    pub id: String,
    /// The question.
    pub text: String,
    /// The group in which it is asked.
    pub group: Option<String>,
    /// The type of question. Results are reported by it.
    pub kind: Option<String>,
    /// The split it belongs to.
    pub split: Option<String>,
    /// The relevant documents, with their grades above 0; none if nothing answers the query.
    pub relevant: Vec<(String, u32)>,
    /// Documents that must not rank above the relevant ones.
    pub stale: Vec<String>,
}

/// Where a query searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryScope {
    /// Everywhere, from a directory that belongs to no group.
    Store,
    /// Only in the query's group.
    Group,
    /// Everywhere, from the directory of the query's group, which is preferred. A query without a group is
    /// asked from a directory without one.
    Here,
}

impl QueryScope {
    /// Returns the name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Group => "group",
            Self::Here => "here",
        }
    }
}

/// Which queries are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// All queries.
    #[default]
    All,
    /// Queries for tuning.
    Tune,
    /// Queries for testing.
    Test,
}

impl Split {
    /// Returns the name on the command line and in sets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Tune => "tune",
            Self::Test => "test",
        }
    }
}

impl TestSet {
    /// Keeps the queries of one split.
    ///
    /// # Errors
    /// [`EvalError::Options`] if no query is left, because an average over nothing would look like a result.
    pub fn keep_split(&mut self, split: Split) -> Result<(), EvalError> {
        if split != Split::All {
            self.queries.retain(|query| query.split.as_deref() == Some(split.name()));
        }
        if self.queries.is_empty() {
            let message = format!(
                "{} leaves no query of {}; queries.jsonl names each one's split as \"tune\" or \"test\"",
                split.name(),
                self.name
            );
            return Err(Problems::one("split", message).into());
        }
        Ok(())
    }

    /// Checks that every query can be asked in this scope.
    ///
    /// # Errors
    /// [`EvalError::Options`] names a query without a group.
    pub fn check_scope(&self, scope: QueryScope) -> Result<(), EvalError> {
        let homeless = self.queries.iter().find(|query| query.group.is_none());
        match homeless.filter(|_| scope == QueryScope::Group) {
            None => Ok(()),
            Some(query) => {
                let message = format!(
                    "{} needs a group for every query, and {} of {} has none; try --scope store",
                    scope.name(),
                    query.id,
                    self.name
                );
                Err(Problems::one("scope", message).into())
            }
        }
    }

    /// Checks that ids are unique and that judgements refer to existing documents.
    pub(super) fn check(&self) -> Result<(), EvalError> {
        let mut known = BTreeSet::new();
        for document in &self.documents {
            if !known.insert(document.id.as_str()) {
                let message = format!("{:?} appears twice; each id must be unique", document.id);
                return Err(EvalError::form(&document.place, "id", message));
            }
        }
        let mut asked = BTreeSet::new();
        for query in &self.queries {
            if !asked.insert(query.id.as_str()) {
                let message = format!("{:?} appears twice; each id must be unique", query.id);
                return Err(EvalError::form(
                    format!("the queries of {}", self.name),
                    "id",
                    message,
                ));
            }
        }
        Ok(())
    }
}

impl TestSet {
    /// Hashes everything that a result depends on, except the engine.
    pub(super) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.as_bytes());
            hash.update([0]);
        };
        for document in &self.documents {
            add(&document.id);
            add(&document.text);
            document.event.iter().for_each(|event| add(&format!("{event:?}")));
        }
        for query in &self.queries {
            add(&query.id);
            add(&query.text);
            query.relevant.iter().for_each(|(id, grade)| add(&format!("{id} {grade}")));
            query.stale.iter().for_each(|id| add(id));
        }
        let digest = hash.finalize();
        digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}
