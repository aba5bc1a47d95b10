//! The loop: one thread keeps the state, everybody else sends it messages of one closed kind and gets
//! frozen snapshots back; while it is idle, who asks does its work and need not wake it. Before every snapshot it catches
//! up with the files, by what the system says was written or else by their lengths, so an acknowledged write is found
//! even when no hint of it came. All that is there is read on a thread of its own; until that is done, whoever does not
//! want to wait gets the newest. Not here: searching a snapshot.

mod run;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::checkpoint::Checkpoints;
use super::follow::{CaughtUp, Follower};
use super::watch::{Watch, Watching};
use index::embed::cache::AppendLock;
use index::embed::worker::{
    Asking, CacheConfig, Embedded, Meant, Progress, QueryError, Worker, WorkerConfig,
};
use index::embed::{EmbedError, Embedder};
use memory::Bound;
use run::{LoopState, ReadState};
use search::snapshot::Snapshot;
use store::{Config, Store};

/// How long between two looks at a model that is still loading.
const LOADING_PAUSE_MS: u64 = 5;

/// What the engine is started with.
pub struct EngineSetup {
    /// Where the logs are.
    pub store: Store,
    /// Settings; aliases are followed.
    pub config: Config,
    /// How much memory the memories may take.
    pub bound: Bound,
    /// How hints arrive.
    pub watching: Watching,
    /// The embedding model; `None` for words only.
    pub dense: Option<Dense>,
    /// Where what was made of the logs is kept; `None` to read them all.
    pub checkpoints: Option<Checkpoints>,
}

/// Where meaning comes from.
pub struct Dense {
    /// Loads the model, on a thread of its own.
    pub load: Box<dyn FnOnce() -> Result<Box<dyn Embedder>, EmbedError> + Send>,
    /// Where vectors are kept between runs.
    pub cache_dir: PathBuf,
    /// The lock under which they are written.
    pub lock: Arc<dyn AppendLock>,
}

/// A handle to the loop. Dropping it stops the loop.
pub struct Engine {
    inbox: Sender<Input>,
    /// The loop's; gone with it.
    state: Weak<Mutex<LoopState>>,
    pending_batches: PendingBatches,
    worker: Option<Arc<Worker>>,
    thread: Option<JoinHandle<()>>,
}

/// How many batches of vectors the loop was sent and has not taken in.
type PendingBatches = Arc<AtomicUsize>;

/// Everything the loop can be told.
enum Input {
    /// A log may have changed.
    Hint,
    /// Vectors are ready.
    Embedded(Vec<Embedded>),
    /// All that was there has been read.
    Loaded {
        follower: Box<Follower>,
        followed: CaughtUp,
        /// How many memories the checkpoint had.
        checkpoint_len: usize,
    },
    /// Somebody wants a snapshot of all there is.
    FullSnapshot(Sender<Snapshot>, CatchUpReason),
    /// Somebody wants a snapshot now, of the newest where not all has been read; the log at hand first.
    RecentView(Sender<View>, PathBuf),
    /// What is new is to be kept now.
    SaveCheckpoint(Sender<()>),
    /// The end.
    Stop,
}

/// CatchUpReason somebody wants a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatchUpReason {
    /// To answer.
    Question,
    /// For what can wait until nobody asks.
    Upkeep,
}

/// A snapshot, and how much of the logs it is of.
#[derive(Debug, Clone)]
pub struct View {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// How much it is of.
    pub extent: Extent,
}

/// How much of the logs has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// The newest of each log.
    Recent,
}

/// The loop is gone; only a bug can do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the retriever's thread has stopped; please report this")]
pub struct Stopped;

