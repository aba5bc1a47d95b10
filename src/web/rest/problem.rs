//! Errors as `application/problem+json` (RFC 9457), each with the field and the remedy. Not here: which errors there are
//! (`requests::ApiError`).

use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{ALLOW, HeaderValue};
use serde_json::{Value, json};

use crate::rest::rest_content::{RestAnswer, RestContent, content_answer};
use access::admitted_caller::too_many;
use guard::secrets::redacted;
use requests::ApiError;
use requests::rest_forms::PROBLEM_JSON;
use writer::exit::Exit;

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq)]
pub struct RestProblem {
    status: StatusCode,
    detail: String,
    /// The fields that are wrong, each with its message.
    fields: Vec<(String, String)>,
    /// The seconds after which to try again, where that is known.
    retry_after_s: Option<i64>,
}

impl RestProblem {
    /// Makes a problem with a status and its explanation.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), fields: Vec::new(), retry_after_s: None }
    }

    /// The caller has to wait.
    pub fn too_many(seconds: i64) -> Self {
        let retry_after_s = Some(seconds);
        Self { retry_after_s, ..Self::new(StatusCode::TOO_MANY_REQUESTS, too_many(seconds)) }
    }

    /// Makes the problem that an error of the memory is.
    pub fn from_error(error: &ApiError) -> Self {
        let status = match error {
            ApiError::Invalid(_) => StatusCode::BAD_REQUEST,
            ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::Failed { exit: Exit::Busy | Exit::Unavailable, .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ApiError::Failed { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let fields = match error {
            ApiError::Invalid(problems) => {
                problems.iter().map(|one| (one.field.clone(), one.message.clone())).collect()
            }
            ApiError::NotFound(_) | ApiError::Failed { .. } => Vec::new(),
        };
        Self { fields, ..Self::new(status, error.to_string()) }
    }

    /// Returns what is wrong, and the remedy.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Returns the content of the answer. Secrets that a caller sent are not repeated.
    pub fn content(&self) -> RestContent {
        let fields = self.fields.iter().map(
            |(field, message)| json!({ "field": redacted(field), "message": redacted(message) }),
        );
        let body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or_default(),
            "status": self.status.as_u16(),
            "detail": redacted(&self.detail),
            "problems": fields.collect::<Vec<Value>>(),
        });
        let body = Bytes::from(body.to_string());
        RestContent {
            status: self.status,
            content_type: PROBLEM_JSON,
            body,
            tag: None,
            retry_after_s: self.retry_after_s,
        }
    }
}

/// Returns the answer for a method that a path does not take.
pub fn not_allowed(allowed: &str) -> RestAnswer {
    let problem =
        RestProblem::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path takes {allowed}"));
    let mut answer = content_answer(&problem.content());
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        answer.headers_mut().insert(ALLOW, allowed);
    }
    answer
}
