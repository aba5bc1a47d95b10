//! Tokens with names: each may do what its right allows, its actions are logged in its name, and one that was revoked is refused
//! at once. Not here: how they are counted and kept (unit tests of `access`), over TLS (`tls`).

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::client::{HttpAnswer, Server, request};
use crate::raw_client::Era;
use crate::world::World;

/// Makes a token.
#[track_caller]
pub fn token(world: &World, name: &str, rights: &str) -> String {
    let made = world.agent_knowledge(&["token", "create", name, "--rights", rights]);
    let printed = made.done();
    let token = printed.strip_suffix('\n').unwrap();
    assert!(token.len() == 64 && token.bytes().all(|b| b.is_ascii_hexdigit()), "{printed}");
    token.to_owned()
}

/// Asks REST with a token.
fn asked(server: &Server, token: &str, method: &str, path: &str, body: &str) -> HttpAnswer {
    let shown = format!("Bearer {token}");
    let headers = [("Host", "localhost"), ("Authorization", &*shown), ("X-Agent", "somebody")];
    server.send(&request(method, &format!("/api/v1/{path}"), &headers, body))
}

fn status(server: &Server, token: &str) -> u16 {
    asked(server, token, "GET", "status", "").status
}

fn lesson(text: &str) -> String {
    json!({ "event_type": "fact", "lesson": text, "repo": "acme/web", "agent_id": "somebody" })
        .to_string()
}

// S-TOKEN-1
#[test]
fn token_is_printed_once_and_listed_by_name() {
    let world = World::new();
    let made =
        world.agent_knowledge(&["token", "create", "ci", "--rights", "read", "--expires", "90d"]);
    assert!(made.messages.contains("ci has the right read, until"), "{}", made.messages);
    let token = made.done().trim().to_owned();
    let file = world.config_file().with_file_name("tokens");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(&token) && kept.contains("\"sha256\""), "{kept}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let listed = world.agent_knowledge(&["token", "list"]).done();
    assert!(listed.starts_with("ci  read ") && listed.contains("expires "), "{listed}");
    let json = world.asked(&["token", "list"]);
    assert_eq!(
        (&json["tokens"][0]["name"], &json["tokens"][0]["expired"]),
        (&json!("ci"), &json!(false))
    );
    for (args, exit, told) in [
        (&["token", "create", "ci", "--rights", "read"][..], 65, "revoke it first"),
        (&["token", "create", "C I", "--rights", "read"], 65, "NAME: must have 1 to 64"),
        (
            &["token", "create", "x", "--rights", "read", "--expires", "soon"],
            65,
            "--expires: must be",
        ),
        (&["token", "create", "x", "--rights", "root"], 64, "read, write, admin"),
        (&["token", "create", "x"], 64, "--rights"),
        (&["token", "revoke", "cii"], 1, "did you mean ci?"),
    ] {
        let ran = world.agent_knowledge(args);
        assert_eq!(ran.exit, Some(exit), "{args:?}: {}", ran.messages);
        assert!(ran.messages.contains(told), "{args:?}: {}", ran.messages);
    }
    world.agent_knowledge(&["token", "revoke", "ci"]).done();
    assert!(world.agent_knowledge(&["token", "list"]).done().starts_with("no tokens"));
}

