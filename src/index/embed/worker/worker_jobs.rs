//! What the thread is asked for and what it gives back, with the bounds of both. Not here: the thread.

use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use super::query_embedding::QueryEmbedding;
use crate::embed::error::EmbedError;
use crate::late::SignState;

/// Texts that may wait at once: minutes of work, and 4 MB at a typical 500 bytes. Beyond it `submit` gives the job
/// back, and the caller offers it again when the queue has shrunk.
pub const JOBS_MAX: usize = 8_192;

/// Queries that may wait at once; each blocks a caller.
pub const QUERIES_MAX: usize = 32;

/// Longest text that is embedded, in bytes; the rest is cut. The model reads 256 tokens, some 1,300 bytes of English.
/// Six times that suffices for text without spaces, and keeps a pasted megabyte away from the tokenizer.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Longest text whose tokens are compared, in bytes. The model reads only the beginning of a longer one, and ranking
/// it by that costs chats three points of MRR.
pub const SIGNED_BYTES_MAX: usize = 3_000;

/// A text to be embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The document's number in the index.
    pub doc: u32,
    /// Comes back with the vector, so that a vector for an older text of the same document can be
    /// told apart.
    pub generation: u64,
    /// The exact text; beyond [`TEXT_BYTES_MAX`] it is cut.
    pub text: String,
    /// Which outputs are needed.
    pub want: WantedOutput,
}

/// The outputs that are needed of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedOutput {
    /// The vector, and the signs of the tokens where they come with it.
    Vector,
    /// The signs too, even if that takes another inference.
    Signs,
}

/// A vector that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddedDocument {
    /// From the job.
    pub doc: u32,
    /// From the job.
    pub generation: u64,
    /// Of length one.
    pub vector: Vec<f32>,
    /// The location of its tokens' signs.
    pub signed: SignState,
}

/// How fast texts are embedded. Queries are embedded at once at any pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// One batch after another.
    Full,
    /// One text, and then a rest of this length: somebody else needs the processor. The waiting texts are bounded by
    /// [`JOBS_MAX`], and none is lost.
    Held(Duration),
}

pub(super) enum WorkerMessage {
    Pace(Pace),
    Embed(Job),
    Query(QueryJob),
    Texts(TextsJob),
    Stop,
}

/// A query that waits for its embedding.
pub(super) struct QueryJob {
    pub(super) text: String,
    /// The caller waits until then.
    pub(super) until: Instant,
    pub(super) reply: SyncSender<Result<QueryEmbedding, EmbedError>>,
}

/// Texts of somebody else, who waits for their vectors.
pub(super) struct TextsJob {
    pub(super) texts: Vec<String>,
    /// The caller waits until then.
    pub(super) until: Instant,
    pub(super) reply: SyncSender<Result<Vec<Vec<f32>>, EmbedError>>,
}
