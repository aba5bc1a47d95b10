//! Events over a WebSocket: each message is one event as a JSON object, `{"id", "event", "data"}`. The server tells, and the
//! client needs to send nothing. Not here: which events there are (`live_journal`), who may listen (`events`).

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{HeaderMap, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::rest::event_pieces::{EventPieces, keep_alive};
use crate::rest::problem::RestProblem;
use access::connection_limit::Connection;

/// The protocol that a client names beside its token, since a browser accepts only one that it named.
const PROTOCOL: &str = "agent-knowledge";

/// What stands before a token among the protocols. A page cannot set `Authorization` for a WebSocket.
const TOKEN: &str = "bearer.";

/// The only version of the protocol (RFC 6455, section 4.1).
const VERSION: &str = "13";

/// Longest message that is read, in bytes. Nothing but control frames is expected, which have at most 125.
const READ_BYTES_MAX: usize = 1024;

/// Bytes of messages that wait for the system to take them. Pieces have about 16 KiB, and the next one is fetched when the
/// last was taken.
const WRITE_BYTES_MAX: usize = 256 * 1024;

/// Why the socket of a token that no longer holds is closed.
const REVOKED: &str = "the token was revoked or has expired";

/// How long the last frame may take, in milliseconds.
const GOODBYE_MS: u64 = 200;

/// A connection that becomes a WebSocket.
pub struct SocketUpgrade {
    accept: HeaderValue,
    names_protocol: bool,
    upgrade: OnUpgrade,
}

impl SocketUpgrade {
    /// Takes the upgrade out of a request; `None` for one that asks for none.
    pub fn from_request(parts: &mut Parts) -> Option<Result<Self, RestProblem>> {
        is_asked(&parts.headers).then(|| Self::checked(parts))
    }

    fn checked(parts: &mut Parts) -> Result<Self, RestProblem> {
        let wrong = |detail: &str| RestProblem::new(StatusCode::BAD_REQUEST, detail);
        if parts.headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|given| given != VERSION) {
            return Err(wrong("Sec-WebSocket-Version: must be 13"));
        }
        let key = parts.headers.get(SEC_WEBSOCKET_KEY);
        let key = key.ok_or_else(|| wrong("Sec-WebSocket-Key: is missing"))?;
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes()));
        let accept = accept.map_err(|_| wrong("Sec-WebSocket-Key: cannot be answered"))?;
        let names_protocol = protocols(&parts.headers).any(|name| name == PROTOCOL);
        let upgrade = parts.extensions.remove::<OnUpgrade>();
        let upgrade = upgrade.ok_or_else(|| wrong("Upgrade: needs a connection of HTTP/1.1"))?;
        Ok(Self { accept, names_protocol, upgrade })
    }

    /// Returns the answer after which the connection is a WebSocket.
    pub fn answer(&self) -> Response<Full<Bytes>> {
        let mut answer = Response::new(Full::default());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept.clone());
        if self.names_protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
        }
        answer
    }
}

/// Tells whether a request asks for a WebSocket.
fn is_asked(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    words(headers, &SEC_WEBSOCKET_PROTOCOL)
}

fn words<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> + use<'a> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|list| list.split(',')).map(str::trim)
}

/// Returns the token that a request for a WebSocket names among its protocols.
pub fn token_in(headers: &HeaderMap) -> Option<&str> {
    let mut tokens = protocols(headers).filter_map(|name| name.strip_prefix(TOKEN));
    is_asked(headers).then(|| tokens.next()).flatten()
}

/// Tells a client what happens, until one side ends. `connection` lasts as long.
pub async fn serve_socket(
    opening: SocketUpgrade,
    pieces: EventPieces,
    connection: Arc<Connection>,
) {
    let Ok(upgraded) = opening.upgrade.await else { return };
    let settings = WebSocketConfig::default()
        .read_buffer_size(READ_BYTES_MAX)
        .max_message_size(Some(READ_BYTES_MAX))
        .max_frame_size(Some(READ_BYTES_MAX))
        .max_write_buffer_size(WRITE_BYTES_MAX);
    let stream = TokioIo::new(upgraded);
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(settings)).await;
    let told = EventSocket { socket, pieces, is_answered: true };
    tokio::select! {
        () = told.run() => {}
        // It reads too slowly, and may never read again.
        () = connection.is_replaced() => {}
    }
}

