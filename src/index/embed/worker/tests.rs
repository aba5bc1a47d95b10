//! Tests of the worker's promises, with a test embedder that waits for a signal.

use super::waiting_texts::{BATCH_BYTES, BATCH_TEXTS, BEGINNING_BYTES, WINDOW_JOBS};
use super::*;
use crate::embed::cache::{AppendLock, TextKey, VectorCache};
use crate::embed::test_embedder::{DIMS, POISON, TestEmbedder, vector_of};
use crate::embed::{EmbedError, Embedder, Embedding, ModelId, SpaceId};
use crate::late::test_tokens::tokens_of;
use crate::late::{SignState, TokenSigns};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use tempfile::TempDir;

/// Long enough never to pass on a busy machine; only a broken test waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

struct TestLock;

impl AppendLock for TestLock {
    fn with_lock(
        &self,
        file: &File,
        body: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        file.lock()?;
        let result = body(file);
        file.unlock()?;
        result
    }
}

/// A worker seen from all sides. Fields drop in order: the gate opens before the worker is joined.
struct Scene {
    gate: Option<Sender<()>>,
    worker: Worker,
    batches: Receiver<Vec<String>>,
    delivered: Receiver<Vec<EmbeddedDocument>>,
}

#[derive(Clone, Copy)]
enum Gate {
    Open,
    Closed,
}

impl Scene {
    fn new(gate: Gate, cache_dir: Option<&Path>) -> Self {
        let (batches_in, batches) = mpsc::channel();
        let (delivered_in, delivered) = mpsc::channel();
        let (gate_in, gate_out) = mpsc::channel();
        let (gate, gate_out) = match gate {
            Gate::Open => (None, None),
            Gate::Closed => (Some(gate_in), Some(gate_out)),
        };
        let model_id = ModelId::new("test", [7; 32]);
        let embedder = TestEmbedder { model_id, batches: batches_in, gate: gate_out };
        let cache =
            cache_dir.map(|dir| CacheConfig { dir: dir.to_path_buf(), lock: Arc::new(TestLock) });
        let worker = Worker::start(WorkerConfig {
            space: SpaceId::default(),
            at_end: ShutdownMode::Wait,
            idle: None,
            load: Box::new(move || Ok(Box::new(embedder))),
            cache,
            deliver: Box::new(move |vectors| delivered_in.send(vectors).unwrap_or_default()),
        });
        let scene = Self { gate, worker: worker.unwrap(), batches, delivered };
        scene.until(|progress| progress.state != WorkerState::Loading);
        scene
    }

    fn submit(&self, doc: u32, text: &str) {
        self.submit_for(WantedOutput::Vector, doc, text);
    }

    fn submit_for(&self, want: WantedOutput, doc: u32, text: &str) {
        let job = Job { doc, generation: u64::from(doc) + 100, text: text.to_owned(), want };
        self.worker.submit(job).unwrap();
    }

    fn next_batch(&self) -> Vec<String> {
        self.batches.recv_timeout(PATIENCE).unwrap()
    }

    fn let_one_pass(&self) {
        self.gate.as_ref().unwrap().send(()).unwrap();
    }

    /// Gathers deliveries until `count` vectors are there, by document.
    fn delivered(&self, count: usize) -> Vec<EmbeddedDocument> {
        let mut all = Vec::new();
        while all.len() < count {
            all.extend(self.delivered.recv_timeout(PATIENCE).unwrap());
        }
        all.sort_by_key(|vector| vector.doc);
        all
    }

    fn until(&self, wanted: impl Fn(&Progress) -> bool) -> Progress {
        until(&self.worker, wanted)
    }
}

fn until(worker: &Worker, wanted: impl Fn(&Progress) -> bool) -> Progress {
    let start = Instant::now();
    loop {
        let progress = worker.progress();
        if wanted(&progress) {
            return progress;
        }
        assert!(start.elapsed() < PATIENCE, "{progress:?}");
        std::thread::yield_now();
    }
}

