//! A judge that is a server behind HTTPS, reached by the client of all external models: with deadlines, retries and bounds. Not here:
//! the request (`chat`), a server without encryption (`server`).

use std::time::Duration;

use serde_json::Value;

use crate::judge::answer_bounds::ANSWER_SECONDS_MAX;

/// Asks a server.
pub(super) fn ask(url: &str, key: Option<String>, request: &Value) -> Result<String, String> {
    let wait = Duration::from_secs(ANSWER_SECONDS_MAX);
    let answer = providers::chat(url, key, request, wait);
    answer.map(|answer| answer.to_string()).map_err(|error| error.to_string())
}
