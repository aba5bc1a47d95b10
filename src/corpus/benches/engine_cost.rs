//! What an engine costs at a size: the time to put memories, the time of each step of a search, the best of a search beside those
//! of a scan of everything. The memories are made up, from a seed. Not here: what the server takes, which its own tools tell.
//!
//!   cargo bench -p corpus --features qdrant --bench engine_cost -- URL[,URL] MEMORIES [put|ask|both]
//!
//! Several engines take turns, batch by batch and query by query. None may ask for a password.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench ends at the first surprise"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank of a word is small and positive"
)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corpus::engine_query::QueryContext;
use corpus::{
    AskedNumbers, Conditions, Corpus, CorpusEntry, Deadline, MemoryKey, ServedEngine, Viewpoint,
    WeighedTerm, engine_at,
};
use event::{DecodedLine, StoreOrigin, Timestamp, codec};
use index::lexical::{AnalysisCache, CorpusNumbers, LexicalIndex};
use memory::{Fold, LinePlace};
use search::Query;
use search::snapshot::Snapshot;
use serde_json::json;
use settings::SyncPolicy;

/// Memories that are made and put together.
const BATCH: u64 = 2_000;
/// Distinct words, whose frequencies fall as 1 / rank.
const WORDS: u64 = 200_000;
const REPOS: u64 = 500;
const QUERIES: u64 = 60;
/// The average length by which passages are weighed, in halves of a term.
const AVERAGE: f32 = 118.0;
const WAIT: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [urls, count, rest @ ..] = arguments.as_slice() else {
        return say("usage: engine_cost URL[,URL] MEMORIES [put|ask|both]");
    };
    let count: u64 = count.parse().expect("a number");
    let step = rest.first().map_or("both", String::as_str);
    let engines: Vec<NamedEngine> = urls.split(',').map(named).collect();
    if step != "ask" {
        put_entries(&engines, count);
    }
    if step != "put" {
        ask(&engines, count);
    }
}

/// An engine, and what it is called in the report.
struct NamedEngine {
    name: &'static str,
    engine: Box<dyn ServedEngine>,
}

fn named(url: &str) -> NamedEngine {
    let name = if url.starts_with("http") { "qdrant" } else { "postgres" };
    NamedEngine { name, engine: engine_at(url, None).expect("an address") }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Numbers from a seed: SplitMix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A word whose rank r comes up with a frequency of about 1 / r.
    fn word(&mut self) -> u64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((WORDS as f64).powf(share) as u64).min(WORDS) - 1
    }
}

/// A word of syllables, so that no two have one stem.
fn spelled(word: u64) -> String {
    const SYLLABLES: [&str; 32] = [
        "ba", "co", "du", "fi", "ga", "ho", "ju", "ki", "la", "mo", "nu", "pi", "ra", "so", "tu",
        "vi", "wa", "xo", "zu", "bri", "cla", "dro", "fru", "gli", "kra", "plo", "sku", "tri",
        "vra", "blo", "cru", "dwi",
    ];
    let mut rest = word + 1_024;
    let mut text = String::new();
    while rest > 0 {
        text.push_str(SYLLABLES[usize::try_from(rest % 32).expect("small")]);
        rest /= 32;
    }
    text + "k"
}

fn words_of(number: u64) -> Vec<u64> {
    let mut dice = Dice(number);
    let length = 25 + dice.below(65);
    (0..length).map(|_| dice.word()).collect()
}

fn viewpoint() -> Viewpoint {
    Viewpoint { own: StoreOrigin::mint("bench", 1), policy: SyncPolicy::default() }
}

fn now() -> Timestamp {
    "2026-11-26T00:00:00Z".parse().expect("a time")
}

