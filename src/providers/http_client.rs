//! One JSON request to a provider and its answer: within a deadline, tried again where that helps, never redirected, and never
//! longer than a bound. Not here: what is asked (`vector_forms`).

use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::config::Config;
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Error};

use crate::provider_error::{ANSWER_MIB_MAX, ProviderError};
use crate::provider_url::ProviderUrl;
use crate::said;

/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// Bytes of an error's answer that are read.
const ERROR_BYTES_MAX: u64 = 64 * 1024;

/// How often a request is sent again after "too many requests", and the longest pause before it.
const BUSY_RETRIES: u32 = 3;
const BUSY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// The pause where the provider names none.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// How often a request is sent again after a failure of the provider, and the pause before it.
const BROKEN_RETRIES: u32 = 1;
const BROKEN_PAUSE: Duration = Duration::from_millis(250);

/// How a provider takes its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `x-goog-api-key: KEY`.
    Google,
}

/// Sends requests to one provider. Copies share connections.
#[derive(Clone)]
pub(crate) struct HttpClient {
    agent: Agent,
    url: ProviderUrl,
    key: Option<String>,
    key_header: KeyHeader,
}

/// What a request may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLimits {
    /// The longest answer.
    pub(crate) answer_mib_max: u64,
    /// When it is sent again.
    pub(crate) again: SentAgain,
}

/// When a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentAgain {
    /// As often as helps.
    Patiently,
    /// Once, and only where the provider says when.
    WhenTold,
}

impl RequestLimits {
    /// For requests that work in the background waits for.
    pub(crate) const PATIENT: Self =
        Self { answer_mib_max: ANSWER_MIB_MAX, again: SentAgain::Patiently };
}

/// How often a request was sent again.
struct Retries {
    again: SentAgain,
    busy: u32,
    broken: u32,
}

impl Retries {
    fn of(again: SentAgain) -> Self {
        Self { again, busy: 0, broken: 0 }
    }

    /// Returns the pause before the next try; `None` where trying again does not help.
    fn pause_after(&mut self, error: &ProviderError) -> Option<Duration> {
        if self.again == SentAgain::WhenTold {
            let told = match error {
                ProviderError::Busy { after_seconds, .. }
                | ProviderError::Broken { status: 503, after_seconds, .. } => *after_seconds,
                _ => None,
            };
            self.busy += 1;
            return told.filter(|_| self.busy == 1).map(Duration::from_secs);
        }
        match error {
            ProviderError::Busy { after_seconds, .. } if self.busy < BUSY_RETRIES => {
                self.busy += 1;
                let pause = after_seconds.map_or(BUSY_PAUSE, Duration::from_secs);
                (pause <= BUSY_PAUSE_MAX).then_some(pause)
            }
            ProviderError::Broken { .. } if self.broken < BROKEN_RETRIES => {
                self.broken += 1;
                Some(BROKEN_PAUSE)
            }
            _ => None,
        }
    }
}

impl HttpClient {
    pub(crate) fn new(url: ProviderUrl, key: Option<String>, key_header: KeyHeader) -> Self {
        // A proxy that opens TLS is known to the system alone.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let mut config = Config::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .https_only(!url.is_loopback())
            .timeout_connect(Some(CONNECT_MAX))
            .tls_config(tls)
            .user_agent("agent-knowledge");
        if url.is_loopback() {
            // What is meant for this machine goes through nobody else.
            config = config.proxy(None);
        }
        Self { agent: config.build().new_agent(), url, key, key_header }
    }

    /// Returns the host, for messages.
    pub(crate) fn who(&self) -> &str {
        self.url.authority()
    }

    /// Posts a body and returns the answer. Everything together takes at most `wait`.
    pub(crate) fn post(
        &self,
        path: &str,
        body: &Value,
        wait: Duration,
    ) -> Result<Value, ProviderError> {
        self.post_within(path, body, wait, RequestLimits::PATIENT)
    }

