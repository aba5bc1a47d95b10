//! A chat model: one request in OpenAI's form, one answer. Not here: what it is asked and what its answer means (the retriever's
//! `judge`).

use std::time::Duration;

use serde_json::Value;

use crate::http_client::{HttpClient, KeyHeader};
use crate::provider_error::ProviderError;
use crate::provider_url::ProviderUrl;

/// Asks a server. `url` is its address up to `/chat/completions`.
///
/// # Errors
/// [`ProviderError`], each in one line.
pub fn chat(
    url: &str,
    key: Option<String>,
    request: &Value,
    wait: Duration,
) -> Result<Value, ProviderError> {
    let client = HttpClient::new(ProviderUrl::parse(url)?, key, KeyHeader::Bearer);
    client.post("/chat/completions", request, wait)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::stand_in::{StandIn, StandInAnswer};

    // S-JUDGE-1
    #[test]
    fn a_chat_model_is_asked_at_its_path() {
        let answer =
            json!({ "choices": [{ "message": { "content": "{\"decision\": \"keep\"}" } }] });
        let given = answer.clone();
        let server = StandIn::start(move |_| Some(StandInAnswer::json(&given)));
        let url = format!("{}/v1", server.url);
        let (request, wait) = (json!({ "model": "m" }), Duration::from_secs(30));
        assert_eq!(chat(&url, Some("secret".to_owned()), &request, wait), Ok(answer));
        let asked = server.next();
        assert_eq!((asked.path.as_str(), asked.body), ("/v1/chat/completions", request.clone()));
        assert!(asked.head.contains("authorization: Bearer secret\n"), "{}", asked.head);
        assert!(matches!(
            chat("http://example.com", None, &request, wait),
            Err(ProviderError::Url(_))
        ));
    }
}
