//! Measures dense search at several sizes: signs and then 8 bits (as the index does), 8 bits of every row, and
//! floats of every row (the earlier method, and the floor for exact answers), one query after another in the
//! same run. Vectors are seeded: subjects, and texts around them. Writes no file.
//!
//! `cargo bench --bench vectors -- --sizes 10000,100000,1000000 --queries 50`
//!
//! Synthetic vectors show how long a search takes. Their recall only shows that nothing is broken. For the
//! recall of real texts, give two files of their vectors, as consecutive little-endian floats:
//! `-- --rows FILE --asked FILE`

#![expect(clippy::print_stdout, reason = "a benchmark's result is its output")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use index::vector::VectorIndex;

/// A fixed seed, so that the vectors are always the same.
const SEED: u64 = 20_261_121;
/// Width of the model in use.
const DIMS: usize = 384;
/// How many results a query requests from the index.
const TOP_K: usize = 200;
/// Texts per subject.
const TEXTS: usize = 50;
/// Independent sums, as in the earlier index.
const LANES: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes = list_after("--sizes").unwrap_or_else(|| vec![10_000, 100_000, 1_000_000]);
    let queries = list_after("--queries").and_then(|list| list.first().copied()).unwrap_or(50);
    let given = (after("--rows"), after("--asked"));
    println!("| rows | search | best | p50 | p99 | best against floats | recall@10 | recall@200 |");
    println!("|---|---|---|---|---|---|---|---|");
    if let (Some(rows), Some(asked)) = given {
        return measure(directions(&rows)?.into_iter(), &directions(&asked)?);
    }
    for size in sizes {
        let mut generator = VectorGenerator::new(size / TEXTS);
        let asked: Vec<Vec<f32>> = (0..queries).map(|_| generator.direction()).collect();
        measure((0..size).map(|_| generator.direction()), &asked)?;
    }
    Ok(())
}

/// Returns the argument after a flag. Flags added by `cargo bench` are ignored.
fn after(flag: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != flag).nth(1)
}

/// Reads the vectors in a file.
fn directions(path: &str) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let (words, _) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    Ok(numbers.chunks_exact(DIMS).map(<[f32]>::to_vec).collect())
}

