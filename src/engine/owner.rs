//! The engine: one thread owns the state and handles messages; callers get frozen snapshots. While
//! the thread is idle, a caller catches up and takes the snapshot on its own thread, without waking
//! it. Before every snapshot the files are checked, by the system's change queue or else by their
//! lengths, so an acknowledged write is found even when no hint of it arrived. All logs are read on
//! a separate thread; until that is done, a caller that does not wait gets the newest lines. Not
//! here: handling the messages (`owner::run`), searching a snapshot (`search`).

mod dense_setup;
mod engine_input;
mod model_calls;
mod model_worker;
mod models;
mod next_model;
mod run;

pub use dense_setup::DenseSetup;
use engine_input::{CatchUpReason, EngineInput, OwnWrites, PendingBatches};
pub use engine_input::{EngineStopped, EngineView, LogCoverage};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use super::checkpoint::Checkpoints;
use super::follow::Follower;
use super::watch::{Watch, WatchMode};
use memory::MemoryBound;
use model_worker::start_worker;
use models::RunningModels;
pub use next_model::{InterimSearch, SwitchCallback};
use run::{LoopState, ReadState};
use search::snapshot::Snapshot;
use settings::Config;
use store::Store;

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
    pub bound: MemoryBound,
    /// How change hints arrive.
    pub watching: WatchMode,
    /// The embedding model. `None` for lexical search only.
    pub dense: Option<DenseSetup>,
    /// The checkpoint folder. `None` to read all logs at every start.
    pub checkpoints: Option<Checkpoints>,
}

