//! The thread that owns the model and the cache, so that nobody else waits for either.
//!
//! Loading happens on the thread, so a start waits for nothing; until it is done a query is told so
//! and runs on words alone. Between two batches the thread answers every waiting query, so a query
//! waits for the batch in flight at most, and batches are small (see [`BATCH_BYTES`]). Among texts
//! the newest goes first: what was just learned is asked for soonest. A text's vector comes from
//! the cache when it was made before.
//!
//! What is not here: which texts to embed and what becomes of the vectors (the engine), which model
//! (`embed::load`), the file format (`cache`).

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::cache::{AppendLock, CacheStats, TextKey, VectorCache};
use super::{EmbedError, Embedder};

/// Texts waiting at once. The 100,000 memories the program is built for fit; at a typical 500 bytes
/// they are 65 MB. Above it `submit` hands the job back and the caller offers it again when the
/// queue has shrunk.
pub const JOBS_MAX: usize = 131_072;
/// Queries waiting at once; each is a caller blocked on the answer, so more than this is not a
/// person waiting.
pub const QUERIES_MAX: usize = 32;
/// Longest text looked at, in bytes. The model reads 256 tokens, some 1,300 bytes of English; this
/// leaves six times that for text without spaces and keeps a pasted megabyte away from the
/// tokenizer.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;
/// Texts per batch.
const BATCH_TEXTS: usize = 16;
/// Longest text times number of texts in a batch, in bytes: what is computed, since short texts are
/// padded to the longest. A kilobyte is some 220 tokens and 60 ms on one core; larger batches were
/// measured to be no faster per text and would make queries wait longer. A single longer text is a
/// batch of its own.
const BATCH_BYTES: usize = 1024;
/// Newest jobs looked at together: enough to find texts of like length, few enough that a new
/// arrival is behind some two seconds of older ones at most.
const WINDOW_JOBS: usize = 32;

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
}

/// Where the thread is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// The model is being loaded.
    Loading,
    /// Vectors are being made.
    Ready {
        /// Name of the model.
        model: String,
        /// Numbers per vector.
        dims: usize,
    },
    /// There will be no vectors, and this is why.
    Failed(EmbedError),
}

/// How far the work is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Where the thread is.
    pub state: WorkerState,
    /// Texts waiting, the batch in flight included.
    pub queued: usize,
    /// Texts whose vector was delivered.
    pub done: usize,
    /// Of those, how many came from the cache.
    pub from_cache: usize,
    /// Texts given up on.
    pub failed: usize,
    /// The cache, if there is one that works.
    pub cache: Option<CacheStats>,
    /// Why there is none, or why the last write to it failed.
    pub cache_trouble: Option<String>,
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
    /// `None` makes every vector anew at each start.
    pub cache: Option<CacheConfig>,
    /// Given the vectors of each batch, on the worker's thread. Must not wait for the thread that
    /// drops the worker, which is waiting for this one.
    pub deliver: Box<dyn FnMut(Vec<Embedded>) + Send>,
}

/// A job that was not taken, given back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// [`JOBS_MAX`] texts are waiting.
    #[error("too many texts are waiting to be embedded")]
    Full(Job),
    /// The model did not load, so nothing will be embedded.
    #[error("there is no embedding model")]
    Stopped(Job),
}

/// Why a query has no vector; it then runs on words alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The model is still being loaded.
    #[error("the embedding model is still loading")]
    Loading,
    /// [`QUERIES_MAX`] queries are waiting.
    #[error("too many queries are waiting for the embedding model")]
    Busy,
    /// Not within the time given.
    #[error("the embedding model did not answer in time")]
    TimedOut,
    /// There is no model, or it failed on this query.
    #[error(transparent)]
    Failed(#[from] EmbedError),
    /// The thread is gone.
    #[error("the embedding thread has stopped")]
    Stopped,
}

enum Message {
    Embed(Job),
    Query { text: String, reply: SyncSender<Result<Vec<f32>, EmbedError>> },
    Stop,
}

/// What both sides see.
struct Shared {
    stop: AtomicBool,
    queued: AtomicUsize,
    queries: AtomicUsize,
    done: AtomicUsize,
    from_cache: AtomicUsize,
    failed: AtomicUsize,
    slow: Mutex<Slow>,
}

/// The rarely changing rest of [`Progress`].
struct Slow {
    state: WorkerState,
    cache: Option<CacheStats>,
    cache_trouble: Option<String>,
}

impl Shared {
    fn new() -> Self {
        let slow = Slow { state: WorkerState::Loading, cache: None, cache_trouble: None };
        Self {
            stop: AtomicBool::new(false),
            queued: AtomicUsize::new(0),
            queries: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            from_cache: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            slow: Mutex::new(slow),
        }
    }

