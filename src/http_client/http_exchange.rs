//! One request and its answer: within a deadline, never redirected, never longer than a bound, over connections that are used again.
//! Not here: where a request may go (`server_url`), whether it is sent again.

use std::io;
use std::time::{Duration, Instant};

use ureq::config::Config;
use ureq::http::{Method, Request, Response};
use ureq::{Agent, AsSendBody, Body, Error};

use crate::server_url::ServerUrl;
use crate::tls_trust::TlsTrust;

/// Connections that are kept for the next request.
const IDLE_CONNECTIONS_MAX: usize = 4;

/// Bytes of an answer without success that are read: a server says in a line what is wrong.
const REFUSAL_BYTES_MAX: u64 = 64 * 1024;

/// The longest `retry-after` that is told, in seconds: a day is longer than any wait.
const RETRY_AFTER_MAX: f64 = 86_400.0;

const JSON: &str = "application/json";

/// How a server takes its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// `x-goog-api-key: KEY`.
    Google,
    /// `api-key: KEY`.
    Qdrant,
}

impl KeyHeader {
    fn with(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Bearer => ("authorization", format!("Bearer {key}")),
            Self::Google => ("x-goog-api-key", key.to_owned()),
            Self::Qdrant => ("api-key", key.to_owned()),
        }
    }
}

/// A server, and what is needed to ask it.
#[derive(Clone)]
pub struct ServerAccess {
    /// Where it is.
    pub url: ServerUrl,
    /// What it knows us by, and how it is sent.
    pub key: Option<(KeyHeader, String)>,
    /// Which TLS it must speak.
    pub trust: TlsTrust,
    /// How long a connection may take.
    pub connect_max: Duration,
    /// How long a connection is kept for the next request: shorter than the time after which the server closes it.
    pub idle_max: Duration,
}

/// Sends requests to one server. Copies share connections.
#[derive(Clone)]
pub struct HttpClient {
    agent: Agent,
    access: ServerAccess,
}

/// What is sent, and what it may cost.
#[derive(Debug, Clone)]
pub struct HttpRequest<'a> {
    /// The method.
    pub method: Method,
    /// What stands behind the address of the server.
    pub path: &'a str,
    /// Headers beside those of every request. `accept` stands in the place of JSON.
    pub headers: &'a [(&'a str, &'a str)],
    /// JSON, if there is a body.
    pub body: Option<&'a [u8]>,
    /// When the whole answer must be there.
    pub until: Instant,
    /// The longest answer.
    pub answer_bytes_max: u64,
}

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body, where the server names it.
    pub content_type: Option<String>,
    /// After how many seconds to ask again, where the server says so.
    pub retry_after_seconds: Option<u64>,
    /// The body. Without success it is left out where it is long, and that of a redirect always.
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// Tells whether the status is 200 to 299.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Why there is no answer. Says nothing of the key.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No connection came about in time.
    #[error("no connection in time")]
    NoConnection,
    /// No whole answer came in time.
    #[error("no answer in time")]
    TimedOut,
    /// The answer is longer than its bound.
    #[error("the answer is too long")]
    TooLong,
    /// The connection failed.
    #[error("io: {0}")]
    Connection(io::Error),
    /// Anything else: a host that nobody knows, a certificate that nobody believes, an answer that is no HTTP.
    #[error("{0}")]
    Other(String),
}

impl From<Error> for HttpError {
    fn from(error: Error) -> Self {
        match error {
            Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Self::NoConnection,
            Error::Timeout(_) => Self::TimedOut,
            Error::BodyExceedsLimit(_) => Self::TooLong,
            Error::Io(error) => Self::Connection(error),
            other => Self::Other(other.to_string()),
        }
    }
}

impl HttpClient {
    /// Prepares to ask a server; nothing is sent yet.
    #[must_use]
    pub fn new(access: ServerAccess) -> Self {
        let url = &access.url;
        let mut config = Config::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .https_only(url.is_encrypted())
            .timeout_connect(Some(access.connect_max))
            .max_idle_age(access.idle_max)
            .max_idle_connections_per_host(IDLE_CONNECTIONS_MAX)
            .tls_config(access.trust.config())
            .user_agent("agent-knowledge");
        if url.is_loopback() || !url.is_encrypted() {
            // What is meant for this machine, or could be read on the way, goes through nobody else.
            config = config.proxy(None);
        }
        Self { agent: config.build().new_agent(), access }
    }

    /// Returns the host and port of the server, for messages.
    #[must_use]
    pub fn authority(&self) -> &str {
        self.access.url.authority()
    }

    /// Returns the key of the server, which some servers repeat and nobody may be shown.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.access.key.as_ref().map(|(_, key)| key.as_str())
    }

    /// Sends a request once and reads its answer, whatever its status.
    ///
    /// # Errors
    /// [`HttpError`].
    pub fn send(&self, request: &HttpRequest<'_>) -> Result<HttpAnswer, HttpError> {
        let left = request.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(HttpError::TimedOut);
        }
        let mut head = Request::builder()
            .method(request.method.clone())
            .uri(self.access.url.join(request.path));
        if !request.headers.iter().any(|(name, _)| *name == "accept") {
            head = head.header("accept", JSON);
        }
        for (name, value) in request.headers {
            head = head.header(*name, *value);
        }
        if let Some((header, key)) = &self.access.key {
            let (name, value) = header.with(key);
            head = head.header(name, value);
        }
        let (mut nothing, mut bytes) = ((), request.body.unwrap_or_default());
        let body = match request.body {
            None => nothing.as_body(),
            Some(_) => {
                head = head.header("content-type", JSON);
                bytes.as_body()
            }
        };
        let sent = head.body(body).map_err(|error| HttpError::Other(error.to_string()))?;
        let sent = self.agent.configure_request(sent).timeout_global(Some(left)).build();
        let mut answer = self.agent.run(sent)?;
        let (status, retry_after_seconds) = (answer.status(), retry_after(&answer));
        let content_type = header(&answer, "content-type").map(str::to_owned);
        let body = match status.as_u16() {
            200..=299 => read_body(&mut answer, request.answer_bytes_max)?,
            300..=399 => Vec::new(),
            // The status says enough.
            _ => read_body(&mut answer, REFUSAL_BYTES_MAX).unwrap_or_default(),
        };
        Ok(HttpAnswer { status: status.as_u16(), content_type, retry_after_seconds, body })
    }
}

fn read_body(answer: &mut Response<Body>, bytes_max: u64) -> Result<Vec<u8>, Error> {
    // The limit itself is already too much for it.
    answer.body_mut().with_config().limit(bytes_max.saturating_add(1)).read_to_vec()
}

fn header<'a>(answer: &'a Response<Body>, name: &str) -> Option<&'a str> {
    answer.headers().get(name)?.to_str().ok()
}

fn retry_after(answer: &Response<Body>) -> Option<u64> {
    let seconds: f64 = header(answer, "retry-after")?.trim().parse().ok()?;
    let is_time = seconds.is_finite() && seconds >= 0.0;
    // The bound is far below what a u64 holds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    is_time.then(|| seconds.min(RETRY_AFTER_MAX).ceil() as u64)
}
