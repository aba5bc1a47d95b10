//! Cases about clients of MCP: where they start a server, and what they send. Not here: the protocol itself (`mcp`, `http`).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{key_at, repository};
use crate::http::client::{Server, request};
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World};

/// Saves one lesson as a client that offers its roots and answers with this one, and returns what the tool said.
fn saved_with_root(world: &World, started_in: &Path, root: &Path, lesson: &str) -> String {
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.arg("mcp").current_dir(started_in).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    say(
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {"roots": {"listChanged": true}}, "clientInfo": {"name": "Cursor", "version": "2"}}}),
    );
    let mut answer = String::new();
    for line in BufReader::new(output).lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if message["method"] == "roots/list" {
            let roots = json!([{ "uri": format!("file://{}", root.display()), "name": "one" }]);
            say(json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots}}));
        } else if message["id"] == 1 {
            say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            say(
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_save",
                "arguments": {"event_type": "fact", "lesson": lesson}}}),
            );
        } else if message["id"] == 2 {
            answer = message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
            break;
        }
    }
    let _ = server.kill();
    let _ = server.wait();
    answer
}

// S-REPO-7, S-MCP-1
#[test]
fn case_03_a_server_that_starts_in_a_home() {
    let world = World::new();
    let top = repository(&world, "home/src/quay", Some("git@gitlab.com:ida/quay.git"));
    for (number, place) in [world.home(), "/".into()].iter().enumerate() {
        let lesson = format!("crane {number} lifts six tons");
        let told = saved_with_root(&world, place, &top, &lesson);
        assert!(told.contains("gitlab.com/ida/quay"), "{}: {told}", place.display());
    }
    assert_eq!(world.log_names(), ["gitlab.com+ida+quay.jsonl"]);
    // Without roots it asks for the repository, as over HTTP.
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.arg("mcp").current_dir(world.home());
    let mut client = Client::open_with(Era::Legacy, &mut command);
    let save = json!({ "event_type": "fact", "lesson": "moor on the lee side" });
    let (told, is_error) = client.call("memory_save", &save);
    assert!(is_error && told.contains("repo"), "{told}");
    assert_eq!(world.log_names().len(), 1);
    // What setup writes for Cursor says which folder is open.
    std::fs::create_dir_all(world.home().join(".cursor")).unwrap();
    world.agent_knowledge(&["setup", "cursor", "--user"]);
    let written =
        std::fs::read_to_string(world.home().join(".cursor/mcp.json")).unwrap_or_default();
    assert!(written.contains("workspaceFolder"), "{written}");
}

// S-HTTP-2
#[test]
fn case_15_usual_clients_over_http() {
    let world = World::new();
    world
        .log_memory(&["--repo", "ida/quay", "--type", "fact", "--lesson", "buoys are green"])
        .done();
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    for accept in ["*/*", "application/json", "application/*", "text/event-stream, */*;q=0.1"] {
        for path in ["/mcp", "/mcp/"] {
            let text = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: {accept}\r\nContent-Length: {}\r\n\r\n{ping}",
                ping.len()
            );
            let answer = server.send(text.as_bytes());
            assert_eq!(answer.status, 200, "{accept} {path}: {answer:?}");
        }
    }
    let guarded = Server::start(&World::new(), &["--http", "127.0.0.1:0"]);
    for (method, path) in [
        ("GET", "/.well-known/oauth-protected-resource"),
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/.well-known/openid-configuration"),
        ("POST", "/register"),
    ] {
        let answer = guarded.send(&request(method, path, &[("Host", "localhost")], ""));
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
    let answer = guarded.send(&request("POST", "/mcp", &[("Host", "localhost")], ping));
    assert_eq!(answer.status, 401, "{answer:?}");
}