#[test]
fn every_text_gets_its_vector_and_keeps_its_number() {
    let scene = Scene::new(Gate::Open, None);
    for doc in 0..100 {
        scene.submit(doc, &"x".repeat(usize::try_from(doc).unwrap()));
    }
    for (doc, embedded) in (0..).zip(scene.delivered(100)) {
        let vector = vector_of(&"x".repeat(usize::try_from(doc).unwrap()));
        let (generation, signed) = (u64::from(doc) + 100, SignState::Failed);
        assert_eq!(embedded, EmbeddedDocument { doc, generation, vector, signed });
    }
    let progress = scene.until(|progress| progress.queued == 0);
    assert_eq!((progress.done, progress.from_cache, progress.failed), (100, 0, 0));
    let ready = WorkerState::Ready { model: "test".to_owned(), dims: DIMS };
    assert_eq!((progress.state, progress.cache, progress.cache_trouble), (ready, None, None));
}

#[test]
fn a_query_waits_for_the_batch_in_flight_and_no_longer() {
    let scene = Scene::new(Gate::Closed, None);
    let long = "y".repeat(BATCH_BYTES);
    for doc in 0..40 {
        scene.submit(doc, &long);
    }
    // Where many wait, their beginnings go first.
    assert!(long.starts_with(&scene.next_batch()[0]));
    // It is sent here, so that no thread has to be waited for.
    let query = scene.worker.begin_query("question", PATIENCE).unwrap();
    scene.let_one_pass();
    assert_eq!(scene.next_batch(), ["question"], "only the batch in flight goes before the query");
    scene.let_one_pass();
    assert_eq!(query.answer().unwrap().vector, vector_of("question"));
}

/// A network for texts with another one for queries.
struct TwoNetworks {
    texts: TestEmbedder,
    queries: Option<TestEmbedder>,
}

impl Embedder for TwoNetworks {
    fn model_id(&self) -> &ModelId {
        self.texts.model_id()
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.texts.embed(texts)
    }

    fn split_off_queries(&mut self) -> Option<Box<dyn Embedder>> {
        self.queries.take().map(|queries| Box::new(queries) as Box<dyn Embedder>)
    }
}

#[test]
fn with_a_network_of_its_own_a_query_waits_for_no_batch() {
    let (gate, gate_out) = mpsc::channel();
    let (batches_in, batches) = mpsc::channel();
    let (asked_in, asked) = mpsc::channel();
    let network = |batches, gate| {
        let model_id = ModelId::new("test", [7; 32]);
        TestEmbedder { model_id, batches, gate }
    };
    let (texts, queries) = (network(batches_in, Some(gate_out)), network(asked_in, None));
    let embedder = TwoNetworks { texts, queries: Some(queries) };
    let config = WorkerConfig {
        space: SpaceId::default(),
        at_end: ShutdownMode::Wait,
        idle: None,
        load: Box::new(move || Ok(Box::new(embedder))),
        cache: None,
        deliver: Box::new(|_| {}),
    };
    let worker = Worker::start(config).unwrap();
    until(&worker, |progress| progress.state != WorkerState::Loading);
    let job = Job { doc: 1, generation: 1, text: "a text".to_owned(), want: WantedOutput::Vector };
    worker.submit(job).unwrap();
    assert_eq!(batches.recv_timeout(PATIENCE).unwrap(), ["a text"]);
    let meant = worker.embed_query("a query", PATIENCE).unwrap();
    assert_eq!((meant.vector, worker.queued()), (vector_of("a query"), 1));
    assert_eq!(asked.recv_timeout(PATIENCE).unwrap(), ["a query"]);
    // Where it fails, the other network answers, now and later.
    let pending = worker.begin_query(POISON, PATIENCE).unwrap();
    gate.send(()).unwrap();
    gate.send(()).unwrap();
    assert!(pending.answer().is_err(), "no network embeds it");
    gate.send(()).unwrap();
    assert_eq!(worker.embed_query("later", PATIENCE).unwrap().vector, vector_of("later"));
    assert_eq!(asked.try_iter().flatten().collect::<Vec<_>>(), [POISON]);
}

#[test]
fn a_cached_query_does_not_wait() {
    let scene = Scene::new(Gate::Closed, None);
    scene.let_one_pass();
    let first = scene.worker.embed_query("question", PATIENCE).unwrap();
    assert_eq!(scene.next_batch(), ["question"]);
    scene.submit(0, "in flight");
    assert_eq!(scene.next_batch(), ["in flight"]);
    assert_eq!(scene.worker.embed_query("question", Duration::ZERO), Ok(first));
}

