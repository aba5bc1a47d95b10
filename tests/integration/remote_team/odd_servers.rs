//! `mcp --remote` with servers that lag, fail, refuse, or are not ours, and logs that change under it. The agent is a real process;
//! the server does what each test says. Not here: the real server (`remote_team`).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{REPO, agent, own_id, save, wait_until};
use crate::raw_client::Client;
use crate::world::World;

const REPLY: &str = "application/vnd.agent-knowledge.reply+json";
const PROBLEM: &str = "application/problem+json";

/// One request.
#[derive(Debug, Clone)]
struct Seen {
    /// The method and the path.
    asked: String,
    mark: Option<String>,
    body: Value,
}

impl Seen {
    fn is(&self, start: &str) -> bool {
        self.asked.starts_with(start)
    }
}

type Answer = (u16, &'static str, String);

type Script = dyn Fn(&Seen, &[Seen]) -> Answer + Send + Sync;

/// A server that answers as a test says.
struct OddServer {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

fn fine() -> Answer {
    (200, REPLY, json!({"text": "", "json": {}}).to_string())
}

fn problem(status: u16, detail: &str) -> Answer {
    (status, PROBLEM, json!({"status": status, "detail": detail}).to_string())
}

impl OddServer {
    fn start(script: impl Fn(&Seen, &[Seen]) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (all, script): (_, Arc<Script>) = (Arc::clone(&seen), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (all, script) = (Arc::clone(&all), Arc::clone(&script));
                std::thread::spawn(move || serve(stream, &all, &*script));
            }
        });
        Self { url, seen }
    }

    fn seen(&self, start: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|seen| seen.is(start)).cloned().collect()
    }

    /// The ids of the lessons that it was told, in their order.
    fn lessons(&self) -> Vec<String> {
        let seen = self.seen("POST memories ");
        seen.iter().map(|seen| seen.body["id"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    fn wait_for(&self, id: &str) {
        wait_until(id, || self.lessons().iter().any(|told| told == id));
    }
}

fn serve(mut stream: TcpStream, all: &Mutex<Vec<Seen>>, script: &Script) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let length = header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let asked = head.lines().next()?.replace("/api/v1/", "").replace("HTTP/1.1", "");
        let mark = header("idempotency-key").map(str::to_owned);
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let seen = Seen { asked, mark, body };
        let mut all = all.lock().unwrap();
        all.push(seen.clone());
        let (status, content_type, body) = script(&seen, &all);
        drop(all);
        let answer = format!(
            "HTTP/1.1 {status} So\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

fn log(container: &World, repo: &str, lesson: &str, more: &[&str]) {
    let args = ["--repo", repo, "--type", "fact", "--lesson", lesson];
    container.log_memory(&[&args, more].concat()).done();
}

// S-REMOTE-2
#[test]
fn a_deed_waits_for_a_replica_that_lags() {
    let server = OddServer::start(|asked, all| {
        let verdicts = all.iter().filter(|seen| seen.asked.contains("/feedback")).count();
        match asked.asked.contains("/feedback") && verdicts <= 2 {
            true => problem(404, "no memory has this id"),
            false => fine(),
        }
    });
    let container = World::new();
    let mut client = agent(&container, &server.url);
    save(&mut client, "told to one replica, rated at another");
    let id = own_id(&container, "told to one replica, rated at another");
    server.wait_for(&id);
    client.told("memory_feedback", &json!({"ids": [id], "verdict": "worked"}));
    save(&mut client, "the lesson after the verdict");
    let next = own_id(&container, "the lesson after the verdict");
    server.wait_for(&next);
    let verdicts = server.seen(&format!("POST memories/{id}/feedback"));
    assert_eq!(verdicts.len(), 3, "until it is known: {verdicts:?}");
    let marks: Vec<&String> = verdicts.iter().filter_map(|seen| seen.mark.as_ref()).collect();
    assert!(marks.len() == 3 && marks[0] != marks[1] && marks[1] != marks[2], "{marks:?}");
}

// S-REMOTE-2
#[test]
fn a_page_of_a_proxy_refuses_nothing() {
    let server = OddServer::start(|asked, all| {
        let page = |status| (status, "text/html", "<p>Sign in to the network</p>".to_owned());
        let told = all.iter().filter(|seen| seen.is("POST memories ")).count();
        match told {
            1 => page(404),
            2 => page(400),
            3 => page(200),
            _ if asked.is("POST memories ") => (201, REPLY, fine().2),
            _ => page(404),
        }
    });
    let container = World::new();
    let mut client = agent(&container, &server.url);
    save(&mut client, "a lesson behind a portal");
    let id = own_id(&container, "a lesson behind a portal");
    wait_until("four tries", || server.lessons().len() == 4);
    log(&container, REPO, "the one after it", &[]);
    server.wait_for(&own_id(&container, "the one after it"));
    assert_eq!(server.lessons().iter().filter(|told| **told == id).count(), 4, "no more");
    let told = client.told("memory_search", &json!({"query": "a lesson behind a portal"}));
    assert!(told.contains("behind a portal") && told.contains("address right?"), "{told}");
}

// S-REMOTE-2
#[test]
fn a_log_that_was_rewritten_is_not_sent_again() {
    let server = OddServer::start(|_, _| fine());
    let container = World::new();
    let mut client = agent(&container, &server.url);
    for lesson in ["first of all", "second of all", "third of all"] {
        save(&mut client, lesson);
    }
    let id = |lesson: &str| own_id(&container, lesson);
    server.wait_for(&id("third of all"));
    container.agent_knowledge(&["archive", "--keep", "1"]).done();
    save(&mut client, "fourth of all");
    server.wait_for(&id("fourth of all"));
    client.leave();
    // Nobody delivers meanwhile.
    for lesson in ["fifth of all", "sixth of all", "seventh of all"] {
        log(&container, REPO, lesson, &[]);
    }
    let ids = ["fifth of all", "sixth of all", "seventh of all"].map(id);
    container.agent_knowledge(&["archive", "--keep", "1"]).done();
    let mut client = agent(&container, &server.url);
    for id in &ids {
        server.wait_for(id);
    }
    save(&mut client, "eighth of all");
    server.wait_for(&id("eighth of all"));
    let told = server.lessons();
    let once: std::collections::BTreeSet<&String> = told.iter().collect();
    assert_eq!((told.len(), once.len()), (8, 8), "{told:?}");
}

// S-REMOTE-2
#[test]
fn a_killed_agent_goes_on_within_a_log() {
    let is_away = Arc::new(AtomicBool::new(true));
    let away = Arc::clone(&is_away);
    let server = OddServer::start(move |_, all| {
        let lessons = all.iter().filter(|seen| seen.is("POST memories ")).count();
        match lessons > 3 && away.load(Ordering::Relaxed) {
            true => (503, "text/html", "<p>Later</p>".to_owned()),
            false => fine(),
        }
    });
    let container = World::new();
    agent(&container, &server.url).leave();
    let lessons = [1, 2, 3, 4, 5].map(|number| format!("lesson number {number}"));
    for lesson in &lessons {
        log(&container, REPO, lesson, &[]);
    }
    let ids = lessons.map(|lesson| own_id(&container, &lesson));
    let mut client = agent(&container, &server.url);
    let file = container.store().join(".remote.json");
    wait_until("it is noted", || std::fs::read_to_string(&file).unwrap().contains(&ids[2]));
    let process = client.process().to_string();
    assert!(
        std::process::Command::new("kill").args(["-KILL", &process]).status().unwrap().success()
    );
    drop(client);
    is_away.store(false, Ordering::Relaxed);
    client = agent(&container, &server.url);
    server.wait_for(&ids[4]);
    client.leave();
    let told = server.lessons();
    let count = |id: &String| told.iter().filter(|told| *told == id).count();
    assert_eq!(ids[..3].iter().map(count).collect::<Vec<_>>(), [1, 1, 1], "{told:?}");
    assert_eq!(count(&ids[4]), 1, "{told:?}");
}

// S-REMOTE-2
#[test]
fn what_is_refused_is_told_once() {
    let server = OddServer::start(|asked, _| match asked.body["lesson"].as_str() {
        Some("too strange") => problem(400, "it is too strange"),
        None if asked.asked.contains("/feedback") => problem(404, "no memory has this id"),
        _ => fine(),
    });
    let container = World::new();
    let mut client = agent(&container, &server.url);
    log(&container, REPO, "too strange", &[]);
    let id = own_id(&container, "too strange");
    // Any answer may be the one that tells it.
    let told = |client: &mut Client, before: String, what: &str| {
        let mut said = before;
        wait_until(what, || {
            let lesson = format!("a lesson beside it {}", said.len());
            said += &client.told("memory_save", &json!({"lesson": lesson, "repo": REPO}));
            said.contains(what)
        });
        assert_eq!(said.matches("did not take").count(), 1, "{said}");
    };
    told(&mut client, String::new(), "it answered 400: it is too strange");
    // What is said about it is not waited for.
    let said = client.told("memory_feedback", &json!({"ids": [id], "verdict": "failed"}));
    told(&mut client, said, "it answered 404: no memory has this id");
    assert_eq!(server.seen(&format!("POST memories/{id}/feedback")).len(), 1);
}

// S-REMOTE-3
#[test]
fn words_about_memories_that_stay_stay() {
    let server = OddServer::start(|_, _| fine());
    let container = World::new();
    let mut client = agent(&container, &server.url);
    log(&container, REPO, "mine alone", &["--private"]);
    save(&mut client, "for all");
    let (mine, ours) = (own_id(&container, "mine alone"), own_id(&container, "for all"));
    let verdict = json!({"ids": [mine], "verdict": "worked", "note": "as I know"});
    client.told("memory_feedback", &verdict);
    client.told("memory_forget", &json!({"ids": [ours], "superseded_by": mine}));
    client.told("memory_feedback", &json!({"ids": [ours], "verdict": "failed"}));
    wait_until("the verdict", || {
        !server.seen(&format!("POST memories/{ours}/feedback")).is_empty()
    });
    // Also where the memory is at the server alone.
    let (told, is_error) =
        client.call("memory_forget", &json!({"ids": ["theirs"], "superseded_by": mine}));
    assert!(is_error && told.contains("stays on this machine"), "{told}");
    // Or the other one is.
    let (told, is_error) =
        client.call("memory_forget", &json!({"ids": [mine], "superseded_by": "theirs"}));
    assert!(is_error && told.contains("stays on this machine"), "{told}");
    let all = format!("{:?}", server.seen(""));
    assert!(!all.contains(&mine) && !all.contains("as I know"), "{all}");
}

// S-REMOTE-2
#[test]
fn a_damaged_note_of_deliveries_is_told() {
    let server = OddServer::start(|_, _| fine());
    let container = World::new();
    let mut client = agent(&container, &server.url);
    save(&mut client, "before the damage");
    server.wait_for(&own_id(&container, "before the damage"));
    client.leave();
    let file = container.store().join(".remote.json");
    let kept = std::fs::read(&file).unwrap();
    std::fs::write(&file, "{\"half").unwrap();
    let mut client = agent(&container, &server.url);
    let told = client.told(
        "memory_save",
        &json!({"event_type": "fact", "lesson": "after the damage", "repo": REPO}),
    );
    assert!(told.contains("cannot be read") && told.contains(".remote.json"), "{told}");
    assert_eq!(server.lessons().len(), 1, "{:?}", server.lessons());
    assert_eq!(std::fs::read(&file).unwrap(), b"{\"half", "it is left as it is");
    std::fs::write(&file, kept).unwrap();
    server.wait_for(&own_id(&container, "after the damage"));
    assert_eq!(server.lessons().len(), 2, "{:?}", server.lessons());
}

// S-REMOTE-3
#[test]
fn a_repository_that_is_not_shared_is_not_named() {
    let server = OddServer::start(|_, _| fine());
    let container = World::new();
    container.configure("[sync]\nshare = [\"github.com/acme/*\"]\n");
    log(&container, "github.com/secret/plan", "a plan", &[]);
    log(&container, REPO, "an interface", &[]);
    let mut client = agent(&container, &server.url);
    for repo in ["github.com/secret/plan", "plan", "github.com/other/unknown"] {
        client.call("memory_search", &json!({"query": "what is planned", "repo": repo}));
        client.call("memory_context", &json!({"repo": repo, "task": "what is planned"}));
    }
    assert_eq!(server.seen("GET").len(), 0, "{:?}", server.seen("GET"));
    client.told("memory_search", &json!({"query": "interface", "repo": "api"}));
    client.told("memory_context", &json!({"repo": "api"}));
    let asked = server.seen("GET");
    let whole = |seen: &Seen| seen.asked.contains("repo=github%2Ecom%2Facme%2Fapi");
    assert!(asked.len() == 2 && asked.iter().all(whole), "{asked:?}");
}

// S-REMOTE-2
#[test]
fn a_log_that_fails_stops_no_other() {
    let server = OddServer::start(|asked, _| match asked.body["repo"].as_str() {
        Some("github.com/acme/aaa") => problem(500, "this one fails"),
        _ => fine(),
    });
    let container = World::new();
    let mut client = agent(&container, &server.url);
    log(&container, "github.com/acme/aaa", "it fails there", &[]);
    wait_until("a failure", || !server.lessons().is_empty());
    let mut said = String::new();
    wait_until("it is told", || {
        let lesson = format!("it arrives {}", said.len());
        said += &client.told("memory_save", &json!({"lesson": lesson, "repo": REPO}));
        said.contains("later, because it answered 500: this one fails")
    });
    server.wait_for(&own_id(&container, "it arrives 0"));
}

// S-REMOTE-4
#[test]
fn each_memory_of_a_change_is_answered() {
    let server = OddServer::start(|asked, _| match &asked.asked {
        there if there.contains("memories/there/") => {
            let json = json!({"memories": [{"id": "there", "status": "written"}]});
            (200, REPLY, json!({"text": "there: noted.", "json": json}).to_string())
        }
        mine if mine.contains("memories/theirs/") => problem(403, "this needs the right write"),
        unknown if unknown.contains("memories/nowhere/") => problem(404, "no memory"),
        _ => fine(),
    });
    let container = World::new();
    let mut client = agent(&container, &server.url);
    save(&mut client, "one of our own");
    let own = own_id(&container, "one of our own");
    let ids = json!({"ids": [own, "nowhere", "theirs", "there"], "verdict": "worked"});
    let told = client.told("memory_feedback", &ids);
    let own_line = told.lines().next().unwrap();
    assert!(own_line.contains("noted that it worked"), "{told}");
    assert!(told.contains("\"nowhere\"") && told.contains("there: noted."), "{told}");
    assert!(told.contains("answered 403: this needs the right write"), "{told}");
    let (told, is_error) =
        client.call("memory_feedback", &json!({"ids": ["nowhere"], "verdict": "worked"}));
    assert!(is_error && told.contains("nowhere"), "{told}");
    let marks = server.seen("POST memories/there/feedback");
    assert!(marks.iter().all(|seen| seen.mark.is_some()), "{marks:?}");
}

// S-REMOTE-4
#[test]
fn unknown_memories_wait_for_one_outage() {
    let server = OddServer::start(|asked, _| match asked.asked.contains("/feedback") {
        true => (502, "text/html", "<h1>Bad gateway</h1>".to_owned()),
        false => fine(),
    });
    let container = World::new();
    let mut client = agent(&container, &server.url);
    let ids = json!({"ids": ["one", "two", "three"], "verdict": "worked"});
    let (told, is_error) = client.call("memory_feedback", &ids);
    assert!(is_error && told.contains("may know it, but"), "{told}");
    assert_eq!(server.seen("POST memories/").len(), 1, "{told}");
}

// S-REMOTE-4
#[test]
fn a_question_that_is_too_long_is_told() {
    let server = OddServer::start(|_, _| fine());
    let container = World::new();
    let mut client = agent(&container, &server.url);
    save(&mut client, "the answer");
    let long = "слово ".repeat(700);
    let told = client.told("memory_search", &json!({"query": long}));
    assert!(told.contains("too long for http://127.0.0.1"), "{told}");
    assert!(server.seen("GET search").is_empty());
    client.told("memory_search", &json!({"query": "the answer"}));
    assert_eq!(server.seen("GET search").len(), 1, "it does not rest");
}