struct EventSocket {
    socket: WebSocketStream<TokioIo<Upgraded>>,
    pieces: EventPieces,
    /// Whether the client has sent something since the last ping.
    is_answered: bool,
}

impl EventSocket {
    async fn run(mut self) {
        let (code, why) = self.last().await;
        let Some(code) = code else { return };
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(why) };
        let goodbye = self.socket.close(Some(frame));
        // A client that reads nothing hears nothing.
        let _ = tokio::time::timeout(Duration::from_millis(GOODBYE_MS), goodbye).await;
    }

    /// Tells until there is a reason to end; without a code the other side has ended.
    async fn last(&mut self) -> (Option<CloseCode>, &'static str) {
        let mut keep_alive = keep_alive();
        loop {
            let sent = tokio::select! {
                () = self.pieces.server_end.as_mut() => return (Some(CloseCode::Away), "the retriever ends"),
                piece = self.pieces.waiting.recv() => match piece {
                    None => return (Some(CloseCode::Again), "too slow; go on after the last event"),
                    Some(_) if !(self.pieces.may_listen)() => {
                        return (Some(CloseCode::Policy), REVOKED);
                    }
                    Some(piece) => self.send(&piece).await,
                },
                _ = keep_alive.tick() => {
                    if !(self.pieces.may_listen)() {
                        return (Some(CloseCode::Policy), REVOKED);
                    }
                    if !std::mem::take(&mut self.is_answered) {
                        return (Some(CloseCode::Policy), "no answer to a ping");
                    }
                    self.socket.send(Message::Ping(Bytes::new())).await.is_ok()
                }
                read = self.socket.next() => match read {
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                        self.is_answered = true;
                        true
                    }
                    Some(Ok(Message::Text(_) | Message::Binary(_))) => {
                        return (Some(CloseCode::Unsupported), "this socket only tells; ask over REST");
                    }
                    Some(Ok(Message::Close(_) | Message::Frame(_)) | Err(_)) | None => false,
                },
            };
            if !sent {
                return (None, "");
            }
        }
    }

    async fn send(&mut self, piece: &[u8]) -> bool {
        for message in messages(piece) {
            if self.socket.feed(Message::text(message)).await.is_err() {
                return false;
            }
        }
        self.socket.flush().await.is_ok()
    }
}

/// Returns the messages for blocks of server-sent events, as `live` writes them.
fn messages(piece: &[u8]) -> impl Iterator<Item = String> {
    let text = std::str::from_utf8(piece).unwrap_or_default();
    text.split("\n\n").filter(|block| !block.is_empty()).map(|block| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let text = |name, field: &str| format!("\"{name}\":\"{field}\"");
        let id = field("id: ").map(|id| text("id", id));
        let kind = field("event: ").map(|kind| text("event", kind));
        let data = field("data: ").map(|data| format!("\"data\":{data}"));
        let fields: Vec<String> = [id, kind, data].into_iter().flatten().collect();
        format!("{{{}}}", fields.join(","))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-EVENT-8
    #[test]
    fn a_message_is_one_event() {
        let piece = "retry: 1000\nid: 1-2\n\nid: 1-9\nevent: added\ndata: {\"at\":\"x\"}\n\nevent: lost\ndata: {}\n\n";
        let told: Vec<String> = messages(piece.as_bytes()).collect();
        assert_eq!(
            told,
            [
                r#"{"id":"1-2"}"#,
                r#"{"id":"1-9","event":"added","data":{"at":"x"}}"#,
                r#"{"event":"lost","data":{}}"#
            ]
        );
    }

    // S-EVENT-8
    #[test]
    fn a_token_stands_among_the_protocols() {
        let mut headers = HeaderMap::new();
        let protocols = HeaderValue::from_static("agent-knowledge, bearer.0123abc");
        headers.insert(SEC_WEBSOCKET_PROTOCOL, protocols);
        assert_eq!(token_in(&headers), None, "only a WebSocket shows it so");
        headers.insert(UPGRADE, HeaderValue::from_static("WebSocket"));
        assert_eq!(token_in(&headers), Some("0123abc"));
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("agent-knowledge"));
        assert_eq!(token_in(&headers), None);
    }
}