#[test]
fn a_caller_can_send_a_query_and_fetch_the_answer_later() {
    let scene = Scene::new(Gate::Closed, None);
    let asking = scene.worker.begin_query("q", PATIENCE).unwrap();
    assert_eq!(scene.next_batch(), ["q"]);
    scene.let_one_pass();
    scene.until(|_| scene.worker.shared.queries.load(Ordering::Acquire) == 0);
    assert_eq!(asking.answer().unwrap().vector, vector_of("q"));
    // QueryCache by now, so the model, which waits for leave, is not asked.
    assert_eq!(
        scene.worker.begin_query("q", Duration::ZERO).unwrap().answer().unwrap().vector,
        vector_of("q")
    );
    let late = scene.worker.begin_query("another", Duration::ZERO).unwrap().answer();
    assert_eq!(late, Err(QueryError::TimedOut));
}

#[test]
fn equal_waiting_queries_are_embedded_once() {
    let scene = Scene::new(Gate::Closed, None);
    scene.submit(0, "in flight");
    assert_eq!(scene.next_batch(), ["in flight"]);
    std::thread::scope(|scope| {
        let ask = || scene.worker.embed_query("question", PATIENCE).unwrap().vector;
        let asking: Vec<_> = (0..3).map(|_| scope.spawn(ask)).collect();
        until(&scene.worker, |_| scene.worker.shared.queries.load(Ordering::Acquire) == 3);
        scene.let_one_pass();
        scene.let_one_pass();
        for asked in asking {
            assert_eq!(asked.join().unwrap(), vector_of("question"));
        }
    });
    assert_eq!(scene.batches.try_iter().collect::<Vec<_>>(), [["question"]]);
}

#[test]
fn a_query_that_timed_out_is_not_given_to_the_model() {
    let scene = Scene::new(Gate::Closed, None);
    scene.submit(0, "in flight");
    assert_eq!(scene.next_batch(), ["in flight"]);
    let late = scene.worker.embed_query("late", Duration::ZERO);
    assert_eq!(late, Err(QueryError::TimedOut));
    scene.let_one_pass();
    until(&scene.worker, |_| scene.worker.shared.queries.load(Ordering::Acquire) == 0);
    scene.let_one_pass();
    assert!(scene.worker.embed_query("question", PATIENCE).is_ok());
    assert_eq!(scene.batches.try_iter().collect::<Vec<_>>(), [["question"]]);
}

#[test]
fn a_skipped_query_reports_a_timeout() {
    let scene = Scene::new(Gate::Open, None);
    // Short enough that the thread is now in time, now just not.
    for number in 0..3_000 {
        let wait = Duration::from_micros(number % 100);
        let outcome = scene.worker.embed_query(&format!("question {number}"), wait);
        assert_ne!(outcome, Err(QueryError::Stopped));
    }
}

#[test]
fn dropping_it_stops_after_the_batch_in_flight() {
    let Scene { gate, worker, batches, .. } = Scene::new(Gate::Closed, None);
    // Of a longer text the beginning would go first, and with it the text would not be done.
    let long = "z".repeat(BATCH_BYTES / 2);
    for doc in 0..1000 {
        let job = Job { doc, generation: 0, text: long.clone(), want: WantedOutput::Vector };
        worker.submit(job).unwrap();
    }
    let in_flight = batches.recv_timeout(PATIENCE).unwrap().len();
    let (reply, _answer) = mpsc::sync_channel(1);
    let until = Instant::now() + PATIENCE;
    let text = "too late".to_owned();
    worker.sender.send(WorkerMessage::Query(QueryJob { text, until, reply })).unwrap();
    let shared = Arc::clone(&worker.shared);
    std::thread::scope(|scope| {
        let dropped = scope.spawn(move || drop(worker));
        let start = Instant::now();
        while !shared.stop.load(Ordering::Acquire) {
            assert!(start.elapsed() < PATIENCE);
            std::thread::yield_now();
        }
        drop(gate);
        dropped.join().unwrap();
    });
    assert_eq!(
        batches.try_iter().count(),
        0,
        "neither a batch nor a query is started after the stop"
    );
    assert_eq!(shared.done.load(Ordering::Acquire), in_flight);
}

