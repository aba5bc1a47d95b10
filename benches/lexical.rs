//! Measures lexical search and index building at several store sizes, compared with an exhaustive search of the
//! same index and with the `bm25` crate's stock engine on the same texts in the same run. Events are synthetic:
//! seeded, with Zipf-like words, identifiers, paths and error strings. Writes no file. This is the only place
//! outside the lexical index that names the crate.
//!
//! `cargo bench --bench lexical -- --sizes 1000,10000,100000 --queries 200`
//! `--stock none` skips the crate, which is slow for a million events.

#![expect(clippy::print_stdout, reason = "a benchmark's result is its output")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bm25::{Embedder, EmbedderBuilder, Scorer};
use index::lexical::{DocId, LexicalIndex};

/// A fixed seed, so that corpus and queries are always the same.
const SEED: u64 = 20_261_120;

/// Words are ranked 1 to 2^15: the vocabulary of some hundred thousand words of technical English.
const VOCABULARY_DOUBLINGS: usize = 15;

/// How many candidates a search takes from the index.
const TOP_K: usize = 200;

const SYLLABLES: [&str; 24] = [
    "ba", "con", "der", "fi", "gra", "hon", "in", "ju", "ker", "lo", "mi", "nor", "o", "pre",
    "qua", "re", "sta", "tor", "u", "ver", "wi", "xen", "ya", "zu",
];

const GLUE: [&str; 12] =
    ["the", "to", "when", "is", "in", "of", "and", "for", "not", "with", "after", "before"];

const ERRORS: [&str; 8] =
    ["EACCES", "ECONNREFUSED", "ENOENT", "E0277", "TS2345", "0x80070005", "HTTP 404", "SIGKILL"];

fn main() -> Result<(), Box<dyn Error>> {
    let sizes = list_after("--sizes").unwrap_or_else(|| vec![1_000, 10_000, 100_000]);
    let queries = list_after("--queries").and_then(|list| list.first().copied()).unwrap_or(200);
    println!("| events | engine | build docs/s | p50 | p99 | p50 ratio | p99 ratio |");
    println!("|---|---|---|---|---|---|---|");
    for size in sizes {
        measure(size, queries)?;
    }
    Ok(())
}

/// Returns the comma-separated numbers after a flag. Flags added by `cargo bench` are ignored.
fn list_after(flag: &str) -> Option<Vec<usize>> {
    let mut arguments = std::env::args().skip_while(|argument| argument != flag);
    let list = arguments.nth(1)?;
    list.split(',').map(|number| number.trim().parse().ok()).collect()
}

fn measure(size: usize, queries: usize) -> Result<(), Box<dyn Error>> {
    let mut generator = TextGenerator::new();
    let texts: Vec<String> = (0..size).map(|_| generator.event()).collect();
    let queries: Vec<String> = (0..queries).map(|_| generator.query(&texts)).collect();
    let (ours, our_build) = timed(|| build_ours(&texts));
    let ours = ours?;
    let (stock, stock_build) = timed(|| with_stock().then(|| StockIndex::build(&texts)));

    let (mut our_times, mut full_times, mut stock_times) = (Vec::new(), Vec::new(), Vec::new());
    for query in &queries {
        our_times.push(timed(|| black_box(ours.search(query, |_| true, TOP_K))).1);
        full_times.push(timed(|| black_box(everything(&ours, query))).1);
        if let Some(stock) = &stock {
            stock_times.push(timed(|| black_box(stock.search(query))).1);
        }
    }
    let ours_pair = percentiles(&mut our_times);
    row("lexical index", size, our_build, ours_pair, ours_pair);
    row("the same, all postings", size, our_build, percentiles(&mut full_times), ours_pair);
    if stock.is_some() {
        row("bm25 crate", size, stock_build, percentiles(&mut stock_times), ours_pair);
    }
    saved(&ours, size)
}

fn everything(index: &LexicalIndex, query: &str) -> usize {
    index.prepare(query).search_everything(|_| true, TOP_K).len()
}

fn with_stock() -> bool {
    !std::env::args().skip_while(|argument| argument != "--stock").any(|value| value == "none")
}

/// Measures saving and loading the index.
fn saved(index: &LexicalIndex, size: usize) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    let (written, write) = timed(|| index.write_to(&mut bytes));
    written?;
    let (read, read_time) = timed(|| LexicalIndex::read_from(&mut bytes.as_slice()));
    println!(
        "{size} events: {} bytes, written in {:.1} ms, {} read back in {:.1} ms",
        bytes.len(),
        write.as_secs_f64() * 1e3,
        read?.len(),
        read_time.as_secs_f64() * 1e3,
    );
    Ok(())
}

