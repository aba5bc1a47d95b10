//! Measures the embedding model in floats or in 8 bits: loading, one query, several at once, one text, and the
//! memory of the process. Each run measures one of them, because a process keeps what it once loaded.
//!
//! `cargo bench --bench encoder -- --model DIR --embedding int8`, then again with `fp32`. With `--apart` both
//! are loaded, and the cosines between their vectors are printed instead. With `--mean FILE` the mean token
//! vector over all our lessons is written instead, which is an asset of the program. With `--backlog` queries are asked
//! of the program's embedding threads, in turns with texts waiting and without.
//!
//! The texts are our own lessons. Queries are their first ten words.

#![expect(clippy::print_stdout, reason = "a benchmark's result is its output")]

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use index::embed::worker::{Job, ShutdownMode, WantedOutput, Worker, WorkerConfig, WorkerState};

use index::embed::{Embedder, SpaceId, load};
use settings::EmbeddingPrecision;

const CORPUS: &str = include_str!("lessons/corpus.jsonl");
/// Measured queries. Each is asked once, after ten that do not count.
const QUERIES: usize = 200;
const WARM_UP: usize = 10;
/// Queries in one call.
const TOGETHER: [usize; 5] = [1, 2, 4, 8, 16];
/// Turns, queries of each, and texts that wait meanwhile.
const BACKLOG_ROUNDS: usize = 2;
const BACKLOG_QUERIES: usize = 150;
const BACKLOG_TEXTS: usize = 8_000;
/// Texts per call: the worker's largest batch.
const BATCH_TEXTS: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(after("--model").ok_or("--model DIR is needed")?);
    let texts = texts(&["lesson"])?;
    let open = |embedding| load(embedding, &dir, NonZeroUsize::MIN);
    if std::env::args().any(|argument| argument == "--apart") {
        return apart(
            open(EmbeddingPrecision::Fp32)?.as_mut(),
            open(EmbeddingPrecision::Int8)?.as_mut(),
            &texts,
        );
    }
    if let Some(file) = after("--mean") {
        let texts = self::texts(&["context", "lesson", "command"])?;
        std::fs::write(file, mean(open(EmbeddingPrecision::Fp32)?.as_mut(), &texts)?)?;
        return Ok(());
    }
    if std::env::args().any(|argument| argument == "--backlog") {
        return backlog(dir, &texts);
    }
    let name = after("--embedding").unwrap_or_else(|| "fp32".to_owned());
    let embedding = match &*name {
        "fp32" => EmbeddingPrecision::Fp32,
        "int8" => EmbeddingPrecision::Int8,
        other => return Err(format!("--embedding is fp32 or int8, got {other}").into()),
    };
    let (embedder, loading) = timed(|| open(embedding));
    let mut embedder = embedder?;
    let loaded_mib = resident_mib("VmRSS:");
    let queries: Vec<String> = texts.iter().map(|text| first_words(text)).collect();
    let mut times = Vec::new();
    for (asked, query) in queries.iter().cycle().take(WARM_UP + QUERIES).enumerate() {
        let (embedding, time) = timed(|| embedder.embed_query(query));
        embedding?;
        times.extend((asked >= WARM_UP).then_some(time));
    }
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    together(embedder.as_mut(), &queries)?;
    let (embedded, embedding_all) = timed(|| all(embedder.as_mut(), &texts));
    println!(
        "{name}: load {:.0} ms; query best {:.2}, p50 {:.2}, p99 {:.2} ms; {:.0} texts/s; resident {loaded_mib} MiB loaded, {} MiB after, {} MiB at most",
        millis(loading),
        millis(at(0)),
        millis(at(50)),
        millis(at(99)),
        embedded?.len() as f64 / embedding_all.as_secs_f64(),
        resident_mib("VmRSS:"),
        resident_mib("VmHWM:"),
    );
    Ok(())
}

/// Prints what a query waits for its embedding, with texts waiting and without, in turns.
fn backlog(dir: PathBuf, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let load = move || load(EmbeddingPrecision::Fp32, &dir, NonZeroUsize::MIN);
    let config = WorkerConfig {
        load: Box::new(load),
        space: SpaceId::default(),
        at_end: ShutdownMode::Wait,
        idle: None,
        cache: None,
        deliver: Box::new(|_| {}),
    };
    let worker = Worker::start(config)?;
    wait_while(|| worker.progress().state == WorkerState::Loading);
    let mut times: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
    let mut numbers = 0_u32..;
    for _ in 0..BACKLOG_ROUNDS {
        for (has_backlog, times) in [false, true].into_iter().zip(&mut times) {
            for text in texts.iter().cycle().take(BACKLOG_QUERIES) {
                while has_backlog && worker.queued() < BACKLOG_TEXTS {
                    let doc = numbers.next().unwrap_or_default();
                    let place = doc as usize % texts.len();
                    let text = format!("{doc} {}", texts.get(place).map_or("", String::as_str));
                    worker.submit(Job { doc, generation: 0, text, want: WantedOutput::Vector })?;
                }
                // Equal queries would be cached.
                let query = format!("{} {}", first_words(text), numbers.next().unwrap_or_default());
                let (answer, time) = timed(|| worker.embed_query(&query, Duration::from_secs(9)));
                answer?;
                times.push(time);
            }
        }
        wait_while(|| worker.queued() > 0);
    }
    for (name, times) in ["no backlog", "backlog"].iter().zip(&mut times) {
        times.sort_unstable();
        let at =
            |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
        let [p50, p99] = [50, 99].map(|percent| millis(at(percent)));
        println!("{name}: p50 {p50:.2} ms, p99 {p99:.2} ms, {} queries", times.len());
    }
    Ok(())
}

