//! Signing in to the dashboard: the program makes a code, the page turns it into a session. A code works once and for a
//! minute, a session for half a day. Both are random, kept as hashes, in memory alone, so a retriever that starts anew knows
//! none. Not here: the server's token (`token`), which requests need a session (`request_guard`).

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::rest::arguments::body_object;
use crate::rest::problem::{RestProblem, not_allowed};
use crate::rest::rest_content::{JSON, RestAnswer, RestContent, content_answer};
use access::admitted_caller::AdmittedCaller;
use access::named_token::NamedToken;
use access::peer::{Peer, network_of};
use access::token::{SecretSource, Token};
use event::{Problems, Timestamp};
use requests::rest_forms::PREFIX;

/// The path, below the prefix, where a code becomes a session.
pub const SIGN_IN: &str = "sign-in";

/// The path where a code is made.
pub const SIGN_IN_CODE: &str = "sign-in/code";

/// What a path of REST needs from its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredCredential {
    /// Nothing but the code in its body.
    Code,
    /// A token, not a session: else a session could prolong itself.
    Token,
    /// A token or a session.
    Either,
}

/// Returns what a path needs.
pub fn required_credential(path: &str) -> RequiredCredential {
    match path.strip_prefix(PREFIX) {
        Some(SIGN_IN) => RequiredCredential::Code,
        Some(SIGN_IN_CODE) => RequiredCredential::Token,
        Some(_) => RequiredCredential::Either,
        None => RequiredCredential::Token,
    }
}

/// How long a code works, in seconds: a browser needs a few to start.
pub const CODE_SECONDS: i64 = 60;

/// How long a session works, in seconds: a working day.
pub const SESSION_SECONDS: i64 = 12 * 60 * 60;

/// Codes that work at once; the oldest goes first.
const CODES_MAX: usize = 4;

/// Sessions that work at once; the oldest goes first.
const SESSIONS_MAX: usize = 64;

/// Wrong codes of one address within [`WRONG_SECONDS`] after which none of its codes is looked at. Nobody guesses 256 bits;
/// this also keeps an attempt from being cheap.
const WRONG_MAX: usize = 20;
const WRONG_SECONDS: i64 = 60;

/// Wrong codes that are known at once, of all addresses; the oldest goes first.
const WRONG_KNOWN_MAX: usize = 1_024;

/// The codes and sessions.
pub struct SignIn {
    secret: SecretSource,
    state: Mutex<SignInState>,
}

#[derive(Default)]
struct SignInState {
    codes: Vec<Dated>,
    sessions: Vec<Dated>,
    /// Where wrong codes came from, and when.
    wrong: Vec<(IpAddr, Timestamp)>,
}

/// A code or a session.
struct Dated {
    hash: Token,
    made: Timestamp,
    /// The named token that made the code, unless that was the server's.
    with: Option<Arc<NamedToken>>,
}

impl SignIn {
    /// Begins without codes and sessions; `secret` makes both.
    pub fn new(secret: SecretSource) -> Self {
        Self { secret, state: Mutex::default() }
    }

    /// Returns what the code of a session was made with, if this is one: a named token, or the server's.
    pub fn session(&self, shown: &Token, now: Timestamp) -> Option<Option<Arc<NamedToken>>> {
        let state = self.lock();
        let mut found = None;
        // All are compared, so that the time does not tell which.
        for session in &state.sessions {
            if session.hash.is_same(shown) {
                found = Some(session);
            }
        }
        let found = found.filter(|session| is_within(session.made, SESSION_SECONDS, now))?;
        Some(found.with.clone())
    }

    /// Tells whether a session, by its hash, has not ended.
    pub fn is_open(&self, hash: &str, now: Timestamp) -> bool {
        let state = self.lock();
        let mut found = state.sessions.iter().filter(|session| session.hash.as_hex() == hash);
        found.any(|session| is_within(session.made, SESSION_SECONDS, now))
    }

    #[cfg(test)]
    pub(crate) fn test_session(&self, now: Timestamp) -> String {
        let (token, hash) = Token::generate(self.secret).unwrap();
        self.lock().sessions.push(Dated { hash, made: now, with: None });
        token
    }

