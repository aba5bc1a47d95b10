//! No message, however broken, ends the server, puts anything but protocol on its output, or makes it grow without
//! bound, and a good request is answered afterwards. This includes empty logs and queries of a megabyte. Not here:
//! the answers to good calls (`mcp`), arguments of every form (`laws`).

use std::io::{Seek, SeekFrom, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::raw_client::{BOTH, Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World, bytes_under};

/// Most memory that the server may use, in kB: a line of the largest size in a few forms at once, besides what a
/// debug build takes idle.
const PEAK_KB_MAX: u64 = 400_000;

/// The bound of rmcp on a line; a longer one is dropped.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The first id of broken messages; good ones count from one.
const BROKEN_ID: u64 = 77_000_000;

/// Asserts that the server lives, answers, and has stayed small. Every line read on the way must be protocol.
#[track_caller]
fn assert_well(client: &mut Client, after: &str) {
    let found = client.search("zebra");
    assert!(found.contains("the zebra"), "after {after}: {found}");
    if let Some(peak) = peak_kb(client.process()) {
        assert!(peak <= PEAK_KB_MAX, "{peak} kB after {after}");
    }
}

/// Returns the most memory a process has used, in kB, where the system tells.
fn peak_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn world() -> World {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    world
}

fn request(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": BROKEN_ID, "method": method, "params": params}).to_string()
}

/// Returns requests that a client might send, to be broken.
fn good_requests() -> Vec<String> {
    let search =
        json!({"name": "memory_search", "arguments": {"query": "zebra \u{1F993}", "limit": 3}});
    let save = json!({"name": "memory_save", "arguments":
        {"event_type": "error", "lesson": "clean first", "tags": ["a", "b"], "success_rate": "1/2"}});
    vec![
        request("tools/call", &search),
        request("tools/call", &save),
        request("resources/read", &json!({"uri": "memory://recent"})),
        request("prompts/get", &json!({"name": "recall", "arguments": {"topic": "zebra"}})),
        request("tools/list", &json!({})),
        request("ping", &json!({})),
    ]
}

/// Short texts that are not requests: no JSON, no message, or a message at the wrong time.
const FORMLESS: [&str; 31] = [
    "null",
    "true",
    "0",
    "-1e999",
    "\"\"",
    "[]",
    "{}",
    "[[]]",
    "{",
    "}",
    "\"",
    "[1,",
    "\\",
    "{\"jsonrpc\":\"2.0\"}",
    "{\"jsonrpc\":\"1.0\",\"id\":77000000,\"method\":\"ping\"}",
    "{\"jsonrpc\":2.0,\"id\":77000000,\"method\":\"ping\"}",
    "{\"id\":77000000,\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":7}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"no/such\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"result\":{}}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"error\":{\"code\":1,\"message\":\"x\"}}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"ping\",\"method\":\"ping\",\"id\":77000001}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":[]}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/no_such\",\"params\":{\"a\":1}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"initialize\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"initialize\",\"params\":{\"protocolVersion\":9}}",
    "[{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":77000001,\"method\":\"ping\"}]",
];

