//! Measures lessons that arrive at once: the processor time until each has its first vector and until each has that of its whole
//! text, what a query waits meanwhile, and the memory of the process with the model, and after the model has left memory.
//!
//! `cargo bench --bench arrival -- --model DIR --texts FILE`, where FILE has a JSON object with `text` on each line. Linux
//! only, since it reads `/proc`.

#![expect(clippy::print_stdout, reason = "a benchmark's result is its output")]

use std::error::Error;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use index::embed::cache::AppendLock;
use index::embed::worker::{
    CacheConfig, EmbeddedDocument, IdleUnload, Job, ModelResidence, QueryError, ShutdownMode,
    WantedOutput, Worker, WorkerConfig, WorkerState,
};
use index::embed::{EmbedError, Embedder, SpaceId, load};
use index::late::SignState;
use settings::EmbeddingPrecision;

/// Texts in the worker's queue at once, as the engine keeps it.
const QUEUED_MAX: usize = 128;
/// How long the model stays in memory here.
const IDLE: Duration = Duration::from_secs(3);
/// The pause between two queries while texts are embedded.
const QUERY_PAUSE: Duration = Duration::from_millis(100);

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

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(after("--model").ok_or("--model DIR is needed")?);
    let texts = texts(&after("--texts").ok_or("--texts FILE is needed")?)?;
    let cache = tempfile::tempdir()?;
    println!("before: {} MB", resident_megabytes());
    let (deliver, delivered) = channel();
    let open = move || -> Result<Box<dyn Embedder>, EmbedError> {
        load(EmbeddingPrecision::Fp32, &dir, NonZeroUsize::MIN)
    };
    let worker = Worker::start(WorkerConfig {
        load: Box::new(open.clone()),
        idle: Some(IdleUnload { after: IDLE, load: Box::new(open) }),
        space: SpaceId::default(),
        at_end: ShutdownMode::Wait,
        cache: Some(CacheConfig { dir: cache.path().to_owned(), lock: Arc::new(Alone) }),
        deliver: Box::new(move |vectors| drop(deliver.send(vectors))),
    })?;
    wait_while(|| worker.progress().state == WorkerState::Loading);
    println!("{:?}", worker.progress().state);
    let loaded_s = processor_seconds();
    println!("loaded: {loaded_s:.2} s of processor time, {} MB", resident_megabytes());
    let mut queries = (0..20).map(|number| ask(&worker, number)).collect::<Result<Vec<_>, _>>()?;
    println!("queries before: {}", median(&mut queries));
    arrive(&worker, &texts, &delivered)?;
    println!("all embedded: {} MB", resident_megabytes());
    wait_while(|| worker.progress().residence == ModelResidence::Loaded);
    std::thread::park_timeout(Duration::from_secs(1));
    println!("model unloaded: {} MB", resident_megabytes());
    let asked = Instant::now();
    let first = worker.embed_query("why did the build fail", Duration::from_secs(1));
    println!("next query after {:?}: {first:?}", asked.elapsed());
    let again = || worker.embed_query("why did the build fail", Duration::from_secs(1));
    wait_while(|| again() == Err(QueryError::Reloading));
    println!("loaded again after {:?}, {} MB", asked.elapsed(), resident_megabytes());
    Ok(())
}

/// Embeds the texts, and queries meanwhile.
fn arrive(
    worker: &Worker,
    texts: &[String],
    delivered: &Receiver<Vec<EmbeddedDocument>>,
) -> Result<(), Box<dyn Error>> {
    let begun_s = processor_seconds();
    let (mut next, mut first, mut whole) = (0, 0, 0);
    let mut again: Vec<u32> = Vec::new();
    let (mut times, mut asked) = (Vec::new(), Instant::now());
    let mut has_first = vec![false; texts.len()];
    while whole < texts.len() {
        while next < texts.len() && worker.queued() < QUEUED_MAX {
            submit(worker, texts, next, WantedOutput::Vector)?;
            next += 1;
        }
        while next == texts.len() && worker.queued() < QUEUED_MAX / 2 {
            let Some(doc) = again.pop() else { break };
            submit(worker, texts, doc as usize, WantedOutput::Signs)?;
        }
        if first < texts.len() && asked.elapsed() > QUERY_PAUSE {
            times.push(ask(worker, 1_000 + times.len())?);
            asked = Instant::now();
        }
        let Ok(vectors) = delivered.recv_timeout(QUERY_PAUSE) else { continue };
        for EmbeddedDocument { doc, signed, .. } in vectors {
            let seen = has_first.get_mut(doc as usize).ok_or("a foreign text")?;
            if !std::mem::replace(seen, true) {
                first += 1;
                if first == texts.len() {
                    println!("first vectors: {:.2} s", processor_seconds() - begun_s);
                    println!("queries meanwhile: {}", median(&mut times));
                }
            }
            if signed == SignState::NotYet { again.push(doc) } else { whole += 1 }
        }
    }
    println!("vectors of whole texts: {:.2} s", processor_seconds() - begun_s);
    Ok(())
}

fn submit(
    worker: &Worker,
    texts: &[String],
    at: usize,
    want: WantedOutput,
) -> Result<(), Box<dyn Error>> {
    let text = texts.get(at).ok_or("no such text")?.clone();
    Ok(worker.submit(Job { doc: u32::try_from(at)?, generation: 0, text, want })?)
}

fn ask(worker: &Worker, number: usize) -> Result<Duration, QueryError> {
    let begun = Instant::now();
    worker.embed_query(
        &format!("why does test {number} fail in the pipeline"),
        Duration::from_secs(60),
    )?;
    Ok(begun.elapsed())
}

fn median(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    format!(
        "{} of p50 {middle:.2?}, best {:.2?}",
        times.len(),
        times.first().copied().unwrap_or_default()
    )
}

fn texts(file: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let text = |line: &str| -> Option<String> {
        let row: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(row.get("text")?.as_str()?.to_owned())
    };
    let lines = std::fs::read_to_string(file)?;
    Ok(lines.lines().filter_map(text).collect())
}

fn after(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn wait_while(condition: impl Fn() -> bool) {
    while condition() {
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// User and system time of all threads, in hundredths of a second.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|word| word.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

fn resident_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok()).unwrap_or_default()
        / 1_000
}
