//! Measures how many durable events per second concurrent writers can write. Ours share syncs; the comparison
//! syncs every event under the lock. Both take turns in one run. Not here: starting a process for each event
//! (`append`).
//!
//! `cargo bench --no-default-features --bench durable [-- ROUNDS]`
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use event::{CleanEvent, DecodedLine, EncodedLine, RepoKey, clean, codec};
use store::{Durability, Store, append};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Default number of rounds.
const ROUNDS_DEFAULT: usize = 10;
/// Events of one writer in one round.
const EVENTS: usize = 20;

fn main() -> Outcome<()> {
    let told = std::env::args().skip(1).find(|word| !word.starts_with("--"));
    let rounds = told.map_or(Ok(ROUNDS_DEFAULT), |word| word.parse())?;
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-durable");
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    let store = Store::at(&place);
    store.ensure()?;
    let (repo, line) = (RepoKey::parse("api")?, line()?);
    println!("durable events per second, best of {rounds} rounds taking turns\n");
    println!("| writers | ours | each under the lock | ratio |\n|---:|---:|---:|---:|");
    for writers in [1, 4, 16] {
        let (mut ours, mut alone) = (0.0_f64, 0.0_f64);
        for _ in 0..rounds {
            let lines = std::slice::from_ref(&line);
            let shared = || Ok(append(&store, &repo, lines, Durability::Synced).map(drop)?);
            ours = ours.max(per_second(writers, &shared)?);
            let by_itself = || sync_under_the_lock(&place.join("alone"), line.as_str());
            alone = alone.max(per_second(writers, &by_itself)?);
        }
        println!("| {writers} | {ours:.0} | {alone:.0} | {:.2} |", ours / alone);
    }
    Ok(())
}

/// A line of some 500 bytes.
fn line() -> Outcome<EncodedLine> {
    let json = format!(r#"{{"id":"a","event_type":"error","lesson":"{}"}}"#, "word ".repeat(80));
    let DecodedLine::Event(event) = codec::decode(json.as_bytes(), "api") else {
        return Err("the bench's own line is no event".into());
    };
    let clean: CleanEvent = clean::clean(*event);
    Ok(codec::encode(&clean))
}

/// Appends to a locked log without shared syncs.
fn sync_under_the_lock(log: &Path, line: &str) -> Outcome<()> {
    let lock = File::create(log.with_extension("lock"))?;
    lock.lock()?;
    let mut file = OpenOptions::new().create(true).append(true).open(log)?;
    file.write_all(line.as_bytes())?;
    Ok(file.sync_data()?)
}

fn per_second(writers: u32, append: &(dyn Fn() -> Outcome<()> + Sync)) -> Outcome<f64> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = || (0..EVENTS).try_for_each(|_| append());
        let threads: Vec<_> = (0..writers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a writer died")?)
    })?;
    let events = f64::from(writers) * f64::from(u32::try_from(EVENTS)?);
    Ok(events / start.elapsed().as_secs_f64())
}