    /// Posts a body within limits of its own.
    pub(crate) fn post_within(
        &self,
        path: &str,
        body: &Value,
        wait: Duration,
        limits: RequestLimits,
    ) -> Result<Value, ProviderError> {
        let (until, bytes) = (Instant::now() + wait, body.to_string());
        let mut retries = Retries::of(limits.again);
        loop {
            let error = match self.post_once(path, &bytes, (until, wait), limits.answer_mib_max) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let left = until.saturating_duration_since(Instant::now());
            match retries.pause_after(&error).filter(|pause| *pause < left) {
                Some(pause) => rest(pause),
                None => return Err(error),
            }
        }
    }

    fn post_once(
        &self,
        path: &str,
        body: &str,
        (until, wait): (Instant, Duration),
        mib_max: u64,
    ) -> Result<Value, ProviderError> {
        let left = until.saturating_duration_since(Instant::now());
        let failed = |error: Error| self.failed(&error, (wait, mib_max));
        if left.is_zero() {
            return Err(self.timed_out(wait));
        }
        let mut request = self
            .agent
            .post(self.url.with(path))
            .config()
            .timeout_global(Some(left))
            .build()
            .header("content-type", "application/json")
            .header("accept", "application/json");
        if let Some(key) = &self.key {
            request = match self.key_header {
                KeyHeader::Bearer => request.header("authorization", format!("Bearer {key}")),
                KeyHeader::Google => request.header("x-goog-api-key", key),
            };
        }
        let mut answer = request.send(body).map_err(failed)?;
        if answer.status() != StatusCode::OK {
            return Err(self.refusal(&mut answer));
        }
        let limited = answer.body_mut().with_config().limit(mib_max * 1024 * 1024);
        let bytes = limited.read_to_vec().map_err(failed)?;
        let who = || self.who().to_owned();
        let json: Value =
            serde_json::from_slice(&bytes).map_err(|_| ProviderError::NotJson { who: who() })?;
        match said::error_in(&json) {
            None => Ok(json),
            Some(_) => {
                let said = said::words(&json.to_string(), self.key.as_deref());
                Err(ProviderError::SaidError { who: who(), said })
            }
        }
    }

    /// Reads an answer that is none.
    fn refusal(&self, answer: &mut Response<Body>) -> ProviderError {
        let (who, status) = (self.who().to_owned(), answer.status());
        let header = |name: &str| answer.headers().get(name)?.to_str().ok().map(str::to_owned);
        let after = header("retry-after").and_then(|text| text.trim().parse::<f64>().ok());
        let limited = answer.body_mut().with_config().limit(ERROR_BYTES_MAX).lossy_utf8(true);
        let said = said::words(&limited.read_to_string().unwrap_or_default(), self.key.as_deref());
        let status = status.as_u16();
        let after = after.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        // A day is longer than any wait, and far below what a u64 holds.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
        let after_seconds = after.map(|seconds| seconds.min(86_400.0).ceil() as u64);
        match status {
            300..=399 => ProviderError::Redirect { who, status },
            429 => ProviderError::Busy { who, said, after_seconds },
            500..=599 => ProviderError::Broken { who, status, said, after_seconds },
            _ => ProviderError::Refused { who, status, said },
        }
    }

    fn timed_out(&self, wait: Duration) -> ProviderError {
        ProviderError::TimedOut { who: self.who().to_owned(), seconds: wait.as_secs().max(1) }
    }

    fn failed(&self, error: &Error, (wait, mib_max): (Duration, u64)) -> ProviderError {
        match error {
            Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                let why = "no connection in time".to_owned();
                ProviderError::Unreachable { who: self.who().to_owned(), why }
            }
            Error::Timeout(_) => self.timed_out(wait),
            Error::BodyExceedsLimit(_) => {
                ProviderError::TooLong { who: self.who().to_owned(), mib: mib_max }
            }
            other => {
                let why = said::words(&other.to_string(), self.key.as_deref());
                ProviderError::Unreachable { who: self.who().to_owned(), why }
            }
        }
    }
}

/// Rests for all of a pause, also where the thread is woken.
fn rest(pause: Duration) {
    let until = Instant::now() + pause;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::park_timeout(left);
    }
}
