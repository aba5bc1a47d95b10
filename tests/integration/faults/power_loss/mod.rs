//! P2: what was acknowledged with `--durable` survives the loss of power; what was only written says so.
//! The real writer's file operations are recorded, every prefix of them is replayed on a model of a disk
//! that forgets what was not synced, and the real reader and writer go on with what is left. Not here: a
//! real disk or a simulator below the file system (such as LazyFS, which needs FUSE): the model trusts a
//! disk that says it has synced.

// Stores whose makers were killed, or not durable.
mod born_unsynced;
// What a disk may have kept.
mod disk;
// The real writer's file operations.
mod recording;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use event::{DecodedLine, Draft, Timestamp, codec};
use serde_json::{Value, json};
use settings::Config;
use store::{Durability, Store, Tail, make_private_dir};
use writer::{Identity, Moment, Writer};

use self::disk::{Disk, Files};
use self::recording::{Operation, Recorder};
use super::{sized, tell};
use crate::pieces;
use crate::world::World;

/// The store, below the place that stood before: its folders are made by the first writer.
const STORE: &str = "new/agent-knowledge/logs";

/// What was found over all moments at which the power could go.
#[derive(Default)]
struct PowerLossResult {
    moments: usize,
    states: usize,
    durable_lost: BTreeSet<String>,
    written_lost: BTreeSet<String>,
}

/// Whether the real writer goes on with each state as well.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Read,
    ReadAndAppend,
}

/// Lets the power go after each operation, with everything a disk may have kept by then.
fn lose_power(operations: &[Operation], then: Then) -> PowerLossResult {
    let step_bytes = sized(7, 1);
    let (mut found, mut disk, mut seen) =
        (PowerLossResult::default(), Disk::default(), BTreeMap::new());
    let issued = issued(operations);
    let (mut durable, mut written) = (BTreeSet::new(), BTreeSet::new());
    for operation in operations {
        if let Operation::Acknowledged { ids, durability } = operation {
            let acknowledged =
                if *durability == Durability::Synced { &mut durable } else { &mut written };
            acknowledged.extend(ids.iter().cloned());
        }
        disk.apply(operation);
        found.moments += 1;
        for files in disk.after_power_loss(step_bytes) {
            let mut hasher = DefaultHasher::new();
            files.hash(&mut hasher);
            // Seen before, it reads the same; only more may have been acknowledged since.
            let readable = seen.entry(hasher.finish()).or_insert_with(|| {
                let left = Left::of(&files);
                let readable = left.readable(&issued);
                if then == Then::ReadAndAppend {
                    left.assert_next_append_works(&readable, &issued);
                }
                readable
            });
            found.durable_lost.extend(durable.difference(readable).cloned());
            found.written_lost.extend(written.difference(readable).cloned());
        }
    }
    found.states = seen.len();
    found
}

/// Every line that was ever written to a log, by the id of its event.
fn issued(operations: &[Operation]) -> BTreeMap<String, Vec<u8>> {
    let mut issued = BTreeMap::new();
    for operation in operations {
        let Operation::Write { bytes, .. } = operation else { continue };
        for line in bytes.split(|byte| *byte == b'\n') {
            if let DecodedLine::Event(event) = codec::decode(line, "") {
                issued.insert(event.id.as_str().to_owned(), line.to_vec());
            }
        }
    }
    issued
}

/// What a disk kept, as files that the real programs can open.
struct Left {
    _folder: tempfile::TempDir,
    store: PathBuf,
}

/// Puts files where real programs can open them.
fn make(files: &Files, folder: &Path) {
    for (path, bytes) in files {
        let path = folder.join(path);
        match bytes {
            Some(bytes) => std::fs::write(path, bytes).unwrap(),
            None => make_private_dir(&path).unwrap(),
        }
    }
}

impl Left {
    fn of(files: &Files) -> Self {
        // Thousands of stores that live for a millisecond: in memory, where there is such a place.
        let memory = Some(Path::new("/dev/shm")).filter(|folder| folder.is_dir());
        let folder = memory.map_or_else(tempfile::tempdir, tempfile::tempdir_in).unwrap();
        make(files, folder.path());
        Self { store: folder.path().join(STORE), _folder: folder }
    }

