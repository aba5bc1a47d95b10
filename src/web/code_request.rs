//! Asks the HTTP server of this store for a code, as a client of it. Not here: what the code is for (`rest::sign_in`), sending
//! (`http_client`).

use std::fmt::Display;
use std::time::{Duration, Instant};

use http_client::{
    HttpClient, HttpError, HttpRequest, KeyHeader, Method, PlainHttp, ServerAccess, ServerUrl,
    TlsTrust,
};
use serde_json::Value;

/// The path of the request.
const PATH: &str = "/api/v1/sign-in/code";

/// How long the answer may take: the server is on this machine.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// The longest answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Returns a new code from the server at an address such as `http://127.0.0.1:7421`.
///
/// # Errors
/// A message that does not repeat the token.
pub fn new_code(origin: &str, token: &str) -> Result<String, String> {
    let failed = |why: &dyn Display| format!("failed to get a code from {origin}: {why}");
    let url = ServerUrl::parse(origin, PlainHttp::ToThisMachine);
    let url = url.map_err(|_| failed(&"this is no address of this machine"))?;
    let client = HttpClient::new(ServerAccess {
        url,
        key: Some((KeyHeader::Bearer, token.to_owned())),
        trust: TlsTrust::System,
        connect_max: ANSWER_WAIT,
        idle_max: Duration::ZERO,
    });
    let answer = client.send(&HttpRequest {
        method: Method::POST,
        path: PATH,
        headers: &[],
        body: Some(&[]),
        until: Instant::now() + ANSWER_WAIT,
        answer_bytes_max: ANSWER_BYTES_MAX,
    });
    let answer = answer.map_err(|error| match error {
        HttpError::Connection(error) => failed(&error),
        other => failed(&other),
    })?;
    if !answer.is_success() {
        let remedy = match answer.status {
            401 => {
                "it has another token; stop it with agent-knowledge serve --stop and run this again"
            }
            404 => {
                "it has no dashboard; stop it with agent-knowledge serve --stop and run this again"
            }
            429 => "too many wrong codes or tokens came from this machine; wait a minute",
            _ => "try again",
        };
        return Err(failed(&format!("it answered {}; {remedy}", answer.status)));
    }
    let answer: Value = serde_json::from_slice(&answer.body).map_err(|error| failed(&error))?;
    let code = answer.get("code").and_then(Value::as_str);
    code.map(str::to_owned).ok_or_else(|| failed(&"its answer has none"))
}
