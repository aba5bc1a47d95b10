//! Any number of writers at once lose nothing; writers killed at any moment lose nothing that they
//! acknowledged and damage no line but their own. Not here: larger storms, and lost power (`faults`).

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::raw_client::{Client, Era};
use crate::world::{LOG_MEMORY, World, event, run};

const WRITERS: usize = 8;
const EVENTS_EACH: usize = 200;

fn lesson(writer: usize, number: usize) -> String {
    format!("lesson {number} of writer {writer}: quasar{writer}x{number}")
}

/// Checks that the log holds exactly what the writers acknowledged, once each, nothing torn.
fn assert_all_are_there(world: &World, printed: &[String]) {
    let events = world.events("api.jsonl");
    assert_eq!(events.len(), WRITERS * EVENTS_EACH);
    let ids: BTreeSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids, printed.iter().map(String::as_str).collect(), "printed and written differ");
    assert_eq!(ids.len(), WRITERS * EVENTS_EACH, "an id came twice");
    let lessons: BTreeSet<&str> = events.iter().map(|event| event.lesson.as_str()).collect();
    for writer in 0..WRITERS {
        for number in 0..EVENTS_EACH {
            assert!(lessons.contains(lesson(writer, number).as_str()), "{writer}/{number} is lost");
        }
    }
}

/// Runs all writers at once and gathers the ids they printed.
fn at_once(write: impl Fn(usize) -> Vec<String> + Sync) -> Vec<String> {
    thread::scope(|scope| {
        let write = &write;
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    })
}

// S-STORE-5
#[test]
fn one_process_per_event_from_eight_sides_loses_nothing() {
    let world = World::new();
    let printed = at_once(|writer| {
        let write = |number| {
            let lesson = lesson(writer, number);
            let args = ["--repo", "api", "--type", "fact", "--lesson", &lesson];
            world.log_memory(&args).done().trim_end().to_owned()
        };
        (0..EVENTS_EACH).map(write).collect()
    });
    assert_all_are_there(&world, &printed);
    assert_all_are_found(&world);
}

/// Looks for every lesson as people and as agents do.
fn assert_all_are_found(world: &World) {
    let log = world.store().join("api.jsonl");
    let grep = |word: &str| {
        run(world.command("grep").args(["--count", "--word-regexp", word]).arg(&log), b"").done()
    };
    assert_eq!(grep("lesson"), format!("{}\n", WRITERS * EVENTS_EACH));
    let status = world.asked(&["status"]);
    assert_eq!((&status["memories"], &status["skipped"]), (&json!(1_600), &json!(0)), "{status}");
    let mut client = Client::open(world, Era::Modern);
    for writer in 0..WRITERS {
        assert_eq!(grep(&format!("quasar{writer}x{}", EVENTS_EACH - 1)), "1\n");
        for number in 0..EVENTS_EACH {
            let found = client.search(&format!("quasar{writer}x{number}"));
            let first = found.lines().find(|line| line.starts_with("1. [")).unwrap_or_default();
            assert!(first.contains(&lesson(writer, number)), "{writer}/{number}: {found}");
        }
    }
}

// S-STORE-5
#[test]
fn eight_batches_at_once_lose_nothing() {
    let world = World::new();
    let printed = at_once(|writer| {
        let event = |number| json!({ "repo": "api", "event_type": "fact", "lesson": lesson(writer, number) });
        let batch: Vec<Value> = (0..EVENTS_EACH).map(event).collect();
        let report = world.log_memory_json(Value::from(batch).to_string(), &[]).done();
        report.lines().map(id_of_report).collect()
    });
    assert_all_are_there(&world, &printed);
}

fn id_of_report(line: &str) -> String {
    let report: Value = serde_json::from_str(line).unwrap();
    report["id"].as_str().unwrap().to_owned()
}

/// What became of the writers of a storm.
#[derive(Default)]
struct Storm {
    printed: Vec<String>,
    killed: usize,
}

const KILLERS: usize = 4;
const KILLS_EACH: usize = 60;

