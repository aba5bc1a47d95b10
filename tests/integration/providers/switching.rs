//! One model takes the place of another in a running server: all answers change at once, and none mixes the two. The two are
//! deterministic stand-ins, made so that every mixture would show.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stand_in_provider::{Held, StandInProvider, model_a, model_b};
use crate::http::client::Server;
use crate::pieces;
use crate::world::World;

/// Memories of the large test.
const MEMORIES: u32 = 10_000;
/// Longest anything may take: a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(100);

/// Words that belong to a number, so that no two memories look alike.
fn words(number: u32) -> String {
    let mut state = u64::from(number) + 1;
    let mut word = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let letter =
            |at: u32| char::from(b'a' + u8::try_from(state >> (16 + 5 * at) & 15).unwrap());
        (0..6).map(letter).collect::<String>()
    };
    (0..6).map(|_| word()).collect::<Vec<_>>().join(" ")
}

fn write_memories(world: &World, count: u32) {
    let line = |number: u32| {
        let (id, lesson) = (format!("m{number}"), format!("memory {number} {}", words(number)));
        json!({ "id": id, "timestamp": "2026-01-01T00:00:00Z", "repo": "shop", "event_type": "fact",
            "lesson": lesson, "agent_id": "tester" })
        .to_string()
            + "\n"
    };
    world.hand_write("shop.jsonl", (0..count).map(line).collect::<String>());
}

fn use_model(world: &World, name: &str, provider: &StandInProvider) -> String {
    let args = ["model", "use", "openai", name, "--url", &provider.url, "--batch", "250", "--yes"];
    world.agent_knowledge(&args).done()
}

