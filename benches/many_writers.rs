//! Measures how long many processes take to append to one log without a pause, each event through the normal
//! write path (validate, clean, encode, lock, append), and checks that every event is in the log afterwards. P4
//! allows a minute for 64 processes with 10,000 events each. Not here: starting a process for each event
//! (`append`).
//!
//! `cargo bench --no-default-features --bench many_writers [-- PROCESSES EVENTS]`
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Instant;

use event::{Draft, RepoKey};
use settings::Config;
use store::{Durability, Store};
use writer::{Identity, Moment, Writer};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The number of processes in P4.
const PROCESSES: usize = 64;
const EVENTS: usize = 10_000;

fn main() -> Outcome<()> {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if let [mode, store, number, events] = words.as_slice()
        && mode == "writer"
    {
        return write(Path::new(store), number.parse()?, events.parse()?);
    }
    let number =
        |place: usize, usual| words.get(place).map_or(Ok(usual), |word| word.parse::<usize>());
    let (processes, events) = (number(0, PROCESSES)?, number(1, EVENTS)?);
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-many-writers");
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    Store::at(&place).ensure()?;
    let start = Instant::now();
    let children: Vec<Child> =
        (0..processes).map(|number| started(&place, number, events)).collect::<Outcome<_>>()?;
    for mut child in children {
        if !child.wait()?.success() {
            return Err("a writer failed".into());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    report(&place, processes * events, seconds)
}

fn started(place: &Path, number: usize, events: usize) -> Outcome<Child> {
    let numbers = [number.to_string(), events.to_string()];
    Ok(Command::new(std::env::current_exe()?).arg("writer").arg(place).args(numbers).spawn()?)
}

/// Runs one process: one append per event.
fn write(place: &Path, number: usize, events: usize) -> Outcome<()> {
    let writer = Writer {
        store: Store::at(place),
        config: Config::default(),
        directory: PathBuf::from(place),
        identity: Identity::default(),
    };
    for event in 0..events {
        let draft = Draft {
            event_type: Some("fact".to_owned()),
            repo: Some("api".to_owned()),
            lesson: Some(format!("lesson {event} of writer {number}: {}", "word ".repeat(60))),
            ..Draft::default()
        };
        let random = ((number as u128) << 64) | event as u128;
        writer.record(
            draft,
            Moment { now: jiff::Timestamp::UNIX_EPOCH, random },
            Durability::Written,
        )?;
    }
    Ok(())
}

fn report(place: &Path, expected: usize, seconds: f64) -> Outcome<()> {
    let key = RepoKey::parse("api").map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(Store::at(place).log_of(&key))?;
    let lessons: BTreeSet<&str> =
        text.lines().filter_map(|line| line.split("\"lesson\":\"").nth(1)).collect();
    let waiting = Store::at(place).spooled()?.len();
    println!(
        "{expected} events: {} in the log, {} of them different, {waiting} waiting; {seconds:.1} s, \
         {:.0} a second",
        text.lines().count(),
        lessons.len(),
        expected as f64 / seconds
    );
    if lessons.len() + waiting < expected {
        return Err("events are missing".into());
    }
    Ok(())
}
