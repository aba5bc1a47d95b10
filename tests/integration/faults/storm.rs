//! P1 and P3: writers killed at any moment lose nothing that they acknowledged, and damage no line but
//! their own. Single events and whole batches (to 300 kB in one write), each text telling its own length,
//! so that nothing can be mixed or cut without being seen. Not here: lost power (`power_loss`).

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use event::Event;
use serde_json::{Value, json};

use super::{Contents, contents, sized, tell};
use crate::many_writers::Random;
use crate::world::{LOG_MEMORY, World};

/// Longest texts, so that a line comes to just under 60 kB: below the bound on lines (64 kB).
const CONTEXT_BYTES_MAX: u32 = 16_000;
const LESSON_BYTES_MAX: u32 = 32_000;
const COMMAND_BYTES_MAX: u32 = 8_000;
/// Most events of a batch: together up to 300 kB in one write.
const BATCH_EVENTS_MAX: u32 = 10;
/// Give up when so many times the wanted kills were tried: most writers were done too soon.
const TRIES_PER_KILL_MAX: usize = 20;

/// What one worker saw.
#[derive(Default)]
struct Seen {
    acknowledged: Vec<String>,
    killed: usize,
    started: usize,
}

// S-STORE-4, S-STORE-5
#[test]
fn a_storm_of_kills_loses_nothing_acknowledged() {
    let (workers, kills) = (sized(4, 16), sized(120, 1_000));
    let world = World::new();
    let start = Instant::now();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    let whole_run = start.elapsed();
    let seen: Vec<Seen> = thread::scope(|scope| {
        let storm = |seed| {
            let world = &world;
            scope.spawn(move || kill_writers(world, seed, kills.div_ceil(workers), whole_run))
        };
        let workers: Vec<_> = (0..workers).map(storm).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let killed: usize = seen.iter().map(|seen| seen.killed).sum();
    assert!(killed >= kills, "only {killed} of {kills} writers could be killed in time");
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "last"]).done();
    let acknowledged: Vec<&String> = seen.iter().flat_map(|seen| &seen.acknowledged).collect();
    let found = contents(&world.store().join("api.jsonl"));
    assert_whole(&found);
    assert_torn_lines_are_the_killed_ones(&found, killed, &acknowledged);
    let ids: BTreeSet<&str> = found.events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids.len(), found.events.len(), "an id came twice");
    let lost = acknowledged.iter().filter(|id| !ids.contains(id.as_str())).count();
    assert_eq!(lost, 0, "of {} acknowledged events", acknowledged.len());
    assert_readers_skip_exactly_the_torn(&world, &found);
    let started: usize = seen.iter().map(|seen| seen.started).sum();
    tell(
        "P1",
        &format!("{workers} workers, {started} writers started, {killed} killed (SIGKILL)"),
        &format!("{} events acknowledged, 0 lost, 0 twice", acknowledged.len()),
    );
    tell(
        "P3",
        "the same storm: lines to 56 kB, batches to 300 kB in one write",
        &format!("{} torn lines (at most {killed}), every other line whole", found.torn.len()),
    );
}

/// Starts writers one after the other and kills each at a moment of its own, until enough have died.
fn kill_writers(world: &World, seed: usize, kills: usize, whole_run: Duration) -> Seen {
    let (mut seen, mut random) = (Seen::default(), Random(seed));
    // The range of the moments follows what the machine is doing: about half the writers die.
    let mut latest_us = u32::try_from(whole_run.as_micros()).unwrap().saturating_mul(4);
    while seen.killed < kills {
        assert!(
            seen.started < kills * TRIES_PER_KILL_MAX,
            "the writers end before they are killed"
        );
        seen.started += 1;
        let name = format!("{seed}w{}", seen.started);
        let is_batch = random.below(4) == 0;
        let mut child = if is_batch {
            start_batch(world, &name, &mut random)
        } else {
            start_single(world, &name, &mut random)
        };
        thread::park_timeout(Duration::from_micros(u64::from(random.below(latest_us.max(50)))));
        // Killing one that has ended is no failure.
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let is_killed = output.status.code().is_none();
        seen.killed += usize::from(is_killed);
        latest_us = if is_killed { latest_us / 4 * 5 } else { latest_us / 5 * 4 };
        // An id or a report whose line break is missing was not acknowledged.
        let printed = String::from_utf8(output.stdout).unwrap();
        let complete = printed.rsplit_once('\n').map_or("", |(complete, _)| complete);
        seen.acknowledged.extend(complete.lines().map(acknowledged_id));
    }
    seen
}