    /// Answers a request at one of the two paths.
    pub fn answer(&self, path: &str, parts: &Parts, body: &[u8], now: Timestamp) -> RestAnswer {
        if parts.method != Method::POST {
            return not_allowed("POST");
        }
        let given = body_object(parts, body);
        let result = given.and_then(|given| match path {
            SIGN_IN_CODE => {
                let with = parts.extensions.get::<AdmittedCaller>().and_then(AdmittedCaller::token);
                self.new_code(&given, with, now)
            }
            _ => self.new_session(&given, network_of(Peer::address_in(parts)), now),
        });
        let content = match result {
            Ok(json) => RestContent {
                status: StatusCode::OK,
                content_type: JSON,
                body: json.to_string().into(),
                tag: None,
                retry_after_s: None,
            },
            Err(problem) => problem.content(),
        };
        let mut answer = content_answer(&content);
        let headers = answer.headers_mut();
        if content.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if content.status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(RETRY_AFTER, HeaderValue::from(WRONG_SECONDS));
        }
        answer
    }

    /// Makes a code.
    fn new_code(
        &self,
        given: &Map<String, Value>,
        with: Option<Arc<NamedToken>>,
        now: Timestamp,
    ) -> Result<Value, RestProblem> {
        only(given, &[])?;
        let (code, hash) = self.fresh()?;
        keep(&mut self.lock().codes, Dated { hash, made: now, with }, CODES_MAX);
        Ok(json!({ "code": code, "expires_in_s": CODE_SECONDS }))
    }

    /// Turns a code into a session.
    fn new_session(
        &self,
        given: &Map<String, Value>,
        from: IpAddr,
        now: Timestamp,
    ) -> Result<Value, RestProblem> {
        only(given, &["code"])?;
        let Some(code) = given.get("code").and_then(Value::as_str) else {
            return Err(wrong_field(
                "code",
                "is missing; it must be the text that stands in the link",
            ));
        };
        let (token, hash) = self.fresh()?;
        let mut state = self.lock();
        state.wrong.retain(|(_, when)| is_within(*when, WRONG_SECONDS, now));
        if state.wrong.iter().filter(|(other, _)| *other == from).count() >= WRONG_MAX {
            let detail = format!(
                "too many wrong codes came; wait {WRONG_SECONDS} seconds, then run agent-knowledge ui again"
            );
            return Err(RestProblem::new(StatusCode::TOO_MANY_REQUESTS, detail));
        }
        // All are compared, and those that are too old go.
        let mut made_with = None;
        state.codes.retain(|known| {
            let is_this = known.hash.matches(code);
            let is_fresh = is_within(known.made, CODE_SECONDS, now);
            if is_this && is_fresh {
                made_with = Some(known.with.clone());
            }
            is_fresh && !is_this
        });
        let Some(with) = made_with else {
            if state.wrong.len() >= WRONG_KNOWN_MAX {
                state.wrong.remove(0);
            }
            state.wrong.push((from, now));
            let detail = format!(
                "the code is wrong, was used, or is older than {CODE_SECONDS} seconds; run agent-knowledge ui again"
            );
            return Err(RestProblem::new(StatusCode::UNAUTHORIZED, detail));
        };
        keep(&mut state.sessions, Dated { hash, made: now, with }, SESSIONS_MAX);
        Ok(json!({ "token": token, "expires_in_s": SESSION_SECONDS }))
    }

    fn fresh(&self) -> Result<(String, Token), RestProblem> {
        Token::generate(self.secret).map_err(|error| {
            let detail = format!("failed to {error}");
            RestProblem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
        })
    }

    fn lock(&self) -> MutexGuard<'_, SignInState> {
        // No code panics while holding the lock, so the state is valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds one, and lets the oldest go where there are too many.
fn keep(all: &mut Vec<Dated>, one: Dated, count_max: usize) {
    if all.len() >= count_max {
        all.remove(0);
    }
    all.push(one);
}

/// Tells whether a moment is at most so long ago. One that lies in the future is not: the clock was set back.
fn is_within(when: Timestamp, seconds: i64, now: Timestamp) -> bool {
    (0..1_000 * seconds).contains(&(now.as_millisecond() - when.as_millisecond()))
}

/// Refuses fields that are not among these.
fn only(given: &Map<String, Value>, names: &[&str]) -> Result<(), RestProblem> {
    match given.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(wrong_field(name, "is unknown here; leave it out")),
        None => Ok(()),
    }
}

