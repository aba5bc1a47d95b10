//! Calls of a server: within a deadline, never redirected, and answers of at most a bound. Not here: what is asked.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::config::Config;
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Error};

use super::server_address::QdrantAddress;
use crate::contract::Deadline;
use crate::trouble::Trouble;

/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// How long a connection is kept for the next call: shorter than the five seconds after which the server closes it.
const IDLE_MAX: Duration = Duration::from_secs(3);
/// Connections that are kept.
const KEPT_MAX: usize = 4;
/// The longest answer: the records of four hundred memories, of which the longest take some tens of kilobytes.
const ANSWER_MIB_MAX: u64 = 64;

/// An engine in Qdrant.
pub struct QdrantCorpus {
    agent: Agent,
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
pub(super) enum Verb {
    Get,
    Put,
    Post,
}

/// A collection of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// What searches look through.
    Search,
    /// What is looked up: records, document frequencies and the state.
    Kept,
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
        // A proxy that opens TLS is known to the system alone.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let mut config = Config::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .https_only(!address.is_loopback)
            .timeout_connect(Some(CONNECT_MAX))
            .max_idle_age(IDLE_MAX)
            .max_idle_connections_per_host(KEPT_MAX)
            .tls_config(tls)
            .user_agent("agent-knowledge");
        if address.is_loopback {
            // What is meant for this machine goes through nobody else.
            config = config.proxy(None);
        }
        let agent = config.build().new_agent();
        Self { agent, address, epoch: AtomicU64::new(0), is_tidy: AtomicBool::new(false) }
    }

    /// Calls a collection and returns the result.
    pub(super) fn call<T: DeserializeOwned>(
        &self,
        (verb, of, path): (Verb, Of, &str),
        body: &[u8],
        until: Deadline,
    ) -> Result<T, Trouble> {
        let beside = match of {
            Of::Search => "",
            Of::Kept => "-kept",
        };
        let QdrantAddress { root, collection, .. } = &self.address;
        self.call_url(verb, &format!("{root}/collections/{collection}{beside}{path}"), body, until)
            .and_then(|bytes| {
                let answer: Result<ServerAnswer<T>, _> = serde_json::from_slice(&bytes);
                answer.map(|answer| answer.result).map_err(|_| wrong())
            })
    }

    /// Returns what the server says of itself.
    pub(super) fn banner(&self, until: Deadline) -> Result<Vec<u8>, Trouble> {
        self.call_url(Verb::Get, &format!("{}/", self.address.root), &[], until)
    }

    fn call_url(
        &self,
        verb: Verb,
        url: &str,
        body: &[u8],
        until: Deadline,
    ) -> Result<Vec<u8>, Trouble> {
        until.check()?;
        let left = Some(until.left());
        let key = self.address.key.as_deref().map(|key| ("api-key", key));
        let json = ("content-type", "application/json");
        let sent = match verb {
            Verb::Get => {
                let request = self.agent.get(url).config().timeout_global(left).build();
                key.into_iter()
                    .fold(request, |request, (name, value)| request.header(name, value))
                    .call()
            }
            Verb::Put | Verb::Post => {
                let request =
                    if verb == Verb::Put { self.agent.put(url) } else { self.agent.post(url) };
                let request = request.config().timeout_global(left).build();
                let headers = std::iter::once(json).chain(key);
                headers
                    .fold(request, |request, (name, value)| request.header(name, value))
                    .send(body)
            }
        };
        let mut answer: Response<Body> = sent.map_err(|error| trouble(&error))?;
        if answer.status() != StatusCode::OK {
            // The server's own words would stand in a reply to an agent.
            let code = answer.status().as_u16();
            return Err(Trouble::Unreachable(format!("it refuses with status {code}")));
        }
        let limited = answer.body_mut().with_config().limit(ANSWER_MIB_MAX * 1024 * 1024);
        limited.read_to_vec().map_err(|error| trouble(&error))
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

fn trouble(error: &Error) -> Trouble {
    match error {
        Error::Timeout(_) => Trouble::Late,
        Error::BodyExceedsLimit(_) => Trouble::Wrong("more than can be".to_owned()),
        Error::Io(error) => Trouble::Unreachable(error.kind().to_string()),
        other => Trouble::Unreachable(other.to_string()),
    }
}

/// What is told where an answer has another form than it must.
pub(super) fn wrong() -> Trouble {
    Trouble::Wrong("it does not speak as Qdrant does".to_owned())
}
