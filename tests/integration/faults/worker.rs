//! What a second process of this test program does: it runs one test, which takes its task from the
//! environment and without one has a small task of its own. Here: appending without a pause. Not here:
//! what that shows (`processes`).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use event::{Draft, Timestamp};
use settings::Config;
use store::{Durability, Store};
use writer::{Identity, Moment, Writer};

/// The variables that carry a task.
const STORE: &str = "AGENT_KNOWLEDGE_FAULTS_STORE";
const NUMBER: &str = "AGENT_KNOWLEDGE_FAULTS_NUMBER";
const EVENTS: &str = "AGENT_KNOWLEDGE_FAULTS_EVENTS";

/// What the worker that appends wrote, by its number.
pub fn lesson(worker: usize, number: usize) -> String {
    format!("lesson {number} of worker {worker}: {}.", "x".repeat((worker * 31 + number) % 300))
}

/// Another process of this program, at work.
pub struct Worker {
    pub child: Child,
    _input: ChildStdin,
}

impl Worker {
    /// Starts a process that appends `events` events to the store and prints their ids.
    pub fn appending(store: &Path, number: usize, events: usize) -> Self {
        let mut command = Self::command("worker::one_process_appends_all_it_was_told");
        command.env(STORE, store).env(NUMBER, number.to_string());
        Self::start(command.env(EVENTS, events.to_string()))
    }

    /// This program, told to run one test of the kit.
    pub fn command(test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("faults::{test}"), "--nocapture"]);
        command
    }

    /// Starts it; its input ends with the worker.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        Self { child, _input: input }
    }

    /// Waits for its end and returns the ids it printed.
    pub fn acknowledged(mut self) -> Vec<String> {
        let lines = BufReader::new(self.child.stdout.take().unwrap()).lines();
        let ids = lines
            .map(Result::unwrap)
            .filter_map(|line| line.strip_prefix("ack ").map(str::to_owned))
            .collect();
        assert!(self.child.wait().unwrap().success(), "a worker failed");
        ids
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The task that was given under a name.
pub fn task(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.into_string().unwrap())
}

// S-WRITE-1
#[test]
fn one_process_appends_all_it_was_told() {
    let own = tempfile::tempdir().unwrap();
    let store = task(STORE).map_or(own.path().join("logs"), PathBuf::from);
    let number = |name, otherwise| task(name).map_or(otherwise, |task| task.parse().unwrap());
    let (worker, events): (usize, usize) = (number(NUMBER, 0), number(EVENTS, 20));
    let writer = Writer {
        store: Store::at(&store),
        config: Config::default(),
        directory: own.path().to_owned(),
        identity: Identity { agent_id: format!("worker{worker}").into(), ..Identity::default() },
    };
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    for event in 0..events {
        let draft = Draft {
            repo: Some("api".into()),
            event_type: Some("fact".into()),
            lesson: Some(lesson(worker, event)),
            ..Draft::default()
        };
        // No two workers draw the same bits.
        let random = (u128::try_from(worker).unwrap() << 64) + u128::try_from(event).unwrap();
        let receipt = writer.record(draft, Moment { now, random }, Durability::Written).unwrap();
        // A line of its own: the test runner may have left one unfinished.
        println!("\nack {}", receipt.id);
    }
    if task(STORE).is_none() {
        let log = std::fs::read_to_string(store.join("api.jsonl")).unwrap();
        assert_eq!(log.lines().count(), events);
    }
}
