//! Collections of memories with queries: our lessons, and the turns of LoCoMo where this machine has them. Each is a snapshot
//! that the engine of one machine made. Not here: what is asked of them (`promises`).

use std::path::{Path, PathBuf};

use corpus::Viewpoint;
use engine::watch::WatchMode;
use engine::{Engine, EngineSetup};
use event::{StoreOrigin, Timestamp};
use index::vector::VectorIndex;
use memory::MemoryBound;
use search::snapshot::Snapshot;
use serde_json::{Value, json};
use settings::{Config, SyncPolicy};
use store::Store;

/// Numbers of a vector of the model.
pub const DIMENSIONS: usize = 384;

/// A collection.
pub struct Collection {
    pub snapshot: Snapshot,
    pub queries: Vec<AskedText>,
}

impl Collection {
    /// Keeps one of so many queries.
    pub fn keep_every(&mut self, count: usize) {
        let mut place = 0..;
        self.queries
            .retain(|_| place.next().is_some_and(|place: usize| place.is_multiple_of(count)));
    }
}

/// A query of a collection.
pub struct AskedText {
    pub text: String,
    pub repo: Option<String>,
}

/// When the tests search: after every line.
pub fn now() -> Timestamp {
    "2026-11-26T00:00:00Z".parse().unwrap()
}

pub fn viewpoint() -> Viewpoint {
    Viewpoint { own: StoreOrigin::mint("laptop", 7), policy: SyncPolicy::default() }
}

/// The lessons of our benchmark.
pub fn lessons() -> Collection {
    let folder = root().join("benches/lessons");
    let lines: Vec<Value> = lines_of(&folder.join("corpus.jsonl"));
    Collection { snapshot: snapshot(&lines), queries: queries(&folder) }
}

/// The turns of LoCoMo, of which each names its speaker. `None` where this machine has none.
pub fn turns() -> Option<Collection> {
    let folder = root().join("../shared/data/eval/locomo");
    if !folder.is_dir() {
        let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!is_ci, "shared/data/eval/locomo is missing, and CI may not skip what needs it");
        eprintln!("skipped: shared/data/eval/locomo is missing");
        return None;
    }
    let turns = lines_of(&folder.join("corpus.jsonl"));
    let (mut lines, mut session, mut last) = (Vec::new(), 0, None);
    for (second, turn) in (0..).zip(turns) {
        let sitting = (turn["timestamp"].clone(), turn["group"].clone());
        if last.replace(sitting.clone()) != Some(sitting) {
            session += 1;
        }
        let at = Timestamp::from_second(1_700_000_000 + 86_400 * session + second).unwrap();
        lines.push(json!({
            "id": turn["id"], "timestamp": at.to_string(), "agent_id": "eval", "repo": turn["group"],
            "event_type": "fact", "lesson": turn["text"], "source": "agent", "session_id": format!("s{session}"),
        }));
    }
    Some(Collection { snapshot: snapshot(&lines), queries: queries(&folder) })
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lines_of(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn queries(folder: &Path) -> Vec<AskedText> {
    let asked = |query: Value| AskedText {
        text: query["text"].as_str().unwrap().to_owned(),
        repo: query["group"].as_str().map(str::to_owned),
    };
    lines_of(&folder.join("queries.jsonl")).into_iter().map(asked).collect()
}

/// Folds lines of which each is a memory.
pub fn snapshot(lines: &[Value]) -> Snapshot {
    let snapshot = folded(lines);
    assert_eq!(snapshot.memories().len(), lines.len());
    snapshot
}

/// Folds lines as the retriever does, from a log.
pub fn folded(lines: &[Value]) -> Snapshot {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(logs.join("all.jsonl"), text).unwrap();
    let engine = Engine::start(EngineSetup {
        store: Store::at(logs),
        config: Config::default(),
        bound: MemoryBound::NONE,
        watching: WatchMode::PollOnly,
        dense: None,
        checkpoints: None,
    });
    engine.unwrap().snapshot().unwrap()
}

/// Gives every memory a vector, made of its words.
pub fn with_vectors(mut snapshot: Snapshot) -> Snapshot {
    let mut vectors = VectorIndex::new(DIMENSIONS);
    for (number, memory) in (0..).zip(snapshot.memories().iter()) {
        vectors.set(number, &direction(&memory.meaning_text())).unwrap();
    }
    snapshot.vectors = Some(vectors);
    snapshot
}

/// A vector in which texts with common words are near each other.
pub fn direction(text: &str) -> Vec<f32> {
    let mut sum = vec![0.01; DIMENSIONS];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 3) {
        let mut state = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        for number in &mut sum {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *number += if state & 1 == 0 { 1.0 } else { -1.0 };
        }
    }
    sum
}
