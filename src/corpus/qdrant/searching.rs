//! What a search asks of the collections. Not here: changing them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::point_forms::{
    RecordPayload, SparseVector, VersionPlace, filter_of, id_behind, key_of, point_id, shape,
    visible,
};
use super::rest_client::{CollectionKind, HttpMethod, QdrantCorpus, wrong};
use super::visible_state::{BatchState, QdrantPoint, TermCount, look_up_points, state_with};
use crate::conditions::Conditions;
use crate::contract::{
    AskedNumbers, Deadline, EngineNumbers, FetchedRecord, TermFrequency, WeighedTerm,
};
use crate::corpus_entry::EntryMark;
use crate::corpus_error::CorpusError;
use crate::counting::{COUNTED_MAX, LETTERS_BESIDES, NEAR_MAX, VECTOR_DIMENSIONS, spread_evenly};
use crate::memory_key::MemoryKey;

/// Points that a search by words asks for at most: memories of several passages take the places of others.
const PASSAGES_MAX: usize = 4_000;
/// Memories that are compared by meaning in each segment: more than are asked for, so that hardly any is missed.
const COMPARED: usize = 512;
/// How long a list of what is known may take.
const LISTING: std::time::Duration = std::time::Duration::from_secs(60);

pub(super) fn numbers(
    corpus: &QdrantCorpus,
    asked: &AskedNumbers,
    until: Deadline,
) -> Result<EngineNumbers, CorpusError> {
    let all: BTreeSet<&str> =
        asked.terms.iter().chain(asked.unions.iter().flatten()).map(AsRef::as_ref).collect();
    let all: Vec<&str> = all.into_iter().collect();
    let (state, counts) = state_with(corpus, &all, until)?;
    let of = |term: &str| {
        let count = all.binary_search(&term).ok().and_then(|place| counts.get(place));
        count.map_or(0, |count| usize::try_from(count.at(state.epoch)).unwrap_or(0))
    };
    let passages = state.totals().passages;
    let mut unions = Vec::new();
    for union in &asked.unions {
        let each: Vec<usize> = union.iter().map(|term| of(term)).collect();
        let sum = each.iter().sum::<usize>();
        let any = match sum <= COUNTED_MAX {
            true => counted(corpus, union, (state, sum), until)?,
            false => spread_evenly(&each, passages),
        };
        unions.push((union.clone(), any));
    }
    let mut near = Vec::new();
    for term in &asked.near {
        near.push((term.clone(), near_to(corpus, term, state, until)?));
    }
    let holding = asked.terms.iter().map(|term| (term.clone(), of(term))).collect();
    let weighed_with = f32::from_bits(state.weighed_with);
    Ok(EngineNumbers { totals: state.totals(), weighed_with, holding, unions, near })
}

/// A hit, of which only the key is asked for.
#[derive(Deserialize)]
struct FoundPoint {
    score: f32,
    #[serde(default)]
    payload: Option<FoundPayload>,
}

#[derive(Deserialize)]
struct FoundPayload {
    #[serde(default)]
    key: String,
}

#[derive(Deserialize)]
struct FoundPoints {
    points: Vec<FoundPoint>,
}

/// Counts the passages that hold any of some terms: every one of them is a hit.
fn counted(
    corpus: &QdrantCorpus,
    terms: &[Box<str>],
    (state, sum): (BatchState, usize),
    until: Deadline,
) -> Result<usize, CorpusError> {
    if sum == 0 {
        return Ok(0);
    }
    let words = SparseVector::from_weights(terms.iter().map(|term| (&**term, 1.0)));
    let filter = visible(state.epoch, &[], &[]);
    let body = json!({"query": words, "using": "words", "filter": filter, "limit": sum, "with_payload": false});
    found(corpus, &body, until).map(|found| found.len())
}

fn found(
    corpus: &QdrantCorpus,
    body: &Value,
    until: Deadline,
) -> Result<Vec<FoundPoint>, CorpusError> {
    let body = body.to_string();
    let found: FoundPoints = corpus.call(
        (HttpMethod::Post, CollectionKind::Search, "/points/query"),
        body.as_bytes(),
        until,
    )?;
    Ok(found.points)
}

