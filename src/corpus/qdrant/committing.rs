//! Puts memories into the collections and takes them out. Everything that a batch writes counts at once, when the state has its number:
//! a batch that is broken off counts not at all. There may be one writer. Not here: reading, what is sent (`sending`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::point_forms::{EpochSpan, RecordPayload, VersionPlace, passages, point_id, term_id};
use super::rest_client::{CollectionKind, HttpMethod, QdrantCorpus, wrong};
use super::searching::PointPage;
use super::sending::{PayloadPoint, StatePayload, TermPayload, change, upsert};
use super::visible_state::{BatchState, STATE, TermCount, look_up_points, state_with};
use crate::contract::Deadline;
use crate::corpus_entry::CorpusEntry;
use crate::corpus_error::CorpusError;
use crate::counting::CountChange;
use crate::memory_key::MemoryKey;
use crate::memory_record::passages_in;

/// How long a batch may take. A thousand memories take a second.
const WRITING: Duration = Duration::from_secs(120);
/// Terms that are put right together.
const RIGHTED_MAX: usize = 5_000;

/// Waits until the server has applied what it had accepted, so that the state is read after the last write of an earlier batch that
/// nobody waited for to the end. A filter reaches every shard; this one finds nothing.
fn wait_for_earlier(corpus: &QdrantCorpus, until: Deadline) -> Result<(), CorpusError> {
    let nothing = json!({"must": [{"key": "from", "range": {"lt": 0}}]});
    change(corpus, CollectionKind::Lookup, &[json!({"delete": {"filter": nothing}})], until)
}

/// Takes away what no longer counts and what never did.
fn tidy(corpus: &QdrantCorpus, state: BatchState, until: Deadline) -> Result<(), CorpusError> {
    let when = |key: &str, range: Value| json!({"must": [{"key": key, "range": range}]});
    let replaced = json!({"delete": {"filter": when("until", json!({"lte": state.epoch}))}});
    let mut operations = vec![replaced];
    let was_tidy = corpus.is_tidy.swap(false, Ordering::Relaxed);
    if !was_tidy {
        let unfinished = when("from", json!({"gt": state.epoch}));
        operations.push(json!({"delete": {"filter": unfinished}}));
        let spared = when("until", json!({"gt": state.epoch}));
        operations.push(json!({"delete_payload": {"keys": ["until"], "filter": spared}}));
    }
    change(corpus, CollectionKind::Search, &operations, until)?;
    change(corpus, CollectionKind::Lookup, &operations, until)?;
    if was_tidy { Ok(()) } else { right_terms(corpus, state, until) }
}

/// Gives the terms that an unfinished batch counted the numbers that they had.
fn right_terms(
    corpus: &QdrantCorpus,
    state: BatchState,
    until: Deadline,
) -> Result<(), CorpusError> {
    let filter = json!({"must": [{"key": "count.since", "range": {"gt": state.epoch}}]});
    let body = json!({"filter": filter, "limit": RIGHTED_MAX, "with_payload": true}).to_string();
    loop {
        let page: PointPage<TermPayload> = corpus.call(
            (HttpMethod::Post, CollectionKind::Lookup, "/points/scroll"),
            body.as_bytes(),
            until,
        )?;
        if page.points.is_empty() {
            return Ok(());
        }
        let righted = page.points.into_iter().map(|point| {
            let TermPayload { term, count: TermCount { was, .. }, .. } = point.payload;
            let count = TermCount { now: was, since: state.epoch, was };
            PayloadPoint::new(point.id, TermPayload::new(&term, count))
        });
        upsert(corpus, CollectionKind::Lookup, righted, until)?;
    }
}

/// A memory that is there.
struct HeldVersion {
    place: VersionPlace,
    mark: i64,
}