pub fn get(server: &Server, path: &str) -> Value {
    let head = format!("GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answer = server.send(head.as_bytes());
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

/// Waits until the status fits.
pub fn until(server: &Server, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let status = get(server, "status");
        if fits(&status) {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: {status}");
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

/// The number of the memory that `find N` means to the server, and what the answer said beside it.
fn found(server: &Server, number: u32) -> (Option<u32>, Value) {
    let query = format!("search?query=find%20{number}&mode=dense&limit=1&min_relevance=0");
    let answer = get(server, &query);
    let id = answer["memories"][0]["id"].as_str().or(answer["possible"][0]["id"].as_str());
    (id.and_then(|id| id.strip_prefix('m')?.parse().ok()), answer)
}

/// Which model gave an answer; fails at one that neither gives.
fn model_of(number: u32, (found, answer): (Option<u32>, Value)) -> char {
    match found {
        Some(found) if found == number => 'a',
        Some(found) if found == number + 1 => 'b',
        other => panic!("find {number} gave {other:?}, which neither model means: {answer}"),
    }
}

pub fn serve(world: &World) -> Server {
    Server::start(world, &["--http", "127.0.0.1:0", "--no-token"])
}

// S-PROVIDER-6
#[test]
fn ten_thousand_memories_change_their_model_under_load() {
    let world = World::new();
    write_memories(&world, MEMORIES);
    let (a, b) = (StandInProvider::start(model_a), StandInProvider::start(model_b));
    use_model(&world, "model-a", &a);
    let server = serve(&world);
    until(&server, "embedded by a", |status| status["embedded"] == MEMORIES);
    assert_eq!(model_of(77, found(&server, 77)), 'a');
    let (is_over, asked, next) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    // When each answer was begun and ended, and whose it was.
    let answers: Mutex<Vec<(Instant, Instant, char)>> = Mutex::default();
    let begun = Instant::now();
    let (mut switched, mut done) = (None, None);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let client = server.again();
                while !is_over.load(Ordering::SeqCst) {
                    let number = next.fetch_add(7_919, Ordering::SeqCst) % (MEMORIES - 1);
                    let start = Instant::now();
                    let model = model_of(number, found(&client, number));
                    answers.lock().unwrap().push((start, Instant::now(), model));
                    asked.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        use_model(&world, "model-b", &b);
        let told = Instant::now();
        until(&server, "being prepared", |status| {
            !status["model"]["next"].is_null()
                || status["model"]["state"].to_string().contains("model-b")
        });
        until(&server, "switched", |status| {
            status["model"]["next"].is_null()
                && status["model"]["state"].to_string().contains("model-b")
        });
        switched = Some(told.elapsed());
        let enough = asked.load(Ordering::SeqCst) + 20;
        while asked.load(Ordering::SeqCst) < enough && begun.elapsed() < PATIENCE {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::SeqCst);
        done = Some(begun.elapsed());
    });
    let answers = answers.into_inner().unwrap();
    let first_b = answers.iter().filter(|(.., model)| *model == 'b').map(|(_, end, _)| *end).min();
    let first_b = first_b.expect("the second model answers in the end");
    let late_a =
        answers.iter().filter(|(start, _, model)| *model == 'a' && *start > first_b).count();
    assert_eq!(late_a, 0, "after the first answer of the second model there is none of the first");
    let of = |model: char| answers.iter().filter(|(.., one)| *one == model).count();
    assert!(of('a') > 0 && of('b') > 0, "{} and {}", of('a'), of('b'));
    assert!(b.texts() >= MEMORIES as usize);
    println!(
        "{MEMORIES} memories: switched {switched:?} after model use, {} answers of the first model and {} of the second in {done:?}",
        of('a'),
        of('b')
    );
}

// S-PROVIDER-6
#[test]
fn the_first_model_answers_also_after_a_restart() {
    let world = World::new();
    write_memories(&world, 300);
    let (a, b) = (StandInProvider::start(model_a), StandInProvider::start(model_b));
    use_model(&world, "model-a", &a);
    let server = serve(&world);
    until(&server, "embedded by a", |status| status["embedded"] == 300);
    b.hold(Held::Yes);
    use_model(&world, "model-b", &b);
    until(&server, "b is busy", |status| status["model"]["next"]["trouble"].is_string());
    assert_eq!(model_of(7, found(&server, 7)), 'a');
    drop(server);
    let server = serve(&world);
    let status = until(&server, "begun again", |status| {
        status["embedded"] == 300 && status["model"]["next"].is_object()
    });
    assert_eq!(model_of(8, found(&server, 8)), 'a', "{status}");
    b.hold(Held::No);
    until(&server, "switched", |status| status["model"]["next"].is_null());
    assert_eq!(model_of(9, found(&server, 9)), 'b');
    let before = (a.texts(), b.texts());
    drop(server);
    let server = serve(&world);
    until(&server, "embedded by b", |status| status["embedded"] == 300);
    assert_eq!(model_of(10, found(&server, 10)), 'b');
    assert!(b.texts() <= before.1 + 2, "the probe and the query; the vectors are kept");
    assert_eq!(a.texts(), before.0, "the first model is asked no more");
}

// S-PROVIDER-6
#[test]
fn a_model_that_is_turned_off_is_asked_no_more() {
    let world = World::new();
    write_memories(&world, 40);
    let a = StandInProvider::start(model_a);
    use_model(&world, "model-a", &a);
    let server = serve(&world);
    until(&server, "embedded by a", |status| status["embedded"] == 40);
    let told = world.agent_knowledge(&["model", "use", "local", "--yes"]).done();
    assert!(told.contains("nothing any more"), "{told}");
    until(&server, "turned off", |status| status["model"]["is_of_others"] == false);
    let before = a.texts();
    let answer = get(&server, "search?query=memory%2017&limit=1&min_relevance=0");
    assert_eq!(answer["memories"][0]["id"], "m17", "words answer: {answer}");
    assert_eq!(a.texts(), before);
}

// S-PROVIDER-6
#[test]
fn the_next_search_after_off_asks_nobody() {
    let world = World::new();
    write_memories(&world, 40);
    let a = StandInProvider::start(model_a);
    use_model(&world, "model-a", &a);
    let server = serve(&world);
    until(&server, "embedded by a", |status| status["embedded"] == 40);
    let search = |words: &str| get(&server, &format!("search?query={words}&limit=1"));
    search("before");
    assert!(a.has_seen("before"));
    // The thread that changes models looks once a second; nobody waits for it.
    world.agent_knowledge(&["model", "use", "local", "--yes"]).done();
    let before = a.texts();
    search("secretly");
    world.log_memory(&["--repo", "shop", "--type", "fact", "--lesson", "secret plan"]).done();
    search("secret%20plan");
    until(&server, "turned off", |status| status["model"]["is_of_others"] == false);
    assert!(!a.has_seen("secret"));
    assert_eq!(a.texts(), before);
}

// S-PROVIDER-6
#[test]
fn a_model_installed_later_answers() {
    let Some(model) = pieces::model() else { return };
    let world = World::new();
    write_memories(&world, 3);
    let a = StandInProvider::start(model_a);
    use_model(&world, "model-a", &a);
    let server = serve(&world);
    until(&server, "embedded by a", |status| status["embedded"] == 3);
    world.agent_knowledge(&["model", "use", "local", "--yes"]).done();
    until(&server, "not installed", |status| status.to_string().contains("model fetch"));
    for file in std::fs::read_dir(model).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            std::fs::copy(&file, world.path("no-model").join(file.file_name().unwrap())).unwrap();
        }
    }
    until(&server, "embedded by ours", |status| {
        status["embedded"] == 3 && status["model"]["next"].is_null()
    });
    assert_eq!(get(&server, "status")["model"]["is_of_others"], false);
}
