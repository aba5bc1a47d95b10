//! MCP over HTTP: web pages, strangers and slow connections are turned away, both eras are answered, and the end
//! waits for answers under way. The client is made of bytes. Not here: what is answered (`mcp`, `recall`).

mod attacks;
pub mod client;
mod events;
mod page;
mod past;
mod rest;
mod sign_in;
mod sockets;
mod tls;
mod tokens;
mod ui;
mod watched_trees;

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::pieces;
use crate::raw_client::{BOTH, Client as RawClient, Era};
use crate::world::{AGENT_KNOWLEDGE, World, run};
use client::{HttpAnswer, STEP, Server, head, read_answer, request};

/// What every answer may be asked for without a protocol around it.
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn open(world: &World) -> Server {
    Server::start(world, &["--http", "127.0.0.1:0", "--no-token"])
}

// S-HTTP-2
#[test]
fn http_no_web_page_reaches_the_server() {
    let world = World::sharing();
    let server = open(&world);
    let port = server.port();
    let own = format!("localhost:{port}");
    let asked = |headers: &[(&str, &str)]| server.send(&request("POST", "/mcp", headers, PING));
    let page = format!("http://localhost:{port}");
    for origin in [None, Some(&*page)] {
        let headers: Vec<_> =
            [("Host", &*own)].into_iter().chain(origin.map(|it| ("Origin", it))).collect();
        assert_eq!(asked(&headers).status, 200, "{origin:?}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "0.0.0.0", "192.168.0.1"] {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            let answer = asked(&[("Host", &host)]);
            assert_eq!(answer.status, 403, "{host}: {answer:?}");
        }
    }
    for origin in
        ["http://evil.example", "https://evil.example", "null", "http://localhost:3000", "file://"]
    {
        let answer = asked(&[("Host", &own), ("Origin", origin)]);
        assert_eq!(answer.status, 403, "{origin}: {answer:?}");
    }
    // Through a forwarded port the page comes from there, and asks there.
    let forwarded = |host: &str, origin: &str| {
        let headers = [("Host", host), ("Origin", origin)];
        [
            asked(&headers).status,
            server.send(&request("GET", "/api/v1/status", &headers, "")).status,
        ]
    };
    assert_eq!(forwarded("localhost:8080", "http://localhost:8080"), [200, 200]);
    assert_eq!(forwarded("127.0.0.1:9", "http://127.0.0.1:9"), [200, 200]);
    for (host, origin) in [
        ("localhost:8080", "http://localhost:8081"),
        ("localhost:8080", "http://127.0.0.1:8080"),
        ("evil.example:8080", "http://evil.example:8080"),
        ("localhost.evil.example:8080", "http://localhost.evil.example:8080"),
    ] {
        assert_eq!(forwarded(host, origin), [403, 403], "{host} {origin}");
    }
    // What a browser asks first, and what it would have to be told.
    let preflight = request(
        "OPTIONS",
        "/mcp",
        &[("Host", &own), ("Origin", &page), ("Access-Control-Request-Method", "POST")],
        "",
    );
    for answer in [server.send(&preflight), asked(&[("Host", &own), ("Origin", &page)])] {
        assert!(!answer.head.to_ascii_lowercase().contains("access-control"), "{answer:?}");
    }
    assert_eq!(server.send(&preflight).status, 405);
}

// S-HTTP-2
#[test]
fn http_only_json_is_read_and_only_by_post() {
    let world = World::sharing();
    let server = open(&world);
    let sent = |method: &str, kind: &str, accept: &str| {
        let lines = format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nAccept: {accept}\r\nContent-Length: {}\r\n\r\n{PING}",
            PING.len()
        );
        server.send(lines.as_bytes()).status
    };
    let both = "application/json, text/event-stream";
    assert_eq!(sent("POST", "application/json; charset=utf-8", both), 200);
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
    ] {
        assert_eq!(sent("POST", kind, both), 415, "{kind}");
    }
    for accept in ["*/*", "application/json", "application/*", "text/html, */*;q=0.1", ""] {
        assert_eq!(sent("POST", "application/json", accept), 200, "{accept:?}");
    }
    let bare = format!(
        "POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{PING}",
        PING.len()
    );
    assert_eq!(server.send(bare.as_bytes()).status, 200, "no Accept, and a slash");
    assert_eq!(sent("POST", "application/json", "text/html"), 406);
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        assert_eq!(sent(method, "application/json", both), 405, "{method}");
    }
    let elsewhere = request("POST", "/other", &[("Host", "localhost")], PING);
    assert_eq!(server.send(&elsewhere).status, 404);
    assert!(
        (400..500)
            .contains(&server.send(&request("POST", "/mcp", &[("Host", "localhost")], "{")).status)
    );
}

