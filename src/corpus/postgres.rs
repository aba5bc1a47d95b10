//! An engine in PostgreSQL with pgvector. A passage is a row with its terms, as an array for the inverted index and as a sparse
//! vector for the score; a memory is a row with its vector and its record. Not here: the tables (`tables`), connections
//! (`connection`), reading and writing (`reading`, `writing`).

mod binary_rows;
mod connection;
mod reading;
mod tables;
mod writing;

use std::collections::BTreeMap;

use crate::conditions::Conditions;
use crate::contract::ServedEngine;
use crate::contract::{AskedNumbers, Corpus, Deadline, EngineNumbers, FetchedRecord, WeighedTerm};
use crate::corpus_entry::{CorpusEntry, EntryMark};
use crate::corpus_error::CorpusError;
use crate::memory_key::MemoryKey;
use connection::run;
pub use connection::{EngineAddress, PostgresCorpus};

impl Corpus for PostgresCorpus {
    fn numbers(&self, asked: &AskedNumbers, until: Deadline) -> Result<EngineNumbers, CorpusError> {
        run(self, until, async |client| reading::numbers(client, asked).await)
    }

    fn by_words(
        &self,
        terms: &[WeighedTerm],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError> {
        run(self, until, async |client| reading::by_words(client, terms, conditions, limit).await)
    }

    fn by_meaning(
        &self,
        vector: &[f32],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError> {
        run(self, until, async |client| {
            reading::by_meaning(client, vector, conditions, limit).await
        })
    }

    fn fetch(
        &self,
        keys: &[MemoryKey],
        until: Deadline,
    ) -> Result<Vec<FetchedRecord>, CorpusError> {
        run(self, until, async |client| reading::fetch(client, keys).await)
    }

    fn put_entries(&self, batch: &[CorpusEntry]) -> Result<(), CorpusError> {
        // Of several under one key the last one counts.
        let batch: BTreeMap<MemoryKey, &CorpusEntry> =
            batch.iter().map(|entry| (entry.key, entry)).collect();
        run(self, connection::writing_deadline(), async |client| {
            writing::put_entries(client, &batch).await
        })
    }

    fn delete_entries(&self, keys: &[MemoryKey]) -> Result<(), CorpusError> {
        run(self, connection::writing_deadline(), async |client| {
            writing::delete_entries(client, keys).await
        })
    }

    fn keys_after(
        &self,
        after: Option<MemoryKey>,
        limit: usize,
    ) -> Result<Vec<(MemoryKey, EntryMark)>, CorpusError> {
        let until = connection::writing_deadline();
        run(self, until, async |client| reading::keys_after(client, after, limit).await)
    }
}

impl ServedEngine for PostgresCorpus {
    fn make_ready(&self) -> Result<(), CorpusError> {
        self.make_tables()
    }
}