#[test]
fn the_newest_texts_go_first_in_batches_of_like_length() {
    let scene = Scene::new(Gate::Closed, None);
    scene.submit(0, "first");
    assert_eq!(scene.next_batch(), ["first"]);
    let windows = u32::try_from(WINDOW_JOBS).unwrap();
    for doc in 1..=windows {
        scene.submit(doc, "old");
    }
    for doc in 1..=windows {
        scene.submit(doc, if doc % 2 == 0 { "even" } else { "odder" });
    }
    scene.let_one_pass();
    assert_eq!(scene.next_batch(), vec!["even"; BATCH_TEXTS]);
    scene.let_one_pass();
    assert_eq!(scene.next_batch(), vec!["odder"; BATCH_TEXTS]);
    scene.let_one_pass();
    assert_eq!(scene.next_batch(), vec!["old"; BATCH_TEXTS]);
}

// S-READ-8
#[test]
fn held_it_embeds_queries_and_no_texts_until_it_may() {
    let scene = Scene::new(Gate::Open, None);
    scene.worker.set_pace(Pace::Held(PATIENCE));
    for doc in 0..3 {
        scene.submit(doc, "text");
    }
    assert_eq!(scene.worker.embed_query("query", PATIENCE).unwrap().vector, vector_of("query"));
    assert_eq!((scene.next_batch(), scene.worker.queued()), (vec!["query".to_owned()], 3));
    scene.worker.set_pace(Pace::Full);
    assert_eq!(scene.delivered(3).len(), 3);
    assert_eq!(scene.next_batch(), vec!["text"; 3]);
}

// S-READ-8
#[test]
fn held_it_embeds_one_text_after_each_rest() {
    let scene = Scene::new(Gate::Open, None);
    scene.worker.set_pace(Pace::Held(Duration::from_millis(1)));
    for doc in 0..3 {
        scene.submit(doc, "text");
    }
    assert_eq!(scene.delivered(3).len(), 3);
    assert_eq!(scene.batches.try_iter().collect::<Vec<_>>(), [["text"]; 3]);
}

// S-READ-8
#[test]
fn a_held_worker_stops_at_once() {
    let scene = Scene::new(Gate::Open, None);
    scene.worker.set_pace(Pace::Held(PATIENCE));
    scene.submit(0, "text");
    let Scene { worker, batches, .. } = scene;
    let asked = Instant::now();
    drop(worker);
    assert!(asked.elapsed() < PATIENCE);
    assert_eq!(batches.try_iter().count(), 0);
}

#[test]
fn one_bad_text_does_not_fail_its_batch() {
    let scene = Scene::new(Gate::Closed, None);
    scene.submit(0, "first");
    scene.next_batch();
    for (doc, text) in [(1, "good"), (2, POISON), (3, "fine")] {
        scene.submit(doc, text);
    }
    let Scene { gate, worker, delivered, .. } = scene;
    drop(gate);
    let progress = until(&worker, |progress| progress.queued == 0);
    assert_eq!((progress.done, progress.failed), (3, 1));
    let docs: Vec<u32> = delivered.try_iter().flatten().map(|vector| vector.doc).collect();
    assert_eq!(docs.len(), 3);
    assert!(!docs.contains(&2));
    let query = worker.embed_query(POISON, PATIENCE);
    assert!(matches!(query, Err(QueryError::Failed(EmbedError::Inference { .. }))));
}

#[test]
fn a_second_run_embeds_nothing_again() {
    let dir = TempDir::new().unwrap();
    let texts: Vec<String> = (0..50).map(|number| format!("text number {number}")).collect();
    let run = || {
        let scene = Scene::new(Gate::Open, Some(dir.path()));
        for (doc, text) in (0..).zip(&texts) {
            scene.submit(doc, text);
        }
        let vectors = scene.delivered(50);
        let progress = scene.until(|progress| progress.queued == 0);
        (vectors, progress, scene.batches.try_iter().count())
    };
    let (first, progress, batches) = run();
    assert!(batches > 0 && progress.from_cache == 0 && progress.cache_trouble.is_none());
    let (second, progress, batches) = run();
    assert_eq!((second, batches), (first, 0));
    assert_eq!((progress.done, progress.from_cache), (50, 50));
    assert_eq!(progress.cache.map(|cache| cache.rows), Some(50));
}

#[test]
fn without_a_working_cache_vectors_are_made_all_the_same() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "not a directory").unwrap();
    let scene = Scene::new(Gate::Open, Some(&file));
    scene.submit(5, "text");
    assert_eq!(scene.delivered(1)[0].vector, vector_of("text"));
    let progress = scene.worker.progress();
    assert!(progress.cache.is_none() && progress.cache_trouble.is_some());
}

