//! Memory is bounded: over `memory_mib` the oldest memories leave a server and a command alike, the logs
//! keep all, and every face says so. Not here: which memories stay, in any order of few lines; that is a
//! property of `engine::digest`. Half a million memories are measured by `scripts/memory`.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::raw_client::{Client, Era};
use crate::world::World;

/// The least bound that may be set.
const BOUND: &str = "memory_mib = 16";

/// So many of these lines are a third more than fit.
const LINES: usize = 700;

/// A short line that takes 30 kB: hundreds of values of a field that nobody knows. So the test is quick.
fn line(number: usize) -> String {
    let (minute, second) = (number / 60, number % 60);
    let timestamp = format!("2026-01-01T00:{minute:02}:{second:02}Z");
    let line = json!({
        "id": format!("m{number}"), "timestamp": timestamp, "repo": "api",
        "lesson": format!("q{number}"), "unknown": ([[1; 32]; 8]),
    });
    format!("{line}\n")
}

fn lines(numbers: impl Iterator<Item = usize>) -> String {
    numbers.map(line).collect()
}

fn append(world: &World, log: &str, text: &str) {
    let mut log = OpenOptions::new().append(true).open(world.store().join(log)).unwrap();
    log.write_all(text.as_bytes()).unwrap();
}

// S-BOUND-2, S-BOUND-3
#[test]
fn over_the_bound_the_oldest_are_left_out_and_reported() {
    let world = World::new();
    let logs = lines(0..LINES);
    world.hand_write("api.jsonl", &logs);
    world.configure(BOUND);
    let status = world.asked(&["status"]);
    let left_out = usize::try_from(status["left_out"].as_u64().unwrap()).unwrap();
    assert!((LINES / 8..LINES / 2).contains(&left_out), "{left_out} of {LINES}");
    assert_eq!(status["memories"], LINES - left_out, "what is not left out is here");
    assert_eq!((&status["lexical"], &status["memory_mib"]), (&status["memories"], &json!(16)));
    assert!(status["held_bytes"].as_u64().unwrap() <= 16 << 20);

    let notice = format!("the {left_out} oldest memories are left out (memory_mib is 16;");
    let text = world.agent_knowledge(&["status"]).done();
    assert!(text.contains(&notice), "no {notice:?} in {text}");
    let found = |number: usize| world.asked(&["search", &format!("q{number}")]);
    let newest = found(LINES - 1);
    assert_eq!(newest["memories"][0]["id"], format!("m{}", LINES - 1));
    assert!(newest["notices"].to_string().contains(&notice), "{newest}");
    assert_eq!(found(left_out)["memories"][0]["id"], format!("m{left_out}"));
    assert_eq!(found(left_out - 1)["memories"], json!([]), "older than all that are here");
    let doctor = world.agent_knowledge(&["doctor"]).output;
    assert!(doctor.contains(&notice), "no {notice:?} in {doctor}");

    let cited = world.agent_knowledge(&["show", "m0", "m1x"]);
    assert_eq!(cited.exit, Some(1));
    for told in ["memory \"m0\" is too old to be loaded", "no memory \"m1x\"", &notice] {
        assert!(cited.messages.contains(told), "no {told:?} in {}", cited.messages);
    }
    assert_eq!(std::fs::read_to_string(world.store().join("api.jsonl")).unwrap(), logs);
    assert!(world.agent_knowledge(&["verify"]).done().contains(&LINES.to_string()));
}

// S-BOUND-3
#[test]
fn within_the_bound_nothing_is_said_of_it() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "zebra"]).done();
    let status = world.asked(&["status"]);
    assert_eq!((&status["left_out"], &status["memory_mib"]), (&json!(0), &json!(1024)));
    for args in [&["status"][..], &["search", "zebra"], &["doctor"]] {
        let told = world.agent_knowledge(args).output;
        assert!(!told.contains("left out"), "{told}");
    }
    let missing = world.agent_knowledge(&["show", "m1x"]).messages;
    assert!(!missing.contains("left out"), "{missing}");
}

