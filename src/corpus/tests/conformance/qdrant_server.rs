//! Qdrant keeps the promises. Each test has collections of its own, which a test leaves behind: a server that is not ours should be one for
//! tests. Not here: the promises; the server, which `scripts/test-engine` starts and stops.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use corpus::qdrant::{QdrantAddress, QdrantCorpus};
use corpus::{
    Conditions, Corpus, CorpusEntry, CorpusError, Deadline, MemoryKey, ServedEngine, WeighedTerm,
};
use serde_json::json;

use crate::collections::snapshot;
use crate::cut_connection::{CutConnection, LostPart};
use crate::promises::{entries, notes, state};
use crate::server_promises::server_in;

/// The address of a server in which collections can be made, without a path.
const SERVER: &str = "AGENT_KNOWLEDGE_TEST_QDRANT";
/// Its key, if it asks for one.
const KEY: &str = "AGENT_KNOWLEDGE_TEST_QDRANT_KEY";
/// Set where the server is the door of our tests (`tests/engine/qdrant_door.py`).
const DOOR: &str = "AGENT_KNOWLEDGE_TEST_QDRANT_DOOR";
/// More calls than a small batch takes.
const CALLS_MAX: usize = 40;

/// A server, and the name of new collections in it.
struct NewCollections {
    server: String,
    name: String,
}

impl NewCollections {
    fn on_server() -> Option<Self> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let server = server_in(SERVER)?.into_string().unwrap();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // A server that is not ours keeps the collections of earlier runs.
        let run = std::time::UNIX_EPOCH.elapsed().unwrap().as_micros();
        let name = format!("test-{run:x}-{}-{number}", std::process::id());
        let fresh = Self { server, name };
        fresh.engine().make_ready().unwrap();
        Some(fresh)
    }

    fn engine(&self) -> QdrantCorpus {
        self.engine_at(&self.server)
    }

    fn engine_at(&self, server: &str) -> QdrantCorpus {
        let key = std::env::var_os(KEY).map(|key| key.into_string().unwrap());
        let address = QdrantAddress::parse(&format!("{server}/{}", self.name), key.as_deref());
        QdrantCorpus::at(address.unwrap())
    }
}

fn database() -> Option<QdrantCorpus> {
    NewCollections::on_server().map(|fresh| fresh.engine())
}

crate::server_promises::promises_of_a_server!(database);

// S-CORPUS-11
#[test]
fn a_collection_of_others_is_refused() {
    let Some(fresh) = NewCollections::on_server() else { return };
    fresh.engine().make_ready().unwrap();
    // It is there, and its own state is not.
    let others = NewCollections { name: format!("{}-kept", fresh.name), server: fresh.server };
    let refused = others.engine().make_ready().unwrap_err();
    assert!(matches!(&refused, CorpusError::Wrong(why) if why.contains("not ours")), "{refused:?}");
}

/// Some notes; then two of them changed, one as it was, and one more.
fn batches() -> (Vec<CorpusEntry>, Vec<CorpusEntry>) {
    let mut lines = notes();
    lines[3]["lesson"] = "the walrus page: ".repeat(300).into();
    let first = entries(&snapshot(&lines));
    // The last ones: others would move the lines behind them.
    lines.iter_mut().skip(2).for_each(|line| line["session_id"] = "s1".into());
    lines.push(json!({"id": "n1", "repo": "web", "event_type": "fact", "agent_id": "Codex", "source": "agent",
        "timestamp": "2026-01-05T00:00:00Z", "lesson": "the okapi renders no walrus"}));
    let second = entries(&snapshot(&lines));
    let changed = first.iter().zip(&second).filter(|(one, other)| one != other).count();
    assert_eq!((changed, second.len()), (2, 5));
    (first, second)
}

/// Returns what the word alone finds, whatever is fetched then.
fn with_walrus(engine: &QdrantCorpus) -> Vec<MemoryKey> {
    let walrus = WeighedTerm { term: "walru".into(), weight: 1.0, passages: 9 };
    let until = Deadline::within(Duration::from_secs(20));
    let mut keys = engine.by_words(&[walrus], &Conditions::default(), 9, until).unwrap();
    keys.sort();
    keys
}

