//! The thread that owns the model and the cache, so that nobody else waits for either.
//!
//! The model is loaded on the thread, so a start does not wait for it; until then a query gets an error at once and
//! runs on words alone. Queries have a thread and a network of their own, so no query waits for texts. Where the
//! machine has no use for such a network, the thread answers every waiting query between two batches, and batches are
//! small (see `thread`). The embeddings of the last queries are cached, and a query whose
//! caller has stopped waiting is skipped. The newest texts go first: a new memory is searched for soonest. A
//! text that was embedded before gets its vector from the cache on disk.
//!
//! What is not here: which texts to embed and what becomes of the vectors (the engine), which model
//! (`embed::load`), the file format (`cache`).

mod other_texts;
mod pending_query;
mod priority;
mod query_cache;
mod query_thread;
mod refusal;
mod thread;

pub use pending_query::PendingQuery;
pub use refusal::{QueryError, SubmitError};

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::other_texts::TextsJob;
use self::query_cache::QueryCache;
use super::cache::{AppendLock, CacheStats};
use super::{EmbedError, Embedder, SpaceId};
use crate::late::{QueryToken, SignState, SignStore};

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
    pub want: Want,
}

/// The outputs that are needed of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// The vector, and the signs of the tokens where they come with it.
    Vector,
    /// The signs too, even if that takes another inference.
    Signs,
}

/// A vector that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// From the job.
    pub doc: u32,
    /// From the job.
    pub generation: u64,
    /// Of length one.
    pub vector: Vec<f32>,
    /// The location of its tokens' signs.
    pub signed: SignState,
}

/// The embedding of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryEmbedding {
    /// The vectors that it can be compared with.
    pub space: SpaceId,
    /// Of length one.
    pub vector: Vec<f32>,
    /// Its tokens, prepared for comparison with the signs of memories.
    pub tokens: Vec<QueryToken>,
}

/// The state of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// The model is being loaded.
    Loading,
    /// Vectors are being made.
    Ready {
        /// Name of the model, and what is not as it should be.
        model: String,
        /// Numbers per vector.
        dims: usize,
    },
    /// There will be no vectors, for this reason.
    Failed(EmbedError),
}

/// The progress of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The state of the thread.
    pub state: WorkerState,
    /// Texts waiting, the batch in flight included.
    pub queued: usize,
    /// Texts whose vector was delivered.
    pub done: usize,
    /// The part of those that came from the cache.
    pub from_cache: usize,
    /// Texts given up on.
    pub failed: usize,
    /// The cache, if there is one that works.
    pub cache: Option<CacheStats>,
    /// Why there is none, or why the last write to it failed.
    pub cache_trouble: Option<String>,
    /// Why texts wait, where the model could not be asked just now.
    pub model_trouble: Option<String>,
}

/// Where vectors are kept between runs.
pub struct CacheConfig {
    /// Directory of the cache files.
    pub dir: PathBuf,
    /// Lock shared by all who append to them.
    pub lock: Arc<dyn AppendLock>,
}

/// What a worker is started with.
pub struct WorkerConfig {
    /// Loads the model; runs on the new thread.
    pub load: Box<dyn FnOnce() -> Result<Box<dyn Embedder>, EmbedError> + Send>,
    /// Its space.
    pub space: SpaceId,
    /// What happens to a batch in flight at the end.
    pub at_end: AtEnd,
    /// `None` makes every vector anew at each start.
    pub cache: Option<CacheConfig>,
    /// Given the vectors of each batch, on the worker's thread. Must not wait for the thread that
    /// drops the worker, which is waiting for this one.
    pub deliver: Box<dyn FnMut(Vec<Embedded>) + Send>,
}

/// What dropping a worker does with a batch in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// Waits for it: it takes a moment.
    Wait,
    /// Leaves the thread alone, which ends after it: it may wait for somebody else's server.
    Leave,
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

enum Message {
    Pace(Pace),
    Embed(Job),
    Query(QueryJob),
    Texts(TextsJob),
    Stop,
}

/// A query that waits for its embedding.
struct QueryJob {
    text: String,
    /// The caller waits until then.
    until: Instant,
    reply: SyncSender<Result<QueryEmbedding, EmbedError>>,
}

/// The state that both sides share.
struct WorkerShared {
    stop: AtomicBool,
    queued: AtomicUsize,
    queries: AtomicUsize,
    done: AtomicUsize,
    from_cache: AtomicUsize,
    failed: AtomicUsize,
    slow: Mutex<Slow>,
    query_cache: Mutex<QueryCache>,
    space: SpaceId,
}

/// The rarely changing rest of [`Progress`].
struct Slow {
    state: WorkerState,
    cache: Option<CacheStats>,
    cache_trouble: Option<String>,
    model_trouble: Option<String>,
    sign_store: Option<Arc<dyn SignStore>>,
    /// To the thread that embeds queries; `None` where texts and queries share a network.
    queries: Option<Sender<QueryJob>>,
}

impl WorkerShared {
    fn new(space: SpaceId) -> Self {
        let (cache, cache_trouble, model_trouble, sign_store) = (None, None, None, None);
        let state = WorkerState::Loading;
        let slow = Slow { state, cache, cache_trouble, model_trouble, sign_store, queries: None };
        Self {
            stop: AtomicBool::new(false),
            queued: AtomicUsize::new(0),
            queries: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            from_cache: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            slow: Mutex::new(slow),
            query_cache: Mutex::default(),
            space,
        }
    }