fn held(
    corpus: &QdrantCorpus,
    keys: impl Iterator<Item = MemoryKey>,
    state: BatchState,
    until: Deadline,
) -> Result<BTreeMap<MemoryKey, HeldVersion>, CorpusError> {
    let all: BTreeMap<String, (MemoryKey, VersionPlace)> = keys
        .flat_map(|key| VersionPlace::BOTH.map(|place| (point_id(key, place, 0), (key, place))))
        .collect();
    let ids: Vec<String> = all.keys().cloned().collect();
    let fields = ["key", "mark", "from", "until"];
    let points = look_up_points::<RecordPayload>(corpus, &ids, &fields, until)?;
    let held = points.into_iter().filter(|point| point.payload.span.holds_at(state.epoch));
    let held = held.map(|point| {
        let (key, place) = all.get(&point.id).copied().ok_or_else(wrong)?;
        Ok((key, HeldVersion { place, mark: point.payload.mark }))
    });
    held.collect()
}

/// A batch on its way.
struct Batch<'corpus> {
    corpus: &'corpus QdrantCorpus,
    state: BatchState,
    until: Deadline,
    change: CountChange,
}

impl<'corpus> Batch<'corpus> {
    fn begin(corpus: &'corpus QdrantCorpus) -> Result<Self, CorpusError> {
        let until = Deadline::within(WRITING);
        wait_for_earlier(corpus, until)?;
        let (state, _) = state_with(corpus, &[], until)?;
        tidy(corpus, state, until)?;
        Ok(Self { corpus, state, until, change: CountChange::default() })
    }

    /// Returns the number of the batch.
    fn epoch(&self) -> u64 {
        self.state.epoch + 1
    }

    /// Says of memories until when they count, and takes them out of the numbers.
    fn end(&mut self, ended: &[(MemoryKey, VersionPlace)]) -> Result<(), CorpusError> {
        if ended.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = ended.iter().map(|(key, place)| point_id(*key, *place, 0)).collect();
        let places: BTreeMap<&String, &(MemoryKey, VersionPlace)> = ids.iter().zip(ended).collect();
        let fields = ["key", "mark", "record", "from", "until"];
        let records = look_up_points::<RecordPayload>(self.corpus, &ids, &fields, self.until)?;
        let mut points = Vec::new();
        for record in &records {
            let counted = record.payload.bytes().and_then(|bytes| passages_in(&bytes));
            let counted =
                counted.ok_or_else(|| CorpusError::Wrong("a record is damaged".to_owned()))?;
            self.change.count(&counted, -1);
            let (key, place) = places.get(&record.id).copied().ok_or_else(wrong)?;
            points.extend((0..counted.len().max(1)).map(|part| point_id(*key, *place, part)));
        }
        if records.len() != ids.len() {
            return Err(CorpusError::Wrong("a record is missing".to_owned()));
        }
        let until = json!({"until": self.epoch()});
        for (of, points) in [(CollectionKind::Search, points), (CollectionKind::Lookup, ids)] {
            let set = json!({"set_payload": {"payload": until, "points": points}});
            change(self.corpus, of, &[set], self.until)?;
        }
        Ok(())
    }

    /// Adds memories, each where there is room for it.
    fn begin_with(&mut self, new: &[(&CorpusEntry, VersionPlace)]) -> Result<(), CorpusError> {
        new.iter().for_each(|(entry, _)| self.change.count(&entry.passages, 1));
        let (corpus, epoch, until) = (self.corpus, self.epoch(), self.until);
        let found_by = new.iter().flat_map(|(entry, place)| passages(entry, *place, epoch));
        upsert(corpus, CollectionKind::Search, found_by, until)?;
        let records = new.iter().map(|(entry, place)| {
            let payload = RecordPayload::from_entry(entry, EpochSpan::from(epoch));
            PayloadPoint::new(point_id(entry.key, *place, 0), payload)
        });
        upsert(corpus, CollectionKind::Lookup, records, until)
    }

