//! The thread that owns the model and the cache, so that nobody else waits for either.
//!
//! The model is loaded on the thread, so a start does not wait for it; until then a query gets an error at once and
//! runs on words alone. Queries have a thread and a network of their own, so no query waits for texts. Where the
//! machine has no use for such a network, the thread answers every waiting query between two batches, and batches are
//! small (see `thread`). The embeddings of the last queries are cached, and a query whose
//! caller has stopped waiting is skipped. The newest texts go first: a new memory is searched for soonest. A
//! text that was embedded before gets its vector from the cache on disk. A model that nobody uses leaves memory; the
//! next query is answered at once, by words alone, and loads it again.
//!
//! What is not here: which texts to embed and the use of the vectors (the engine), which model
//! (`embed::load`), the file format (`cache`).

mod other_texts;
mod pending_query;
mod priority;
mod query_cache;
mod query_embedding;
mod query_thread;
mod refusal;
mod thread;
mod thread_start;
mod waiting_texts;

pub use pending_query::PendingQuery;
pub use query_embedding::QueryEmbedding;
pub use refusal::{QueryError, SubmitError};
pub use worker_jobs::{
    EmbeddedDocument, JOBS_MAX, Job, Pace, QUERIES_MAX, SIGNED_BYTES_MAX, TEXT_BYTES_MAX,
    WantedOutput,
};
use worker_jobs::{QueryJob, WorkerMessage};
use worker_state::WorkerShared;
pub use worker_state::{
    CacheConfig, IdleUnload, ModelResidence, Progress, ShutdownMode, WorkerConfig, WorkerState,
};

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::embed::EmbedError;
use crate::late::SignStore;

/// Handle to the thread. Dropping it stops the thread and waits for it: for the batch in flight, or
/// for the model that is just being loaded.
pub struct Worker {
    shared: Arc<WorkerShared>,
    sender: Sender<WorkerMessage>,
    thread: Mutex<Option<JoinHandle<()>>>,
    at_end: ShutdownMode,
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
            .spawn(move || thread_start::run(config, &theirs, receiver, returned))?;
        Ok(Self { shared, sender, thread: Mutex::new(Some(thread)), at_end })
    }

    /// Queues a text; never waits. Texts queued while the model loads are embedded once it
    /// is loaded.
    ///
    /// # Errors
    /// Gives the job back when the queue is full or nothing will ever be embedded.
    pub fn submit(&self, mut job: Job) -> Result<(), SubmitError> {
        job.text.truncate(job.text.floor_char_boundary(TEXT_BYTES_MAX));
        if !WorkerShared::enter(&self.shared.queued, JOBS_MAX) {
            return Err(SubmitError::Full(job));
        }
        let Err(mpsc::SendError(WorkerMessage::Embed(job))) =
            self.sender.send(WorkerMessage::Embed(job))
        else {
            self.load_again();
            return Ok(());
        };
        WorkerShared::leave(&self.shared.queued, 1);
        Err(SubmitError::Stopped(job))
    }

    /// Loads the model again, if it was unloaded: on a thread that is started here, so that it has the priority of the
    /// caller, and not that of the thread which embeds texts.
    fn load_again(&self) {
        let Some(parts) = self.shared.parked().take() else { return };
        self.shared.slow().residence = ModelResidence::Reloading;
        let shared = Arc::clone(&self.shared);
        let named = std::thread::Builder::new().name("embed".to_owned());
        match named.spawn(move || thread_start::run_again(parts, &shared)) {
            // The thread before has ended, or does so now.
            Ok(thread) => *self.thread() = Some(thread),
            Err(error) => {
                let why = format!("the system refused a thread: {error}");
                self.shared.slow().state = WorkerState::Failed(EmbedError::Inference { why });
            }
        }
    }

    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the pace of the texts. The batch in flight is not stopped.
    pub fn set_pace(&self, pace: Pace) {
        // A thread that is gone embeds nothing.
        let _ = self.sender.send(WorkerMessage::Pace(pace));
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
        let mut slow = self.shared.slow();
        slow.asked_at = Instant::now();
        let queries = match &slow.state {
            WorkerState::Loading => return Err(QueryError::Loading),
            WorkerState::Failed(error) => return Err(error.clone().into()),
            WorkerState::Ready { .. } => slow.queries.clone(),
        };
        let is_loaded = slow.residence == ModelResidence::Loaded;
        drop(slow);
        let mut text = text.to_owned();
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        if let Some(meant) = self.shared.query_cache().get(&text) {
            return Ok(PendingQuery::cached(meant));
        }
        if !is_loaded {
            self.load_again();
            return Err(QueryError::Reloading);
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
        let is_sent = refused.map(|job| self.sender.send(WorkerMessage::Query(job)));
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

    /// Returns how many texts wait, the batch in flight included.
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
            residence: slow.residence,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Wakes a thread that waits for work; a thread that is gone needs no waking.
        let _ = self.sender.send(WorkerMessage::Stop);
        let thread = self.thread().take();
        if let Some(thread) = thread.filter(|_| self.at_end == ShutdownMode::Wait) {
            // A panic over there was reported there.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
mod worker_jobs;
mod worker_state;