/// Cuts the connection at each call of some work in turn. What was there stays until all is there.
fn all_or_nothing(work: impl Fn(&QdrantCorpus, &[CorpusEntry]) -> Result<(), CorpusError>) {
    let Some(fresh) = NewCollections::on_server() else { return };
    let Some(port) = CutConnection::port_of(&fresh.server) else { return };
    let (first, second) = batches();
    let told = || format!("{} {:?}", state(&fresh.engine(), &second), with_walrus(&fresh.engine()));
    let okapi = json!({"id": "o1", "repo": "api", "event_type": "fact", "lesson": "a lonely okapi", "source": "agent"});
    let other = entries(&snapshot(&[okapi]));
    fresh.engine().put_entries(&first).unwrap();
    let before = told();
    fresh.engine().put_entries(&other).unwrap();
    let with_other = told();
    fresh.engine().delete_entries(&[other[0].key]).unwrap();
    assert!(told() == before && with_other != before);
    work(&fresh.engine(), &second).unwrap();
    let wanted = told();
    assert_ne!(before, wanted);
    for lost in [LostPart::Question, LostPart::Answer] {
        let mut cut = 0;
        loop {
            let keys: Vec<MemoryKey> = second.iter().map(|entry| entry.key).collect();
            fresh.engine().delete_entries(&keys).unwrap();
            fresh.engine().put_entries(&first).unwrap();
            assert_eq!(told(), before);
            let connection = CutConnection::to(port, cut, lost);
            let done = work(&fresh.engine_at(&connection.address()), &second);
            let left = told();
            let is_all = left == wanted;
            assert!(is_all || left == before, "{lost:?} at {cut}:\n{left}\n{before}");
            assert!(is_all || done.is_err(), "{lost:?} at {cut}");
            if !is_all {
                // The next batch, whatever it is, makes nothing of it count.
                fresh.engine().put_entries(&other).unwrap();
                assert_eq!(told(), with_other, "{lost:?} at {cut}, and another batch");
                fresh.engine().delete_entries(&[other[0].key]).unwrap();
            }
            work(&fresh.engine(), &second).unwrap();
            assert_eq!(told(), wanted, "{lost:?} at {cut}, and again");
            if done.is_ok() && !connection.was_cut() {
                break;
            }
            cut += 1;
            assert!(cut < CALLS_MAX, "it ends");
        }
        assert!(cut > 5, "{lost:?}: {cut} calls");
    }
}

// S-CORPUS-4, S-CORPUS-11
#[test]
fn a_batch_that_is_cut_counts_not_at_all() {
    all_or_nothing(Corpus::put_entries);
}

// S-CORPUS-4, S-CORPUS-11
#[test]
fn taking_that_is_cut_takes_nothing() {
    all_or_nothing(|engine, batch| {
        let keys: Vec<MemoryKey> = batch.iter().skip(1).take(3).map(|entry| entry.key).collect();
        engine.delete_entries(&keys)
    });
}

// S-CORPUS-4, S-CORPUS-11
#[test]
fn a_late_write_leaves_right_numbers() {
    let Some(fresh) = NewCollections::on_server() else { return };
    if std::env::var_os(DOOR).is_none() {
        return eprintln!(
            "skipped: only the door of our tests applies a write late when it is asked to"
        );
    }
    let Some(port) = CutConnection::port_of(&fresh.server) else { return };
    let (first, second) = batches();
    let okapi = json!({"id": "o1", "repo": "api", "event_type": "fact", "lesson": "a lonely okapi", "source": "agent"});
    let other = entries(&snapshot(&[okapi]));
    let told = || format!("{} {:?}", state(&fresh.engine(), &second), with_walrus(&fresh.engine()));
    let after = |batches: &[&[CorpusEntry]]| {
        let known = fresh.engine().keys_after(None, 100).unwrap();
        let keys: Vec<MemoryKey> = known.into_iter().map(|(key, _)| key).collect();
        fresh.engine().delete_entries(&keys).unwrap();
        batches.iter().for_each(|batch| fresh.engine().put_entries(batch).unwrap());
        told()
    };
    let wanted = after(&[&first, &second]);
    let with_other = [after(&[&first, &other]), after(&[&first, &second, &other])];
    let (mut late, mut counted_late) = (0, 0);
    loop {
        let before = after(&[&first]);
        let connection = CutConnection::to(port, late, LostPart::Time);
        let done = fresh.engine_at(&connection.address()).put_entries(&second);
        if done.is_err() {
            assert_eq!(done, Err(CorpusError::Late));
            assert_eq!(told(), before, "{late}: it is not applied yet");
        }
        // A batch in which nothing is new, and one that has nothing to do with it.
        let next = fresh.engine();
        next.put_entries(&[]).unwrap();
        let left = told();
        assert!(left == before || left == wanted, "{late}:\n{left}\n{before}\n{wanted}");
        counted_late += usize::from(done.is_err() && left == wanted);
        next.put_entries(&other).unwrap();
        assert_eq!(told(), with_other[usize::from(left == wanted)], "{late}, and another batch");
        if done.is_ok() && !connection.was_cut() {
            break;
        }
        late += 1;
        assert!(late < CALLS_MAX, "it ends");
    }
    // That of the state.
    assert_eq!(counted_late, 1);
}

// S-CORPUS-8
#[test]
fn a_server_with_a_key_refuses_others() {
    let Some(fresh) = NewCollections::on_server() else { return };
    if std::env::var_os(KEY).is_none() {
        return eprintln!("skipped: this server asks for no key");
    }
    let address = QdrantAddress::parse(&format!("{}/{}", fresh.server, fresh.name), Some("other"));
    let refused = QdrantCorpus::at(address.unwrap()).keys_after(None, 1).unwrap_err();
    assert!(
        matches!(&refused, CorpusError::Unreachable(why) if why.contains("status 40")),
        "{refused}"
    );
}

// S-CORPUS-6
#[test]
fn a_server_without_our_collections_refuses() {
    let Some(fresh) = NewCollections::on_server() else { return };
    let other = NewCollections { name: format!("{}-none", fresh.name), ..fresh };
    let refused = other.engine().keys_after(None, 1).unwrap_err();
    assert_eq!(refused, CorpusError::Unreachable("it refuses with status 404".to_owned()));
}
