//! `POST /v1/embeddings`: the vectors of this machine's own model in the form of OpenAI, so that other programs, and other stores,
//! can use it as a provider. It needs the right to read and counts as an expensive call. Not here: the model (`index::embed`), asking
//! others (crate `providers`).

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Response, StatusCode};
use serde_json::{Value, json};

use access::admitted_caller::AdmittedCaller;
use api::local::Core;
use index::embed::worker::QueryError;
use requests::rights::Rights;

/// The path.
pub const EMBEDDINGS_PATH: &str = "/v1/embeddings";

/// The model, by the names that callers know it by.
const MODEL: &str = "all-MiniLM-L6-v2";
const MODEL_OF_MAKER: &str = "sentence-transformers/all-MiniLM-L6-v2";
/// Numbers per vector.
const DIMENSIONS: u64 = 384;

/// Texts in one request: some seconds of work on two cores.
const TEXTS_MAX: usize = 256;

/// How long they may take.
const WAIT: Duration = Duration::from_secs(30);

/// Bytes of a token of English, for the estimate in `usage`.
const TOKEN_BYTES: usize = 4;

type EmbeddingsAnswer = Response<Full<Bytes>>;

/// Why a request is not answered.
struct Refused {
    status: StatusCode,
    code: &'static str,
    message: String,
    retry_after_s: Option<i64>,
}

fn invalid(message: impl Into<String>) -> Refused {
    let (status, code) = (StatusCode::BAD_REQUEST, "invalid_request_error");
    Refused { status, code, message: message.into(), retry_after_s: None }
}

/// A request that can be answered.
#[derive(Debug, PartialEq)]
struct Asked {
    texts: Vec<String>,
    is_base64: bool,
}

