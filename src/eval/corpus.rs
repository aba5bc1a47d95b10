//! Converts documents into events with dates, repositories and sessions, and writes them into a temporary
//! store. Not here: reading sets (`forms`), asking (`asker`).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Map, Value};

use super::EvalError;
use super::set_time;
use super::test_set::{SetDocument, TestSet};
use event::limits::LESSON_BYTES_MAX;
use event::{EventId, RepoKey, Timestamp, parse_timestamp};
use guard::text::{Layout, neutralise};
use settings::Config;
use store::{Durability, Store};
use writer::{BatchError, BatchOutcome, Identity, Moment, Writer, record_all};

/// The repository of documents without a group.
const NO_GROUP: &str = "eval";

/// The date of undated documents if no document has a date. The value does not matter, because all share it.
const UNDATED: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// Longest text of one event, encoded as JSON. A line may have 64 KiB, and everything except the text takes
/// some hundred bytes and a title.
const JSON_BYTES_MAX: usize = 44 * 1024;

/// A set that was written into a store.
#[derive(Debug)]
pub struct EvalCorpus {
    /// The index of the document of each event.
    pub documents: HashMap<String, usize>,
    /// The repository of each group.
    pub repos: BTreeMap<String, RepoKey>,
    /// The date of the newest document.
    pub newest: Timestamp,
    /// The number of documents that were longer than an event and were split.
    pub in_parts: usize,
}

/// Writes the documents of a set into the store at `root`.
///
/// # Errors
/// [`EvalError::Form`] names a document that the writer refuses; [`EvalError::Io`] names what could not be
/// written.
pub fn write(set: &TestSet, root: &Path) -> Result<EvalCorpus, EvalError> {
    let dates: Vec<Option<Timestamp>> = set.documents.iter().map(date).collect();
    let newest = dates.iter().flatten().max().copied().unwrap_or(UNDATED);
    let mut corpus =
        EvalCorpus { documents: HashMap::new(), repos: repos(set), newest, in_parts: 0 };
    let sittings = sittings(&set.documents);
    let mut events = Vec::new();
    let mut of_document = Vec::new();
    for (number, (document, (date, sitting))) in
        (0..).zip(set.documents.iter().zip(dates.into_iter().zip(sittings)))
    {
        let at = date.unwrap_or(newest);
        let drafts = corpus.drafts(document, number, at, sitting);
        of_document.extend(std::iter::repeat_n(number, drafts.len()));
        corpus.in_parts += usize::from(drafts.len() > 1);
        events.extend(drafts.into_iter().map(Value::Object));
    }
    record(&mut corpus, set, root, &Batch { events, of_document })?;
    Ok(corpus)
}

struct Batch {
    events: Vec<Value>,
    /// The index of the document of each event.
    of_document: Vec<usize>,
}

fn record(
    corpus: &mut EvalCorpus,
    set: &TestSet,
    root: &Path,
    batch: &Batch,
) -> Result<(), EvalError> {
    let source = Some("agent".to_owned());
    let writer = Writer {
        store: Store::at(root.join("logs")),
        config: Config::default(),
        directory: root.to_owned(),
        identity: Identity { agent_id: "eval".into(), source, ..Identity::default() },
    };
    let (mut random, now) = (0, corpus.newest);
    let moment = || {
        random += 1;
        Moment { now, random }
    };
    let text = Value::Array(batch.events.clone()).to_string();
    let outcomes = record_all(&writer, &text, Durability::Written, moment);
    for (outcome, number) in outcomes.into_iter().zip(&batch.of_document) {
        let id = written(outcome, set.documents.get(*number))?;
        corpus.documents.insert(id, *number);
    }
    Ok(())
}

/// Returns the id of a written event.
fn written(outcome: BatchOutcome, document: Option<&SetDocument>) -> Result<String, EvalError> {
    let place = document.map_or_else(String::new, |document| document.place.clone());
    match outcome.result {
        Ok(receipt) => Ok(receipt.id.as_str().to_owned()),
        Err(BatchError::Refused(problems)) => {
            let first = problems.iter().next();
            let field = first.map_or("event", |problem| problem.field.as_str());
            let message = first.map_or("is refused", |problem| problem.message.as_str());
            Err(EvalError::form(place, field, message))
        }
        Err(BatchError::Failed { message, .. }) => Err(EvalError::form(place, "event", message)),
    }
}