// S-MCP-8
#[test]
fn http_answers_what_it_cannot_read() {
    let world = World::sharing();
    let server = open(&world);
    let asked = |body: &str| server.send(&request("POST", "/mcp", &[("Host", "localhost")], body));
    for (body, code) in [("{\"id\":7,", "-32700"), ("{\"id\":7,\"jsonrpc\":\"2.0\"}", "-32600")] {
        let answer = asked(body);
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.all().contains(code) && answer.all().contains("\"id\":7"), "{answer:?}");
    }
    let half = PING.replace("{}", r#"{"x":"\ud83d"}"#);
    assert_eq!(asked(&half).status, 200, "{half}");
    let bare = asked(r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#);
    assert!(bare.status == 200 && bare.all().contains("serverInfo"), "{bare:?}");
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","arguments":"{\"query\":\"zebra\"}"}}"#;
    let answered = asked(text);
    assert!(answered.status == 200 && answered.all().contains("No relevant"), "{answered:?}");
}

// S-HTTP-4
#[test]
fn http_asks_for_a_token_by_default() {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let file = world.home().join(".config/agent-knowledge/token");
    assert!(server.said.contains(file.to_str().unwrap()), "{}", server.said);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let token = std::fs::read_to_string(&file).unwrap();
    let asked = |headers: &[(&str, &str)]| server.send(&request("POST", "/mcp", headers, PING));
    assert_eq!(asked(&[("Host", "localhost")]).status, 401);
    let shown = format!("Bearer {}", token.trim());
    assert_eq!(asked(&[("Host", "localhost"), ("Authorization", &shown)]).status, 200);
    drop(server);
    let again = Server::start(&world, &["--http", "127.0.0.1:0"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), token, "it stays the same");
    drop(again);
    let both = ["serve", "--http", "127.0.0.1:0", "--no-token", "--token-file", "t"];
    assert_eq!(world.agent_knowledge(&both).exit, Some(64));
}

// S-HTTP-4
#[test]
fn http_answers_nothing_without_the_token() {
    let world = World::sharing();
    let file = world.path("token");
    let path = file.to_str().unwrap();
    let mut server = Server::start(&world, &["--http", "127.0.0.1:0", "--token-file", path]);
    let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert_eq!((token.len(), file.metadata().unwrap().permissions().mode() & 0o777), (64, 0o600));
    let asked = |shown: Option<&str>| {
        let headers = [Some(("Host", "localhost")), shown.map(|it| ("Authorization", it))];
        server.send(&request(
            "POST",
            "/mcp",
            &headers.into_iter().flatten().collect::<Vec<_>>(),
            PING,
        ))
    };
    assert_eq!(asked(Some(&format!("Bearer {token}"))).status, 200);
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server/mcp",
        "/register",
        "/sse",
        "/api/v1/none",
    ] {
        for method in ["GET", "POST"] {
            let answer = server.send(&request(method, path, &[("Host", "localhost")], ""));
            assert_eq!(answer.status, 404, "{method} {path}: {answer:?}");
        }
    }
    for shown in [None, Some("Bearer x"), Some(&*token), Some(&*format!("Bearer {token}0"))] {
        let answer = asked(shown);
        assert_eq!(answer.status, 401, "{shown:?} {answer:?}");
        assert!(
            answer.has("www-authenticate", "Bearer") && !answer.all().contains(&token),
            "{answer:?}"
        );
    }
    let status = world.agent_knowledge(&["status"]).done();
    assert!(
        status.contains(&server.url) && status.contains("clients that show a token"),
        "{status}"
    );
    let listed = std::fs::read(format!("/proc/{}/cmdline", server.process())).unwrap();
    assert!(!String::from_utf8_lossy(&listed).contains(&token) && !status.contains(&token));
    let said = server.stop();
    assert!(!said.contains(&token), "{said}");
    // The same token again, and one from the environment.
    let again = Server::start(&world, &["--http", "127.0.0.1:0", "--token-file", path]);
    let with = [("Host", "localhost"), ("Authorization", &*format!("Bearer {token}"))];
    assert_eq!(again.send(&request("POST", "/mcp", &with, PING)).status, 200);
    drop(again);
    let mut command = Server::command(&world, &["--http", "127.0.0.1:0"]);
    let set =
        Server::of(command.env("AGENT_KNOWLEDGE_TOKEN", "a-token-of-my-own-0123456789abcdef"));
    let headers =
        [("Host", "localhost"), ("Authorization", "Bearer a-token-of-my-own-0123456789abcdef")];
    assert_eq!(set.send(&request("POST", "/mcp", &headers, PING)).status, 200);
    assert_eq!(set.send(&request("POST", "/mcp", &headers[..1], PING)).status, 401);
}