fn acknowledged_id(line: &str) -> String {
    let report: Value = if line.starts_with('{') {
        serde_json::from_str(line).unwrap()
    } else {
        json!({ "id": line })
    };
    let id = report["id"].as_str().unwrap_or_else(|| panic!("refused: {line}"));
    assert_eq!(id.len(), 26, "{line}");
    id.to_owned()
}

fn spawn(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn start_single(world: &World, name: &str, random: &mut Random) -> Child {
    let texts = texts(name, random);
    let mut command = world.command(LOG_MEMORY);
    command.args(["--repo", "api", "--type", "fact"]);
    for (field, text) in &texts {
        command.arg(format!("--{field}={text}"));
    }
    spawn(&mut command)
}

fn start_batch(world: &World, name: &str, random: &mut Random) -> Child {
    let events = 1 + random.below(BATCH_EVENTS_MAX);
    let event = |number| {
        let mut event = json!({ "repo": "api", "event_type": "fact" });
        for (field, text) in texts(&format!("{name}e{number}"), random) {
            event[field] = text.into();
        }
        event
    };
    let batch: Vec<Value> = (0..events).map(event).collect();
    let mut command = world.command(LOG_MEMORY);
    let mut child = spawn(command.args(["--json", "-"]).stdin(Stdio::piped()));
    let mut input = child.stdin.take().unwrap();
    // Written beside: who is killed while it reads breaks the pipe.
    thread::spawn(move || input.write_all(Value::from(batch).to_string().as_bytes()).ok());
    child
}

/// Texts that tell their own field, writer and length: what was cut or mixed no longer fits.
fn texts(name: &str, random: &mut Random) -> BTreeMap<&'static str, String> {
    let bounds = [
        ("context", CONTEXT_BYTES_MAX),
        ("lesson", LESSON_BYTES_MAX),
        ("command", COMMAND_BYTES_MAX),
    ];
    bounds.map(|(field, bound)| (field, text(field, name, random.below(bound)))).into()
}

fn text(field: &str, name: &str, filler_bytes: u32) -> String {
    let filler = "x".repeat(usize::try_from(filler_bytes).unwrap());
    format!("{field} {name} {filler_bytes} {filler}.")
}

/// Checks that each text of each event is exactly what one writer wrote.
fn assert_whole(found: &Contents) {
    for event in &found.events {
        let Event { lesson, context, command, .. } = event;
        if ["first", "last"].contains(&lesson.as_str()) {
            continue;
        }
        let mut names = BTreeSet::new();
        for (field, found) in [("lesson", lesson), ("context", context), ("command", command)] {
            let words: Vec<&str> = found.splitn(4, ' ').collect();
            let [_, name, bytes, _] = words[..] else { panic!("{field} of {}", event.id) };
            assert_eq!(*found, text(field, name, bytes.parse().unwrap()), "{}", event.id);
            names.insert(name);
        }
        assert_eq!(names.len(), 1, "{} has texts of several events", event.id);
    }
}

fn assert_torn_lines_are_the_killed_ones(
    found: &Contents,
    killed: usize,
    acknowledged: &[&String],
) {
    assert!(found.torn.len() <= killed, "{} torn lines of {killed} kills", found.torn.len());
    for line in &found.torn {
        let line = String::from_utf8_lossy(line);
        assert!(
            line.starts_with('{') && !line.ends_with('}'),
            "not the beginning of a line: {line:.200}"
        );
        assert_eq!(
            line.matches("\"event_type\":").count().max(1),
            1,
            "two events in a line: {line:.200}"
        );
        let swallowed = acknowledged.iter().find(|id| line.contains(id.as_str()));
        assert_eq!(swallowed, None, "an acknowledged event was glued to a torn line");
    }
}

fn assert_readers_skip_exactly_the_torn(world: &World, found: &Contents) {
    let status = world.asked(&["status"]);
    let expected = (json!(found.events.len()), json!(found.torn.len()));
    assert_eq!((&status["memories"], &status["skipped"]), (&expected.0, &expected.1), "{status}");
}
