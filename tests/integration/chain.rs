//! Chains as people and other programs see them: killed writers, what `verify` and `doctor` say, and a check by hand with
//! `sha256sum`. Not here: every mixture of writers and every change; those are laws (`chain_laws`).
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::pieces;
use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, World, run};

const SAVE: [&str; 6] = ["--repo", "api", "--type", "fact", "--lesson", "an event"];

const LOCK: &str = ".locks/api.jsonl.lock";
const CHAIN: &str = ".chain/api.jsonl.chain";

/// A chain before it has its name.
const NEW_CHAIN: &str = ".chain/api.jsonl.new";

/// What `docs/operate/chain.md` gives people to compute the head by hand.
const BY_HAND: &str = include_str!("../../docs/operate/chain.md");

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

/// Runs a program that is killed at one of its system calls on a path.
fn killed_at(world: &World, strace: &Path, (on, call): (&str, &str), program: &[&str]) {
    let (name, when) = call.split_once(' ').unwrap();
    let mut command = world.command(strace);
    command.arg("-f").arg("-o").arg(world.path("trace")).arg("-P").arg(world.store().join(on));
    command.arg("-e").arg(format!("trace={name}"));
    command.arg("-e").arg(format!("inject={name}:signal=KILL:when={when}"));
    let status = command.args(program).output().unwrap().status;
    assert_eq!(status.signal(), Some(9), "{on} {call}");
}

// S-CHAIN-3
#[test]
fn a_writer_killed_before_it_covers_its_line_is_no_tampering() {
    let Some(strace) = pieces::strace() else { return };
    let world = saved(5);
    for _ in 0..5 {
        // The line is written, and the next call would write the entry.
        killed_at(&world, &strace, (LOCK, "pwrite64 1"), &[&[LOG_MEMORY][..], &SAVE].concat());
    }
    let (exit, told, text) = verified(&world, &[]);
    assert_eq!((exit, &told["events"]), (Some(0), &json!(13)), "{text}");
    world.log_memory(&SAVE).done();
    let (exit, told, text) = verified(&world, &[]);
    assert_eq!((exit, &told["logs"][0]["chain"]["lines"]), (Some(0), &json!(14)), "{text}");
}

// S-CHAIN-3
#[test]
fn a_writer_killed_while_it_seals_is_no_tampering() {
    let Some(strace) = pieces::strace() else { return };
    // The file of the lock is written before the entry moves to the chain, and after.
    for call in ["pwrite64 1", "pwrite64 2"] {
        let world = saved(28);
        killed_at(&world, &strace, (LOCK, call), &[&[LOG_MEMORY][..], &SAVE].concat());
        for _ in 0..2 {
            let line = "{\"repo\":\"api\",\"event_type\":\"fact\",\"lesson\":\"x\"}\n";
            world.log_memory_json(line.repeat(40), &[]).done();
            let (exit, told, text) = verified(&world, &[]);
            let chain = &told["logs"][0]["chain"];
            assert_eq!((exit, &chain["uncovered_bytes"]), (Some(0), &json!(0)), "{call}: {text}");
        }
    }
}

// S-CHAIN-4
#[test]
fn an_acceptance_that_is_killed_can_be_repeated() {
    let Some(strace) = pieces::strace() else { return };
    // The file of the lock is written before the new chain gets its name, and after.
    let (before, named, after) =
        ((LOCK, "pwrite64 1"), (NEW_CHAIN, "/^rename 1"), (LOCK, "pwrite64 2"));
    // A line of a sealed entry, and one of the open entry.
    let lines = [("m20", "M20"), ("m49", "M49")];
    for (at, (then, now)) in
        [before, named, after].into_iter().flat_map(|at| lines.map(|line| (at, line)))
    {
        let world = saved(50);
        let text = std::fs::read_to_string(log(&world)).unwrap();
        world.hand_write("api.jsonl", text.replace(then, now));
        killed_at(&world, &strace, at, &[AGENT_KNOWLEDGE, "verify", "--accept"]);
        let (exit, _, text) = verified(&world, &[]);
        let changes = text.lines().filter(|line| line.starts_with("CHANGED")).count();
        let expected = if at == after { (Some(0), 0) } else { (Some(1), 1) };
        assert_eq!((exit, changes), expected, "{at:?}: {text}");
        world.agent_knowledge(&["verify", "--accept"]).done();
        (0..2).for_each(|_| drop(world.log_memory(&SAVE).done()));
        let (exit, _, text) = verified(&world, &[]);
        assert_eq!(exit, Some(0), "{at:?}: {text}");
    }
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
    let accepted = "api.jsonl: lines 51-53 were deleted; a person accepted that at ";
    assert!(exit == Some(0) && text.contains(accepted), "{text}");
    assert!(world.agent_knowledge(&["doctor"]).output.contains("50 lines in 1 log are as they"));
    std::fs::remove_file(log(&world)).unwrap();
    let (exit, _, text) = verified(&world, &[]);
    assert!(exit == Some(1) && text.contains("api.jsonl: the log is gone (50 lines)\n"), "{text}");
    let doctor = world.agent_knowledge(&["doctor"]).output;
    assert!(doctor.contains("api.jsonl is gone (50 lines)"), "{doctor}");
}