#[test]
fn a_query_while_loading_is_answered_at_once_and_texts_are_kept() {
    let (finish, finished) = mpsc::channel::<()>();
    let (batches, _seen) = mpsc::channel();
    let (delivered_in, delivered) = mpsc::channel();
    let model_id = ModelId::new("test", [7; 32]);
    let worker = Worker::start(WorkerConfig {
        space: SpaceId::default(),
        at_end: ShutdownMode::Wait,
        idle: None,
        load: Box::new(move || {
            finished.recv().unwrap_or_default();
            Ok(Box::new(TestEmbedder { model_id, batches, gate: None }))
        }),
        cache: None,
        deliver: Box::new(move |vectors| delivered_in.send(vectors).unwrap_or_default()),
    });
    let worker = worker.unwrap();
    assert_eq!(worker.embed_query("question", PATIENCE), Err(QueryError::Loading));
    worker
        .submit(Job { doc: 1, generation: 1, text: "early".to_owned(), want: WantedOutput::Vector })
        .unwrap();
    assert_eq!(worker.progress().queued, 1);
    finish.send(()).unwrap();
    let vectors: Vec<EmbeddedDocument> = delivered.recv_timeout(PATIENCE).unwrap();
    assert_eq!(vectors[0].vector, vector_of("early"));
    assert_eq!(worker.embed_query("question", PATIENCE).unwrap().vector, vector_of("question"));
}

#[test]
fn a_model_that_does_not_load_is_said_and_nothing_is_queued() {
    let error = EmbedError::NotInstalled(PathBuf::from("model"));
    let given = error.clone();
    let worker = Worker::start(WorkerConfig {
        space: SpaceId::default(),
        at_end: ShutdownMode::Wait,
        idle: None,
        load: Box::new(move || Err(given)),
        cache: None,
        deliver: Box::new(|_| {}),
    });
    let worker = worker.unwrap();
    until(&worker, |progress| progress.state == WorkerState::Failed(error.clone()));
    assert_eq!(worker.embed_query("question", PATIENCE), Err(QueryError::Failed(error)));
    let thread_is_gone = || worker.thread().as_ref().is_some_and(JoinHandle::is_finished);
    until(&worker, |_| thread_is_gone());
    let job = Job { doc: 1, generation: 1, text: "late".to_owned(), want: WantedOutput::Vector };
    assert_eq!(worker.submit(job.clone()), Err(SubmitError::Stopped(job)));
    assert_eq!(worker.progress().queued, 0);
}

#[test]
fn a_full_queue_hands_the_job_back() {
    let scene = Scene::new(Gate::Closed, None);
    scene.submit(0, "in flight");
    scene.next_batch();
    scene.worker.shared.queued.store(JOBS_MAX, Ordering::Release);
    let job =
        Job { doc: 1, generation: 1, text: "one too many".to_owned(), want: WantedOutput::Vector };
    assert_eq!(scene.worker.submit(job.clone()), Err(SubmitError::Full(job)));
    scene.worker.shared.queries.store(QUERIES_MAX, Ordering::Release);
    assert_eq!(scene.worker.embed_query("question", PATIENCE), Err(QueryError::Busy));
}

#[test]
fn an_endless_text_is_cut_between_characters() {
    let scene = Scene::new(Gate::Open, None);
    scene.submit(0, &"ü€".repeat(TEXT_BYTES_MAX));
    let text = scene.next_batch().remove(0);
    assert!(text.len() <= TEXT_BYTES_MAX && text.len() > TEXT_BYTES_MAX - 4);
    assert!("ü€".repeat(TEXT_BYTES_MAX).starts_with(&text));
}

/// A cache as earlier versions left it: vectors, and no signs.
fn cache_without_signs(dir: &Path, texts: &[&str]) {
    let model = ModelId::new("test", [7; 32]);
    let mut cache = VectorCache::open(dir, &model, DIMS, Arc::new(TestLock)).unwrap();
    let rows: Vec<_> =
        texts.iter().map(|text| (TextKey::from_text(text), vec![0.5; DIMS])).collect();
    cache.append(&rows).unwrap();
}