    fn slow(&self) -> std::sync::MutexGuard<'_, Slow> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more unless there are `max`.
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
    shared: Arc<Shared>,
    sender: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread; returns at once.
    ///
    /// # Errors
    /// The operating system refused a thread.
    pub fn start(config: WorkerConfig) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::new());
        // Unbounded, because the counters in `Shared` are the bound: JOBS_MAX and QUERIES_MAX.
        let (sender, receiver) = mpsc::channel();
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("embed".to_owned())
            .spawn(move || run(config, &theirs, &receiver))?;
        Ok(Self { shared, sender, thread: Some(thread) })
    }

    /// Queues a text; never waits. Texts queued while the model loads are embedded when it is
    /// there.
    ///
    /// # Errors
    /// Gives the job back when the queue is full or nothing will ever be embedded.
    pub fn submit(&self, mut job: Job) -> Result<(), SubmitError> {
        job.text.truncate(job.text.floor_char_boundary(TEXT_BYTES_MAX));
        if !Shared::enter(&self.shared.queued, JOBS_MAX) {
            return Err(SubmitError::Full(job));
        }
        let Err(mpsc::SendError(Message::Embed(job))) = self.sender.send(Message::Embed(job))
        else {
            return Ok(());
        };
        Shared::leave(&self.shared.queued, 1);
        Err(SubmitError::Stopped(job))
    }

    /// The vector of a query, ahead of all texts. Waits for the batch in flight, `wait` at most.
    ///
    /// # Errors
    /// See [`QueryError`]; while the model loads the answer is immediate.
    pub fn embed_query(&self, text: &str, wait: Duration) -> Result<Vec<f32>, QueryError> {
        match &self.shared.slow().state {
            WorkerState::Loading => return Err(QueryError::Loading),
            WorkerState::Failed(error) => return Err(error.clone().into()),
            WorkerState::Ready { .. } => {}
        }
        if !Shared::enter(&self.shared.queries, QUERIES_MAX) {
            return Err(QueryError::Busy);
        }
        let (reply, answer) = mpsc::sync_channel(1);
        let mut text = text.to_owned();
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        if self.sender.send(Message::Query { text, reply }).is_err() {
            Shared::leave(&self.shared.queries, 1);
            return Err(QueryError::Stopped);
        }
        match answer.recv_timeout(wait) {
            Ok(result) => Ok(result?),
            Err(RecvTimeoutError::Timeout) => Err(QueryError::TimedOut),
            Err(RecvTimeoutError::Disconnected) => Err(QueryError::Stopped),
        }
    }

    /// How far the work is.
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
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Wakes a thread that waits for work; a thread that is gone needs no waking.
        let _ = self.sender.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic over there was reported there.
            let _ = thread.join();
        }
    }
}

fn run(config: WorkerConfig, shared: &Shared, receiver: &Receiver<Message>) {
    let embedder = match (config.load)() {
        Ok(embedder) => embedder,
        Err(error) => return fail(error, shared, receiver),
    };
    let cache = config.cache.and_then(|cache| open_cache(cache, embedder.as_ref(), shared));
    let ready =
        WorkerState::Ready { model: embedder.model_id().name().to_owned(), dims: embedder.dims() };
    shared.slow().state = ready;
    let (backlog, window) = (Vec::new(), Vec::new());
    Thread { embedder, cache, deliver: config.deliver, shared, backlog, window }.work(receiver);
}

/// Says why, and lets go of what was queued in the meantime.
fn fail(error: EmbedError, shared: &Shared, receiver: &Receiver<Message>) {
    shared.slow().state = WorkerState::Failed(error);
    let waiting = receiver.try_iter().filter(|message| matches!(message, Message::Embed(_)));
    give_up(shared, waiting.count());
}

fn give_up(shared: &Shared, count: usize) {
    shared.failed.fetch_add(count, Ordering::AcqRel);
    Shared::leave(&shared.queued, count);
}

fn open_cache(
    config: CacheConfig,
    embedder: &dyn Embedder,
    shared: &Shared,
) -> Option<VectorCache> {
    match VectorCache::open(&config.dir, embedder.model_id(), embedder.dims(), config.lock) {
        Ok(cache) => {
            shared.slow().cache = Some(cache.stats());
            Some(cache)
        }
        Err(error) => {
            shared.slow().cache_trouble = Some(error.to_string());
            None
        }
    }
}

/// The thread's own belongings.
struct Thread<'a> {
    embedder: Box<dyn Embedder>,
    cache: Option<VectorCache>,
    deliver: Box<dyn FnMut(Vec<Embedded>) + Send>,
    shared: &'a Shared,
    /// All that waits, oldest first; taken from the end.
    backlog: Vec<Job>,
    /// The newest of it that the cache did not know, longest first; taken from the end.
    window: Vec<Job>,
}

