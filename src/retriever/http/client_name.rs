//! Who asks over HTTP in the older era of the protocol, where only the first request says it: the answer to that one
//! gives the client a session id with its name in it, and it shows that from then on. So nothing is kept here for
//! a client, and a retriever that is started anew still knows it. It is no proof: a name is what a client says, there
//! as here. Not here: names in the newer era, which every request has (`mcp`).

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use rmcp::model::Extensions;
use serde::Deserialize;

use crate::mcp::agent_name;

/// The header of the session id.
const SESSION: &str = "mcp-session-id";

/// The header that every request of the newer era has.
const METHOD: &str = "mcp-method";

/// What makes an id one of many, in hexadecimal digits.
const RANDOM_DIGITS: usize = 32;

/// The name that a session id carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientName(String);

/// What is looked at of a first request.
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

/// Returns the name of whoever makes a request, as its session id tells it.
#[must_use]
pub fn introduced(extensions: &Extensions) -> Option<String> {
    let parts = extensions.get::<Parts>()?;
    parts.extensions.get::<ClientName>().map(|introduced| introduced.0.clone())
}

impl ClientName {
    /// Reads the session id of a request.
    pub(super) fn shown(headers: &HeaderMap) -> Option<Self> {
        let (name, random) = headers.get(SESSION)?.to_str().ok()?.rsplit_once('.')?;
        let is_ours =
            random.len() == RANDOM_DIGITS && random.bytes().all(|b| b.is_ascii_hexdigit());
        agent_name(name).filter(|_| is_ours).map(Self)
    }

    /// Reads the name in a first request, where it is one.
    pub(super) fn told(headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        if headers.contains_key(SESSION) || headers.contains_key(METHOD) {
            return None;
        }
        let opening: Opening = serde_json::from_slice(body).ok()?;
        if opening.method != "initialize" {
            return None;
        }
        agent_name(&opening.params?.client_info?.name).map(Self)
    }

    /// Puts the session id on an answer.
    pub(super) fn stamp(&self, headers: &mut HeaderMap, random: u128) {
        if let Ok(id) = HeaderValue::try_from(format!("{}.{random:032x}", self.0)) {
            headers.insert(SESSION, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_told_once_is_shown_from_then_on() {
        let none = HeaderMap::new();
        for (told, name) in
            [("Claude Code", "claude-code"), ("a.b", "a.b"), ("codex-mcp-client", "codex")]
        {
            let body = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": {"clientInfo": {"name": told, "version": "1"}, "capabilities": {}}});
            let introduced = ClientName::told(&none, body.to_string().as_bytes()).unwrap();
            assert_eq!(introduced.0, name);
            let mut headers = HeaderMap::new();
            introduced.stamp(&mut headers, 7);
            assert_eq!(ClientName::shown(&headers), Some(introduced));
            assert_eq!(ClientName::told(&headers, body.to_string().as_bytes()), None);
        }
    }

    #[test]
    fn what_is_no_session_id_of_ours_names_nobody() {
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
            assert_eq!(ClientName::shown(&headers), None, "{id}");
        }
        for body in [
            &b""[..],
            b"{}",
            b"[]",
            b"{\"method\":\"initialize\"}",
            b"{\"method\":\"ping\",\"params\":{\"clientInfo\":{\"name\":\"x\"}}}",
        ] {
            assert_eq!(ClientName::told(&HeaderMap::new(), body), None);
        }
    }
}
