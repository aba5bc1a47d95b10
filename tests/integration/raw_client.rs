//! An MCP client made of lines: JSON-RPC over the streams of the built server, in both eras of the
//! protocol. Every wait has a bound. Not here: the real clients (`clients`).

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, World};

/// Longest any answer may take: a debug build on a busy machine, but never for ever.
const STEP: Duration = Duration::from_secs(60);

/// How a session is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With `initialize`.
    Legacy,
    /// With `server/discover`.
    Modern,
}

pub const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

/// A server and our end of its streams. It dies with this.
pub struct Client {
    era: Era,
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    messages: Option<JoinHandle<String>>,
    last_id: u64,
    /// What it calls itself in the legacy era.
    name: [String; 2],
    /// The roots that it offers, if it does; without a list it never answers when it is asked for them.
    roots: Option<Option<Vec<String>>>,
    /// How often it was asked for them.
    pub asked_for_roots: usize,
    /// What the server answered when the session was opened.
    pub opened: Value,
}

/// How a server ended.
pub struct Left {
    pub status: ExitStatus,
    pub took: Duration,
    /// What stood on standard output after the last answer; all of it was protocol.
    pub rest: Vec<Value>,
    pub messages: String,
}

impl Client {
    /// Starts the server in the world's working directory.
    pub fn open(world: &World, era: Era) -> Self {
        Self::open_with(era, world.command(AGENT_KNOWLEDGE).arg("mcp"))
    }

    /// Starts a server by a command of the caller's.
    pub fn open_with(era: Era, command: &mut Command) -> Self {
        Self::start(era, "2025-06-18", command, b"")
    }

    /// Starts the server and sends it these bytes before anything else.
    pub fn open_after(world: &World, era: Era, first: &[u8]) -> Self {
        Self::start(era, "2025-06-18", world.command(AGENT_KNOWLEDGE).arg("mcp"), first)
    }

    /// Starts the server and speaks this version, which is one with `initialize`.
    pub fn open_as(world: &World, version: &str) -> Self {
        Self::start(Era::Legacy, version, world.command(AGENT_KNOWLEDGE).arg("mcp"), b"")
    }

    /// Starts the server as a client with this name and version.
    pub fn open_named(world: &World, name: &str, version: &str) -> Self {
        let name = [name, version].map(str::to_owned);
        Self::start_as(
            name,
            Era::Legacy,
            "2025-06-18",
            world.command(AGENT_KNOWLEDGE).arg("mcp"),
            b"",
        )
    }

    /// Starts the server as a client that offers these roots, or that offers roots and never answers.
    pub fn open_with_roots(command: &mut Command, roots: Option<&[&str]>) -> Self {
        let name = ["cursor-vscode", "1"].map(str::to_owned);
        let mut client = Self::spawn(name, Era::Legacy, command);
        client.roots = Some(None);
        client.set_roots(roots);
        client.opened = client.hello("2025-06-18");
        client
    }

    fn set_roots(&mut self, roots: Option<&[&str]>) {
        let texts = |roots: &[&str]| roots.iter().map(|root| (*root).to_owned()).collect();
        self.roots = Some(roots.map(texts));
    }

    /// Opens other folders, and says so.
    pub fn change_roots(&mut self, roots: Option<&[&str]>) {
        self.set_roots(roots);
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    }

    fn answer_for_roots(&mut self, id: &Value) {
        self.asked_for_roots += 1;
        if let Some(Some(roots)) = self.roots.clone() {
            let roots: Vec<Value> = roots.iter().map(|uri| json!({"uri": uri})).collect();
            self.write(&json!({"jsonrpc": "2.0", "id": id, "result": {"roots": roots}}));
        }
    }

    fn start(era: Era, version: &str, command: &mut Command, first: &[u8]) -> Self {
        let name = ["codex-mcp-client", "1"].map(str::to_owned);
        Self::start_as(name, era, version, command, first)
    }

    fn start_as(
        name: [String; 2],
        era: Era,
        version: &str,
        command: &mut Command,
        first: &[u8],
    ) -> Self {
        let mut client = Self::spawn(name, era, command);
        client.write_bytes(first);
        client.opened = client.hello(version);
        client
    }

