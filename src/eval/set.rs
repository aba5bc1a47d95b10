//! What is measured with: documents, queries, and which document answers which. Not here: the ways such
//! sets are written down (`forms`).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use sha2::{Digest, Sha256};

use super::EvalError;
use event::Problems;

/// A set to measure with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Set {
    /// What it is called in the report: its folder or file.
    pub name: String,
    /// The documents, in the order of the file.
    pub documents: Vec<Document>,
    /// The queries.
    pub queries: Vec<SetQuery>,
    /// What was noticed while reading, for the person who asked.
    pub notes: Vec<String>,
}

/// Something that can be found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Its id in the set.
    pub id: String,
    /// What it says; empty where it is an event.
    pub text: String,
    /// What it is headed by.
    pub title: Option<String>,
    /// When it was said, in the words of the set.
    pub timestamp: Option<String>,
    /// What it belongs to: a repository, a conversation, a haystack.
    pub group: Option<String>,
    /// The fields of a whole event, where the set holds events.
    pub event: Option<Map<String, Value>>,
    /// The file and line it stands on.
    pub place: String,
}

/// Something that is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetQuery {
    /// Its id in the set.
    pub id: String,
    /// The question.
    pub text: String,
    /// Where it is asked.
    pub group: Option<String>,
    /// What kind of question it is; results are told by it.
    pub kind: Option<String>,
    /// Which part of the set it belongs to.
    pub split: Option<String>,
    /// The documents that answer it, with their grades above 0; none where nothing does.
    pub relevant: Vec<(String, u32)>,
    /// Documents that must not stand above those that answer it.
    pub stale: Vec<String>,
}

/// Where a query looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryScope {
    /// Everywhere, from a directory that belongs to no group.
    Store,
    /// Only in its group.
    Group,
    /// Everywhere, from the directory of its group, which is preferred; a query without one is asked from
    /// nowhere.
    Here,
}

impl QueryScope {
    /// Returns its name on the command line and in reports.
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
    /// All of them.
    #[default]
    All,
    /// Those to tune with.
    Tune,
    /// Those to test with.
    Test,
}

impl Split {
    /// Returns its name on the command line and in sets.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Tune => "tune",
            Self::Test => "test",
        }
    }
}

impl Set {
    /// Keeps the queries of one split.
    ///
    /// # Errors
    /// [`EvalError::Options`] where none is left: an average over nothing would look like a result.
    pub fn keep(&mut self, split: Split) -> Result<(), EvalError> {
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
    /// [`EvalError::Options`] names a query that has no group.
    pub fn fits(&self, scope: QueryScope) -> Result<(), EvalError> {
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

    /// Checks that ids are unique and that judgements are about documents that are there.
    pub(super) fn check(&self) -> Result<(), EvalError> {
        let mut known = BTreeSet::new();
        for document in &self.documents {
            if !known.insert(document.id.as_str()) {
                let message = format!("{:?} stands twice; each id must be unique", document.id);
                return Err(EvalError::form(&document.place, "id", message));
            }
        }
        let mut asked = BTreeSet::new();
        for query in &self.queries {
            if !asked.insert(query.id.as_str()) {
                let message = format!("{:?} stands twice; each id must be unique", query.id);
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

impl Set {
    /// Hashes all that a result depends on but the engine.
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
