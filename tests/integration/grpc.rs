//! gRPC: the calls of REST answer over it, errors have codes and fields, an action that is sent twice is done once, streams
//! tell what becomes stale, and strangers are refused. The clients are tonic's and Google's for Python. Not here: the
//! numbers of fields (unit tests of `grpc`).

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prost::Message;
use serde_json::{Value, json};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::pieces;
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Longest anything may take: a debug build on a busy machine, but never for ever.
const STEP: Duration = Duration::from_secs(60);

// What a client has: some fields, by the numbers of the committed file.

#[derive(Clone, PartialEq, Message)]
struct Search {
    #[prost(string, optional, tag = "1")]
    query: Option<String>,
    #[prost(string, repeated, tag = "5")]
    tags: Vec<String>,
    #[prost(uint32, optional, tag = "10")]
    limit: Option<u32>,
    #[prost(bool, optional, tag = "14")]
    explain: Option<bool>,
    /// A field that nobody has yet.
    #[prost(string, optional, tag = "900")]
    colour: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Save {
    #[prost(string, optional, tag = "1")]
    event_type: Option<String>,
    #[prost(string, optional, tag = "2")]
    lesson: Option<String>,
    #[prost(string, repeated, tag = "6")]
    tags: Vec<String>,
    #[prost(string, optional, tag = "9")]
    repo: Option<String>,
    #[prost(string, optional, tag = "11")]
    folder: Option<String>,
}

/// Of the messages that begin with ids: show, feedback, pin, and the like.
#[derive(Clone, PartialEq, Message)]
struct OfIds {
    #[prost(string, repeated, tag = "1")]
    ids: Vec<String>,
    #[prost(string, optional, tag = "2")]
    verdict: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Empty {}

#[derive(Clone, PartialEq, Message)]
struct WatchStale {
    #[prost(string, optional, tag = "1")]
    directory: Option<String>,
    #[prost(bool, optional, tag = "2")]
    only_new: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
struct WatchMemories {
    #[prost(string, optional, tag = "1")]
    after: Option<String>,
    #[prost(string, repeated, tag = "2")]
    events: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(bytes = "vec", tag = "2")]
    json: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    event: String,
    #[prost(bytes = "vec", tag = "3")]
    json: Vec<u8>,
}

/// A server in the foreground, and what to tell it.
struct Server {
    child: Child,
    rest: Option<JoinHandle<String>>,
    address: String,
    metadata: Vec<(&'static str, String)>,
}

impl Server {
    #[track_caller]
    fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["serve", "--json", "--idle-minutes", "0", "--grpc", "127.0.0.1:0"]);
        let mut child =
            command.args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let told = loop {
            said.clear();
            assert!(errors.read_line(&mut said).unwrap() > 0, "it ended");
            let told: Value = serde_json::from_str(&said).unwrap_or_default();
            if told["grpc"].is_object() {
                break told["grpc"].clone();
            }
        };
        let rest = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ = errors.read_to_string(&mut rest);
            rest
        });
        let token = told["token_file"].as_str().map(|file| std::fs::read_to_string(file).unwrap());
        let metadata = token.map(|token| ("authorization", format!("Bearer {}", token.trim())));
        let address = told["address"].as_str().unwrap().to_owned();
        Self { child, rest: Some(rest), address, metadata: metadata.into_iter().collect() }
    }

    fn with(&mut self, key: &'static str, value: &str) {
        self.metadata.retain(|(other, _)| *other != key);
        self.metadata.push((key, value.to_owned()));
    }

    async fn client(&self) -> tonic::client::Grpc<Channel> {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        let mut client = tonic::client::Grpc::new(endpoint.connect().await.unwrap());
        client.ready().await.unwrap();
        client
    }

    fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        for (key, value) in &self.metadata {
            request.metadata_mut().insert(*key, value.parse().unwrap());
        }
        request.set_timeout(STEP);
        request
    }

    /// Makes one call on a connection of its own.
    fn call(&self, rpc: &str, message: impl Message + 'static) -> Result<Answer, Status> {
        self.call_at(&format!("/agent_knowledge.v1.MemoryService/{rpc}"), message)
    }

    fn call_at(&self, path: &str, message: impl Message + 'static) -> Result<Answer, Status> {
        waiting(async {
            let path = PathAndQuery::try_from(path).unwrap();
            let codec = ProstCodec::default();
            let answer = self.client().await.unary(self.request(message), path, codec).await;
            answer.map(tonic::Response::into_inner)
        })
    }

    async fn watch<M>(&self, rpc: &str, message: M) -> Result<Streaming<Event>, Status>
    where
        M: Message + 'static,
    {
        let path = format!("/agent_knowledge.v1.MemoryService/{rpc}");
        let path = PathAndQuery::try_from(path).unwrap();
        let mut request = Request::new(message);
        *request.metadata_mut() = self.request(Empty {}).metadata().clone();
        request.metadata_mut().remove("grpc-timeout");
        let mut client = self.client().await;
        let stream = client.server_streaming(request, path, ProstCodec::default()).await;
        stream.map(tonic::Response::into_inner)
    }

    fn stop(&mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < STEP, "it is still there");
            std::thread::park_timeout(Duration::from_millis(2));
        }
        self.rest.take().map(|rest| rest.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn waiting<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(STEP, future).await.expect("in time") })
}