impl EvalCorpus {
    /// Makes the events of a document: one event, or one for each part of a text that is too long.
    fn drafts(
        &self,
        document: &SetDocument,
        number: usize,
        at: Timestamp,
        sitting: Option<Sitting>,
    ) -> Vec<Map<String, Value>> {
        let repo = self.repos.get(document.group.as_deref().unwrap_or(NO_GROUP));
        let repo = repo.map_or(NO_GROUP, RepoKey::as_str);
        if let Some(event) = &document.event {
            return vec![whole_event(event, repo, at)];
        }
        let text = neutralise(&document.text.replace("\r\n", "\n"), Layout::Block);
        let title = document.title.as_deref().map(|title| neutralise(title, Layout::Line));
        let title = title.filter(|title| !text.trim_start().starts_with(title.trim()));
        let parts = parts(text.trim());
        let is_one = parts.len() == 1;
        let session = sitting.as_ref().map(|sitting| format!("sitting-{}", sitting.number));
        let session = session.or_else(|| (!is_one).then(|| format!("document-{number}")));
        // Lines carry whole seconds, so consecutive documents are one second apart.
        let at = sitting.map_or(at, |sitting| later(at, sitting.place));
        let event = |(place, part): (u64, &str)| {
            let at = if is_one { at } else { later(at, place) };
            let low_bits = u128::try_from(number).unwrap_or(0) << 20 | u128::from(place);
            let mut event = Map::new();
            let mut put = |name: &str, value: &str| event.insert(name.to_owned(), value.into());
            put("id", EventId::mint(at, low_bits).as_str());
            put("timestamp", &at.to_string());
            put("repo", repo);
            put("event_type", "fact");
            put("context", title.as_deref().unwrap_or_default());
            put("lesson", part);
            if let Some(session) = &session {
                put("session_id", session);
            }
            event
        };
        (0..).zip(parts).map(event).collect()
    }
}

fn later(at: Timestamp, seconds: u64) -> Timestamp {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(at.as_second().saturating_add(seconds)).unwrap_or(at)
}

/// Converts a whole event of a set. Fields that only sets have are removed, and the writer validates the rest.
fn whole_event(given: &Map<String, Value>, repo: &str, at: Timestamp) -> Map<String, Value> {
    let mut event = given.clone();
    for field in ["group", "title", "text"] {
        event.shift_remove(field);
    }
    event.entry("repo").or_insert_with(|| repo.into());
    event.entry("event_type").or_insert_with(|| "fact".into());
    let stands = event.get("timestamp").and_then(Value::as_str).and_then(parse_timestamp);
    if stands.is_none() {
        event.insert("timestamp".to_owned(), at.to_string().into());
    }
    event
}

fn date(document: &SetDocument) -> Option<Timestamp> {
    set_time::parse_set_time(document.timestamp.as_deref()?)
}

/// Gives each group a distinct key, even if two names differ only in characters that keys ignore.
fn repos(set: &TestSet) -> BTreeMap<String, RepoKey> {
    let mut repos = BTreeMap::from([(NO_GROUP.to_owned(), RepoKey::from_line(NO_GROUP))]);
    let documents = set.documents.iter().filter_map(|document| document.group.as_ref());
    for group in documents.chain(set.queries.iter().filter_map(|query| query.group.as_ref())) {
        if !repos.contains_key(group) {
            let key = RepoKey::from_line(group);
            let is_taken = repos.values().any(|other| *other == key);
            let key = if is_taken { RepoKey::from_place(group, group) } else { key };
            repos.insert(group.clone(), key);
        }
    }
    repos
}

/// The position of a document in one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sitting {
    number: usize,
    place: u64,
}

/// Finds the documents of each session: neighbours in the file with the same group and the same time.
fn sittings(documents: &[SetDocument]) -> Vec<Option<Sitting>> {
    let mut sittings: Vec<Option<Sitting>> = Vec::with_capacity(documents.len());
    let mut number = 0;
    for run in documents.chunk_by(is_same_sitting) {
        let is_sitting = run.len() > 1;
        number += usize::from(is_sitting);
        let places = (0..).zip(run);
        sittings.extend(places.map(|(place, _)| is_sitting.then_some(Sitting { number, place })));
    }
    sittings
}

fn is_same_sitting(one: &SetDocument, other: &SetDocument) -> bool {
    let (Some(when), None, None) = (&one.timestamp, &one.event, &other.event) else { return false };
    set_time::has_time_of_day(when)
        && other.timestamp.as_ref() == Some(when)
        && one.group == other.group
}

/// Splits a text that is too long for one event, at line breaks if there are any.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let end = fitting(rest);
        let Some((part, after)) = rest.split_at_checked(end).filter(|(_, after)| !after.is_empty())
        else {
            parts.push(rest);
            return parts;
        };
        let line_end = part.rfind('\n').filter(|place| *place > end / 2);
        let (part, after) =
            line_end.and_then(|place| rest.split_at_checked(place)).unwrap_or((part, after));
        parts.push(part);
        rest = after.trim_start();
    }
}

/// Returns how many bytes of a text fit into an event.
fn fitting(text: &str) -> usize {
    let mut json_bytes = 0;
    for (place, c) in text.char_indices() {
        json_bytes += match c {
            '"' | '\\' | '\n' | '\t' => 2,
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => 6,
            c => c.len_utf8(),
        };
        if place + c.len_utf8() > LESSON_BYTES_MAX || json_bytes > JSON_BYTES_MAX {
            return place;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
