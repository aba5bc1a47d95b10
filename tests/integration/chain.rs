//! Chains as people and other programs see them: killed writers, what `verify` and `doctor` say, and a check by hand with
//! `sha256sum`. Not here: every mixture of writers and every change; those are laws (`chain_laws`).
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::pieces;
use crate::world::{LOG_MEMORY, World, run};

const SAVE: [&str; 6] = ["--repo", "api", "--type", "fact", "--lesson", "an event"];

/// What `docs/chain.md` gives people to compute the head by hand.
const BY_HAND: &str = include_str!("../../docs/chain.md");

fn log(world: &World) -> PathBuf {
    world.store().join("api.jsonl")
}

fn saved(count: usize) -> World {
    let world = World::new();
    let lines: String = (0..count)
        .map(|at| {
            json!({"repo": "api", "event_type": "fact", "lesson": format!("m{at}")}).to_string()
                + "\n"
        })
        .collect();
    // Some in one write, some each in a process of its own.
    world.log_memory_json(lines, &[]).done();
    (0..3).for_each(|_| drop(world.log_memory(&SAVE).done()));
    world
}

fn verified(world: &World, args: &[&str]) -> (Option<i32>, Value, String) {
    let ran = world.agent_knowledge(&[&["verify", "--json"], args].concat());
    let told = serde_json::from_str(&ran.output).unwrap();
    (ran.exit, told, world.agent_knowledge(&["verify"]).output)
}

// S-CHAIN-3
#[test]
fn a_writer_killed_before_it_covers_its_line_is_no_tampering() {
    let Some(strace) = pieces::strace() else { return };
    let world = saved(5);
    let lock = world.store().join(".locks/api.jsonl.lock");
    for _ in 0..5 {
        // The line is written, and the next call would write the entry.
        let mut command = world.command(&strace);
        command.arg("-f").arg("-o").arg(world.path("trace")).arg("-P").arg(&lock);
        command.args(["-e", "trace=pwrite64", "-e", "inject=pwrite64:signal=KILL:when=1"]);
        let status = command.arg(LOG_MEMORY).args(SAVE).output().unwrap().status;
        assert_eq!(status.signal(), Some(9));
    }
    let (exit, told, text) = verified(&world, &[]);
    assert_eq!((exit, &told["events"]), (Some(0), &json!(13)), "{text}");
    world.log_memory(&SAVE).done();
    let (exit, told, text) = verified(&world, &[]);
    assert_eq!((exit, &told["logs"][0]["chain"]["lines"]), (Some(0), &json!(14)), "{text}");
}

// S-CHAIN-3
#[test]
fn killed_writers_and_lines_by_hand_leave_a_whole_chain() {
    let world = saved(1);
    let script = r#"
        for writer in 1 2 3 4 5 6 7 8; do
          (for event in 1 2 3 4 5 6; do
             "$PROGRAM" --repo api --type fact --lesson "w$writer e$event" >/dev/null & last=$!
             if [ "$event" = "$writer" ]; then kill -9 "$last"; fi
             echo '{"lesson":"by hand"}' >>"$LOG"
             wait
           done 2>/dev/null) &
        done
        wait"#;
    let mut shell = world.command("bash");
    shell.env("PROGRAM", LOG_MEMORY).env("LOG", log(&world)).args(["-c", script]);
    run(&mut shell, b"");
    let (exit, _, text) = verified(&world, &[]);
    assert_eq!(exit, Some(0), "{text}");
    world.log_memory(&SAVE).done();
    let (exit, told, text) = verified(&world, &[]);
    let chain = &told["logs"][0]["chain"];
    assert_eq!((exit, &chain["uncovered_bytes"]), (Some(0), &json!(0)), "{text}");
    assert!(chain["taken_in"].as_u64().unwrap() >= 40, "{chain}");
}

