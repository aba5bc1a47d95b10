//! A server in the foreground, and an HTTP client made of bytes. Every wait has a bound. Not here: what is promised.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::raw_client::Era;
use crate::world::{AGENT_KNOWLEDGE, World};

/// Longest anything may take: a debug build on a busy machine, but never for ever.
pub const STEP: Duration = Duration::from_secs(60);

/// What an answer was.
#[derive(Debug)]
pub struct HttpAnswer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl HttpAnswer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        values.next().map(|(_, value)| value.trim())
    }

    pub fn has(&self, name: &str, value: &str) -> bool {
        self.header(name) == Some(value)
    }

    pub fn all(&self) -> String {
        format!("{}{}", self.head, self.body)
    }
}

/// Reads one answer with a length; nothing where the connection broke.
pub fn read_answer(stream: &mut impl Read) -> Option<HttpAnswer> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut answer = HttpAnswer { status, head, body: String::new() };
    let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    answer.body = String::from_utf8(body).unwrap();
    Some(answer)
}

/// The head of a request, up to its empty line.
pub fn head(method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut lines = format!("{method} {path} HTTP/1.1\r\n");
    lines.push_str(
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
    );
    for (name, value) in headers {
        lines.push_str(&format!("{name}: {value}\r\n"));
    }
    lines + "\r\n"
}

/// A whole request.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let length = body.len().to_string();
    let headers: Vec<_> = headers.iter().copied().chain([("Content-Length", &*length)]).collect();
    (head(method, path, &headers) + body).into_bytes()
}

/// A server with HTTP, or a second client of one; what was started dies with the last.
pub struct Server {
    child: Option<Child>,
    rest: Option<JoinHandle<String>>,
    /// The line that told the address.
    pub said: String,
    pub url: String,
    era: Era,
    session: Option<String>,
    /// The token that its requests of MCP show.
    shown: Option<String>,
    last_id: Arc<Mutex<u64>>,
}

impl Server {
    pub fn command(world: &World, args: &[&str]) -> Command {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.args(["serve", "--json", "--idle-minutes", "0"]).args(args);
        command
    }