fn row(name: &str, size: usize, build: Duration, (p50, p99): Pair, (our_p50, our_p99): Pair) {
    println!(
        "| {size} | {name} | {:.0} | {:.3} ms | {:.3} ms | {:.1} | {:.1} |",
        size as f64 / build.as_secs_f64(),
        p50.as_secs_f64() * 1e3,
        p99.as_secs_f64() * 1e3,
        p50.as_secs_f64() / our_p50.as_secs_f64(),
        p99.as_secs_f64() / our_p99.as_secs_f64(),
    );
}

type Pair = (Duration, Duration);

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Median and 99th percentile, by nearest rank.
fn percentiles(times: &mut [Duration]) -> Pair {
    times.sort_unstable();
    let at = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(rank).copied().unwrap_or_default()
    };
    (at(50), at(99))
}

fn build_ours(texts: &[String]) -> Result<LexicalIndex, Box<dyn Error>> {
    let mut index = LexicalIndex::new();
    for (doc, text) in (0_u32..).zip(texts) {
        index.insert(DocId(doc), text)?;
    }
    Ok(index)
}

/// The crate as in its documentation: default tokenizer, hashed terms, fitted average length.
struct StockIndex {
    embedder: Embedder,
    scorer: Scorer<u32>,
}

impl StockIndex {
    fn build(texts: &[String]) -> Self {
        let corpus: Vec<&str> = texts.iter().map(String::as_str).collect();
        let tokenizer = bm25::DefaultTokenizer::default();
        let builder = EmbedderBuilder::with_tokenizer_and_fit_to_corpus(tokenizer, &corpus);
        let embedder = builder.build();
        let mut scorer = Scorer::new();
        for (doc, text) in (0_u32..).zip(texts) {
            scorer.upsert(&doc, embedder.embed(text));
        }
        Self { embedder, scorer }
    }

    fn search(&self, query: &str) -> usize {
        self.scorer.matches(&self.embedder.embed(query)).len()
    }
}

/// Generates events and queries from a seed.
struct TextGenerator {
    state: u64,
    words: Vec<String>,
}

impl TextGenerator {
    fn new() -> Self {
        let mut generator = Self { state: SEED, words: Vec::new() };
        let words = (1..1 << VOCABULARY_DOUBLINGS).map(|_| generator.new_word()).collect();
        generator.words = words;
        generator
    }

    /// SplitMix64: one multiply-and-shift step, which is enough for test data.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    fn one_of(&mut self, choices: &[&str]) -> String {
        let at = self.below(choices.len());
        choices.get(at).copied().unwrap_or_default().to_owned()
    }

    fn new_word(&mut self) -> String {
        (0..2 + self.below(3)).map(|_| self.one_of(&SYLLABLES)).collect()
    }

    /// Rank r with probability about 1/r: each doubling of the rank is as likely as the next.
    fn word(&mut self) -> String {
        let doubling = 1 << self.below(VOCABULARY_DOUBLINGS);
        let rank = doubling + self.below(doubling);
        self.words.get(rank - 1).cloned().unwrap_or_default()
    }

    fn token(&mut self) -> String {
        match self.below(100) {
            0..30 => self.one_of(&GLUE),
            30..33 => format!("{}_{}", self.word(), self.word()),
            33..36 => format!("{}{}", self.word(), capitalised(&self.word())),
            36..38 => format!("src/{}/{}.rs", self.word(), self.word()),
            38..39 => format!("--{}-{}", self.word(), self.word()),
            39..41 => self.one_of(&ERRORS),
            41..42 => format!("{:08x}", self.next() >> 32),
            _ => self.word(),
        }
    }

    fn tokens(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.token()).collect()
    }

    /// Returns 40 to 120 words: context, command and lesson of one event.
    fn event(&mut self) -> String {
        let count = 40 + self.below(81);
        self.tokens(count).join(" ")
    }

    /// Returns 3 to 10 neighbouring words of some event, and two words that need not be in it.
    fn query(&mut self, texts: &[String]) -> String {
        let chosen = self.below(texts.len());
        let words: Vec<&str> = texts.get(chosen).map_or("", String::as_str).split(' ').collect();
        let (start, count) = (self.below(words.len().saturating_sub(10)), 3 + self.below(8));
        let mut query: Vec<String> =
            words.iter().skip(start).take(count).map(|&word| word.to_owned()).collect();
        query.extend(self.tokens(2));
        query.join(" ")
    }
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}
