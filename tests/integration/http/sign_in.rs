//! Signing in to the dashboard: a code works once, a session is for REST alone and ends with the retriever, and nobody
//! signs in by a page of another site. Not here: the files of the page (`page`), how long both work (`retriever`).

use serde_json::{Value, json};

use super::client::{HttpAnswer, Server, request};
use crate::world::World;

/// A server with a token, and the header that shows it.
fn served() -> (World, Server, String) {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let told: Value = serde_json::from_str(&server.said).unwrap();
    let token = std::fs::read_to_string(told["http"]["token_file"].as_str().unwrap()).unwrap();
    (world, server, format!("Bearer {}", token.trim()))
}

fn post(server: &Server, path: &str, headers: &[(&str, &str)], body: &str) -> HttpAnswer {
    let headers: Vec<_> = [("Host", "localhost")].iter().chain(headers).copied().collect();
    server.send(&request("POST", path, &headers, body))
}

fn status_shown(server: &Server, shown: &str) -> u16 {
    let headers = [("Host", "localhost"), ("Authorization", shown)];
    server.send(&request("GET", "/api/v1/status", &headers, "")).status
}

fn code(server: &Server, shown: &str) -> String {
    let answer = post(server, "/api/v1/sign-in/code", &[("Authorization", shown)], "");
    assert_eq!(answer.status, 200, "{answer:?}");
    let made: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(made["expires_in_s"], 60);
    made["code"].as_str().unwrap().to_owned()
}

fn signed_in(server: &Server, code: &str) -> HttpAnswer {
    post(server, "/api/v1/sign-in", &[], &json!({ "code": code }).to_string())
}

/// The header that shows a session.
fn session(answer: &HttpAnswer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    let made: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(made["expires_in_s"], 43_200);
    format!("Bearer {}", made["token"].as_str().unwrap())
}

// S-UI-3, S-UI-4
#[test]
fn sign_in_works_once_and_ends_with_the_retriever() {
    let (world, mut server, token) = served();
    let code = code(&server, &token);
    assert!(code.len() == 64 && !token.contains(&code));
    let first = signed_in(&server, &code);
    let shown = session(&first);
    assert!(first.has("cache-control", "no-store"), "{first:?}");
    assert!(!first.head.to_ascii_lowercase().contains("cookie"), "{first:?}");
    assert_eq!(status_shown(&server, &shown), 200);
    assert_eq!(status_shown(&server, &format!("Bearer {code}")), 401);
    let again = signed_in(&server, &code);
    assert_eq!(again.status, 401, "{again:?}");
    assert!(again.body.contains("agent-knowledge ui") && !again.body.contains(&code), "{again:?}");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(post(&server, "/mcp", &[("Authorization", &shown)], ping).status, 401);
    let more = post(&server, "/api/v1/sign-in/code", &[("Authorization", &shown)], "");
    assert_eq!(more.status, 401, "a session would prolong itself");
    // Neither is in anything that people read or keep.
    let said = server.stop();
    let secrets = [code.as_str(), shown.strip_prefix("Bearer ").unwrap()];
    assert!(secrets.iter().all(|secret| !said.contains(secret)), "{said}");
    for (path, bytes) in crate::world::bytes_under(&world.path("")) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{}", path.display());
    }
    let next = Server::start(&world, &["--http", "127.0.0.1:0"]);
    assert_eq!(status_shown(&next, &shown), 401);
    assert_eq!(status_shown(&next, &token), 200);
}

// S-UI-3
#[test]
fn sign_in_needs_the_token_or_a_code() {
    let (_world, server, token) = served();
    for shown in [None, Some("Bearer x")] {
        let headers: Vec<_> = shown.map(|shown| ("Authorization", shown)).into_iter().collect();
        assert_eq!(post(&server, "/api/v1/sign-in/code", &headers, "").status, 401);
    }
    let right = code(&server, &token);
    for body in ["", "{}", "[]", "{", r#"{"code":7}"#, r#"{"code":"x","more":1}"#] {
        assert_eq!(post(&server, "/api/v1/sign-in", &[], body).status, 400, "{body}");
    }
    let long = format!(r#"{{"code":"{}"}}"#, "x".repeat(5_000));
    assert_eq!(post(&server, "/api/v1/sign-in", &[], &long).status, 413);
    for method in ["GET", "PUT"] {
        let sent = request(method, "/api/v1/sign-in", &[("Host", "localhost")], "");
        let answer = server.send(&sent);
        assert!(answer.status == 405 && answer.has("allow", "POST"), "{answer:?}");
    }
    // Guesses: some are told that they are wrong, then none is looked at.
    let guesses: Vec<u16> =
        (0..25).map(|number| signed_in(&server, &format!("{right}{number}")).status).collect();
    assert_eq!(guesses, [[401; 20].as_slice(), &[429; 5]].concat());
    let refused = signed_in(&server, &right);
    assert!(refused.status == 429 && refused.has("retry-after", "60"), "{refused:?}");
}

// S-HTTP-2, S-UI-3
#[test]
fn sign_in_is_not_for_other_sites() {
    let (_world, server, token) = served();
    let code = code(&server, &token);
    let body = json!({ "code": code }).to_string();
    let own = format!("http://localhost:{}", server.port());
    let by = |headers: &[(&str, &str)], body: &str| {
        post(&server, "/api/v1/sign-in", headers, body).status
    };
    for origin in ["http://evil.example", "null", "http://localhost:1"] {
        assert_eq!(by(&[("Origin", origin)], &body), 403, "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        let opened = [
            ("Sec-Fetch-Site", site),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"),
        ];
        assert_eq!(by(&opened, &body), 403, "{site}");
    }
    // A form can send these without asking first.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let lines = format!(
            "POST /api/v1/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(server.send(lines.as_bytes()).status, 415, "{kind}");
    }
    assert_eq!(by(&[("Origin", &own), ("Sec-Fetch-Site", "same-origin")], &body), 200);
}