    /// The ids that the reader finds; fails where it takes anything for an event that is not one.
    fn readable(&self, issued: &BTreeMap<String, Vec<u8>>) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        let store = Store::at(&self.store);
        for log in [store.logs().unwrap(), store.spooled().unwrap()].concat() {
            let take = |line: store::LogLine<'_>| {
                if let DecodedLine::Event(event) = codec::decode(line.bytes, "") {
                    let id = event.id.as_str().to_owned();
                    // A blank line before it may have lost its end.
                    let blank = line.bytes.iter().take_while(|byte| **byte == 0).count();
                    let bytes = &line.bytes[blank..];
                    let is_whole = issued.get(&id).is_none_or(|issued| issued == bytes);
                    assert!(
                        is_whole && (issued.contains_key(&id) || id == NEXT),
                        "{id} is damaged"
                    );
                    ids.insert(id);
                }
            };
            Tail::from_beginning(log).read(take).unwrap();
        }
        ids
    }

    /// Checks that the next event is appended, that it is on a line of its own, and that nothing
    /// that could be read before is gone.
    fn assert_next_append_works(
        &self,
        before: &BTreeSet<String>,
        issued: &BTreeMap<String, Vec<u8>>,
    ) {
        let writer = Writer {
            store: Store::at(&self.store),
            config: Config::default(),
            directory: self.store.clone(),
            identity: Identity { agent_id: "tester".into(), ..Identity::default() },
        };
        let text = |text: &str| Some(text.to_owned());
        for repo in ["api", "web"] {
            let draft = Draft {
                id: text(NEXT),
                repo: text(repo),
                event_type: text("fact"),
                lesson: text("after the power came back"),
                ..Draft::default()
            };
            let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
            writer.record(draft, Moment { now, random: 1 }, Durability::Written).unwrap();
            let log = std::fs::read(self.store.join(format!("{repo}.jsonl"))).unwrap();
            let last = log.strip_suffix(b"\n").unwrap().rsplit(|byte| *byte == b'\n').next();
            assert!(last.unwrap().starts_with(format!("{{\"id\":\"{NEXT}\"").as_bytes()));
        }
        let after = self.readable(issued);
        assert!(before.is_subset(&after), "the next append cost an event");
        assert!(after.contains(NEXT));
    }
}

/// The id of the event that is appended after the power came back.
const NEXT: &str = "NEXT";

fn args(repo: &'static str, lesson: &'static str) -> [&'static str; 6] {
    ["--repo", repo, "--type", "fact", "--lesson", lesson]
}

/// A batch of three events of two repositories.
fn batch() -> String {
    let event = |repo: &str, number: usize| json!({ "repo": repo, "event_type": "fact", "lesson": format!("batch {number}") });
    Value::from(vec![event("api", 1), event("web", 2), event("api", 3)]).to_string()
}

/// Writers of both kinds, one after the other, four at once, and beside a lock that is held, into a store
/// that the first one makes.
fn record_writers(world: &World, strace: &Path, first: Durability) -> Vec<Operation> {
    let mut recorder = Recorder::new(world, strace, STORE);
    let (durable, written) = (Durability::Synced, Durability::Written);
    recorder.run(first, &args("api", "the first makes the store"), "");
    recorder.run(durable, &args("api", "a durable one"), "");
    recorder.run(written, &args("api", "one that is only written"), "");
    recorder.run(written, &["--json", "-"], &batch());
    recorder.run(durable, &["--json", "-"], &batch());
    recorder.run(written, &args("web", "written to another log"), "");
    recorder.run_at_once(4, durable, &args("api", "four durable ones at once"));
    recorder.run(durable, &args("web", "durable, in another log"), "");
    let lock = world.path(STORE).join(".locks/api.jsonl.lock");
    let held = File::options().write(true).open(lock).unwrap();
    held.lock().unwrap();
    recorder.run(written, &args("api", "written to the spool"), "");
    recorder.run(durable, &args("api", "durable, in the spool"), "");
    held.unlock().unwrap();
    recorder.run(durable, &args("api", "the next brings them in"), "");
    recorder.run(written, &args("api", "the last is only written"), "");
    recorder.operations
}

// S-STORE-4, S-STORE-6, S-LINE-7
#[test]
fn lost_power_costs_nothing_that_was_acknowledged_as_durable() {
    let Some(strace) = pieces::strace() else { return };
    let world = World::new();
    let operations = record_writers(&world, &strace, Durability::Synced);
    let found = lose_power(&operations, Then::ReadAndAppend);
    assert_eq!(found.durable_lost, BTreeSet::new());
    // The honest counterpart, and proof that the model can lose something.
    assert!(!found.written_lost.is_empty());
    let unsynced: Vec<Operation> =
        operations.iter().filter(|operation| !operation.is_sync()).cloned().collect();
    let without = lose_power(&unsynced, Then::Read);
    assert!(!without.durable_lost.is_empty(), "without a sync everything can be lost");
    tell(
        "P2",
        &format!("{} moments of lost power, {} states of the disk", found.moments, found.states),
        &format!(
            "durable: 0 lost; only written: {} lost at some moment; next append works",
            found.written_lost.len()
        ),
    );
}

// S-STORE-4, S-WRITE-5
#[test]
fn a_receipt_says_what_it_survives() {
    let world = World::new();
    for (options, status) in [(&[][..], "written"), (&["--durable"], "synced")] {
        let report = world.log_memory_json(batch(), options).done();
        for line in report.lines() {
            let report: Value = serde_json::from_str(line).unwrap();
            assert_eq!(report["status"], status, "{line}");
        }
        assert_eq!(report.lines().count(), 3);
    }
    tell("P2", "receipts of --json", "written without --durable, synced with it");
}
