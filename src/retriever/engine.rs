//! The loop: one thread owns the state, everybody else sends it messages of one closed kind and gets
//! frozen snapshots back. Before every snapshot it catches up with the files by their lengths, so an
//! acknowledged write is found even when no hint of it came. Not here: searching a snapshot.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::follow::{Followed, Follower, Wanted};
use super::index::embed::cache::AppendLock;
use super::index::embed::worker::{
    CacheConfig, Embedded, Progress, QueryError, SubmitError, Worker, WorkerConfig,
};
use super::index::embed::{EmbedError, Embedder};
use super::projection::Bound;
use super::snapshot::Snapshot;
use super::watch::{Watch, Watching};
use crate::store::{Config, Store};

/// How long the loop sleeps without a hint. Watchers lose events on some systems; a sweep over two
/// hundred logs costs less than a millisecond.
const POLL_MS: u64 = 2_000;

/// How long between two looks at a model that is still loading.
const LOADING_PAUSE_MS: u64 = 5;

/// What the engine is started with.
pub struct Setup {
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
    worker: Option<Arc<Worker>>,
    thread: Option<JoinHandle<()>>,
}

/// Everything the loop can be told.
enum Input {
    /// A log may have changed.
    Hint,
    /// Vectors are ready.
    Embedded(Vec<Embedded>),
    /// Somebody wants a snapshot.
    Snapshot(Sender<Snapshot>),
    /// The end.
    Stop,
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
    pub fn start(setup: Setup) -> std::io::Result<Self> {
        let (inbox, messages) = mpsc::channel();
        let worker =
            setup.dense.map(|dense| start_worker(dense, inbox.clone())).transpose()?.map(Arc::new);
        let hint_inbox = inbox.clone();
        let hint = move || {
            // The loop may be gone already; then nobody needs the hint.
            let _ = hint_inbox.send(Input::Hint);
        };
        let watch = Watch::over(setup.store.root(), setup.watching, hint);
        let follower = Follower::new(
            setup.store,
            setup.config,
            setup.bound,
            watch.trouble().map(str::to_owned),
        );
        let state = State { follower, worker: worker.clone(), unsent: Vec::new(), _watch: watch };
        let thread = std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || run(state, &messages))?;
        Ok(Self { inbox, worker, thread: Some(thread) })
    }

    /// Returns the state of everything that was acknowledged before the call.
    ///
    /// # Errors
    /// [`Stopped`], after a bug.
    pub fn snapshot(&self) -> Result<Snapshot, Stopped> {
        let (reply, answer) = mpsc::channel();
        self.inbox.send(Input::Snapshot(reply)).map_err(|_| Stopped)?;
        answer.recv().map_err(|_| Stopped)
    }

    /// Returns the vector of a query, or `None` when there is no model. Waits at most `wait`, also
    /// for a model that is still loading.
    ///
    /// # Errors
    /// [`QueryError`]; the query then runs on words alone.
    pub fn embed_query(&self, text: &str, wait: Duration) -> Option<Result<Vec<f32>, QueryError>> {
        let worker = self.worker.as_ref()?;
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match worker.embed_query(text, left) {
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

fn start_worker(dense: Dense, inbox: Sender<Input>) -> std::io::Result<Worker> {
    Worker::start(WorkerConfig {
        load: dense.load,
        cache: Some(CacheConfig { dir: dense.cache_dir, lock: dense.lock }),
        deliver: Box::new(move |batch| {
            // At shutdown the loop is gone before the worker is.
            let _ = inbox.send(Input::Embedded(batch));
        }),
    })
}

struct State {
    follower: Follower,
    worker: Option<Arc<Worker>>,
    /// Memories whose texts the worker had no room for.
    unsent: Vec<Wanted>,
    _watch: Watch,
}

fn run(mut state: State, messages: &Receiver<Input>) {
    state.catch_up();
    loop {
        match messages.recv_timeout(Duration::from_millis(POLL_MS)) {
            Ok(Input::Hint) => {
                // Hints come in bursts; one look serves them all.
                while let Some(input) = messages.try_iter().next() {
                    if !matches!(input, Input::Hint) && state.handle(input).is_none() {
                        return;
                    }
                }
                state.catch_up();
            }
            Ok(input) => {
                if state.handle(input).is_none() {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => state.catch_up(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

impl State {
    /// Handles one message; `None` at the end.
    fn handle(&mut self, input: Input) -> Option<()> {
        match input {
            Input::Hint => self.catch_up(),
            Input::Embedded(batch) => {
                batch.into_iter().for_each(|embedded| self.follower.embedded(&embedded));
                self.submit_unsent();
            }
            Input::Snapshot(reply) => {
                self.catch_up();
                // Whoever asked may have given up.
                let _ = reply.send(self.follower.snapshot());
            }
            Input::Stop => return None,
        }
        Some(())
    }

    fn catch_up(&mut self) {
        let Followed { to_embed, started_over } = self.follower.catch_up();
        if started_over {
            self.unsent.clear();
        }
        if self.worker.is_some() {
            self.unsent.extend(to_embed);
            self.submit_unsent();
        }
    }

    /// Hands texts to the worker as far as it has room, the newest first.
    fn submit_unsent(&mut self) {
        let Some(worker) = &self.worker else { return };
        while let Some(wanted) = self.unsent.pop() {
            let Some(job) = self.follower.job(wanted) else { continue };
            match worker.submit(job) {
                Ok(()) => {}
                Err(SubmitError::Full(_)) => {
                    self.unsent.push(wanted);
                    return;
                }
                Err(SubmitError::Stopped(_)) => self.unsent.clear(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retriever::search::{Query, search};
    use std::fs::OpenOptions;
    use std::io::Write;

    struct World {
        folder: tempfile::TempDir,
        engine: Engine,
    }

    impl World {
        fn new(watching: Watching) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::at(folder.path());
            let (config, bound) = (Config::default(), Bound::NONE);
            let setup = Setup { store, config, bound, watching, dense: None };
            Self { engine: Engine::start(setup).unwrap(), folder }
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
            hits.iter().map(|hit| hit.memory.event.lesson.clone()).collect()
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
