//! Measures the search for secrets in one event, compared with a floor that reads the same bytes and searches
//! nothing (`to_ascii_lowercase`). Both take turns in one process, because only their ratio is reliable on a
//! busy machine. Bound: an event without a hit takes less than 20 µs. Not here: the append around it (`append`).
//!
//! `cargo bench --no-default-features --bench redact`
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::hint::black_box;
use std::time::Instant;

use guard::secrets::findings;

/// Turns for each text.
const TURNS: usize = 201;
/// The least number of bytes that one turn reads: enough for the clock, and short enough that some turns are
/// not interrupted by other work.
const TURN_BYTES: usize = 20_000;

/// Typical words of lessons, including words that begin rules.
const PROSE: &str = "While releasing the crate the build failed because the lock file was stale: run \
    cargo update before tagging, check that the registry index is fresh, and read the API token from \
    the environment (see docs/release.md, commit 19792f4). The key in the cache was too old; passing \
    --locked makes the error visible at once. ";

/// A line that triggers many rules without a match.
const HARD: &str = "aws=";

fn main() {
    println!("Nanoseconds for each text: the quickest turn, and the median in brackets.");
    println!("| text | bytes | findings | floor | findings | per byte |");
    println!("|---|---|---|---|---|---|");
    let token = format!("{}_{}", ["gh", "p"].concat(), "a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3");
    let line_bytes = 2 * 1024 * 1024;
    measure("no hit", &prose(500));
    measure("no hit", &prose(2_000));
    measure("no hit, with escapes", &prose(500).replace(". ", ".\\n"));
    measure("one token", &format!("{} {token}", prose(459)));
    measure(
        "one password",
        &format!("{} the password is {}", prose(475), ["hunter", "2"].concat()),
    );
    measure("a line of 2 MiB", &prose(line_bytes));
    measure("a hard line of 2 MiB", &HARD.repeat(line_bytes / HARD.len()));
}

fn prose(bytes: usize) -> String {
    PROSE.chars().cycle().take(bytes).collect()
}

/// Measures both in turns and prints a row.
fn measure(name: &str, text: &str) {
    let rounds = (TURN_BYTES / text.len()).max(1);
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        floor.push(nanos_each(rounds, || black_box(text).to_ascii_lowercase().len()));
        ours.push(nanos_each(rounds, || findings(black_box(text)).len()));
    }
    let (floor, ours) = (Times::of(floor), Times::of(ours));
    let (bytes, found) = (text.len(), findings(text).len());
    let each = ours.quickest as f64 / bytes as f64;
    println!(
        "| {name} | {bytes} | {found} | {} ({}) | {} ({}) | {each:.1} |",
        floor.quickest, floor.median, ours.quickest, ours.median
    );
}

/// The statistics of many turns.
struct Times {
    quickest: u128,
    median: u128,
}

impl Times {
    fn of(mut times: Vec<u128>) -> Self {
        times.sort_unstable();
        let at = |place: usize| times.get(place).copied().unwrap_or(0);
        Self { quickest: at(0), median: at(times.len() / 2) }
    }
}

fn nanos_each(rounds: usize, act: impl Fn() -> usize) -> u128 {
    let start = Instant::now();
    for _ in 0..rounds {
        black_box(act());
    }
    start.elapsed().as_nanos() / rounds as u128
}
