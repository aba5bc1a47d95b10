//! What providers do wrong, against a stand-in: each fault is one clear message, and nothing odd becomes a vector.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::open_embedder::{ModelName, open};
use crate::probe_record::PROBE;
use crate::stand_in::{ReceivedRequest, StandInAnswer, StandInServer, openai, vector_of};
use index::embed::{EmbedError, Embedder};
use settings::{EmbeddingProvider, ProviderForm};

fn provider(url: &str) -> EmbeddingProvider {
    EmbeddingProvider {
        url: url.to_owned(),
        ..EmbeddingProvider::with_defaults(ProviderForm::OpenAi, "m")
    }
}

/// Answers the probe well, and everything else by `answer`.
fn after_probe(
    mut answer: impl FnMut(&ReceivedRequest) -> Option<StandInAnswer> + Send + 'static,
) -> (StandInServer, tempfile::TempDir, Box<dyn Embedder>) {
    let server = StandInServer::start(move |received| match received.body["input"][0] == PROBE {
        true => Some(openai(received)),
        false => answer(received),
    });
    let cache = tempfile::tempdir().unwrap();
    let embedder = open(&provider(&server.url), None, cache.path()).unwrap();
    server.next();
    (server, cache, embedder)
}

/// What embedding two texts says where each request is answered so.
fn why(answer: impl Fn() -> StandInAnswer + Send + 'static) -> EmbedError {
    let (_server, _cache, mut embedder) = after_probe(move |_| Some(answer()));
    embedder.embed(&["one", "two"]).unwrap_err()
}

fn data(vectors: &[Value]) -> StandInAnswer {
    let one = |vector: &Value| json!({ "embedding": vector });
    StandInAnswer::json(&json!({ "data": vectors.iter().map(one).collect::<Vec<Value>>() }))
}

