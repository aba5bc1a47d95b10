//! What a search asks of the tables. Not here: changing them.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::connection::corpus_error;
use crate::conditions::Conditions;
use crate::contract::{AskedNumbers, EngineNumbers, FetchedRecord, WeighedTerm};
use crate::corpus_entry::EntryMark;
use crate::corpus_error::CorpusError;
use crate::counting::{COUNTED_MAX, LETTERS_BESIDES, NEAR_MAX, spread_evenly};
use crate::memory_key::MemoryKey;
use crate::term_code::{DIMENSIONS, code_of, coded_weights};
use index::lexical::CorpusTotals;

/// Passages that a search scores first: enough that their best memories usually are the best of all.
const FIRST_PASSAGES: usize = 4_000;
/// Passages that a search scores at most. Beyond, what holds only the commonest words of the query is not found. A passage takes
/// one to two microseconds.
const PASSAGES_MAX: usize = 20_000;
/// The greatest weight of a term in a passage.
const WEIGHT_MAX: f32 = 2.2;

pub(super) async fn numbers(
    client: &Client,
    asked: &AskedNumbers,
) -> Result<EngineNumbers, CorpusError> {
    let totals =
        "select passages, documents, terms, reply_terms, weighed_with from agent_knowledge.totals";
    let row = client.query_one(totals, &[]).await.map_err(corpus_error)?;
    let weighed_with = row.try_get(4).map_err(corpus_error)?;
    let size = |at| {
        Ok::<_, CorpusError>(
            usize::try_from(row.try_get::<_, i64>(at).map_err(corpus_error)?).unwrap_or(0),
        )
    };
    let totals = CorpusTotals {
        passages: size(0)?,
        documents: size(1)?,
        terms: size(2)? as u64,
        reply_terms: size(3)? as u64,
    };
    let mut terms: Vec<&str> = asked.terms.iter().map(AsRef::as_ref).collect();
    terms.extend(asked.unions.iter().flatten().map(|term| &**term));
    let held = frequencies(client, &terms).await?;
    let of = |term: &str| held.get(term).copied().unwrap_or(0);
    let mut unions = Vec::new();
    for union in &asked.unions {
        let each: Vec<usize> = union.iter().map(|term| of(term)).collect();
        let passages = match each.iter().sum::<usize>() <= COUNTED_MAX {
            true => counted(client, union).await?,
            false => spread_evenly(&each, totals.passages),
        };
        unions.push((union.clone(), passages));
    }
    let mut near = Vec::new();
    for term in &asked.near {
        near.push((term.clone(), near_to(client, term).await?));
    }
    let holding = asked.terms.iter().map(|term| (term.clone(), of(term))).collect();
    Ok(EngineNumbers { totals, weighed_with, holding, unions, near })
}

async fn frequencies(
    client: &Client,
    terms: &[&str],
) -> Result<std::collections::HashMap<Box<str>, usize>, CorpusError> {
    if terms.is_empty() {
        return Ok(<_>::default());
    }
    let held = "select term, passages from agent_knowledge.term where term = any($1)";
    let rows = client.query(held, &[&terms]).await.map_err(corpus_error)?;
    rows.iter().map(frequency).collect()
}

fn frequency(row: &Row) -> Result<(Box<str>, usize), CorpusError> {
    let term: &str = row.try_get(0).map_err(corpus_error)?;
    let passages: i64 = row.try_get(1).map_err(corpus_error)?;
    Ok((term.into(), usize::try_from(passages).unwrap_or(0)))
}

async fn counted(client: &Client, terms: &[Box<str>]) -> Result<usize, CorpusError> {
    let codes: Vec<i32> = terms.iter().map(|term| code_of(term)).collect();
    let count = "select count(*) from agent_knowledge.passage where terms && $1::integer[]";
    let row = client.query_one(count, &[&codes]).await.map_err(corpus_error)?;
    let count: i64 = row.try_get(0).map_err(corpus_error)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

async fn near_to(client: &Client, term: &str) -> Result<Vec<(Box<str>, usize)>, CorpusError> {
    let Some(first) = term.get(..1) else { return Ok(Vec::new()) };
    let letters = i32::try_from(term.len()).unwrap_or(i32::MAX);
    let near = "select term, passages from agent_knowledge.term where term >= $1 collate \"C\"
        and term < $1 || '{' collate \"C\" and length(term) between $2 and $3 limit $4";
    let (least, most) = (letters - LETTERS_BESIDES, letters.saturating_add(LETTERS_BESIDES));
    let limit = i64::try_from(NEAR_MAX).unwrap_or(i64::MAX);
    let rows = client.query(near, &[&first, &least, &most, &limit]).await.map_err(corpus_error)?;
    rows.iter().map(frequency).collect()
}

/// Finds the best passages by the rarest terms, until those that hold only the commoner ones cannot be among the best: MaxScore
/// (H. Turtle and J. Flood, 1995) in terms of SQL. The score is always that of all terms.
pub(super) async fn by_words(
    client: &Client,
    terms: &[WeighedTerm],
    conditions: &Conditions,
    limit: usize,
) -> Result<Vec<MemoryKey>, CorpusError> {
    let mut terms: Vec<&WeighedTerm> = terms.iter().collect();
    terms.sort_by_key(|term| term.passages);
    let weights = coded_weights(terms.iter().map(|term| (&*term.term, term.weight)));
    let query = super::binary_rows::sparse_text(DIMENSIONS, &weights);
    let mut read = read_within(&terms, 0, FIRST_PASSAGES);
    loop {
        let codes: Vec<i32> = terms.iter().take(read).map(|term| code_of(&term.term)).collect();
        let found = scored(client, &query, &codes, conditions, limit).await?;
        let others: f32 = terms.iter().skip(read).map(|term| term.weight * WEIGHT_MAX).sum();
        let least = found.get(limit.saturating_sub(1)).map_or(0.0, |(_, score)| *score);
        let more = read_within(&terms, read, PASSAGES_MAX);
        if least >= others || more == read {
            return Ok(found.into_iter().map(|(key, _)| key).collect());
        }
        read = more;
    }
}

/// Returns how many of the rarest terms have lists of at most `passages` together; one at least, and `read` at least.
fn read_within(terms: &[&WeighedTerm], read: usize, passages: usize) -> usize {
    let mut sum = 0_usize;
    let within = |term: &&&WeighedTerm| {
        sum = sum.saturating_add(term.passages);
        sum <= passages
    };
    terms.iter().take_while(within).count().max(read).max(1).min(terms.len())
}

async fn scored(
    client: &Client,
    query: &str,
    codes: &[i32],
    conditions: &Conditions,
    limit: usize,
) -> Result<Vec<(MemoryKey, f32)>, CorpusError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut given: Vec<&(dyn ToSql + Sync)> = vec![&query, &codes, &limit];
    let filter = condition(conditions, &mut given);
    let statement = format!(
        "select uuid_send(key), max(-(weights <#> $1::text::public.sparsevec))::real as score from agent_knowledge.passage
         where terms && $2::integer[] and {filter} group by key order by score desc, key limit $3"
    );
    let rows = client.query(&statement, &given).await.map_err(corpus_error)?;
    rows.iter().map(|row| Ok((key_in(row)?, row.try_get(1).map_err(corpus_error)?))).collect()
}