/// The entries of these memories, made as a feeder makes them.
fn entries(from: u64, to: u64, words: &mut AnalysisCache) -> Vec<CorpusEntry> {
    let mut fold = Fold::default();
    for number in from..to {
        let text: Vec<String> = words_of(number).into_iter().map(spelled).collect();
        let (context, lesson) = text.split_at(text.len() / 3);
        let at = Timestamp::from_second(1_700_000_000 + i64::try_from(number).expect("small"));
        let line = json!({
            "id": format!("m{number}"), "timestamp": at.expect("a time").to_string(), "agent_id": "bench",
            "repo": format!("repo{}", number % REPOS), "event_type": "fact", "source": "agent",
            "context": context.join(" "), "lesson": lesson.join(" "),
        });
        let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "") else {
            continue;
        };
        let repo = event.repo_key();
        fold.apply(*event, repo, LinePlace::own("bench.jsonl", number));
    }
    let snapshot = Snapshot {
        fold: fold.frozen(),
        lexical: LexicalIndex::new(),
        vectors: None,
        space: Default::default(),
        scale: Default::default(),
        withheld: 0,
        next_embedded: None,
        sign_locations: Default::default(),
        sign_store: None,
        neighbours: Default::default(),
        repos: Default::default(),
        health: Default::default(),
        subjects: Default::default(),
    };
    let viewpoint = viewpoint();
    let numbers = 0..u32::try_from(snapshot.memories().len()).expect("few");
    let entry =
        |number| CorpusEntry::from_snapshot(&snapshot, number, &viewpoint, now(), AVERAGE, words);
    numbers.filter_map(entry).collect()
}

fn put_entries(engines: &[NamedEngine], count: u64) {
    engines.iter().for_each(|named| named.engine.make_ready().expect("tables"));
    let (begun, mut in_engine) = (Instant::now(), vec![Duration::ZERO; engines.len()]);
    let mut words = AnalysisCache::default();
    let mut first = 0;
    while first < count {
        let batch = entries(first, (first + BATCH).min(count), &mut words);
        for (named, took) in engines.iter().zip(&mut in_engine) {
            let sent = Instant::now();
            named.engine.put_entries(&batch).expect("put");
            *took += sent.elapsed();
        }
        first += BATCH;
        if first.is_multiple_of(BATCH * 25) {
            say(&format!("{first} put, {:.0} s", begun.elapsed().as_secs_f64()));
        }
    }
    let all = begun.elapsed().as_secs_f64();
    say(&format!("put {count}: {all:.0} s"));
    for (named, took) in engines.iter().zip(in_engine) {
        say(&format!("  of which {} {:.1} s", named.name, took.as_secs_f64()));
    }
}

/// A query: some words of a memory.
fn query(number: u64, count: u64) -> String {
    let mut dice = Dice(number ^ 0x5eed);
    let words = words_of(dice.below(count));
    let length = 4 + dice.below(16);
    let picked =
        (0..length).map(|_| words[usize::try_from(dice.next()).unwrap_or(0) % words.len()]);
    picked.map(spelled).collect::<Vec<_>>().join(" ")
}

/// Times in milliseconds.
#[derive(Default)]
struct StepTimes(BTreeMap<&'static str, Vec<f64>>);

impl StepTimes {
    fn measure<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.0.entry(name).or_default().push(begun.elapsed().as_secs_f64() * 1e3);
        done
    }

    fn report(mut self, title: &str) {
        say(title);
        for (name, times) in &mut self.0 {
            times.sort_by(f64::total_cmp);
            let at = |share: usize| times[(times.len() - 1) * share / 100];
            say(&format!(
                "  {name:28} p50 {:7.1} ms  p90 {:7.1}  p99 {:7.1}",
                at(50),
                at(90),
                at(99)
            ));
        }
    }
}

/// The weighed terms of each query, and what was found by them.
type AskedQueries = Vec<(Vec<WeighedTerm>, Vec<MemoryKey>)>;

fn ask(engines: &[NamedEngine], count: u64) {
    let mut results: Vec<(StepTimes, AskedQueries)> =
        engines.iter().map(|_| Default::default()).collect();
    for number in 0..QUERIES {
        for (named, (times, asked)) in engines.iter().zip(&mut results) {
            asked.push(ask_one(&*named.engine, &query(number, count), times));
        }
    }
    for (named, (times, asked)) in engines.iter().zip(results) {
        times.report(named.name);
        compare(&asked, count);
    }
}

