//! `agent-knowledge ui`: it finds the server or starts one, and its link signs in. Not here: signing in itself
//! (`sign_in`), the page (`page`).

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{Server, request};
use crate::terminal::on_terminal;
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Splits a link into the origin of the server and the code.
fn parts(link: &Value) -> (String, String) {
    let (origin, code) = link.as_str().unwrap().split_once("/#code=").expect("a link with a code");
    (origin.to_owned(), code.to_owned())
}

/// Signs in with a code, searches, and returns what was found.
#[track_caller]
fn found_behind(origin: &str, code: &str) -> String {
    let server = Server::at(origin);
    let own = ("Host", "localhost");
    assert_eq!(server.send(&request("GET", "/", &[own], "")).status, 200);
    let body = json!({ "code": code }).to_string();
    let answer = server.send(&request("POST", "/api/v1/sign-in", &[own], &body));
    assert_eq!(answer.status, 200, "{answer:?}");
    let session: Value = serde_json::from_str(&answer.body).unwrap();
    let shown = format!("Bearer {}", session["token"].as_str().unwrap());
    let headers = [own, ("Authorization", &*shown)];
    let answer = server.send(&request("GET", "/api/v1/search?query=walrus", &headers, ""));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

// S-UI-5
#[test]
fn ui_takes_the_place_of_a_retriever_without_http() {
    let world = World::sharing();
    let lesson = "the walrus wears a bowler hat";
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", lesson]).done();
    // As an agent started it.
    let before = world.asked(&["status"]);
    assert!(before["retriever"]["pid"].is_u64() && before.get("http").is_none(), "{before}");
    let shown = world.asked(&["ui", "--no-open", "--http", "0"]);
    assert_eq!((&shown["started"], &shown["opened"]), (&json!(true), &json!(false)), "{shown}");
    let (origin, code) = parts(&shown["url"]);
    let token = world.home().join(".config/agent-knowledge/token");
    let token = std::fs::read_to_string(token).unwrap();
    assert!(!shown.to_string().contains(token.trim()), "{shown}");
    assert!(found_behind(&origin, &code).contains("bowler hat"));
    // Agents have connected to it, and it is found from now on.
    let status = world.asked(&["status"]);
    assert_eq!(status["http"]["url"], json!(format!("{origin}/mcp")));
    assert_ne!(status["retriever"]["pid"], before["retriever"]["pid"]);
    let again = world.asked(&["ui", "--no-open"]);
    assert_eq!(again["started"], json!(false), "{again}");
    let (same, next) = parts(&again["url"]);
    assert!(same == origin && next != code, "{again}");
    assert!(found_behind(&same, &next).contains("bowler hat"));
    assert_eq!(world.asked(&["status"])["retriever"]["pid"], status["retriever"]["pid"]);
    world.agent_knowledge(&["serve", "--stop"]).done();
}

// S-UI-5
#[test]
fn ui_starts_a_server_where_nothing_runs() {
    let world = World::sharing();
    let shown = world.asked(&["ui", "--no-open", "--port", "127.0.0.1:0"]);
    let (origin, code) = parts(&shown["url"]);
    assert!(origin.starts_with("http://127.0.0.1:"), "{shown}");
    found_behind(&origin, &code);
    world.agent_knowledge(&["serve", "--stop"]).done();
    for (address, exit) in [("0.0.0.0:1", 65), ("example.org:80", 65)] {
        let ran = world.agent_knowledge(&["ui", "--no-open", "--http", address]);
        assert_eq!(ran.exit, Some(exit), "{ran:?}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = world.agent_knowledge(&["ui", "--no-open", "--http", &address]);
    assert!(ran.exit == Some(75) && ran.messages.contains("--http"), "{ran:?}");
}

/// A command of an account that never saved anything, without any setting.
fn fresh(world: &World) -> Command {
    let mut command = world.command(AGENT_KNOWLEDGE);
    for name in ["LOGS", "MODEL_DIR", "CACHE", "RUNTIME", "RETRIEVER"] {
        command.env_remove(format!("AGENT_KNOWLEDGE_{name}"));
    }
    command.env("XDG_RUNTIME_DIR", world.path("run"));
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env_remove(name);
    }
    command
}

// S-UI-5
#[test]
fn ui_opens_on_a_fresh_account() {
    for before in [&[][..], &["search", "walrus"], &["status"], &["context"]] {
        let world = World::new();
        if !before.is_empty() {
            // Every shared retriever is started like this one.
            run(fresh(&world).args(before), b"").done();
            let status = run(fresh(&world).args(["status", "--json"]), b"").json();
            assert!(status["retriever"]["pid"].is_u64(), "{before:?}: {status}");
        }
        let shown = run(fresh(&world).args(["ui", "--no-open", "--http", "0", "--json"]), b"");
        let (origin, code) = parts(&shown.json()["url"]);
        let found: Value = serde_json::from_str(&found_behind(&origin, &code)).unwrap();
        assert_eq!(found["memories"], json!([]), "{before:?}: {found}");
        run(fresh(&world).args(["serve", "--stop"]), b"").done();
    }
}

// S-UI-5
#[test]
fn ui_finds_the_token_of_the_server() {
    let world = World::sharing();
    let file = world.path("my-token");
    let named = ["--http", "127.0.0.1:0", "--token-file", file.to_str().unwrap()];
    let server = Server::start(&world, &named);
    let (origin, code) = parts(&world.asked(&["ui", "--no-open"])["url"]);
    assert_eq!(format!("{origin}/mcp"), server.url);
    found_behind(&origin, &code);
    drop(server);
    // Without a token there is nothing to sign in to.
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let shown = world.asked(&["ui", "--no-open"]);
    assert_eq!(format!("{}mcp", shown["url"].as_str().unwrap()), server.url);
    drop(server);
    let variable = ("AGENT_KNOWLEDGE_TOKEN", "a-token-of-my-own-0123456789abcdef");
    let mut command = Server::command(&world, &["--http", "127.0.0.1:0"]);
    let _server = Server::of(command.env(variable.0, variable.1));
    let refused = world.agent_knowledge(&["ui", "--no-open"]);
    assert!(refused.exit == Some(78) && refused.messages.contains(variable.0), "{refused:?}");
    let mut command = world.command(AGENT_KNOWLEDGE);
    let ran = run(command.args(["ui", "--no-open", "--json"]).env(variable.0, variable.1), b"");
    let (origin, code) = parts(&ran.json()["url"]);
    found_behind(&origin, &code);
}

// S-UI-5
#[test]
fn ui_opens_a_browser_only_for_a_person_here() {
    let world = World::sharing();
    let (programs, opened) = (world.path("programs"), world.path("opened"));
    std::fs::create_dir(&programs).unwrap();
    let browser = programs.join("xdg-open");
    std::fs::write(&browser, format!("#!/bin/sh\necho \"$1\" >>'{}'\n", opened.display())).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default().into_string().unwrap();
    let path = format!("{}:{path}", programs.display());
    let _server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let ui = |more: &[&str]| -> Command {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.arg("ui").args(more).env("PATH", &path).env("DISPLAY", ":0");
        command
    };
    // Nobody looks at a pipe, and the others did not ask for it.
    assert_eq!(run(&mut ui(&["--json"]), b"").json()["opened"], json!(false));
    let said = on_terminal(&mut ui(&["--no-open"]), "");
    assert!(said.contains("/#code=") && !said.contains("opening"), "{said}");
    let said = on_terminal(ui(&[]).env("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22"), "");
    assert!(said.contains("ssh -N -L ") && !said.contains("opening"), "{said}");
    let said = on_terminal(ui(&[]).env("PATH", "/nowhere"), "");
    assert!(said.contains("/#code=") && !said.contains("opening"), "{said}");
    assert!(!opened.exists());
    let said = on_terminal(&mut ui(&[]), "");
    assert!(said.contains("opening it in the browser"), "{said}");
    let deadline = std::time::Instant::now() + super::client::STEP;
    let link = loop {
        let text = std::fs::read_to_string(&opened).unwrap_or_default();
        if text.ends_with('\n') {
            break text.trim().to_owned();
        }
        assert!(std::time::Instant::now() < deadline, "the browser was not started");
        std::thread::yield_now();
    };
    assert!(said.contains(&link), "{said} {link}");
    let (origin, code) = parts(&json!(link));
    found_behind(&origin, &code);
}