    /// Writes the numbers, and then that the batch counts.
    fn commit(self, weighed_with: Option<f32>) -> Result<(), CorpusError> {
        let Self { corpus, mut state, until, change } = self;
        let changed = change.terms.iter().filter(|(_, by)| **by != 0);
        let changed: Vec<(&str, i64)> = changed.map(|(term, by)| (&**term, *by)).collect();
        let terms: Vec<&str> = changed.iter().map(|(term, _)| *term).collect();
        let (_, counts) = state_with(corpus, &terms, until)?;
        let (before, since) = (state.epoch, state.epoch + 1);
        let counted = changed.iter().zip(&counts).map(|((term, by), count)| {
            let was = count.at(before);
            (*term, TermCount { now: was + by, since, was })
        });
        let counted: Vec<(&str, TermCount)> = counted.collect();
        let points = counted
            .iter()
            .map(|(term, count)| PayloadPoint::new(term_id(term), TermPayload::new(term, *count)));
        upsert(corpus, CollectionKind::Lookup, points, until)?;
        state.epoch = since;
        state.passages += change.passages;
        state.documents += change.documents;
        state.lengths += change.lengths;
        state.reply_lengths += change.reply_lengths;
        state.weighed_with = match weighed_with {
            _ if state.documents == 0 => 0,
            Some(average) => average.to_bits(),
            None => state.weighed_with,
        };
        upsert(
            corpus,
            CollectionKind::Lookup,
            [PayloadPoint::new(STATE.to_owned(), StatePayload { state })],
            until,
        )?;
        corpus.remember_epoch(since);
        corpus.is_tidy.store(true, Ordering::Relaxed);
        let unheld = counted.iter().filter(|(_, count)| count.now <= 0);
        let unheld: Vec<String> = unheld.map(|(term, _)| term_id(term)).collect();
        if !unheld.is_empty() {
            // One that stays counts nothing.
            let _ = self::change(
                corpus,
                CollectionKind::Lookup,
                &[json!({"delete": {"points": unheld}})],
                until,
            );
        }
        Ok(())
    }
}

pub(super) fn put_entries(
    corpus: &QdrantCorpus,
    entries: &BTreeMap<MemoryKey, &CorpusEntry>,
) -> Result<(), CorpusError> {
    let mut batch = Batch::begin(corpus)?;
    let held = held(corpus, entries.keys().copied(), batch.state, batch.until)?;
    let is_new =
        |entry: &&CorpusEntry| held.get(&entry.key).is_none_or(|held| held.mark != entry.mark.0);
    let new = entries.values().copied().filter(is_new).map(|entry| {
        let place = held.get(&entry.key).map_or(VersionPlace::First, |held| held.place.other());
        (entry, place)
    });
    let new: Vec<(&CorpusEntry, VersionPlace)> = new.collect();
    let Some((last, _)) = new.last() else { return settled(corpus) };
    let weighed_with = last.weighed_with;
    let replaced =
        new.iter().filter_map(|(entry, _)| Some((entry.key, held.get(&entry.key)?.place)));
    let replaced: Vec<(MemoryKey, VersionPlace)> = replaced.collect();
    batch.end(&replaced)?;
    batch.begin_with(&new)?;
    batch.commit(Some(weighed_with))
}

pub(super) fn delete_entries(corpus: &QdrantCorpus, keys: &[MemoryKey]) -> Result<(), CorpusError> {
    let mut batch = Batch::begin(corpus)?;
    let keys: BTreeSet<MemoryKey> = keys.iter().copied().collect();
    let held = held(corpus, keys.into_iter(), batch.state, batch.until)?;
    let gone: Vec<(MemoryKey, VersionPlace)> =
        held.iter().map(|(key, held)| (*key, held.place)).collect();
    if gone.is_empty() {
        return settled(corpus);
    }
    batch.end(&gone)?;
    batch.commit(None)
}

/// Nothing was written, so nothing is unfinished.
fn settled(corpus: &QdrantCorpus) -> Result<(), CorpusError> {
    corpus.is_tidy.store(true, Ordering::Relaxed);
    Ok(())
}