// S-CHAIN-4
#[test]
fn verify_and_doctor_tell_what_was_changed_and_where() {
    let world = saved(50);
    let lines = world.log_lines("api.jsonl");
    let swapped = |one: usize, other: usize| {
        let mut lines = lines.clone();
        lines.swap(one, other);
        lines.join(&b'\n')
    };
    let edited = String::from_utf8(lines.join(&b'\n')).unwrap().replace("m20", "M20");
    for (bytes, told) in [
        (edited.into_bytes(), "api.jsonl: line 21 was edited (bytes "),
        (swapped(3, 30), "api.jsonl: line 4 was reordered (bytes "),
        (lines[..50].join(&b'\n'), "api.jsonl: lines 51-53 were deleted (at byte "),
    ] {
        world.hand_write("api.jsonl", [bytes, b"\n".to_vec()].concat());
        let (exit, json, text) = verified(&world, &[]);
        assert_eq!((exit, &json["changed_logs"]), (Some(1), &json!(1)), "{text}");
        assert!(text.contains(told) && text.contains("verify --accept"), "{told}\n{text}");
        let doctor = world.agent_knowledge(&["doctor"]).output;
        assert!(doctor.contains("lines of api.jsonl were changed"), "{doctor}");
    }
    assert!(world.agent_knowledge(&["verify", "--accept"]).done().contains("accepted"));
    let (exit, _, text) = verified(&world, &[]);
    assert!(exit == Some(0) && text.contains("by a person: deleted:51-53"), "{text}");
    assert!(world.agent_knowledge(&["doctor"]).output.contains("lines in 1 logs are as they were"));
}

// S-CHAIN-6
#[test]
fn scrub_and_archive_are_told_as_what_they_are() {
    let world = saved(50);
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let text = std::fs::read_to_string(log(&world)).unwrap();
    world.hand_write(
        "api.jsonl",
        text + &json!({"lesson": format!("token {key}")}).to_string() + "\n",
    );
    world.log_memory(&SAVE).done();
    world.agent_knowledge(&["scrub"]).done();
    world.agent_knowledge(&["archive", "--keep", "10"]).done();
    world.log_memory(&SAVE).done();
    let (exit, _, text) = verified(&world, &[]);
    assert_eq!(exit, Some(0), "{text}");
    for told in [": 1 lines\n", ": 45 lines, to 000001.jsonl.gz\n"] {
        assert!(text.contains(told), "{told}\n{text}");
    }
}

// S-CHAIN-2
#[test]
fn anybody_can_compute_the_head_with_sha256sum() {
    let script = BY_HAND.split("```bash\n").nth(1).unwrap().split("```").next().unwrap();
    let world = saved(60);
    let by_hand = |log: &Path| {
        let mut bash = Command::new("bash");
        bash.arg("-c").arg(script).arg("check").arg(log);
        String::from_utf8(bash.output().unwrap().stdout).unwrap()
    };
    let told = by_hand(&log(&world));
    assert!(told.starts_with("as written up to line "), "{told}");
    let text = std::fs::read_to_string(log(&world)).unwrap();
    world.hand_write("api.jsonl", text.replace("m7", "M7"));
    assert!(by_hand(&log(&world)).starts_with("changed in lines 1-"), "{}", by_hand(&log(&world)));
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/chain-v1");
    std::fs::read(folder.join(name)).unwrap()
}

/// A store with the log and the chain of the fixture.
fn of_fixture(more: &str) -> World {
    let world = World::new();
    world.log_memory(&["--repo", "other", "--type", "fact", "--lesson", "makes the store"]).done();
    world.hand_write("api.jsonl", fixture("api.jsonl"));
    let chain = [fixture("api.jsonl.chain"), more.as_bytes().to_vec()].concat();
    std::fs::write(world.store().join(".chain/api.jsonl.chain"), chain).unwrap();
    world
}

// S-CHAIN-2
#[test]
fn a_chain_of_the_first_version_is_read_for_ever() {
    let world = of_fixture("");
    let (exit, told, text) = verified(&world, &[]);
    let chain = &told["logs"][0]["chain"];
    assert_eq!(
        (exit, &chain["state"], &chain["lines"]),
        (Some(0), &json!("whole"), &json!(32)),
        "{text}"
    );
    assert_eq!((&chain["taken_in"], &chain["events"][0]["what"]), (&json!(2), &json!("begin")));
    world.log_memory(&SAVE).done();
    let (exit, told, text) = verified(&world, &[]);
    assert_eq!((exit, &told["logs"][0]["chain"]["lines"]), (Some(0), &json!(33)), "{text}");
}

// S-CHAIN-5
#[test]
fn a_newer_entry_is_left_alone_and_blocks_nothing() {
    let newer = format!("3 rotated to moon head {}\n", "0".repeat(64));
    let world = of_fixture(&newer);
    let chain = world.store().join(".chain/api.jsonl.chain");
    let before = std::fs::read(&chain).unwrap();
    world.log_memory(&SAVE).done();
    assert_eq!(std::fs::read(&chain).unwrap(), before);
    let (exit, _, text) = verified(&world, &[]);
    assert!(exit == Some(1) && text.contains("its chain was not checked"), "{text}");
    assert_eq!(world.log_lines("api.jsonl").len(), 33);
}
