//! Calls of a server: within a deadline, and answers of at most a bound. Not here: what is asked, sending (`http_client`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http_client::{HttpClient, HttpError, HttpRequest, KeyHeader, Method, ServerAccess, TlsTrust};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::server_address::QdrantAddress;
use crate::contract::Deadline;
use crate::corpus_error::CorpusError;

/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// How long a connection is kept for the next call: shorter than the five seconds after which the server closes it.
const IDLE_MAX: Duration = Duration::from_secs(3);
/// The longest answer: the records of four hundred memories, of which the longest take some tens of kilobytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The status of an answer.
const OK: u16 = 200;

/// An engine in Qdrant.
pub struct QdrantCorpus {
    client: HttpClient,
    address: QdrantAddress,
    /// The batch up to which everything counts, plus one; 0 before it is known.
    epoch: AtomicU64,
    /// Whether the last batch of ours was counted, so that nothing unfinished lies there.
    pub(super) is_tidy: AtomicBool,
}

impl std::fmt::Debug for QdrantCorpus {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("QdrantCorpus").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HttpMethod {
    Get,
    Put,
    Post,
}

/// A collection of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectionKind {
    /// What searches look through.
    Search,
    /// What is looked up: records, document frequencies and the state.
    Lookup,
}

/// An answer. What else is in it (times, use) is not read.
#[derive(Deserialize)]
struct ServerAnswer<T> {
    result: T,
}

impl QdrantCorpus {
    /// Makes an engine of a server, which is not asked yet.
    #[must_use]
    pub fn at(address: QdrantAddress) -> Self {
        let key = address.key.clone().map(|key| (KeyHeader::Qdrant, key));
        let client = HttpClient::new(ServerAccess {
            url: address.root.clone(),
            key,
            trust: TlsTrust::System,
            connect_max: CONNECT_MAX,
            idle_max: IDLE_MAX,
        });
        Self { client, address, epoch: AtomicU64::new(0), is_tidy: AtomicBool::new(false) }
    }

    /// Calls a collection and returns the result.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        (verb, of, path): (HttpMethod, CollectionKind, &str),
        body: &[u8],
        until: Deadline,
    ) -> Result<T, CorpusError> {
        let beside = match of {
            CollectionKind::Search => "",
            CollectionKind::Lookup => "-kept",
        };
        let path = format!("/collections/{}{beside}{path}", self.address.collection);
        let bytes = self.call_path(verb, &path, body, until)?;
        let answer: Result<ServerAnswer<T>, _> = serde_json::from_slice(&bytes);
        answer.map(|answer| answer.result).map_err(|_| wrong())
    }

    /// Returns what the server says of itself.
    pub(super) fn banner(&self, until: Deadline) -> Result<Vec<u8>, CorpusError> {
        self.call_path(HttpMethod::Get, "/", &[], until)
    }

    fn call_path(
        &self,
        verb: HttpMethod,
        path: &str,
        body: &[u8],
        until: Deadline,
    ) -> Result<Vec<u8>, CorpusError> {
        until.check()?;
        let (method, body) = match verb {
            HttpMethod::Get => (Method::GET, None),
            HttpMethod::Put => (Method::PUT, Some(body)),
            HttpMethod::Post => (Method::POST, Some(body)),
        };
        let answer = self.client.send(&HttpRequest {
            method,
            path,
            headers: &[],
            body,
            until: Instant::now() + until.time_left(),
            answer_bytes_max: ANSWER_BYTES_MAX,
        });
        let answer = answer.map_err(trouble)?;
        if answer.status != OK {
            // The server's own words would stand in a reply to an agent.
            return Err(CorpusError::Unreachable(format!(
                "it refuses with status {}",
                answer.status
            )));
        }
        Ok(answer.body)
    }

    /// Returns the batch up to which everything counts, as far as it is known.
    pub(super) fn known_epoch(&self) -> Option<u64> {
        self.epoch.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Remembers up to which batch everything counts.
    pub(super) fn remember_epoch(&self, epoch: u64) {
        self.epoch.store(epoch.saturating_add(1), Ordering::Relaxed);
    }
}

fn trouble(error: HttpError) -> CorpusError {
    match error {
        HttpError::NoConnection | HttpError::TimedOut => CorpusError::Late,
        HttpError::TooLong => CorpusError::Wrong("more than can be".to_owned()),
        HttpError::Connection(error) => CorpusError::Unreachable(error.kind().to_string()),
        HttpError::Other(why) => CorpusError::Unreachable(why),
    }
}

/// What is told where an answer has another form than it must.
pub(super) fn wrong() -> CorpusError {
    CorpusError::Wrong("it does not speak as Qdrant does".to_owned())
}
