//! Measures how long a hook delays its agent, from spawn to exit, compared with a program that does nothing.
//! All take turns in one run, because only ratios are reliable on a busy machine. Measured with and without a
//! running retriever. Not here: what hooks say.
//!
//! `cargo bench --bench hook [-- ROUNDS [LESSONS [PROGRAM]]]`: PROGRAM is another build of `agent-knowledge`.
#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The build that is measured by default.
const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-knowledge");

/// Default numbers of rounds and lessons.
const ROUNDS_DEFAULT: usize = 200;
const LESSONS_DEFAULT: usize = 10_000;
/// Warm-up rounds that do not count.
const ROUNDS_UNCOUNTED: usize = 10;
/// How long the retriever may take to start.
const START_WAIT: Duration = Duration::from_secs(60);

/// A message of a client, and the times its hook took.
struct HookContender {
    name: &'static str,
    program: PathBuf,
    place: PathBuf,
    retriever: Retriever,
    said: Option<Value>,
    times: Vec<Duration>,
    /// How often the hook answered.
    answers: usize,
}

/// Whether a retriever is running.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Retriever {
    Attached,
    None,
}

fn main() -> Outcome<()> {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number = |place: usize, default| words.get(place).map_or(Ok(default), |word| word.parse());
    let (rounds, lessons) = (number(0, ROUNDS_DEFAULT)?, number(1, LESSONS_DEFAULT)?);
    let program = words.get(2).map_or_else(|| PathBuf::from(PROGRAM), PathBuf::from);
    // Outside any work tree. Below this project's work tree, the folder `web` would belong to this project.
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    let (large, small) = (place.join("large"), place.join("small"));
    make_store(&large, lessons)?;
    make_store(&small, 300)?;
    start_retriever(&program, &large)?;
    let mut contenders = contenders(&program, (&large, &small), &no_op(place)?);
    for round in 0..rounds + ROUNDS_UNCOUNTED {
        for contender in &mut contenders {
            let (took, has_answered) = contender.run(round)?;
            if round >= ROUNDS_UNCOUNTED {
                contender.times.push(took);
                contender.answers += usize::from(has_answered);
            }
        }
    }
    stop_retriever(&program, &large)?;
    report(&mut contenders, rounds, lessons);
    // These messages are always answered here. A silent run would measure doing nothing.
    let is_answered = |name: &str| name.starts_with("start") || name.contains("that is known");
    if let Some(silent) =
        contenders.iter().find(|one| is_answered(one.name) && one.answers < rounds)
    {
        return Err(format!("{}: answered {} of {rounds}", silent.name, silent.answers).into());
    }
    Ok(())
}

fn contenders(program: &Path, (large, small): (&Path, &Path), no_op: &Path) -> Vec<HookContender> {
    let contender = |name, place: &Path, retriever, said| HookContender {
        name,
        program: program.to_owned(),
        place: place.to_owned(),
        retriever,
        said,
        times: Vec::new(),
        answers: 0,
    };
    let failed = |error: &str| {
        json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
            "tool_input": {"command": "npm install"}, "error": format!("Exit code 1\n{error}")})
    };
    let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
    let succeeded = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "cargo test"}, "tool_response": {"stdout": "ok ".repeat(1_000), "stderr": ""}});
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "why does the deploy number 77 of the web shop hang?"});
    let known = failed(
        "thread 'main' panicked: mizzen lock is poisoned by the quartermaster of another watch",
    );
    let unknown = failed("galleon: cannot find the harbour of the spinnaker");
    let attached = Retriever::Attached;
    vec![
        contender("no-op, dynamic", no_op, attached, None),
        contender("tool succeeded, attached", large, attached, Some(succeeded)),
        contender("start, attached", large, attached, Some(start.clone())),
        contender("first prompt, attached", large, attached, Some(prompt)),
        contender("failure that is known, attached", large, attached, Some(known.clone())),
        contender("failure that is not, attached", large, attached, Some(unknown)),
        contender("start, alone, 300 lessons", small, Retriever::None, Some(start)),
        contender("failure, alone, 300 lessons", small, Retriever::None, Some(known)),
    ]
}

