//! What a provider says of an error, as one short line without secrets. Pure. Not here: telling errors apart (`http_client`).

use guard::secrets::redacted;
use serde_json::Value;

use crate::provider_error::ProviderError;

/// Characters that are shown: enough for a sentence, too few for a page of HTML.
const CHARS_MAX: usize = 200;

/// Returns the words of an answer. `key` is taken out, since some providers repeat it.
pub(crate) fn error_message(answer: &str, key: Option<&str>) -> String {
    let json: Option<Value> = serde_json::from_str(answer).ok();
    let message = json.as_ref().and_then(message);
    let text = message.unwrap_or_else(|| answer.to_owned());
    let text = match key.filter(|key| !key.is_empty()) {
        Some(key) => text.replace(key, "[key]"),
        None => text,
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_shown = |c: &char| !c.is_control();
    let short: String = redacted(&line).chars().filter(is_shown).take(CHARS_MAX).collect();
    if short.is_empty() { "it gave no reason".to_owned() } else { short }
}

/// Returns an answer that reports no error. Some providers report one as a success.
pub(crate) fn refuse_error(
    answer: Value,
    who: &str,
    key: Option<&str>,
) -> Result<Value, ProviderError> {
    match error_in(&answer) {
        None => Ok(answer),
        Some(_) => {
            let said = error_message(&answer.to_string(), key);
            Err(ProviderError::ReportedError { who: who.to_owned(), said })
        }
    }
}

/// Does the same with an answer that may be no JSON.
pub(crate) fn refuse_error_text(
    answer: &[u8],
    who: &str,
    key: Option<&str>,
) -> Result<String, ProviderError> {
    if let Ok(json) = serde_json::from_slice(answer) {
        refuse_error(json, who, key)?;
    }
    Ok(String::from_utf8_lossy(answer).into_owned())
}

/// Returns the error that stands in an answer, wherever providers put it.
fn error_in(answer: &Value) -> Option<&Value> {
    answer.get("error").filter(|error| !error.is_null())
}

fn message(answer: &Value) -> Option<String> {
    let error = error_in(answer);
    let places = [
        error.and_then(|error| error.get("message")),
        error,
        answer.get("message"),
        answer.get("detail"),
    ];
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    places.into_iter().flatten().next().map(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PROVIDER-2
    #[test]
    fn a_key_in_an_answer_is_not_shown() {
        let key = "sk-proj-ab12cd34ef56ab12cd34ef56";
        let answer =
            format!("{{\"error\":{{\"message\":\"Incorrect API key\\nprovided: {key}\"}}}}");
        assert_eq!(error_message(&answer, Some(key)), "Incorrect API key provided: [key]");
        assert_eq!(error_message("", None), "it gave no reason");
        assert_eq!(error_message("{\"detail\":\"no such model\"}", None), "no such model");
        assert_eq!(error_message(&"x".repeat(9_000), None).len(), CHARS_MAX);
    }
}
