//! A chat model: one request in OpenAI's form, one answer as text, from a server or a program. Not here: what it is asked and what its
//! answer means (`chat_model`).

use std::time::Duration;

use http_client::{KeyHeader, PlainHttp};
use serde_json::Value;

use crate::provider_client::{ProviderClient, RequestLimits, RetryPolicy};
use crate::provider_command::{self, ProgramLimits, StderrUse};
use crate::provider_error::ProviderError;
use crate::provider_url::server_url;

/// How long one answer may take: a large model on a small machine is slow.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// The longest answer, in bytes: a decision is a few lines.
const ANSWER_BYTES_MAX: u64 = 256 * 1024;

/// Asks a server. `url` is its address up to `/chat/completions`; people have models on other machines of their network, without TLS.
pub(crate) fn ask_server(
    url: &str,
    key: Option<String>,
    request: &Value,
) -> Result<String, ProviderError> {
    let url = server_url(url, PlainHttp::ToAnyServer)?;
    let limits = RequestLimits { answer_bytes_max: ANSWER_BYTES_MAX, retry: RetryPolicy::Patient };
    let client = ProviderClient::new(url, key, KeyHeader::Bearer);
    client.text("/chat/completions", request, ANSWER_WAIT, limits)
}

/// Asks a program, whose complaints the person at the terminal sees.
pub(crate) fn ask_program(words: &[String], request: &Value) -> Result<String, ProviderError> {
    let limits = ProgramLimits {
        wait: ANSWER_WAIT,
        answer_bytes_max: ANSWER_BYTES_MAX,
        stderr: StderrUse::Shown,
    };
    provider_command::text(words, request, limits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::stand_in::{StandInAnswer, StandInServer};

    // S-JUDGE-1
    #[test]
    fn a_chat_model_is_asked_at_its_path() {
        let answer =
            json!({ "choices": [{ "message": { "content": "{\"decision\": \"keep\"}" } }] });
        let given = answer.clone();
        let server = StandInServer::start(move |_| Some(StandInAnswer::json(&given)));
        let url = format!("{}/v1", server.url);
        let request = json!({ "model": "m" });
        let text = ask_server(&url, Some("secret".to_owned()), &request);
        assert_eq!(text, Ok(answer.to_string()));
        let asked = server.next();
        assert_eq!((asked.path.as_str(), asked.body), ("/v1/chat/completions", request.clone()));
        assert!(asked.head.contains("authorization: Bearer secret\n"), "{}", asked.head);
        for wrong in ["ftp://example.com", "http://me:secret@example.com"] {
            let error = ask_server(wrong, None, &request).unwrap_err();
            assert!(matches!(&error, ProviderError::Url(why) if !why.contains("secret")));
        }
    }

    // S-JUDGE-1
    #[test]
    fn an_answer_of_a_chat_model_is_bounded() {
        let body = "x".repeat(256 * 1024 + 1);
        let server = StandInServer::start(move |_| Some(StandInAnswer::status("200 OK", &body)));
        let error = ask_server(&server.url, None, &json!({})).unwrap_err().to_string();
        assert!(error.ends_with("answered with more than 256 KiB"), "{error}");
        let server = StandInServer::start(|_| Some(StandInAnswer::status("200 OK", "keep both")));
        assert_eq!(ask_server(&server.url, None, &json!({})), Ok("keep both".to_owned()));
    }
}