impl HookContender {
    fn run(&self, round: usize) -> Outcome<(Duration, bool)> {
        let Some(said) = &self.said else {
            let start = Instant::now();
            Command::new(&self.place).stdout(Stdio::null()).status()?;
            return Ok((start.elapsed(), false));
        };
        let mut said = said.clone();
        // A new session for each message, so that nothing was shown before.
        if let Some(fields) = said.as_object_mut() {
            fields.insert("session_id".to_owned(), format!("{}-{round}", self.name).into());
            fields.insert("cwd".to_owned(), self.place.join("web").to_string_lossy().into());
        }
        let mut command = ours(&self.program, &self.place);
        if self.retriever == Retriever::None {
            command.env("AGENT_KNOWLEDGE_RETRIEVER", "own");
        }
        command
            .args(["hook", "--agent", "claude-code"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let start = Instant::now();
        let mut child = command.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(said.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        Ok((start.elapsed(), !output.stdout.is_empty()))
    }
}

/// The program in an isolated environment without a model.
fn ours(program: &Path, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(place).env("HOME", place);
    for (name, folder) in
        [("LOGS", "logs"), ("CACHE", "cache"), ("MODEL_DIR", "no-model"), ("RUNTIME", "run")]
    {
        command.env(format!("AGENT_KNOWLEDGE_{name}"), place.join(folder));
    }
    command
}

fn make_store(place: &Path, lessons: usize) -> Outcome<()> {
    fs::create_dir_all(place.join("logs"))?;
    fs::create_dir_all(place.join("web"))?;
    let mut lines = String::new();
    for number in 0..lessons {
        let part = number % 97;
        let line = json!({"timestamp": "2026-01-02T03:04:05Z", "agent_id": "codex", "repo": "web", "event_type": "error",
            "context": format!("npm install fails in part {part}: EACCES{part} permission denied, deploy {number} hangs"),
            "command": format!("npm ci --part {part}"), "lesson": format!("give the owner of part {part} the right {number} and deploy again")});
        lines.push_str(&format!("{line}\n"));
    }
    // A lesson unlike all others, for the known failure.
    let line = json!({"timestamp": "2026-01-02T03:04:06Z", "agent_id": "codex", "repo": "web", "event_type": "error",
        "context": "panicked: mizzen lock is poisoned by the quartermaster", "command": "rm mizzen.lock",
        "lesson": "stop the quartermaster of the other watch before the build"});
    lines.push_str(&format!("{line}\n"));
    fs::write(place.join("logs/web.jsonl"), lines)?;
    Ok(())
}

fn start_retriever(program: &Path, place: &Path) -> Outcome<()> {
    let began = Instant::now();
    // The first search starts the retriever and waits until all logs are read.
    while !ours(program, place).args(["search", "npm"]).stdout(Stdio::null()).status()?.success() {
        if began.elapsed() > START_WAIT {
            return Err("no retriever came".into());
        }
    }
    Ok(())
}

fn stop_retriever(program: &Path, place: &Path) -> Outcome<()> {
    ours(program, place).args(["serve", "--stop"]).stdout(Stdio::null()).status()?;
    Ok(())
}

/// Compiles a program that does nothing, with `rustc`.
fn no_op(place: &Path) -> Outcome<PathBuf> {
    let (source, program) = (place.join("no-op.rs"), place.join("no-op"));
    fs::write(&source, "fn main() {}\n")?;
    let done = Command::new("rustc").args(["-O", "-o"]).arg(&program).arg(&source).status()?;
    if done.success() { Ok(program) } else { Err("rustc could not build a no-op".into()) }
}

fn report(contenders: &mut [HookContender], rounds: usize, lessons: usize) {
    println!(
        "{rounds} rounds, taking turns; {lessons} lessons in the large store; words only; milliseconds from spawn to exit\n"
    );
    println!("| what | min | p50 | p90 | p99 | p50 over the no-op's | answered |");
    println!("|---|---|---|---|---|---|---|");
    let mut floor = None;
    for contender in contenders {
        contender.times.sort_unstable();
        let at = |percent: usize| {
            let rank = (contender.times.len() * percent).div_ceil(100).saturating_sub(1);
            contender.times.get(rank).map_or(f64::NAN, |took| took.as_secs_f64() * 1e3)
        };
        let floor = *floor.get_or_insert_with(|| at(50));
        println!(
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {} |",
            contender.name,
            at(0),
            at(50),
            at(90),
            at(99),
            at(50) / floor,
            contender.answers
        );
    }
}
