//! Events over a WebSocket: the same ones as over HTTP, behind the same checks, and again after a killed retriever. The client is
//! a library's; a real browser listens in tests/browser. Not here: which events there are (`events`).

use std::net::TcpStream;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::error::Error;
use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

use super::client::{Server, request};
use super::tokens::token;
use crate::world::World;

type Socket = WebSocket<TcpStream>;

/// Opens a WebSocket; a refusal is its status.
fn opened(server: &Server, path: &str, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
    let address = format!("ws://localhost:{}/api/v1/{path}", server.port());
    let mut request = address.into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match tungstenite::client(request, server.connect()) {
        Ok((socket, _)) => Ok(socket),
        Err(HandshakeError::Failure(Error::Http(answer))) => Err(answer.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// Reads the next message; nothing at the end.
fn read(socket: &mut Socket) -> Option<Value> {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
            Ok(Message::Close(_)) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Reads on until a memory was added, and returns its id with the place after it.
#[track_caller]
fn added(socket: &mut Socket) -> (String, String) {
    loop {
        let told = read(socket).expect("an event, not the end");
        if told["event"] == json!("added") {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            return (text(&told["data"]["id"]), text(&told["id"]));
        }
    }
}

fn save(world: &World, lesson: &str) -> String {
    world.log_memory(&["--type", "error", "--lesson", lesson]).done().trim().to_owned()
}

// S-EVENT-8
#[test]
fn http_a_socket_goes_on_after_a_kill() {
    let world = World::sharing();
    let mut server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let mut socket = opened(&server, "events", &[]).unwrap();
    let place = read(&mut socket).unwrap();
    assert!(place["id"].is_string() && place.get("event").is_none(), "{place}");
    let first = save(&world, "freeze the clock");
    let (id, after) = added(&mut socket);
    assert_eq!(id, first);
    server.signal("-KILL");
    server.wait();
    let between = save(&world, "bind port 0");
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let mut socket = opened(&server, &format!("events?after={after}"), &[]).unwrap();
    let last = save(&world, "pin the toolchain");
    assert_eq!([added(&mut socket).0, added(&mut socket).0], [between, last]);
}

// S-EVENT-8, S-HTTP-2
#[test]
fn http_a_socket_stands_behind_the_door() {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let said: Value = serde_json::from_str(&server.said).unwrap();
    let token = std::fs::read_to_string(said["http"]["token_file"].as_str().unwrap()).unwrap();
    let token = token.trim();
    let status = |headers: &[(&'static str, &str)]| opened(&server, "events", headers).err();
    assert_eq!(status(&[]), Some(401));
    let protocols = format!("agent-knowledge, bearer.{token}");
    let own = ("Sec-WebSocket-Protocol", &*protocols);
    assert_eq!(status(&[own]), None);
    assert_eq!(status(&[own, ("Origin", "http://evil.example")]), Some(403));
    assert_eq!(status(&[("Sec-WebSocket-Protocol", "agent-knowledge, bearer.wrong")]), Some(401));
    let bearer = format!("Bearer {token}");
    assert_eq!(status(&[("Authorization", &bearer)]), None);
    assert_eq!(status(&[("Authorization", "Bearer wrong"), own]), Some(401));
    let shown = [("Host", "localhost"), own];
    let status = |method: &str, path: &str, headers: &[(&str, &str)]| {
        let headers: Vec<_> = shown.iter().chain(headers).copied().collect();
        server.send(&request(method, path, &headers, "")).status
    };
    assert_eq!(status("GET", "/api/v1/memories", &[]), 401, "it is no token of other requests");
    let upgrade = ("Upgrade", "websocket");
    assert_eq!(status("GET", "/api/v1/memories", &[upgrade]), 200, "and nothing else is upgraded");
    assert_eq!(status("GET", "/api/v1/events", &[upgrade]), 400);
    let version = ("Sec-WebSocket-Version", "12");
    assert_eq!(status("GET", "/api/v1/events", &[upgrade, version]), 400);
}

// S-EVENT-8
#[test]
fn http_a_socket_says_why_it_closes() {
    let world = World::sharing();
    let mut server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let closed = |socket: &mut Socket| loop {
        match socket.read().unwrap() {
            Message::Close(frame) => return frame.unwrap().code,
            other => assert!(other.is_text(), "{other:?}"),
        }
    };
    let mut talks = opened(&server, "events", &[]).unwrap();
    talks.send(Message::text("hello")).unwrap();
    assert_eq!(closed(&mut talks), CloseCode::Unsupported);
    let mut sockets: Vec<Socket> = Vec::new();
    let refused = loop {
        match opened(&server, "events", &[]) {
            Ok(socket) => sockets.push(socket),
            Err(status) => break status,
        }
    };
    // The place of the one that talked may be free by now.
    assert!(refused == 503 && (15..=16).contains(&sockets.len()), "{refused} {}", sockets.len());
    server.signal("-TERM");
    server.wait();
    for socket in &mut sockets {
        assert_eq!(closed(socket), CloseCode::Away);
    }
}

// S-EVENT-8, S-TOKEN-2
#[test]
fn http_a_socket_of_a_revoked_token_is_closed() {
    let world = World::sharing();
    let ci = token(&world, "ci", "read");
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let bearer = format!("Bearer {ci}");
    let mut socket = opened(&server, "events", &[("Authorization", &bearer)]).unwrap();
    read(&mut socket).expect("its place");
    let first = save(&world, "freeze the clock");
    assert_eq!(added(&mut socket).0, first);
    world.agent_knowledge(&["token", "revoke", "ci"]).done();
    save(&world, "bind port 0");
    loop {
        match socket.read().unwrap() {
            Message::Close(frame) => {
                assert_eq!(frame.unwrap().code, CloseCode::Policy);
                return;
            }
            told => assert!(!told.to_string().contains("\"added\""), "{told}"),
        }
    }
}
