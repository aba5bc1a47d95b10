//! A reranker of others: a query and texts go out, a score for each text comes back, within the wait that the settings allow. Not here:
//! the protocols (`rerank_forms`), what may be sent (the retriever), when it is asked and what the scores do (`api`).

use crate::open_embedder::needed_key;
use crate::provider_client::{ProviderClient, RequestLimits, RetryPolicy};
use crate::provider_command::{self, ProgramLimits};
use crate::provider_error::ProviderError;
use crate::provider_url::provider_url;
use crate::remote_embedder::ProviderAccess;
use crate::rerank_forms::{body, scores};
use guard::secrets::RedactedText;
use http_client::KeyHeader;
use settings::{RerankForm, RerankProvider};

/// What a search that somebody waits for may cost. Thirty texts that an answer repeats have a quarter of a MiB.
const LIMITS: RequestLimits =
    RequestLimits { answer_bytes_max: 4 * 1024 * 1024, retry: RetryPolicy::WhenProviderSays };

/// A reranker that can be asked.
pub struct RemoteReranker {
    provider: RerankProvider,
    way: ProviderAccess,
}

impl RemoteReranker {
    /// Checks the settings; nobody is asked. `key` is the content of the variable that they name.
    ///
    /// # Errors
    /// [`ProviderError::Url`] and [`ProviderError::NoKey`].
    pub fn open(provider: RerankProvider, key: Option<String>) -> Result<Self, ProviderError> {
        let way = match provider.form {
            RerankForm::Command => ProviderAccess::Command(provider.command.clone()),
            RerankForm::Cohere | RerankForm::Voyage | RerankForm::Jina => {
                let key = needed_key(provider.key_env.as_deref(), key)?;
                let url = provider_url(&provider.url)?;
                ProviderAccess::Http(ProviderClient::new(url, key, KeyHeader::Bearer))
            }
        };
        Ok(Self { provider, way })
    }

