//! What a hostile program on this machine tries over HTTP: requests hidden in others, and a thousand listeners. Not here: web
//! pages (`http`, tests/browser), wrong tokens (`sign_in`), slow senders (`http`).

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::client::{STEP, Server, head, request};
use crate::world::World;

/// More than the server has connections for.
const LISTENERS: usize = 1_000;

fn with_token(world: &World) -> (Server, String) {
    let server = Server::start(world, &["--http", "127.0.0.1:0"]);
    let said: Value = serde_json::from_str(&server.said).unwrap();
    let token = std::fs::read_to_string(said["http"]["token_file"].as_str().unwrap()).unwrap();
    (server, format!("Bearer {}", token.trim()))
}

/// Sends bytes and then something that is no request, so that the server closes the connection. Returns the status of each
/// answer; one that refuses the last is left out.
fn statuses(server: &Server, bytes: &[u8]) -> Vec<u16> {
    let mut stream = server.connect();
    stream.write_all(&[bytes, b"NO REQUEST\r\n\r\n"].concat()).unwrap();
    let mut all = Vec::new();
    // A refused connection may end with a reset.
    let _ = stream.read_to_end(&mut all);
    let all = String::from_utf8_lossy(&all);
    let answers = all.split("HTTP/1.1 ").skip(1);
    let mut statuses: Vec<u16> =
        answers.map(|answer| answer.split(' ').next().unwrap().parse().unwrap()).collect();
    if statuses.len() > 1 && statuses.last() == Some(&400) {
        statuses.pop();
    }
    statuses
}

// S-HTTP-3, S-HTTP-4
#[test]
fn http_no_request_hides_in_another() {
    let world = World::sharing();
    let (server, token) = with_token(&world);
    let hidden = "POST /api/v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 55\r\n\r\n{\"repo\":\"api\",\"event_type\":\"error\",\"lesson\":\"smuggled\"}";
    let shown = [("Host", "localhost"), ("Authorization", &*token)];
    let with = |headers: &[(&str, &str)], body: &str| {
        let all: Vec<_> = shown.iter().chain(headers).copied().collect();
        statuses(&server, (head("GET", "/api/v1/memories", &all) + body).as_bytes())
    };
    let length = hidden.len().to_string();
    // Two lengths: the server must not choose one.
    assert_eq!(with(&[("Content-Length", "0"), ("Content-Length", &length)], hidden), [400]);
    assert_eq!(with(&[("Content-Length", &format!("0, {length}"))], hidden), [400]);
    for wrong in ["+0", "-1", "0x0", "1e1", "18446744073709551616"] {
        assert_eq!(with(&[("Content-Length", wrong)], hidden), [400], "{wrong}");
    }
    // Chunks count where both stand, and what follows them is a request that needs a token of its own.
    let both = [("Content-Length", "5"), ("Transfer-Encoding", "chunked")];
    let told = with(&both, &format!("0\r\n\r\n{hidden}"));
    assert!(told == [200, 401] || told == [200] || told == [400], "{told:?}");
    for encoding in ["chunked, identity", "xchunked", " chunked\u{b}"] {
        let told = with(&[("Transfer-Encoding", encoding)], &format!("0\r\n\r\n{hidden}"));
        assert!(!told.contains(&201), "{encoding}: {told:?}");
    }
    let told =
        with(&[("Transfer-Encoding", "chunked")], &format!("5;\rx\r\nabcde\r\n0\r\n\r\n{hidden}"));
    assert!(!told.contains(&201), "an extension: {told:?}");
    let told =
        with(&[("Transfer-Encoding", "chunked")], &format!("{}0\r\n\r\n{hidden}", "0".repeat(40)));
    assert!(!told.contains(&201), "a long size: {told:?}");
    // Half a head, a folded header, a header with a space before its colon, a line break in a header.
    for odd in ["X: a\r\n b", "Content-Length : 0", "X: a\rContent-Length: 0", "X\0: a"] {
        let text =
            format!("GET /api/v1/memories HTTP/1.1\r\nHost: localhost\r\n{odd}\r\n\r\n{hidden}");
        let told = statuses(&server, text.as_bytes());
        assert!(told.iter().all(|status| matches!(status, 400 | 401)), "{odd:?}: {told:?}");
    }
    let told = statuses(&server, &request("GET", "/api/v1/memories", &shown, ""));
    assert_eq!(told, [200], "a plain one is answered");
    assert_eq!(world.asked(&["search", "smuggled"])["memories"], serde_json::json!([]));
}

/// Tells whether a stream of events has begun, and has not ended: another connection may have taken its place.
fn still_listens(mut stream: &TcpStream) -> bool {
    let mut start = [0; 12];
    stream.set_read_timeout(Some(STEP)).unwrap();
    if stream.read_exact(&mut start).is_err() || start != *b"HTTP/1.1 200" {
        return false;
    }
    stream.set_nonblocking(true).unwrap();
    let rest = stream.read_to_end(&mut Vec::new());
    rest.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

// S-EVENT-4, S-HTTP-3
#[test]
fn http_a_thousand_listeners_keep_nobody_out() {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    world.log_memory(&["--type", "error", "--lesson", "freeze the clock"]).done();
    let ask = head("GET", "/api/v1/events", &[("Host", "localhost")]);
    let listeners: Vec<TcpStream> = (0..LISTENERS)
        .map(|_| {
            let mut stream = server.connect();
            // The server may have closed it already.
            let _ = stream.write_all(ask.as_bytes());
            stream
        })
        .collect();
    assert!(server.search("clock").contains("freeze the clock"), "others are answered");
    let count = listeners.iter().filter(|stream| still_listens(stream)).count();
    assert!((1..=16).contains(&count), "{count}");
    drop(listeners);
    assert!(server.search("clock").contains("freeze the clock"));
}
