//! Measures the shared retriever: real processes, measured from outside over the protocol, from a thousand
//! events to a million, and two peers at the same work. Every part can run alone. Results are appended to a
//! file, one row each. Not here: the appender (`append`), the index of words in process (`lexical`).
//!
//! `cargo bench --bench serving -- PART[,PART]... [OPTION VALUE]...` or `scripts/bench serving`. Parts:
//! handshake search freshness restart footprint save saves-at-once import command orphans beside. `table` and
//! `picture` print the file of results, and `corpus` and `questions` the synthetic data.
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

mod beside;
mod chance;
mod corpus;
mod made_up;
mod mcp_client;
mod measures;
mod ours;
mod peers;
mod picture;
mod server_process;
mod table;
mod times;
mod vocabulary;

use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ours::{By, Ours, Programs};
use times::Results;

/// The result of a step that may fail for any reason. The bench ends then.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// What all parts share.
pub struct Bench {
    programs: Programs,
    place: PathBuf,
    results: Results,
    /// Default number of turns of each contender.
    rounds: usize,
    /// Questions asked of each contender.
    questions: usize,
    /// How long a store may take until it is ready, because embedding is slow.
    ready_bound: Duration,
    no_op: PathBuf,
}

/// Options with a value, by name.
struct Options(HashMap<String, String>);

impl Options {
    fn text(&self, name: &str, or: &str) -> String {
        self.0.get(name).cloned().unwrap_or_else(|| or.to_owned())
    }

    fn number(&self, name: &str, or: u64) -> Outcome<u64> {
        Ok(self.0.get(name).map(|text| text.parse()).transpose()?.unwrap_or(or))
    }

    fn list(&self, name: &str, or: &str) -> Outcome<Vec<u64>> {
        let text = self.text(name, or);
        Ok(text
            .split(',')
            .filter(|one| !one.is_empty())
            .map(str::parse)
            .collect::<Result<_, _>>()?)
    }
}

fn main() -> Outcome<()> {
    // Cargo passes `--bench` itself.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let parts = words.next().ok_or("which part?")?;
    let mut options = Options(HashMap::new());
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        options.0.insert(name.trim_start_matches('-').to_owned(), value);
    }
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-serving");
    std::fs::create_dir_all(&scratch)?;
    let results =
        PathBuf::from(options.text("results", &scratch.join("results.jsonl").to_string_lossy()));
    match parts.as_str() {
        "table" => print!("{}", table::tables(&table::rows(&results)?)?),
        "picture" => print!("{}", picture::svg(&table::rows(&results)?)?),
        "corpus" => {
            let count = options.number("count", 1_000)?;
            for number in 0..count {
                print!("{}", corpus::event(number).line());
            }
        }
        "questions" => {
            let asked = corpus::questions(options.number("size", 1_000)?, 30);
            for question in asked {
                println!("{} {:?} {}", question.answer, question.asked, question.text);
            }
        }
        _ => {
            let bench = Bench::new(&options, &scratch, &results)?;
            for part in parts.split(',') {
                bench.run(part, &options)?;
            }
        }
    }
    Ok(())
}

impl Bench {
    fn new(options: &Options, scratch: &Path, results: &Path) -> Outcome<Self> {
        let built =
            Path::new(env!("CARGO_BIN_EXE_agent-knowledge")).parent().ok_or("no programs")?;
        let folder = PathBuf::from(options.text("programs", &built.to_string_lossy()));
        let model = options.0.get("model").map(PathBuf::from);
        Ok(Self {
            programs: Programs { folder, model },
            place: scratch.to_owned(),
            results: Results::at(results),
            rounds: usize::try_from(options.number("rounds", 30)?)?,
            questions: usize::try_from(options.number("questions", 300)?)?,
            ready_bound: Duration::from_secs(options.number("ready-seconds", 600)?),
            no_op: no_op(scratch)?,
        })
    }

    fn run(&self, part: &str, options: &Options) -> Outcome<()> {
        let sizes = options.list("sizes", "1000,10000,100000")?;
        let hybrid = options.list("hybrid-sizes", "")?;
        let made_up = options.list("made-up-sizes", "")?;
        if !made_up.is_empty() && self.programs.model.is_none() {
            return Err("made-up vectors need --model, for the questions' own".into());
        }
        let of = |by, sizes: &[u64]| sizes.iter().map(|&size| (by, size)).collect::<Vec<_>>();
        let stores =
            [of(By::Words, &sizes), of(By::Both, &hybrid), of(By::MadeUp, &made_up)].concat();
        let largest = sizes.iter().copied().max().unwrap_or(1_000);
        match part {
            "handshake" => measures::handshake(self, &sizes),
            "search" => measures::searches(self, &stores),
            "freshness" => measures::freshness(self, largest),
            "restart" => measures::restart(self, &sizes),
            "footprint" => measures::footprint(self, &stores),
            "save" => measures::saves(self, largest),
            "saves-at-once" => measures::many_saves(self, options.number("saves", 200)?),
            "import" => measures::imports(self, options.number("lines", 100_000)?),
            "command" => measures::commands(self, &sizes),
            "orphans" => measures::orphans(self, usize::try_from(options.number("clients", 200)?)?),
            "beside" => self.beside(options, &sizes, &hybrid),
            other => Err(format!("no part {other}").into()),
        }
    }

    fn beside(&self, options: &Options, sizes: &[u64], hybrid: &[u64]) -> Outcome<()> {
        let path = |name: &str| PathBuf::from(options.text(name, ""));
        let installed = beside::installed(&path("node"), &path("server-memory"), &path("vestige"));
        let installed =
            installed.ok_or("the peers are not installed; scripts/bench serving does that")?;
        for &size in sizes {
            let with_meaning = hybrid.contains(&size).then_some(());
            beside::compare(self, &installed, size, with_meaning)?;
        }
        Ok(())
    }

    /// Creates a separate store. Returns it with the time of its import.
    fn store(&self, name: &str, by: By, events: u64) -> Outcome<(Ours, Duration)> {
        Ours::with(&self.programs, &self.place.join(name), by, events)
    }

    /// Measures a program that does nothing, from spawn to exit.
    fn no_op(&self) -> Outcome<Duration> {
        let mut command = Command::new(&self.no_op);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        command.status()?;
        Ok(start.elapsed())
    }
}

/// Compiles a program that does nothing, with the flags of our release profile.
fn no_op(place: &Path) -> Outcome<PathBuf> {
    let (source, program) = (place.join("no_op.rs"), place.join("no_op"));
    if program.is_file() {
        return Ok(program);
    }
    std::fs::write(&source, "fn main() {}\n")?;
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let flags = ["-C", "opt-level=3", "-C", "panic=abort", "-C", "strip=symbols"];
    let output =
        Command::new(compiler).args(flags).arg("-o").arg(&program).arg(&source).output()?;
    match output.status.success() {
        true => Ok(program),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}