// S-STORE-4
#[test]
fn killed_writers_lose_nothing_acknowledged() {
    let world = World::new();
    let start = Instant::now();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    let whole_run = start.elapsed();
    let storms: Vec<Storm> = thread::scope(|scope| {
        let killers: Vec<_> = (0..KILLERS)
            .map(|seed| {
                let world = &world;
                scope.spawn(move || kill_writers(world, seed, whole_run))
            })
            .collect();
        killers.into_iter().map(|killer| killer.join().unwrap()).collect()
    });
    let killed: usize = storms.iter().map(|storm| storm.killed).sum();
    assert!(killed > KILLERS, "a storm that kills nobody shows nothing");
    let last = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "last"]).done();
    let lines = world.log_lines("api.jsonl");
    let torn = lines.iter().filter(|line| event(line).is_none()).count();
    assert!(torn <= killed, "{torn} torn lines of {killed} killed writers");
    let ids: BTreeSet<String> =
        lines.iter().filter_map(|line| event(line)).map(|event| event.id.to_string()).collect();
    for id in storms.iter().flat_map(|storm| &storm.printed) {
        assert!(ids.contains(id), "{id} was acknowledged and is lost");
    }
    assert!(ids.contains(last.trim_end()));
}

/// Starts writers one after the other and kills each at a moment of its own.
fn kill_writers(world: &World, seed: usize, whole_run: Duration) -> Storm {
    let mut storm = Storm::default();
    let mut random = Random(seed);
    let lesson = "x".repeat(30_000);
    for round in 0..KILLS_EACH {
        let mut command = world.command(LOG_MEMORY);
        command.args(["--repo", "api", "--type", "fact", "--lesson", &lesson]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        // The first dies at once; the others up to half as late again as a whole run takes.
        let share = if round == 0 { 0 } else { random.below(150) };
        let moment = Instant::now() + whole_run * share / 100;
        while Instant::now() < moment {
            thread::yield_now();
        }
        // Killing one that has ended is no failure.
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        storm.killed += usize::from(output.status.code().is_none());
        let text = String::from_utf8(output.stdout).unwrap();
        storm.printed.extend(text.lines().filter(|id| id.len() == 26).map(str::to_owned));
    }
    storm
}

/// A linear congruential generator (Knuth's MMIX constants): the moments vary, the test does not.
pub struct Random(pub usize);

impl Random {
    pub fn below(&mut self, bound: u32) -> u32 {
        let state = (self.0 as u64).wrapping_mul(6_364_136_223_846_793_005);
        let state = state.wrapping_add(1_442_695_040_888_963_407);
        self.0 = usize::try_from(state).unwrap();
        u32::try_from(state >> 33).unwrap() % bound
    }
}

// S-STORE-3
#[test]
fn writers_that_die_in_the_middle_of_a_line_cost_only_that_line() {
    let world = World::new();
    let args = ["--repo", "api", "--type", "fact", "--lesson", "before"];
    world.log_memory(&args).done();
    let line = world.log_lines("api.jsonl").remove(0);
    let mut cuts = (1..line.len()).step_by(7).cycle();
    let printed: Vec<String> = thread::scope(|scope| {
        let write = || {
            let print = |_| world.log_memory(&args).done().trim_end().to_owned();
            (0..EVENTS_EACH / 2).map(print).collect::<Vec<_>>()
        };
        let writers = [scope.spawn(write), scope.spawn(write)];
        while writers.iter().any(|writer| !writer.is_finished()) {
            die_after_writing(&world, &line[..cuts.next().unwrap()]);
            thread::yield_now();
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let last = world.log_memory(&args).done();
    let (mut ids, mut torn) = (BTreeSet::new(), 0);
    for found in world.log_lines("api.jsonl") {
        match event(&found) {
            Some(event) => assert!(ids.insert(event.id.to_string()), "an id came twice"),
            None => {
                // Dying writers that follow each other leave one torn line together.
                assert!(found.starts_with(b"{"), "{}", String::from_utf8_lossy(&found));
                torn += 1;
            }
        }
    }
    assert!(torn > 0, "nobody died in the middle of a line");
    assert!(printed.iter().all(|id| ids.contains(id)), "an acknowledged event is lost");
    assert!(ids.contains(last.trim_end()));
}

/// Does what a writer does that is killed inside its one write: takes its turn, writes a part.
fn die_after_writing(world: &World, part: &[u8]) {
    let log = world.store().join("api.jsonl");
    let lock = world.store().join(".locks/api.jsonl.lock");
    let lock = OpenOptions::new().write(true).open(lock).unwrap();
    lock.lock().unwrap();
    OpenOptions::new().append(true).open(log).unwrap().write_all(part).unwrap();
}
