//! The name of an HTTP client in the older protocol version, where only the first request carries
//! it. The answer to that request gives the client a session id that contains the name, and the
//! client sends it from then on. So the server stores nothing for a client, and a restarted
//! retriever still knows it. It proves nothing: a name is what the client claims. Not here: names
//! in the newer protocol version, which every request carries (`mcp`).

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use rmcp::model::Extensions;
use serde::Deserialize;

use crate::agent_name::agent_name;
use guard::secrets::RedactedText;

/// The header of the session id.
const SESSION: &str = "mcp-session-id";

/// The header that every request of the newer protocol version has.
const METHOD: &str = "mcp-method";

/// The random part of an id, in hexadecimal digits.
const RANDOM_DIGITS: usize = 32;

/// The name that a session id carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientName(RedactedText);

/// The part of a first request that is read.
#[derive(Deserialize)]
struct Opening {
    method: String,
    params: Option<Params>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    client_info: Option<Client>,
}

#[derive(Deserialize)]
struct Client {
    name: String,
}

/// Returns the client name in the session id of a request.
#[must_use]
pub fn introduced_name(extensions: &Extensions) -> Option<RedactedText> {
    let parts = extensions.get::<Parts>()?;
    parts.extensions.get::<ClientName>().map(|introduced| introduced.0.clone())
}

impl ClientName {
    /// Reads the name from the session id of a request.
    pub fn from_session(headers: &HeaderMap) -> Option<Self> {
        let (name, random) = headers.get(SESSION)?.to_str().ok()?.rsplit_once('.')?;
        let is_ours =
            random.len() == RANDOM_DIGITS && random.bytes().all(|b| b.is_ascii_hexdigit());
        agent_name(name).filter(|_| is_ours).map(Self)
    }

    /// Reads the name from a first request. `None` for any other request.
    pub fn from_first_request(headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        if headers.contains_key(SESSION) || headers.contains_key(METHOD) {
            return None;
        }
        let opening: Opening = serde_json::from_slice(body).ok()?;
        if opening.method != "initialize" {
            return None;
        }
        agent_name(&opening.params?.client_info?.name).map(Self)
    }

    /// Adds the session id to an answer.
    pub fn stamp(&self, headers: &mut HeaderMap, random: u128) {
        if let Ok(id) = HeaderValue::try_from(format!("{}.{random:032x}", self.0)) {
            headers.insert(SESSION, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_returns_in_the_session_id() {
        let none = HeaderMap::new();
        for (given, name) in
            [("Claude Code", "claude-code"), ("a.b", "a.b"), ("codex-mcp-client", "codex")]
        {
            let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": {"clientInfo": {"name": given, "version": "1"}, "capabilities": {}}});
            let introduced =
                ClientName::from_first_request(&none, body.to_string().as_bytes()).unwrap();
            assert_eq!(introduced.0, *name);
            let mut headers = HeaderMap::new();
            introduced.stamp(&mut headers, 7);
            assert_eq!(ClientName::from_session(&headers), Some(introduced));
            assert_eq!(ClientName::from_first_request(&headers, body.to_string().as_bytes()), None);
        }
    }

    #[test]
    fn a_foreign_session_id_has_no_name() {
        for id in [
            "",
            "x",
            "codex",
            "codex.",
            "codex.123",
            &format!(".{}", "0".repeat(32)),
            &format!("---.{}", "0".repeat(32)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, id.parse().unwrap());
            assert_eq!(ClientName::from_session(&headers), None, "{id}");
        }
        for body in [
            &b""[..],
            b"{}",
            b"[]",
            b"{\"method\":\"initialize\"}",
            b"{\"method\":\"ping\",\"params\":{\"clientInfo\":{\"name\":\"x\"}}}",
        ] {
            assert_eq!(ClientName::from_first_request(&HeaderMap::new(), body), None);
        }
    }
}