fn save(lesson: &str) -> Save {
    Save {
        event_type: Some("pattern".to_owned()),
        lesson: Some(lesson.to_owned()),
        tags: vec!["cart".to_owned()],
        repo: Some("acme/web".to_owned()),
        folder: None,
    }
}

fn search(query: &str) -> Search {
    Search { query: Some(query.to_owned()), ..Search::default() }
}

fn only_id(world: &World) -> String {
    let events = world.all_events();
    assert_eq!(events.len(), 1);
    events[0].id.to_string()
}

#[track_caller]
fn refused(answer: Result<Answer, Status>) -> (Code, String) {
    let status = answer.expect_err("it was answered");
    (status.code(), status.message().to_owned())
}

// S-PATH-5, S-GRPC-1
#[test]
fn a_save_over_grpc_records_its_folder() {
    let world = World::sharing();
    let server = Server::start(&world, &["--no-token"]);
    let folder = Some("packages/api".to_owned());
    let of_api = Save { folder, ..save("freeze the clock in the tests of routes") };
    server.call("Save", of_api).unwrap();
    let folder = world.all_events()[0].folder();
    assert_eq!(folder.map(|folder| folder.to_string()).as_deref(), Some("packages/api"));
}

// S-GRPC-1
#[test]
fn grpc_calls_answer_as_rest_does() {
    let world = World::sharing();
    let mut server = Server::start(&world, &["--no-token"]);
    server.with("x-agent", "Dash Board");
    let saved = server.call("Save", save("freeze the clock in cart tests")).unwrap();
    assert!(saved.text.contains("aved"), "{saved:?}");
    let id = only_id(&world);
    let mut asked = search("clock cart tests");
    (asked.tags, asked.limit) = (vec!["cart".to_owned()], Some(3));
    let found = server.call("Search", asked.clone()).unwrap();
    assert!(found.text.contains("freeze the clock"), "{found:?}");
    // The JSON is a `Struct`; its strings stand in it as they are.
    let json = String::from_utf8_lossy(&found.json).into_owned();
    assert!(json.contains("memories") && json.contains("freeze the clock"), "{json}");
    asked.tags = vec!["other".to_owned()];
    let nothing = server.call("Search", asked).unwrap();
    assert!(!nothing.text.contains("freeze the clock"), "{nothing:?}");
    let verdict = Some("worked".to_owned());
    server.call("Feedback", OfIds { ids: vec![id.clone()], verdict }).unwrap();
    let shown = server.call("Show", OfIds { ids: vec![id], verdict: None }).unwrap();
    assert!(shown.text.contains("worked"), "{shown:?}");
    let agents: Vec<_> =
        world.all_events().iter().map(|event| event.agent_id.to_string()).collect();
    assert_eq!(agents, ["dash-board", "dash-board"]);
    let status = world.agent_knowledge(&["status"]).done();
    let line = format!("{} for every user of this machine, 5 calls so far", server.address);
    assert!(status.contains(&line), "{status}: {line}");
}

// S-GRPC-1
#[test]
fn grpc_and_http_share_token_and_retriever() {
    let world = World::sharing();
    let mut server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    server.call("Save", save("freeze the clock in cart tests")).unwrap();
    let status = world.agent_knowledge(&["status"]).done();
    assert!(status.contains("\nhttp ") && status.contains("\ngrpc "), "{status}");
    // A retriever with an address does not give way to another one.
    let other = world.agent_knowledge(&["serve", "--grpc", "127.0.0.1:0"]);
    assert_eq!(other.exit, Some(75), "{other:?}");
    server.with("authorization", &format!("Bearer {}", "0".repeat(64)));
    assert_eq!(refused(server.call("Status", Empty {})).0, Code::Unauthenticated);
    server.metadata.clear();
    for path in ["/grpc.health.v1.Health/Check", "/agent_knowledge.v1.MemoryService/None"] {
        assert_eq!(refused(server.call_at(path, Empty {})).0, Code::Unauthenticated, "{path}");
    }
}