// S-BOUND-2
#[test]
fn any_order_of_lines_keeps_the_same_as_a_cold_start() {
    let world = World::new();
    world.configure(BOUND);
    world.hand_write("api.jsonl", lines(300..500));
    let mut client = Client::open(&world, Era::Modern);
    let digest = |client: &mut Client| client.read("memory://digest");
    let cold = |world: &World| world.asked(&["digest"]);
    // Newer ones, then what is too old at once, then more, some of it once more.
    for numbers in [500..LINES, 0..150, 250..320] {
        append(&world, "api.jsonl", &lines(numbers));
        assert_eq!(digest(&mut client), cold(&world));
    }
    // A memory that is here turns out to be as old as those that are not; another was spoken of before
    // it came.
    let mut odd = String::new();
    let older = json!({ "id": format!("m{}", LINES - 1), "lesson": "without time", "repo": "api" });
    let early = json!({ "id": "e1", "memory_id": "late", "event_type": "feedback", "repo": "api" });
    let late =
        json!({ "id": "late", "timestamp": "2026-02-01", "lesson": "zebra late", "repo": "api" });
    writeln!(odd, "{older}\n{early}\n{late}").unwrap();
    append(&world, "api.jsonl", &odd);
    let told = digest(&mut client);
    assert_eq!(told, cold(&world));
    let late = world.asked(&["show", "late"]);
    assert!(late.to_string().contains("e1"), "what was said of it is with it: {late}");
    let gone = world.agent_knowledge(&["show", &format!("m{}", LINES - 1)]);
    assert!(gone.messages.contains("too old to be loaded"), "{}", gone.messages);
}

// S-BOUND-1
#[test]
fn a_bound_that_cannot_be_is_told_with_what_can() {
    let world = World::new();
    let allowed = "must be a whole number of MiB from 16 to 1048576, for example 1024";
    let mut command = world.command(crate::world::AGENT_KNOWLEDGE);
    command.args(["status"]).env("AGENT_KNOWLEDGE_MEMORY_MIB", "much");
    let ran = crate::world::run(&mut command, b"");
    assert_eq!(ran.exit, Some(78));
    assert!(ran.messages.contains(&format!("AGENT_KNOWLEDGE_MEMORY_MIB {allowed}")), "{ran:?}");
    world.configure("memory_mib = 15");
    // A file may be of another version, so its value is left out.
    let ran = world.agent_knowledge(&["status", "--json"]);
    assert_eq!(ran.exit, Some(0));
    assert!(ran.messages.contains(&format!("memory_mib {allowed}")), "{ran:?}");
    assert!(!ran.output.contains("\"memory_mib\":15"), "{ran:?}");
    // The environment wins over the file, and the writing program has no use for it.
    world.configure(BOUND);
    let mut command = world.command(crate::world::AGENT_KNOWLEDGE);
    command.args(["status", "--json"]).env("AGENT_KNOWLEDGE_MEMORY_MIB", "32");
    let status = crate::world::run(&mut command, b"").done();
    assert!(status.contains("\"memory_mib\":32"), "{status}");
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "x"]).done();
}

/// How far the estimate may be from what the system says, either way. Of so few memories a part is the
/// program's own, such as the words it has analysed before.
#[cfg(target_os = "linux")]
const ESTIMATE_FACTOR: f64 = 2.0;

// S-BOUND-1
#[cfg(target_os = "linux")]
#[test]
fn the_estimate_is_within_a_factor_of_what_the_process_takes() {
    let memory_of = |client: &Client| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", client.process())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 1024.0
    };
    let world = World::new();
    world.hand_write("api.jsonl", usual_lines(1));
    let mut client = Client::open(&world, Era::Modern);
    client.search("docker");
    let empty = memory_of(&client);
    append(&world, "api.jsonl", &usual_lines(8_000));
    client.search("docker");
    // So many lines at once are read in the background.
    let deadline = Instant::now() + Duration::from_secs(60);
    while world.asked(&["status"]).get("reading").is_some() {
        assert!(Instant::now() < deadline, "the lines are never read");
    }
    let taken = memory_of(&client) - empty;
    let held = world.asked(&["status"])["held_bytes"].as_f64().unwrap();
    let factor = held / taken;
    assert!((1.0 / ESTIMATE_FACTOR..ESTIMATE_FACTOR).contains(&factor), "{held} for {taken}");
}

/// Founding lines of some 450 bytes, whose words are few often and most seldom.
#[cfg(target_os = "linux")]
fn usual_lines(count: u64) -> String {
    let mut state = 7_u64;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // The cube of a share of a thousand: low numbers are many.
        let share = (state >> 33) % 1_000;
        format!("w{}ord", share * share * share / 50_000)
    };
    let mut words = |count: usize| (0..count).map(|_| word()).collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    for number in 0..count {
        let line = json!({
            "timestamp": "2026-01-01T00:00:00Z", "agent_id": "agent", "repo": "github.com/acme/api",
            "event_type": "error", "context": words(14), "command": words(3),
            "lesson": format!("{} at step {number}", words(22)), "success_rate": "3/4", "tags": ["ci", "npm", "docker"],
        });
        writeln!(text, "{line}").unwrap();
    }
    text
}