fn wrong_field(name: &str, message: &str) -> RestProblem {
    RestProblem::from_error(&Problems::one(name, message).into())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicU8, Ordering};

    use hyper::Request;
    use hyper::header::ALLOW;

    use super::*;
    use access::token::RANDOM_BYTES;

    /// Bits that nobody should use, but different ones each time.
    fn bits() -> Option<[u8; RANDOM_BYTES]> {
        static LAST: AtomicU8 = AtomicU8::new(0);
        Some([LAST.fetch_add(1, Ordering::Relaxed); RANDOM_BYTES])
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

    fn asked(sign_in: &SignIn, path: &str, body: &Value, second: i64) -> (u16, RestAnswer) {
        let request = Request::post("/").header("content-type", JSON).body(()).unwrap();
        let body = body.to_string();
        let answer = sign_in.answer(path, &request.into_parts().0, body.as_bytes(), at(second));
        (answer.status().as_u16(), answer)
    }

    fn code(sign_in: &SignIn, second: i64) -> String {
        let made = sign_in.new_code(&Map::new(), None, at(second)).unwrap();
        made["code"].as_str().unwrap().to_owned()
    }

    fn is_session(sign_in: &SignIn, shown: &str, now: Timestamp) -> bool {
        sign_in.session(&Token::hash_of(shown), now).is_some()
    }

    fn session(sign_in: &SignIn, code: &str, second: i64) -> Result<String, u16> {
        let given = json!({ "code": code });
        let made = sign_in.new_session(given.as_object().unwrap(), HERE, at(second));
        let made = made.map_err(|problem| problem.content().status.as_u16())?;
        Ok(made["token"].as_str().unwrap().to_owned())
    }

    // S-UI-3
    #[test]
    fn a_code_works_once_and_for_a_minute() {
        let sign_in = SignIn::new(bits);
        let first = code(&sign_in, 0);
        let token = session(&sign_in, &first, 59).unwrap();
        assert_eq!(session(&sign_in, &first, 59), Err(401), "it was used");
        assert_eq!(session(&sign_in, &code(&sign_in, 0), 60), Err(401), "it is too old");
        assert_eq!(session(&sign_in, &code(&sign_in, 9), 8), Err(401), "the clock was set back");
        assert!(token != first && !is_session(&sign_in, &first, at(59)));
        // Only so many at once, the newest ones.
        let codes: Vec<String> = (0..=CODES_MAX).map(|_| code(&sign_in, 100)).collect();
        assert_eq!(session(&sign_in, &codes[0], 100), Err(401));
        assert!(codes[1..].iter().all(|code| session(&sign_in, code, 100).is_ok()));
    }

    // S-UI-4
    #[test]
    fn a_session_works_for_half_a_day() {
        let sign_in = SignIn::new(bits);
        let token = session(&sign_in, &code(&sign_in, 0), 0).unwrap();
        for (second, is_one) in [(0, true), (SESSION_SECONDS - 1, true), (SESSION_SECONDS, false)] {
            assert_eq!(is_session(&sign_in, &token, at(second)), is_one, "{second}");
        }
        assert!(!is_session(&sign_in, &token, at(-1)) && !is_session(&sign_in, "", at(0)));
        for _ in 0..SESSIONS_MAX {
            session(&sign_in, &code(&sign_in, 1), 1).unwrap();
        }
        assert!(!is_session(&sign_in, &token, at(2)), "the oldest went");
        assert_eq!(sign_in.lock().sessions.len(), SESSIONS_MAX);
        assert!(!is_session(&SignIn::new(bits), &token, at(2)), "another process knows none");
    }

    // S-UI-3
    #[test]
    fn wrong_codes_are_not_tried_for_ever() {
        let sign_in = SignIn::new(bits);
        let right = code(&sign_in, 0);
        for number in 0..WRONG_MAX {
            assert_eq!(session(&sign_in, &format!("{right}{number}"), 0), Err(401));
        }
        assert_eq!(session(&sign_in, &right, 0), Err(429));
        let (status, answer) = asked(&sign_in, SIGN_IN, &json!({ "code": "x" }), 1);
        assert_eq!((status, &answer.headers()[RETRY_AFTER]), (429, &HeaderValue::from(60)));
        assert_eq!(sign_in.lock().wrong.len(), WRONG_MAX, "refused ones are not counted");
        let elsewhere = json!({ "code": right });
        let elsewhere = elsewhere.as_object().unwrap();
        let other = Ipv4Addr::LOCALHOST.into();
        assert!(sign_in.new_session(elsewhere, other, at(1)).is_ok(), "from another address");
        assert!(session(&sign_in, &code(&sign_in, 61), 61).is_ok(), "a minute later");
        for number in 0..=WRONG_KNOWN_MAX {
            let from = Ipv4Addr::from(u32::try_from(number).unwrap()).into();
            assert!(sign_in.new_session(elsewhere, from, at(70)).is_err());
        }
        assert_eq!(sign_in.lock().wrong.len(), WRONG_KNOWN_MAX);
    }

    // S-UI-3
    #[test]
    fn only_a_json_object_with_the_code_is_read() {
        let sign_in = SignIn::new(bits);
        for body in [json!({}), json!({ "code": 1 }), json!({ "code": "x", "more": 1 }), json!([])]
        {
            assert_eq!(asked(&sign_in, SIGN_IN, &body, 0).0, 400, "{body}");
        }
        assert_eq!(asked(&sign_in, SIGN_IN_CODE, &json!({ "seconds": 9 }), 0).0, 400);
        assert_eq!(asked(&sign_in, SIGN_IN_CODE, &json!({}), 0).0, 200);
        let form = Request::post("/").header("content-type", "text/plain").body(()).unwrap();
        let answer = sign_in.answer(SIGN_IN, &form.into_parts().0, b"{\"code\":\"x\"}", at(0));
        assert_eq!(answer.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let read = Request::get("/").body(()).unwrap().into_parts().0;
        assert_eq!(sign_in.answer(SIGN_IN_CODE, &read, b"", at(0)).headers()[ALLOW], "POST");
        assert!(sign_in.lock().wrong.is_empty(), "none of them is a guess");
        let none = SignIn::new(|| None);
        assert_eq!(asked(&none, SIGN_IN_CODE, &json!({}), 0).0, 500);
    }
}
