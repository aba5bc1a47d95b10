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
use crate::contract::{AskedNumbers, Corpus, Deadline, Fetched, Numbers, WeighedTerm};
use crate::corpus_entry::{Entry, EntryMark};
use crate::memory_key::MemoryKey;
use crate::trouble::Trouble;
pub use rest_client::QdrantCorpus;
pub use server_address::QdrantAddress;

impl Corpus for QdrantCorpus {
    fn numbers(&self, asked: &AskedNumbers, until: Deadline) -> Result<Numbers, Trouble> {
        searching::numbers(self, asked, until)
    }

    fn by_words(
        &self,
        terms: &[WeighedTerm],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, Trouble> {
        searching::by_words(self, &[terms], (conditions, limit), until)
            .map(|mut found| found.pop().unwrap_or_default())
    }

    fn by_words_of_each(
        &self,
        lists: &[Vec<WeighedTerm>],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<Vec<MemoryKey>>, Trouble> {
        let lists: Vec<&[WeighedTerm]> = lists.iter().map(Vec::as_slice).collect();
        searching::by_words(self, &lists, (conditions, limit), until)
    }

    fn by_meaning(
        &self,
        vector: &[f32],
        conditions: &Conditions,
        limit: usize,
        until: Deadline,
    ) -> Result<Vec<MemoryKey>, Trouble> {
        searching::by_meaning(self, vector, (conditions, limit), until)
    }

    fn fetch(&self, keys: &[MemoryKey], until: Deadline) -> Result<Vec<Fetched>, Trouble> {
        searching::fetch(self, keys, until)
    }

    fn put(&self, batch: &[Entry]) -> Result<(), Trouble> {
        // Of several under one key the last one counts.
        let batch: BTreeMap<MemoryKey, &Entry> =
            batch.iter().map(|entry| (entry.key, entry)).collect();
        committing::put(self, &batch)
    }

    fn take(&self, keys: &[MemoryKey]) -> Result<(), Trouble> {
        committing::take(self, keys)
    }

    fn known(
        &self,
        after: Option<MemoryKey>,
        limit: usize,
    ) -> Result<Vec<(MemoryKey, EntryMark)>, Trouble> {
        searching::known(self, after, limit)
    }
}

impl ServedEngine for QdrantCorpus {
    fn make_ready(&self) -> Result<(), Trouble> {
        making::make_collections(self)
    }
}
