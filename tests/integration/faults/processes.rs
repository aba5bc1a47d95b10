//! P4: any number of processes append at once and lose, tear or repeat nothing. Long-lived writers that
//! append without a pause, through the door of the library, and one process per event. Not here:
//! writers that die (`storm`).

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Instant;

use super::worker::{Worker, lesson};
use super::{sized, tell};
use crate::world::{World, event};

/// Checks what the log holds when one more event is written, which brings in what may still wait.
fn assert_holds_exactly(world: &World, mut printed: BTreeSet<String>, workers: usize, each: usize) {
    let last = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "last"]).done();
    printed.insert(last.trim_end().to_owned());
    let log = world.store().join("api.jsonl");
    // Line by line: it may be too much to keep.
    let mut lines = BufReader::new(std::fs::File::open(log).unwrap());
    let (mut ids, mut lessons, mut line) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    while lines.read_until(b'\n', &mut line).unwrap() > 0 {
        assert_eq!(line.pop(), Some(b'\n'), "the last line is torn");
        let event = event(&line).expect("no torn line");
        assert!(ids.insert(event.id.as_str().to_owned()), "{} came twice", event.id);
        assert!(lessons.insert(event.lesson), "a lesson came twice");
        line.clear();
    }
    assert_eq!(ids.len(), workers * each + 1);
    assert!(ids == printed, "acknowledged and written differ");
    for (worker, number) in (0..workers).flat_map(|worker| (0..each).map(move |n| (worker, n))) {
        assert!(lessons.contains(&lesson(worker, number)), "{worker}/{number} is lost or mixed");
    }
}

/// Runs all workers at once, and gathers what they acknowledged.
fn at_once(workers: usize, work: impl Fn(usize) -> Vec<String> + Sync) -> BTreeSet<String> {
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

// S-STORE-5
#[test]
fn processes_that_append_without_a_pause_lose_nothing() {
    let (workers, each) = (sized(16, 64), sized(200, 10_000));
    let world = World::new();
    let start = Instant::now();
    let printed =
        at_once(workers, |worker| Worker::appending(&world.store(), worker, each).acknowledged());
    let took = start.elapsed();
    assert_holds_exactly(&world, printed, workers, each);
    tell(
        "P4",
        &format!("{workers} processes x {each} appends each, without a pause"),
        &format!("{} events: 0 lost, 0 torn, 0 twice; {:.1} s", workers * each, took.as_secs_f64()),
    );
}

// S-STORE-5
#[test]
fn a_process_for_each_event_from_many_sides_loses_nothing() {
    let (workers, each) = (sized(16, 64), sized(20, 300));
    let world = World::new();
    let start = Instant::now();
    let printed = at_once(workers, |worker| {
        let write = |number| {
            let lesson = lesson(worker, number);
            let args = ["--repo", "api", "--type", "fact", "--lesson", &lesson];
            world.log_memory(&args).done().trim_end().to_owned()
        };
        (0..each).map(write).collect()
    });
    let took = start.elapsed();
    assert_holds_exactly(&world, printed, workers, each);
    tell(
        "P4",
        &format!("{workers} sides x {each} runs of log-memory, one process per event"),
        &format!("{} events: 0 lost, 0 torn, 0 twice; {:.1} s", workers * each, took.as_secs_f64()),
    );
}
