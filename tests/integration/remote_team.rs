//! `mcp --remote`: an agent in a container, whose lessons reach the team's server although that was away, and whose answers come
//! from both. The server and the client are real processes. Not here: replicas among each other (`replicas`).

mod odd_servers;

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::client::{Server, request};
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World};

/// Longest anything may take: a debug build on a busy machine.
const STEP: Duration = Duration::from_secs(60);

const TOKEN: &str = "the-token-of-the-team-in-this-test";

const REPO: &str = "github.com/acme/api";

/// The server of a team.
struct TeamServer {
    world: World,
    server: Server,
    address: String,
}

impl TeamServer {
    fn start() -> Self {
        let world = World::new();
        let server = Self::serve(&world, "127.0.0.1:0");
        let address = format!("127.0.0.1:{}", server.port());
        Self { world, server, address }
    }

    fn serve(world: &World, address: &str) -> Server {
        let mut command = Server::command(world, &["--http", address]);
        Server::of(command.env("AGENT_KNOWLEDGE_TOKEN", TOKEN))
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn kill(&mut self) {
        self.server.signal("-KILL");
        self.server.wait();
    }

    fn start_again(&mut self) {
        self.server = Self::serve(&self.world, &self.address);
    }

    fn learn(&self, id: &str, lesson: &str) {
        let line = json!({"id": id, "event_type": "fact", "repo": REPO, "lesson": lesson});
        let ran = self.world.log_memory_json(line.to_string(), &[]);
        assert_eq!(ran.exit, Some(0), "{ran:?}");
    }

    /// The lines of its own log that were written under an id.
    fn lines_of(&self, id: &str) -> Vec<Value> {
        let log = self.world.store().join("github.com+acme+api.jsonl");
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["id"] == id).collect()
    }

    #[track_caller]
    fn wait_for(&self, id: &str) -> Value {
        wait_until(id, || !self.lines_of(id).is_empty());
        let lines = self.lines_of(id);
        assert_eq!(lines.len(), 1, "once: {lines:?}");
        lines[0].clone()
    }
}

#[track_caller]
fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < STEP, "{what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// An agent in a container of its own.
fn agent(container: &World, url: &str) -> Client {
    let mut command = container.command(AGENT_KNOWLEDGE);
    command.args(["mcp", "--remote", url]).env("AGENT_KNOWLEDGE_TOKEN", TOKEN);
    Client::open_with(Era::Legacy, &mut command)
}

fn save(agent: &mut Client, lesson: &str) -> String {
    let told =
        agent.told("memory_save", &json!({"event_type": "fact", "lesson": lesson, "repo": REPO}));
    let id = told.split_whitespace().nth(2).unwrap_or_else(|| panic!("{told}"));
    assert!(told.starts_with("Saved as "), "{told}");
    id.to_owned()
}

fn search(agent: &mut Client, query: &str) -> String {
    agent.told("memory_search", &json!({"query": query, "limit": 10, "max_tokens": 2000}))
}

/// The id under which the container wrote a lesson.
fn own_id(container: &World, lesson: &str) -> String {
    let events = container.all_events();
    events.iter().find(|event| event.lesson == lesson).unwrap().id.to_string()
}

