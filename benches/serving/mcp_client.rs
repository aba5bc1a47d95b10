//! A minimal MCP client over pipes. Its own cost is two system calls and one parse, which is not timed. Every
//! wait has a bound. Not here: the server.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::Outcome;
use super::server_process::STEP;

/// A server process and this end of its streams. The process is killed on drop.
pub struct McpClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
    /// The time from before the spawn to the answer of `initialize`.
    pub opened: Duration,
}

/// The text of an answer, whether it is an error, and the time it took.
pub struct Told {
    pub text: String,
    pub is_error: bool,
    pub took: Duration,
}

impl McpClient {
    /// Starts a server and initialises the session.
    pub fn open(mut command: Command) -> Outcome<Self> {
        let mut client = Self::plain(&mut command)?;
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}});
        let opened = client.opened;
        let (answer, took) = client.ask("initialize", &hello)?;
        if answer.get("result").is_none() {
            return Err(format!("no handshake: {answer}").into());
        }
        client.opened = opened + took;
        client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Starts any program that reads and writes lines.
    pub fn plain(command: &mut Command) -> Outcome<Self> {
        let start = Instant::now();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let input = child.stdin.take().ok_or("no input")?;
        Ok(Self { child, input, output, last_id: 0, opened: start.elapsed() })
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    fn write(&mut self, message: &Value) -> Outcome<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(())
    }

    /// Sends a line and waits for one.
    pub fn exchange(&mut self, line: &str) -> Outcome<(String, Duration)> {
        let start = Instant::now();
        self.input.write_all(line.as_bytes())?;
        let answer = self.line()?;
        Ok((answer, start.elapsed()))
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        while !line.ends_with('\n') {
            if self.output.buffer().is_empty() {
                self.wait()?;
            }
            // The bytes that have arrived; the rest of a long line may follow.
            let bytes = self.output.fill_buf()?;
            let end = bytes.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
            if bytes.is_empty() {
                return Err("the server ended".into());
            }
            let taken = end.unwrap_or(bytes.len());
            // A buffer may end within a character. No text measured here has such characters.
            line.push_str(&String::from_utf8_lossy(bytes.get(..taken).unwrap_or_default()));
            self.output.consume(taken);
        }
        Ok(line)
    }

    fn wait(&self) -> Outcome<()> {
        let mut polled = [PollFd::new(self.output.get_ref(), PollFlags::IN)];
        let bound = Timespec { tv_sec: i64::try_from(STEP.as_secs())?, tv_nsec: 0 };
        match poll(&mut polled, Some(&bound))? {
            0 => Err("no answer in time".into()),
            _ => Ok(()),
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Outcome<(Value, Duration)> {
        self.last_id += 1;
        let id = self.last_id;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            .to_string()
            + "\n";
        let (mut answer, mut took) = self.exchange(&line)?;
        let start = Instant::now();
        loop {
            let message: Value = serde_json::from_str(&answer)?;
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return Ok((message, took));
            }
            answer = self.line()?;
            took += start.elapsed();
        }
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Told> {
        let (answer, took) =
            self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let text = answer.pointer("/result/content/0/text").and_then(Value::as_str);
        let is_error =
            answer.pointer("/result/isError") == Some(&Value::Bool(true)) || text.is_none();
        Ok(Told { text: text.map_or_else(|| answer.to_string(), str::to_owned), is_error, took })
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // The server is killed while its input is open, so that it does not end by itself first.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