/// Returns inputs that are not requests.
fn broken() -> Vec<Vec<u8>> {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    let arguments = |value: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{BROKEN_ID},\"method\":\"tools/call\",\"params\":\
                 {{\"name\":\"memory_search\",\"arguments\":{value}}}}}"
        )
    };
    let id = |id: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
    let mut texts: Vec<String> = FORMLESS.map(str::to_owned).to_vec();
    for value in ["{}", "[]", "null", "-1", "1.5", "true", "1e400", "18446744073709551616", "\"\""]
    {
        texts.push(id(value));
        texts.push(arguments(value));
        for method in ["tools/call", "resources/read", "prompts/get", "tools/list", "initialize"] {
            texts.push(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{BROKEN_ID},\"method\":\"{method}\",\"params\":{value}}}"
            ));
        }
    }
    texts.push(id(&format!("\"{}\"", "i".repeat(1 << 20))));
    texts.push(deep("[", "]"));
    texts.push(deep("{\"a\":", "}").replace(":}", ":1}"));
    texts.push(arguments(&deep("[", "]")));
    texts.push(arguments(&format!("{{\"query\":{}}}", deep("[", "]"))));
    texts.push(request("tools/call", &json!({"name": "memory_search",
        "arguments": Value::Object((0..20_000).map(|n| (format!("field{n}"), json!(n))).collect())})));
    texts.push(request("tools/call", &json!({"name": "x".repeat(1 << 20), "arguments": {}})));
    texts.push(request(&"m".repeat(1 << 20), &json!({})));
    texts.push(request("resources/read", &json!({"uri": "memory://item/".repeat(50_000)})));
    for good in good_requests() {
        texts.push(format!("\u{FEFF}{good}"));
        texts.push(format!("{good}\r"));
        texts.push(format!("{good}{good}"));
        texts.extend(
            (0..good.len()).step_by(7).filter_map(|cut| good.get(..cut).map(str::to_owned)),
        );
    }
    let mut lines: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    for good in good_requests() {
        lines.push([good.as_bytes(), b"\xFF"].concat());
        lines.push(good.replace("zebra", "\u{0}").into_bytes());
        let place = good.len() / 2;
        lines
            .push([&good.as_bytes()[..place], b"\xC3\x28\0\0", &good.as_bytes()[place..]].concat());
    }
    lines.extend([
        vec![0; 1000],
        vec![0xFF; 1000],
        b"\0".to_vec(),
        b"\r".to_vec(),
        b" \t ".to_vec(),
    ]);
    lines
}

// S-MCP-1
#[test]
fn no_broken_message_ends_the_server_or_its_protocol() {
    for era in BOTH {
        let world = world();
        let mut client = Client::open(&world, era);
        for (number, message) in broken().iter().enumerate() {
            client.write_bytes(message);
            client.write_bytes(b"\n");
            if number % 40 == 0 {
                let shown = String::from_utf8_lossy(&message[..message.len().min(200)]);
                assert_well(&mut client, &format!("{era:?}: up to message {number}: {shown}"));
            }
        }
        assert_well(&mut client, "all");
        let left = client.leave();
        assert!(left.status.success(), "{era:?}: {:?} {}", left.status, left.messages);
        assert!(!left.messages.contains("panicked"), "{}", left.messages);
    }
}