pub(super) async fn by_meaning(
    client: &Client,
    vector: &[f32],
    conditions: &Conditions,
    limit: usize,
) -> Result<Vec<MemoryKey>, CorpusError> {
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    let query = format!("[{}]", numbers.join(","));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut given: Vec<&(dyn ToSql + Sync)> = vec![&query, &limit];
    let filter = condition(conditions, &mut given);
    let statement = format!(
        "select uuid_send(key) from agent_knowledge.memory where meaning is not null and {filter}
         order by meaning <=> $1::text::public.halfvec limit $2"
    );
    let rows = client.query(&statement, &given).await.map_err(corpus_error)?;
    rows.iter().map(key_in).collect()
}

/// Returns the conditions as SQL, and adds what they compare with to `given`.
fn condition<'a>(conditions: &'a Conditions, given: &mut Vec<&'a (dyn ToSql + Sync)>) -> String {
    let mut parts = vec!["is_live".to_owned()];
    let mut part = |text: &str, value: &'a (dyn ToSql + Sync)| {
        given.push(value);
        parts.push(text.replace('?', &format!("${}", given.len())));
    };
    conditions.repos.iter().for_each(|repos| part("repo = any(?)", repos));
    conditions.kinds.iter().for_each(|kinds| part("kind = any(?)", kinds));
    conditions.agents.iter().for_each(|agents| part("agent = any(?)", agents));
    if !conditions.not_kinds.is_empty() {
        part("not kind = any(?)", &conditions.not_kinds);
    }
    if !conditions.tags.is_empty() {
        part("tags @> ?", &conditions.tags);
    }
    conditions.since_us.iter().for_each(|since| part("time_us >= ?", since));
    conditions.until_us.iter().for_each(|until| part("time_us <= ?", until));
    parts.join(" and ")
}

pub(super) async fn fetch(
    client: &Client,
    keys: &[MemoryKey],
) -> Result<Vec<FetchedRecord>, CorpusError> {
    let records = "select uuid_send(key), record from agent_knowledge.memory where key = any($1::text[]::uuid[])";
    let rows = client.query(records, &[&texts(keys)]).await.map_err(corpus_error)?;
    let fetched = |row: &Row| {
        Ok(FetchedRecord { key: key_in(row)?, record: row.try_get(1).map_err(corpus_error)? })
    };
    rows.iter().map(fetched).collect()
}

pub(super) async fn keys_after(
    client: &Client,
    after: Option<MemoryKey>,
    limit: usize,
) -> Result<Vec<(MemoryKey, EntryMark)>, CorpusError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let after = after.map(|key| key.to_string());
    let marks = "select uuid_send(key), mark from agent_knowledge.memory
        where $1::text is null or key > $1::text::uuid order by key limit $2";
    let rows = client.query(marks, &[&after, &limit]).await.map_err(corpus_error)?;
    rows.iter()
        .map(|row| Ok((key_in(row)?, EntryMark(row.try_get(1).map_err(corpus_error)?))))
        .collect()
}

/// Returns keys as the server reads them.
pub(super) fn texts(keys: &[MemoryKey]) -> Vec<String> {
    keys.iter().map(MemoryKey::to_string).collect()
}

/// Returns the key in the first column.
pub(super) fn key_in(row: &Row) -> Result<MemoryKey, CorpusError> {
    let bytes: &[u8] = row.try_get(0).map_err(corpus_error)?;
    let key = bytes.try_into().map_err(|_| CorpusError::Wrong("a key is no key".to_owned()))?;
    Ok(MemoryKey(key))
}
