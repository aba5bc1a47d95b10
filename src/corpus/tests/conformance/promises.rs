//! The promises that every engine keeps. Each takes an empty engine. Not here: engines.

use std::collections::BTreeSet;
use std::time::Duration;

use corpus::engine_query::QueryContext;
use corpus::memory_record::MemoryRecord;
use corpus::{Conditions, Corpus, CorpusEntry, CorpusError, Deadline, FeedReport, Feeder};
use event::{RepoKey, Timestamp};
use index::lexical::AnalysisCache;
use search::snapshot::Snapshot;
use search::{Filter, Hit, Query};
use serde_json::json;

use crate::collections::{Collection, direction, now, snapshot, viewpoint};

/// Time enough for an engine that is busy with other tests.
const WAIT: Duration = Duration::from_secs(20);
/// Hits that are compared.
const COMPARED: usize = 5;
/// Queries in a thousand that may have other hits, if these are as good.
const TIES_PER_MILLE_MAX: usize = 5;
/// By how much totals differ that are equal.
const TIE: f32 = 1e-6;

/// Puts all of a snapshot into an engine.
pub fn feed(corpus: &dyn Corpus, snapshot: &Snapshot) -> FeedReport {
    Feeder::new(viewpoint(), Box::new(|_| true)).feed(corpus, snapshot, now()).unwrap()
}

pub fn ask(
    corpus: &dyn Corpus,
    snapshot: &Snapshot,
    query: &Query<'_>,
) -> Result<Vec<Hit>, CorpusError> {
    let viewpoint = viewpoint();
    let repos = snapshot.repos();
    let asking =
        QueryContext { viewpoint: &viewpoint, repos, now: now(), until: Deadline::within(WAIT) };
    corpus::find(corpus, query, COMPARED, asking).map(|found| found.hits)
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().take(COMPARED).map(|hit| hit.memory.id.as_str()).collect()
}

/// Tells whether both have the same totals in their order: then other hits are as good.
fn are_ties(one: &[Hit], other: &[Hit]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(a, b)| (a.score.total - b.score.total).abs() < TIE)
}

/// The same five hits in the same order as on one machine, but for ties.
pub fn answers_as_one_machine_does(corpus: &dyn Corpus, collection: &Collection) {
    let snapshot = &collection.snapshot;
    feed(corpus, snapshot);
    let (mut same, mut ties, mut wrong) = (0, 0, Vec::new());
    for asked in &collection.queries {
        let vector = snapshot.vectors().map(|_| direction(&asked.text));
        let here = asked.repo.as_deref().map(RepoKey::from_line);
        let query = Query {
            text: &asked.text,
            vector: vector.as_deref(),
            here,
            min_likelihood: 0.1,
            ..Query::default()
        };
        let expected = search::search(snapshot, &query, now(), COMPARED);
        let found = ask(corpus, snapshot, &query).unwrap();
        if ids(&expected) == ids(&found) {
            same += 1;
        } else if are_ties(&expected, &found) {
            ties += 1;
        } else {
            wrong.push(format!("{:?}: {:?}, not {:?}", asked.text, ids(&found), ids(&expected)));
        }
    }
    eprintln!("{same} queries have the same hits, {ties} others as good, {} neither", wrong.len());
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        wrong.len(),
        same + ties + wrong.len(),
        wrong.join("\n")
    );
    assert!(ties * 1_000 <= TIES_PER_MILLE_MAX * (same + ties), "{ties} of {}", same + ties);
}

pub fn notes() -> Vec<serde_json::Value> {
    let note = |id: &str, repo: &str, kind: &str, day: u32, lesson: &str| {
        json!({"id": id, "repo": repo, "event_type": kind, "agent_id": "Codex", "source": "agent",
            "timestamp": format!("2026-01-{day:02}T00:00:00Z"), "lesson": lesson, "tags": ["NPM", id]})
    };
    vec![
        note("a1", "api", "error", 1, "npm install fails without a lockfile of the walrus"),
        note("a2", "api", "fact", 2, "the walrus needs kubernetes 1.29 behind the gateway"),
        note("w1", "web", "error", 3, "the walrus build fails with EACCES in docker"),
        note("w2", "web", "decision", 4, "the team renders the walrus page on the server"),
    ]
}

