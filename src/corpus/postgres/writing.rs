//! Puts memories into the tables and takes them out, each time in one transaction: rows, document frequencies and totals change
//! together or not at all. Not here: reading.

use std::collections::BTreeMap;
use std::pin::pin;

use futures_util::SinkExt;
use tokio_postgres::{Client, Transaction};

use super::binary_rows::BinaryRows;
use super::connection::corpus_error;
use super::reading::{key_in, texts};
use crate::corpus_entry::CorpusEntry;
use crate::corpus_error::CorpusError;
use crate::counting::{CountChange, VECTOR_DIMENSIONS};
use crate::memory_key::MemoryKey;
use crate::memory_record::passages_in;
use crate::term_code::{DIMENSIONS, coded_weights};

/// Writers wait for each other: they change the same frequencies.
const LOCK: &str = "select pg_advisory_xact_lock(4711032602)";
const MEMORIES: &str = "copy agent_knowledge.memory (key, mark, is_live, repo, kind, agent, tags, time_us, meaning, record) from stdin (format binary)";
const PASSAGES: &str = "copy agent_knowledge.passage (key, part, is_live, repo, kind, agent, tags, time_us, terms, weights) from stdin (format binary)";
const COLUMNS: i16 = 10;
/// Most terms of one passage that a sparse vector may hold. The longest passages have fewer.
const TERMS_MAX: usize = 16_000;

pub(super) async fn put_entries(
    client: &mut Client,
    batch: &BTreeMap<MemoryKey, &CorpusEntry>,
) -> Result<(), CorpusError> {
    let transaction = client.transaction().await.map_err(corpus_error)?;
    transaction.batch_execute(LOCK).await.map_err(corpus_error)?;
    let keys: Vec<MemoryKey> = batch.keys().copied().collect();
    let held = marks(&transaction, &keys).await?;
    let is_new = |entry: &&CorpusEntry| held.get(&entry.key) != Some(&entry.mark.0);
    let new: Vec<&CorpusEntry> = batch.values().copied().filter(is_new).collect();
    let replaced: Vec<MemoryKey> =
        new.iter().map(|entry| entry.key).filter(|key| held.contains_key(key)).collect();
    let mut change = CountChange::default();
    remove(&transaction, &replaced, &mut change).await?;
    new.iter().for_each(|entry| change.count(&entry.passages, 1));
    copy(&transaction, MEMORIES, memory_rows(&new)).await?;
    copy(&transaction, PASSAGES, passage_rows(&new)).await?;
    apply(&transaction, &change).await?;
    if let Some(entry) = new.last() {
        let weighed_with = "update agent_knowledge.totals set weighed_with = $1";
        transaction.execute(weighed_with, &[&entry.weighed_with]).await.map_err(corpus_error)?;
    }
    transaction.commit().await.map_err(corpus_error)
}

pub(super) async fn delete_entries(
    client: &mut Client,
    keys: &[MemoryKey],
) -> Result<(), CorpusError> {
    let transaction = client.transaction().await.map_err(corpus_error)?;
    transaction.batch_execute(LOCK).await.map_err(corpus_error)?;
    let mut change = CountChange::default();
    remove(&transaction, keys, &mut change).await?;
    apply(&transaction, &change).await?;
    let emptied = "update agent_knowledge.totals set weighed_with = 0 where documents = 0";
    transaction.execute(emptied, &[]).await.map_err(corpus_error)?;
    transaction.commit().await.map_err(corpus_error)
}

async fn marks(
    transaction: &Transaction<'_>,
    keys: &[MemoryKey],
) -> Result<BTreeMap<MemoryKey, i64>, CorpusError> {
    let held = "select uuid_send(key), mark from agent_knowledge.memory where key = any($1::text[]::uuid[])";
    let rows = transaction.query(held, &[&texts(keys)]).await.map_err(corpus_error)?;
    rows.iter().map(|row| Ok((key_in(row)?, row.try_get(1).map_err(corpus_error)?))).collect()
}