/// The message without the host, whose port differs.
fn message_without_host(error: &EmbedError) -> String {
    let text = error.to_string();
    let words =
        text.split(' ').map(|word| if word.starts_with("127.0.0.1:") { "HOST" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn refused(status: &'static str, body: &'static str) -> EmbedError {
    why(move || StandInAnswer::status(status, body).with("retry-after: 0"))
}

fn answered(body: Value) -> EmbedError {
    why(move || StandInAnswer::json(&body))
}

fn returned(vectors: [Value; 2]) -> EmbedError {
    why(move || data(&vectors))
}

fn check(cases: &[(EmbedError, &str)], is_passing: bool) {
    for (error, expected) in cases {
        assert_eq!(message_without_host(error), *expected);
        assert_eq!(error.is_passing(), is_passing, "{expected}");
    }
}

// S-PROVIDER-4
#[test]
fn a_refusal_is_one_clear_message() {
    let passing = [
        (
            refused("429 Too Many Requests", "{\"error\":{\"message\":\"slow down\"}}"),
            "HOST takes no more requests for now (429): slow down",
        ),
        (refused("500 Internal Server Error", "no memory"), "HOST failed (500): no memory"),
        (
            refused("401 Unauthorized", "{\"error\":{\"message\":\"bad key\"}}"),
            "HOST refused the request (401): bad key",
        ),
        (
            answered(json!({ "error": { "message": "no provider", "code": 502 } })),
            "HOST answered with an error: no provider",
        ),
        (
            why(|| {
                StandInAnswer::status("302 Found", "").with("location: http://127.0.0.1:1/stolen")
            }),
            "HOST wants the request elsewhere (302); set url to the right address",
        ),
    ];
    check(&passing, true);
    let about_a_text = [(
        refused("400 Bad Request", "{\"error\":\"input is too long\"}"),
        "HOST refused the request (400): input is too long",
    )];
    check(&about_a_text, false);
}

// S-PROVIDER-4
#[test]
fn an_odd_answer_is_one_clear_message() {
    let no_data = "HOST answered with JSON without data[].embedding; is it the right provider?";
    let no_json = "HOST answered with something that is no JSON; is url the right address?";
    let of_another_form = [
        (refused("200 OK", "<html>hello</html>"), no_json),
        (answered(json!({ "embeddings": [] })), no_data),
        (answered(json!({ "data": "vectors" })), no_data),
    ];
    check(&of_another_form, true);
    let good = json!([1.0, 2.0, 3.0, 4.0]);
    let with = |odd: Value| returned([good.clone(), odd]);
    let no_number = "HOST returned a vector with something in it that is no number";
    let short = why(|| data(&[]));
    let odd_vectors = [
        (short, "HOST returned 0 vectors for 1 texts"),
        (with(json!([1.0, null, 1.0, 1.0])), no_number),
        (with(json!(null)), no_number),
        (with(json!([0, 0, 0, 0])), "HOST returned a vector of zeros"),
        (with(json!([1.0])), "HOST returned a vector of 1 numbers where 4 were expected"),
    ];
    check(&odd_vectors, false);
}

// S-PROVIDER-4
#[test]
fn an_oversized_answer_is_refused_without_being_kept() {
    // The bound of an answer is 48 MiB.
    let body = " ".repeat(49 * 1024 * 1024);
    let (_server, _cache, mut embedder) =
        after_probe(move |_| Some(StandInAnswer::status("200 OK", &body)));
    let error = embedder.embed(&["one"]).unwrap_err();
    assert_eq!(message_without_host(&error), "HOST answered with more than 48 MiB");
}

// S-PROVIDER-4
#[test]
fn a_silent_provider_costs_a_query_five_seconds() {
    let (_server, _cache, mut embedder) = after_probe(|_| None);
    let begun = Instant::now();
    let error = embedder.embed_query("why").unwrap_err();
    assert_eq!(message_without_host(&error), "HOST did not answer within 5 s");
    assert!(error.is_passing());
    assert!(begun.elapsed() < Duration::from_secs(15));
}

// S-PROVIDER-4
#[test]
fn nobody_at_the_address_is_said_at_once() {
    let cache = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = provider(&format!("http://{free}"));
    let error = open(&nobody, None, cache.path()).map(drop).unwrap_err();
    assert!(message_without_host(&error).starts_with("failed to reach HOST"), "{error}");
    assert!(error.is_passing());
}

// S-PROVIDER-4
#[test]
fn a_busy_provider_is_asked_again_after_its_pause() {
    let mut left = 2;
    let (server, _cache, mut embedder) = after_probe(move |received| {
        left -= 1;
        let busy = StandInAnswer::status("429 Too Many Requests", "").with("retry-after: 1");
        Some(if left >= 0 { busy } else { openai(received) })
    });
    let begun = Instant::now();
    assert_eq!(embedder.embed(&["one"]).unwrap().len(), 1);
    assert!(begun.elapsed() >= Duration::from_secs(2), "it waited as long as it was told to");
    assert_eq!(server.requests.try_iter().count(), 3);
}

// S-PROVIDER-4
#[test]
fn a_failed_request_is_sent_once_more() {
    let mut is_first = true;
    let (server, _cache, mut embedder) = after_probe(move |received| {
        let failed = StandInAnswer::status("503 Service Unavailable", "starting");
        Some(if std::mem::take(&mut is_first) { failed } else { openai(received) })
    });
    assert_eq!(embedder.embed(&["one"]).unwrap().len(), 1);
    assert_eq!(server.requests.try_iter().count(), 2);
}

// S-PROVIDER-3
#[test]
fn a_batch_that_is_refused_is_halved() {
    let (server, _cache, mut embedder) = after_probe(|received| {
        let texts = received.body["input"].as_array().unwrap();
        let is_long = texts.iter().any(|text| text == "too long");
        let refused = StandInAnswer::status("400 Bad Request", "{\"error\":\"at most 10 inputs\"}");
        Some(if texts.len() > 10 || is_long { refused } else { openai(received) })
    });
    let texts: Vec<String> = (0..20).map(|number| "x".repeat(number + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts).unwrap();
    assert_eq!(vectors.len(), 20);
    let sizes = |server: &StandInServer| -> Vec<usize> {
        server.requests.try_iter().map(|one| one.body["input"].as_array().unwrap().len()).collect()
    };
    assert_eq!(sizes(&server), [20, 10, 10]);
    embedder.embed(&texts).unwrap();
    assert_eq!(sizes(&server), [10, 10], "the bound is remembered");
    // One text that is refused alone does not make all later batches small.
    assert!(!embedder.embed(&["short", "too long"]).unwrap_err().is_passing());
    sizes(&server);
    embedder.embed(&texts).unwrap();
    assert_eq!(sizes(&server), [10, 10]);
}

// S-PROVIDER-4
#[test]
fn an_odd_vector_costs_its_text_alone() {
    let good = json!([1.0, 2.0, 3.0, 4.0]);
    let (server, _cache, mut embedder) =
        after_probe(move |_| Some(data(&[good.clone(), json!([0, 0, 0, 0]), good.clone()])));
    let each = embedder.embed_each(&["one", "two", "three"]);
    let is_there: Vec<bool> = each.outcomes.iter().map(Result::is_ok).collect();
    assert_eq!((is_there, each.trouble), (vec![true, false, true], None));
    assert_eq!(server.requests.try_iter().count(), 1);
}

// S-PROVIDER-3
#[test]
fn a_text_is_cut_and_prefixed_and_the_key_sent() {
    let server = StandInServer::start(|received| Some(openai(received)));
    let cache = tempfile::tempdir().unwrap();
    let provider = EmbeddingProvider {
        key_env: Some("THE_KEY".to_owned()),
        max_chars: 4,
        text_prefix: "document: ".to_owned(),
        query_prefix: "query: ".to_owned(),
        dimensions: Some(4),
        ..provider(&format!("{}/v1", server.url))
    };
    let unset = open(&provider, None, cache.path()).map(drop).unwrap_err();
    let expected =
        "the variable THE_KEY, which key_env names, is not set where the retriever was started";
    assert_eq!(unset.to_string(), expected);
    let mut embedder = open(&provider, Some("secret\n".to_owned()), cache.path()).unwrap();
    server.next();
    embedder.embed(&["ünïcode"]).unwrap();
    let asked = server.next();
    assert_eq!(asked.path, "/v1/embeddings");
    assert!(asked.head.contains("authorization: Bearer secret\n"), "{}", asked.head);
    let expected = json!({ "model": "m", "input": ["document: ünïc"], "encoding_format": "float", "dimensions": 4 });
    assert_eq!(asked.body, expected);
    embedder.embed_query("why not").unwrap();
    assert_eq!(server.next().body["input"], json!(["query: why "]));
}

// S-PROVIDER-3
#[test]
fn dimensions_that_a_server_refuses_are_not_asked_for() {
    let server = StandInServer::start(|received| {
        let refused =
            StandInAnswer::status("400 Bad Request", "{\"error\":\"dimensions is not supported\"}");
        Some(if received.body.get("dimensions").is_some() { refused } else { openai(received) })
    });
    let cache = tempfile::tempdir().unwrap();
    let fitting = EmbeddingProvider { dimensions: Some(4), ..provider(&server.url) };
    let mut embedder = open(&fitting, None, cache.path()).unwrap();
    assert_eq!(embedder.embed(&["one"]).unwrap()[0].vector.len(), 4);
    let other = EmbeddingProvider { dimensions: Some(8), ..provider(&server.url) };
    let error = open(&other, None, cache.path()).map(drop).unwrap_err();
    assert_eq!(
        message_without_host(&error),
        "HOST returned a vector of 4 numbers where 8 were expected"
    );
}

fn renamed(model: &str, url: &str) -> EmbeddingProvider {
    EmbeddingProvider { model: model.to_owned(), ..provider(url) }
}

// S-PROVIDER-5
#[test]
fn everything_that_changes_a_vector_changes_the_name() {
    let cache = Path::new("/nowhere");
    let name =
        |provider: &EmbeddingProvider| ModelName::from_provider(provider, cache).name_of_vectors();
    let one = provider("http://127.0.0.1:1");
    let others = [
        renamed("n", "http://127.0.0.1:1"),
        provider("http://127.0.0.1:2"),
        provider("http://127.0.0.1:1/other/v1"),
        EmbeddingProvider { dimensions: Some(4), ..one.clone() },
        EmbeddingProvider { max_chars: 9, ..one.clone() },
        EmbeddingProvider { text_prefix: "x".to_owned(), ..one.clone() },
        EmbeddingProvider { query_prefix: "x".to_owned(), ..one.clone() },
        EmbeddingProvider { form: ProviderForm::Voyage, ..one.clone() },
    ];
    let names: BTreeSet<String> = others.iter().chain([&one]).map(name).collect();
    assert_eq!(names.len(), others.len() + 1);
    assert_eq!(name(&provider("http://127.0.0.1:1/")), name(&one), "a slash at the end is nothing");
    let same = EmbeddingProvider { batch: 9, key_env: Some("K".to_owned()), ..one.clone() };
    assert_eq!(name(&same), name(&one), "these change no vector");
}

// S-PROVIDER-5
#[test]
fn another_model_under_the_same_name_is_noticed() {
    let (turn, turned) = channel::<()>();
    let mut is_other = false;
    let server = StandInServer::start(move |received| {
        is_other |= turned.try_recv().is_ok();
        Some(match is_other {
            false => openai(received),
            true => data(&[json!([4.0, -3.0, 2.0, -1.0])]),
        })
    });
    let cache = tempfile::tempdir().unwrap();
    let provider = provider(&server.url);
    let name = || ModelName::from_provider(&provider, cache.path()).name_of_vectors();
    let before = name();
    let first = open(&provider, None, cache.path()).unwrap();
    assert!(open(&provider, None, cache.path()).is_ok(), "the same model is the same");
    assert_eq!(name(), before);
    turn.send(()).unwrap();
    let error = open(&provider, None, cache.path()).map(drop).unwrap_err();
    assert!(matches!(error, EmbedError::ProviderChanged { .. }), "{error}");
    assert_ne!(name(), before, "its vectors are kept apart");
    let second = open(&provider, None, cache.path()).unwrap();
    assert_ne!(first.model_id().hash(), second.model_id().hash());
}

// S-PROVIDER-3
#[test]
fn every_form_is_asked_at_its_own_path() {
    for (form, path, place) in [
        (ProviderForm::OpenAi, "/embeddings", "input"),
        (ProviderForm::Ollama, "/api/embed", "input"),
        (ProviderForm::Voyage, "/embeddings", "input"),
        (ProviderForm::Cohere, "/v2/embed", "texts"),
        (ProviderForm::Gemini, "/models/m:batchEmbedContents", "requests"),
    ] {
        let server = StandInServer::start(move |received| {
            let count = received.body[place].as_array().unwrap().len();
            let vectors = vec![vector_of("walrus"); count];
            let named =
                |name: &str| -> Value { vectors.iter().map(|one| json!({ name: one })).collect() };
            Some(StandInAnswer::json(&match form {
                ProviderForm::Cohere => json!({ "embeddings": { "float": vectors } }),
                ProviderForm::Gemini => json!({ "embeddings": named("values") }),
                ProviderForm::Ollama => json!({ "embeddings": vectors }),
                _ => json!({ "data": named("embedding") }),
            }))
        });
        let cache = tempfile::tempdir().unwrap();
        let provider = EmbeddingProvider {
            url: server.url.clone(),
            ..EmbeddingProvider::with_defaults(form, "m")
        };
        let mut embedder = open(&provider, None, cache.path()).unwrap();
        assert_eq!(server.next().path, path);
        assert_eq!(embedder.embed(&["one", "two"]).unwrap().len(), 2);
        assert_eq!(embedder.dims(), 4);
        assert!(!embedder.has_tokens());
    }
}
