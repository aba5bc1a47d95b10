//! The engine: one thread owns the state and handles messages; callers get frozen snapshots. While
//! the thread is idle, a caller catches up and takes the snapshot on its own thread, without waking
//! it. Before every snapshot the files are checked, by the system's change queue or else by their
//! lengths, so an acknowledged write is found even when no hint of it arrived. All logs are read on
//! a separate thread; until that is done, a caller that does not wait gets the newest lines. Not
//! here: handling the messages (`owner::run`), searching a snapshot (`search`).

mod run;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::checkpoint::Checkpoints;
use super::follow::{CaughtUp, Follower};
use super::watch::{Watch, Watching};
use index::embed::cache::AppendLock;
use index::embed::worker::{
    CacheConfig, Embedded, PendingQuery, Progress, QueryEmbedding, QueryError, Worker, WorkerConfig,
};
use index::embed::{EmbedError, Embedder};
use memory::Bound;
use run::{LoopState, ReadState};
use search::snapshot::Snapshot;
use store::{Config, Store};

/// The pause between two checks of a model that is loading.
const LOADING_PAUSE_MS: u64 = 5;

/// How long a view waits for lines that were left out: a share of the caller's patience, up to this.
const BEHIND_SHARE: u32 = 5;
const BEHIND_WAIT_MAX: Duration = Duration::from_secs(5);

/// The settings of an engine.
pub struct EngineSetup {
    /// The store of the logs.
    pub store: Store,
    /// The configuration; aliases are resolved.
    pub config: Config,
    /// The memory bound.
    pub bound: Bound,
    /// How change hints arrive.
    pub watching: Watching,
    /// The embedding model. `None` for lexical search only.
    pub dense: Option<Dense>,
    /// The checkpoint folder. `None` to read all logs at every start.
    pub checkpoints: Option<Checkpoints>,
}

/// The embedding model and its vector cache.
pub struct Dense {
    /// Loads the model, on a thread of its own.
    pub load: Box<dyn FnOnce() -> Result<Box<dyn Embedder>, EmbedError> + Send>,
    /// The folder of the vector cache.
    pub cache_dir: PathBuf,
    /// The lock of the vector cache.
    pub lock: Arc<dyn AppendLock>,
}

/// A handle to the engine thread. Dropping it stops the thread.
pub struct Engine {
    inbox: Sender<Input>,
    /// The state of the thread; it ends with the thread.
    state: Weak<Mutex<LoopState>>,
    pending_batches: PendingBatches,
    own_writes: OwnWrites,
    is_pressed: Arc<AtomicBool>,
    worker: Option<Arc<Worker>>,
    thread: Option<JoinHandle<()>>,
}

/// The number of vector batches that were sent to the thread and not taken in.
type PendingBatches = Arc<AtomicUsize>;

/// The writes of this process that the thread has not been told of: log and offset.
type OwnWrites = Arc<Mutex<Vec<(PathBuf, u64)>>>;

/// A message to the thread.
enum Input {
    /// A log may have changed.
    Hint,
    /// Vectors are ready.
    Embedded(Vec<Embedded>),
    /// All logs have been read.
    Loaded {
        follower: Box<Follower>,
        caught_up: CaughtUp,
        /// What the checkpoint held ([`Follower::known_len`]).
        checkpoint_len: usize,
    },
    /// Send a snapshot of all logs.
    FullSnapshot(Sender<Snapshot>, CatchUpReason),
    /// Send a snapshot once all logs were read, which may lack lines that were written faster than they are read.
    CurrentView(Sender<View>),
    /// Send a snapshot now; of the newest lines where not all were read, most of them from this
    /// log.
    RecentView(Sender<View>, PathBuf),
    /// Save a checkpoint now.
    SaveCheckpoint(Sender<()>),
    /// Stop.
    Stop,
}

/// Why a snapshot is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatchUpReason {
    /// To answer a query.
    Question,
    /// For upkeep, which does not count as a query.
    Upkeep,
}

/// A snapshot, and how much of the logs it covers.
#[derive(Debug, Clone)]
pub struct View {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// How much of the logs it covers.
    pub extent: Extent,
}

