//! The state is a function of the set of lines: however often the server was killed, restarted or kept
//! waiting, it knows what a cold start over the same lines knows. Not here: every order of few lines;
//! that is a property of `engine::digest`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::state_digest::StateDigest;
use engine::watch::WatchMode;
use engine::{Engine, EngineSetup};
use memory::MemoryBound;
use serde_json::json;
use settings::Config;
use store::Store;

use crate::raw_client::{Client, Era};
use crate::world::{World, bytes_under};

/// How often the server is killed.
const KILLS: usize = 50;

/// Lines that a writer adds in one go.
const LINES_AT_ONCE: usize = 4;

/// A linear congruential generator (Knuth's MMIX constants): the moments vary, the test does not.
struct KillMoments(u64);

impl KillMoments {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Lines as years bring them: new memories, repeated ones, other contents under an id (of which an
/// earlier one may come later), events about memories that may not be there yet, and damage.
fn lines(random: &mut KillMoments) -> String {
    let mut text = String::new();
    for _ in 0..LINES_AT_ONCE {
        let (id, word, second) = (random.below(400), random.below(3), random.below(60));
        let line = match random.below(12) {
            0 => "{\"damaged".to_owned(),
            1 => json!({ "id": format!("e{id}"), "memory_id": format!("m{}", random.below(400)),
                "event_type": "feedback", "repo": "api" })
            .to_string(),
            2 => json!({ "lesson": format!("without id {id}"), "repo": "api" }).to_string(),
            _ => json!({ "id": format!("m{id}"), "lesson": format!("lesson {id} word{word} zebra{id}"),
                "repo": format!("r{}", id % 5), "timestamp": format!("2026-01-01T00:00:{second:02}Z") })
            .to_string(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Appends as programs do that know nothing of us; in pieces, so that a line may be unfinished.
fn append(log: &PathBuf, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(log).unwrap();
    let (one, other) = text.as_bytes().split_at(text.len() / 2);
    file.write_all(one).unwrap();
    file.write_all(other).unwrap();
}

fn digest_of_server(client: &mut Client) -> String {
    client.read("memory://digest")["digest"].as_str().expect("a digest").to_owned()
}

/// The digest of a cold start over copies of the logs: in this process, since a debug build takes long
/// to start.
fn digest_of_copy(world: &World) -> String {
    let copy = World::new();
    for (name, bytes) in bytes_under(&world.store()) {
        if name.extension().is_some_and(|extension| extension == "jsonl") {
            copy.hand_write(name.to_str().unwrap(), bytes);
        }
    }
    let store = Store::at(copy.store());
    let config = Config::default();
    let (bound, watching) = (MemoryBound::NONE, WatchMode::PollOnly);
    let setup = EngineSetup { store, config, bound, watching, dense: None, checkpoints: None };
    let snapshot = Engine::start(setup).unwrap().snapshot().unwrap();
    assert!(snapshot.health().troubles.is_empty());
    StateDigest::compute(&snapshot, None).to_string()
}

// S-DIGEST-1
#[test]
fn after_a_kill_a_server_equals_a_cold_start() {
    let world = World::new();
    let mut random = KillMoments(7);
    world.hand_write("r0.jsonl", lines(&mut random));
    let logs: Vec<PathBuf> =
        (0..3).map(|log| world.store().join(format!("r{log}.jsonl"))).collect();
    let mut states = BTreeMap::new();
    for kill in 0..KILLS {
        let mut client = Client::open(&world, Era::Modern);
        // While it still reads it has no digest.
        client.wait_for_all();
        // It grows with the logs, question by question.
        for _ in 0..=random.below(3) {
            append(&logs[usize::try_from(random.below(3)).unwrap()], &lines(&mut random));
            digest_of_server(&mut client);
        }
        let (grown, cold) = (digest_of_server(&mut client), digest_of_copy(&world));
        assert_eq!(grown, cold, "before kill {kill}");
        states.insert(grown, kill);
        kill_while_it_is_written(client, &logs, &mut random);
    }
    assert_eq!(states.len(), KILLS, "each state is another");
    let mut client = Client::open(&world, Era::Legacy);
    client.wait_for_all();
    let told = world.agent_knowledge(&["digest"]).done();
    assert_eq!(told, format!("{}\n", digest_of_copy(&world)));
    assert_eq!(digest_of_server(&mut client), told.trim_end());
}

/// Kills the server in the middle of an answer while somebody writes.
fn kill_while_it_is_written(mut client: Client, logs: &[PathBuf], random: &mut KillMoments) {
    let texts: Vec<String> = (0..2).map(|_| lines(random)).collect();
    let moment = Duration::from_micros(random.below(5_000));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for (text, log) in texts.iter().zip(logs.iter().cycle()) {
                append(log, text);
            }
            is_over.store(true, Ordering::Release);
        });
        client.send("resources/read", json!({ "uri": "memory://digest" }));
        let start = Instant::now();
        while start.elapsed() < moment {
            thread::yield_now();
        }
        // Dropping it kills it, as with -9.
        drop(client);
    });
    assert!(is_over.load(Ordering::Acquire));
}

// S-DIGEST-1
#[test]
fn order_copies_and_names_of_files_do_not_matter() {
    let (one, other) = (World::new(), World::new());
    let mut random = KillMoments(11);
    let blocks: Vec<String> = (0..20).map(|_| lines(&mut random)).collect();
    one.hand_write("a.jsonl", blocks.concat());
    let mut shuffled: Vec<&String> = blocks.iter().chain(&blocks).chain(&blocks).collect();
    for place in (1..shuffled.len()).rev() {
        shuffled.swap(place, usize::try_from(random.below(place as u64 + 1)).unwrap());
    }
    let (first, second) = shuffled.split_at(13);
    let text = |blocks: &[&String]| blocks.iter().map(|block| block.as_str()).collect::<String>();
    other.hand_write("z.jsonl", text(first));
    other.hand_write("b.jsonl", text(second));
    let digest = |world: &World| world.agent_knowledge(&["digest"]).done();
    assert_eq!(digest(&one), digest(&other));
    let before = digest(&one);
    one.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "one more"]).done();
    assert_ne!(digest(&one), before);
}

// S-DIGEST-1
#[test]
fn a_log_that_cannot_be_read_has_no_digest() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "x"]).done();
    let told = world.asked(&["digest"]);
    assert_eq!((&told["memories"], &told["documents"]), (&json!(1), &json!(1)));
    assert!(told["digest"].as_str().unwrap().starts_with("sha256:"));
    std::fs::create_dir(world.store().join("folder.jsonl")).unwrap();
    let ran = world.agent_knowledge(&["digest"]);
    assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""));
    assert!(ran.messages.contains("folder.jsonl"), "{}", ran.messages);
}