/// Waits for the worker.
fn wait_while(busy: impl Fn() -> bool) {
    while busy() {
        #[expect(clippy::disallowed_methods, reason = "the worker tells nobody when it is idle")]
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the argument after a flag. Flags added by `cargo bench` are ignored.
fn after(flag: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != flag).nth(1)
}

/// Returns the given fields of every lesson as one text.
fn texts(fields: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut texts = Vec::new();
    for line in CORPUS.lines() {
        let entry: serde_json::Value = serde_json::from_str(line)?;
        let field = |name: &&str| entry.get(*name).and_then(|field| field.as_str());
        texts.push(fields.iter().filter_map(field).collect::<Vec<_>>().join("\n"));
    }
    // The worker also batches texts of similar length.
    texts.sort_by_key(String::len);
    Ok(texts)
}

fn first_words(text: &str) -> String {
    text.split(' ').take(10).collect::<Vec<_>>().join(" ")
}

/// Measures the time per query if several are given to the model at once. Batch sizes take turns.
fn together(embedder: &mut dyn Embedder, queries: &[String]) -> Result<(), Box<dyn Error>> {
    let mut times = TOGETHER.map(|_| Vec::new());
    for sixteen in queries.chunks_exact(TOGETHER.into_iter().max().unwrap_or(1)) {
        for (count, times) in TOGETHER.into_iter().zip(&mut times) {
            let some: Vec<&str> = sixteen.iter().take(count).map(String::as_str).collect();
            let (vectors, time) = timed(|| embedder.embed(&some));
            vectors?;
            times.push(millis(time) / count as f64);
        }
    }
    for (count, mut times) in TOGETHER.into_iter().zip(times) {
        times.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(0.0);
        println!("{count} queries at once: each best {:.2}, p50 {:.2} ms", at(0), at(50));
    }
    Ok(())
}

fn all(embedder: &mut dyn Embedder, texts: &[String]) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let mut vectors = Vec::new();
    for batch in texts.chunks(BATCH_TEXTS) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        vectors.extend(embedder.embed(&batch)?.into_iter().map(|embedding| embedding.vector));
    }
    Ok(vectors)
}

/// Returns the mean over all tokens in the program's format: floats, little-endian.
fn mean(embedder: &mut dyn Embedder, texts: &[String]) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut sums, mut count) = (vec![0_f64; embedder.dims()], 0_f64);
    for text in texts {
        for token in embedder.embed(&[text])?.into_iter().flat_map(|embedding| embedding.tokens) {
            sums.iter_mut().zip(&token.state).for_each(|(sum, number)| *sum += f64::from(*number));
            count += 1.0;
        }
    }
    println!("{count} tokens of {} texts", texts.len());
    #[expect(clippy::cast_possible_truncation, reason = "as many bits as the states have")]
    Ok(sums.iter().flat_map(|sum| ((sum / count) as f32).to_le_bytes()).collect())
}

fn apart(
    left: &mut dyn Embedder,
    right: &mut dyn Embedder,
    texts: &[String],
) -> Result<(), Box<dyn Error>> {
    let pairs = all(left, texts)?.into_iter().zip(all(right, texts)?);
    let cosine = |(left, right): (Vec<f32>, Vec<f32>)| -> f32 {
        left.iter().zip(&right).map(|(a, b)| a * b).sum()
    };
    let mut cosines: Vec<f32> = pairs.map(cosine).collect();
    cosines.sort_unstable_by(f32::total_cmp);
    let mean = cosines.iter().sum::<f32>() / cosines.len().max(1) as f32;
    let least = cosines.first().copied().unwrap_or_default();
    println!(
        "{} texts: cosine of the two on average {mean:.4}, at least {least:.4}",
        cosines.len()
    );
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Reads a line of this process's status from the kernel, in MiB; zero on other systems.
fn resident_mib(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|text| text.strip_prefix(line)?.trim().split(' ').next());
    found.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() / 1024
}