// S-HTTP-4
#[test]
fn http_a_token_that_is_none_starts_no_server() {
    let world = World::sharing();
    let file = world.path("token");
    std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let path = file.to_str().unwrap();
    let ran = world.agent_knowledge(&["serve", "--http", "127.0.0.1:0", "--token-file", path]);
    assert_eq!(ran.exit, Some(78), "{ran:?}");
    assert!(
        ran.messages.contains("is open to other users") && !ran.messages.contains("0123"),
        "{ran:?}"
    );
    for token in ["", "short"] {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["serve", "--http", "127.0.0.1:0"]).env("AGENT_KNOWLEDGE_TOKEN", token);
        let ran = run(&mut command, b"");
        assert_eq!(ran.exit, Some(78), "{ran:?}");
        assert!(ran.messages.contains("AGENT_KNOWLEDGE_TOKEN"), "{ran:?}");
    }
    assert_eq!(world.agent_knowledge(&["serve", "--token-file", path]).exit, Some(64));
}

// S-HTTP-4
#[test]
fn http_another_user_can_not_read_the_token_file() {
    if std::fs::metadata("/proc/self").map_or(0, |this| this.uid()) != 0
        || Command::new("setpriv").arg("--version").output().is_err()
    {
        eprintln!("skipped: only root can become another user, and only with setpriv");
        return;
    }
    let world = World::sharing();
    for folder in [world.path(""), world.path("open")] {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o1777)).unwrap();
    }
    let file = world.path("open/token");
    let path = file.to_str().unwrap();
    let _server = Server::start(&world, &["--http", "127.0.0.1:0", "--token-file", path]);
    let mut command = world.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "cat", path]);
    let ran = run(&mut command, b"");
    assert!(
        ran.exit != Some(0) && ran.output.is_empty() && ran.messages.contains("denied"),
        "{ran:?}"
    );
}

// S-HTTP-1
#[test]
fn http_nothing_listens_but_on_the_loopback_interface() {
    let world = World::sharing();
    for address in ["0.0.0.0:0", "[::]:0", "192.168.1.1:0", "example.org:80", "127.0.0.1"] {
        let ran = world.agent_knowledge(&["serve", "--http", address]);
        assert_eq!(ran.exit, Some(65), "{address}: {ran:?}");
        assert!(ran.messages.contains("--http"), "{ran:?}");
    }
    let server = open(&world);
    let inodes: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", server.process()))
        .unwrap()
        .filter_map(|file| std::fs::read_link(file.unwrap().path()).ok())
        .filter_map(|target| {
            Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let mut listening = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = std::fs::read_to_string(format!("/proc/{}/net/{table}", server.process()));
        for line in text.unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // State 0A is "listening"; field 9 is the inode.
            if fields[3] == "0A" && inodes.iter().any(|inode| inode == fields[9]) {
                listening.push(fields[1].to_owned());
            }
        }
    }
    assert_eq!(listening, [format!("0100007F:{:04X}", server.port())]);
    let second =
        Server::command(&World::sharing(), &["--http", &format!("127.0.0.1:{}", server.port())])
            .output()
            .unwrap();
    assert_eq!(second.status.code(), Some(75), "{second:?}");
}

// S-HTTP-3
#[test]
fn http_a_body_over_a_mebibyte_is_not_read() {
    let world = World::sharing();
    let server = open(&world);
    let long = "x".repeat(1024 * 1024 + 1);
    let said =
        head("POST", "/mcp", &[("Host", "localhost"), ("Content-Length", &long.len().to_string())]);
    let chunked = head("POST", "/mcp", &[("Host", "localhost"), ("Transfer-Encoding", "chunked")]);
    let chunk = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    for (head, body) in [(said, long.as_str()), (chunked, chunk.as_str())] {
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).unwrap();
        // It may be refused before all of it is sent.
        let _ = stream.write_all(body.as_bytes());
        assert_eq!(read_answer(&mut stream).map(|answer| answer.status), Some(413));
    }
    assert_eq!(server.send(&request("POST", "/mcp", &[("Host", "localhost")], PING)).status, 200);
}

