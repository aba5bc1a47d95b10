//! What a balancer asks a replica: whether it is caught up with its team, and in which state. It needs no token, so it tells
//! nothing else. Not here: finding that out (`retriever::replica`), the answers to clients (`service`).

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// The path of it.
pub const HEALTH_PATH: &str = "/health";

/// What keeps a replica from answering like the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lag {
    /// The remote has not answered for too long.
    Remote,
    /// Lines of others wait: a day or an exchange takes no more.
    Held,
    /// Own lines are not at the remote yet.
    Unpublished,
    /// The store holds own lines that never leave.
    OwnLines,
    /// Logs are being read, or cannot be read.
    Reading,
    /// Memories have no vector yet.
    Embedding,
}

impl Lag {
    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Held => "held",
            Self::Unpublished => "unpublished",
            Self::OwnLines => "own_lines",
            Self::Reading => "reading",
            Self::Embedding => "embedding",
        }
    }
}

/// A replica at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaState {
    /// The digest of what it knows. `None` before it is known.
    pub digest: Option<String>,
    /// The digest of the settings and the model that answers depend on.
    pub settings: String,
    /// How many memories it knows.
    pub memories: usize,
    /// When the remote answered last.
    pub reached_at: Option<Instant>,
    /// What keeps it from answering like the others, but for the remote.
    pub lags: Vec<Lag>,
}

/// What is known of a replica, for whoever asks.
#[derive(Debug)]
pub struct ReplicaHealth {
    state: Mutex<ReplicaState>,
    /// How long after the last answer of the remote it still counts as caught up.
    patience: Duration,
}

impl ReplicaHealth {
    /// Begins with this state.
    #[must_use]
    pub fn new(state: ReplicaState, patience: Duration) -> Self {
        Self { state: Mutex::new(state), patience }
    }

    /// Notes how it stands now.
    pub fn set_state(&self, state: ReplicaState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Notes what keeps it from answering like the others, while the remote is away.
    pub fn set_lags(&self, lags: Vec<Lag>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).lags = lags;
    }

    /// Answers a balancer.
    pub fn answer(&self) -> Response<Full<Bytes>> {
        let (status, told) = self.health(Instant::now());
        let mut answer = Response::new(Full::new(Bytes::from(format!("{told}\n"))));
        *answer.status_mut() = status;
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }

    /// Tells a balancer whether to send clients here.
    #[must_use]
    pub fn health(&self, now: Instant) -> (StatusCode, Value) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let age = state.reached_at.map(|at| now.saturating_duration_since(at));
        let mut lags = state.lags;
        if age.is_none_or(|age| age > self.patience) {
            lags.insert(0, Lag::Remote);
        }
        let is_ready = lags.is_empty() && state.digest.is_some();
        let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let why: Vec<&str> = lags.into_iter().map(Lag::as_str).collect();
        let told = json!({
            "status": if is_ready { "ready" } else { "behind" }, "why": why,
            "digest": state.digest, "settings": state.settings, "memories": state.memories,
            "reached_s": age.map(|age| age.as_secs()),
        });
        (status, told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-REPLICA-4
    #[test]
    fn a_replica_is_behind_without_its_remote() {
        let start = Instant::now();
        let state = ReplicaState {
            digest: Some("sha256:0".to_owned()),
            settings: "sha256:1".to_owned(),
            memories: 3,
            reached_at: None,
            lags: Vec::new(),
        };
        let health = ReplicaHealth::new(state.clone(), Duration::from_secs(10));
        assert_eq!(health.health(start).1["why"], json!(["remote"]), "never reached");
        health.set_state(ReplicaState { reached_at: Some(start), ..state.clone() });
        let at = |seconds| health.health(start + Duration::from_secs(seconds));
        assert_eq!((at(10).0, &at(10).1["status"]), (StatusCode::OK, &json!("ready")));
        assert_eq!(at(11).0, StatusCode::SERVICE_UNAVAILABLE);
        let lags = vec![Lag::Embedding];
        health.set_state(ReplicaState { reached_at: Some(start), lags, ..state });
        assert_eq!(at(0).1["why"], json!(["embedding"]));
    }
}
