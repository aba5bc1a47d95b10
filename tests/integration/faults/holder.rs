//! A second process of this test program that holds a lock until it is let go. Not here: what others do
//! meanwhile (`stopped`).

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use store::{FileLock, StoreError};

use super::worker::{Worker, task};

/// The variable that carries the task.
const LOCK: &str = "AGENT_KNOWLEDGE_FAULTS_LOCK";

/// Another process that holds a lock; the lock is free once this is dropped.
pub struct Holder(Worker);

impl Holder {
    /// Returns once the lock is held.
    pub fn of(lock: &Path) -> Self {
        let mut command = Worker::command("holder::one_process_holds_a_lock_until_it_is_let_go");
        let mut worker = Worker::start(command.env(LOCK, lock));
        let mut lines = BufReader::new(worker.child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "held"), "the lock could not be taken");
        Self(worker)
    }

    pub fn process(&self) -> u32 {
        self.0.child.id()
    }
}

// S-STORE-3
#[test]
fn one_process_holds_a_lock_until_it_is_let_go() {
    let own = tempfile::tempdir().unwrap();
    let told = task(LOCK).map(PathBuf::from);
    let path = told.clone().unwrap_or(own.path().join("lock"));
    let held = FileLock::acquire(&path, 0).unwrap();
    if told.is_some() {
        // A line of its own: the test runner may have left one unfinished.
        println!("\nheld");
        // Until our input ends, or we are killed.
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    }
    assert!(matches!(FileLock::acquire(&path, 0), Err(StoreError::Busy { .. })));
    drop(held);
    FileLock::acquire(&path, 0).unwrap();
}
