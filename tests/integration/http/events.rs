//! What happens, told to whoever listens: saves, reports and answers of other processes, without gap or repetition across a
//! killed retriever. Not here: the journal itself (`api::journal`).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use api::journal::Journal;
use serde_json::{Value, json};

use super::client::{HttpAnswer, STEP, Server, head, read_answer, request};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// One that listens.
pub(super) struct Listener {
    stream: BufReader<TcpStream>,
    text: String,
    /// The id of the last event, as a browser keeps it.
    last_id: String,
}

/// What an event was.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) kind: String,
    pub(super) data: Value,
}

/// The answer to a request for events: a stream, or a refusal.
fn asked(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Result<Listener, HttpAnswer> {
    let mut stream = server.connect();
    let headers: Vec<_> = [("Host", "localhost")].iter().chain(headers).copied().collect();
    stream.write_all(head(method, path, &headers).as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    let mut lines = String::new();
    while !lines.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut lines).unwrap(), 0, "no answer: {lines}");
    }
    if !lines.starts_with("HTTP/1.1 200") {
        let mut all = lines.as_bytes().chain(stream);
        return Err(read_answer(&mut all).unwrap());
    }
    assert!(lines.to_lowercase().contains("content-type: text/event-stream"), "{lines}");
    Ok(Listener { stream, text: String::new(), last_id: String::new() })
}

/// Listens from now on: after the first line, which names the place.
pub(super) fn listen(server: &Server) -> Listener {
    let mut listener = asked(server, "GET", "/api/v1/events", &[]).unwrap();
    listener.until_placed();
    listener
}

fn listen_after(server: &Server, id: &str) -> Listener {
    asked(server, "GET", "/api/v1/events", &[("Last-Event-ID", id)]).unwrap()
}

impl Listener {
    /// Reads one block; nothing at the end of the stream.
    fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let mut size = String::new();
            if self.stream.read_line(&mut size).unwrap() == 0 {
                return None;
            }
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).unwrap();
            chunk.truncate(size);
            if size == 0 {
                return None;
            }
            self.text.push_str(&String::from_utf8(chunk).unwrap());
        }
    }

    fn until_placed(&mut self) {
        let block = self.block().expect("a place");
        let id = block.lines().find_map(|line| line.strip_prefix("id: "));
        self.last_id = id.unwrap_or_else(|| panic!("{block}")).to_owned();
    }

    /// Reads the next event; nothing at the end of the stream.
    fn next(&mut self) -> Option<Told> {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < STEP, "nothing but comments comes");
            let block = self.block()?;
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            if let Some(id) = field("id: ") {
                self.last_id = id.to_owned();
            }
            if let (Some(kind), Some(data)) = (field("event: "), field("data: ")) {
                let data = serde_json::from_str(data).unwrap();
                return Some(Told { kind: kind.to_owned(), data });
            }
        }
    }

    /// Reads the next event that is not about indexes.
    #[track_caller]
    pub(super) fn told(&mut self) -> Told {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < STEP, "it never comes");
            let told = self.next().expect("an event, not the end");
            if told.kind != "indexed" {
                return told;
            }
        }
    }

    /// Reads on until all of these ids were added; each must come once, in any order, and nothing else.
    #[track_caller]
    fn added(&mut self, ids: &[String]) {
        let mut waited: Vec<&String> = ids.iter().collect();
        while !waited.is_empty() {
            let told = self.told();
            let id = told.data["id"].as_str().unwrap_or_default();
            let place = waited.iter().position(|waited| **waited == id);
            assert!(
                told.kind == "added" && place.is_some(),
                "{told:?} while waiting for {waited:?}"
            );
            waited.remove(place.unwrap());
        }
    }
}

fn save(world: &World, lesson: &str) -> String {
    world.log_memory(&["--type", "error", "--lesson", lesson]).done().trim().to_owned()
}

