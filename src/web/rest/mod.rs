//! REST: the verbs at `/api/v1`, for scripts and programs. The table of
//! verbs (`requests::verbs`) says which stands where; the routing, the reading of arguments and the OpenAPI document follow from it.
//!
//! In reading order: [`arguments`] (from a query or a body), [`problem`] (errors), [`repeated_actions`] (actions
//! that are sent twice), [`sign_in`], [`openapi`]; then [`events`] (the stream of what happens), `event_socket` (the same
//! over a WebSocket) and `live_journal` (the thread behind both). Not here: connections, tokens and origins (`request_guard`), the answers (`api::local`).

mod answer_schemas;
mod arguments;
pub mod event_pieces;
pub mod event_socket;
pub mod events;
pub mod live_journal;
mod openapi;
mod patterns;
pub mod problem;
pub mod repeated_actions;
mod rest_content;
pub mod rest_paths;
pub mod sign_in;

use crate::rest::arguments::verb_method;
use crate::rest::rest_content::RestAnswer;
use crate::rest::rest_content::{JSON, RestContent, TEXT, content_answer};
use guard::secrets::RedactedText;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{ACCEPT, HeaderName};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use serde_json::Value;

use crate::apis::Apis;
use access::admitted_caller::AdmittedCaller;
use access::agent_name::agent_name;
use event::Timestamp;
use requests::rest_forms::BOTH_FORMS;
use requests::rest_forms::PREFIX;
use requests::rights::Rights;
use requests::verb::{Verb, VerbKind};
use requests::verbs::VERBS;
use requests::{ApiError, Reply, Voice};

use crate::rest::problem::RestProblem;
use crate::rest::problem::not_allowed;
use crate::rest::repeated_actions::{ActionStart, RepeatedActions};
use crate::rest::sign_in::{SIGN_IN, SIGN_IN_CODE, SignIn};

use crate::rest::openapi::openapi_document;
use crate::rest::rest_paths::OPENAPI_PATH;

/// The header with the name of the agent or person that acts.
const AGENT: HeaderName = HeaderName::from_static("x-agent");

/// Marks an action, so that it is done once even if it is sent twice.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Longest such name, in bytes.
const AGENT_BYTES_MAX: usize = 64;

/// Longest mark, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// Answers requests below [`PREFIX`]. Copies share everything.
#[derive(Clone)]
pub struct RestService {
    apis: Apis,
    repeated: Arc<RepeatedActions<RestContent>>,
    sign_in: Arc<SignIn>,
}

impl RestService {
    /// Makes the service over what answers.
    pub fn new(apis: Apis, sign_in: Arc<SignIn>) -> Self {
        Self { apis, repeated: Arc::default(), sign_in }
    }

    /// Answers a request. Blocks as long as the call takes.
    pub fn answer(&self, parts: &Parts, body: &[u8], now: Timestamp) -> RestAnswer {
        let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
        if path == SIGN_IN {
            return self.sign_in.answer(path, parts, body, now);
        }
        let Some(admitted) = parts.extensions.get::<AdmittedCaller>() else {
            // The check of the head lets nobody through unnamed.
            let detail = "failed to tell who asks";
            return content_answer(
                &RestProblem::new(StatusCode::INTERNAL_SERVER_ERROR, detail).content(),
            );
        };
        if path == SIGN_IN_CODE {
            return match admitted.check_right(Rights::Admin) {
                Ok(()) => self.sign_in.answer(path, parts, body, now),
                Err(why) => content_answer(&RestProblem::new(StatusCode::FORBIDDEN, why).content()),
            };
        }
        if path == OPENAPI_PATH {
            return description(&parts.method);
        }
        let mut allowed = Vec::new();
        for verb in VERBS {
            let Some(place) = verb.place_in(path) else { continue };
            if verb_method(verb) == parts.method {
                return content_answer(&self.answer_at(verb, place, parts, body, admitted));
            }
            allowed.push(verb_method(verb).to_string());
        }
        if !allowed.is_empty() {
            return not_allowed(&allowed.join(", "));
        }
        let detail =
            format!("there is nothing at this path; {PREFIX}{OPENAPI_PATH} lists the paths");
        content_answer(&RestProblem::new(StatusCode::NOT_FOUND, detail).content())
    }

