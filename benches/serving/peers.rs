//! The two peers behind the same interface as our programs: a server that MCP clients start, one memory in its
//! format, and what it found. Each runs in its best configuration: the number of results is five if it can be
//! set, and all fields are given as one text if there are no fields. Not here: installing them
//! (`scripts/bench`), the measurements.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::Outcome;
use super::corpus::{self, Event};
use super::mcp_client::McpClient;

/// The results that count: as many as our reply shows by default.
pub const FIRST: usize = 5;

/// The directories of the installed peers.
#[derive(Clone)]
pub struct Installed {
    pub node: PathBuf,
    pub server_memory: PathBuf,
    pub vestige: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    ServerMemory,
    Vestige,
}

pub struct Peer {
    pub kind: Kind,
    installed: Installed,
    place: PathBuf,
    /// Our number of each memory, by the peer's id.
    numbers: HashMap<String, u64>,
}

impl Peer {
    pub fn new(kind: Kind, installed: &Installed, place: &Path) -> Outcome<Self> {
        if place.exists() {
            fs::remove_dir_all(place)?;
        }
        fs::create_dir_all(place.join("work/.git"))?;
        fs::create_dir_all(place.join("home"))?;
        let peer = Self {
            kind,
            installed: installed.clone(),
            place: place.to_owned(),
            numbers: HashMap::new(),
        };
        if kind == Kind::Vestige {
            let mut command = peer.bare(&installed.vestige);
            command.args(["init", "--name", "bench", "--no-install-skills"]).stdout(Stdio::null());
            if !command.status()?.success() {
                return Err("vestige init failed".into());
            }
        }
        Ok(peer)
    }

    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::ServerMemory => "server-memory 2026.8.31",
            Kind::Vestige => "vestige 0.4.2",
        }
    }

    fn bare(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.place.join("work")).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.place.join("home"));
        command.env("MEMORY_FILE_PATH", self.place.join("memory.jsonl"));
        command
    }

    pub fn client(&self) -> Outcome<McpClient> {
        let command = match self.kind {
            Kind::ServerMemory => {
                let mut command = self.bare(&self.installed.node);
                command.arg(&self.installed.server_memory);
                command
            }
            Kind::Vestige => {
                let mut command = self.bare(&self.installed.vestige);
                command.arg("mcp");
                command
            }
        };
        McpClient::open(command)
    }

    /// Writes one memory.
    pub fn write(
        &mut self,
        client: &mut McpClient,
        number: u64,
        event: &Event,
    ) -> Outcome<Duration> {
        let (tool, arguments) = match self.kind {
            Kind::ServerMemory => ("create_entities", json!({"entities": [entity(number, event)]})),
            Kind::Vestige => ("vestige_record_observation", json!({"content": event.text()})),
        };
        let told = client.call(tool, &arguments)?;
        if told.is_error {
            return Err(format!("{}: {}", self.name(), told.text).into());
        }
        if self.kind == Kind::Vestige {
            let card: Value = serde_json::from_str(&told.text)?;
            let id = card.get("id").and_then(Value::as_str).ok_or("a card without an id")?;
            self.numbers.insert(id.to_owned(), number);
        }
        Ok(told.took)
    }

    /// Writes many memories, in one call if the server supports it.
    pub fn fill(&mut self, client: &mut McpClient, numbers: std::ops::Range<u64>) -> Outcome<()> {
        let numbers: Vec<u64> = numbers.collect();
        for some in numbers.chunks(1_000) {
            if self.kind == Kind::Vestige {
                for &number in some {
                    self.write(client, number, &corpus::event(number))?;
                }
                continue;
            }
            let entities: Vec<Value> =
                some.iter().map(|&number| entity(number, &corpus::event(number))).collect();
            let told = client.call("create_entities", &json!({"entities": entities}))?;
            if told.is_error {
                return Err(told.text.into());
            }
        }
        Ok(())
    }

    /// Asks a question. Returns the numbers of the first memories found, and the time.
    pub fn search(&self, client: &mut McpClient, query: &str) -> Outcome<(Vec<u64>, Duration)> {
        let (tool, arguments) = match self.kind {
            Kind::ServerMemory => ("search_nodes", json!({"query": query})),
            Kind::Vestige => ("vestige_search", json!({"query": query, "limit": FIRST})),
        };
        let told = client.call(tool, &arguments)?;
        if told.is_error {
            return Err(format!("{}: {}", self.name(), told.text).into());
        }
        let answer: Value = serde_json::from_str(&told.text)?;
        let (list, name) = match self.kind {
            Kind::ServerMemory => ("entities", "name"),
            Kind::Vestige => ("results", "id"),
        };
        let found = answer.get(list).and_then(Value::as_array).ok_or("no list of results")?;
        let number = |item: &Value| {
            let id = item.get(name).and_then(Value::as_str)?;
            self.numbers.get(id).copied().or_else(|| id.strip_prefix("ev-")?.parse().ok())
        };
        Ok((found.iter().take(FIRST).filter_map(number).collect(), told.took))
    }

    pub fn bytes(&self) -> u64 {
        super::server_process::bytes_under(&self.place)
    }
}

fn entity(number: u64, event: &Event) -> Value {
    json!({"name": corpus::id(number), "entityType": "lesson",
        "observations": [event.lesson, event.context, event.command, event.tags.join(" ")]})
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The next run removes a leftover folder.
        let _ = fs::remove_dir_all(&self.place);
    }
}