/// A handle to the engine thread. Dropping it stops the thread.
pub struct Engine {
    inbox: Sender<EngineInput>,
    /// The state of the thread; it ends with the thread.
    state: Weak<Mutex<LoopState>>,
    pending_batches: PendingBatches,
    own_writes: OwnWrites,
    is_pressed: Arc<AtomicBool>,
    models: RunningModels,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts the thread and returns at once. The logs are read in the background.
    ///
    /// # Errors
    /// The system refused a thread.
    pub fn start(setup: EngineSetup) -> std::io::Result<Self> {
        let (inbox, messages) = mpsc::channel();
        let pending_batches = PendingBatches::default();
        let start = |dense| start_worker(dense, inbox.clone(), Arc::clone(&pending_batches));
        let models = RunningModels::default();
        drop(models.answer_with(setup.dense.map(start).transpose()?.map(Arc::new)));
        let hint_inbox = inbox.clone();
        let hint = move || {
            // A stopped thread needs no hint.
            let _ = hint_inbox.send(EngineInput::Hint);
        };
        let watch = Watch::over(setup.store.root(), setup.watching, hint);
        let (store, config, bound) = (setup.store, setup.config, setup.bound);
        let trouble = watch.trouble().map(str::to_owned);
        let mut follower = Follower::new(store.clone(), config.clone(), bound, trouble)
            .with_model_access(models.now().and_then(|model| model.may_see.clone()));
        if setup.watching == WatchMode::System {
            follower = follower.with_change_queue();
        }
        run::load(follower, setup.checkpoints.clone(), inbox.clone())?;
        let reading = ReadState::loading(store, config, bound);
        let (own_writes, is_pressed) = (OwnWrites::default(), Arc::<AtomicBool>::default());
        let loop_state = LoopState::new(
            reading,
            models.clone(),
            Arc::clone(&pending_batches),
            Arc::clone(&own_writes),
            Arc::clone(&is_pressed),
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
            models,
            thread: Some(thread),
        })
    }

    /// Returns a snapshot with everything acknowledged before the call. Waits until all logs have
    /// been read.
    ///
    /// # Errors
    /// [`EngineStopped`], after a bug.
    pub fn snapshot(&self) -> Result<Snapshot, EngineStopped> {
        self.full_snapshot(CatchUpReason::Question)
    }

    /// Returns the same for upkeep: it does not count as a query.
    ///
    /// # Errors
    /// [`EngineStopped`], after a bug.
    pub fn snapshot_for_upkeep(&self) -> Result<Snapshot, EngineStopped> {
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

    fn full_snapshot(&self, why: CatchUpReason) -> Result<Snapshot, EngineStopped> {
        if let Some(snapshot) = self.snapshot_in_place(why) {
            return Ok(snapshot);
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(EngineInput::FullSnapshot(reply, why)).map_err(|_| EngineStopped)?;
        answer.recv().map_err(|_| EngineStopped)
    }

    /// Returns what [`Engine::snapshot`] does, or, where that takes longer than `wait`, the newest
    /// lines of each log and more of the log `home`. Both contain everything acknowledged before
    /// the call. Where others write faster than lines are read, the view has the newest
    /// quarter of a megabyte of each log, what this process wrote, and whatever else was read by then.
    ///
    /// # Errors
    /// [`EngineStopped`], after a bug.
    pub fn view(&self, home: &Path, wait: Duration) -> Result<EngineView, EngineStopped> {
        let view = self.view_now(home, wait)?;
        if view.coverage != LogCoverage::Behind || self.is_pressed() {
            return Ok(view);
        }
        // Many lines came at once, and no more follow: they are read in a moment.
        match self.snapshot_within((wait / BEHIND_SHARE).min(BEHIND_WAIT_MAX))? {
            Some(snapshot) => Ok(EngineView { snapshot, coverage: LogCoverage::Whole }),
            None => {
                // The others go on, so that waiting again would not help.
                self.is_pressed.store(true, Ordering::Relaxed);
                self.view_now(home, wait)
            }
        }
    }

    fn view_now(&self, home: &Path, wait: Duration) -> Result<EngineView, EngineStopped> {
        if let Some(view) = self.in_place(|state| state.current_view(home)) {
            if view.coverage == LogCoverage::Behind {
                // The thread may not know that there is something left to read.
                self.inbox.send(EngineInput::Hint).map_err(|_| EngineStopped)?;
            }
            return Ok(view);
        }
        let (reply, answer) = mpsc::channel();
        self.inbox
            .send(EngineInput::CurrentView(reply, home.to_owned()))
            .map_err(|_| EngineStopped)?;
        match answer.recv_timeout(wait) {
            Ok(view) => return Ok(view),
            Err(RecvTimeoutError::Disconnected) => return Err(EngineStopped),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let (reply, answer) = mpsc::channel();
        self.inbox
            .send(EngineInput::RecentView(reply, home.to_owned()))
            .map_err(|_| EngineStopped)?;
        answer.recv().map_err(|_| EngineStopped)
    }

    /// Returns a snapshot of all logs, if they are read within `wait`.
    ///
    /// # Errors
    /// [`EngineStopped`], after a bug.
    pub fn snapshot_within(&self, wait: Duration) -> Result<Option<Snapshot>, EngineStopped> {
        let why = CatchUpReason::Question;
        if let Some(snapshot) = self.snapshot_in_place(why) {
            return Ok(Some(snapshot));
        }
        let (reply, answer) = mpsc::channel();
        self.inbox.send(EngineInput::FullSnapshot(reply, why)).map_err(|_| EngineStopped)?;
        match answer.recv_timeout(wait) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(EngineStopped),
        }
    }

    /// Tells whether others go on writing faster than lines are read.
    #[must_use]
    pub fn is_pressed(&self) -> bool {
        self.is_pressed.load(Ordering::Relaxed)
    }

    /// Reports a write of this process, so that the next answer holds it however much others write.
    pub fn record_own_write(&self, log: &Path, offset: u64) {
        let mut own_writes = self.own_writes.lock().unwrap_or_else(PoisonError::into_inner);
        own_writes.push((log.to_owned(), offset));
    }

    /// Saves a checkpoint, where there is a folder for one, and waits at most `wait` for it.
    pub fn save_checkpoint(&self, wait: Duration) {
        let (reply, kept) = mpsc::channel();
        // Without it the next start reads a few lines more.
        if self.inbox.send(EngineInput::SaveCheckpoint(reply)).is_ok() {
            let _ = kept.recv_timeout(wait);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A stopped thread needs no message.
        let _ = self.inbox.send(EngineInput::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported there.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelAccess;
    use crate::cache_lock::CacheLock;
    use crate::model_access::{ModelInput, ScopedQuery};
    use event::RepoKey;
    use index::embed::Embedder;
    use index::embed::ModelId;
    use index::embed::test_embedder::TestEmbedder;
    use index::embed::worker::QueryError;
    use search::CosineScale;
    use search::{Query, search};
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::time::Instant;

    struct EngineFixture {
        folder: tempfile::TempDir,
        engine: Engine,
    }

    impl EngineFixture {
        fn new(watching: WatchMode) -> Self {
            Self::with(tempfile::tempdir().unwrap(), watching, None)
        }

        fn with(folder: tempfile::TempDir, watching: WatchMode, dense: Option<DenseSetup>) -> Self {
            let store = Store::at(folder.path());
            let (config, bound) = (Config::default(), MemoryBound::NONE);
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

        /// Waits until a snapshot fits.
        fn until(&self, fits: impl Fn(&Snapshot) -> bool) -> Snapshot {
            let deadline = Instant::now() + Duration::from_secs(60);
            loop {
                let snapshot = self.engine.snapshot().unwrap();
                if fits(&snapshot) {
                    return snapshot;
                }
                assert!(Instant::now() < deadline);
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
        let world = EngineFixture::new(WatchMode::PollOnly);
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
        let world = EngineFixture::new(WatchMode::System);
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
        let world = EngineFixture::new(WatchMode::PollOnly);
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
        let lock = Arc::new(CacheLock::in_dir(&cache_dir));
        let load = Box::new(move || Ok(Box::new(embedder) as Box<dyn Embedder>));
        let (name, may_see) = ("test".to_owned(), None);
        let scale = CosineScale::default();
        let dense = DenseSetup { load, idle: None, cache_dir, lock, name, may_see, scale };
        let world = EngineFixture::with(folder, WatchMode::PollOnly, Some(dense));
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

    fn dense_of(name: &str, gate: Option<mpsc::Receiver<()>>, folder: &Path) -> DenseSetup {
        let (batches, _) = mpsc::channel();
        let model_id = ModelId::new(name, [name.len().try_into().unwrap(); 32]);
        let embedder = TestEmbedder { model_id, batches, gate };
        let (cache_dir, scale) = (folder.join("cache"), CosineScale::default());
        let lock = Arc::new(CacheLock::in_dir(&cache_dir));
        let load = Box::new(move || Ok(Box::new(embedder) as Box<dyn Embedder>));
        DenseSetup {
            load,
            idle: None,
            cache_dir,
            lock,
            name: name.to_owned(),
            may_see: None,
            scale,
        }
    }

    // S-PROVIDER-6
    #[test]
    fn a_query_of_the_former_model_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let first = dense_of("one", None, folder.path());
        let world = EngineFixture::with(folder, WatchMode::PollOnly, Some(first));
        world.append("a.jsonl", &(line("walrus") + &line("otter")));
        let patience = Duration::from_secs(60);
        let before = world.until(|snapshot| snapshot.embedded_count() == 2);
        let query = ScopedQuery { text: "walrus", repos: None };
        let pending = world.engine.begin_query(&query, patience, patience).unwrap().unwrap();
        let (open, gate) = mpsc::channel();
        let next = dense_of("another", Some(gate), world.folder.path());
        let (whole, is_whole) = mpsc::channel();
        let on_whole = Box::new(move || whole.send(()).unwrap());
        world.engine.switch(next, on_whole, InterimSearch::PresentModel).unwrap();
        let meanwhile = world.until(|snapshot| snapshot.next_embedded.is_some());
        assert_eq!((meanwhile.space, meanwhile.embedded_count()), (before.space, 2));
        (0..8).for_each(|_| open.send(()).unwrap());
        is_whole.recv_timeout(patience).unwrap();
        let after = world.engine.snapshot().unwrap();
        assert_eq!((after.embedded_count(), after.next_embedded), (2, None));
        let old = pending.answer().unwrap();
        assert_eq!(old.space, before.space);
        assert_ne!(old.space, after.space, "it is never compared with vectors of the next model");
        open.send(()).unwrap();
        let new = world.engine.embed_query(&query, patience).unwrap().unwrap();
        assert_eq!(new.space, after.space);
    }

    // S-PROVIDER-6
    #[test]
    fn going_back_forgets_the_model_between() {
        let folder = tempfile::tempdir().unwrap();
        let first = dense_of("one", None, folder.path());
        let world = EngineFixture::with(folder, WatchMode::PollOnly, Some(first));
        world.append("a.jsonl", &(line("walrus") + &line("otter")));
        let before = world.until(|snapshot| snapshot.embedded_count() == 2);
        let (open, gate) = mpsc::channel();
        let between = dense_of("another", Some(gate), world.folder.path());
        let switch = |dense| {
            world.engine.switch(dense, Box::new(|| {}), InterimSearch::PresentModel).unwrap();
        };
        switch(between);
        world.until(|snapshot| snapshot.next_embedded.is_some());
        open.send(()).unwrap();
        drop(open);
        switch(dense_of("one", None, world.folder.path()));
        let after = world.until(|snapshot| snapshot.next_embedded.is_none());
        assert_eq!((after.space, after.embedded_count()), (before.space, 2));
    }

    // S-PROVIDER-7
    #[test]
    fn hidden_while_logs_are_read_stays_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let lines: String = (0..2_000).map(|number| line(&format!("walrus{number}"))).collect();
        std::fs::write(folder.path().join("a.jsonl"), lines).unwrap();
        let seeing = |may_see: ModelAccess| DenseSetup {
            may_see: Some(may_see),
            ..dense_of("one", None, folder.path())
        };
        let (first, second) = (seeing(Arc::new(|_| true)), seeing(Arc::new(|_| false)));
        let world = EngineFixture::with(folder, WatchMode::PollOnly, Some(first));
        // Reading takes longer than this message.
        world.engine.switch(second, Box::new(|| {}), InterimSearch::PresentModel).unwrap();
        let snapshot = world.until(|snapshot| snapshot.embedded_count() == 2_000);
        assert_eq!(snapshot.withheld, 2_000);
    }

    // S-PROVIDER-7
    #[test]
    fn a_model_of_others_needs_whole_keys() {
        let folder = tempfile::tempdir().unwrap();
        let shop_alone: ModelAccess =
            Arc::new(|input| matches!(input, ModelInput::Query(repo) if repo.as_str() == "shop"));
        let dense =
            DenseSetup { may_see: Some(shop_alone), ..dense_of("one", None, folder.path()) };
        let world = EngineFixture::with(folder, WatchMode::PollOnly, Some(dense));
        let patience = Duration::from_secs(60);
        let why = |repos: Option<&[RepoKey]>| {
            let query = ScopedQuery { text: "walrus", repos };
            world.engine.begin_query(&query, patience, patience).unwrap().err()
        };
        let [shop, lab] = ["shop", "lab"].map(|repo| RepoKey::parse(repo).unwrap());
        assert_eq!(why(Some(&[shop.clone(), lab])), Some(QueryError::Withheld));
        assert_eq!(why(None), Some(QueryError::Stopped), "nobody looked what the names mean");
        assert_eq!(why(Some(&[shop])), None);
    }

    // S-PROVIDER-9
    #[test]
    fn the_scale_is_of_the_answering_model() {
        let folder = tempfile::tempdir().unwrap();
        let scale = CosineScale::new(0.5, 2.0).unwrap();
        let known = |name: &str| if name == "one" { scale } else { CosineScale::default() };
        let may_see: ModelAccess = Arc::new(|_| true);
        let others = DenseSetup { may_see: Some(may_see), ..dense_of("one", None, folder.path()) };
        let world = EngineFixture::with(folder, WatchMode::PollOnly, Some(others));
        world.engine.set_scale(known);
        assert_eq!(world.engine.snapshot().unwrap().scale.parts(), scale.parts());
        let folder = tempfile::tempdir().unwrap();
        let ours = dense_of("one", None, folder.path());
        let world = EngineFixture::with(folder, WatchMode::PollOnly, Some(ours));
        world.engine.set_scale(known);
        assert!(world.engine.snapshot().unwrap().scale.is_plain(), "ours needs none");
    }

    // S-READ-2
    #[test]
    fn new_replaced_and_removed_logs_are_noticed() {
        let world = EngineFixture::new(WatchMode::System);
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
        let world = EngineFixture::new(WatchMode::System);
        world.append("a.jsonl", &line("alpha"));
        let frozen = world.engine.snapshot().unwrap();
        world.append("a.jsonl", &line("beta"));
        assert_eq!(world.engine.snapshot().unwrap().memories().len(), 2);
        assert_eq!((frozen.memories().len(), frozen.lexical().len()), (1, 1));
    }

    // S-LINE-8
    #[test]
    fn damaged_lines_are_counted_and_skipped() {
        let world = EngineFixture::new(WatchMode::System);
        world.append("a.jsonl", &format!("{}not json\n\n[1]\n{}", line("alpha"), line("beta")));
        let snapshot = world.engine.snapshot().unwrap();
        assert_eq!(snapshot.memories().len(), 2);
        let health = snapshot.health();
        assert_eq!((health.lines, health.skipped), (4, 2));
        assert_eq!(health.skips[0].offset, u64::try_from(line("alpha").len()).unwrap());
    }
}