    /// Starts it and waits until it answers.
    #[track_caller]
    pub fn start(world: &World, args: &[&str]) -> Self {
        let server = Self::of(&mut Self::command(world, args));
        let told: Value = serde_json::from_str(&server.said).expect("JSON on one line");
        assert_eq!(told["http"]["url"], json!(server.url));
        server
    }

    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        errors.read_line(&mut said).unwrap();
        let rest = std::thread::spawn(move || {
            let mut rest = String::new();
            // What was read before a broken pipe is all there is.
            let _ = errors.read_to_string(&mut rest);
            rest
        });
        let mut words = said.split([' ', ',', '"']);
        let is_url = |word: &&str| word.starts_with("http://") || word.starts_with("https://");
        let url = words.find(is_url).map(str::to_owned);
        let Some(url) = url else {
            let _ = child.kill();
            panic!("no address: {said}{}", rest.join().unwrap());
        };
        let (child, rest) = (Some(child), Some(rest));
        let (era, last_id) = (Era::Modern, Arc::default());
        Self { child, rest, said, url, era, session: None, shown: None, last_id }
    }

    /// A client of a server that was started by other means.
    pub fn at(origin: &str) -> Self {
        let (said, url) = (String::new(), format!("{origin}/mcp"));
        let (child, rest, last_id) = (None, None, Arc::default());
        let era = Era::Modern;
        Self { child, rest, said, url, era, session: None, shown: None, last_id }
    }

    /// Another client of the same server.
    pub fn again(&self) -> Self {
        let (said, url) = (self.said.clone(), self.url.clone());
        let last_id = Arc::clone(&self.last_id);
        let (child, rest, era) = (None, None, Era::Modern);
        Self { child, rest, said, url, era, session: None, shown: None, last_id }
    }

    /// Another client of the same server, which shows a token over MCP.
    pub fn showing(&self, token: &str) -> Self {
        let mut other = self.again();
        other.shown = Some(format!("Bearer {token}"));
        other
    }

    pub fn port(&self) -> u16 {
        let origin = self.url.strip_suffix("/mcp").unwrap();
        origin.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    pub fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(STEP)).unwrap();
        stream
    }

    /// Sends bytes on a connection of their own and reads the answer.
    #[track_caller]
    pub fn send(&self, bytes: &[u8]) -> HttpAnswer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        read_answer(&mut stream).expect("an answer")
    }

    /// Introduces this client.
    #[track_caller]
    pub fn hello(&mut self, era: Era) {
        self.era = era;
        if era == Era::Modern {
            let answer = self.ask("server/discover", json!({}));
            assert!(answer["result"]["supportedVersions"].is_array(), "{answer}");
            return;
        }
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "codex-mcp-client", "version": "1"}});
        let mut stream = self.send_request("initialize", hello);
        let answer = read_answer(&mut stream).unwrap();
        assert!(answer.status == 200 && answer.body.contains("2025-06-18"), "{answer:?}");
        self.session = answer.header("mcp-session-id").map(str::to_owned);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let shown = self.shown.as_deref().map(|shown| ("Authorization", shown));
        let headers: Vec<_> = [("Host", "localhost")].into_iter().chain(shown).collect();
        let answer = self.send(&request("POST", "/mcp", &headers, &ready));
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    /// Sends a request without waiting.
    pub fn send_request(&self, method: &str, mut params: Value) -> TcpStream {
        let id = {
            let mut last = self.last_id.lock().unwrap();
            *last += 1;
            *last
        };
        let mut headers = vec![("Host", "localhost".to_owned())];
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "Claude Code", "version": "1"},
            });
            headers.push(("MCP-Protocol-Version", "2026-07-28".to_owned()));
            headers.push(("Mcp-Method", method.to_owned()));
            let name = params["name"].as_str().or(params["uri"].as_str());
            headers.extend(name.map(|name| ("Mcp-Name", name.to_owned())));
        } else if method != "initialize" {
            headers.push(("MCP-Protocol-Version", "2025-06-18".to_owned()));
        }
        headers.extend(self.session.clone().map(|session| ("Mcp-Session-Id", session)));
        headers.extend(self.shown.clone().map(|shown| ("Authorization", shown)));
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut stream = self.connect();
        stream.write_all(&request("POST", "/mcp", &headers, &body.to_string())).unwrap();
        stream
    }

    pub fn send_call(&self, tool: &str, arguments: &Value) -> TcpStream {
        self.send_request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let answer = read_answer(&mut self.send_request(method, params)).expect("an answer");
        assert!(answer.has("content-type", "application/json"), "{answer:?}");
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Calls a tool; returns its text and whether it is an error.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}")).to_owned();
        (text, answer["result"]["isError"] == true)
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    pub fn told(&self, tool: &str, arguments: &Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        text
    }

    #[track_caller]
    pub fn search(&self, query: &str) -> String {
        self.told("memory_search", &json!({ "query": query }))
    }

    pub fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.process().to_string()]).status();
        assert!(done.unwrap().success());
    }

    /// Waits until a thread that may block is there: the call is being made.
    #[track_caller]
    pub fn wait_until_in_call(&self) {
        let began = Instant::now();
        let is_waiting = || {
            let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process())).unwrap();
            tasks.filter_map(Result::ok).any(|task| {
                let name = std::fs::read_to_string(task.path().join("comm"));
                name.is_ok_and(|name| name.starts_with("tokio"))
            })
        };
        while !is_waiting() {
            assert!(began.elapsed() < STEP, "no call");
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }

    /// Waits for its end by itself.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        let child = self.child.as_mut().unwrap();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < STEP, "it is still there");
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }

    /// Ends it; returns all it said.
    pub fn stop(&mut self) -> String {
        self.signal("-TERM");
        self.wait();
        let rest = self.rest.take().map(|rest| rest.join().unwrap()).unwrap_or_default();
        format!("{}{rest}", self.said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
