//! Our programs in an isolated environment: a home, a store, a runtime folder, a retriever. Not here: the
//! measurements.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Outcome;
use super::mcp_client::{McpClient, Told};
use super::{corpus, made_up, server_process};

/// A process is idle if it uses at most `QUIET_TICKS` hundredths of a second of CPU time in this time.
const QUIET: Duration = Duration::from_secs(1);
const QUIET_TICKS: u64 = 1;

/// Events written at once. `log-memory` takes at most 256 MiB of input.
const BATCH_EVENTS: u64 = 100_000;

/// The directories of the built programs and the model.
#[derive(Clone)]
pub struct Programs {
    pub folder: PathBuf,
    pub model: Option<PathBuf>,
}

/// How a store is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Words,
    /// By words and by meaning.
    Both,
    /// The same with synthetic vectors, of which only the cost has a meaning.
    MadeUp,
}

impl By {
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "agent-knowledge, words",
            Self::Both => "agent-knowledge, hybrid",
            Self::MadeUp => "agent-knowledge, made up",
        }
    }
}

/// A store and the processes on it, which end on drop.
pub struct Ours {
    programs: Programs,
    place: PathBuf,
    pub by: By,
    pub events: u64,
}

impl Ours {
    /// Creates a store with this many events of the corpus, written by `log-memory`. Returns it with the time
    /// that took.
    pub fn with(
        programs: &Programs,
        place: &Path,
        by: By,
        events: u64,
    ) -> Outcome<(Self, Duration)> {
        if place.exists() {
            fs::remove_dir_all(place)?;
        }
        for name in ["home", "work", "no-model"] {
            fs::create_dir_all(place.join(name))?;
        }
        let ours = Self { programs: programs.clone(), place: place.to_owned(), by, events };
        if let (By::MadeUp, Some(model)) = (by, &programs.model) {
            made_up::fill(model, &place.join("cache"), events)?;
        }
        let took = ours.import(0, events)?;
        Ok((ours, took))
    }