/// How much of the logs was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The newest lines of each log, while all are read for the first time.
    Recent,
    /// All but some lines, which others write faster than they are read. The newest are among those read.
    Behind,
}

/// The engine thread has stopped, which only a bug can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the retriever's thread has stopped; please report this")]
pub struct Stopped;

impl Engine {
    /// Starts the thread and returns at once. The logs are read in the background.
    ///
    /// # Errors
    /// The system refused a thread.
    pub fn start(setup: EngineSetup) -> std::io::Result<Self> {
        let (inbox, messages) = mpsc::channel();
        let pending_batches = PendingBatches::default();
        let start = |dense| start_worker(dense, inbox.clone(), Arc::clone(&pending_batches));
        let worker = setup.dense.map(start).transpose()?.map(Arc::new);
        let hint_inbox = inbox.clone();
        let hint = move || {
            // A stopped thread needs no hint.
            let _ = hint_inbox.send(Input::Hint);
        };
        let watch = Watch::over(setup.store.root(), setup.watching, hint);
        let (store, config, bound) = (setup.store, setup.config, setup.bound);
        let trouble = watch.trouble().map(str::to_owned);
        let mut follower = Follower::new(store.clone(), config.clone(), bound, trouble);
        if setup.watching == Watching::System {
            follower = follower.with_change_queue();
        }
        run::load(follower, setup.checkpoints.clone(), inbox.clone())?;
        let reading = ReadState::loading(store, config, bound);
        let (own_writes, is_pressed) = (OwnWrites::default(), Arc::<AtomicBool>::default());
        let loop_state = LoopState::new(
            reading,
            worker.clone(),
            (Arc::clone(&pending_batches), Arc::clone(&own_writes), Arc::clone(&is_pressed)),
            setup.checkpoints,
            watch,
        );
        let loop_state = Arc::new(Mutex::new(loop_state));
        let state = Arc::downgrade(&loop_state);
        let thread = std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || run::run(&loop_state, &messages))?;
        Ok(Self {
            inbox,
            state,
            pending_batches,
            own_writes,
            is_pressed,
            worker,
            thread: Some(thread),
        })
    }

    /// Returns a snapshot with everything acknowledged before the call. Waits until all logs have
    /// been read.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn snapshot(&self) -> Result<Snapshot, Stopped> {
        self.full_snapshot(CatchUpReason::Question)
    }

    /// Returns the same for upkeep: it does not count as a query.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn snapshot_for_upkeep(&self) -> Result<Snapshot, Stopped> {
        self.full_snapshot(CatchUpReason::Upkeep)
    }

    /// Takes the snapshot on the caller's thread, where the engine thread is idle and all logs have
    /// been read: waking it and being woken takes longer. Where it is busy the request must be a
    /// message, so that the caller can stop waiting. Where vectors are pending it must be a message
    /// too: a caller that had an answer of the model finds what was embedded before.
    fn in_place<T>(&self, take: impl FnOnce(&mut LoopState) -> Option<T>) -> Option<T> {
        let state = self.state.upgrade()?;
        let mut state = state.try_lock().ok()?;
        if self.pending_batches.load(Ordering::SeqCst) > 0 {
            return None;
        }
        take(&mut state)
    }

    fn snapshot_in_place(&self, why: CatchUpReason) -> Option<Snapshot> {
        self.in_place(|state| state.full_snapshot(why))
    }

    /// Returns a snapshot for upkeep, unless the thread is busy or the logs have not been read yet. Never waits.
    #[must_use]
    pub fn snapshot_now(&self) -> Option<Snapshot> {
        self.snapshot_in_place(CatchUpReason::Upkeep)
    }

    fn full_snapshot(&self, why: CatchUpReason) -> Result<Snapshot, Stopped> {
        if let Some(snapshot) = self.snapshot_in_place(why) {
            return Ok(snapshot);
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(Input::FullSnapshot(reply, why)).map_err(|_| Stopped)?;
        answer.recv().map_err(|_| Stopped)
    }

    /// Returns what [`Engine::snapshot`] does, or, where that takes longer than `wait`, the newest
    /// lines of each log and more of the log `home`. Both contain everything acknowledged before
    /// the call. Where others write faster than lines are read, the view has the newest
    /// quarter of a megabyte of each log, what this process wrote, and whatever else was read by then.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn view(&self, home: &Path, wait: Duration) -> Result<View, Stopped> {
        let view = self.view_now(home, wait)?;
        if view.extent != Extent::Behind || self.is_pressed() {
            return Ok(view);
        }
        // Many lines came at once, and no more follow: they are read in a moment.
        match self.snapshot_within((wait / BEHIND_SHARE).min(BEHIND_WAIT_MAX))? {
            Some(snapshot) => Ok(View { snapshot, extent: Extent::Whole }),
            None => {
                // The others go on, so that waiting again would be in vain too.
                self.is_pressed.store(true, Ordering::Relaxed);
                self.view_now(home, wait)
            }
        }
    }

    fn view_now(&self, home: &Path, wait: Duration) -> Result<View, Stopped> {
        if let Some(view) = self.in_place(LoopState::current_view) {
            if view.extent == Extent::Behind {
                // The thread may not know that there is something left to read.
                self.inbox.send(Input::Hint).map_err(|_| Stopped)?;
            }
            return Ok(view);
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(Input::CurrentView(reply)).map_err(|_| Stopped)?;
        match answer.recv_timeout(wait) {
            Ok(view) => return Ok(view),
            Err(RecvTimeoutError::Disconnected) => return Err(Stopped),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(Input::RecentView(reply, home.to_owned())).map_err(|_| Stopped)?;
        answer.recv().map_err(|_| Stopped)
    }

    /// Returns a snapshot of all logs, if they are read within `wait`.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn snapshot_within(&self, wait: Duration) -> Result<Option<Snapshot>, Stopped> {
        let why = CatchUpReason::Question;
        if let Some(snapshot) = self.snapshot_in_place(why) {
            return Ok(Some(snapshot));
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(Input::FullSnapshot(reply, why)).map_err(|_| Stopped)?;
        match answer.recv_timeout(wait) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Stopped),
        }
    }

    /// Tells whether others go on writing faster than lines are read.
    #[must_use]
    pub fn is_pressed(&self) -> bool {
        self.is_pressed.load(Ordering::Relaxed)
    }

    /// Reports a write of this process, so that the next answer holds it however much others write.
    pub fn wrote(&self, log: &Path, offset: u64) {
        let mut own_writes = self.own_writes.lock().unwrap_or_else(PoisonError::into_inner);
        own_writes.push((log.to_owned(), offset));
    }

    /// Saves a checkpoint, where there is a folder for one, and waits at most `wait` for it.
    pub fn save_checkpoint(&self, wait: Duration) {
        let (reply, kept) = mpsc::channel();
        // Without it the next start reads a few lines more.
        if self.inbox.send(Input::SaveCheckpoint(reply)).is_ok() {
            let _ = kept.recv_timeout(wait);
        }
    }

    /// Returns the embedding of a query. `None` when there is no model. Waits at most `wait` for
    /// it, and `loading_wait` for a model that is loading.
    ///
    /// # Errors
    /// [`QueryError`]. The query then runs on words alone.
    pub fn embed_query(
        &self,
        text: &str,
        wait: Duration,
        loading_wait: Duration,
    ) -> Option<Result<QueryEmbedding, QueryError>> {
        Some(self.begin_query(text, wait, loading_wait)?.and_then(PendingQuery::answer))
    }

    /// Sends the query of [`Self::embed_query`]: waits for a model that is loading, not for the
    /// embedding.
    pub fn begin_query(
        &self,
        text: &str,
        wait: Duration,
        loading_wait: Duration,
    ) -> Option<Result<PendingQuery, QueryError>> {
        let worker = self.worker.as_ref()?;
        let deadline = Instant::now() + loading_wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match worker.begin_query(text, wait) {
                Err(QueryError::Loading) if !left.is_zero() => {
                    std::thread::park_timeout(Duration::from_millis(LOADING_PAUSE_MS).min(left));
                }
                other => return Some(other),
            }
        }
    }

    /// Returns the progress of embedding. `None` when there is no model.
    #[must_use]
    pub fn embedding(&self) -> Option<Progress> {
        self.worker.as_ref().map(|worker| worker.progress())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A stopped thread needs no message.
        let _ = self.inbox.send(Input::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported there.
            let _ = thread.join();
        }
    }
}