impl Engine {
    /// Starts the loop and returns at once; the logs are read in the background.
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
            // The loop may be gone already; then nobody needs the hint.
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
        let loops = LoopState::new(
            reading,
            worker.clone(),
            Arc::clone(&pending_batches),
            setup.checkpoints,
            watch,
        );
        let loops = Arc::new(Mutex::new(loops));
        let state = Arc::downgrade(&loops);
        let thread = std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || run::run(&loops, &messages))?;
        Ok(Self { inbox, state, pending_batches, worker, thread: Some(thread) })
    }

    /// Returns the state of everything that was acknowledged before the call. Waits until all logs have
    /// been read.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn snapshot(&self) -> Result<Snapshot, Stopped> {
        self.full_snapshot(CatchUpReason::Question)
    }

    /// Returns the same for what is done beside answering: it does not count as somebody asking.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn snapshot_for_upkeep(&self) -> Result<Snapshot, Stopped> {
        self.full_snapshot(CatchUpReason::Upkeep)
    }

    /// Does what the loop would do, where it is idle and all has been read: waking it, and being woken by it, would take
    /// longer. Where it is busy a message waits in line, and with it who can wait so long only; so it does behind vectors:
    /// whoever had an answer of the model finds what was embedded before.
    fn snapshot_in_place(&self, why: CatchUpReason) -> Option<Snapshot> {
        let state = self.state.upgrade()?;
        let mut state = state.try_lock().ok()?;
        if self.pending_batches.load(Ordering::SeqCst) > 0 {
            return None;
        }
        state.full_snapshot(why)
    }

    fn full_snapshot(&self, why: CatchUpReason) -> Result<Snapshot, Stopped> {
        if let Some(snapshot) = self.snapshot_in_place(why) {
            return Ok(snapshot);
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(Input::FullSnapshot(reply, why)).map_err(|_| Stopped)?;
        answer.recv().map_err(|_| Stopped)
    }

    /// Returns what [`Engine::snapshot`] does, or, where that takes longer than `wait`, the newest of each
    /// log and more of the log `home`: what was acknowledged before the call is in it too.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn view(&self, home: &Path, wait: Duration) -> Result<View, Stopped> {
        if let Some(snapshot) = self.snapshot_in_place(CatchUpReason::Question) {
            return Ok(View { snapshot, extent: Extent::Whole });
        }
        let (reply, answer) = mpsc::channel();
        self.inbox
            .send(Input::FullSnapshot(reply, CatchUpReason::Question))
            .map_err(|_| Stopped)?;
        match answer.recv_timeout(wait) {
            Ok(snapshot) => return Ok(View { snapshot, extent: Extent::Whole }),
            Err(RecvTimeoutError::Disconnected) => return Err(Stopped),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(Input::RecentView(reply, home.to_owned())).map_err(|_| Stopped)?;
        answer.recv().map_err(|_| Stopped)
    }

    /// Writes a checkpoint of what is new, where there is a place for one, and waits at most `wait` for it.
    pub fn save_checkpoint(&self, wait: Duration) {
        let (reply, kept) = mpsc::channel();
        // Without it the next start reads a little more.
        if self.inbox.send(Input::SaveCheckpoint(reply)).is_ok() {
            let _ = kept.recv_timeout(wait);
        }
    }

    /// Returns what a query means, or `None` when there is no model. Waits at most `wait` for it, and
    /// `loading_wait` for a model that is still loading.
    ///
    /// # Errors
    /// [`QueryError`]; the query then runs on words alone.
    pub fn embed_query(
        &self,
        text: &str,
        wait: Duration,
        loading_wait: Duration,
    ) -> Option<Result<Meant, QueryError>> {
        Some(self.ask(text, wait, loading_wait)?.and_then(Asking::answer))
    }

    /// Puts the question of [`Self::embed_query`]: waits for a model that is loading, not for the answer.
    pub fn ask(
        &self,
        text: &str,
        wait: Duration,
        loading_wait: Duration,
    ) -> Option<Result<Asking, QueryError>> {
        let worker = self.worker.as_ref()?;
        let deadline = Instant::now() + loading_wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match worker.ask(text, wait) {
                Err(QueryError::Loading) if !left.is_zero() => {
                    std::thread::park_timeout(Duration::from_millis(LOADING_PAUSE_MS).min(left));
                }
                other => return Some(other),
            }
        }
    }

    /// Tells how far the embedding is; `None` when there is no model.
    #[must_use]
    pub fn embedding(&self) -> Option<Progress> {
        self.worker.as_ref().map(|worker| worker.progress())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A loop that is gone needs no stopping.
        let _ = self.inbox.send(Input::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic over there was reported there.
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
            // At shutdown the loop is gone before the worker is.
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

        /// What one who asks is given without waking the loop, once that is idle.
        fn idle(&self, patience: Duration) -> Snapshot {
            let deadline = Instant::now() + patience;
            loop {
                if let Some(snapshot) = self.engine.snapshot_in_place(CatchUpReason::Question) {
                    return snapshot;
                }
                assert!(Instant::now() < deadline, "the loop is never idle");
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
    fn what_was_written_is_found_by_the_very_next_query_with_the_watcher_dead() {
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
    fn each_of_many_writers_finds_what_it_wrote_whoever_writes_and_replaces_logs_meanwhile() {
        let world = World::new(Watching::System);
        world.append("shared.jsonl", &line("first"));
        assert_eq!(world.found("first"), ["first"]);
        let write = |writer: usize| {
            for number in 0..100 {
                let lesson = format!("walrus{writer}x{number}");
                match number % 10 {
                    // A log that nobody has yet.
                    7 => world.append(&format!("own-{writer}-{number}.jsonl"), &line(&lesson)),
                    // Another file in the place of the old.
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
    fn who_asks_need_not_wake_the_loop_and_waits_for_it_where_it_is_busy() {
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
            "vectors are to come first"
        );
        assert_eq!(world.found("gamma"), ["gamma"]);
        world.engine.pending_batches.store(0, Ordering::SeqCst);
        assert_eq!(world.idle(Duration::from_secs(10)).memories().len(), 3);
    }

    // S-READ-1
    #[test]
    fn who_asks_need_not_wake_the_loop_once_it_has_taken_in_what_was_embedded() {
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
    fn a_log_that_comes_is_replaced_or_goes_is_noticed_by_the_next_query() {
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
    fn a_snapshot_is_not_disturbed_by_what_comes_later() {
        let world = World::new(Watching::System);
        world.append("a.jsonl", &line("alpha"));
        let frozen = world.engine.snapshot().unwrap();
        world.append("a.jsonl", &line("beta"));
        assert_eq!(world.engine.snapshot().unwrap().memories().len(), 2);
        assert_eq!((frozen.memories().len(), frozen.lexical().len()), (1, 1));
    }

    // S-LINE-8
    #[test]
    fn damage_is_counted_with_its_place_and_stops_nothing() {
        let world = World::new(Watching::System);
        world.append("a.jsonl", &format!("{}not json\n\n[1]\n{}", line("alpha"), line("beta")));
        let snapshot = world.engine.snapshot().unwrap();
        assert_eq!(snapshot.memories().len(), 2);
        let health = snapshot.health();
        assert_eq!((health.lines, health.skipped), (4, 2));
        assert_eq!(health.skips[0].offset, u64::try_from(line("alpha").len()).unwrap());
    }
}