fn ask_one(
    engine: &dyn Corpus,
    text: &str,
    times: &mut StepTimes,
) -> (Vec<WeighedTerm>, Vec<MemoryKey>) {
    let until = || Deadline::within(WAIT);
    let (viewpoint, repos, all) = (viewpoint(), BTreeMap::new(), Conditions::default());
    let of_repo = Conditions { repos: vec![vec!["repo7".to_owned()]], ..Conditions::default() };
    let terms = times.measure("numbers", || weighed(engine, text));
    let found = times
        .measure("by words, 400", || engine.by_words(&terms, &all, 400, until()).expect("found"));
    times.measure("by words, one repository", || {
        engine.by_words(&terms, &of_repo, 400, until()).expect("found")
    });
    times.measure("fetch 400", || engine.fetch(&found, until()).expect("fetched"));
    let query = Query { text, min_likelihood: 0.1, ..Query::default() };
    let asking = QueryContext { viewpoint: &viewpoint, repos: &repos, now: now(), until: until() };
    times.measure("a whole search", || corpus::find(engine, &query, 5, asking).expect("hits"));
    (terms, found)
}

/// Compares what was found with a scan of everything.
fn compare(asked: &[(Vec<WeighedTerm>, Vec<MemoryKey>)], count: u64) {
    let mut best: Vec<Vec<(f32, MemoryKey)>> = vec![Vec::new(); asked.len()];
    let mut words = AnalysisCache::default();
    let mut first = 0;
    while first < count {
        for entry in entries(first, (first + BATCH).min(count), &mut words) {
            let weights = entry.passages[0].weights(entry.reference_totals());
            for ((terms, _), best) in asked.iter().zip(&mut best) {
                let weight = |term: &WeighedTerm| {
                    let place =
                        weights.binary_search_by(|(other, _)| (*other).cmp(&term.term)).ok()?;
                    Some(weights[place].1 * term.weight)
                };
                let score: f32 = terms.iter().filter_map(weight).sum();
                if score > 0.0 {
                    best.push((score, entry.key));
                }
            }
        }
        for best in &mut best {
            best.sort_by(|a, b| b.0.total_cmp(&a.0));
            best.truncate(400);
        }
        first += BATCH;
    }
    for depth in [5, 10, 200, 400] {
        let (mut same, mut all) = (0, 0);
        for ((_, found), best) in asked.iter().zip(&best) {
            let wanted = best.iter().take(depth);
            all += wanted.clone().count();
            same += wanted.filter(|(_, key)| found.contains(key)).count();
        }
        say(&format!("  of the best {depth} of a scan, {same} of {all} are among the 400"));
    }
}

/// The weighed terms of a query, as a search makes them.
fn weighed(engine: &dyn Corpus, text: &str) -> Vec<WeighedTerm> {
    let mut known = CorpusNumbers::default();
    loop {
        let numbers = Arc::new(known);
        let index = LexicalIndex::new().with_numbers(Arc::clone(&numbers));
        let terms = index.prepare(text).engine_terms();
        let asked: AskedNumbers = numbers.take_lacking();
        drop(index);
        known = Arc::into_inner(numbers).expect("the only one");
        if asked.is_empty() {
            let weighed = |(term, weight): (Box<str>, f32)| {
                let passages = known.passages_with(&term);
                WeighedTerm { term, weight, passages }
            };
            return terms.into_iter().map(weighed).filter(|term| term.passages > 0).collect();
        }
        let numbers = engine.numbers(&asked, Deadline::within(WAIT)).expect("numbers");
        known = known.resized(numbers.totals);
        numbers.holding.into_iter().for_each(|(term, passages)| known.add_holding(term, passages));
        numbers.unions.into_iter().for_each(|(terms, passages)| known.add_union(terms, passages));
        numbers.near.into_iter().for_each(|(term, near)| known.add_near(term, &near));
    }
}