    /// Returns a score for each text, the higher the better. Scores of two answers cannot be compared.
    ///
    /// # Errors
    /// [`ProviderError`], each in one line.
    pub fn scores(
        &self,
        query: &RedactedText,
        texts: &[RedactedText],
    ) -> Result<Vec<f64>, ProviderError> {
        let RerankProvider { form, model, .. } = &self.provider;
        let (request, wait) = (body(*form, model, query, texts), self.provider.timeout());
        let answer = match &self.way {
            ProviderAccess::Http(client) => client.post_within(form.path(), &request, wait, LIMITS),
            ProviderAccess::Command(words) => {
                let limits = ProgramLimits {
                    answer_bytes_max: LIMITS.answer_bytes_max,
                    ..ProgramLimits::within(wait)
                };
                provider_command::ask(words, &request, limits)
            }
        };
        let answer = answer.map_err(|error| match error {
            ProviderError::TimedOut { who, .. } => {
                ProviderError::Late { who, ms: wait.as_millis() }
            }
            other => other,
        })?;
        scores(*form, &answer, (self.way.who(), texts.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    use super::*;
    use crate::stand_in::{ReceivedRequest, StandInAnswer, StandInServer};

    fn provider(form: RerankForm, url: &str) -> RerankProvider {
        RerankProvider {
            form,
            url: url.to_owned(),
            model: "m".to_owned(),
            command: Vec::new(),
            key_env: None,
            off_repos: Vec::new(),
            timeout_ms: 10_000,
        }
    }

    fn texts() -> Vec<RedactedText> {
        vec!["a".into(), "b".into()]
    }

    fn good() -> Value {
        let scores =
            json!([{ "index": 1, "relevance_score": 0.9 }, { "index": 0, "relevance_score": 0.1 }]);
        json!({ "results": scores, "data": scores })
    }

    /// What a Jina server that answers so leads to, and how often it was asked.
    fn asked(
        answer: impl FnMut(&ReceivedRequest) -> Option<StandInAnswer> + Send + 'static,
        timeout_ms: u32,
    ) -> (Result<Vec<f64>, String>, usize) {
        let server = StandInServer::start(answer);
        let provider = RerankProvider { timeout_ms, ..provider(RerankForm::Jina, &server.url) };
        let scores = RemoteReranker::open(provider, None).unwrap().scores(&"q".into(), &texts());
        let told = scores.map_err(|error| {
            error.to_string().replace(server.url.trim_start_matches("http://"), "HOST")
        });
        (told, server.requests.try_iter().count())
    }

    // S-RERANK-2
    #[test]
    fn each_reranker_is_asked_at_its_path() {
        for (form, path) in [
            (RerankForm::Cohere, "/v2/rerank"),
            (RerankForm::Voyage, "/v1/rerank"),
            (RerankForm::Jina, "/v1/rerank"),
        ] {
            let server = StandInServer::start(|_| Some(StandInAnswer::json(&good())));
            let set = RerankProvider { key_env: Some("K".into()), ..provider(form, &server.url) };
            let no_key = RemoteReranker::open(set.clone(), Some(" ".to_owned())).err().unwrap();
            assert_eq!(no_key, ProviderError::NoKey("K".to_owned()));
            let reranker = RemoteReranker::open(set, Some("secret\n".to_owned())).unwrap();
            assert_eq!(reranker.scores(&"q".into(), &texts()), Ok(vec![0.1, 0.9]), "{form:?}");
            let asked = server.next();
            assert_eq!(
                (asked.path.as_str(), &asked.body),
                (path, &body(form, "m", &"q".into(), &texts()))
            );
            assert!(asked.head.contains("authorization: Bearer secret\n"), "{}", asked.head);
        }
        let elsewhere = RemoteReranker::open(provider(RerankForm::Jina, "http://a.example"), None);
        assert!(matches!(elsewhere.err(), Some(ProviderError::Url(_))));
    }

    // S-RERANK-5
    #[test]
    fn a_fault_of_a_reranker_is_one_message() {
        let status = |status: &'static str, body: &'static str| {
            asked(move |_| Some(StandInAnswer::status(status, body)), 10_000)
        };
        let answered = |body: Value| asked(move |_| Some(StandInAnswer::json(&body)), 10_000);
        let said = "{\"error\":{\"message\":\"not now\"}}";
        for (got, expected) in [
            (status("401 Unauthorized", said), "HOST refused the request (401): not now"),
            (status("422 Unprocessable", said), "HOST refused the request (422): not now"),
            (status("500 Internal", said), "HOST failed (500): not now"),
            (status("503 Busy", said), "HOST failed (503): not now"),
            (status("429 Many", said), "HOST takes no more requests for now (429): not now"),
            (status("200 OK", said), "HOST answered with an error: not now"),
            (answered(json!({ "results": [] })), "HOST returned 0 scores for 2 texts"),
            (
                status("200 OK", "<html>"),
                "HOST answered with something that is no JSON; is url the right address?",
            ),
        ] {
            assert_eq!(got, (Err(expected.to_owned()), 1), "asked once");
        }
        let long = " ".repeat(5 * 1024 * 1024);
        let (long, _) = asked(move |_| Some(StandInAnswer::status("200 OK", &long)), 10_000);
        assert_eq!(long, Err("HOST answered with more than 4 MiB".to_owned()));
    }

    // S-RERANK-5
    #[test]
    fn a_silent_reranker_costs_its_wait() {
        let begun = Instant::now();
        let (why, _) = asked(|_| None, 300);
        assert_eq!(why, Err("HOST did not answer in 300 ms".to_owned()));
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    // S-RERANK-5
    #[test]
    fn a_busy_reranker_is_asked_once_more() {
        let busy = |status: &'static str, after: &'static str, timeout_ms: u32| {
            let mut count = 0;
            asked(
                move |_| {
                    count += 1;
                    match count {
                        1 => Some(StandInAnswer::status(status, "{}").with(after)),
                        2 => Some(StandInAnswer::json(&good())),
                        _ => None,
                    }
                },
                timeout_ms,
            )
        };
        for status in ["429 Many", "503 Busy"] {
            assert_eq!(busy(status, "retry-after: 0", 10_000), (Ok(vec![0.1, 0.9]), 2));
            let (late, count) = busy(status, "retry-after: 30", 10_000);
            assert!(late.is_err() && count == 1, "it does not fit the wait: {late:?}");
        }
        let again = |_: &ReceivedRequest| {
            Some(StandInAnswer::status("429 Many", "{}").with("retry-after: 0"))
        };
        let (twice, count) = asked(again, 10_000);
        assert!(twice.is_err() && count == 2, "{twice:?}");
    }

    #[cfg(unix)]
    // S-RERANK-2
    #[test]
    fn a_program_can_be_a_reranker() {
        let script = "cat >/dev/null; echo '{\"scores\": [0.25, 4]}'";
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let set = RerankProvider { command, ..provider(RerankForm::Command, "") };
        let reranker = RemoteReranker::open(set, None).unwrap();
        assert_eq!(reranker.scores(&"q".into(), &texts()), Ok(vec![0.25, 4.0]));
    }
}
