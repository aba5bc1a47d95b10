//! A log that is replaced while writers write and a server reads, as git does on a checkout: a new file
//! is renamed over the old one, without our lock. What was acknowledged stood in the file that had the
//! log's name at that moment; what is replaced after that is the replacer's doing. Not here: one change
//! at a time under a reading server (`freshness`).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::{sized, tell};
use crate::raw_client::{Client, Era};
use crate::world::{World, event};

const WRITERS: usize = 4;
/// Pause between two replacements: a few appends fit in between.
const PAUSE: Duration = Duration::from_micros(300);

/// The ids that stand in some bytes.
fn ids_in(bytes: &[u8]) -> impl Iterator<Item = String> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(event).map(|event| event.id.as_str().to_owned())
}

/// Puts a file of another origin in the log's place. Returns the ids of the replaced file up to the
/// length it had when it lost its name; what came later was written to no log.
fn replace(log: &Path, number: usize) -> BTreeSet<String> {
    let Ok(mut old) = File::open(log) else { return BTreeSet::new() };
    let new = log.with_extension("new");
    let line = json!({ "id": format!("generation{number}"), "lesson": "from elsewhere" });
    std::fs::write(&new, format!("{line}\n")).unwrap();
    std::fs::rename(&new, log).unwrap();
    let length = old.metadata().unwrap().len();
    let mut bytes = Vec::new();
    old.by_ref().take(length).read_to_end(&mut bytes).unwrap();
    ids_in(&bytes).collect()
}

/// Writes until told to stop; returns what was acknowledged and how many were told to try again.
fn write(world: &World, writer: usize, each: usize) -> (Vec<String>, usize) {
    let (mut acknowledged, mut refused) = (Vec::new(), 0);
    for number in 0..each {
        let lesson = format!("walrus {writer} {number}");
        let ran = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", &lesson]);
        match ran.exit {
            Some(0) => acknowledged.push(ran.output.trim_end().to_owned()),
            // The log was replaced again and again: not acknowledged, and said so.
            Some(74) if ran.messages.contains("try again") => refused += 1,
            _ => panic!("{ran:?}"),
        }
    }
    (acknowledged, refused)
}

// S-STORE-4, S-READ-2
#[test]
fn an_acknowledged_event_is_in_the_file_of_that_name() {
    let each = sized(60, 1_500);
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "walrus"]).done();
    let log = world.store().join("api.jsonl");
    let mut client = Client::open(&world, Era::Modern);
    let is_over = AtomicBool::new(false);
    let (mut kept, written) = thread::scope(|scope| {
        let (world, log, is_over) = (&world, &log, &is_over);
        let replacer = scope.spawn(move || {
            let (mut kept, mut number) = (BTreeSet::new(), 0);
            while !is_over.load(Ordering::Relaxed) {
                kept.append(&mut replace(log, number));
                number += 1;
                thread::park_timeout(PAUSE);
            }
            (kept, number)
        });
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(world, writer, each))).collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            // The server answers all the while, of whatever is there.
            client.search("walrus");
        }
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        is_over.store(true, Ordering::Relaxed);
        (replacer.join().unwrap(), written)
    });
    let last = world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "walrus last"]);
    kept.0.extend(ids_in(&std::fs::read(&log).unwrap()));
    let acknowledged: Vec<&String> = written.iter().flat_map(|(ids, _)| ids).collect();
    let refused: usize = written.iter().map(|(_, refused)| refused).sum();
    let lost = acknowledged.iter().filter(|id| !kept.0.contains(**id)).count();
    assert_eq!(lost, 0, "of {} acknowledged", acknowledged.len());
    assert!(kept.1 > 5 && acknowledged.len() > refused, "{} replacements", kept.1);
    let shown = client.told("memory_search", &json!({"ids": [last.done().trim_end()]}));
    assert!(shown.contains("walrus last"), "{shown}");
    let recent = client.read("memory://recent")["memories"].as_array().unwrap().len();
    let afresh = world.asked(&["status"])["memories"].as_u64().unwrap();
    assert_eq!(u64::try_from(recent).unwrap(), afresh.min(20), "the server sees what is there");
    tell(
        "P1",
        &format!("{WRITERS} writers, log replaced {} times (new file renamed over it)", kept.1),
        &format!(
            "{} acknowledged, each in the file that had the name; {refused} told to try again",
            acknowledged.len()
        ),
    );
}