// S-GRPC-3
#[test]
fn grpc_errors_have_codes_and_fields() {
    let world = World::sharing();
    let mut server = Server::start(&world, &["--no-token"]);
    let nothing = OfIds { ids: vec!["none-such".to_owned()], verdict: None };
    let limited = Search { limit: Some(0), ..search("a") };
    let coloured = Search { colour: Some("red".to_owned()), ..search("a") };
    for (answer, code, word) in [
        (server.call("Search", limited.clone()), Code::InvalidArgument, "limit"),
        (server.call("Search", Search::default()), Code::InvalidArgument, "query"),
        (server.call("Search", coloured), Code::InvalidArgument, "no field 900"),
        (server.call("Show", Empty {}), Code::InvalidArgument, "ids"),
        (server.call("Analyze", Empty {}), Code::InvalidArgument, "topic"),
        (server.call("AcceptPattern", Empty {}), Code::InvalidArgument, "accept"),
        (server.call("Show", nothing), Code::NotFound, "none-such"),
        (server.call("Nothing", Empty {}), Code::Unimplemented, "reflection"),
        (server.call("Search", search(&"x".repeat(1 << 20))), Code::ResourceExhausted, "1 MiB"),
    ] {
        let (got, message) = refused(answer);
        assert!(got == code && message.contains(word), "{got:?} {message}: {code:?} {word}");
    }
    let status = server.call("Search", limited).unwrap_err();
    let details = String::from_utf8_lossy(status.details()).into_owned();
    assert!(details.contains("google.rpc.BadRequest") && details.contains("limit"), "{details}");
    for key in ["x-agent", "idempotency-key"] {
        server.with(key, &"x".repeat(100));
        let (code, message) =
            refused(server.call("Pin", OfIds { ids: vec!["a".to_owned()], verdict: None }));
        assert!(code == Code::InvalidArgument && message.to_lowercase().contains(key), "{message}");
        server.metadata.clear();
    }
}

// S-GRPC-3
#[test]
fn grpc_a_repeated_deed_is_done_once() {
    let world = World::sharing();
    let mut server = Server::start(&world, &["--no-token"]);
    server.with("idempotency-key", "k-1");
    let first = server.call("Save", save("the cart service owns prices")).unwrap();
    let again = server.call("Save", save("the cart service owns prices")).unwrap();
    assert_eq!(first, again);
    let (code, _) = refused(server.call("Save", save("the cart service owns stock")));
    assert_eq!((code, world.all_events().len()), (Code::AlreadyExists, 1));
    server.with("idempotency-key", "k-2");
    server.call("Save", save("the cart service owns stock")).unwrap();
    assert_eq!(world.all_events().len(), 2);
}

// S-GRPC-4
#[test]
fn grpc_listens_on_this_machine_only() {
    let world = World::sharing();
    for args in [&["--grpc", "0.0.0.0:7422"][..], &["--grpc", "192.168.1.2:80", "--no-token"]] {
        let refused = world.agent_knowledge(&[&["serve"], args].concat());
        assert_eq!(refused.exit, Some(65), "{refused:?}");
        assert!(refused.messages.contains("loopback"), "{refused:?}");
    }
    for args in [&["--token-file", "t"][..], &["--grpc", "--stop"], &["--no-token"]] {
        assert_eq!(world.agent_knowledge(&[&["serve"], args].concat()).exit, Some(64), "{args:?}");
    }
}

// S-GRPC-4, S-TOKEN-3, S-TOKEN-4
#[test]
fn grpc_a_token_does_what_its_right_allows() {
    let world = World::sharing();
    let mut server = Server::start(&world, &[]);
    let show = |server: &mut Server, name: &str, rights: &str| {
        let made = world.agent_knowledge(&["token", "create", name, "--rights", rights]).done();
        server.with("authorization", &format!("Bearer {}", made.trim()));
    };
    show(&mut server, "reader", "read");
    server.call("Status", Empty {}).unwrap();
    for refused_call in [
        refused(server.call("Save", save("freeze the clock"))),
        refused(server.call("Doctor", Empty {})),
        refused(server.call("SearchSessions", search("x"))),
    ] {
        assert_eq!(refused_call.0, Code::PermissionDenied, "{refused_call:?}");
    }
    let here = WatchStale { directory: Some("/".to_owned()), only_new: None };
    let watched = waiting(server.watch("WatchStale", here)).err().unwrap();
    assert_eq!(watched.code(), Code::PermissionDenied, "{watched:?}");
    show(&mut server, "writer", "write");
    server.with("x-agent", "somebody");
    server.call("Save", save("freeze the clock")).unwrap();
    assert_eq!(world.all_events()[0].agent_id, "writer");
    world.agent_knowledge(&["token", "revoke", "writer"]).done();
    assert_eq!(refused(server.call("Status", Empty {})).0, Code::Unauthenticated);
    for number in 1..20 {
        server.with("authorization", &format!("Bearer {number:064}"));
        assert_eq!(refused(server.call("Status", Empty {})).0, Code::Unauthenticated);
    }
    server.with("authorization", &format!("Bearer {}", "f".repeat(64)));
    assert_eq!(refused(server.call("Status", Empty {})).0, Code::ResourceExhausted);
}

