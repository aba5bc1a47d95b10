//! What a peer says of itself: the name of a client, of an agent, a person, a machine, a session, a branch, a repository. Each comes with
//! a key in it, in capital and small letters, and stands nowhere afterwards in either. Not here: what a peer saves (`writes`).

use serde_json::{Value, json};

use crate::http::client::{Server, request};
use crate::raw_client::Client;
use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, World, bytes_under, run};

/// A key that begins with a capital letter: in small letters no rule knows it.
fn token() -> String {
    ["AI", "za", MIDDLE].concat()
}

const MIDDLE: &str = "SyD3k9Lm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3xyZ4w";

/// Another, which begins with what may part words.
fn other() -> String {
    ["gl", "pat-", OTHER].concat()
}

const OTHER: &str = "Ab3dEf7hIj9kLm2nOp4q";

/// Fails where a key stands, whatever its letters became.
#[track_caller]
fn assert_none(place: &str, bytes: &[u8]) {
    let bytes = bytes.to_ascii_lowercase();
    for key in [MIDDLE, OTHER].map(str::to_ascii_lowercase) {
        for run in key.as_bytes().windows(12) {
            let is_here = bytes.windows(12).any(|part| part == run);
            assert!(!is_here, "{place}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}

#[track_caller]
fn assert_disk_clean(world: &World) {
    // The work tree is git's.
    for folder in ["home", "logs", "cache", "remote"].map(|name| world.path(name)) {
        let files = if folder.exists() { bytes_under(&folder) } else { <_>::default() };
        for (path, bytes) in files {
            let path = path.display().to_string();
            assert_none(&path, &bytes);
            assert_none("a name", path.as_bytes());
        }
    }
}

fn find_something(client: &mut Client) -> String {
    client.search("port of the tests") + &client.search("quokkas of the zoo")
}

// S-WRITE-8, S-EVENT-6
#[test]
fn no_secret_in_what_an_mcp_client_is_called_is_kept() {
    let world = World::new();
    let (token, other) = (token(), other());
    let lesson =
        json!({ "repo": "acme/web", "lesson": "bind port 0 in the tests", "event_type": "fact" });
    for name in
        [token.clone(), format!("My {token} Client"), format!("x \u{1b}[1m{token}"), other.clone()]
    {
        let mut client = Client::open_named(&world, &name, &format!("1.0-{token}"));
        client.told("memory_save", &lesson);
        assert_none("an answer", find_something(&mut client).as_bytes());
        let call =
            json!({ "name": "memory_save", "arguments": lesson, "_meta": { "threadId": token } });
        assert_none("an answer", client.ask("tools/call", call).to_string().as_bytes());
        assert_none("messages", client.leave().messages.as_bytes());
    }
    let journal = bytes_under(&world.path("cache/journal"));
    assert!(!journal.is_empty(), "the journal says who was told");
    assert!(world.all_events().len() >= 8);
    assert_disk_clean(&world);
}

// S-WRITE-8
#[test]
fn no_secret_in_what_an_http_client_is_called_is_kept() {
    let world = World::sharing();
    let (token, other) = (token(), other());
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let names = [token.clone(), format!("bot {token}"), other];
    for (number, name) in names.iter().enumerate() {
        let headers = [
            ("Host", "localhost"),
            ("X-Agent", name.as_str()),
            ("User-Agent", name),
            ("Idempotency-Key", name),
            ("From", name),
            ("Cookie", name),
        ];
        let body =
            json!({ "repo": "acme/web", "lesson": format!("bind port {number} in the tests") });
        let send = |method: &str, path: &str, body: &str| {
            let answer = server.send(&request(method, path, &headers, body));
            assert_none(path, answer.all().as_bytes());
            answer
        };
        let saved = send("POST", "/api/v1/memories", &body.to_string());
        assert!(matches!(saved.status, 201 | 400), "{saved:?}");
        send("GET", "/api/v1/search?query=ports", "");
        send("GET", &format!("/api/v1/search?query=ports&repo=acme/{token}"), "");
        let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": name, "version": name } } });
        send("POST", "/mcp", &opening.to_string());
    }
    drop(server);
    assert_disk_clean(&world);
}

// S-WRITE-8, S-REPO-2
#[test]
fn no_secret_in_who_writes_where_is_kept() {
    let world = World::new();
    let (token, other) = (token(), other());
    world.git(&world.work(), &["init", "-q"]);
    let remote = format!("https://jane:{token}@github.com/acme/{token}.git");
    for args in [
        &["remote", "add", "origin", &remote][..],
        &["config", "user.name", &format!("Jane {token}")],
        &["config", "user.email", &format!("{token}@example.org")],
        &["commit", "-q", "--allow-empty", "-m", "x"],
        &["checkout", "-q", "-b", &format!("fix/rotate-{other}")],
    ] {
        world.git(&world.work(), args);
    }
    let mut said = Vec::new();
    let mut note = |ran: crate::world::Ran| said.push(format!("{ran:?}"));
    let save = ["--type", "fact", "--lesson", "bind port 0 in the tests"];
    note(world.log_memory(&save));
    for (name, value) in [
        ("AGENT_KNOWLEDGE_AGENT", &token),
        ("AGENT_KNOWLEDGE_SESSION", &token),
        ("CLAUDE_CODE_SESSION_ID", &token),
        ("CODEX_THREAD_ID", &other),
        ("AGENT_KNOWLEDGE_HOST", &token),
        ("USER", &token),
    ] {
        let mut command = world.command(LOG_MEMORY);
        note(run(command.env(name, value).args(save), b""));
        let mut command = world.command(AGENT_KNOWLEDGE);
        note(run(command.env(name, value).args(["whoami"]), b""));
    }
    for args in [["--agent", &token], ["--session", &token], ["--repo", &token]] {
        note(world.log_memory(&[&save[..], &args].concat()));
    }
    for repo in [&format!("acme/{token}"), &remote] {
        note(world.log_memory(&[&save[..], &["--repo", repo]].concat()));
        note(world.agent_knowledge(&["search", "quokkas", "--repo", repo]));
    }
    for event in ["SessionStart", "UserPromptSubmit", "SessionEnd"] {
        let input = json!({ "session_id": token, "cwd": world.work(), "hook_event_name": event, "prompt": "where are the quokkas of the zoo?" });
        for agent in ["claude-code", &token] {
            let mut command = world.command(AGENT_KNOWLEDGE);
            command.args(["hook", "--agent", agent]);
            note(run(&mut command, input.to_string().as_bytes()));
        }
    }
    note(world.agent_knowledge(&["status"]));
    note(world.agent_knowledge(&["recent", "--json"]));
    assert!(said.len() > 20);
    said.iter().for_each(|said| assert_none("what a program prints", said.as_bytes()));
    assert!(world.all_events().len() >= 8, "{:?}", world.log_names());
    assert_disk_clean(&world);
}

// S-SYNC-2
#[test]
fn no_secret_in_the_name_of_a_machine_reaches_the_team() {
    let world = World::new();
    let (token, remote) = (token(), world.path("remote"));
    std::fs::create_dir(&remote).unwrap();
    let settings = format!("[sync]\nremote = \"folder:{}\"\nshare = [\"*\"]\n", remote.display());
    world.configure(&settings);
    world.log_memory(&["--repo", "acme/web", "--type", "fact", "--lesson", "bind port 0"]).done();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let told = run(command.env("AGENT_KNOWLEDGE_HOST", &token).args(["sync", "--yes"]), b"");
    assert_eq!(told.exit, Some(0), "{told:?}");
    let origin: Value = world.asked(&["sync"])["origin"].clone();
    assert_none("the origin", origin.to_string().as_bytes());
    assert!(!bytes_under(&remote).is_empty());
    assert_disk_clean(&world);
}
