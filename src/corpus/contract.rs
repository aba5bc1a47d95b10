//! What an engine does for a search. Not here: any engine, and what can go wrong (`corpus_error`).

use std::time::{Duration, Instant};

use crate::conditions::Conditions;
use crate::corpus_entry::{CorpusEntry, EntryMark};
use crate::corpus_error::CorpusError;
use crate::memory_key::MemoryKey;
use index::lexical::CorpusTotals;
pub use index::lexical::LackingNumbers as AskedNumbers;

/// Where candidates come from. Every call blocks, and returns soon after its deadline at the latest.
pub trait Corpus: Send + Sync {
    /// Returns the numbers of the corpus that are asked for, and its size in any case.
    ///
    /// # Errors
    /// [`CorpusError`].
    fn numbers(&self, asked: &AskedNumbers, until: Deadline) -> Result<EngineNumbers, CorpusError>;

    /// Returns the best memories by words: those with the greatest sum of products of weights in one passage, at most
    /// `limit`, best first.
    ///
    /// # Errors
    /// [`CorpusError`].
    fn by_words(
        &self,
        terms: &[WeighedTerm],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError>;

    /// Returns the best memories for each of several lists of terms, as `by_words` does for one. An engine that can asks for all at once.
    ///
    /// # Errors
    /// [`CorpusError`].
    fn by_words_of_each(
        &self,
        lists: &[Vec<WeighedTerm>],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<Vec<MemoryKey>>, CorpusError> {
        lists.iter().map(|terms| self.by_words(terms, conditions, limit, until)).collect()
    }

    /// Returns the nearest memories by meaning, at most `limit`, best first.
    ///
    /// # Errors
    /// [`CorpusError`].
    fn by_meaning(
        &self,
        vector: &[f32],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError>;

    /// Returns the records of memories, in any order; none of a memory that is not there.
    ///
    /// # Errors
    /// [`CorpusError`].
    fn fetch(&self, keys: &[MemoryKey], until: Deadline)
    -> Result<Vec<FetchedRecord>, CorpusError>;

    /// Puts memories there, all or none. One that is there already is replaced, so that a repetition changes nothing.
    ///
    /// # Errors
    /// [`CorpusError`]; nothing is changed then.
    fn put_entries(&self, batch: &[CorpusEntry]) -> Result<(), CorpusError>;

    /// Takes memories out, all or none. One that is not there is fine.
    ///
    /// # Errors
    /// [`CorpusError`]; nothing is changed then.
    fn delete_entries(&self, keys: &[MemoryKey]) -> Result<(), CorpusError>;

    /// Returns the memories behind `after`, in the order of their keys, at most `limit`, each with its mark.
    ///
    /// # Errors
    /// [`CorpusError`].
    fn keys_after(
        &self,
        after: Option<MemoryKey>,
        limit: usize,
    ) -> Result<Vec<(MemoryKey, EntryMark)>, CorpusError>;
}

/// When a caller stops waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Instant);

impl Deadline {
    /// Ends this long from now.
    #[must_use]
    pub fn within(wait: Duration) -> Self {
        Self(Instant::now() + wait)
    }

    /// Returns the time that is left; zero once it has passed.
    #[must_use]
    pub fn time_left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Refuses to go on once it has passed.
    ///
    /// # Errors
    /// [`CorpusError::Late`].
    pub fn check(self) -> Result<(), CorpusError> {
        if self.time_left().is_zero() { Err(CorpusError::Late) } else { Ok(()) }
    }
}

/// A term, and how many passages hold it.
pub type TermFrequency = (Box<str>, usize);

/// Numbers of a corpus: those that were asked for, and its size.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EngineNumbers {
    /// The size of the corpus.
    pub totals: CorpusTotals,
    /// The average length of a passage, in halves of a term, with which the stored weights were computed; 0 in an empty corpus.
    pub weighed_with: f32,
    /// The document frequency of each term asked for.
    pub holding: Vec<TermFrequency>,
    /// How many passages hold any of each set of terms.
    pub unions: Vec<(Vec<Box<str>>, usize)>,
    /// For each term, terms of the corpus that begin with its first letter and have at most two letters more or less, with
    /// their document frequencies.
    pub near: Vec<(Box<str>, Vec<TermFrequency>)>,
}

/// A term of a query with its weight, and how many passages hold it.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedTerm {
    /// The term, as analysis returns it.
    pub term: Box<str>,
    /// Its weight in the query.
    pub weight: f32,
    /// How many passages of the corpus hold it.
    pub passages: usize,
}

/// The record of a memory, as it was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedRecord {
    /// Of which memory.
    pub key: MemoryKey,
    /// The bytes of [`CorpusEntry::record`].
    pub record: Vec<u8>,
}

/// An engine that a server offers.
pub trait ServedEngine: Corpus {
    /// Makes what is missing before the first memory: tables or collections. Only who feeds an engine needs the right to do that.
    ///
    /// # Errors
    /// [`CorpusError`].
    fn make_ready(&self) -> Result<(), CorpusError>;
}
