//! One JSON request to a provider and its answer: within a deadline, tried again where that helps, and what went wrong in words. Not
//! here: what is asked (`vector_forms`), how a request is sent (`http_client`).

use std::time::{Duration, Instant};

use http_client::{
    HttpAnswer, HttpClient, HttpError, HttpRequest, KeyHeader, Method, ServerAccess, ServerUrl,
    TlsTrust,
};
use serde_json::Value;

use crate::provider_error::{ANSWER_BYTES_MAX, ProviderError};
use crate::provider_message;

/// How often a request is sent again after "too many requests", and the longest pause before it.
const BUSY_RETRIES: u32 = 3;
const BUSY_PAUSE_MAX: Duration = Duration::from_secs(30);
/// The pause where the provider names none.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// How often a request is sent again after a failure of the provider, and the pause before it.
const BROKEN_RETRIES: u32 = 1;
const BROKEN_PAUSE: Duration = Duration::from_millis(250);

/// How long a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// How long a connection is kept for the next request.
const IDLE_MAX: Duration = Duration::from_secs(15);

/// Sends requests to one provider. Copies share connections.
#[derive(Clone)]
pub(crate) struct ProviderClient(HttpClient);

/// What a request may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestLimits {
    /// The longest answer.
    pub(crate) answer_bytes_max: u64,
    /// When it is sent again.
    pub(crate) retry: RetryPolicy,
}

/// When a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryPolicy {
    /// As often as helps.
    Patient,
    /// Once, and only where the provider says when.
    WhenProviderSays,
}

impl RequestLimits {
    /// For requests that work in the background waits for.
    pub(crate) const PATIENT: Self =
        Self { answer_bytes_max: ANSWER_BYTES_MAX, retry: RetryPolicy::Patient };
}

/// How often a request was sent again.
struct Retries {
    again: RetryPolicy,
    busy: u32,
    broken: u32,
}

impl Retries {
    fn new(again: RetryPolicy) -> Self {
        Self { again, busy: 0, broken: 0 }
    }

    /// Returns the pause before the next try; `None` where trying again does not help.
    fn pause_after(&mut self, error: &ProviderError) -> Option<Duration> {
        if self.again == RetryPolicy::WhenProviderSays {
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

impl ProviderClient {
    pub(crate) fn new(url: ServerUrl, key: Option<String>, key_header: KeyHeader) -> Self {
        let key = key.map(|key| (key_header, key));
        Self(HttpClient::new(ServerAccess {
            url,
            key,
            trust: TlsTrust::System,
            connect_max: CONNECT_MAX,
            idle_max: IDLE_MAX,
        }))
    }

    /// Returns the host, for messages.
    pub(crate) fn who(&self) -> &str {
        self.0.authority()
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
        let bytes = self.bytes(path, body, wait, limits)?;
        let json = serde_json::from_slice(&bytes)
            .map_err(|_| ProviderError::NotJson { who: self.who().to_owned() })?;
        provider_message::refuse_error(json, self.who(), self.0.key())
    }

    /// Posts a body and returns the answer as text, which may be no JSON.
    pub(crate) fn text(
        &self,
        path: &str,
        body: &Value,
        wait: Duration,
        limits: RequestLimits,
    ) -> Result<String, ProviderError> {
        let bytes = self.bytes(path, body, wait, limits)?;
        provider_message::refuse_error_text(&bytes, self.who(), self.0.key())
    }

    fn bytes(
        &self,
        path: &str,
        body: &Value,
        wait: Duration,
        limits: RequestLimits,
    ) -> Result<Vec<u8>, ProviderError> {
        let (until, body) = (Instant::now() + wait, body.to_string());
        let mut retries = Retries::new(limits.retry);
        let request = HttpRequest {
            method: Method::POST,
            path,
            headers: &[],
            body: Some(body.as_bytes()),
            until,
            answer_bytes_max: limits.answer_bytes_max,
        };
        loop {
            let error = match self.once(&request, wait) {
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

    fn once(&self, request: &HttpRequest<'_>, wait: Duration) -> Result<Vec<u8>, ProviderError> {
        let answer = self.0.send(request);
        let answer = answer.map_err(|error| self.failed(&error, wait, request.answer_bytes_max))?;
        if !answer.is_success() {
            return Err(self.refusal(&answer));
        }
        Ok(answer.body)
    }

    /// Reads an answer that is none.
    fn refusal(&self, answer: &HttpAnswer) -> ProviderError {
        let (who, status) = (self.who().to_owned(), answer.status);
        let said =
            provider_message::error_message(&String::from_utf8_lossy(&answer.body), self.0.key());
        let after_seconds = answer.retry_after_seconds;
        match status {
            300..=399 => ProviderError::Redirect { who, status },
            429 => ProviderError::Busy { who, said, after_seconds },
            500..=599 => ProviderError::Broken { who, status, said, after_seconds },
            _ => ProviderError::Refused { who, status, said },
        }
    }

    fn failed(&self, error: &HttpError, wait: Duration, bytes_max: u64) -> ProviderError {
        let who = self.who().to_owned();
        match error {
            HttpError::TimedOut => ProviderError::TimedOut { who, seconds: wait.as_secs().max(1) },
            HttpError::TooLong => ProviderError::TooLong { who, bytes_max },
            other => {
                let why = provider_message::error_message(&other.to_string(), self.0.key());
                ProviderError::Unreachable { who, why }
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