// S-REMOTE-2, S-REMOTE-3
#[test]
fn a_lesson_survives_an_outage_of_the_server() {
    let mut team = TeamServer::start();
    let container = World::new();
    let mut client = agent(&container, &team.url());
    save(&mut client, "the first lesson of the container");
    let first = own_id(&container, "the first lesson of the container");
    assert_eq!(team.wait_for(&first)["lesson"], "the first lesson of the container");

    team.kill();
    save(&mut client, "learnt while the server was away");
    let second = own_id(&container, "learnt while the server was away");
    // The agent is killed, too; the next one delivers, once.
    let kill =
        std::process::Command::new("kill").args(["-KILL", &client.process().to_string()]).status();
    assert!(kill.unwrap().success());
    drop(client);
    container
        .log_memory(&["--repo", REPO, "--type", "fact", "--lesson", "by a hook or a script"])
        .done();
    container
        .log_memory(&["--repo", REPO, "--type", "fact", "--lesson", "mine alone", "--private"])
        .done();
    let mut client = agent(&container, &team.url());
    let told = search(&mut client, "learnt while the server was away");
    assert!(told.contains("learnt while") && told.contains("did not answer"), "{told}");
    team.start_again();
    assert_eq!(team.wait_for(&second)["lesson"], "learnt while the server was away");
    team.wait_for(&own_id(&container, "by a hook or a script"));

    // A verdict follows its memory.
    client.told("memory_feedback", &json!({"ids": [second.as_str()], "verdict": "worked"}));
    let log = team.world.store().join("github.com+acme+api.jsonl");
    wait_until("the verdict", || {
        std::fs::read_to_string(&log).unwrap().contains("\"verdict\":\"worked\"")
    });
    // So does a link.
    container.agent_knowledge(&["link", &second, "builds_on", &first]).done();
    wait_until("the link", || {
        let text = std::fs::read_to_string(&log).unwrap();
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.into_iter().any(|event| {
            event["event_type"] == "link"
                && event["memory_id"] == second.as_str()
                && event["target"] == first.as_str()
        })
    });
    for id in [&first, &second] {
        assert_eq!(team.lines_of(id).len(), 1, "nothing twice");
    }
    let all = std::fs::read_to_string(&log).unwrap();
    assert!(!all.contains("mine alone"), "{all}");
    let mode = container.store().join(".remote.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

// S-REMOTE-2
#[test]
fn what_was_there_before_stays() {
    let team = TeamServer::start();
    let container = World::new();
    container.log_memory(&["--repo", REPO, "--type", "fact", "--lesson", "from before"]).done();
    let mut client = agent(&container, &team.url());
    save(&mut client, "from now on");
    team.wait_for(&own_id(&container, "from now on"));
    assert!(team.lines_of(&own_id(&container, "from before")).is_empty());
}

// S-REMOTE-2
#[test]
fn the_end_delivers_what_waits() {
    let team = TeamServer::start();
    let container = World::new();
    let mut client = agent(&container, &team.url());
    save(&mut client, "the last words of a container");
    let left = client.leave();
    assert!(left.status.success(), "{}", left.messages);
    let id = own_id(&container, "the last words of a container");
    assert_eq!(team.lines_of(&id).len(), 1, "before the process ended");
}

// S-REMOTE-4
#[test]
fn answers_come_from_both_once() {
    let team = TeamServer::start();
    team.learn("t1", "drain the connection pool before a deployment of the api");
    team.learn("t2", "the connection pool has at most twenty connections");
    let container = World::new();
    let mut client = agent(&container, &team.url());
    save(&mut client, "close idle connections of the pool after a deployment");
    let own = own_id(&container, "close idle connections of the pool after a deployment");
    team.wait_for(&own);
    let told = search(&mut client, "connection pool deployment");
    for lesson in ["drain the connection pool", "at most twenty", "close idle connections"] {
        assert_eq!(told.matches(lesson).count(), 1, "{lesson}: {told}");
    }
    assert!(told.starts_with("**Relevant Memories (3):**"), "{told}");
    assert!(!told.contains("did not answer"), "{told}");
    let briefing =
        client.told("memory_context", &json!({"repo": REPO, "task": "connection pool deployment"}));
    assert!(briefing.contains("close idle") && briefing.contains("drain the"), "{briefing}");
    // What only the team has is shown and rated there.
    let shown = client.told("memory_search", &json!({"ids": ["t1"]}));
    assert!(shown.contains("drain the connection pool"), "{shown}");
    client.told("memory_feedback", &json!({"ids": ["t1"], "verdict": "worked"}));
    let log = team.world.store().join("github.com+acme+api.jsonl");
    let text = std::fs::read_to_string(log).unwrap();
    assert!(text.contains("\"memory_id\":\"t1\""), "{text}");
}

// S-REMOTE-4
#[test]
fn a_server_that_never_answers_costs_little() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let container = World::new();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut client = agent(&container, &url);
    let saving = Instant::now();
    save(&mut client, "a lesson beside a server that never answers");
    let saved = saving.elapsed();
    let mut alone = Client::open(&container, Era::Legacy);
    let query = "a lesson beside a server";
    // The first search of each opens its memory.
    let (first, _) = (search(&mut client, query), search(&mut alone, query));
    let mut told = Vec::new();
    let (mut least, mut beside) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        let begun = Instant::now();
        told.push(search(&mut client, query));
        least = least.min(begun.elapsed());
        let begun = Instant::now();
        search(&mut alone, query);
        beside = beside.min(begun.elapsed());
    }
    assert!(first.contains("did not answer"), "{first}");
    assert!(
        told.iter().all(|told| told.contains("never answers") && !told.contains("did not answer")),
        "once: {told:?}"
    );
    assert!(least < beside + Duration::from_millis(300), "{least:?} beside {beside:?}");
    assert!(saved < Duration::from_secs(20), "{saved:?}");
}

// S-REMOTE-1
#[test]
fn a_wrong_address_or_token_is_told() {
    let world = World::new();
    let refused = |url: &str, token: &str| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["mcp", "--remote", url]).env("AGENT_KNOWLEDGE_TOKEN", token);
        let ran = crate::world::run(&mut command, b"");
        assert_eq!(ran.exit, Some(78), "{ran:?}");
        ran.messages
    };
    assert!(refused("http://example.org", TOKEN).contains("without TLS"));
    assert!(refused("http://127.0.0.1:1", "").contains("AGENT_KNOWLEDGE_TOKEN"));
    assert!(!Path::new(&world.store()).exists(), "nothing was started");
    // A server that does not know the token loses nothing: the lessons wait.
    let team = TeamServer::start();
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.args(["mcp", "--remote", &team.url()]).env("AGENT_KNOWLEDGE_TOKEN", "another-token");
    let mut client = Client::open_with(Era::Legacy, &mut command);
    save(&mut client, "with a token that was revoked");
    let told = search(&mut client, "with a token that was revoked");
    assert!(told.contains("was revoked") && told.contains("answered 401"), "{told}");
    drop(client);
    let mut client = agent(&world, &team.url());
    team.wait_for(&own_id(&world, "with a token that was revoked"));
    let headers = [("Host", "127.0.0.1")];
    assert_eq!(
        team.server.send(&request("GET", "/health", &headers, "")).status,
        404,
        "no replica"
    );
    search(&mut client, "revoked");
}