/// Runs several searches in one call.
fn found_by_each(
    corpus: &QdrantCorpus,
    searches: &[Value],
    until: Deadline,
) -> Result<Vec<Vec<FoundPoint>>, CorpusError> {
    let body = json!({"searches": searches}).to_string();
    let path = "/points/query/batch";
    let found: Vec<FoundPoints> =
        corpus.call((HttpMethod::Post, CollectionKind::Search, path), body.as_bytes(), until)?;
    if found.len() != searches.len() {
        return Err(wrong());
    }
    Ok(found.into_iter().map(|found| found.points).collect())
}

/// A page of a listing.
#[derive(Deserialize)]
#[serde(bound = "T: serde::de::DeserializeOwned")]
pub(super) struct PointPage<T> {
    pub(super) points: Vec<QdrantPoint<T>>,
}

#[derive(Deserialize)]
struct NearTerm {
    term: Box<str>,
    count: TermCount,
}

fn near_to(
    corpus: &QdrantCorpus,
    term: &str,
    state: BatchState,
    until: Deadline,
) -> Result<Vec<TermFrequency>, CorpusError> {
    let (Some(first), Ok(letters)) = (term.chars().next(), i32::try_from(term.len())) else {
        return Ok(Vec::new());
    };
    let lengths = letters - LETTERS_BESIDES..=letters.saturating_add(LETTERS_BESIDES);
    let shapes = lengths.filter_map(|length| usize::try_from(length).ok());
    let shapes: Vec<String> = shapes.map(|length| shape(first, length)).collect();
    let filter = json!({"must": [{"key": "shape", "match": {"any": shapes}}]});
    let body =
        json!({"filter": filter, "limit": NEAR_MAX, "with_payload": ["term", "count"]}).to_string();
    let page: PointPage<NearTerm> = corpus.call(
        (HttpMethod::Post, CollectionKind::Lookup, "/points/scroll"),
        body.as_bytes(),
        until,
    )?;
    let terms = page.points.into_iter().map(|point| point.payload);
    let frequency = |NearTerm { term, count }| {
        let passages = usize::try_from(count.at(state.epoch)).ok()?;
        Some((term, passages)).filter(|(_, passages)| *passages > 0)
    };
    Ok(terms.filter_map(frequency).collect())
}

/// Returns the number of the last batch that counts, which is asked for only where no answer told it yet.
fn epoch(corpus: &QdrantCorpus, until: Deadline) -> Result<u64, CorpusError> {
    match corpus.known_epoch() {
        Some(epoch) => Ok(epoch),
        None => state_with(corpus, &[], until).map(|(state, _)| state.epoch),
    }
}

/// Returns the best memories for each list of terms. All lists are asked in one call, and those with too few memories again, for
/// twice as many passages.
pub(super) fn by_words(
    corpus: &QdrantCorpus,
    lists: &[&[WeighedTerm]],
    (conditions, limit): (&Conditions, usize),
    until: Deadline,
) -> Result<Vec<Vec<MemoryKey>>, CorpusError> {
    if lists.iter().all(|terms| terms.is_empty()) {
        return Ok(vec![Vec::new(); lists.len()]);
    }
    let filter = filter_of(conditions, epoch(corpus, until)?);
    let mut answers: Vec<Option<Vec<MemoryKey>>> =
        lists.iter().map(|terms| terms.is_empty().then(Vec::new)).collect();
    let mut asked = limit + limit / 4;
    loop {
        let mut open: Vec<(&[WeighedTerm], &mut Option<Vec<MemoryKey>>)> = lists
            .iter()
            .copied()
            .zip(&mut answers)
            .filter(|(_, answer)| answer.is_none())
            .collect();
        if open.is_empty() {
            return Ok(answers.into_iter().flatten().collect());
        }
        let search = |(terms, _): &(&[WeighedTerm], _)| {
            let words =
                SparseVector::from_weights(terms.iter().map(|term| (&*term.term, term.weight)));
            json!({"query": words, "using": "words", "filter": filter, "limit": asked, "with_payload": ["key"]})
        };
        let searches: Vec<Value> = open.iter().map(search).collect();
        let found = found_by_each(corpus, &searches, until)?;
        for ((_, answer), found) in open.iter_mut().zip(found) {
            let is_all = found.len() < asked || asked >= PASSAGES_MAX;
            let keys = best(found, limit)?;
            **answer = Some(keys).filter(|keys| is_all || keys.len() >= limit);
        }
        asked = (asked * 2).min(PASSAGES_MAX);
    }
}