/// The comma-separated numbers after a flag.
fn list_after(flag: &str) -> Option<Vec<usize>> {
    after(flag)?.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// Times and recall of one way to search.
struct Way {
    name: &'static str,
    times: Vec<Duration>,
    recalls: [f64; 2],
}

impl Way {
    fn new(name: &'static str) -> Self {
        Self { name, times: Vec::new(), recalls: [0.0; 2] }
    }

    fn note(&mut self, exact: &[u32], found: &[u32], time: Duration) {
        self.times.push(time);
        for (sum, depth) in self.recalls.iter_mut().zip([10, TOP_K]) {
            let wanted = exact.iter().take(depth);
            let hits = wanted.clone().filter(|doc| found.iter().take(depth).any(|hit| hit == *doc));
            *sum += hits.count() as f64 / wanted.count().max(1) as f64;
        }
    }
}

fn measure(
    rows: impl ExactSizeIterator<Item = Vec<f32>>,
    queries: &[Vec<f32>],
) -> Result<(), Box<dyn Error>> {
    let size = rows.len();
    let mut floats: Vec<f32> = Vec::with_capacity(size * DIMS);
    let mut index = VectorIndex::new(DIMS);
    let mut setting = Duration::ZERO;
    for (doc, direction) in (0_u32..).zip(rows) {
        setting += timed(|| index.set(doc, &direction)).1;
        floats.extend(direction);
    }
    let docs: Vec<u32> = (0..).take(size).collect();
    let ways = ["floats", "eight bits", "signs, then eight bits"];
    let mut ways = ways.map(Way::new);
    for query in queries {
        let (exact, exact_time) = timed(|| best(scores_of_floats(&floats, query), TOP_K));
        let score = |docs: &[u32]| index.scores(docs, query).into_iter().flatten().collect();
        let (all, all_time) = timed(|| best(score(&docs), TOP_K));
        let (found, time) = timed(|| black_box(index.search(query, |_| true, TOP_K)));
        let found: Vec<u32> = found.into_iter().map(|(doc, _)| doc).collect();
        let results = [(&exact, exact_time), (&all, all_time), (&found, time)];
        for (way, (docs, time)) in ways.iter_mut().zip(results) {
            way.note(&exact, docs, time);
        }
    }
    report(size, &mut ways);
    saved(&index, setting)
}

fn report(size: usize, ways: &mut [Way]) {
    let mut floor = None;
    for way in ways {
        way.times.sort_unstable();
        let at = |percent: usize| {
            let rank = (way.times.len() * percent).div_ceil(100).saturating_sub(1);
            way.times.get(rank).copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let (best, p50, p99) = (at(0), at(50), at(99));
        // On a busy machine the best time is the least disturbed.
        let ratio = best / *floor.get_or_insert(best);
        let [ten, all] = way.recalls.map(|sum| sum / way.times.len().max(1) as f64);
        println!(
            "| {size} | {} | {best:.2} ms | {p50:.2} ms | {p99:.2} ms | {ratio:.3} | {ten:.4} | {all:.4} |",
            way.name
        );
    }
}

/// Measures building the index, and saving and loading it.
fn saved(index: &VectorIndex, setting: Duration) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    let (written, writing) = timed(|| index.write_to(&mut bytes));
    written?;
    let (read, reading) = timed(|| VectorIndex::read_from(&mut bytes.as_slice()));
    println!(
        "{} rows: setting all {:.0} ms; {} bytes saved, written in {:.0} ms, read in {:.0} ms\n",
        read?.len(),
        setting.as_secs_f64() * 1e3,
        bytes.len(),
        writing.as_secs_f64() * 1e3,
        reading.as_secs_f64() * 1e3,
    );
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn scores_of_floats(floats: &[f32], query: &[f32]) -> Vec<f32> {
    floats.chunks_exact(DIMS).map(|row| dot(row, query)).collect()
}

fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (lefts, _) = left.as_chunks::<LANES>();
    let (rights, _) = right.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (lefts, rights) in lefts.iter().zip(rights) {
        for ((sum, a), b) in sums.iter_mut().zip(lefts).zip(rights) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// Returns the documents with the best scores, best first.
fn best(scores: Vec<f32>, top_k: usize) -> Vec<u32> {
    let mut scored: Vec<(f32, u32)> = scores.into_iter().zip(0..).collect();
    let better = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if scored.len() > top_k && top_k > 0 {
        scored.select_nth_unstable_by(top_k - 1, better);
        scored.truncate(top_k);
    }
    scored.sort_unstable_by(better);
    scored.into_iter().map(|(_, doc)| doc).collect()
}

/// Generates vectors from a seed.
struct VectorGenerator {
    state: u64,
    subjects: usize,
}

impl VectorGenerator {
    fn new(subjects: usize) -> Self {
        Self { state: SEED, subjects: subjects.max(1) }
    }

    /// Returns the vector of a text: that of its subject, plus as much noise.
    fn direction(&mut self) -> Vec<f32> {
        let subject = self.next() % self.subjects as u64;
        let mut of_subject = Self { state: SEED ^ (subject << 20), subjects: 1 };
        let numbers: Vec<f32> =
            (0..DIMS).map(|_| of_subject.number() + 1.1 * self.number()).collect();
        let length = dot(&numbers, &numbers).sqrt();
        numbers.into_iter().map(|number| number / length).collect()
    }

    /// Returns a roughly normal number: the sum of four bytes.
    fn number(&mut self) -> f32 {
        let bytes = self.next().to_le_bytes();
        bytes.iter().take(4).map(|byte| f32::from(*byte) - 127.5).sum()
    }

    /// SplitMix64: one multiply-and-shift step, which is enough for test data.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