// S-HTTP-3
#[test]
fn http_slow_connections_end_and_keep_nobody_from_an_answer() {
    let world = World::sharing();
    let mut server = open(&world);
    server.hello(Era::Modern);
    server
        .told("memory_save", &json!({"repo": "api", "event_type": "fact", "lesson": "the zebra"}));
    let half_head = "POST /mcp HTTP/1.1\r\nHost: local";
    let half_body = head("POST", "/mcp", &[("Host", "localhost"), ("Content-Length", "500")]) + "{";
    let mut slow = Vec::new();
    for number in 0..400 {
        let mut stream = server.connect();
        // Those that came first have given up their seats by the end.
        let _ = stream.write_all([half_head, &half_body, ""][number % 3].as_bytes());
        slow.push(stream);
        if number % 20 == 19 {
            let began = Instant::now();
            assert!(server.search("zebra").contains("the zebra"));
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        }
    }
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.process())).unwrap().count();
    assert!(files < 200, "{files} files open for 400 connections");
    // Those that are left are ended as well, a body sooner than a head.
    let began = Instant::now();
    for mut stream in slow {
        let mut rest = Vec::new();
        // A connection may be reset instead.
        let _ = stream.read_to_end(&mut rest);
        let answer = String::from_utf8_lossy(&rest);
        assert!(rest.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
    assert!(began.elapsed() < STEP, "{:?}", began.elapsed());
    assert!(server.search("zebra").contains("the zebra"));
}

// S-HTTP-3
#[test]
fn http_many_calls_at_once_are_all_answered() {
    let world = World::sharing();
    let server = open(&world);
    let saved = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..48)
            .map(|number| {
                let server = &server;
                scope.spawn(move || {
                    let mut own = server.again();
                    own.hello(BOTH[number % 2]);
                    let lesson = format!("the quasar{number}x");
                    own.told(
                        "memory_save",
                        &json!({"repo": "api", "event_type": "fact", "lesson": lesson}),
                    )
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(saved.iter().all(|text| text.starts_with("Saved as ")), "{saved:?}");
    assert_eq!(world.log_lines("api.jsonl").len(), 48);
}

// S-HTTP-3
#[test]
fn http_who_waits_too_long_for_room_is_told_to_come_again() {
    let world = World::sharing();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    let server = open(&world);
    let mut client = server.again();
    client.hello(Era::Modern);
    // Somebody holds the log, so each save takes as long as its patience: more than a second.
    let lock = std::fs::File::open(world.store().join(".locks/api.jsonl.lock")).unwrap();
    lock.lock().unwrap();
    let saves: Vec<_> = (0..40)
        .map(|number| {
            let lesson = format!("the okapi {number}");
            client.send_call(
                "memory_save",
                &json!({"repo": "api", "event_type": "fact", "lesson": lesson}),
            )
        })
        .collect();
    let answers: Vec<HttpAnswer> =
        saves.into_iter().map(|mut save| read_answer(&mut save).expect("an answer")).collect();
    let (saved, late): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(
        saved.len() >= 16 && saved.iter().all(|answer| answer.body.contains("Saved as ")),
        "{saved:?}"
    );
    assert!(!late.is_empty() && late.iter().all(|answer| answer.status == 429), "{late:?}");
    assert!(late.iter().all(|answer| answer.has("retry-after", "1")), "{late:?}");
}

// S-HTTP-5
#[test]
fn http_both_eras_search_and_save_under_their_own_names() {
    let world = World::sharing();
    let server = open(&world);
    for (era, name) in [(Era::Legacy, "codex"), (Era::Modern, "claude-code")] {
        let mut client = server.again();
        client.hello(era);
        let tools = client.ask("tools/list", json!({}));
        assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(7), "{tools}");
        let lesson = format!("the {name} zebra");
        let saved = client
            .told("memory_save", &json!({"repo": "api", "event_type": "fact", "lesson": lesson}));
        assert!(saved.ends_with(" for api."), "{saved}");
        assert!(client.search(&format!("{name} zebra")).contains(&lesson));
        let events = world.events("api.jsonl");
        let event = events.last().unwrap();
        assert_eq!(event.agent_id, name, "{era:?}");
        assert_eq!(event.source.as_deref(), Some("agent"));
        let recent = client.ask("resources/read", json!({"uri": "memory://recent"}));
        assert!(recent.to_string().contains(&lesson), "{recent}");
    }
    // What comes over HTTP and what comes over standard streams is one memory.
    assert!(world.agent_knowledge(&["search", "codex zebra"]).done().contains("the codex zebra"));
}

// S-HTTP-5, S-MCP-4, S-MCP-6
#[test]
fn http_prompts_and_resources_are_those_of_standard_streams() {
    let world = World::sharing();
    let saved =
        world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra is striped"]);
    let id = saved.done().trim().to_owned();
    let lines = [
        json!({"id": "s0", "timestamp": "2026-01-02T03:04:05Z", "lesson": "of nobody"}),
        json!({"id": "s1", "timestamp": "2026-01-03T03:04:05Z", "lesson": "of a session", "session_id": "work/7", "files": ["src/okapi.rs"]}),
        json!({"id": "f0", "timestamp": "2026-01-04T03:04:05Z", "event_type": "feedback", "memory_id": "s0", "verdict": "worked", "session_id": "work/7"}),
    ];
    world.hand_write("web.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let server = open(&world);
    for era in BOTH {
        let (mut client, mut piped) = (server.again(), RawClient::open(&world, era));
        piped.wait_for_all();
        client.hello(era);
        for (method, params) in [
            ("prompts/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("prompts/get", json!({"name": "retro", "arguments": {"repo": "api"}})),
            ("prompts/get", json!({"name": "remember"})),
            ("resources/read", json!({"uri": format!("memory://item/{id}")})),
            ("resources/read", json!({"uri": "memory://recent"})),
            ("resources/read", json!({"uri": "memory://file/src/okapi.rs"})),
            ("resources/read", json!({"uri": "memory://session/work%2F7"})),
            ("resources/read", json!({"uri": "memory://digest"})),
        ] {
            let over_http = client.ask(method, params.clone());
            let over_streams = piped.ask(method, params.clone());
            let said =
                |answer: &Value| (answer["result"].clone(), answer["error"]["message"].clone());
            assert_eq!(said(&over_http), said(&over_streams), "{era:?} {method} {params}");
        }
        let recall = json!({"name": "recall", "arguments": {"topic": "zebra", "repo": "api"}});
        let recalled = client.ask("prompts/get", recall)["result"]["messages"][0].clone();
        assert!(recalled.to_string().contains("the zebra is striped"), "{recalled}");
        let of_session = piped.read("memory://session/work%2F7")["memories"].clone();
        let ids: Vec<&str> =
            of_session.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["s0", "s1"], "what it did last is first");
        let none = piped.read("memory://session/nobody");
        assert_eq!(none["memories"], json!([]));
    }
}

// S-HTTP-5
#[test]
fn http_without_a_directory_needs_a_repository() {
    let world = World::sharing();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    let server = open(&world);
    for era in BOTH {
        let mut client = server.again();
        client.hello(era);
        assert!(client.search("zebra").contains("the zebra"), "all repositories are searched");
        let named = json!({"query": "zebra", "repo": "api"});
        assert!(client.told("memory_search", &named).contains("the zebra"));
        for (tool, arguments) in [
            ("memory_save", json!({"event_type": "fact", "lesson": "the okapi"})),
            ("memory_context", json!({"task": "zebra"})),
            ("memory_search", json!({"query": "zebra", "all_repos": false})),
        ] {
            let (text, is_error) = client.call(tool, &arguments);
            assert!(is_error && text.contains("repo: is missing"), "{tool}: {text}");
        }
        let (text, _) = client.call("memory_save", &json!({"event_type": "fact"}));
        assert!(
            text.contains("repo: is missing") && text.contains("lesson: "),
            "all at once: {text}"
        );
        assert!(client.told("memory_context", &json!({"repo": "api"})).contains("the zebra"));
    }
    assert_eq!(world.log_names(), ["api.jsonl"]);
}

// S-HTTP-6
#[test]
fn http_the_end_waits_for_the_answer_under_way() {
    for how in ["signal", "command"] {
        let world = World::sharing();
        world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
        let mut server = open(&world);
        let mut client = server.again();
        client.hello(Era::Modern);
        // Somebody holds the log, so the save takes as long as its patience.
        let lock = std::fs::File::open(world.store().join(".locks/api.jsonl.lock")).unwrap();
        lock.lock().unwrap();
        let arguments = json!({"repo": "api", "event_type": "fact", "lesson": "the okapi"});
        let mut stream = client.send_call("memory_save", &arguments);
        server.wait_until_in_call();
        let began = Instant::now();
        match how {
            "signal" => server.signal("-TERM"),
            _ => drop(world.agent_knowledge(&["serve", "--stop"]).done()),
        }
        let answer = read_answer(&mut stream).unwrap();
        assert!(answer.body.contains("Saved as "), "{how}: {answer:?}");
        assert!(server.wait().success());
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(
            std::net::TcpStream::connect(("127.0.0.1", client.port())).is_err(),
            "nobody listens"
        );
    }
}

// S-HTTP-6
#[test]
fn http_who_only_listens_does_not_delay_the_end() {
    let world = World::sharing();
    let mut server = open(&world);
    let mut client = server.again();
    client.hello(Era::Modern);
    let listen = json!({"notifications": {"resourcesListChanged": true}});
    let mut stream = client.send_request("subscriptions/listen", listen);
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut idle = server.connect();
    idle.write_all(&request("POST", "/mcp", &[("Host", "localhost")], PING)).unwrap();
    assert_eq!(read_answer(&mut idle).unwrap().status, 200);
    let began = Instant::now();
    server.signal("-TERM");
    assert!(server.wait().success());
    // Two seconds for answers would be over by then; there are none.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

// S-HTTP-1
#[test]
fn http_the_address_is_told_in_text_in_json_and_in_status() {
    let world = World::sharing();
    let server = open(&world);
    let status = world.asked(&["status"]);
    assert_eq!(status["http"]["url"], json!(server.url));
    assert_eq!(status["http"]["token"], json!(false));
    drop(server);
    let mut command = world.command(AGENT_KNOWLEDGE);
    let server =
        Server::of(command.args(["serve", "--idle-minutes", "0", "--http", "0", "--no-token"]));
    assert!(
        server.said.starts_with("agent-knowledge: MCP over HTTP at http://127.0.0.1:"),
        "{}",
        server.said
    );
    assert!(server.said.contains("without a token"), "{}", server.said);
}

// S-HTTP-1
#[test]
fn http_replaces_a_running_retriever_without_an_address() {
    let world = World::sharing();
    let lesson = "the walrus wears a bowler hat";
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", lesson]).done();
    let before = world.asked(&["status"])["retriever"]["pid"].clone();
    assert!(before.is_u64(), "{before}");
    let server = open(&world);
    assert!(server.again().search("walrus").contains("bowler hat"));
    let status = world.asked(&["status"]);
    assert_eq!(status["retriever"]["pid"], json!(server.process()), "one for all");
    assert_ne!(status["retriever"]["pid"], before);
    for port in ["0", &server.port().to_string()] {
        let refused = Server::command(&world, &["--http", port]).output().unwrap();
        assert_eq!(refused.status.code(), Some(75), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("serve --stop"), "{refused:?}");
    }
    assert_eq!(world.asked(&["status"])["http"]["url"], json!(server.url), "and is still there");
}

#[test]
fn http_the_inspector_finds_the_tools_in_both_eras() {
    let Some(clients) = pieces::clients() else { return };
    let world = World::sharing();
    let server = open(&world);
    for era in ["legacy", "modern"] {
        let mut inspector = world.command(clients.join("bin/mcp-inspector"));
        inspector.args(["--cli", "--server-url", &server.url, "--transport", "http"]);
        inspector.args(["--protocol-era", era, "--method", "tools/list", "--strict"]);
        let ran = run(&mut inspector, b"");
        assert!(ran.exit == Some(0) && ran.output.contains("memory_save"), "{era}: {ran:?}");
    }
}

#[test]
fn http_claude_code_is_connected() {
    let Some(clients) = pieces::clients() else { return };
    let world = World::sharing();
    let server = open(&world);
    let claude = |args: &[&str]| run(world.command(clients.join("bin/claude")).args(args), b"");
    let added = claude(&["mcp", "add", "--transport", "http", "memory", &server.url]);
    assert_eq!(added.exit, Some(0), "{added:?}");
    let listed = claude(&["mcp", "list"]);
    assert!(listed.output.contains("Connected"), "{listed:?}");
}

#[test]
fn http_the_helpers_of_these_tests_understand_an_answer() {
    let mut bytes = &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Y: z\r\n\r\n{}rest"[..];
    let answer: HttpAnswer = read_answer(&mut bytes).unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (200, "{}"));
    assert!(answer.has("x-y", "z") && !Path::new("/nonexistent").exists());
}
