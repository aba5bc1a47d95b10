//! Engines that are empty, gone or wrong are told from engines that find nothing. Not here: how a search goes on without
//! them (`api`).

use crate::memory_corpus::MemoryCorpus;
use corpus::{Corpus, CorpusError, FetchedRecord};
use search::Query;
use serde_json::json;

use crate::collections::snapshot;
use crate::promises::{ask, feed};

// S-CORPUS-6
#[test]
fn an_empty_engine_is_no_answer() {
    let snapshot = snapshot(&[json!({"id": "a", "lesson": "walrus", "source": "agent"})]);
    let (engine, query) = (MemoryCorpus::default(), Query { text: "walrus", ..Query::default() });
    assert_eq!(ask(&engine, &snapshot, &query).unwrap_err(), CorpusError::Empty);
    feed(&engine, &snapshot);
    assert_eq!(ask(&engine, &snapshot, &query).unwrap().len(), 1);
    let nothing = Query { text: "okapi", ..Query::default() };
    assert!(ask(&engine, &snapshot, &nothing).unwrap().is_empty());
}

// S-CORPUS-6
#[test]
fn records_that_are_none_are_told() {
    let lines = [
        json!({"id": "a", "lesson": "walrus", "source": "agent"}),
        json!({"id": "b", "lesson": "otter", "source": "agent"}),
    ];
    let snapshot = snapshot(&lines);
    let engine = MemoryCorpus::default();
    feed(&engine, &snapshot);
    let until = corpus::Deadline::within(std::time::Duration::from_secs(9));
    let keys: Vec<_> =
        engine.keys_after(None, 9).unwrap().into_iter().map(|(key, _)| key).collect();
    let mut records: Vec<FetchedRecord> = engine.fetch(&keys, until).unwrap();
    let viewpoint = crate::collections::viewpoint();
    assert_eq!(corpus::small_snapshot::unpack_records(&records, &viewpoint).unwrap().len(), 2);
    records.truncate(1);
    for end in 0..records[0].record.len() {
        let mut cut = records.clone();
        cut[0].record.truncate(end);
        assert!(corpus::small_snapshot::unpack_records(&cut, &viewpoint).is_err(), "{end}");
    }
}

// S-CORPUS-6
#[test]
fn a_memory_under_the_key_of_another_is_told() {
    let lines = [
        json!({"id": "a", "lesson": "walrus", "source": "agent"}),
        json!({"id": "b", "lesson": "otter", "source": "agent"}),
    ];
    let snapshot = snapshot(&lines);
    let numbers = 0..2;
    let mut words = index::lexical::AnalysisCache::default();
    let view = (&crate::collections::viewpoint(), crate::collections::now());
    let mut entries: Vec<corpus::CorpusEntry> = numbers
        .map(|number| {
            corpus::CorpusEntry::from_snapshot(&snapshot, number, view, 3.0, &mut words).unwrap()
        })
        .collect();
    entries[0].key = entries[1].key;
    entries.truncate(1);
    let engine = MemoryCorpus::default();
    engine.put_entries(&entries).unwrap();
    let found = ask(&engine, &snapshot, &Query { text: "walrus", ..Query::default() });
    assert!(matches!(found, Err(CorpusError::Wrong(_))), "{found:?}");
}