/// Returns lines whose sender waits for an answer, each with the code and the id of that answer. The code of a result
/// is 0.
fn waited_for() -> Vec<(Vec<u8>, i64, Value)> {
    let save = r#"{"jsonrpc":"2.0","id":501,"method":"tools/call","params":{"name":"memory_save",
        "arguments":{"event_type":"fact","repo":"api","lesson":"the quagga \ud83d"}}}"#;
    let deep = format!(r#"{{"jsonrpc":"2.0","id":502,"params":{}"#, "[".repeat(129));
    let listens = r#"{"jsonrpc":"2.0","id":503,"method":"subscriptions/listen","params":
        {"notifications":{"toolsListChanged":true}}}"#;
    let text = |text: &str, code, id| (text.replace('\n', "").into_bytes(), code, json!(id));
    vec![
        (b"no JSON".to_vec(), -32700, Value::Null),
        (b"[]".to_vec(), -32600, Value::Null),
        (b"{\"id\":504,\"method\":\"p\xFF\"}".to_vec(), -32700, json!(504)),
        text(save, 0, 501),
        text(&deep, -32700, 502),
        text(
            r#"{"jsonrpc":"2.0","id":505,"method":"tools/call","params":{"name":7}}"#,
            -32602,
            505,
        ),
        text(r#"{"jsonrpc":"2.0","id":506,"method":"no/such"}"#, -32601, 506),
        text(r#"{"jsonrpc":"2.0","id":507,"method":"ping""#, -32700, 507),
        text(&format!("{{\"id\":508,\"x\":\"{}\"", "x".repeat(LINE_BYTES_MAX)), -32600, 508),
        text(listens, 1, 503),
        text(&listens.replace("true", "false"), -32600, 503),
        text(r#"{"jsonrpc":"2.0","id":509,"method":"ping"}"#, 0, 509),
    ]
}

// S-MCP-8
#[test]
fn every_line_that_is_waited_for_is_answered() {
    let world = world();
    let mut client = Client::open(&world, Era::Legacy);
    let lines = waited_for();
    for (line, ..) in &lines {
        client.write_bytes(line);
        client.write_bytes(b"\n");
    }
    // The last line of an input counts without its line break.
    client.write_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":510,\"method\":\"ping\"}");
    let answers = client.leave().rest;
    let answered = |code: i64, id: &Value| {
        let is_it = |answer: &&Value| {
            answer["id"] == *id && answer["error"]["code"].as_i64().unwrap_or(0) == code
        };
        answers.iter().filter(is_it).count()
    };
    for (line, code, id) in lines.iter().filter(|(_, code, _)| *code != 1) {
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
        assert_eq!(answered(*code, id), 1, "{shown}: {answers:?}");
    }
    assert_eq!(answered(0, &json!(510)), 1, "{answers:?}");
    let saved = world.events("api.jsonl");
    assert!(saved.iter().any(|event| event.lesson == "the quagga \u{FFFD}"), "{saved:?}");
}

// S-MCP-1
#[test]
fn messages_before_the_session_do_not_end_it() {
    let first = [
        "not JSON",
        "[]",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"error\":{\"code\":1,\"message\":\"x\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"no/such\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"tools/call\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":77000000,\"method\":\"initialize\",\"params\":{}}",
    ];
    let (world, all) = (world(), first.join("\n"));
    for era in BOTH {
        for before in first.into_iter().chain([all.as_str()]) {
            let mut client = Client::open_after(&world, era, format!("{before}\n").as_bytes());
            assert_well(&mut client, before);
        }
    }
}

/// The input that the server buffers for a client that reads nothing stays bounded, and so does its memory.
#[test]
fn answers_for_a_client_that_reads_nothing_are_bounded() {
    let world = world();
    let lesson = "the zebra and more words ".repeat(1_000);
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", &lesson]).done();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let command = command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.stderr(Stdio::null()).spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "deaf", "version": "1"}});
    let search = json!({"name": "memory_search",
        "arguments": {"query": "zebra", "limit": 20, "max_tokens": 8_000}});
    // Each call has its own id, as those of clients do: of calls with one id the session keeps the last.
    let call = |id: usize| json!({"jsonrpc": "2.0", "id": format!("call-{id}"), "method": "tools/call", "params": search});
    let calls: String = (0..20_000).map(|id| format!("{}\n", call(id))).collect();
    let lines = format!("{}\n", request("initialize", &hello)) + &calls;
    let sent = Arc::new(AtomicUsize::new(0));
    let writer = {
        let sent = Arc::clone(&sent);
        std::thread::spawn(move || {
            for piece in lines.as_bytes().chunks(4_096) {
                // The thread ends when the server is ended, below.
                if input.write_all(piece).is_err() {
                    return;
                }
                sent.fetch_add(piece.len(), Ordering::Relaxed);
            }
        })
    };
    // Waits until nothing more is accepted for a second, or all of it was.
    let (mut last, mut since, start) = (0, Instant::now(), Instant::now());
    while since.elapsed() < Duration::from_secs(1) && start.elapsed() < Duration::from_secs(60) {
        let now = sent.load(Ordering::Relaxed);
        if now != last {
            (last, since) = (now, Instant::now());
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let peak = peak_kb(server.id());
    server.kill().unwrap();
    server.wait().unwrap();
    writer.join().unwrap();
    assert!(last < 1 << 20, "{last} bytes were taken from a client that reads nothing");
    assert!(peak.is_none_or(|peak| peak <= PEAK_KB_MAX), "{peak:?} kB");
}

/// Xorshift that look random and are the same in every run (Marsaglia's xorshift, 64 bits).
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

/// Breaks a message in up to four places.
fn mutated(message: &str, numbers: &mut Xorshift) -> Vec<u8> {
    const PIECES: [&[u8]; 12] = [
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"\\u",
        b"null",
        b"-1",
        b"\xF0\x9F",
        b"\0",
        b"{\"a\":",
    ];
    let mut bytes = message.as_bytes().to_vec();
    for _ in 0..=numbers.below(4) {
        let (place, end) = (numbers.below(bytes.len()), numbers.below(bytes.len()));
        match numbers.below(5) {
            0 => bytes[place] = u8::try_from(numbers.below(256)).unwrap(),
            1 => drop(bytes.remove(place)),
            2 => drop(bytes.splice(place..place, PIECES[numbers.below(PIECES.len())].to_vec())),
            3 => bytes.truncate(place.max(1)),
            _ => {
                let copied = bytes[place.min(end)..place.max(end)].to_vec();
                drop(bytes.splice(place..place, copied));
            }
        }
        if bytes.is_empty() {
            bytes.push(b'x');
        }
    }
    bytes
}

// S-MCP-1
#[test]
fn no_mutated_request_ends_the_server_or_its_protocol() {
    for (era, seed) in [(Era::Legacy, 0x5EED_0001), (Era::Modern, 0x5EED_0002)] {
        let world = world();
        let mut client = Client::open(&world, era);
        client.count_from(100 * BROKEN_ID);
        let (mut numbers, requests) = (Xorshift(seed), good_requests());
        for number in 0..1_500 {
            let request = &requests[numbers.below(requests.len())];
            client.write_bytes(&mutated(request, &mut numbers));
            client.write_bytes(b"\n");
            if number % 250 == 249 {
                assert_well(&mut client, &format!("{era:?}: message {number} of seed {seed:x}"));
            }
        }
        let left = client.leave();
        assert!(left.status.success(), "{era:?}: {:?} {}", left.status, left.messages);
        assert!(!left.messages.contains("panicked"), "{}", left.messages);
        // Every event saved on the way is valid.
        assert!(!world.all_events().is_empty());
    }
}

// S-MCP-1
#[test]
fn floods_of_messages_stay_within_bounded_memory() {
    let world = world();
    let mut client = Client::open(&world, Era::Legacy);
    client.write_bytes("\n".repeat(100_000).as_bytes());
    client.write_bytes("\r\n".repeat(10_000).as_bytes());
    assert_well(&mut client, "blank lines");
    for notification in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
    ] {
        client.write_bytes(format!("{notification}\n").repeat(5_000).as_bytes());
        assert_well(&mut client, &notification.to_string());
    }
    client.write_bytes("{]\n".repeat(100_000).as_bytes());
    assert_well(&mut client, "lines of no JSON");
    client.write_bytes("{\"jsonrpc\":\"2.0\",\"id\":[]}\n".repeat(20_000).as_bytes());
    assert_well(&mut client, "lines of no message");
    let same = format!("{}\n", request("ping", &json!({})));
    client.write_bytes(same.repeat(5_000).as_bytes());
    assert_well(&mut client, "requests of one id");
    let search = json!({"name": "memory_search", "arguments": {"query": "zebra"}});
    client.write_bytes(format!("{}\n", request("tools/call", &search)).repeat(500).as_bytes());
    assert_well(&mut client, "searches of one id");
}

// S-MCP-1
#[test]
fn lines_of_any_length_stay_within_bounded_memory() {
    let world = world();
    let mut client = Client::open(&world, Era::Legacy);
    for bytes in [1 << 20, LINE_BYTES_MAX - 1, LINE_BYTES_MAX, 40 << 20] {
        client.write_bytes(&vec![b'x'; bytes]);
        client.write_bytes(b"\n");
        assert_well(&mut client, &format!("{bytes} bytes of no JSON"));
    }
    let before = bytes_under(&world.store());
    for bytes in [1 << 20, LINE_BYTES_MAX / 2] {
        let arguments = json!({"event_type": "fact", "lesson": "x".repeat(bytes)});
        let (text, is_error) = client.call("memory_save", &arguments);
        assert!(is_error && text.len() < 2_000 && text.contains("at most 32768"), "{text}");
    }
    assert_eq!(bytes_under(&world.store()), before);
    assert_well(&mut client, "long lessons");
}

/// Queries of the maximum length that are as hard to parse as possible.
fn hard_queries(bytes: usize) -> Vec<String> {
    let filled = |piece: &str| piece.repeat(bytes / piece.len());
    [
        "a",
        "a ",
        "aA",
        "a_",
        "a.b/",
        "::",
        "\\",
        "\"",
        "(((",
        "木",
        "e\u{301}",
        "\u{1F993}",
        "\u{200B}",
        "\n",
        "zebra-",
        "Ab1",
        "0x",
        "%00",
        "../",
        "{}",
    ]
    .map(filled)
    .to_vec()
}

// S-MCP-2
#[test]
fn the_hardest_queries_are_answered_or_refused_at_once() {
    let world = world();
    let text = "the okapi build_stopped atLine42 src/a.b.c::d 木木木 ".repeat(200);
    world
        .log_memory(&["--repo", "api", "--type", "fact", "--context", &text, "--lesson", "x"])
        .done();
    let mut client = Client::open(&world, Era::Legacy);
    client.search("warm");
    // A debug build on a busy machine takes tens of milliseconds. Work that grows faster than the query would take
    // minutes.
    let time_max = Duration::from_secs(5);
    for (bytes, some) in [(8 * 1024, 1), (1 << 20, 4)] {
        for query in hard_queries(bytes).into_iter().step_by(some) {
            let shown: String = query.chars().take(8).collect();
            for tool in ["memory_search", "memory_context"] {
                let field = if tool == "memory_search" { "query" } else { "task" };
                let start = Instant::now();
                let (text, is_error) = client.call(tool, &json!({ field: query }));
                assert!(start.elapsed() < time_max, "{shown:?} {bytes}: {:?}", start.elapsed());
                assert!(text.len() < 8_000 * 4, "{shown:?}");
                // A long text is cut, never refused; one of invisible characters is empty.
                assert_eq!(is_error, text.contains("is empty"), "{tool} {shown:?} {bytes}: {text}");
            }
        }
    }
    assert_well(&mut client, "hard queries");
}

// S-LINE-8
#[test]
fn empty_logs_are_read_in_bounded_memory() {
    let world = world();
    world.hand_write("blank.jsonl", "\n".repeat(1_000_000));
    // A file with a hole, as a crash can leave it: 64 MB of NUL bytes, followed by a good line.
    for (name, end) in [("hole.jsonl", "\n{\"lesson\":\"the walrus\"}\n"), ("torn.jsonl", "")] {
        let mut file = std::fs::File::create(world.store().join(name)).unwrap();
        file.set_len(64 << 20).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(end.as_bytes()).unwrap();
    }
    let mut many = String::new();
    (0..50_000).for_each(|_| many.push_str("x\n"));
    world.hand_write("noise.jsonl", many);
    let mut client = Client::open(&world, Era::Legacy);
    assert_well(&mut client, "logs of nothing");
    assert!(client.search("walrus").contains("the walrus"));
    world.log_memory(&["--repo", "blank", "--type", "fact", "--lesson", "the okapi"]).done();
    assert!(client.search("okapi").contains("the okapi"));
    let status = world.asked(&["status"]);
    assert_eq!(status["skipped"], 50_001, "{status}");
}