/// Answers a request. Blocks while texts are embedded.
pub fn answer(
    core: &Core,
    method: &Method,
    body: &[u8],
    admitted: &AdmittedCaller,
) -> EmbeddingsAnswer {
    match answered(core, method, body, admitted) {
        Ok(json) => answer_of(StatusCode::OK, &json),
        Err(Refused { status, code, message, retry_after_s }) => {
            let error = json!({ "message": message, "type": code, "param": null, "code": code });
            let mut answer = answer_of(status, &json!({ "error": error }));
            if let Some(seconds) = retry_after_s {
                answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            answer
        }
    }
}

fn answered(
    core: &Core,
    method: &Method,
    body: &[u8],
    admitted: &AdmittedCaller,
) -> Result<Value, Refused> {
    let refused =
        |status, code, message: String| Refused { status, code, message, retry_after_s: None };
    if *method != Method::POST {
        let message = format!("{EMBEDDINGS_PATH} takes POST");
        return Err(refused(StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error", message));
    }
    admitted
        .check_right(Rights::Read)
        .map_err(|why| refused(StatusCode::FORBIDDEN, "insufficient_permissions", why))?;
    let asked = asked(body)?;
    admitted.pay().map_err(|seconds| Refused {
        retry_after_s: Some(seconds),
        ..refused(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_exceeded",
            access::admitted_caller::too_many(seconds),
        )
    })?;
    let unavailable =
        |message: String| refused(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message);
    let vectors = core.engine.embed_texts(&asked.texts, WAIT).ok_or_else(|| {
        let message =
            "this server has no model of its own that answers: it asks another one, or none";
        unavailable(message.to_owned())
    })?;
    let vectors = vectors.map_err(|error| match error {
        QueryError::Busy => Refused {
            retry_after_s: Some(1),
            ..refused(StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded", error.to_string())
        },
        other => unavailable(other.to_string()),
    })?;
    Ok(list(&asked, &vectors))
}

/// Reads a request.
fn asked(body: &[u8]) -> Result<Asked, Refused> {
    let json: Value = serde_json::from_slice(body).map_err(|_| invalid("the body must be JSON"))?;
    match json.get("model").and_then(Value::as_str) {
        Some(MODEL | MODEL_OF_MAKER) => {}
        Some(_) | None => {
            let (status, code) = (StatusCode::NOT_FOUND, "model_not_found");
            let message = format!("model: this server has {MODEL} alone");
            return Err(Refused { status, code, message, retry_after_s: None });
        }
    }
    let is_base64 = match json.get("encoding_format").and_then(Value::as_str) {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => return Err(invalid("encoding_format: must be float or base64")),
    };
    let dimensions = json.get("dimensions").filter(|dimensions| !dimensions.is_null());
    if dimensions.is_some_and(|dimensions| dimensions.as_u64() != Some(DIMENSIONS)) {
        return Err(invalid(format!(
            "dimensions: the vectors of {MODEL} have {DIMENSIONS} numbers"
        )));
    }
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let texts: Option<Vec<String>> = match json.get("input") {
        Some(Value::Array(texts)) => texts.iter().map(text).collect(),
        Some(one) => text(one).map(|text| vec![text]),
        None => None,
    };
    let texts = texts.filter(|texts| (1..=TEXTS_MAX).contains(&texts.len()));
    let texts = texts.ok_or_else(|| {
        invalid(format!(
            "input: must be a text that is not empty, or a list of 1 to {TEXTS_MAX} of them"
        ))
    })?;
    Ok(Asked { texts, is_base64 })
}

fn list(asked: &Asked, vectors: &[Vec<f32>]) -> Value {
    let one = |(index, vector): (usize, &Vec<f32>)| {
        let embedding = if asked.is_base64 { base64(vector).into() } else { json!(vector) };
        json!({ "object": "embedding", "index": index, "embedding": embedding })
    };
    let bytes: usize = asked.texts.iter().map(String::len).sum();
    let tokens = bytes.div_ceil(TOKEN_BYTES);
    json!({
        "object": "list",
        "data": vectors.iter().enumerate().map(one).collect::<Vec<Value>>(),
        "model": MODEL,
        "usage": { "prompt_tokens": tokens, "total_tokens": tokens },
    })
}

/// Writes numbers as little-endian bytes in base64, as OpenAI's own clients ask for them.
fn base64(vector: &[f32]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let letter = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or_default();
            let is_there = place <= three.len();
            let letter = LETTERS.get(letter).filter(|_| is_there).copied().unwrap_or(b'=');
            text.push(char::from(letter));
        }
    }
    text
}

fn answer_of(status: StatusCode, json: &Value) -> EmbeddingsAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(json.to_string())));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(body: &Value) -> (u16, String) {
        let refused = asked(body.to_string().as_bytes()).unwrap_err();
        (refused.status.as_u16(), refused.message)
    }

    impl std::fmt::Debug for Refused {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(out, "{} {}", self.status, self.message)
        }
    }

    // S-PROVIDER-8
    #[test]
    fn a_request_names_the_model_and_its_texts() {
        let one = asked(br#"{"model":"all-MiniLM-L6-v2","input":"hello"}"#).unwrap();
        assert_eq!(one, Asked { texts: vec!["hello".to_owned()], is_base64: false });
        let two = br#"{"model":"sentence-transformers/all-MiniLM-L6-v2","input":["a","b"],
            "encoding_format":"base64","dimensions":384}"#;
        let expected = Asked { texts: vec!["a".to_owned(), "b".to_owned()], is_base64: true };
        assert_eq!(asked(two).unwrap(), expected);
        assert_eq!(why(&json!({ "model": "gpt", "input": "a" })).0, 404);
        for (field, body) in [
            ("input", json!({ "model": MODEL })),
            ("input", json!({ "model": MODEL, "input": [] })),
            ("input", json!({ "model": MODEL, "input": ["a", ""] })),
            ("input", json!({ "model": MODEL, "input": [[1, 2]] })),
            ("input", json!({ "model": MODEL, "input": vec!["a"; TEXTS_MAX + 1] })),
            ("dimensions", json!({ "model": MODEL, "input": "a", "dimensions": 8 })),
            ("encoding_format", json!({ "model": MODEL, "input": "a", "encoding_format": "hex" })),
        ] {
            let (status, message) = why(&body);
            assert!(status == 400 && message.starts_with(field), "{status} {message}");
        }
    }

    // S-PROVIDER-8
    #[test]
    fn base64_is_that_of_everybody() {
        assert_eq!(base64(&[1.0]), "AACAPw==");
        assert_eq!(base64(&[1.0, -2.5]), "AACAPwAAIMA=");
        assert_eq!(base64(&[0.0, 1.0, 2.0]), "AAAAAAAAgD8AAABA");
    }
}
