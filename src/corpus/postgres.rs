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
use crate::contract::{AskedNumbers, Corpus, Deadline, Fetched, Numbers, WeighedTerm};
use crate::corpus_entry::{Entry, EntryMark};
use crate::memory_key::MemoryKey;
use crate::trouble::Trouble;
use connection::run;
pub use connection::{EngineAddress, PostgresCorpus};

impl Corpus for PostgresCorpus {
    fn numbers(&self, asked: &AskedNumbers, until: Deadline) -> Result<Numbers, Trouble> {
        run(self, until, async |client| reading::numbers(client, asked).await)
    }

    fn by_words(
        &self,
        terms: &[WeighedTerm],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, Trouble> {
        run(self, until, async |client| reading::by_words(client, terms, conditions, limit).await)
    }

    fn by_meaning(
        &self,
        vector: &[f32],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, Trouble> {
        run(self, until, async |client| {
            reading::by_meaning(client, vector, conditions, limit).await
        })
    }

    fn fetch(&self, keys: &[MemoryKey], until: Deadline) -> Result<Vec<Fetched>, Trouble> {
        run(self, until, async |client| reading::fetch(client, keys).await)
    }

    fn put(&self, batch: &[Entry]) -> Result<(), Trouble> {
        // Of several under one key the last one counts.
        let batch: BTreeMap<MemoryKey, &Entry> =
            batch.iter().map(|entry| (entry.key, entry)).collect();
        run(self, connection::writing_deadline(), async |client| writing::put(client, &batch).await)
    }

    fn take(&self, keys: &[MemoryKey]) -> Result<(), Trouble> {
        run(self, connection::writing_deadline(), async |client| writing::take(client, keys).await)
    }

    fn known(
        &self,
        after: Option<MemoryKey>,
        limit: usize,
    ) -> Result<Vec<(MemoryKey, EntryMark)>, Trouble> {
        let until = connection::writing_deadline();
        run(self, until, async |client| reading::known(client, after, limit).await)
    }
}

impl ServedEngine for PostgresCorpus {
    fn make_ready(&self) -> Result<(), Trouble> {
        self.make_tables()
    }
}