pub(super) fn start(world: &World) -> Server {
    Server::start(world, &["--http", "127.0.0.1:0", "--no-token"])
}

pub(super) fn read(server: &Server, path: &str) -> Value {
    let answer =
        server.send(&request("GET", &format!("/api/v1/{path}"), &[("Host", "localhost")], ""));
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

/// The start of a session, as a client reports it.
fn hook(world: &World, session: &str) -> String {
    let said = json!({ "session_id": session, "cwd": world.work(), "hook_event_name": "SessionStart", "source": "startup" });
    let mut command = world.command(AGENT_KNOWLEDGE);
    command
        .args(["hook", "--agent", "claude-code"])
        .env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    run(&mut command, said.to_string().as_bytes()).done()
}

fn journal(world: &World) -> Journal {
    Journal::for_store(&world.path("cache"), &world.store())
}

// S-EVENT-3, S-EVENT-5
#[test]
fn http_events_tell_what_other_processes_do() {
    let world = World::sharing();
    let old = save(&world, "verify ownership before npm install");
    let server = start(&world);
    let mut listener = listen(&server);
    let began = Instant::now();
    let id = save(&world, "freeze the clock in cart tests");
    let added = listener.told();
    assert!(began.elapsed() < STEP);
    assert_eq!((added.kind.as_str(), &added.data["id"]), ("added", &json!(id)));
    assert_eq!(added.data["event_type"], "error");
    assert_eq!(added.data["agent"], "Tester");
    for internal in ["log", "place", "event"] {
        assert!(added.data.get(internal).is_none(), "{added:?}");
    }
    let indexed = listener.next().unwrap();
    assert_eq!((indexed.kind.as_str(), &indexed.data["memories"]), ("indexed", &json!(2)));
    // What a hook printed.
    let printed = hook(&world, "s1");
    assert!(printed.contains("freeze the clock"), "{printed}");
    let injected = listener.told();
    assert_eq!(injected.kind, "injected");
    let told = |name: &str| injected.data[name].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (told("by"), told("occasion"), told("agent"), told("session")),
        ("hook".into(), "start".into(), "claude-code".into(), "s1".into())
    );
    let mut ids: Vec<String> = serde_json::from_value(injected.data["memories"].clone()).unwrap();
    let mut both = vec![old, id.clone()];
    ids.sort_unstable();
    both.sort_unstable();
    assert_eq!(ids, both);
    assert_eq!(injected.data["repo"], added.data["repo"]);
    assert!(injected.data["tokens"].as_u64().unwrap() > 20, "{injected:?}");
    assert_eq!(injected.data["sequence"], listener.last_id);
    // What a tool answered.
    assert!(server.search("cart tests clock").contains("freeze the clock"));
    let injected = listener.told();
    assert_eq!(injected.data["by"], "tool", "{injected:?}");
    assert_eq!(injected.data["occasion"], "memory_search");
    assert_eq!(injected.data["asked"], "cart tests clock");
    assert_eq!(injected.data["memories"], json!([id]));
    // A report of the agent that was told so, and one of somebody else.
    server.told("memory_feedback", &json!({ "ids": [id], "verdict": "worked" }));
    let reported = listener.told();
    assert_eq!((reported.kind.as_str(), &reported.data["id"]), ("feedback", &json!(id)));
    assert_eq!(
        (&reported.data["verdict"], &reported.data["agent"]),
        (&json!("worked"), &json!("claude-code"))
    );
    world.agent_knowledge(&["forget", &id]).done();
    let changed = listener.told();
    assert_eq!(
        (changed.kind.as_str(), &changed.data["event_type"]),
        ("changed", &json!("retract"))
    );
    let page = read(&server, "injected?limit=1");
    assert_eq!(page["entries"][0]["helped"], json!([id]), "{page}");
    let next = page["next"].as_str().unwrap();
    let last = read(&server, &format!("injected?cursor={next}"));
    assert_eq!(
        (&last["entries"][0]["by"], &last["next"]),
        (&json!("hook"), &Value::Null),
        "{last}"
    );
}