#[test]
fn case_16_arguments_as_clients_send_them() {
    let world = World::new();
    let top = repository(&world, "quay", Some("git@gitlab.com:ida/quay.git"));
    let key = key_at(&world, &top);
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.arg("mcp").current_dir(&top);
    let mut client = Client::open_with(Era::Legacy, &mut command);
    for (number, repo) in
        ["undefined", "null", "current", ".", "none", top.to_str().unwrap()].into_iter().enumerate()
    {
        let save = json!({ "event_type": "fact", "lesson": format!("berth {number} is deep"), "repo": repo });
        let told = client.told("memory_save", &save);
        assert!(told.contains(&key), "{repo}: {told}");
    }
    assert_eq!(world.log_names(), ["gitlab.com+ida+quay.jsonl"]);
    let asked = json!({ "query": "deep berth", "limit": 0, "max_tokens": 0, "toolCallId": "c1", "sessionId": "s",
        "action": "sendMessage", "chatInput": "hello" });
    let told = client.told("memory_search", &asked);
    assert!(told.contains("is deep"), "{told}");
    let told = client.told("memory_search", &json!({ "query": "deep berth", "limit": 1_000_000 }));
    assert!(told.contains("is deep"), "{told}");
    let save = json!({ "event_type": "error", "lesson": "tie twice", "symptom": "\u{1b}[31mrope slipped\u{1b}[0m", "repo": null, "tags": "" });
    client.told("memory_save", &save);
}

#[test]
fn case_23_schemas_that_all_models_take() {
    let world = World::new();
    let mut client = Client::open(&world, Era::Legacy);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(!tools.is_empty());
    for tool in tools {
        assert!(tool["name"].as_str().unwrap().len() <= 48, "{tool}");
        assert_plain(&tool["inputSchema"], true);
    }
}

/// Fails at what Gemini, Copilot and others refuse in a schema.
#[track_caller]
fn assert_plain(schema: &Value, is_schema: bool) {
    let Value::Object(fields) = schema else { return };
    for (name, value) in fields {
        let refused =
            ["$ref", "anyOf", "oneOf", "allOf", "format", "$defs", "not", "patternProperties"];
        assert!(!is_schema || !refused.contains(&name.as_str()), "{name}: {schema}");
        assert!(!is_schema || name != "type" || value.is_string(), "a union: {schema}");
        assert!(!is_schema || value != "array" || fields.contains_key("items"), "{schema}");
        assert_plain(value, name != "properties");
    }
}

#[test]
fn case_25_odd_beginnings_of_a_session() {
    let world = World::new();
    world
        .log_memory(&["--repo", "ida/quay", "--type", "fact", "--lesson", "fog bells at four"])
        .done();
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}";
    for first in ["\u{feff}", "\r\n", &format!("{ping}\n"), &format!("{ping}\r\n")] {
        let mut client = Client::open_after(&world, Era::Legacy, first.as_bytes());
        assert!(client.search("fog bells").contains("at four"), "{first:?}");
    }
    for version in ["2024-11-05", "2099-01-01", "1"] {
        let mut client = Client::open_as(&world, version);
        assert!(client.search("fog bells").contains("at four"), "{version}");
    }
    // Without clientInfo it is served, or told which field is missing.
    let mut command = world.command(AGENT_KNOWLEDGE);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}}});
    let ran = crate::world::run(command.arg("mcp"), format!("{hello}\n").as_bytes());
    let is_named = ran.output.contains("serverInfo") || ran.output.contains("clientInfo");
    assert!(is_named && !ran.output.contains("_meta is missing"), "{ran:?}");
}

// S-HTTP-2
#[test]
fn case_26_a_forwarded_port_with_another_number() {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let port = if server.port() == 9555 { 9556 } else { 9555 };
    let (host, origin) = (format!("localhost:{port}"), format!("http://localhost:{port}"));
    let own = [("Host", &*host), ("Origin", &*origin)];
    let page = server.send(&request("GET", "/", &own[..1], ""));
    assert_eq!(page.status, 200, "{page:?}");
    let answer = server.send(&request("POST", "/api/v1/sign-in", &own, r#"{"code":"none"}"#));
    // The code is wrong, but the page is that of this server.
    let is_refused_as_page = answer.status == 403 && answer.body.contains("another origin");
    assert!(!is_refused_as_page || answer.body.contains("port"), "{answer:?}");
    let foreign = [("Host", &*host), ("Origin", "http://evil.example")];
    assert_eq!(server.send(&request("POST", "/api/v1/sign-in", &foreign, "{}")).status, 403);
}
