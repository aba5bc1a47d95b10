//! Measures rounds with a team against a floor: the same bytes published by hand. The two take turns, since only their
//! ratio is reliable on a busy machine. Not here: what a round must do (the conformance tests).
//!
//! `cargo bench -p sync --bench team_rounds -- [ROUNDS] [LINES]`: git beside `git hash-object`, `commit-tree`
//! and `push`, and `git fetch`. With AGENT_KNOWLEDGE_TEST_NATS_SERVER also a stream beside the client alone.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench reports to the person who runs it"
)]
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench ends at the first surprise"
)]
#![expect(clippy::expect_used, reason = "a bench ends at the first surprise")]
#![expect(dead_code, reason = "the machines of the tests can do more than is measured")]

#[path = "../tests/conformance/laptops.rs"]
mod laptops;
#[path = "../tests/conformance/nats_server.rs"]
mod nats_server;
mod stream_rounds;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use laptops::{API, Kind, Laptop, Team, git};

/// Default number of rounds.
const ROUNDS_DEFAULT: usize = 20;
/// Default number of new lines in a round.
const LINES_DEFAULT: usize = 500;
/// About the size of a usual event, in bytes.
const LESSON_BYTES: usize = 300;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let number =
        |at: usize, usual: usize| words.get(at).map_or(usual, |word| word.parse().unwrap());
    let (rounds, lines) = (number(0, ROUNDS_DEFAULT), number(1, LINES_DEFAULT));
    measure_git(rounds, lines);
    stream_rounds::measure_all(lines * rounds);
}

/// One machine publishes, another one receives, and the same is done by hand.
fn measure_git(rounds: usize, lines: usize) {
    let team = Team::new(Kind::Git);
    let (ana, bo, by_hand) = (team.laptop("ana"), team.laptop("bo"), ManualGit::new(&team));
    let mut times: [Vec<Duration>; 5] = Default::default();
    for round in 0..rounds {
        let text = new_lines(round, lines);
        append(&ana, &text);
        times[0].push(timed(|| assert_eq!(ana.sync().pushed, lines)));
        times[1].push(timed(|| by_hand.publish(&text)));
        times[2].push(timed(|| assert_eq!(bo.sync().fetched, lines)));
        times[3].push(timed(|| by_hand.fetch()));
        times[4].push(timed(|| assert_eq!(bo.sync().fetched, 0)));
    }
    let [push, push_floor, fetch, fetch_floor, idle] = times.map(median_ms);
    println!("git, {rounds} rounds of {lines} new lines, medians:");
    println!(
        "  sync of the writer  {push:7.1} ms, by hand {push_floor:7.1} ms, ratio {:.2}",
        push / push_floor
    );
    println!(
        "  sync of a reader    {fetch:7.1} ms, by hand {fetch_floor:7.1} ms, ratio {:.2}",
        fetch / fetch_floor
    );
    println!("  nothing new         {idle:7.1} ms");
}

fn new_lines(round: usize, lines: usize) -> String {
    let lesson = "x".repeat(LESSON_BYTES);
    let line = |n: usize| {
        format!(
            "{{\"id\":\"b{round:04}-{n:06}\",\"timestamp\":\"2026-03-04T11:00:00Z\",\"repo\":\"github.com/acme/api\",\"lesson\":\"{lesson}\"}}\n"
        )
    };
    (0..lines).map(line).collect()
}

fn append(laptop: &Laptop, text: &str) {
    let path = laptop.store.root().join(API);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::write(path, before + text).unwrap();
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1_000.0
}

/// Git, called only to move bytes: a new file each round.
struct ManualGit {
    writer: PathBuf,
    reader: PathBuf,
    remote: String,
}

impl ManualGit {
    fn new(team: &Team) -> Self {
        let folder = |name: &str| {
            let folder = team.folder.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            git(&folder, &["init", "--quiet", "--bare"], "");
            folder
        };
        let remote = folder("by-hand").display().to_string();
        Self { writer: folder("writer"), reader: folder("reader"), remote }
    }

    fn publish(&self, text: &str) {
        let at = |args: &[&str], input: &str| git(&self.writer, args, input);
        let blob = at(&["hash-object", "-w", "--stdin"], text);
        let known = at(&["for-each-ref", "--format=%(objectname)"], "");
        let mut files = String::new();
        if !known.is_empty() {
            files = at(&["ls-tree", &known], "") + "\n";
        }
        let number = files.lines().count();
        let tree = at(&["mktree"], &format!("{files}100644 blob {blob}\t{number:06}.jsonl\n"));
        let parent = if known.is_empty() { vec![] } else { vec!["-p", &known] };
        let commit = at(&[&["commit-tree", &tree, "-m", "x"], &parent[..]].concat(), "");
        at(&["update-ref", "refs/by-hand/x", &commit], "");
        at(&["push", "--quiet", &self.remote, "refs/by-hand/x"], "");
    }

    fn fetch(&self) {
        fetch(&self.reader, &self.remote);
    }
}

fn fetch(reader: &Path, remote: &str) {
    let refspec = "+refs/by-hand/x:refs/by-hand/x";
    git(reader, &["fetch", "--quiet", "--depth=1", remote, refspec], "");
    git(reader, &["archive", "--output=all.tar", "refs/by-hand/x"], "");
}