// S-TOKEN-3
#[test]
fn token_allows_what_its_right_says() {
    let world = World::sharing();
    let tokens = ["read", "write", "admin"].map(|rights| token(&world, rights, rights));
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let saved = asked(&server, &tokens[1], "POST", "memories", &lesson("walruses wear hats"));
    assert_eq!(saved.status, 201, "{saved:?}");
    let id = serde_json::from_str::<Value>(&saved.body).unwrap()["id"].clone();
    let id = id.as_str().unwrap();
    let feedback = (&*format!("memories/{id}/feedback"), r#"{"verdict":"worked"}"#);
    let answers = |method: &str, path: &str, body: &str| {
        [0, 1, 2].map(|one: usize| asked(&server, &tokens[one], method, path, body).status)
    };
    assert_eq!(answers("GET", "search?query=walruses", ""), [200, 200, 200]);
    assert_eq!(answers("GET", "export?repo=acme/web", ""), [200, 200, 200]);
    assert_eq!(answers("POST", feedback.0, feedback.1), [403, 200, 200]);
    assert_eq!(answers("GET", "doctor", ""), [403, 403, 200]);
    assert_eq!(answers("GET", "sessions", ""), [403, 403, 200]);
    assert_eq!(answers("POST", "sign-in/code", ""), [403, 403, 200]);
    let refused = asked(&server, &tokens[0], "POST", feedback.0, feedback.1);
    assert!(refused.has("content-type", "application/problem+json"), "{refused:?}");
    assert!(refused.body.contains("the right write"), "{refused:?}");
    assert_eq!(status(&server, &"0".repeat(64)), 401);
}

// S-TOKEN-3
#[test]
fn token_shows_over_mcp_only_what_it_may_call() {
    let world = World::sharing();
    let tokens = ["read", "write", "admin"].map(|rights| token(&world, rights, rights));
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let listed = |number: usize| -> Vec<String> {
        let listed = server.showing(&tokens[number]).ask("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(0), ["memory_search", "memory_context", "memory_related"]);
    assert!(listed(1).contains(&"memory_save".to_owned()));
    assert!(!listed(1).contains(&"session_search".to_owned()));
    assert!(listed(2).contains(&"session_search".to_owned()));
    let save = json!({ "event_type": "fact", "lesson": "otters juggle", "repo": "acme/web" });
    let reader = server.showing(&tokens[0]);
    let (text, is_error) = reader.call("memory_save", &save);
    assert!(is_error && text.contains("the right write"), "{text}");
    assert!(world.log_names().is_empty(), "nothing was written");
    server.showing(&tokens[1]).told("memory_save", &save);
    assert!(reader.search("otters").contains("otters juggle"));
    let (text, is_error) = reader.call("session_search", &json!({ "query": "x" }));
    assert!(is_error && text.contains("the right admin"), "{text}");
    let past = reader.ask("resources/read", json!({ "uri": "session://claude-code/x" }));
    assert!(past["error"]["message"].as_str().unwrap().contains("owner"), "{past}");
}

// S-TOKEN-4
#[test]
fn token_names_who_did_it() {
    let world = World::sharing();
    let (anna, own) = (token(&world, "anna@laptop", "write"), "0123456789abcdef0123456789abcdef");
    let mut command = Server::command(&world, &["--http", "127.0.0.1:0"]);
    let server = Server::of(command.env("AGENT_KNOWLEDGE_TOKEN", own));
    assert_eq!(asked(&server, &anna, "POST", "memories", &lesson("by REST")).status, 201);
    for era in [Era::Modern, Era::Legacy] {
        let mut client = server.showing(&anna);
        client.hello(era);
        let save = json!({ "event_type": "fact", "lesson": format!("by MCP {era:?}"), "repo": "acme/web", "agent_id": "x" });
        client.told("memory_save", &save);
    }
    assert_eq!(asked(&server, own, "POST", "memories", &lesson("by the owner")).status, 201);
    let agents: Vec<String> = world.all_events().into_iter().map(|one| one.agent_id).collect();
    assert_eq!(agents, ["anna@laptop", "anna@laptop", "anna@laptop", "somebody"]);
    let audit = asked(&server, &anna, "GET", "audit?agent=anna@laptop", "");
    assert_eq!(audit.body.matches("\"agent\":\"anna@laptop\"").count(), 3, "{audit:?}");
}

// S-TOKEN-2, S-UI-4
#[test]
fn token_that_is_revoked_is_refused_at_once() {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let (boss, ci) = (token(&world, "boss", "admin"), token(&world, "ci", "read"));
    assert_eq!((status(&server, &boss), status(&server, &ci)), (200, 200), "made while it runs");
    let code = asked(&server, &boss, "POST", "sign-in/code", "");
    let code: Value = serde_json::from_str(&code.body).unwrap();
    let body = json!({ "code": code["code"] }).to_string();
    let host = [("Host", "localhost")];
    let session = server.send(&request("POST", "/api/v1/sign-in", &host, &body));
    let session: Value = serde_json::from_str(&session.body).unwrap();
    let session = session["token"].as_str().unwrap();
    assert_eq!(status(&server, session), 200);
    world.agent_knowledge(&["token", "revoke", "boss"]).done();
    assert_eq!((status(&server, &boss), status(&server, session)), (401, 401));
    assert_eq!(status(&server, &ci), 200);
    let file = world.config_file().with_file_name("tokens");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(status(&server, &ci), 401);
    let told = world.agent_knowledge(&["status"]).done();
    assert!(told.contains("none is accepted") && told.contains("chmod 600"), "{told}");
    let again = world.agent_knowledge(&["serve", "--http", "127.0.0.1:0"]);
    assert_eq!(again.exit, Some(78), "{}", again.messages);
}

// S-HTTP-8
#[test]
fn token_guessing_is_answered_with_wait() {
    let world = World::sharing();
    let ci = token(&world, "ci", "read");
    let new = token(&world, "new", "read");
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    assert_eq!(status(&server, &ci), 200);
    for _ in 0..40 {
        assert_eq!(status(&server, &"f".repeat(64)), 401, "the same one guesses nothing");
    }
    for number in 1..20 {
        assert_eq!(status(&server, &format!("{number:064}")), 401, "{number}");
    }
    let refused = asked(&server, &"e".repeat(64), "GET", "status", "");
    assert!(refused.status == 429 && refused.has("retry-after", "60"), "{refused:?}");
    assert_eq!(status(&server, &ci), 200, "it was used before");
    assert_eq!(status(&server, &new), 200, "a program of this machine keeps nobody out");
}

// S-TOKEN-2
#[test]
fn token_that_is_revoked_hears_nothing_more() {
    let world = World::sharing();
    let ci = token(&world, "ci", "read");
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let shown = format!("Bearer {ci}");
    let headers = [("Host", "localhost"), ("Authorization", &*shown)];
    let mut stream = server.connect();
    stream.write_all(&request("GET", "/api/v1/events", &headers, "")).unwrap();
    let save = |lesson: &str| {
        let args = ["--repo", "acme/web", "--type", "fact", "--lesson", lesson];
        world.log_memory(&args).done().trim().to_owned()
    };
    let mut heard = String::new();
    let mut piece = [0; 4096];
    let mut until = |heard: &mut String, told: &str| {
        while !heard.contains(told) {
            let size = stream.read(&mut piece).unwrap();
            assert!(size > 0, "it ended: {heard}");
            heard.push_str(std::str::from_utf8(&piece[..size]).unwrap());
        }
    };
    until(&mut heard, "\nid: ");
    let first = save("walruses wear hats");
    until(&mut heard, &first);
    world.agent_knowledge(&["token", "revoke", "ci"]).done();
    let second = save("otters juggle");
    until(&mut heard, "\r\n0\r\n\r\n");
    assert!(!heard.contains(&second), "{heard}");
}