fn found(corpus: &dyn Corpus, snapshot: &Snapshot, filter: Filter) -> BTreeSet<String> {
    let query = Query { text: "walrus", filter, ..Query::default() };
    let hits = ask(corpus, snapshot, &query).unwrap();
    hits.iter().map(|hit| hit.memory.id.to_string()).collect()
}

/// Filters are those of one machine, whether the engine applies them or what comes after it.
pub fn filters_as_one_machine_does(corpus: &dyn Corpus) {
    let snapshot = snapshot(&notes());
    feed(corpus, &snapshot);
    let at = |text: &str| -> Option<Timestamp> { Some(text.parse().unwrap()) };
    let api = Some(BTreeSet::from([RepoKey::from_line("api")]));
    let also = Some(Box::new(Filter { kinds: vec!["Fact".to_owned()], ..Filter::default() }));
    let filters = [
        Filter::default(),
        Filter { repos: api.clone(), ..Filter::default() },
        Filter { repos: api, also, ..Filter::default() },
        Filter { kinds: vec!["ERROR".to_owned()], ..Filter::default() },
        Filter { not_kinds: vec!["error".to_owned()], ..Filter::default() },
        Filter { tags: vec!["npm".to_owned(), "A1".to_owned()], ..Filter::default() },
        Filter { agents: vec!["codex ".to_owned()], ..Filter::default() },
        Filter { agents: vec!["claude".to_owned()], ..Filter::default() },
        Filter {
            since: at("2026-01-02T00:00:00Z"),
            until: at("2026-01-03T00:00:00Z"),
            ..Filter::default()
        },
    ];
    let mut counts = BTreeSet::new();
    for filter in filters {
        let query = Query { text: "walrus", filter: filter.clone(), ..Query::default() };
        let expected = search::search(&snapshot, &query, now(), COMPARED);
        let expected: BTreeSet<String> =
            expected.iter().map(|hit| hit.memory.id.to_string()).collect();
        assert_eq!(found(corpus, &snapshot, filter.clone()), expected, "{filter:?}");
        counts.insert(expected.len());
    }
    assert!(counts.len() >= 4, "the filters differ: {counts:?}");
    let files = Filter { files: vec!["src/a.rs".into()], ..Filter::default() };
    let refused =
        ask(corpus, &snapshot, &Query { text: "walrus", filter: files, ..Query::default() });
    assert_eq!(refused.unwrap_err(), CorpusError::Unsupported("filter by files"));
    let branches = Filter { branches: vec!["main".to_owned()], ..Filter::default() };
    let refused =
        ask(corpus, &snapshot, &Query { text: "walrus", filter: branches, ..Query::default() });
    assert_eq!(refused.unwrap_err(), CorpusError::Unsupported("filter by branches"));
}

/// What is private is sent neither as a neighbour nor as another content or an action.
pub fn no_neighbour_of_a_memory_is_private() {
    let line = |id: &str, lesson: &str| {
        json!({"id": id, "repo": "api", "event_type": "fact", "agent_id": "codex", "source": "agent",
            "session_id": "s1", "timestamp": "2026-01-01T00:00:00Z", "lesson": lesson})
    };
    let private = |mut line: serde_json::Value| {
        line["private"] = true.into();
        line
    };
    let lines = [
        line("a1", "the walrus needs kubernetes"),
        private(line("a2", "the okapi of another customer")),
        private(
            json!({"id": "f1", "repo": "api", "memory_id": "a1", "event_type": "feedback", "verdict": "failed",
            "lesson": "the tapir said so", "source": "human", "timestamp": "2026-01-02T00:00:00Z"}),
        ),
    ];
    let snapshot = crate::collections::folded(&lines);
    let sent = CorpusEntry::from_snapshot(
        &snapshot,
        0,
        &viewpoint(),
        now(),
        20.0,
        &mut AnalysisCache::default(),
    );
    let sent = sent.unwrap();
    let holds = |word: &str| sent.record.windows(word.len()).any(|part| part == word.as_bytes());
    assert!(holds("walrus") && !holds("okapi") && !holds("tapir"));
    let record = MemoryRecord::unpack(&sent.record, &viewpoint()).unwrap();
    assert_eq!(record.neighbours.iter().flatten().count(), 0);
}

