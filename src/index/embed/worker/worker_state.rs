//! The state that the thread and its handle share, the configuration of a worker, and its progress for `status`. Not here: the
//! thread.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::query_cache::QueryCache;
use super::worker_jobs::{EmbeddedDocument, QueryJob, WorkerMessage};
use crate::embed::cache::{AppendLock, CacheStats, VectorCache};
use crate::embed::embedder::{Embedder, SpaceId};
use crate::embed::error::EmbedError;
use crate::late::SignStore;

/// The state of the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// The model is being loaded.
    Loading,
    /// Vectors are being made.
    Ready {
        /// The name of the model, and what is wrong with it.
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
    /// Texts of which the vector of the whole text was delivered.
    pub done: usize,
    /// How many of those came from the cache.
    pub from_cache: usize,
    /// Texts given up on.
    pub failed: usize,
    /// The cache, if there is one that works.
    pub cache: Option<CacheStats>,
    /// Why there is none, or why the last write to it failed.
    pub cache_trouble: Option<String>,
    /// Why texts wait, where the model could not be asked just now.
    pub model_trouble: Option<String>,
    /// Whether the model is in memory.
    pub residence: ModelResidence,
}

/// Whether the model is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelResidence {
    /// It is, or it is being loaded for the first time.
    Loaded,
    /// It was unloaded, because nobody had used it for a while. The next query or text loads it again.
    Unloaded,
    /// It is being loaded again.
    Reloading,
}

/// Where vectors are kept between runs.
pub struct CacheConfig {
    /// Directory of the cache files.
    pub dir: PathBuf,
    /// Lock shared by all who append to them.
    pub lock: Arc<dyn AppendLock>,
}

/// When a model that nobody uses leaves memory, and how it is loaded again.
pub struct IdleUnload {
    /// How long no text and no query came before.
    pub after: Duration,
    /// Loads it again; runs on a new thread.
    pub load: Box<dyn FnMut() -> Result<Box<dyn Embedder>, EmbedError> + Send>,
}

/// The configuration of a worker.
pub struct WorkerConfig {
    /// Loads the model; runs on the new thread.
    pub load: Box<dyn FnOnce() -> Result<Box<dyn Embedder>, EmbedError> + Send>,
    /// Its space.
    pub space: SpaceId,
    /// What happens to a batch in flight at the end.
    pub at_end: ShutdownMode,
    /// `None` makes every vector anew at each start.
    pub cache: Option<CacheConfig>,
    /// Given the vectors of each batch, on the worker's thread. Must not wait for the thread that
    /// drops the worker, which is waiting for this one.
    pub deliver: Box<dyn FnMut(Vec<EmbeddedDocument>) + Send>,
    /// `None` keeps the model in memory.
    pub idle: Option<IdleUnload>,
}

/// What a thread works with beside the model. It outlives the thread while the model is unloaded.
pub(super) struct WorkerParts {
    pub(super) cache: Option<VectorCache>,
    pub(super) deliver: Box<dyn FnMut(Vec<EmbeddedDocument>) + Send>,
    pub(super) idle: Option<IdleUnload>,
    pub(super) receiver: Receiver<WorkerMessage>,
    /// The sender of that receiver.
    pub(super) returned: Sender<WorkerMessage>,
}

/// What dropping a worker does with a batch in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownMode {
    /// Waits for it: it takes a moment.
    Wait,
    /// Does not wait; the thread ends after the batch, which may depend on another server.
    Leave,
}

/// The state that both sides share.
pub(super) struct WorkerShared {
    pub(super) stop: AtomicBool,
    pub(super) queued: AtomicUsize,
    pub(super) queries: AtomicUsize,
    pub(super) done: AtomicUsize,
    pub(super) from_cache: AtomicUsize,
    pub(super) failed: AtomicUsize,
    pub(super) slow: Mutex<WorkerDetails>,
    pub(super) query_cache: Mutex<QueryCache>,
    /// What the next thread works with, while the model is unloaded.
    pub(super) parked: Mutex<Option<WorkerParts>>,
    pub(super) space: SpaceId,
}

/// The rarely changing rest of [`Progress`].
pub(super) struct WorkerDetails {
    pub(super) state: WorkerState,
    pub(super) cache: Option<CacheStats>,
    pub(super) cache_trouble: Option<String>,
    pub(super) model_trouble: Option<String>,
    pub(super) sign_store: Option<Arc<dyn SignStore>>,
    /// To the thread that embeds queries; `None` where texts and queries share a network.
    pub(super) queries: Option<Sender<QueryJob>>,
    pub(super) residence: ModelResidence,
    /// When a query came last.
    pub(super) asked_at: Instant,
}

impl WorkerShared {
    pub(super) fn new(space: SpaceId) -> Self {
        let (cache, cache_trouble, model_trouble, sign_store) = (None, None, None, None);
        let slow = WorkerDetails {
            state: WorkerState::Loading,
            cache,
            cache_trouble,
            model_trouble,
            sign_store,
            queries: None,
            residence: ModelResidence::Loaded,
            asked_at: Instant::now(),
        };
        Self {
            stop: AtomicBool::new(false),
            queued: AtomicUsize::new(0),
            queries: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            from_cache: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            slow: Mutex::new(slow),
            query_cache: Mutex::default(),
            parked: Mutex::default(),
            space,
        }
    }

    pub(super) fn slow(&self) -> MutexGuard<'_, WorkerDetails> {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn query_cache(&self) -> MutexGuard<'_, QueryCache> {
        self.query_cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn parked(&self) -> MutexGuard<'_, Option<WorkerParts>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more, unless there are `max`.
    pub(super) fn enter(counter: &AtomicUsize, max: usize) -> bool {
        let more = |count: usize| (count < max).then_some(count + 1);
        counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    pub(super) fn leave(counter: &AtomicUsize, count: usize) {
        counter.fetch_sub(count, Ordering::AcqRel);
    }
}
