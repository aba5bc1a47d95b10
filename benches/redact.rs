//! How long it takes to look for secrets in one event, beside a floor that reads the same bytes and
//! looks for nothing: all in one process, taking turns, since only their ratio can be trusted on a
//! machine with other work. Not here: the append around it (`append`).
//!
//! `cargo bench --no-default-features --bench redact`
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::hint::black_box;
use std::time::Instant;

use agent_knowledge::event::redact::findings;

/// Turns that each text gets; the median of them counts.
const TURNS: usize = 41;
/// Bytes that one turn reads at least, so that the clock is fine enough.
const TURN_BYTES: usize = 4_000_000;

/// Words as they stand in lessons, also those that rules begin with.
const PROSE: &str = "While releasing the crate the build failed because the lock file was stale: run \
    cargo update before tagging, check that the registry index is fresh, and read the API token from \
    the environment (see docs/release.md, commit 19792f4). The key in the cache was too old; passing \
    --locked makes the error visible at once. ";

/// A line made to have looks from many names that find nothing.
const HARD: &str = "aws=";

fn main() {
    println!("| text | bytes | findings | ns, floor | ns, findings | ratio | ns per byte |");
    println!("|---|---|---|---|---|---|---|");
    let token = format!("{}_{}", ["gh", "p"].concat(), "a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3");
    let line_bytes = 2 * 1024 * 1024;
    measure("no hit", &prose(500));
    measure("no hit", &prose(2_000));
    measure("no hit, with escapes", &prose(500).replace(". ", ".\\n"));
    measure("one token", &format!("{}{token}", prose(460)));
    measure("one password", &format!("{}the password is {}", prose(476), ["hunter", "2"].concat()));
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
    let (floor, ours) = (median(floor), median(ours));
    let bytes = text.len();
    let (ratio, each) = (ours as f64 / floor.max(1) as f64, ours as f64 / bytes as f64);
    let found = findings(text).len();
    println!("| {name} | {bytes} | {found} | {floor} | {ours} | {ratio:.1} | {each:.2} |");
}

fn nanos_each(rounds: usize, act: impl Fn() -> usize) -> u128 {
    let start = Instant::now();
    for _ in 0..rounds {
        black_box(act());
    }
    start.elapsed().as_nanos() / rounds as u128
}

fn median(mut times: Vec<u128>) -> u128 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0)
}
