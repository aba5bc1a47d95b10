//! A question that waits for the batch of texts the model is at: it sees what that batch brings. Not here: the model
//! itself (`model`), its thread (the unit tests of the worker).

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::local::{Core, Local};
use engine::CacheLock;
use engine::watch::WatchMode;
use engine::{DenseSetup, Engine, EngineSetup};
use event::Timestamp;
use index::embed::{EmbedError, Embedder, Embedding, ModelId};
use memory::MemoryBound;
use requests::caller::{Caller, Patience};
use requests::{Api as _, ContextRequest, Mode, Reply, SearchRequest};
use settings::Config;
use store::Store;
use writer::Moment;

use crate::world::World;

/// Longest anything may take: a debug build on a busy machine, but never for ever.
const STEP: Duration = Duration::from_secs(60);
/// Time for a question to come to the model. Too little makes the test say less, not fail.
const COMING: Duration = Duration::from_millis(300);

/// All means the same. Texts wait for leave.
struct Held {
    model_id: ModelId,
    begun: Sender<()>,
    leave: Receiver<()>,
}

const DIMS: usize = 384;

fn the_same() -> Embedding {
    let mut vector = vec![0.0; DIMS];
    vector[0] = 1.0;
    Embedding { vector, tokens: Vec::new() }
}

impl Embedder for Held {
    fn model_id(&self) -> &ModelId {
        &self.model_id
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.begun.send(()).unwrap();
        self.leave.recv_timeout(STEP).unwrap();
        Ok(texts.iter().map(|_| the_same()).collect())
    }

    fn embed_query(&mut self, _query: &str) -> Result<Embedding, EmbedError> {
        Ok(the_same())
    }
}

/// Asks while the only memory is being embedded; the answer must hold `expected`.
#[track_caller]
fn asked_meanwhile(expected: &str, ask: impl FnOnce(&Local) -> Reply + Send) {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "error", "--lesson", "the zebra"]).done();
    let (begun, is_begun) = channel();
    let (give_leave, leave) = channel();
    let cache_dir = world.path("cache");
    let held = Mutex::new(Some(Held { model_id: ModelId::new("held", [0; 32]), begun, leave }));
    let (store, config) = (Store::at(world.store()), Config::default());
    let setup = EngineSetup {
        store: store.clone(),
        config: config.clone(),
        bound: MemoryBound::NONE,
        watching: WatchMode::PollOnly,
        dense: Some(DenseSetup {
            load: Box::new(move || Ok(Box::new(held.lock().unwrap().take().unwrap()))),
            lock: Arc::new(CacheLock::in_dir(&cache_dir)),
            cache_dir,
            idle: None,
            name: "test".to_owned(),
            may_see: None,
            scale: <_>::default(),
        }),
        checkpoints: None,
    };
    let engine = Engine::start(setup).unwrap();
    let core = Core {
        doctor: <_>::default(),
        work_trees: <_>::default(),
        past: <_>::default(),
        second_source: None,
        reranker: None,
        engine,
        store,
        config,
        model_dir: world.path("no-model"),
        query_log: None,
        delivery_journal: None,
        watching: WatchMode::PollOnly,
        past_sessions: <_>::default(),
        links: <_>::default(),
        analysis_cache: <_>::default(),
        clock: Box::new(|| Moment { now: Timestamp::constant(1_780_000_000, 0), random: 1 }),
    };
    let patience = Patience { query: STEP, model: STEP, embed: Duration::ZERO, index: STEP };
    let caller = Caller {
        directory: Some(world.work()),
        agent_id: "codex".into(),
        session_id: None,
        source: None,
        host: None,
        patience,
    };
    let memory = Local::new(Arc::new(core), caller);
    is_begun.recv_timeout(STEP).unwrap();
    let reply = std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&memory));
        std::thread::park_timeout(COMING);
        give_leave.send(()).unwrap();
        asking.join().unwrap()
    });
    assert!(reply.text.contains(expected), "{}", reply.text);
}

// S-RANK-2
#[test]
fn a_search_finds_what_is_being_embedded() {
    asked_meanwhile("the zebra", |memory| {
        let query = "striped animals".to_owned();
        let request =
            SearchRequest { query: query.into(), mode: Mode::Dense, ..SearchRequest::default() };
        memory.ask(&request.into()).unwrap()
    });
}

// S-RANK-2
#[test]
fn a_briefing_finds_what_is_being_embedded() {
    // Without its meaning it is told too, but as a gotcha.
    asked_meanwhile("For this task:", |memory| {
        let (repo, task) = (Some("api".to_owned()), Some("striped animals".to_owned()));
        let request =
            ContextRequest { repo, task: task.map(Into::into), ..ContextRequest::default() };
        memory.ask(&request.into()).unwrap()
    });
}
