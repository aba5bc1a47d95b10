//! An engine in Qdrant, by its REST interface. A passage is a point with a sparse vector of its terms, whose product with the weights
//! of a query is our BM25; the vector of the model stands at the first passage. Records, document frequencies and totals are points
//! without vectors in a collection beside it. Qdrant has no transactions, so a batch counts from the moment when one point says so
//! (`visible_state`). Not here: which calls are made (`rest_client`), making collections (`making`), reading and writing
//! (`searching`, `committing`, `sending`).

mod committing;
mod making;
mod point_forms;
mod rest_client;
mod searching;
mod sending;
mod server_address;
mod visible_state;

use std::collections::BTreeMap;

use crate::conditions::Conditions;
use crate::contract::ServedEngine;
use crate::contract::{AskedNumbers, Corpus, Deadline, EngineNumbers, FetchedRecord, WeighedTerm};
use crate::corpus_entry::{CorpusEntry, EntryMark};
use crate::corpus_error::CorpusError;
use crate::memory_key::MemoryKey;
pub use rest_client::QdrantCorpus;
pub use server_address::QdrantAddress;

impl Corpus for QdrantCorpus {
    fn numbers(&self, asked: &AskedNumbers, until: Deadline) -> Result<EngineNumbers, CorpusError> {
        searching::numbers(self, asked, until)
    }

    fn by_words(
        &self,
        terms: &[WeighedTerm],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError> {
        searching::by_words(self, &[terms], (conditions, limit), until)
            .map(|mut found| found.pop().unwrap_or_default())
    }

    fn by_words_of_each(
        &self,
        lists: &[Vec<WeighedTerm>],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<Vec<MemoryKey>>, CorpusError> {
        let lists: Vec<&[WeighedTerm]> = lists.iter().map(Vec::as_slice).collect();
        searching::by_words(self, &lists, (conditions, limit), until)
    }

    fn by_meaning(
        &self,
        vector: &[f32],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError> {
        searching::by_meaning(self, vector, (conditions, limit), until)
    }

    fn fetch(
        &self,
        keys: &[MemoryKey],
        until: Deadline,
    ) -> Result<Vec<FetchedRecord>, CorpusError> {
        searching::fetch(self, keys, until)
    }

    fn put_entries(&self, batch: &[CorpusEntry]) -> Result<(), CorpusError> {
        // Of several under one key the last one counts.
        let batch: BTreeMap<MemoryKey, &CorpusEntry> =
            batch.iter().map(|entry| (entry.key, entry)).collect();
        committing::put_entries(self, &batch)
    }

    fn delete_entries(&self, keys: &[MemoryKey]) -> Result<(), CorpusError> {
        committing::delete_entries(self, keys)
    }

    fn keys_after(
        &self,
        after: Option<MemoryKey>,
        limit: usize,
    ) -> Result<Vec<(MemoryKey, EntryMark)>, CorpusError> {
        searching::keys_after(self, after, limit)
    }
}

impl ServedEngine for QdrantCorpus {
    fn make_ready(&self) -> Result<(), CorpusError> {
        making::make_collections(self)
    }
}
