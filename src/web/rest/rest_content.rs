//! The finished content of an answer, and the answer of it. Not here: what it says (`reply`), problems (`problem`).

use std::fmt::Write;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, RETRY_AFTER, VARY,
};
use hyper::{HeaderMap, Response, StatusCode};
use sha2::{Digest, Sha256};

pub const NO_SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// The content types.
pub const JSON: &str = "application/json";

pub const TEXT: &str = "text/plain; charset=utf-8";

/// An answer, whole.
pub type RestAnswer = Response<Full<Bytes>>;

/// The finished content of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RestContent {
    pub status: StatusCode,
    pub content_type: &'static str,
    pub body: Bytes,
    /// Tells this content from any other, where a caller may ask whether it still has it.
    pub tag: Option<String>,
    /// The seconds after which to try again, where that is known.
    pub retry_after_s: Option<i64>,
}

impl RestContent {
    /// Tags what a read answers, or says only that it is what the caller has. The tag is made of the content itself, so it
    /// covers whatever the content depends on: the logs, the indexes, the settings and the time.
    pub fn unless_cached(mut self, headers: &HeaderMap) -> Self {
        if self.status != StatusCode::OK {
            return self;
        }
        let tag = entity_tag(&self);
        if known_tags(headers).any(|known| known == tag || known == "*") {
            (self.status, self.body) = (StatusCode::NOT_MODIFIED, Bytes::new());
        }
        self.tag = Some(tag);
        self
    }
}

/// Bytes of a tag: two contents have the same one as good as never.
pub const TAG_BYTES: usize = 16;

pub fn entity_tag(content: &RestContent) -> String {
    let digest = Sha256::new().chain_update(content.content_type).chain_update(&content.body);
    let hex = digest.finalize().iter().take(TAG_BYTES).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    format!("\"{hex}\"")
}

/// Returns the tags of what a caller has. A weak one stands for the same content.
pub fn known_tags(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let given = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|list| list.split(',')).map(|tag| tag.trim().trim_start_matches("W/"))
}

pub fn content_answer(content: &RestContent) -> RestAnswer {
    let mut answer = Response::new(Full::new(content.body.clone()));
    *answer.status_mut() = content.status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_SNIFF, HeaderValue::from_static("nosniff"));
    if let Some(seconds) = content.retry_after_s {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(tag) = content.tag.as_deref().and_then(|tag| HeaderValue::from_str(tag).ok()) {
        headers.insert(ETAG, tag);
        headers.insert(VARY, HeaderValue::from_static("accept"));
    }
    answer
}
