//! Measures what comparing tokens adds to a search, and what computing their signs adds to an embedding: our
//! own lessons and questions, the real model, and each question asked in turn with and without tokens. Not
//! here: the gain in recall (`agent-knowledge-eval`), the model itself (`encoder`).
//!
//! `cargo bench --bench tokens -- --model DIR`

#![expect(clippy::print_stdout, reason = "a benchmark's result is its output")]

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::watch::WatchMode;
use engine::{DenseSetup, Engine, EngineSetup, ScopedQuery};
use event::Timestamp;
use index::embed::cache::AppendLock;
use index::embed::load;
use index::embed::worker::QueryEmbedding;
use index::late::{QueryToken, TokenSigns};
use memory::MemoryBound;
use search::snapshot::Snapshot;
use search::{Query, search};
use settings::{Config, EmbeddingPrecision};
use store::Store;

type Outcome<T> = Result<T, Box<dyn Error>>;

const CORPUS: &str = include_str!("lessons/corpus.jsonl");
const QUERIES: &str = include_str!("lessons/queries.jsonl");
/// How often each question is asked in each way.
const ROUNDS: usize = 5;
/// Longest wait for a vector.
const PATIENCE: Duration = Duration::from_secs(60);
const PRECISION: EmbeddingPrecision = EmbeddingPrecision::Fp32;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--model");
    let model = PathBuf::from(arguments.nth(1).ok_or("--model DIR is needed")?);
    let folder = tempfile::tempdir()?;
    let store = Store::at(folder.path().join("logs"));
    store.ensure()?;
    std::fs::write(store.root().join("lessons.jsonl"), CORPUS)?;
    let engine = engine(&store, folder.path(), &model)?;
    let snapshot = embedded(&engine)?;
    println!("{} memories, {} with signs", snapshot.memories().len(), snapshot.signed_count());
    searches(&engine, &snapshot)?;
    embeddings(&model)
}

/// The lock of a cache without other writers.
struct Alone;

impl AppendLock for Alone {
    fn with_lock(
        &self,
        file: &File,
        body: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        body(file)
    }
}

fn engine(store: &Store, folder: &Path, model: &Path) -> Outcome<Engine> {
    let cache_dir = folder.join("cache");
    let model = model.to_owned();
    let dense = DenseSetup {
        load: Box::new(move || load(PRECISION, &model, NonZeroUsize::MIN)),
        lock: Arc::new(Alone),
        cache_dir,
        idle: None,
        name: "test".to_owned(),
        may_see: None,
        scale: <_>::default(),
    };
    let (store, config, bound) = (store.clone(), Config::default(), MemoryBound::NONE);
    let (watching, checkpoints) = (WatchMode::PollOnly, None);
    let dense = Some(dense);
    Ok(Engine::start(EngineSetup { store, config, bound, watching, dense, checkpoints })?)
}

fn embedded(engine: &Engine) -> Outcome<Snapshot> {
    loop {
        let snapshot = engine.snapshot()?;
        if snapshot.signed_count() >= snapshot.memories().len() {
            return Ok(snapshot);
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

fn searches(engine: &Engine, snapshot: &Snapshot) -> Outcome<()> {
    let now = Timestamp::constant(1_780_000_000, 0);
    let mut asked: Vec<(String, QueryEmbedding)> = Vec::new();
    for line in QUERIES.lines() {
        let query: serde_json::Value = serde_json::from_str(line)?;
        let text = query.get("text").and_then(|text| text.as_str()).unwrap_or_default().to_owned();
        let query = ScopedQuery { text: &text, repos: Some(&[]) };
        let pending = engine.begin_query(&query, PATIENCE, PATIENCE).ok_or("no model")??;
        let meant = pending.answer()?;
        asked.push((text, meant));
    }
    let tokens: usize = asked.iter().map(|(_, meant)| meant.tokens.len()).sum();
    println!("{} questions of {:.1} tokens", asked.len(), tokens as f64 / asked.len() as f64);
    let (mut without, mut with, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (text, meant) in &asked {
            let took = |tokens: &[QueryToken]| {
                let vector = Some(meant.vector.as_slice());
                let query = Query { text, vector, tokens, ..Query::default() };
                timed(|| search(snapshot, &query, now, 5))
            };
            let (plain, late) = (took(&[]), took(&meant.tokens));
            without.push(plain);
            with.push(late);
            more.push(late.saturating_sub(plain));
        }
    }
    report("a search without tokens", without);
    report("a search with tokens", with);
    report("the difference, question by question", more);
    Ok(())
}

fn embeddings(model: &Path) -> Outcome<()> {
    let mut embedder = load(PRECISION, model, NonZeroUsize::MIN)?;
    let (mut inferred, mut signed) = (Vec::new(), Vec::new());
    for line in CORPUS.lines() {
        let begun = Instant::now();
        let embedding = embedder.embed(&[line])?.pop().ok_or("no embedding")?;
        inferred.push(begun.elapsed());
        signed.push(timed(|| TokenSigns::from_tokens(&embedding.tokens)));
    }
    report("an inference, tokens included", inferred);
    report("the signs of a note", signed);
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed()
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| {
        let time = times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
        time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    };
    println!("{what}: p10 {:.3}, p50 {:.3}, p99 {:.3} ms", at(10), at(50), at(99));
}