impl Thread<'_> {
    fn work(&mut self, receiver: &Receiver<Message>) {
        while self.take_messages(receiver) {
            if self.window.is_empty() {
                self.fill_window();
            } else {
                self.embed_batch();
            }
        }
    }

    /// Answers queries and queues texts, waiting only when there is nothing else to do. False means
    /// stop.
    fn take_messages(&mut self, receiver: &Receiver<Message>) -> bool {
        loop {
            if self.shared.stop.load(Ordering::Acquire) {
                return false;
            }
            let idle = self.backlog.is_empty() && self.window.is_empty();
            let message = if idle {
                receiver.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                receiver.try_recv()
            };
            match message {
                Ok(Message::Embed(job)) => self.backlog.push(job),
                Ok(Message::Query { text, reply }) => self.answer(&text, &reply),
                Err(TryRecvError::Empty) => return true,
                Ok(Message::Stop) | Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn answer(&mut self, text: &str, reply: &SyncSender<Result<Vec<f32>, EmbedError>>) {
        let nothing = || EmbedError::Inference { why: "it returned no vector".to_owned() };
        let vectors = self.embedder.embed(&[text]);
        Shared::leave(&self.shared.queries, 1);
        // Whoever asked may have stopped waiting.
        let _ = reply.send(vectors.and_then(|mut vectors| vectors.pop().ok_or_else(nothing)));
    }

    /// Moves the newest jobs into the window; those the cache knows are done at once.
    fn fill_window(&mut self) {
        let newest = self.backlog.split_off(self.backlog.len().saturating_sub(WINDOW_JOBS));
        let mut known = Vec::new();
        for job in newest {
            let found = self.cache.as_mut().and_then(|cache| cache.get(TextKey::of(&job.text)));
            match found {
                Some(vector) => known.push(embedded(&job, vector)),
                None => self.window.push(job),
            }
        }
        // Texts of like length side by side, so that little padding is computed; the shortest go
        // first.
        self.window.sort_by_key(|job| std::cmp::Reverse(job.text.len()));
        self.shared.from_cache.fetch_add(known.len(), Ordering::AcqRel);
        self.hand_over(known);
    }

    fn embed_batch(&mut self) {
        let batch = self.next_batch();
        let texts: Vec<&str> = batch.iter().map(|job| job.text.as_str()).collect();
        let vectors: Vec<Option<Vec<f32>>> = match self.embedder.embed(&texts) {
            Ok(vectors) => vectors.into_iter().map(Some).collect(),
            // One text may have spoilt it for all.
            Err(_) => texts.iter().map(|text| self.embedder.embed(&[text]).ok()?.pop()).collect(),
        };
        let pairs = batch.iter().zip(vectors);
        let done: Vec<(&Job, Vec<f32>)> =
            pairs.filter_map(|(job, vector)| Some((job, vector?))).collect();
        give_up(self.shared, batch.len() - done.len());
        self.remember(&done);
        self.hand_over(done.into_iter().map(|(job, vector)| embedded(job, vector)).collect());
    }

    /// Takes texts off the window while they fit in one batch; always at least one.
    fn next_batch(&mut self) -> Vec<Job> {
        let mut batch: Vec<Job> = Vec::new();
        while let Some(next) = self.window.last() {
            // The window is sorted, so the next text is the longest so far.
            let padded_bytes = next.text.len() * (batch.len() + 1);
            if !batch.is_empty() && (batch.len() == BATCH_TEXTS || padded_bytes > BATCH_BYTES) {
                break;
            }
            batch.extend(self.window.pop());
        }
        batch
    }

    fn remember(&mut self, done: &[(&Job, Vec<f32>)]) {
        let Some(cache) = self.cache.as_mut() else { return };
        let rows: Vec<(TextKey, Vec<f32>)> =
            done.iter().map(|(job, vector)| (TextKey::of(&job.text), vector.clone())).collect();
        let trouble = cache.append(&rows).err().map(|error| error.to_string());
        let mut slow = self.shared.slow();
        slow.cache = Some(cache.stats());
        slow.cache_trouble = trouble;
    }

    fn hand_over(&mut self, vectors: Vec<Embedded>) {
        if vectors.is_empty() {
            return;
        }
        let count = vectors.len();
        (self.deliver)(vectors);
        self.shared.done.fetch_add(count, Ordering::AcqRel);
        Shared::leave(&self.shared.queued, count);
    }
}

fn embedded(job: &Job, vector: Vec<f32>) -> Embedded {
    Embedded { doc: job.doc, generation: job.generation, vector }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