// S-GRPC-4
#[test]
fn grpc_silent_connections_keep_nobody_out() {
    let world = World::sharing();
    let server = Server::start(&world, &["--no-token"]);
    let connect = |_| TcpStream::connect(&server.address).unwrap();
    let silent: Vec<TcpStream> = (0..200).map(connect).collect();
    server.call("Status", Empty {}).unwrap();
    drop(silent);
    waiting(async {
        // Many calls on one connection, more than there are turns.
        let client = server.client().await;
        let calls = (0..60).map(|number| {
            let (mut client, request) =
                (client.clone(), server.request(search(&format!("n{number}"))));
            tokio::spawn(async move {
                client.ready().await.unwrap();
                let path = PathAndQuery::from_static("/agent_knowledge.v1.MemoryService/Search");
                client.unary(request, path, ProstCodec::<Search, Answer>::default()).await
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap().unwrap();
        }
    });
}

/// A repository in which a lesson was learned about a file.
fn learned(world: &World) -> std::path::PathBuf {
    let here = world.path("api");
    world.git(&here, &["init", "--quiet"]);
    world.git(&here, &["remote", "add", "origin", "https://github.com/acme/api.git"]);
    std::fs::write(here.join("walrus.rs"), "fn open_walrus() {}\n").unwrap();
    commit(world, &here);
    let lesson = "call `open_walrus` before `feed_walrus`, see walrus.rs";
    let args = ["--type", "error", "--context", "the walrus build hangs", "--lesson", lesson];
    world.log_memory_in(&here, &args).done();
    here
}

fn commit(world: &World, here: &Path) {
    world.git(here, &["add", "--all"]);
    world.git(here, &["commit", "--quiet", "--message", "x"]);
}

// S-GRPC-7, S-GRPC-8
#[test]
fn grpc_tells_what_becomes_stale() {
    let world = World::sharing();
    let here = learned(&world);
    let mut server = Server::start(&world, &[]);
    let directory = Some(here.to_str().unwrap().to_owned());
    let id = only_id(&world);
    waiting(async {
        let message = WatchStale { directory: directory.clone(), only_new: None };
        let mut events = server.watch("WatchStale", message.clone()).await.unwrap();
        std::fs::write(here.join("walrus.rs"), "fn open_walrus(at: u8) {}\n").unwrap();
        commit(&world, &here);
        let event = events.message().await.unwrap().unwrap();
        assert_eq!((&*event.name, &*event.event), (&*id, "stale"));
        let json = String::from_utf8_lossy(&event.json).into_owned();
        assert!(json.contains("walrus.rs") && json.contains("changed"), "{json}");
        // Who begins now hears of it at once, unless only news are asked for.
        let mut late = server.watch("WatchStale", message).await.unwrap();
        assert_eq!(late.message().await.unwrap().unwrap().name, id);
        let only_new = WatchStale { directory, only_new: Some(true) };
        let mut news = server.watch("WatchStale", only_new).await.unwrap();
        world.agent_knowledge_in(&here, &["feedback", &id, "confirmed"]).done();
        for events in [&mut events, &mut late, &mut news] {
            let event = events.message().await.unwrap().unwrap();
            assert_eq!((&*event.name, &*event.event), (&*id, "fresh"));
        }
        let relative = WatchStale { directory: Some("api".to_owned()), only_new: None };
        for wrong in [relative, WatchStale::default()] {
            let refused = server.watch("WatchStale", wrong).await.err().unwrap();
            assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        }
        // A stream keeps no retriever from ending, and its client is told.
        let said = server.stop();
        assert!(!said.contains("failed"), "{said}");
        assert_eq!(events.message().await.unwrap_err().code(), Code::Unavailable);
    });
}

/// Returns the next event that is none of `indexed`, which comes when it comes.
async fn next(events: &mut Streaming<Event>) -> Event {
    loop {
        let event = events.message().await.unwrap().unwrap();
        if event.event != "indexed" {
            return event;
        }
    }
}

// S-GRPC-6
#[test]
fn grpc_tells_what_happens_and_goes_on() {
    let world = World::sharing();
    let server = Server::start(&world, &[]);
    let add = |lesson: &str| {
        world.log_memory(&["--repo", "acme/web", "--type", "fact", "--lesson", lesson]).done();
    };
    waiting(async {
        let mut events = server.watch("WatchMemories", WatchMemories::default()).await.unwrap();
        assert_eq!(next(&mut events).await.event, "begun");
        add("the cart service owns prices");
        let id = only_id(&world);
        let added = next(&mut events).await;
        let json = String::from_utf8_lossy(&added.json).into_owned();
        assert!(added.event == "added" && json.contains(&id), "{}: {json}", added.event);
        drop(events);
        // Nobody listens; then a client goes on where it was, and another one only wants reports.
        add("the stock service owns stock");
        world.agent_knowledge(&["feedback", &id, "worked"]).done();
        let after = Some(added.name.clone());
        let on = WatchMemories { after: after.clone(), events: Vec::new() };
        let mut events = server.watch("WatchMemories", on).await.unwrap();
        let reports = WatchMemories { after, events: vec!["feedback".to_owned()] };
        let mut reports = server.watch("WatchMemories", reports).await.unwrap();
        let mut told = Vec::new();
        for _ in 0..3 {
            told.push(next(&mut events).await.event);
        }
        assert_eq!(told, ["begun", "added", "feedback"]);
        let told = [next(&mut reports).await.event, next(&mut reports).await.event];
        assert_eq!(told, ["begun", "feedback"]);
        // A place that the journal does not have any more.
        let gone = WatchMemories { after: Some("1-0".to_owned()), events: Vec::new() };
        let mut gone = server.watch("WatchMemories", gone).await.unwrap();
        assert_eq!(next(&mut gone).await.event, "begun");
        assert_eq!(next(&mut gone).await.event, "lost");
        let wrong = WatchMemories { after: Some("x".to_owned()), events: Vec::new() };
        let refused = server.watch("WatchMemories", wrong).await.err().unwrap();
        assert!(refused.code() == Code::InvalidArgument, "{refused:?}");
    });
}

// S-GRPC-6
#[test]
fn grpc_tells_other_writers_soon() {
    let world = World::sharing();
    world.log_memory(&["--type", "fact", "--lesson", "first", "--repo", "acme/web"]).done();
    let server = Server::start(&world, &[]);
    waiting(async {
        let mut events = server.watch("WatchMemories", WatchMemories::default()).await.unwrap();
        assert_eq!(next(&mut events).await.event, "begun");
        let mut slowest = Duration::ZERO;
        for number in 0..5 {
            let lesson = format!("lesson number {number}");
            let args = ["--type", "fact", "--lesson", &lesson, "--repo", "acme/web"];
            world.log_memory(&args).done();
            let began = Instant::now();
            assert_eq!(next(&mut events).await.event, "added");
            slowest = slowest.max(began.elapsed());
        }
        eprintln!("the slowest event took {slowest:?}");
        // Generous: other tests run beside this one. A stream that only looks every two seconds fails.
        assert!(slowest < Duration::from_millis(1_500), "{slowest:?}");
    });
}

// S-GRPC-4
#[test]
fn grpc_has_no_events_without_a_journal() {
    let world = World::sharing();
    world.configure("journal = false\n");
    let server = Server::start(&world, &[]);
    waiting(async {
        let refused = server.watch("WatchMemories", WatchMemories::default()).await.err().unwrap();
        assert!(refused.code() == Code::Unavailable, "{refused:?}");
        assert!(refused.message().contains("journal = true"), "{refused:?}");
    });
}

// S-GRPC-1, S-GRPC-5
#[test]
fn grpc_a_python_client_finds_what_it_needs() {
    let Some(python) = pieces::grpc_client() else { return };
    let world = World::sharing();
    let here = learned(&world);
    let server = Server::start(&world, &[]);
    let mut driver = world.command(python.join("bin/python"));
    driver.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/drive_grpc.py"));
    driver.args([&server.address, &server.metadata[0].1]).arg(here);
    driver.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/proto"));
    let ran = run(&mut driver, b"");
    assert_eq!(ran.exit, Some(0), "{}\n{}", ran.output, ran.messages);
    let passed = ran.output.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(passed >= 15, "only {passed} checks ran:\n{}", ran.output);
    assert_eq!(json!(world.all_events().len()), json!(3), "a lesson, a save and feedback");
}