// S-VERIFY-1, S-CHAIN-4
#[test]
fn a_changed_mirror_is_deleted_and_fetched_again() {
    let team = World::new();
    let remote = team.path("memory.git").display().to_string();
    team.git(&team.path("memory.git"), &["init", "--quiet", "--bare"]);
    let [ana, bo] = ["ana", "bo"].map(|name| {
        let world = World::new();
        world.configure(&format!("[sync]\nremote = {remote:?}\nshare = [\"api\"]\n"));
        let lesson = format!("{name} learnt this");
        world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", &lesson]).done();
        world.agent_knowledge(&["sync", "--yes"]).done();
        world
    });
    drop(ana);
    let (_, told, text) = verified(&bo, &[]);
    assert_eq!(text, "1 log, 1 mirror, 1 line, 1 event: no problems found\n");
    let mirror = Path::new(told["mirrors"][0]["log"].as_str().unwrap()).to_owned();
    let before = std::fs::read_to_string(&mirror).unwrap();
    std::fs::write(&mirror, before.replace("ana learnt", "bob learnt")).unwrap();
    let (exit, told, text) = verified(&bo, &[]);
    assert_eq!((exit, &told["changed_logs"]), (Some(1), &json!(0)), "{text}");
    assert!(text.contains("delete a changed mirror: the next agent-knowledge sync"), "{text}");
    std::fs::remove_file(&mirror).unwrap();
    assert_eq!(verified(&bo, &[]).0, Some(0));
    bo.agent_knowledge(&["sync"]).done();
    assert_eq!(std::fs::read_to_string(&mirror).unwrap(), before);
    let (exit, told, text) = verified(&bo, &[]);
    let head = &told["mirrors"][0]["chain"]["head"];
    assert_eq!((exit, &head["lines"]), (Some(0), &json!(1)), "{text}");
}

// S-CHAIN-4
#[test]
fn only_the_newest_acceptance_is_told() {
    let world = saved(50);
    for (then, now) in [("m20", "M20"), ("m4\"", "M4\"")] {
        let text = std::fs::read_to_string(log(&world)).unwrap();
        world.hand_write("api.jsonl", text.replace(then, now));
        let told = world.agent_knowledge(&["verify", "--accept"]).done();
        assert!(told.contains("api.jsonl: 1 change; the chain begins anew"), "{told}");
    }
    let text = world.agent_knowledge(&["verify"]).done();
    assert!(text.contains("api.jsonl: line 5 was edited; a person accepted that at 20"), "{text}");
    assert_eq!(text.matches("a person accepted").count(), 1, "{text}");
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
    for told in [": 1 line\n", ": 45 lines, to 000001.jsonl.gz\n"] {
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

// S-CHAIN-7
#[test]
fn a_head_kept_elsewhere_shows_a_log_made_anew() {
    let script = BY_HAND.split("```bash\n").nth(3).unwrap().split("```").next().unwrap();
    let world = saved(40);
    let (_, told, _) = verified(&world, &[]);
    let head = &told["logs"][0]["chain"]["head"];
    let length = std::fs::metadata(log(&world)).unwrap().len();
    assert_eq!((&head["lines"], &head["bytes"]), (&json!(43), &json!(length)), "{head}");
    let compared = |log: &Path| {
        let (begin, hash) = (head["begin"].as_str().unwrap(), head["hash"].as_str().unwrap());
        let mut bash = Command::new("bash");
        bash.arg("-c").arg(script).arg("check").arg(log).args([begin, hash, "43"]);
        String::from_utf8(bash.output().unwrap().stdout).unwrap()
    };
    world.log_memory(&SAVE).done();
    let copy = world.path("copy");
    std::fs::copy(log(&world), &copy).unwrap();
    assert_eq!(compared(&copy), "begins with the 43 lines of that head\n");
    let text = std::fs::read_to_string(log(&world)).unwrap();
    world.hand_write("api.jsonl", text.replace("m7", "M7"));
    [CHAIN, LOCK].iter().for_each(|file| std::fs::remove_file(world.store().join(file)).unwrap());
    world.log_memory(&SAVE).done();
    assert_eq!(verified(&world, &[]).0, Some(0), "both were made anew");
    assert_eq!(compared(&log(&world)), "not the lines of that head\n");
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
    std::fs::write(world.store().join(CHAIN), chain).unwrap();
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
    let chain = world.store().join(CHAIN);
    let before = std::fs::read(&chain).unwrap();
    world.log_memory(&SAVE).done();
    assert_eq!(std::fs::read(&chain).unwrap(), before);
    let (exit, _, text) = verified(&world, &[]);
    assert!(exit == Some(1) && text.contains("its chain was not checked"), "{text}");
    assert_eq!(world.log_lines("api.jsonl").len(), 33);
}