pub fn entries(snapshot: &Snapshot) -> Vec<CorpusEntry> {
    let mut words = AnalysisCache::default();
    let numbers = 0..u32::try_from(snapshot.memories().len()).unwrap();
    numbers
        .map(|number| {
            CorpusEntry::from_snapshot(snapshot, number, &viewpoint(), now(), 20.0, &mut words)
                .unwrap()
        })
        .collect()
}

/// Everything that an engine says of itself.
pub fn state(corpus: &dyn Corpus, entries: &[CorpusEntry]) -> String {
    let until = Deadline::within(WAIT);
    let terms = entries.iter().flat_map(|entry| &entry.passages).flat_map(|passage| &passage.terms);
    let asked = corpus::AskedNumbers {
        terms: terms.map(|(term, _)| term.clone()).collect(),
        unions: [vec!["gatewai".into(), "walru".into()]].into(),
        near: ["walruz".into()].into(),
    };
    let mut numbers = corpus.numbers(&asked, until).unwrap();
    numbers.holding.sort();
    numbers.near.iter_mut().for_each(|(_, near)| near.sort());
    let keys: Vec<_> = entries.iter().map(|entry| entry.key).collect();
    let mut records = corpus.fetch(&keys, until).unwrap();
    records.sort_by_key(|fetched| fetched.key);
    format!("{numbers:?} {records:?} {:?}", corpus.keys_after(None, 100).unwrap())
}

/// What is put twice is there once; what is taken out leaves no trace; what comes again is as it was.
pub fn putting_is_idempotent(corpus: &dyn Corpus) {
    let snapshot = snapshot(&notes());
    let entries = entries(&snapshot);
    let empty = state(corpus, &entries);
    corpus.put_entries(&entries).unwrap();
    let once = state(corpus, &entries);
    assert_ne!(once, empty);
    corpus.put_entries(&entries).unwrap();
    corpus.put_entries(&entries[1..2]).unwrap();
    assert_eq!(state(corpus, &entries), once, "put twice");
    let key = entries[1].key;
    corpus.delete_entries(&[key]).unwrap();
    let without = state(corpus, &entries);
    assert!(without != once && !found(corpus, &snapshot, Filter::default()).contains("a2"));
    corpus.delete_entries(&[key, entries[1].key]).unwrap();
    assert_eq!(state(corpus, &entries), without, "taken twice");
    corpus.put_entries(&entries).unwrap();
    assert_eq!(state(corpus, &entries), once, "put, taken, put");
    let keys: Vec<_> = entries.iter().map(|entry| entry.key).collect();
    corpus.delete_entries(&keys).unwrap();
    assert_eq!(state(corpus, &entries), empty, "all taken");
}

/// A changed memory takes the place of what it was: no word of its neighbour is left.
pub fn a_change_leaves_nothing_behind(corpus: &dyn Corpus) {
    let mut lines = notes();
    lines.iter_mut().for_each(|line| line["session_id"] = "s1".into());
    let lonely = entries(&snapshot(&lines[..1])).remove(0);
    let with_neighbour = entries(&snapshot(&lines[..2])).remove(0);
    assert!(lonely.key == with_neighbour.key && lonely.passages != with_neighbour.passages);
    let both = [lonely.clone(), with_neighbour.clone()];
    corpus.put_entries(&both[..1]).unwrap();
    let before = state(corpus, &both);
    corpus.put_entries(&both[1..]).unwrap();
    assert_ne!(state(corpus, &both), before);
    corpus.put_entries(&both[..1]).unwrap();
    assert_eq!(state(corpus, &both), before);
}

