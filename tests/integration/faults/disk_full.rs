//! P5: a full disk never corrupts. A file system of one megabyte, a limit on the size of files, and
//! an output that takes nothing. Not here: failures that a full disk only resembles (`system_calls`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::system_calls::log_memory_with;
use super::{contents, tell};
use crate::pieces;
use crate::world::{LOG_MEMORY, Ran, World, run};

/// A file system of its own, one megabyte in size; gone when dropped.
pub struct Small(PathBuf);

impl Small {
    /// Only root may mount, and not everywhere.
    pub fn mounted_at(path: PathBuf) -> Option<Self> {
        std::fs::create_dir(&path).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(&path)
            .output();
        if !mount.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: only root may mount a small file system");
            return None;
        }
        Some(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.0).status();
        let is_gone = unmounted.is_ok_and(|status| status.success());
        assert!(is_gone || std::thread::panicking(), "{} stays mounted", self.0.display());
    }
}

/// Appends until nothing more fits, and returns how many were acknowledged and the refusal.
fn fill(world: &World, store: &Path, lesson: &str) -> (usize, Ran) {
    let store = store.to_str().unwrap();
    let args = ["--logs", store, "--repo", "api", "--type", "fact", "--lesson", lesson];
    let mut written = 0;
    loop {
        let ran = world.log_memory(&args);
        if ran.exit != Some(0) {
            return (written, ran);
        }
        written += 1;
        assert!(written < 20_000, "it never gets full");
    }
}

// S-STORE-3
#[test]
fn a_full_disk_refuses_whole_events_until_there_is_room() {
    let world = World::new();
    // After the world, so that it is unmounted before the world is removed.
    let Some(small) = Small::mounted_at(world.path("small")) else { return };
    let (store, ballast) = (small.0.join("logs"), small.0.join("ballast"));
    std::fs::write(&ballast, vec![b'x'; 128 * 1024]).unwrap();
    let mut events = 0;
    // Small events still fit where a large one did not.
    for lesson in ["x".repeat(30_000), "x".repeat(2_000), "x".repeat(20)] {
        let (written, refused) = fill(&world, &store, &lesson);
        events += written;
        assert!(written > 0, "{} bytes: {}", lesson.len(), refused.messages);
        assert_eq!((refused.exit, refused.output.as_str()), (Some(74), ""), "{}", refused.messages);
        assert!(refused.messages.contains("No space left"), "{}", refused.messages);
        let found = contents(&store.join("api.jsonl"));
        assert_eq!((found.events.len(), found.torn.len()), (events, 0));
    }
    std::fs::remove_file(ballast).unwrap();
    let (written, _) = fill(&world, &store, &"x".repeat(30_000));
    assert!(written >= 3, "only {written} fitted into the room that was made");
    let found = contents(&store.join("api.jsonl"));
    assert_eq!((found.events.len(), found.torn.len()), (events + written, 0));
    tell(
        "P5",
        "tmpfs of 1 MiB filled with lines of 30 kB, 2 kB and 250 bytes, then room made",
        &format!("{events} events, exit 74, 0 torn, ends in a line break; {written} more after"),
    );
}

/// Runs `log-memory` where no file may grow past a length (in blocks of 512 bytes, as POSIX has it).
/// `before` is what the shell does first.
pub fn limited(world: &World, before: &str, blocks: u64, args: &[&str]) -> Command {
    let mut command = world.command("sh");
    command.args(["-c", &format!("{before} ulimit -f {blocks}; exec \"$@\""), "sh", LOG_MEMORY]);
    command.args(args);
    command
}

/// Fills a log up to a limit on its size, checks every refusal, and appends again without the limit.
pub fn assert_limit_is_survived(before: &str) -> usize {
    let world = World::new();
    let log = world.store().join("api.jsonl");
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "first"]).done();
    let (mut events, mut refusals) = (1, 0);
    for bytes in [9_000, 5_000, 3_000, 700, 200, 20, 1] {
        let lesson = "x".repeat(bytes);
        let args = ["--repo", "api", "--type", "fact", "--lesson", &lesson];
        loop {
            let ran = run(&mut limited(&world, before, 64, &args), b"");
            if ran.exit == Some(0) {
                events += 1;
                continue;
            }
            refusals += 1;
            assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""), "{}", ran.messages);
            assert!(ran.messages.contains("nothing was lost"), "{}", ran.messages);
            break;
        }
        let found = contents(&log);
        assert_eq!((found.events.len(), found.torn.len()), (events, 0), "{bytes} bytes");
    }
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "after"]).done();
    let found = contents(&log);
    assert_eq!((found.events.len(), found.torn.len()), (events + 1, 0));
    refusals
}