// S-EVENT-5
#[test]
fn http_injected_is_paged_and_filtered() {
    let world = World::sharing();
    let id = save(&world, "freeze the clock in cart tests");
    let other = save(&world, "verify ownership before npm install");
    let server = start(&world);
    for number in 0..5 {
        hook(&world, &format!("s{number}"));
    }
    server.search("cart tests clock");
    server.search("walruses of the north");
    let count = |query: &str| read(&server, query)["entries"].as_array().unwrap().len();
    let began = Instant::now();
    // An entry may come a moment after its answer.
    while count("injected") < 6 && began.elapsed() < STEP {
        std::thread::park_timeout(Duration::from_millis(10));
    }
    assert_eq!(count("injected"), 6, "what found nothing is no entry");
    for (query, expected) in [
        ("session=s3", 1),
        ("agent=claude-code", 6),
        ("agent=codex", 0),
        ("repo=work", 5),
        (&*format!("memory={id}"), 6),
        (&*format!("memory={other}"), 5),
    ] {
        assert_eq!(count(&format!("injected?{query}")), expected, "{query}");
    }
    let (mut seen, mut path) = (Vec::new(), "injected?limit=4".to_owned());
    loop {
        let page = read(&server, &path);
        let entries = page["entries"].as_array().unwrap();
        seen.extend(entries.iter().map(|entry| entry["sequence"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("injected?limit=4&cursor={next}");
    }
    let mut unique = seen.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!((seen.len(), unique.len()), (6, 6));
    for wrong in ["cursor=x", "limit=0", "memory=none-such"] {
        let path = format!("/api/v1/injected?{wrong}");
        let status = server.send(&request("GET", &path, &[("Host", "localhost")], "")).status;
        assert!(matches!(status, 400 | 404), "{wrong}: {status}");
    }
}

// S-EVENT-7
#[test]
fn http_savings_count_what_was_measured() {
    let world = World::sharing();
    let server = start(&world);
    let none = read(&server, "savings");
    for name in ["answers", "tokens_given", "tokens_of_logs", "helped", "failed", "silent"] {
        assert_eq!(none[name], 0, "{none}");
    }
    assert_eq!(none["days"].as_array().unwrap().len(), 30);
    let id = save(&world, "freeze the clock in cart tests");
    hook(&world, "s1");
    hook(&world, "s1");
    server.search("cart tests clock");
    server.search("walruses of the north");
    server.told("memory_feedback", &json!({ "ids": [id], "verdict": "failed" }));
    let entries = read(&server, "injected");
    let given: u64 = entries["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["tokens"].as_u64().unwrap())
        .sum();
    let sums = read(&server, "savings?days=7");
    assert_eq!((&sums["answers"], &sums["silent"]), (&json!(2), &json!(2)), "{sums}");
    assert_eq!((&sums["helped"], &sums["failed"]), (&json!(0), &json!(1)), "{sums}");
    let with_silent = sums["tokens_given"].as_u64().unwrap();
    assert!(with_silent > given && with_silent < given + 100, "{sums} {entries}");
    let log = world.log_names().remove(0);
    // The report was saved after the answers.
    let lines = world.log_lines(&log);
    let bytes = lines[0].len() + 1;
    assert_eq!(sums["tokens_of_logs"], json!(bytes / 4), "{sums}");
    let days = sums["days"].as_array().unwrap();
    assert_eq!((days.len(), &days[6]["answers"]), (7, &json!(2)), "{sums}");
    assert!(sums["formula"].as_str().unwrap().contains("divided by 4"), "{sums}");
}

// S-EVENT-2, S-EVENT-3
#[test]
fn http_events_go_on_after_a_kill() {
    let world = World::sharing();
    save(&world, "an old lesson");
    let mut server = start(&world);
    let mut listener = listen(&server);
    let mut saved = vec![save(&world, "lesson 0")];
    listener.added(&saved);
    for round in 1..4 {
        let before = (0..3).map(|number| save(&world, &format!("lesson {round} {number}")));
        saved = before.collect();
        server.signal("-KILL");
        server.wait();
        saved.push(save(&world, &format!("lesson {round} in between")));
        server = start(&world);
        saved.push(save(&world, &format!("lesson {round} after")));
        // The listener may have read any part of it.
        while let Ok(Some(told)) =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| listener.next()))
        {
            saved.retain(|id| told.data["id"] != **id);
        }
        listener = listen_after(&server, &listener.last_id);
        listener.added(&saved);
    }
    let id = save(&world, "the last lesson");
    listener.added(&[id]);
}

// S-EVENT-2, S-EVENT-3
#[test]
fn http_events_of_a_rebuilt_cache_are_new() {
    let world = World::sharing();
    let server = start(&world);
    let mut listener = listen(&server);
    let id = save(&world, "lesson 0");
    listener.added(&[id]);
    drop(server);
    (0..3).for_each(|number| drop(save(&world, &format!("lesson {number} in between"))));
    std::fs::remove_dir_all(world.path("cache")).unwrap();
    let server = start(&world);
    let mut listener = listen_after(&server, &listener.last_id);
    assert_eq!(listener.told().kind, "lost");
    listener.until_placed();
    let id = save(&world, "lesson after");
    listener.added(&[id]);
}

// S-EVENT-3
#[test]
fn http_events_that_were_rotated_away_are_lost() {
    let world = World::sharing();
    let server = start(&world);
    let mut listener = listen(&server);
    let id = save(&world, "lesson 0");
    listener.added(&[id]);
    let line = json!({ "event": "indexed", "pad": "x".repeat(20_000) });
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    for _ in 0..700 {
        journal(&world).add(&line, now).unwrap();
    }
    let mut late = listen_after(&server, &listener.last_id);
    assert_eq!(late.told().kind, "lost");
    late.until_placed();
    let id = save(&world, "lesson after");
    late.added(std::slice::from_ref(&id));
}

// S-EVENT-4
#[test]
fn http_sixteen_listen_and_take_no_calls() {
    let world = World::sharing();
    let mut server = start(&world);
    let mut listeners: Vec<Listener> = (0..16).map(|_| listen(&server)).collect();
    let refused = asked(&server, "GET", "/api/v1/events", &[]).err().unwrap();
    assert_eq!(refused.status, 503);
    assert!(
        refused.body.contains("16 listeners")
            && refused.has("content-type", "application/problem+json"),
        "{refused:?}"
    );
    let id = save(&world, "freeze the clock in cart tests");
    listeners.iter_mut().for_each(|listener| listener.added(std::slice::from_ref(&id)));
    assert!(server.search("cart tests clock").contains("freeze the clock"), "calls are free");
    listeners.pop();
    let began = Instant::now();
    while let Err(refused) = asked(&server, "GET", "/api/v1/events", &[]) {
        assert!(refused.status == 503 && began.elapsed() < STEP, "{refused:?}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    server.signal("-TERM");
    let began = Instant::now();
    server.wait();
    assert!(began.elapsed() < Duration::from_secs(10), "listeners hold up the end");
    for mut listener in listeners {
        while let Some(told) = listener.next() {
            assert!(matches!(told.kind.as_str(), "indexed" | "injected"), "{told:?}");
        }
    }
}

// S-EVENT-4
#[test]
fn http_a_listener_that_never_reads_is_dropped() {
    let world = World::sharing();
    let server = start(&world);
    let stuck = listen(&server);
    let mut others: Vec<Listener> = (0..15).map(|_| listen(&server)).collect();
    let reading = others.pop().unwrap();
    let reader = std::thread::spawn(move || {
        let mut listener = reading;
        let mut count = 0;
        while count < 700 {
            count += usize::from(listener.next().unwrap().data["pad"].is_string());
        }
        listener
    });
    // The others leave, so that only one place is taken by one that does not read.
    drop(others);
    let line = json!({ "event": "indexed", "pad": "x".repeat(10_000) });
    let now = "2026-01-02T03:04:05Z".parse().unwrap();
    for _ in 0..700 {
        journal(&world).add(&line, now).unwrap();
    }
    let mut reading = reader.join().unwrap();
    let began = Instant::now();
    let mut all = Vec::new();
    while all.len() < 15 {
        assert!(began.elapsed() < STEP, "the place of the one that does not read is not free");
        match asked(&server, "GET", "/api/v1/events", &[]) {
            Ok(listener) => all.push(listener),
            Err(_) => std::thread::park_timeout(Duration::from_millis(100)),
        }
    }
    assert!(began.elapsed() > Duration::from_secs(1), "it was given some time");
    let id = save(&world, "lesson after");
    while reading.told().data["id"] != id {}
    drop(stuck);
}

// S-EVENT-4, S-EVENT-6
#[test]
fn http_events_stand_behind_the_same_door() {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    let refused = |server: &Server, method: &str, path: &str, headers: &[(&str, &str)]| {
        asked(server, method, path, headers).err().map_or(200, |refused| refused.status)
    };
    assert_eq!(refused(&server, "GET", "/api/v1/events", &[]), 401);
    let told: Value = serde_json::from_str(&server.said).unwrap();
    let token = std::fs::read_to_string(told["http"]["token_file"].as_str().unwrap()).unwrap();
    let shown = format!("Bearer {}", token.trim());
    let own = ("Authorization", &*shown);
    assert_eq!(refused(&server, "GET", "/api/v1/events", &[own]), 200);
    assert_eq!(refused(&server, "GET", "/api/v1/events?after=1-2", &[own]), 200);
    assert_eq!(
        refused(&server, "GET", "/api/v1/events", &[own, ("Origin", "http://evil.example")]),
        403
    );
    assert_eq!(refused(&server, "GET", "/api/v1/events", &[own, ("Last-Event-ID", "seven")]), 400);
    assert_eq!(refused(&server, "GET", "/api/v1/events?since=1-2", &[own]), 400);
    assert_eq!(refused(&server, "POST", "/api/v1/events", &[own]), 405);
    drop(server);
    std::fs::remove_dir_all(journal(&world).folder()).unwrap();
    world.configure("journal = false\n");
    let server = start(&world);
    let off = asked(&server, "GET", "/api/v1/events", &[]).err().unwrap();
    assert!(off.status == 503 && off.body.contains("journal = true"), "{off:?}");
    save(&world, "freeze the clock in cart tests");
    assert!(hook(&world, "s1").contains("freeze the clock"));
    server.search("cart tests clock");
    let page = read(&server, "injected");
    assert_eq!(page["entries"], json!([]));
    assert!(page["notices"][0].as_str().unwrap().contains("journal is off"), "{page}");
    assert!(!journal(&world).folder().exists());
}

// S-EVENT-6
#[test]
fn http_everything_works_without_a_writable_journal() {
    let world = World::sharing();
    std::fs::create_dir(world.path("cache")).unwrap();
    std::fs::write(world.path("cache/journal"), "no folder").unwrap();
    let server = start(&world);
    let silent = asked(&server, "GET", "/api/v1/events", &[]).unwrap();
    save(&world, "freeze the clock in cart tests");
    assert!(hook(&world, "s1").contains("freeze the clock"));
    assert!(server.search("cart tests clock").contains("freeze the clock"));
    assert_eq!(read(&server, "injected")["entries"], json!([]));
    assert_eq!(read(&server, "savings")["answers"], 0);
    // It begins as soon as it can.
    std::fs::remove_file(world.path("cache/journal")).unwrap();
    let mut listener = silent;
    listener.until_placed();
    let id = save(&world, "lesson after");
    while listener.told().data["id"] != id {}
}