/// A feeder sends what changed and nothing else, takes out what is gone, and begins again where another ended.
pub fn feeding_follows_the_fold(corpus: &dyn Corpus) {
    let mut lines = notes();
    let first = snapshot(&lines);
    let mut feeder = Feeder::new(viewpoint(), Box::new(|_| true));
    let mut sent = |snapshot: &Snapshot| {
        let sent = feeder.feed(corpus, snapshot, now()).unwrap();
        (sent.put, sent.deleted)
    };
    assert_eq!(sent(&first), (4, 0));
    assert_eq!(sent(&first), (0, 0));
    let all: Vec<_> =
        corpus.keys_after(None, 100).unwrap().into_iter().map(|(key, _)| key).collect();
    corpus.delete_entries(&all).unwrap();
    assert_eq!(sent(&first), (4, 0), "an engine that somebody emptied is fed again");
    lines.push(json!({"id": "r1", "memory_id": "a1", "event_type": "retract", "lesson": "", "source": "human",
        "timestamp": "2026-02-01T00:00:00Z"}));
    let mut private = lines[0].clone();
    private["id"] = "p1".into();
    private["private"] = true.into();
    lines.push(private);
    let folded = |lines: &[serde_json::Value]| crate::collections::folded(lines);
    let second = folded(&lines);
    assert_eq!(sent(&second), (1, 0), "a retracted memory changes, a private one never comes");
    assert_eq!(
        feed(corpus, &second),
        FeedReport::default(),
        "another feeder finds everything there"
    );
    assert!(!found(corpus, &second, Filter::default()).contains("a1"));
    // The last memory: another would move the lines behind it, which are then put anew.
    lines.remove(3);
    lines.truncate(3);
    let third = folded(&lines);
    let sent = feed(corpus, &third);
    assert_eq!(sent.deleted, 1, "what is gone is taken out");
}

/// A memory that goes between being found and being fetched is no hit, and no error.
pub fn what_goes_meanwhile_is_no_hit(corpus: &dyn Corpus) {
    struct Vanishing<'a>(&'a dyn Corpus);
    impl Corpus for Vanishing<'_> {
        fn numbers(
            &self,
            asked: &corpus::AskedNumbers,
            until: Deadline,
        ) -> Result<corpus::EngineNumbers, CorpusError> {
            self.0.numbers(asked, until)
        }
        fn by_words(
            &self,
            terms: &[corpus::WeighedTerm],
            conditions: &Conditions,
            limit: usize,
            until: Deadline,
        ) -> Result<Vec<corpus::MemoryKey>, CorpusError> {
            let found = self.0.by_words(terms, conditions, limit, until)?;
            self.0.delete_entries(&found[..1])?;
            Ok(found)
        }
        fn by_meaning(
            &self,
            vector: &[f32],
            conditions: &Conditions,
            limit: usize,
            until: Deadline,
        ) -> Result<Vec<corpus::MemoryKey>, CorpusError> {
            self.0.by_meaning(vector, conditions, limit, until)
        }
        fn fetch(
            &self,
            keys: &[corpus::MemoryKey],
            until: Deadline,
        ) -> Result<Vec<corpus::FetchedRecord>, CorpusError> {
            self.0.fetch(keys, until)
        }
        fn put_entries(&self, batch: &[CorpusEntry]) -> Result<(), CorpusError> {
            self.0.put_entries(batch)
        }
        fn delete_entries(&self, keys: &[corpus::MemoryKey]) -> Result<(), CorpusError> {
            self.0.delete_entries(keys)
        }
        fn keys_after(
            &self,
            after: Option<corpus::MemoryKey>,
            limit: usize,
        ) -> Result<Vec<(corpus::MemoryKey, corpus::EntryMark)>, CorpusError> {
            self.0.keys_after(after, limit)
        }
    }
    let snapshot = snapshot(&notes());
    feed(corpus, &snapshot);
    assert_eq!(found(&Vanishing(corpus), &snapshot, Filter::default()).len(), 3);
}
