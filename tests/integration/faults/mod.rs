//! The fault kit: the promises about crashes, full disks, failing system calls, stopped processes, lost
//! hints and lost power, each shown on the real programs. One module per promise; this file has the
//! sizes and the report. Not here: what writers do to each other on a good day (`many_writers`).
//!
//! Run with everything else it takes its short form; `scripts/faults` runs the long one.

// Old lines on their way to a segment.
mod archive;
// Logs that are repeated and shuffled.
mod digest;
// Full disks.
pub mod disk_full;
// Files that may not grow, and the signal for it.
mod file_size_limit;
// Durable writers that wait for the disk together.
mod group_commit;
// A process that holds a lock.
mod holder;
// A server that missed every hint, or has no watcher, still finds everything.
mod lost_hints;
// Lost power, on a model of a disk.
mod power_loss;
// Many processes that append without a pause.
mod processes;
// Logs that are replaced while writers write.
mod replaced;
// A stopped process that holds the lock.
mod stopped;
// Writers killed at any moment.
mod storm;
// System calls that fail.
mod system_calls;
// What a second process of this program does.
mod worker;

use std::path::Path;
use std::process::Command;

use event::Event;

use crate::world::event;

/// Chooses between the short form, run with all the other tests, and the long one.
fn sized(short: usize, long: usize) -> usize {
    if std::env::var_os("AGENT_KNOWLEDGE_FAULTS").is_some_and(|form| form == "long") {
        long
    } else {
        short
    }
}

/// Tells `scripts/faults` what was done for a promise and what came of it. Called after the last
/// assertion, so that nothing is told that did not hold.
fn tell(promise: &str, done: &str, result: &str) {
    // A line of its own: the test runner may have left one unfinished.
    println!("\nfault | {promise} | {done} | {result}");
}

/// What stands in a log: its events, and the lines that hold none.
struct Contents {
    events: Vec<Event>,
    torn: Vec<Vec<u8>>,
}

/// Reads a log whose last line must be complete.
#[track_caller]
fn contents(log: &Path) -> Contents {
    let bytes = std::fs::read(log).unwrap();
    let bytes = bytes.strip_suffix(b"\n").expect("the last line has its line break");
    let mut contents = Contents { events: Vec::new(), torn: Vec::new() };
    for line in bytes.split(|byte| *byte == b'\n') {
        match event(line) {
            Some(event) => contents.events.push(event),
            None => contents.torn.push(line.to_vec()),
        }
    }
    contents
}

/// Sends a signal by its name to a process that a test started.
#[track_caller]
fn signal(name: &str, process_id: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process_id.to_string()]).status();
    assert!(sent.unwrap().success(), "kill -{name} {process_id}");
}
