//! A client that sends lines, on one end of a pair of streams in memory. Not here: what the server must answer.

use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

use crate::server_options::McpOptions;
use crate::stdio::serve;
use requests::Api;
use requests::tool::ToolSet;
use writer::exit::Exit;

/// Longest time for a step; after it the test fails instead of hanging.
pub(super) const STEP_MS_MAX: u64 = 10_000;

/// How a session is opened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Era {
    Legacy,
    Modern,
}

pub(super) const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

pub(super) struct LineClient {
    pub(super) era: Era,
    pub(super) input: WriteHalf<DuplexStream>,
    pub(super) output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(super) notes: Vec<Value>,
    pub(super) last_id: u64,
    pub(super) server: JoinHandle<Exit>,
}

impl LineClient {
    pub(super) fn connect(era: Era, api: Arc<dyn Api>) -> Self {
        Self::connect_narrow(era, api, 1 << 20)
    }

    pub(super) fn connect_narrow(era: Era, api: Arc<dyn Api>, buffer_bytes: usize) -> Self {
        Self::connect_with(era, api, buffer_bytes, ToolSet::Usual)
    }

    fn connect_with(era: Era, api: Arc<dyn Api>, buffer_bytes: usize, tool_set: ToolSet) -> Self {
        let options = McpOptions { tool_set, ..McpOptions::default() };
        Self::connect_as(era, api, buffer_bytes, options)
    }

    pub(super) fn connect_as(
        era: Era,
        api: Arc<dyn Api>,
        buffer_bytes: usize,
        options: McpOptions,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(buffer_bytes);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(serve(api, options, reader, writer, pending()));
        let (output, input) = tokio::io::split(ours);
        let output = BufReader::new(output).lines();
        Self { era, input, output, notes: vec![], last_id: 0, server }
    }

    pub(super) async fn open(era: Era, api: Arc<dyn Api>) -> (Self, Value) {
        Self::open_with(era, api, ToolSet::Usual).await
    }

    pub(super) async fn open_with(era: Era, api: Arc<dyn Api>, tool_set: ToolSet) -> (Self, Value) {
        let mut client = Self::connect_with(era, api, 1 << 20, tool_set);
        let opened = match era {
            Era::Legacy => {
                let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "codex-mcp-client", "version": "1"}});
                let opened = client.ask("initialize", hello).await;
                client
                    .write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                    .await;
                opened
            }
            Era::Modern => client.ask("server/discover", json!({})).await,
        };
        (client, opened["result"].clone())
    }

    pub(super) async fn write(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(super) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "Claude Code", "version": "1"},
            });
        }
        self.last_id += 1;
        let id = self.last_id;
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    pub(super) async fn read(&mut self) -> Value {
        let step = Duration::from_millis(STEP_MS_MAX);
        let line = tokio::time::timeout(step, self.output.next_line()).await;
        serde_json::from_str(&line.expect("an answer in time").unwrap().expect("an answer"))
            .unwrap()
    }

    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        loop {
            let message = self.read().await;
            if message["id"] == id {
                return message;
            }
            self.notes.push(message);
        }
    }

    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params).await["result"].clone()
    }

    /// Closes the client's end. Returns how the server ended, and after how many milliseconds.
    pub(super) async fn leave(mut self) -> (Exit, u128) {
        let left = Instant::now();
        self.input.shutdown().await.unwrap();
        let step = Duration::from_millis(STEP_MS_MAX);
        let exit = tokio::time::timeout(step, self.server).await.expect("an end in time").unwrap();
        (exit, left.elapsed().as_millis())
    }
}

/// A runtime that does not wait for its tasks when dropped: a failed test must not hang on a call it left behind.
pub(super) struct ImpatientRuntime(Option<tokio::runtime::Runtime>);

impl Drop for ImpatientRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

pub(super) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runtime = ImpatientRuntime(Some(runtime));
    runtime.0.as_ref().unwrap().block_on(test);
}