// S-STORE-3
#[test]
fn a_limit_on_file_sizes_refuses_events_whole() {
    // As programs written in Python start others: with the signal for it ignored.
    let refusals = assert_limit_is_survived("trap '' XFSZ;");
    tell(
        "P5",
        "RLIMIT_FSIZE of 32 kB, SIGXFSZ ignored by the caller; lines of 9 kB to 250 bytes",
        &format!("{refusals} short writes taken back (exit 74), 0 torn; next append works"),
    );
}

// S-STORE-3
#[test]
fn a_short_write_that_cannot_be_taken_back_costs_only_itself() {
    let Some(strace) = pieces::strace() else { return };
    let world = World::new();
    let log = world.store().join("api.jsonl");
    let args = ["--repo", "api", "--type", "fact", "--lesson", "whole"];
    world.log_memory(&args).done();
    let whole_bytes = std::fs::metadata(&log).unwrap().len();
    // The limit cuts the write short; strace then forbids to take the part back.
    let script = world.path("limited");
    let text = "#!/bin/sh\ntrap '' XFSZ\nulimit -f 4\nexec \"$@\"\n";
    std::fs::write(&script, text).unwrap();
    let mut command = world.command("sh");
    command.arg(&script).arg(&strace).arg("-o").arg(world.path("trace")).arg("-P").arg(&log);
    command.args(["-e", "trace=ftruncate", "-e", "inject=ftruncate:error=EIO"]);
    let lesson = "y".repeat(3_000);
    command.arg(LOG_MEMORY).args(["--repo", "api", "--type", "fact", "--lesson", &lesson]);
    let ran = run(&mut command, b"");
    assert_eq!((ran.exit, ran.output.as_str()), (Some(74), ""), "{}", ran.messages);
    assert!(ran.messages.contains("roll back"), "{}", ran.messages);
    let torn_bytes = std::fs::metadata(&log).unwrap().len();
    assert!(torn_bytes > whole_bytes, "nothing was cut short");
    world.log_memory(&args).done();
    let found = contents(&log);
    assert_eq!((found.events.len(), found.torn.len()), (2, 1));
    let next = log_memory_with(&world, &strace, &log, "write:error=EINTR:when=1", &args);
    assert_eq!(next.exit, Some(0), "{}", next.messages);
    assert_eq!(contents(&log).events.len(), 3);
    tell(
        "P5",
        "RLIMIT_FSIZE and a failing ftruncate: the short write stays",
        "exit 74; the next append seals it: 1 torn line, nothing else lost",
    );
}

// S-WRITE-5
#[test]
fn a_full_output_does_not_hide_a_written_event() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: this system has no /dev/full");
        return;
    }
    let world = World::new();
    let json = r#"{"repo":"api","event_type":"fact","lesson":"by json"}"#;
    let flags: &[&str] = &["--repo", "api", "--type", "fact", "--lesson", "by flags"];
    for args in [flags, &["--json", "-"]] {
        let script = "exec \"$@\" > /dev/full";
        let mut command = world.command("sh");
        command.args(["-c", script, "sh", LOG_MEMORY]).args(args);
        let ran = run(&mut command, json.as_bytes());
        assert_eq!(ran.exit, Some(74), "{}", ran.messages);
        assert!(ran.messages.contains("do not send"), "{}", ran.messages);
    }
    let found = contents(&world.store().join("api.jsonl"));
    assert_eq!((found.events.len(), found.torn.len()), (2, 0));
    let status: Value = world.asked(&["status"]);
    assert_eq!(status["memories"], 2, "{status}");
    tell("P5", "stdout is /dev/full", "exit 74, stderr says it is written; it is");
}