/// Returns the memories of hits, each once, best first.
fn best(mut found: Vec<FoundPoint>, limit: usize) -> Result<Vec<MemoryKey>, CorpusError> {
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    let mut seen = BTreeSet::new();
    let mut keys = Vec::new();
    for hit in found {
        let key = hit.payload.and_then(|payload| key_of(&payload.key)).ok_or_else(wrong)?;
        if seen.insert(key) {
            keys.push((Reverse(hit.score.to_bits()), key));
        }
    }
    // Scores are positive, so their bits are in their order; equal ones are ordered by their keys.
    keys.sort_unstable();
    Ok(keys.into_iter().take(limit).map(|(_, key)| key).collect())
}

pub(super) fn by_meaning(
    corpus: &QdrantCorpus,
    vector: &[f32],
    (conditions, limit): (&Conditions, usize),
    until: Deadline,
) -> Result<Vec<MemoryKey>, CorpusError> {
    if vector.len() != VECTOR_DIMENSIONS {
        return Ok(Vec::new());
    }
    let filter = filter_of(conditions, epoch(corpus, until)?);
    let params = json!({"hnsw_ef": COMPARED});
    let body = json!({"query": vector, "using": "meaning", "filter": filter, "limit": limit, "params": params, "with_payload": ["key"]});
    let found = found(corpus, &body, until)?;
    let key =
        |hit: FoundPoint| hit.payload.and_then(|payload| key_of(&payload.key)).ok_or_else(wrong);
    found.into_iter().map(key).collect()
}

pub(super) fn fetch(
    corpus: &QdrantCorpus,
    keys: &[MemoryKey],
    until: Deadline,
) -> Result<Vec<FetchedRecord>, CorpusError> {
    let epoch = epoch(corpus, until)?;
    let ids = |key: &MemoryKey| VersionPlace::BOTH.map(|place| point_id(*key, place, 0));
    let ids: Vec<String> = keys.iter().flat_map(ids).collect();
    let fields = ["key", "mark", "record", "from", "until"];
    let points = look_up_points::<RecordPayload>(corpus, &ids, &fields, until)?;
    let records = points.into_iter().map(|point| point.payload);
    let fetched = |record: RecordPayload| {
        let key = key_of(&record.key).ok_or_else(wrong)?;
        let record = record.bytes();
        let record = record.ok_or_else(|| CorpusError::Wrong(format!("{key} is damaged")))?;
        Ok(FetchedRecord { key, record })
    };
    records.filter(|record| record.span.holds_at(epoch)).map(fetched).collect()
}

pub(super) fn keys_after(
    corpus: &QdrantCorpus,
    after: Option<MemoryKey>,
    limit: usize,
) -> Result<Vec<(MemoryKey, EntryMark)>, CorpusError> {
    let until = Deadline::within(LISTING);
    let (state, _) = state_with(corpus, &[], until)?;
    let is_record = json!({"key": "from", "range": {"gte": 0}});
    let body = json!({
        "filter": visible(state.epoch, &[is_record], &[]), "limit": limit,
        "with_payload": ["key", "mark", "from"], "offset": after.map(id_behind),
    });
    let body = body.to_string();
    let page: PointPage<RecordPayload> = corpus.call(
        (HttpMethod::Post, CollectionKind::Lookup, "/points/scroll"),
        body.as_bytes(),
        until,
    )?;
    let mark = |point: &QdrantPoint<RecordPayload>| {
        let key = key_of(&point.payload.key).ok_or_else(wrong)?;
        Ok((key, EntryMark(point.payload.mark)))
    };
    page.points.iter().map(mark).collect()
}
