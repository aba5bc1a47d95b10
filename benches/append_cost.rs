//! Measures appends inside a process, against other builds of this same bench, which take turns with it: only their
//! ratio is reliable on a busy machine. Not here: the start of a process (`append`).
//!
//! `cargo bench --no-default-features --bench append_cost -- [ROUNDS] [NAME=PROGRAM]...`: each PROGRAM is this bench
//! as another revision builds it. `--worker DIR COUNT` is what it runs: it prints the nanoseconds of COUNT appends.
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use event::{DecodedLine, EncodedLine, Event, RepoKey, clean, codec};
use store::{Durability, Store};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Default number of rounds.
const ROUNDS_DEFAULT: usize = 60;
/// Appends of one round.
const APPENDS: usize = 400;
/// About the size of a usual event, in bytes.
const LESSON_BYTES: usize = 300;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [flag, folder, count] = words.as_slice()
        && flag == "--worker"
    {
        return work(Path::new(folder), count.parse()?);
    }
    let mut rounds = ROUNDS_DEFAULT;
    let mut builds = vec![("this".to_owned(), std::env::current_exe()?)];
    for word in &words {
        match word.split_once('=') {
            Some((name, program)) => builds.push((name.to_owned(), PathBuf::from(program))),
            None => rounds = word.parse()?,
        }
    }
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-append-cost");
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    let mut times = vec![Vec::new(); builds.len()];
    for _ in 0..rounds {
        for (at, (name, program)) in builds.iter().enumerate() {
            let folder = place.join(name);
            fs::create_dir_all(&folder)?;
            let mut worker = Command::new(program);
            worker.arg("--worker").arg(folder.join("logs")).arg(APPENDS.to_string());
            let told = String::from_utf8(worker.output()?.stdout)?;
            let times = times.get_mut(at).ok_or("no such build")?;
            times.push(told.trim().parse::<u64>()? / u64::try_from(APPENDS)?);
        }
    }
    report(&builds, &mut times);
    Ok(())
}

fn report(builds: &[(String, PathBuf)], times: &mut [Vec<u64>]) {
    println!("| build | min, ns | p25, ns | p50, ns |\n|---|---|---|---|");
    for ((name, _), times) in builds.iter().zip(times) {
        times.sort_unstable();
        let at = |part: usize| times.get(times.len() * part / 4).copied().unwrap_or(0);
        println!("| {name} | {} | {} | {} |", at(0), at(1), at(2));
    }
}

fn work(folder: &Path, count: usize) -> Outcome<()> {
    let is_bare = std::env::var_os("BARE").is_some();
    let (store, repo) = (Store::at(folder), RepoKey::parse("api")?);
    let lines: Vec<EncodedLine> = (0..count).map(line).collect::<Outcome<_>>()?;
    let events: Vec<Event> = lines.iter().map(decoded).collect::<Outcome<_>>()?;
    let began = Instant::now();
    for (line, event) in lines.iter().zip(events) {
        // What every save does before it; the variable BARE leaves it out.
        let encoded = if is_bare { None } else { Some(codec::encode(&clean::clean(event))) };
        let line = encoded.as_ref().unwrap_or(line);
        store::append(&store, &repo, std::slice::from_ref(line), Durability::Written)?;
    }
    println!("{}", began.elapsed().as_nanos());
    Ok(())
}

fn line(number: usize) -> Outcome<EncodedLine> {
    let lesson = format!("{number} {}", "lesson ".repeat(LESSON_BYTES / 7));
    let json = serde_json::json!({ "lesson": lesson, "event_type": "pattern" }).to_string();
    event_of(json.as_bytes()).map(|event| codec::encode(&clean::clean(event)))
}

fn decoded(line: &EncodedLine) -> Outcome<Event> {
    event_of(line.as_str().as_bytes())
}

fn event_of(json: &[u8]) -> Outcome<Event> {
    match codec::decode(json, "api") {
        DecodedLine::Event(event) => Ok(*event),
        DecodedLine::Blank | DecodedLine::Skipped(_) => Err("no event".into()),
    }
}