    fn answer_at(
        &self,
        verb: &Verb,
        place: Option<&str>,
        parts: &Parts,
        body: &[u8],
        admitted: &AdmittedCaller,
    ) -> RestContent {
        if let Err(why) = admitted.check_right(verb.rights()) {
            return RestProblem::new(StatusCode::FORBIDDEN, why).content();
        }
        let given = match arguments::read_arguments(verb, place, parts, body) {
            Ok(given) => given,
            Err(problem) => return problem.content(),
        };
        let voice = match request_voice(&parts.headers, admitted) {
            Ok(voice) => voice,
            Err(problem) => return problem.content(),
        };
        if let Err(seconds) = admitted.charge(verb, &given) {
            return RestProblem::too_many(seconds).content();
        }
        let call = || {
            let api = self.apis.for_rights(admitted.rights());
            let reply = verb.call(&**api, given, &voice);
            reply_content(reply, verb.kind, AnswerForm::requested(&parts.headers))
        };
        if verb.kind == VerbKind::Read {
            return call().unless_cached(&parts.headers);
        }
        let key = match idempotency_key(&parts.headers) {
            Ok(Some(key)) => key,
            Ok(None) => return call(),
            Err(problem) => return problem.content(),
        };
        match self.repeated.begin(&admitted.own_key(key), parts.uri.path(), body) {
            ActionStart::New(turn) => {
                let content = call();
                // A replica that lags behind knows the memory a moment later.
                let is_unknown = content.status == StatusCode::NOT_FOUND;
                let has_failed = content.status.is_server_error() || is_unknown;
                turn.finish(content, has_failed)
            }
            ActionStart::Done(content) => content,
            ActionStart::OtherRequest => {
                let detail = "Idempotency-Key: was used for another request; make a new one";
                RestProblem::new(StatusCode::CONFLICT, detail).content()
            }
            ActionStart::InProgress => {
                let detail = "Idempotency-Key: a request with it is under way; send it again later";
                RestProblem::new(StatusCode::CONFLICT, detail).content()
            }
        }
    }
}

fn description(method: &Method) -> RestAnswer {
    if *method != Method::GET {
        return not_allowed("GET");
    }
    let body = Bytes::from(openapi_document().to_string());
    content_answer(&RestContent {
        status: StatusCode::OK,
        content_type: JSON,
        body,
        tag: None,
        retry_after_s: None,
    })
}

fn reply_content(reply: Result<Reply, ApiError>, kind: VerbKind, form: AnswerForm) -> RestContent {
    match reply {
        Err(error) => RestProblem::from_error(&error).content(),
        Ok(reply) => {
            let status = if kind == VerbKind::Make { StatusCode::CREATED } else { StatusCode::OK };
            let (content_type, body) = match form {
                AnswerForm::Text => (TEXT, reply.text),
                AnswerForm::Json => (JSON, reply_json(reply).to_string()),
                AnswerForm::Both => {
                    let both = serde_json::json!({ "text": reply.text, "json": reply.json });
                    (BOTH_FORMS, both.to_string())
                }
            };
            let body = Bytes::from(body);
            RestContent { status, content_type, body, tag: None, retry_after_s: None }
        }
    }
}

/// The JSON of a reply. One that has none says its text.
pub fn reply_json(reply: Reply) -> Value {
    match reply.json {
        Value::Null => serde_json::json!({ "text": reply.text }),
        json => json,
    }
}

/// The form of an answer that a caller prefers.
#[derive(Clone, Copy)]
enum AnswerForm {
    /// The text that agents read.
    Text,
    Json,
    /// Both, for a client that joins replies of two stores.
    Both,
}

impl AnswerForm {
    fn requested(headers: &HeaderMap) -> Self {
        let accepted =
            headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match accepted.trim_start() {
            text if text.starts_with("text/plain") => Self::Text,
            both if both.starts_with(BOTH_FORMS) => Self::Both,
            _ => Self::Json,
        }
    }
}