fn start_worker(
    dense: Dense,
    inbox: Sender<Input>,
    pending_batches: PendingBatches,
) -> std::io::Result<Worker> {
    Worker::start(WorkerConfig {
        load: dense.load,
        cache: Some(CacheConfig { dir: dense.cache_dir, lock: dense.lock }),
        deliver: Box::new(move |batch| {
            pending_batches.fetch_add(1, Ordering::SeqCst);
            // At shutdown the thread ends before the worker.
            let _ = inbox.send(Input::Embedded(batch));
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache_lock::CacheLock;
    use index::embed::ModelId;
    use index::embed::test_embedder::TestEmbedder;
    use search::{Query, search};
    use std::fs::OpenOptions;
    use std::io::Write;

    struct World {
        folder: tempfile::TempDir,
        engine: Engine,
    }

    impl World {
        fn new(watching: Watching) -> Self {
            Self::with(tempfile::tempdir().unwrap(), watching, None)
        }

        fn with(folder: tempfile::TempDir, watching: Watching, dense: Option<Dense>) -> Self {
            let store = Store::at(folder.path());
            let (config, bound) = (Config::default(), Bound::NONE);
            let setup = EngineSetup { store, config, bound, watching, dense, checkpoints: None };
            Self { engine: Engine::start(setup).unwrap(), folder }
        }

        /// Returns the snapshot that a caller takes in place, once the thread is idle.
        fn idle(&self, patience: Duration) -> Snapshot {
            let deadline = Instant::now() + patience;
            loop {
                if let Some(snapshot) = self.engine.snapshot_in_place(CatchUpReason::Question) {
                    return snapshot;
                }
                assert!(Instant::now() < deadline, "the thread is never idle");
                std::thread::yield_now();
            }
        }

        fn append(&self, log: &str, text: &str) {
            let path = self.folder.path().join(log);
            let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn found(&self, text: &str) -> Vec<String> {
            let snapshot = self.engine.snapshot().unwrap();
            let query = Query { text, ..Query::default() };
            let now = "2026-01-02T03:04:05Z".parse().unwrap();
            let hits = search(&snapshot, &query, now, 5);
            hits.iter().map(|hit| hit.memory.event().lesson).collect()
        }
    }

    fn line(lesson: &str) -> String {
        format!("{{\"lesson\":\"{lesson}\"}}\n")
    }

    // S-READ-1
    #[test]
    fn a_write_is_found_by_the_next_query_without_hints() {
        let world = World::new(Watching::PollOnly);
        assert!(world.found("keepalive").is_empty());
        for number in 0..20 {
            let lesson = format!("keepalive socket number{number}");
            world.append("a.jsonl", &line(&lesson));
            assert_eq!(world.found(&lesson).first(), Some(&lesson));
        }
    }

    // S-READ-1
    #[test]
    fn each_of_many_writers_finds_its_own_writes() {
        let world = World::new(Watching::System);
        world.append("shared.jsonl", &line("first"));
        assert_eq!(world.found("first"), ["first"]);
        let write = |writer: usize| {
            for number in 0..100 {
                let lesson = format!("walrus{writer}x{number}");
                match number % 10 {
                    // A log that does not exist yet.
                    7 => world.append(&format!("own-{writer}-{number}.jsonl"), &line(&lesson)),
                    // Another file in place of the old one.
                    9 => {
                        let log = world.folder.path().join(format!("own-{writer}.jsonl"));
                        let other = log.with_extension("other");
                        std::fs::write(&other, line(&lesson)).unwrap();
                        std::fs::rename(&other, &log).unwrap();
                    }
                    even if even % 2 == 0 => world.append("shared.jsonl", &line(&lesson)),
                    _ => world.append(&format!("own-{writer}.jsonl"), &line(&lesson)),
                }
                assert_eq!(world.found(&lesson).first(), Some(&lesson));
            }
        };
        let write = &write;
        std::thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || write(writer));
            }
        });
    }

    // S-READ-1
    #[test]
    fn a_query_wakes_the_thread_only_when_it_is_busy() {
        let world = World::new(Watching::PollOnly);
        world.append("a.jsonl", &line("alpha"));
        assert_eq!(world.found("alpha"), ["alpha"], "all has been read");
        let state = world.engine.state.upgrade().unwrap();
        std::thread::scope(|scope| {
            let busy = state.lock().unwrap();
            assert!(world.engine.snapshot_in_place(CatchUpReason::Question).is_none());
            world.append("a.jsonl", &line("beta"));
            let asked = scope.spawn(|| world.found("beta"));
            drop(busy);
            assert_eq!(asked.join().unwrap(), ["beta"]);
        });
        world.append("a.jsonl", &line("gamma"));
        world.engine.pending_batches.store(1, Ordering::SeqCst);
        assert!(
            world.engine.snapshot_in_place(CatchUpReason::Question).is_none(),
            "vectors are pending"
        );
        assert_eq!(world.found("gamma"), ["gamma"]);
        world.engine.pending_batches.store(0, Ordering::SeqCst);
        assert_eq!(world.idle(Duration::from_secs(10)).memories().len(), 3);
    }

    // S-READ-1
    #[test]
    fn a_query_need_not_wake_the_thread_after_embedding() {
        let folder = tempfile::tempdir().unwrap();
        let cache_dir = folder.path().join("cache");
        let (batches, embedded) = mpsc::channel();
        let model_id = ModelId::new("test", [7; 32]);
        let embedder = TestEmbedder { model_id, batches, gate: None };
        let lock = Arc::new(CacheLock::of(&cache_dir));
        let dense = Dense { load: Box::new(move || Ok(Box::new(embedder))), cache_dir, lock };
        let world = World::with(folder, Watching::PollOnly, Some(dense));
        for number in 0..5 {
            let lesson = format!("walrus number{number}");
            world.append("a.jsonl", &line(&lesson));
            assert_eq!(world.found(&lesson).first(), Some(&lesson));
            embedded.recv_timeout(Duration::from_secs(60)).unwrap();
            let deadline = Instant::now() + Duration::from_secs(60);
            // Delivered, which is when one more is counted as pending_batches.
            while world.engine.embedding().unwrap().done <= number {
                assert!(Instant::now() < deadline);
                std::thread::yield_now();
            }
            world.idle(Duration::from_secs(60));
        }
    }

    // S-READ-2
    #[test]
    fn new_replaced_and_removed_logs_are_noticed() {
        let world = World::new(Watching::System);
        world.append("a.jsonl", &line("alpha lesson"));
        world.append("b.jsonl", &line("beta lesson"));
        assert_eq!(world.found("lesson").len(), 2);
        let path = world.folder.path().join("a.jsonl");
        std::fs::write(&path, line("gamma")).unwrap();
        assert_eq!(world.found("gamma alpha"), ["gamma"]);
        assert_eq!(world.found("beta"), ["beta lesson"]);
        std::fs::remove_file(&path).unwrap();
        assert!(world.found("gamma").is_empty());
        assert_eq!(world.found("beta"), ["beta lesson"]);
    }

    // S-READ-4
    #[test]
    fn a_snapshot_ignores_later_writes() {
        let world = World::new(Watching::System);
        world.append("a.jsonl", &line("alpha"));
        let frozen = world.engine.snapshot().unwrap();
        world.append("a.jsonl", &line("beta"));
        assert_eq!(world.engine.snapshot().unwrap().memories().len(), 2);
        assert_eq!((frozen.memories().len(), frozen.lexical().len()), (1, 1));
    }

    // S-LINE-8
    #[test]
    fn damaged_lines_are_counted_and_skipped() {
        let world = World::new(Watching::System);
        world.append("a.jsonl", &format!("{}not json\n\n[1]\n{}", line("alpha"), line("beta")));
        let snapshot = world.engine.snapshot().unwrap();
        assert_eq!(snapshot.memories().len(), 2);
        let health = snapshot.health();
        assert_eq!((health.lines, health.skipped), (4, 2));
        assert_eq!(health.skips[0].offset, u64::try_from(line("alpha").len()).unwrap());
    }
}
