//! A judge that is a server with OpenAI's chat completions API over plain HTTP, as local model
//! servers have. Not here: the request (`question`).

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::judge::answer_bounds::{ANSWER_BYTES_MAX, ANSWER_SECONDS_MAX};
use access::byte_stream::BoxedStream;
use guard::secrets::redacted;

/// The default port.
const PORT: u16 = 80;
/// Characters of an error answer that are shown.
const REFUSAL_CHARS_MAX: usize = 200;

/// Asks a server.
pub(super) fn ask(url: &str, key: Option<&str>, request: &Value) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let patience = Duration::from_secs(ANSWER_SECONDS_MAX);
    runtime.block_on(async {
        let answer = tokio::time::timeout(patience, answered(url, key, request)).await;
        answer.map_err(|_| format!("{url} did not answer within {ANSWER_SECONDS_MAX} seconds"))?
    })
}

async fn answered(url: &str, key: Option<&str>, request: &Value) -> Result<String, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{url}: {error}");
    let uri: Uri = format!("{url}/chat/completions").parse().map_err(|error| failed(&error))?;
    let host = uri.host().ok_or_else(|| failed(&"no host in this address"))?;
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    let stream =
        TcpStream::connect((host.trim_matches(['[', ']']), uri.port_u16().unwrap_or(PORT)));
    // The kind of stream that the other client has, so that the code of HTTP is in the program once.
    let stream: BoxedStream = Box::new(stream.await.map_err(|error| failed(&error))?);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| failed(&error))?;
    tokio::spawn(async move {
        // The answer, or its absence, shows how the connection ended.
        let _ = connection.await;
    });
    let mut http_request = Request::builder()
        .method(Method::POST)
        .uri(uri.path())
        .header(HOST, authority)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json");
    if let Some(key) = key {
        http_request = http_request.header(AUTHORIZATION, format!("Bearer {key}"));
    }
    let body = Full::new(Bytes::from(request.to_string()));
    let http_request = http_request.body(body).map_err(|error| failed(&error))?;
    let answer = sender.send_request(http_request).await.map_err(|error| failed(&error))?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(|error| failed(&error))?.to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    if status.is_success() {
        return Ok(text);
    }
    let refusal: String = redacted(&text).chars().take(REFUSAL_CHARS_MAX).collect();
    Err(format!("{url} answered {status}: {refusal}"))
}
