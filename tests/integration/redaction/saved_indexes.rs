//! What a retriever saves of the logs to begin with the next time, and vectors: of lines that another program wrote with secrets in
//! them. Not here: the index of past sessions (`redaction`).

use std::time::{Duration, Instant};

use serde_json::json;

use super::{assert_clean, secret_runs};
use crate::pieces;
use crate::raw_client::{Client, Era};
use crate::session_secrets::SecretRuns;
use crate::world::{World, bytes_under};
use guard::secrets::daily_forms::{PlantedSecret, one_in_each};

/// How long a retriever may take until it saves its indexes: it waits for ten quiet seconds.
const SAVED: Duration = Duration::from_secs(90);

/// Less than the indexes of all texts take.
const INDEXES_BYTES_MIN: usize = 100_000;

/// A line of another program holds a text, and the secret in it, in every field that is searched.
fn raw_lines(planted: &[PlantedSecret]) -> String {
    let line = |(number, one): (usize, &PlantedSecret)| {
        let text = &one.text;
        json!({ "id": format!("m{number}"), "timestamp": "2026-01-02T03:04:05Z", "repo": "github.com/acme/api", "event_type": "error",
            "lesson": text, "context": text, "command": text, "symptoms": [text] })
    };
    planted.iter().enumerate().map(|one| format!("{}\n", line(one))).collect()
}

/// Looks at every file but the log that this test wrote.
#[track_caller]
fn assert_saved_clean(world: &World, runs: &SecretRuns) {
    let log = world.store().join("github.com+acme+api.jsonl");
    let raw = std::fs::read(&log).unwrap();
    std::fs::write(&log, "").unwrap();
    assert_clean(world, runs);
    std::fs::write(&log, raw).unwrap();
}

// S-WRITE-8
// P13
#[test]
fn no_secret_of_a_log_is_in_a_saved_index() {
    let world = World::sharing();
    let planted = one_in_each();
    let runs = SecretRuns::of(secret_runs(&planted));
    world.hand_write("github.com+acme+api.jsonl", raw_lines(&planted));
    let mut client = Client::open(&world, Era::Modern);
    client.wait_for_all();
    let (start, folder) = (Instant::now(), world.path("cache/index"));
    let saved_bytes = || -> usize {
        let is_there = folder.exists();
        if is_there { bytes_under(&folder).values().map(Vec::len).sum() } else { 0 }
    };
    while saved_bytes() < INDEXES_BYTES_MIN {
        assert!(start.elapsed() < SAVED, "{} bytes in {}", saved_bytes(), folder.display());
        std::thread::park_timeout(Duration::from_millis(50));
    }
    client.leave();
    assert_saved_clean(&world, &runs);
}

// S-WRITE-8
// P13
#[test]
fn no_secret_of_a_log_is_in_a_vector() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    let planted: Vec<PlantedSecret> = one_in_each().into_iter().step_by(12).collect();
    let runs = SecretRuns::of(secret_runs(&one_in_each()));
    world.hand_write("github.com+acme+api.jsonl", raw_lines(&planted));
    world.agent_knowledge(&["index"]).done();
    let is_vectors =
        |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending == "vectors");
    let cache = bytes_under(&world.path("cache"));
    assert!(cache.keys().any(is_vectors), "{:?}", cache.keys());
    assert_saved_clean(&world, &runs);
}