// S-RANK-8
#[test]
fn an_old_cache_serves_vectors_and_signs_follow() {
    let dir = TempDir::new().unwrap();
    cache_without_signs(dir.path(), &["walrus otter"]);
    let scene = Scene::new(Gate::Open, Some(dir.path()));
    scene.submit(0, "walrus otter");
    let first = scene.delivered(1).remove(0);
    assert_eq!((first.signed, &first.vector), (SignState::NotYet, &vec![0.5; DIMS]));
    assert_eq!(scene.batches.try_iter().count(), 0, "the model is not asked for it yet");
    scene.submit_for(WantedOutput::Signs, 0, "walrus otter");
    let SignState::At(place) = scene.delivered(1).remove(0).signed else { panic!("no signs") };
    assert_eq!(scene.next_batch(), ["walrus otter"]);
    let sign_store = scene.worker.sign_store().unwrap();
    assert_eq!(sign_store.signs(place), Some(TokenSigns::from_tokens(&tokens_of("walrus otter"))));
    // Whoever asks now gets both, and the vector that was there first.
    scene.submit(1, "walrus otter");
    let now = scene.delivered(1).remove(0);
    assert_eq!((now.signed, now.vector), (SignState::At(place), vec![0.5; DIMS]));
    assert_eq!(scene.batches.try_iter().count(), 0);
}

// S-RANK-8
#[test]
fn signs_come_with_the_vector_except_for_long_texts() {
    let dir = TempDir::new().unwrap();
    let scene = Scene::new(Gate::Open, Some(dir.path()));
    let long = "x".repeat(SIGNED_BYTES_MAX + 1);
    scene.submit(0, "walrus otter");
    scene.submit(1, &long);
    let [short, long] = scene.delivered(2).try_into().unwrap();
    assert!(matches!(short.signed, SignState::At(_)), "{short:?}");
    assert_eq!(long.signed, SignState::Never);
    let without = Scene::new(Gate::Open, None);
    without.submit_for(WantedOutput::Signs, 0, "walrus otter");
    assert_eq!(without.delivered(1)[0].signed, SignState::Failed);
    assert!(without.worker.sign_store().is_none());
}

// S-RANK-8
#[test]
fn a_query_has_its_tokens_from_the_same_inference() {
    let scene = Scene::new(Gate::Open, None);
    let meant = scene.worker.embed_query("walrus otter", PATIENCE).unwrap();
    assert_eq!(scene.batches.try_iter().count(), 1);
    let spans: Vec<&str> =
        meant.tokens.iter().map(|token| "walrus otter".get(token.span.clone()).unwrap()).collect();
    assert_eq!(spans, ["walrus", "otter"]);
}

// S-RANK-8
#[test]
fn vectors_are_stored_even_where_signs_cannot_be() {
    let dir = TempDir::new().unwrap();
    cache_without_signs(dir.path(), &["walrus"]);
    let tokens = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let tokens: Vec<_> =
        tokens.filter(|path| path.extension().is_some_and(|found| found == "tokens")).collect();
    std::fs::write(&tokens[0], "somebody else's").unwrap();
    let scene = Scene::new(Gate::Open, Some(dir.path()));
    scene.submit(0, "walrus");
    scene.submit(1, "otter");
    let all = scene.delivered(2);
    assert!(all.iter().all(|embedded| embedded.signed == SignState::Failed), "{all:?}");
    let progress = scene.until(|progress| progress.queued == 0);
    assert_eq!(progress.cache.map(|cache| cache.rows), Some(2));
    assert!(progress.cache_trouble.unwrap().contains("signs"));
    assert_eq!(std::fs::read(&tokens[0]).unwrap(), b"somebody else's");
}

/// A worker whose model leaves memory after `after`, and the number of times it was loaded.
fn worker_that_unloads(
    after: Duration,
) -> (Worker, Arc<AtomicUsize>, Receiver<Vec<EmbeddedDocument>>) {
    let loaded = Arc::new(AtomicUsize::new(0));
    let (count, (delivered_in, delivered)) = (Arc::clone(&loaded), mpsc::channel());
    let open = move || -> Result<Box<dyn Embedder>, EmbedError> {
        count.fetch_add(1, Ordering::AcqRel);
        let network = || TestEmbedder {
            model_id: ModelId::new("test", [7; 32]),
            batches: mpsc::channel().0,
            gate: None,
        };
        Ok(Box::new(TwoNetworks { texts: network(), queries: Some(network()) }))
    };
    let config = WorkerConfig {
        space: SpaceId::default(),
        at_end: ShutdownMode::Wait,
        load: Box::new(open.clone()),
        idle: Some(IdleUnload { after, load: Box::new(open) }),
        cache: None,
        deliver: Box::new(move |vectors| delivered_in.send(vectors).unwrap_or_default()),
    };
    (Worker::start(config).unwrap(), loaded, delivered)
}

