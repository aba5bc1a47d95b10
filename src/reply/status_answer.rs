//! The state of store, indexes, model and servers, for programs. Each room adds its own part. Not here: the same as text (`status`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::Answer;

/// The state of the memory, and of the process that answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct StatusAnswer {
    /// The directory of the logs.
    pub store: String,
    /// How many logs there are.
    pub logs: usize,
    /// How many archived segments of logs there are.
    pub segments: usize,
    /// How many writes wait for another process to unlock their log.
    pub waiting: usize,
    /// How many memories there are.
    pub memories: usize,
    /// How many memories each repository has.
    pub repos: BTreeMap<String, usize>,
    /// How many lines were read.
    pub lines: usize,
    /// How many of them hold no event.
    pub skipped: usize,
    /// The first of those.
    pub skips: Vec<SkippedLine>,
    /// Logs that could not be read.
    pub troubles: Vec<LogTrouble>,
    /// How many of the oldest memories are left out, since there is no room for them.
    pub left_out: usize,
    /// How much memory the memories may take, in MiB.
    pub memory_mib: u64,
    /// How much they take, in bytes.
    pub held_bytes: u64,
    /// How many events are about memories that are in no log.
    pub orphans: usize,
    /// How many memories can be found by words.
    pub lexical: usize,
    /// How many memories can be found by meaning.
    pub embedded: usize,
    /// How many of them have token signs.
    pub signed: usize,
    /// The embedding model.
    pub model: ModelStatus,
    /// Why changes of files are not watched; null where they are.
    pub watch_trouble: Option<String>,
    /// Who orders likely hits; absent where the settings name nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker: Option<RerankerStatus>,
    /// True while the logs are still being read; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<bool>,
    /// The shared process; absent where a command answers by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retriever: Option<RetrieverStatus>,
    /// Who uses the shared process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<ClientsStatus>,
    /// The server for HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpStatus>,
    /// The same inside TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub https: Option<HttpStatus>,
    /// The server for gRPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GrpcStatus>,
    /// The server of the team that this machine delivers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteStatus>,
    /// What is kept of past sessions; only the command line tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Map<String, Value>>,
    /// How sharing with a team stands; only the command line tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<Map<String, Value>>,
}

impl Answer for StatusAnswer {}

/// A line of a log that holds no event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SkippedLine {
    /// The log.
    pub log: String,
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// Why it was skipped.
    pub reason: String,
}

/// A log that could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LogTrouble {
    /// The log.
    pub log: String,
    /// Why.
    pub trouble: String,
}

/// The state of the embedding model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelStatus {
    /// Whether it can be used, now or in a moment.
    pub works: bool,
    /// A line on it.
    pub state: String,
    /// Its directory.
    pub directory: String,
    /// What is wrong with the cache of vectors, if something is.
    pub cache_trouble: Option<String>,
    /// What is wrong with a model that could not be asked just now.
    pub trouble: Option<String>,
    /// Whether texts are sent to others.
    pub is_of_others: bool,
    /// How many memories are not sent to others.
    pub withheld: usize,
    /// The model that is to answer next, where there is one.
    pub next: Option<NextModelStatus>,
}

/// How far the model is that is to answer next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NextModelStatus {
    /// A line on it.
    pub state: String,
    /// How many memories are done.
    pub embedded: usize,
    /// What is wrong, if something is.
    pub trouble: Option<String>,
}

/// Who orders likely hits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RerankerStatus {
    /// Its name.
    pub name: String,
    /// What is sent to it.
    pub what_is_sent: String,
    /// Whether it failed a moment ago and is left alone.
    pub rests: bool,
}

/// The shared process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RetrieverStatus {
    /// Its number.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// The memory that it takes, in MiB; null where the system does not tell.
    pub resident_mib: Option<u64>,
    /// When it began.
    pub since: String,
}

/// Who uses the shared process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClientsStatus {
    /// The programs that are connected.
    pub attached: Vec<AttachedClient>,
    /// How many calls were answered.
    pub calls: u64,
    /// What happened last, a line each.
    pub events: Vec<String>,
}

/// A program that is connected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AttachedClient {
    /// The number of its process.
    pub pid: u32,
    /// Its name.
    pub program: String,
    /// The agent that it works for.
    pub agent: String,
    /// Its directory.
    pub directory: Option<String>,
    /// Its version.
    pub version: String,
    /// How many connections it has.
    pub connections: usize,
}

/// A server for HTTP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HttpStatus {
    /// Where it answers MCP.
    pub url: String,
    /// Whether a caller must show a token.
    #[serde(default = "needs_token")]
    pub token: bool,
    /// The file with the token.
    pub token_file: Option<String>,
    /// How many requests came so far.
    pub requests: u64,
}

/// A server for gRPC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GrpcStatus {
    /// Where it answers.
    pub address: String,
    /// Whether a caller must show a token.
    pub token: bool,
    /// How many calls came so far.
    pub requests: u64,
}

/// What was delivered to the server of the team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoteStatus {
    /// Its address.
    pub url: String,
    /// How many lessons it has.
    pub delivered: usize,
    /// How many it refused.
    pub refused: usize,
    /// Why it refused the last one.
    pub refusal: Option<String>,
    /// Why lessons wait.
    pub waits: Option<String>,
}

/// What is true of a server that does not say it.
fn needs_token() -> bool {
    true
}