    fn spawn(name: [String; 2], era: Era, command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, output) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let mut errors = child.stderr.take().unwrap();
        let messages = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What was read before a broken pipe is all there is.
            let _ = errors.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let input = child.stdin.take();
        let (messages, opened) = (Some(messages), Value::Null);
        let (roots, asked_for_roots) = (None, 0);
        let last_id = 0;
        Self { era, child, input, output, messages, last_id, name, roots, asked_for_roots, opened }
    }

    fn hello(&mut self, version: &str) -> Value {
        let answer = match self.era {
            Era::Legacy => {
                let offered = self.roots.as_ref().map(|_| json!({"listChanged": true}));
                let capabilities = offered.map_or(json!({}), |roots| json!({ "roots": roots }));
                let hello = json!({"protocolVersion": version, "capabilities": capabilities,
                    "clientInfo": {"name": self.name[0], "version": self.name[1]}});
                let answer = self.ask("initialize", hello);
                self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
                answer
            }
            Era::Modern => self.ask("server/discover", json!({})),
        };
        answer["result"].clone()
    }

    /// Gives its further requests ids from here on, so that no broken message has one of them.
    pub fn count_from(&mut self, id: u64) {
        self.last_id = id;
    }

    /// The number of the server's process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends one message, or anything else that stands on one line.
    pub fn write(&mut self, message: &Value) {
        self.write_line(&message.to_string());
    }

    pub fn write_line(&mut self, line: &str) {
        self.write_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends whatever bytes.
    #[track_caller]
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).expect("a server that still reads");
        input.flush().unwrap();
    }

    /// Sends a request without waiting; returns its id.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "Claude Code", "version": "1"},
            });
        }
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let line = self.output.recv_timeout(STEP).expect("an answer in time");
            let message = protocol(&line);
            if message["method"] == "roots/list" {
                self.answer_for_roots(&message["id"]);
            } else if message["id"] == id {
                return message;
            }
        }
    }

    /// Waits for a notification with this method, and returns its params.
    #[track_caller]
    pub fn notified(&mut self, method: &str) -> Value {
        self.notified_within(method, STEP).expect("a notification in time")
    }

    /// Waits this long for a notification with this method.
    pub fn notified_within(&mut self, method: &str, wait: Duration) -> Option<Value> {
        let start = Instant::now();
        loop {
            let left = wait.checked_sub(start.elapsed())?;
            let message = protocol(&self.output.recv_timeout(left).ok()?);
            if message["method"] == method {
                return Some(message["params"].clone());
            }
        }
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer_to(id)
    }

    /// Calls a tool; returns its text and whether it is an error.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        // S-MCP-3
        let [content] = result["content"].as_array().expect("a result").as_slice() else {
            panic!("one text, not {answer}");
        };
        assert!(result.get("structuredContent").is_none(), "{answer}");
        (content["text"].as_str().unwrap().to_owned(), result["isError"] == true)
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    pub fn told(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        text
    }

    #[track_caller]
    pub fn search(&mut self, query: &str) -> String {
        self.told("memory_search", &json!({ "query": query }))
    }

    /// Waits until the first memory that a text finds was also found by meaning.
    #[track_caller]
    pub fn wait_for_meaning(&mut self, text: &str) {
        let start = Instant::now();
        let query = json!({"query": text, "limit": 1, "explain": true});
        while !is_by_meaning(&self.told("memory_search", &query)) {
            assert!(start.elapsed() < STEP, "no vector of {text:?}");
        }
    }

    /// Waits until all logs have been read.
    #[track_caller]
    pub fn wait_for_all(&mut self) {
        let start = Instant::now();
        while self.search("anything at all").contains("index is not complete yet") {
            assert!(start.elapsed() < STEP, "the logs are still being read");
        }
    }

    /// Reads a resource, which is JSON.
    #[track_caller]
    pub fn read(&mut self, uri: &str) -> Value {
        let answer = self.ask("resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str();
        serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap()
    }

    /// Closes the server's input and waits for its end.
    #[track_caller]
    pub fn leave(mut self) -> Left {
        let start = Instant::now();
        self.input = None;
        let mut rest = Vec::new();
        loop {
            match self.output.recv_timeout(STEP) {
                Ok(line) => rest.push(protocol(&line)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the server is still there"),
            }
        }
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::park_timeout(Duration::from_millis(1)),
            }
            assert!(start.elapsed() < STEP, "the server is still there");
        };
        let took = start.elapsed();
        let messages = self.messages.take().unwrap().join().unwrap();
        Left { status, took, rest, messages }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_by_meaning(reply: &str) -> bool {
    let told = reply.split_once("meaning ").map(|(_, rest)| rest);
    told.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Understands a line of standard output, where nothing but protocol may stand.
#[track_caller]
fn protocol(line: &str) -> Value {
    // S-MCP-1
    let message: Value =
        serde_json::from_str(line).unwrap_or_else(|_| panic!("not protocol: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "not protocol: {line}");
    message
}