// S-RANK-13
#[test]
fn an_idle_model_leaves_memory_and_a_query_loads_it() {
    let (worker, loaded, delivered) = worker_that_unloads(Duration::from_millis(20));
    let unloaded = |progress: &Progress| progress.residence == ModelResidence::Unloaded;
    let progress = until(&worker, unloaded);
    let ready = WorkerState::Ready { model: "test".to_owned(), dims: DIMS };
    assert_eq!((progress.state, loaded.load(Ordering::Acquire)), (ready, 1));
    let asked = Instant::now();
    assert_eq!(worker.embed_query("question", PATIENCE), Err(QueryError::Reloading));
    assert!(asked.elapsed() < PATIENCE, "words answer at once");
    let meant = loop {
        match worker.embed_query("question", PATIENCE) {
            Err(QueryError::Reloading) => assert!(asked.elapsed() < PATIENCE),
            other => break other.unwrap(),
        }
    };
    assert_eq!((meant.vector, loaded.load(Ordering::Acquire)), (vector_of("question"), 2));
    // A text loads it too, and so do texts of another program.
    until(&worker, unloaded);
    assert_eq!(worker.embed_query("question", PATIENCE).unwrap().vector, vector_of("question"));
    let job = Job { doc: 1, generation: 1, text: "text".to_owned(), want: WantedOutput::Vector };
    worker.submit(job).unwrap();
    assert_eq!(delivered.recv_timeout(PATIENCE).unwrap()[0].vector, vector_of("text"));
    until(&worker, unloaded);
    let vectors = worker.embed_texts(&["other".to_owned()], PATIENCE).unwrap();
    assert_eq!((vectors, loaded.load(Ordering::Acquire)), (vec![vector_of("other")], 4));
}

// S-RANK-13
#[test]
fn no_text_is_lost_while_a_model_leaves_memory() {
    let (worker, _, delivered) = worker_that_unloads(Duration::from_micros(50));
    for doc in 0..300 {
        let text = format!("text {doc}");
        let job = Job { doc, generation: 1, text, want: WantedOutput::Vector };
        worker.submit(job).unwrap();
        assert_eq!(delivered.recv_timeout(PATIENCE).unwrap()[0].doc, doc);
    }
    until(&worker, |progress| (progress.queued, progress.done) == (0, 300));
}

// S-RANK-14
#[test]
fn where_many_wait_beginnings_of_long_texts_go_first() {
    let dir = TempDir::new().unwrap();
    let scene = Scene::new(Gate::Closed, Some(dir.path()));
    scene.submit(0, "first");
    scene.next_batch();
    let long = |doc: u32| format!("{doc} {}", "words of a long note ".repeat(40));
    let count = 2 * u32::try_from(WINDOW_JOBS).unwrap();
    for doc in 1..=count {
        scene.submit(doc, &long(doc));
    }
    // What has a vector waits for all that has none.
    scene.submit_for(WantedOutput::Signs, 500, "signs alone");
    let Scene { gate, worker, batches, delivered } = scene;
    drop(gate);
    until(&worker, |progress| progress.queued == 0);
    let embedded: Vec<String> = batches.try_iter().flatten().collect();
    assert_eq!(embedded.last().map(String::as_str), Some("signs alone"));
    let is_cut = |text: &&String| text.len() <= BEGINNING_BYTES;
    assert_eq!(embedded.iter().filter(is_cut).count(), WINDOW_JOBS + 1, "{embedded:?}");
    let all: Vec<EmbeddedDocument> = delivered.try_iter().flatten().collect();
    let beginnings: Vec<&EmbeddedDocument> =
        all.iter().filter(|embedded| embedded.signed == SignState::NotYet).collect();
    assert_eq!((beginnings.len(), all.len()), (WINDOW_JOBS, 2 + 2 * WINDOW_JOBS));
    // A beginning is not stored: the whole text is embedded when it is asked for again.
    let doc = beginnings[0].doc;
    let job = Job { doc, generation: 2, text: long(doc), want: WantedOutput::Signs };
    worker.submit(job).unwrap();
    let whole = delivered.recv_timeout(PATIENCE).unwrap().remove(0);
    assert_eq!(whole.vector, vector_of(&long(doc)));
    assert!(matches!(whole.signed, SignState::At(_)), "{whole:?}");
}
