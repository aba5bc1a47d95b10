//! The command takes out what the real rules know, also when it is killed in the middle. Not here:
//! which secrets there are (`event::redact`).

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::world::{AGENT_KNOWLEDGE, World, event};

/// What must not be left of a key: its first twelve characters.
fn beginning(number: usize) -> String {
    key(number).chars().take(12).collect()
}

/// Looks like a key of GitHub; put together here, so that no scanner takes this file for a leak.
fn key(number: usize) -> String {
    format!("gh{}_{}{number:06}", 'p', "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8cF0".to_owned())
}

fn log_with_keys(lines: usize) -> String {
    let line = |number: usize| {
        let secret = if number.is_multiple_of(50) { key(number) } else { "nothing".to_owned() };
        format!("{{\"id\":\"m{number}\",\"lesson\":\"push with {secret} as token\",\"n\":1.50}}\n")
    };
    (0..lines).map(line).collect()
}

// S-SCRUB-1, S-VERIFY-3
#[test]
fn a_key_in_a_log_is_told_by_verify_and_taken_out_by_scrub() {
    let world = World::new();
    let damaged = format!("torn line with {}\n", key(7));
    world.hand_write("api.jsonl", log_with_keys(120) + &damaged);
    let verified = world.agent_knowledge(&["verify", "--json"]);
    assert_eq!(verified.exit, Some(1));
    assert!(!verified.output.contains(&beginning(0)), "{}", verified.output);
    let kept = std::fs::read_to_string(world.store().join(".quarantine/api.jsonl")).unwrap();
    assert!(kept.contains("[REDACTED:") && !kept.contains(&beginning(7)), "{kept}");
    let dry = world.agent_knowledge(&["scrub", "--dry-run"]);
    assert_eq!(dry.exit, Some(1), "{}", dry.output);
    let told = world.agent_knowledge(&["scrub"]).done();
    assert!(told.contains("4 secrets removed") && told.contains("line 51, lesson: "), "{told}");
    let text = std::fs::read_to_string(world.store().join("api.jsonl")).unwrap();
    assert!(!text.contains(&beginning(0)) && !told.contains(&beginning(0)));
    assert_eq!(text.matches("[REDACTED:").count(), 4);
    assert_eq!(text.matches("\"n\":1.50}\n").count(), 120, "the rest of each line is as it was");
    assert_eq!(world.agent_knowledge(&["scrub"]).done(), "no secrets found\n");
}

/// How often it is killed.
const KILLS: u32 = 20;

// S-SCRUB-2
#[test]
fn a_scrub_that_is_killed_leaves_the_old_log_or_the_new_one() {
    let world = World::new();
    let old = log_with_keys(1_000);
    world.hand_write("api.jsonl", &old);
    let start = Instant::now();
    world.agent_knowledge(&["scrub"]).done();
    let whole_run = start.elapsed();
    let new = std::fs::read_to_string(world.store().join("api.jsonl")).unwrap();
    let (mut killed, mut states) = (0, [0, 0]);
    for round in 0..KILLS {
        world.hand_write("api.jsonl", &old);
        let mut command = world.command(AGENT_KNOWLEDGE);
        let mut child = command.arg("scrub").stdout(Stdio::null()).spawn().unwrap();
        wait_until(start_of(round, whole_run));
        // Killing one that has ended is no failure.
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        let found = std::fs::read_to_string(world.store().join("api.jsonl")).unwrap();
        assert!(found == old || found == new, "neither the old log nor the new one");
        states[usize::from(found == new)] += 1;
    }
    assert!(killed > 0, "nobody was killed: {states:?}");
    world.agent_knowledge(&["scrub"]).done();
    assert_eq!(world.log_names(), ["api.jsonl"], "what a killed one leaves behind is no log");
    assert!(world.log_lines("api.jsonl").iter().all(|line| event(line).is_some()));
}

fn start_of(round: u32, whole_run: Duration) -> Instant {
    Instant::now() + whole_run * (round + 1) / KILLS
}

fn wait_until(moment: Instant) {
    while Instant::now() < moment {
        thread::yield_now();
    }
}