    /// Returns a command for either program, with only `PATH` from the machine's environment.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.folder.join(program));
        command.env_clear().current_dir(self.place.join("work")).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.place.join("home")).env("USER", "bench");
        command.env("AGENT_KNOWLEDGE_LOGS", self.place.join("logs"));
        command.env("AGENT_KNOWLEDGE_CACHE", self.place.join("cache"));
        command.env("AGENT_KNOWLEDGE_RUNTIME", self.place.join("run"));
        command.env("AGENT_KNOWLEDGE_MEMORY_MIB", "4096");
        let model = self.programs.model.clone().filter(|_| self.by != By::Words);
        command
            .env("AGENT_KNOWLEDGE_MODEL_DIR", model.unwrap_or_else(|| self.place.join("no-model")));
        command
    }

    /// Runs a program to its end. Returns its output, and the time from spawn to exit.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Outcome<(String, Duration)> {
        let mut command = self.command(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let output = command.output()?;
        let took = start.elapsed();
        if !output.status.success() {
            return Err(format!(
                "{program} {arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            )
            .into());
        }
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), took))
    }

    /// Appends these events of the corpus in batches. Each batch is generated before the clock starts.
    pub fn import(&self, first: u64, count: u64) -> Outcome<Duration> {
        let mut took = Duration::ZERO;
        for start in (first..first + count).step_by(usize::try_from(BATCH_EVENTS)?) {
            let end = (start + BATCH_EVENTS).min(first + count);
            took += self.import_batch((start..end).map(|number| corpus::event(number).line()))?;
        }
        Ok(took)
    }

    fn import_batch(&self, lines: impl Iterator<Item = String>) -> Outcome<Duration> {
        let lines: String = lines.collect();
        let start = Instant::now();
        let mut command = self.command("log-memory");
        command.args(["--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn()?;
        child.stdin.take().ok_or("no input")?.write_all(lines.as_bytes())?;
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("log-memory --json -: {status}").into());
        }
        Ok(start.elapsed())
    }

    pub fn client(&self) -> Outcome<McpClient> {
        let mut command = self.command("agent-knowledge");
        command.arg("mcp");
        McpClient::open(command)
    }

    pub fn status(&self) -> Outcome<Value> {
        Ok(serde_json::from_str(&self.run("agent-knowledge", &["status", "--json"])?.0)?)
    }

    /// Returns the process id of the retriever, and starts it if there is none.
    pub fn retriever(&self) -> Outcome<u32> {
        let status = self.status()?;
        let pid = status.pointer("/retriever/pid").and_then(Value::as_u64).ok_or("no retriever")?;
        Ok(u32::try_from(pid)?)
    }

    /// Waits until all events are indexed, and embedded if there is a model.
    pub fn ready(&self, bound: Duration) -> Outcome<Duration> {
        let start = Instant::now();
        loop {
            let status = self.status()?;
            let number = |name: &str| status.get(name).and_then(Value::as_u64).unwrap_or(0);
            let known = number("memories") >= self.events;
            let embedded = self.by == By::Words || number("embedded") >= self.events;
            if known && embedded {
                return Ok(start.elapsed());
            }
            if start.elapsed() > bound {
                return Err(format!(
                    "{} of {} events: not ready in time",
                    number("embedded"),
                    self.events
                )
                .into());
            }
            std::thread::park_timeout(Duration::from_millis(200));
        }
    }

    /// Waits until the retriever is idle. A retriever that can answer may still be finishing other work.
    pub fn settled(&self) -> Outcome<Duration> {
        let start = Instant::now();
        let pid = self.retriever()?;
        loop {
            let before = server_process::ticks(pid)?;
            std::thread::park_timeout(QUIET);
            if server_process::ticks(pid)? <= before + QUIET_TICKS {
                return Ok(start.elapsed());
            }
            if start.elapsed() > server_process::STEP {
                return Err("the retriever does not come to rest".into());
            }
        }
    }

    /// Stops the retriever as its user would, and waits for its end.
    pub fn stop(&self) -> Outcome<()> {
        let pid = self.retriever()?;
        self.run("agent-knowledge", &["serve", "--stop"])?;
        server_process::wait_for("the retriever ends", || !server_process::is_running(pid))
    }

    /// Kills the retriever and waits for its end.
    pub fn kill(&self) -> Outcome<()> {
        let pid = self.retriever()?;
        server_process::send("-KILL", pid)?;
        server_process::wait_for("the retriever is dead", || !server_process::is_running(pid))
    }

    /// Returns the directory of the checkpoint, if there is one.
    pub fn checkpoint(&self) -> Option<PathBuf> {
        folder_with(&self.place.join("cache"), "manifest")
    }

    pub fn bytes(&self) -> (u64, u64) {
        (
            server_process::bytes_under(&self.place.join("logs")),
            server_process::bytes_under(&self.place.join("cache")),
        )
    }
}

fn folder_with(folder: &Path, name: &str) -> Option<PathBuf> {
    if folder.join(name).is_file() {
        return Some(folder.to_owned());
    }
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.filter(|entry| entry.path().is_dir()).find_map(|entry| folder_with(&entry.path(), name))
}

impl Drop for Ours {
    fn drop(&mut self) {
        // The retriever may write its checkpoint last, so its end is awaited. The next run removes leftovers.
        if self.place.join("run").exists() {
            let _ = self.stop();
        }
        let _ = fs::remove_dir_all(&self.place);
    }
}

pub fn search(client: &mut McpClient, query: &str) -> Outcome<Told> {
    let told = client.call("memory_search", &json!({"query": query}))?;
    match told.is_error {
        true => Err(format!("a search failed: {}", told.text).into()),
        false => Ok(told),
    }
}

pub fn save(client: &mut McpClient, event: &corpus::Event) -> Outcome<Duration> {
    let arguments = json!({"event_type": "error", "repo": event.repo, "lesson": event.lesson,
        "context": event.context, "command": event.command, "tags": event.tags});
    let told = client.call("memory_save", &arguments)?;
    match told.is_error {
        true => Err(format!("a save failed: {}", told.text).into()),
        false => Ok(told.took),
    }
}