/// Removes memories, and counts what goes with them.
async fn remove(
    transaction: &Transaction<'_>,
    keys: &[MemoryKey],
    change: &mut CountChange,
) -> Result<(), CorpusError> {
    if keys.is_empty() {
        return Ok(());
    }
    let keys = texts(keys);
    let gone =
        "delete from agent_knowledge.memory where key = any($1::text[]::uuid[]) returning record";
    for row in transaction.query(gone, &[&keys]).await.map_err(corpus_error)? {
        let record: &[u8] = row.try_get(0).map_err(corpus_error)?;
        let passages = passages_in(record);
        let damaged = || CorpusError::Wrong("a record is damaged".to_owned());
        change.count(&passages.ok_or_else(damaged)?, -1);
    }
    let passages = "delete from agent_knowledge.passage where key = any($1::text[]::uuid[])";
    transaction.execute(passages, &[&keys]).await.map_err(corpus_error)?;
    Ok(())
}

async fn copy(
    transaction: &Transaction<'_>,
    statement: &str,
    rows: Vec<u8>,
) -> Result<(), CorpusError> {
    let sink = transaction.copy_in(statement).await.map_err(corpus_error)?;
    let mut sink = pin!(sink);
    sink.send(std::io::Cursor::new(rows)).await.map_err(corpus_error)?;
    sink.finish().await.map_err(corpus_error)?;
    Ok(())
}

fn memory_rows(entries: &[&CorpusEntry]) -> Vec<u8> {
    let mut rows = BinaryRows::new();
    for entry in entries {
        rows.begin_row(COLUMNS);
        rows.bytes(&entry.key.0);
        rows.large(entry.mark.0);
        add_conditions(entry, &mut rows);
        match entry.vector.as_ref().filter(|codes| codes.len() == VECTOR_DIMENSIONS) {
            Some(codes) => rows.halves(codes),
            None => rows.null(),
        }
        rows.bytes(&entry.record);
    }
    rows.finish()
}

fn passage_rows(entries: &[&CorpusEntry]) -> Vec<u8> {
    let mut rows = BinaryRows::new();
    for entry in entries {
        for (part, passage) in (0..).zip(&entry.passages) {
            let mut weights = coded_weights(passage.weights(entry.reference_totals()).into_iter());
            weights.truncate(TERMS_MAX);
            rows.begin_row(COLUMNS);
            rows.bytes(&entry.key.0);
            rows.small(part);
            add_conditions(entry, &mut rows);
            rows.integers(weights.iter().map(|(code, _)| *code));
            rows.sparse(DIMENSIONS, &weights);
        }
    }
    rows.finish()
}

fn add_conditions(entry: &CorpusEntry, rows: &mut BinaryRows) {
    rows.boolean(entry.is_live);
    for text in [entry.repo.as_str(), &entry.kind, &entry.agent] {
        rows.bytes(text.as_bytes());
    }
    rows.texts(&entry.tags);
    match entry.time_us {
        Some(time) => rows.large(time),
        None => rows.null(),
    }
}

/// Changes the frequencies, in the order of the terms, and the totals.
async fn apply(transaction: &Transaction<'_>, change: &CountChange) -> Result<(), CorpusError> {
    let changed = || change.terms.iter().filter(|(_, by)| **by != 0);
    let terms: Vec<&str> = changed().map(|(term, _)| &**term).collect();
    let by: Vec<i64> = changed().map(|(_, by)| *by).collect();
    if !terms.is_empty() {
        let add = "insert into agent_knowledge.term as held select * from unnest($1::text[], $2::bigint[])
            on conflict (term) do update set passages = held.passages + excluded.passages";
        transaction.execute(add, &[&terms, &by]).await.map_err(corpus_error)?;
    }
    if by.iter().any(|by| *by < 0) {
        let unheld = "delete from agent_knowledge.term where term = any($1) and passages <= 0";
        transaction.execute(unheld, &[&terms]).await.map_err(corpus_error)?;
    }
    let totals =
        "update agent_knowledge.totals set passages = passages + $1, documents = documents + $2,
        terms = terms + $3, reply_terms = reply_terms + $4";
    let CountChange { passages, documents, lengths, reply_lengths, .. } = change;
    let numbers = transaction.execute(totals, &[passages, documents, lengths, reply_lengths]).await;
    numbers.map_err(corpus_error)?;
    Ok(())
}
