//! Measures a restart: reading all logs, writing a checkpoint, starting from it, and starting from it after a
//! few new lines, with the memory of the process each time. Synthetic events of some 500 bytes: seeded,
//! Zipf-like words, sessions of twenty. Each phase is a separate process; words only.
//!
//! `cargo bench --bench restart -- --sizes 10000,100000`

#![expect(clippy::print_stdout, reason = "a benchmark's result is its output")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use engine::checkpoint::Checkpoints;
use engine::follow::{Follower, RestoreOutcome};
use event::Timestamp;
use memory::MemoryBound;
use search::{Query, search};
use settings::Config;
use store::Store;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A fixed seed, so that the corpus is always the same.
const SEED: u64 = 20_261_121;

/// Words are ranked 1 to 2^15.
const VOCABULARY_DOUBLINGS: u32 = 15;

const SYLLABLES: [&str; 16] = [
    "ba", "con", "der", "fi", "gra", "hon", "ju", "ker", "lo", "mi", "nor", "pre", "re", "sta",
    "ver", "zu",
];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).cloned()
    };
    if let (Some(phase), Some(folder)) = (after("--phase"), after("--folder")) {
        return run(&phase, Path::new(&folder));
    }
    println!("| events | phase | took | first answer | then resident | peak |");
    println!("|---|---|---|---|---|---|");
    for size in after("--sizes").unwrap_or_else(|| "10000,100000".to_owned()).split(',') {
        let folder = tempfile::tempdir()?;
        write_logs(folder.path(), size.trim().parse()?)?;
        for phase in ["cold", "restored", "restored and 100 more"] {
            if phase.ends_with("more") {
                let mut log =
                    OpenOptions::new().append(true).open(folder.path().join("repo0.jsonl"))?;
                let mut random = Random(SEED + 1);
                (0..100).try_for_each(|number| {
                    log.write_all(line(&mut random, 1 << 30 | number).as_bytes())
                })?;
            }
            let out = Command::new(std::env::current_exe()?)
                .args(["--phase", phase, "--folder"])
                .arg(folder.path())
                .output()?;
            std::io::stdout().write_all(format!("| {size} ").as_bytes())?;
            std::io::stdout().write_all(&out.stdout)?;
        }
    }
    Ok(())
}

fn run(phase: &str, folder: &Path) -> Outcome<()> {
    let checkpoints = Checkpoints::at(folder.join("cache"), "bench", None);
    let mut follower = Follower::new(Store::at(folder), Config::default(), MemoryBound::NONE, None);
    let begun = Instant::now();
    let (mut restored, mut is_restored) = (Duration::ZERO, false);
    if phase != "cold" {
        is_restored =
            matches!(follower.restore(&checkpoints), RestoreOutcome::FromCheckpoint { .. });
        restored = begun.elapsed();
    }
    follower.catch_up();
    let took = begun.elapsed();
    let snapshot = follower.snapshot();
    let now: Timestamp = "2026-06-01T00:00:00Z".parse()?;
    let text = snapshot.memory(7).map(|memory| memory.event().lesson).unwrap_or_default();
    let text: String = text.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    let hits = search(&snapshot, &Query { text: &text, ..Query::default() }, now, 9).len();
    let answered = begun.elapsed();
    println!(
        "| {phase} | {:.1} ms ({:.1} to restore) | {:.1} ms, {hits} hits | {} MiB | {} MiB |",
        ms(took),
        ms(restored),
        ms(answered),
        resident_mib("VmRSS"),
        resident_mib("VmHWM"),
    );
    if phase == "cold" {
        drop(snapshot);
        let begun = Instant::now();
        follower.save(&checkpoints)?;
        let files = fs::read_dir(folder.join("cache"))?.flatten();
        let bytes: u64 = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
        println!(
            "| | saved, {} MiB | {:.1} ms | | {} MiB | {} MiB |",
            bytes >> 20,
            ms(begun.elapsed()),
            resident_mib("VmRSS"),
            resident_mib("VmHWM"),
        );
        let begun = Instant::now();
        let snapshot = follower.snapshot();
        let bytes: usize =
            snapshot.memories().iter().map(|memory| memory.event().lesson.len()).sum();
        let each = begun.elapsed().as_secs_f64() * 1e6 / snapshot.memories().len() as f64;
        println!(
            "| | every event once ({} MiB of lessons) | {each:.2} µs each | | | |",
            bytes >> 20
        );
    } else if !is_restored {
        println!("| | NOT RESTORED | | | | |");
    }
    Ok(())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns a memory figure of this process from the system, in MiB; 0 if there is none.
fn resident_mib(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

/// A linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Returns a word. Its rank is roughly log-uniform, as in real text.
    fn word(&mut self) -> String {
        let doublings = self.below(u64::from(VOCABULARY_DOUBLINGS));
        let mut rank = (1 << doublings) + self.below(1 << doublings);
        let mut word = String::new();
        while rank > 0 {
            let syllable = usize::try_from(rank % 16).unwrap_or(0);
            word.push_str(SYLLABLES.get(syllable).copied().unwrap_or_default());
            rank /= 16;
        }
        word
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

fn write_logs(folder: &Path, size: u64) -> Outcome<()> {
    let mut random = Random(SEED);
    for repo in 0..8 {
        let mut log = BufWriter::new(File::create(folder.join(format!("repo{repo}.jsonl")))?);
        for number in (repo..size).step_by(8) {
            log.write_all(line(&mut random, number).as_bytes())?;
        }
        log.into_inner()?.sync_all()?;
    }
    Ok(())
}

fn line(random: &mut Random, number: u64) -> String {
    let second = number % 60;
    let (minute, hour, day) = (number / 60 % 60, number / 3_600 % 24, 1 + number / 86_400 % 28);
    let mut line = format!(
        "{{\"id\":\"01K0{number:022X}\",\"timestamp\":\"2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}Z\","
    );
    let _ = writeln!(
        line,
        "\"agent_id\":\"agent-{}\",\"repo\":\"repo{}\",\"event_type\":\"error\",\"context\":\"{}\",\"command\":\"cargo {}\",\"lesson\":\"{}\",\"success_rate\":\"3/4\",\"tags\":[\"{}\",\"{}\"],\"session_id\":\"session-{}\"}}",
        random.below(12),
        number % 8,
        random.words(12),
        random.words(3),
        random.words(24),
        random.word(),
        random.word(),
        number / 160,
    );
    line
}