/// Returns the voice of an action. The name of a named token counts before the name in the header.
pub fn request_voice(headers: &HeaderMap, admitted: &AdmittedCaller) -> Result<Voice, RestProblem> {
    let of_token = admitted.name().map(RedactedText::stamp);
    let Some(given) = headers.get(&AGENT).filter(|_| of_token.is_none()) else {
        return Ok(Voice::Model { client: of_token, session: None });
    };
    let name = given.to_str().ok().filter(|name| name.len() <= AGENT_BYTES_MAX);
    let client = name.and_then(agent_name).ok_or_else(|| {
        let detail = format!(
            "X-Agent: must have at most {AGENT_BYTES_MAX} letters, digits, -, _ and ., such as dashboard"
        );
        RestProblem::new(StatusCode::BAD_REQUEST, detail)
    })?;
    Ok(Voice::Model { client: Some(client), session: None })
}

/// Returns the idempotency key of an action, if it has one.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, RestProblem> {
    let Some(given) = headers.get(&KEY) else { return Ok(None) };
    let is_fine = |key: &&str| {
        let is_short = (1..=KEY_BYTES_MAX).contains(&key.len());
        is_short && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    given.to_str().ok().filter(is_fine).map(Some).ok_or_else(|| {
        let detail = format!(
            "Idempotency-Key: must have 1 to {KEY_BYTES_MAX} visible ASCII characters, such as a UUID"
        );
        RestProblem::new(StatusCode::BAD_REQUEST, detail)
    })
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;
    use hyper::header::{CONTENT_TYPE, RETRY_AFTER};
    use requests::fake_api::FakeApi;

    fn answer_parts(
        method: &str,
        path: &str,
        admitted: &AdmittedCaller,
    ) -> (u16, Option<String>, String) {
        let rest =
            RestService::new(Apis::same_for_all(FakeApi::new()), Arc::new(SignIn::new(|| None)));
        let request = Request::builder().method(method).uri(format!("{PREFIX}{path}"));
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        parts.extensions.insert(admitted.clone());
        let answer = rest.answer(&parts, b"", Timestamp::UNIX_EPOCH);
        let header = |name| answer.headers().get(name)?.to_str().ok().map(str::to_owned);
        let (status, kind) = (answer.status().as_u16(), header(CONTENT_TYPE).unwrap());
        (status, header(RETRY_AFTER), kind)
    }

    fn reader() -> AdmittedCaller {
        AdmittedCaller::for_tests(Rights::Read, Some("ci"), Timestamp::UNIX_EPOCH)
    }

    // S-TOKEN-3
    #[test]
    fn a_right_that_is_missing_is_named() {
        let problem = "application/problem+json";
        for (method, path, status) in [
            ("GET", "status", 200),
            ("GET", "openapi.json", 200),
            ("POST", "memories/m1/forget", 403),
            ("POST", "memories", 403),
            ("GET", "doctor", 403),
            ("GET", "sessions?query=x", 403),
            ("POST", SIGN_IN_CODE, 403),
        ] {
            let (found, _, kind) = answer_parts(method, path, &reader());
            assert_eq!((found, kind == problem), (status, status == 403), "{path}");
        }
        let writer = AdmittedCaller::for_tests(Rights::Write, Some("ci"), Timestamp::UNIX_EPOCH);
        assert_eq!(answer_parts("POST", "memories/m1/forget", &writer).0, 200);
        assert_eq!(answer_parts("GET", "doctor", &writer).0, 403);
        let owner = AdmittedCaller::for_tests(Rights::Admin, None, Timestamp::UNIX_EPOCH);
        assert_eq!(answer_parts("GET", "doctor", &owner).0, 200);
    }

    // S-HTTP-9
    #[test]
    fn a_client_that_asks_too_much_has_to_wait() {
        let (ci, other) = (reader(), reader());
        let answers = (0..1_000).map(|_| answer_parts("GET", "graph/stats", &ci));
        let (_, retry, kind) = answers.into_iter().find(|(status, ..)| *status == 429).unwrap();
        assert_eq!(retry.as_deref(), Some("1"));
        assert_eq!(kind, "application/problem+json");
        assert_eq!(answer_parts("GET", "search?query=x&explain=true", &ci).0, 429);
        for path in ["search?query=x", "search?query=x&explain=false", "status"] {
            assert_eq!(answer_parts("GET", path, &ci).0, 200, "{path}");
        }
        assert_eq!(answer_parts("GET", "graph/stats", &other).0, 200, "another server's client");
    }
}