    fn slow(&self) -> std::sync::MutexGuard<'_, Slow> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn query_cache(&self) -> std::sync::MutexGuard<'_, QueryCache> {
        self.query_cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more, unless there are `max`.
    fn enter(counter: &AtomicUsize, max: usize) -> bool {
        let more = |count: usize| (count < max).then_some(count + 1);
        counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    fn leave(counter: &AtomicUsize, count: usize) {
        counter.fetch_sub(count, Ordering::AcqRel);
    }
}

/// Handle to the thread. Dropping it stops the thread and waits for it: for the batch in flight, or
/// for the model that is just being loaded.
pub struct Worker {
    shared: Arc<WorkerShared>,
    sender: Sender<Message>,
    thread: Option<JoinHandle<()>>,
    at_end: AtEnd,
}

impl Worker {
    /// Starts the thread; returns at once.
    ///
    /// # Errors
    /// The operating system refused a thread.
    pub fn start(config: WorkerConfig) -> std::io::Result<Self> {
        let (shared, at_end) = (Arc::new(WorkerShared::new(config.space)), config.at_end);
        // Unbounded, because the counters in `WorkerShared` are the bound: JOBS_MAX and QUERIES_MAX.
        let (sender, receiver) = mpsc::channel();
        let (theirs, returned) = (Arc::clone(&shared), sender.clone());
        let thread = std::thread::Builder::new()
            .name("embed".to_owned())
            .spawn(move || thread::run(config, &theirs, &receiver, returned))?;
        Ok(Self { shared, sender, thread: Some(thread), at_end })
    }

    /// Queues a text; never waits. Texts queued while the model loads are embedded when it is
    /// there.
    ///
    /// # Errors
    /// Gives the job back when the queue is full or nothing will ever be embedded.
    pub fn submit(&self, mut job: Job) -> Result<(), SubmitError> {
        job.text.truncate(job.text.floor_char_boundary(TEXT_BYTES_MAX));
        if !WorkerShared::enter(&self.shared.queued, JOBS_MAX) {
            return Err(SubmitError::Full(job));
        }
        let Err(mpsc::SendError(Message::Embed(job))) = self.sender.send(Message::Embed(job))
        else {
            return Ok(());
        };
        WorkerShared::leave(&self.shared.queued, 1);
        Err(SubmitError::Stopped(job))
    }

    /// Sets the pace of the texts. The batch in flight is not stopped.
    pub fn set_pace(&self, pace: Pace) {
        // A thread that is gone embeds nothing.
        let _ = self.sender.send(Message::Pace(pace));
    }

    /// Embeds a query, ahead of all texts. Waits `wait` at most; a cached query does not wait.
    ///
    /// # Errors
    /// See [`QueryError`]; while the model loads the answer is immediate.
    pub fn embed_query(&self, text: &str, wait: Duration) -> Result<QueryEmbedding, QueryError> {
        self.begin_query(text, wait)?.answer()
    }

    /// Sends the query of [`Self::embed_query`] and does not wait for the answer.
    ///
    /// # Errors
    /// See [`QueryError`]; those that are known at once.
    pub fn begin_query(&self, text: &str, wait: Duration) -> Result<PendingQuery, QueryError> {
        let slow = self.shared.slow();
        let queries = match &slow.state {
            WorkerState::Loading => return Err(QueryError::Loading),
            WorkerState::Failed(error) => return Err(error.clone().into()),
            WorkerState::Ready { .. } => slow.queries.clone(),
        };
        drop(slow);
        let mut text = text.to_owned();
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        if let Some(meant) = self.shared.query_cache().get(&text) {
            return Ok(PendingQuery::cached(meant));
        }
        if !WorkerShared::enter(&self.shared.queries, QUERIES_MAX) {
            return Err(QueryError::Busy);
        }
        let (reply, answer) = mpsc::sync_channel(1);
        let until = Instant::now() + wait;
        let job = QueryJob { text, until, reply };
        let refused = match queries {
            Some(queries) => queries.send(job).err().map(|mpsc::SendError(job)| job),
            None => Some(job),
        };
        // A thread for queries whose network failed is gone.
        let is_sent = refused.map(|job| self.sender.send(Message::Query(job)));
        if is_sent.is_some_and(|sent| sent.is_err()) {
            WorkerShared::leave(&self.shared.queries, 1);
            return Err(QueryError::Stopped);
        }
        Ok(PendingQuery::sent(answer, until))
    }

    /// Returns the store of token signs, once the model is loaded and unless they cannot be stored.
    #[must_use]
    pub fn sign_store(&self) -> Option<Arc<dyn SignStore>> {
        self.shared.slow().sign_store.clone()
    }

    /// How many texts wait, the batch in flight included.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.shared.queued.load(Ordering::Acquire)
    }

    /// The progress of the work.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let slow = self.shared.slow();
        let read = |counter: &AtomicUsize| counter.load(Ordering::Acquire);
        Progress {
            state: slow.state.clone(),
            queued: read(&self.shared.queued),
            done: read(&self.shared.done),
            from_cache: read(&self.shared.from_cache),
            failed: read(&self.shared.failed),
            cache: slow.cache,
            cache_trouble: slow.cache_trouble.clone(),
            model_trouble: slow.model_trouble.clone(),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Wakes a thread that waits for work; a thread that is gone needs no waking.
        let _ = self.sender.send(Message::Stop);
        if let Some(thread) = self.thread.take().filter(|_| self.at_end == AtEnd::Wait) {
            // A panic over there was reported there.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
