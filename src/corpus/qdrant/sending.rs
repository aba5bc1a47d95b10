//! Sends points and changes of them, and waits until they are done. Not here: which ones (`committing`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::point_forms::shape;
use super::rest_client::{CollectionKind, HttpMethod, QdrantCorpus};
use super::visible_state::{BatchState, TermCount};
use crate::contract::Deadline;
use crate::corpus_error::CorpusError;

/// Bytes of points that are sent together. The server takes 32 MiB.
const SENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Where changes of points are sent. The answer waits until the change is applied, and all writes go through one leader of each shard in
/// their order: Qdrant promises an order only among writes that ask for it, and may otherwise apply a later one first.
const CHANGES: &str = "/points/batch?wait=true&ordering=strong";
/// The same for points.
const POINTS: &str = "/points?wait=true&ordering=strong";

/// A point without vectors.
#[derive(Serialize)]
pub(super) struct PayloadPoint<T> {
    id: String,
    vector: BTreeMap<String, Value>,
    payload: T,
}

impl<T> PayloadPoint<T> {
    pub(super) fn new(id: String, payload: T) -> Self {
        Self { id, vector: BTreeMap::new(), payload }
    }
}

/// The payload of the state.
#[derive(Serialize)]
pub(super) struct StatePayload {
    pub(super) state: BatchState,
}

/// A term, and its first letter and length.
#[derive(Serialize, Deserialize)]
pub(super) struct TermPayload {
    pub(super) term: Box<str>,
    shape: String,
    pub(super) count: TermCount,
}

impl TermPayload {
    pub(super) fn new(term: &str, count: TermCount) -> Self {
        let first = term.chars().next().unwrap_or_default();
        Self { term: term.into(), shape: shape(first, term.len()), count }
    }
}

/// How far a change is. What is only acknowledged may still be refused, so it is not done.
#[derive(Debug, Deserialize)]
pub(super) struct UpdateStatus {
    status: String,
}

impl UpdateStatus {
    /// Refuses what is not done.
    pub(super) fn check(&self) -> Result<(), CorpusError> {
        if self.status == "completed" { Ok(()) } else { Err(CorpusError::Late) }
    }
}

/// Sends points, some megabytes at a time.
pub(super) fn upsert<T: Serialize>(
    corpus: &QdrantCorpus,
    of: CollectionKind,
    points: impl IntoIterator<Item = T>,
    until: Deadline,
) -> Result<(), CorpusError> {
    const BEGIN: &[u8] = b"{\"points\":[";
    let send = |body: &mut Vec<u8>| -> Result<(), CorpusError> {
        // In the place of the last comma.
        if body.pop() == Some(b',') {
            body.extend(b"]}");
            let done: UpdateStatus = corpus.call((HttpMethod::Put, of, POINTS), body, until)?;
            done.check()?;
        }
        body.clear();
        body.extend(BEGIN);
        Ok(())
    };
    let mut body = BEGIN.to_vec();
    for point in points {
        let point =
            serde_json::to_vec(&point).map_err(|_| CorpusError::Unsupported("hold a memory"))?;
        // With a comma and the end.
        if body.len() + point.len() + 3 > SENT_BYTES_MAX {
            send(&mut body)?;
        }
        body.extend(&point);
        body.push(b',');
    }
    send(&mut body)
}

/// Changes points in the order of the operations.
pub(super) fn change(
    corpus: &QdrantCorpus,
    of: CollectionKind,
    operations: &[Value],
    until: Deadline,
) -> Result<(), CorpusError> {
    let body = json!({"operations": operations}).to_string();
    let done: Vec<UpdateStatus> =
        corpus.call((HttpMethod::Post, of, CHANGES), body.as_bytes(), until)?;
    done.iter().try_for_each(UpdateStatus::check)
}
