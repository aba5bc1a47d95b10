//! Measures a call layer by layer in one process: checking a text, catching up with the logs, searching, the
//! whole answer, the same over the socket, and a save both ways. By words only; with `--model DIR` by words and
//! meaning instead: the vector of a question, and searching among synthetic vectors. Not here: the client
//! protocol (`serving`), the index alone (`lexical`).
//!
//! `cargo bench --bench layers -- --sizes 1000,10000,100000 --questions 200 [--model DIR] [--rounds 1]`

#![expect(clippy::print_stdout, reason = "a bench reports to the person who runs it")]

#[path = "serving/chance.rs"]
mod chance;
#[expect(dead_code, reason = "a part of it is enough here")]
#[path = "serving/corpus.rs"]
mod corpus;
#[path = "serving/made_up.rs"]
mod made_up;
#[path = "serving/vocabulary.rs"]
mod vocabulary;

use std::error::Error;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use api::caller::{Caller, Patience};
use api::local::{Core, Local};
use api::{Api, ApiError, SearchRequest};
use engine::CacheLock;
use engine::watch::Watching;
use engine::{AskedQuery, Dense, Engine, EngineSetup};
use event::{Decoded, Draft, Event, EventId, Timestamp, codec, suspicion};
use index::embed::worker::{QueryEmbedding, WorkerState};
use index::embed::{Provider, load};
use memory::Bound;
use retriever::daemon::{Endpoint, Host, Remote, Start};
use search::snapshot::Snapshot;
use search::{Query, find};
use settings::{Config, EmbeddingPrecision};
use store::{Durability, Store};
use writer::{Identity, Moment, Writer, record_all};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Saves of each kind. Each adds a line to the log, so there are few.
const SAVES: u64 = 200;
/// The clients' default limit.
const LIMIT: usize = 5;
const MIN_LIKELIHOOD: f32 = 0.07;
/// How many nearest vectors a search looks for.
const NEAREST: usize = 200;
/// Longest wait for the vector of a question, because the model is loaded for the first one, and for the token
/// signs of one more memory.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str, or: &str| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.and_then(|at| arguments.get(at + 1)).map_or(or, String::as_str).to_owned()
    };
    let questions = after("--questions", "200").parse()?;
    let rounds = after("--rounds", "1").parse()?;
    let model = Some(after("--model", "")).filter(|model| !model.is_empty());
    println!("| events | what | min µs | p50 µs | p99 µs |");
    println!("|---|---|---|---|---|");
    for size in after("--sizes", "1000,10000,100000").split(',') {
        let size = size.trim().parse()?;
        match &model {
            None => by_words(size, questions)?,
            Some(model) => by_meaning(size, (questions, rounds), Path::new(model))?,
        }
    }
    Ok(())
}

fn by_words(size: u64, questions: usize) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let row = |what: &str, times: Vec<Duration>| report(size, what, times);
    let lines: Vec<String> = (0..size).map(|number| corpus::event(number).line()).collect();
    let events: Vec<Event> = lines.iter().filter_map(|line| decoded(line)).collect();
    black_box(events.first().map(suspicion));
    row(
        "an event judged",
        each(&events, |event| {
            black_box(suspicion(event));
        }),
    );
    let store = Store::at(folder.path().join("logs"));
    let (took, written) = filled(&store, folder.path(), &lines.concat());
    println!("| {size} | lines to a store: {written} in {:.1} ms | | | |", ms(took));
    let core = Arc::new(core(&store, folder.path(), None)?);
    let begun = Instant::now();
    core.engine.snapshot()?;
    println!("| {size} | read from the logs in {:.1} ms | | | |", ms(begun.elapsed()));

    let asked: Vec<SearchRequest> = corpus::questions(size, questions)
        .into_iter()
        .map(|question| SearchRequest { query: question.text.into(), ..SearchRequest::default() })
        .collect();
    let snapshot = core.engine.snapshot()?;
    let now = moment().now;
    let search = |request: &SearchRequest| {
        let text = request.query.as_str();
        let query = Query { text, min_likelihood: MIN_LIKELIHOOD, ..Query::default() };
        black_box(find(&snapshot, &query, now, request.limit).hits.len());
    };
    row("a search, asked first", each(&asked, search));
    row("the same again", each(&asked, search));
    let look = |_: &SearchRequest| drop(black_box(core.engine.snapshot()));
    row("catching up, nothing new", each(&asked, look));
    let local = Local::new(Arc::clone(&core), caller(folder.path()));
    let answer = |api: &dyn Api, request: &SearchRequest| drop(black_box(api.search(request)));
    row("an answer", each(&asked, |request| answer(&local, request)));
    let endpoint = Endpoint::of(folder.path().join("run"), &["bench"]);
    endpoint.ensure()?;
    let _elected = endpoint.elect()?;
    let host = Host::listen(endpoint.clone(), Arc::clone(&core), "1", None)?;
    let stop = host.stopper();
    let served = std::thread::spawn(move || host.run());
    let remote = remote(endpoint, folder.path());
    remote.prepare();
    row("an answer over the socket", each(&asked, |request| answer(&remote, request)));
    let drafts = |first: u64| (first..first + SAVES).map(draft).collect::<Vec<_>>();
    let save = |api: &dyn Api, draft: &Draft| drop(black_box(api.save(draft.clone(), None)));
    row("a save", each(&drafts(size), |draft| save(&local, draft)));
    row("a save over the socket", each(&drafts(size + SAVES), |draft| save(&remote, draft)));
    stop();
    drop(served.join());
    Ok(())
}

/// Measures questions that get their vectors once and are then asked for a few rounds.
fn by_meaning(size: u64, (questions, rounds): (usize, usize), model: &Path) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let row = |what: &str, times: Vec<Duration>| report(size, what, times);
    let lines: String = (0..size).map(|number| corpus::event(number).line()).collect();
    let store = Store::at(folder.path().join("logs"));
    filled(&store, folder.path(), &lines);
    made_up::fill(model, &folder.path().join("cache"), size)?;
    let core = Arc::new(core(&store, folder.path(), Some(model.to_owned()))?);
    let begun = Instant::now();
    let snapshot = signed(&core.engine)?;
    println!("| {size} | read with made-up vectors in {:.1} ms | | | |", ms(begun.elapsed()));

    let texts: Vec<String> =
        corpus::questions(size, questions).into_iter().map(|question| question.text).collect();
    let mut asked: Vec<(&str, QueryEmbedding)> = Vec::new();
    let mut times = Vec::new();
    for text in &texts {
        let begun = Instant::now();
        let query = AskedQuery { text, repos: Some(&[]) };
        let pending = core.engine.begin_query(&query, PATIENCE, PATIENCE).ok_or("no model")??;
        let meant = pending.answer()?;
        times.push(begun.elapsed());
        asked.push((text, meant));
    }
    row("the meaning of a question", times);
    let local = Local::new(Arc::clone(&core), caller(folder.path()));
    let answer = |text: &String| {
        let query = text.clone();
        drop(black_box(
            local.search(&SearchRequest { query: query.into(), ..SearchRequest::default() }),
        ));
    };
    // More questions than the cache of vectors holds, so each vector is computed again.
    row("an answer, with the meaning of the question", each(&texts, answer));
    let now = moment().now;
    let search = |query: &Query<'_>| {
        black_box(find(&snapshot, query, now, LIMIT).hits.len());
    };
    for _ in 0..rounds {
        let by_words = |(text, _): &(&str, QueryEmbedding)| {
            search(&Query { text, min_likelihood: MIN_LIKELIHOOD, ..Query::default() });
        };
        row("a search by words", each(&asked, by_words));
        let by_both = |(text, meant): &(&str, QueryEmbedding)| {
            let vector = Some(meant.vector.as_slice());
            let min_likelihood = MIN_LIKELIHOOD;
            let tokens = &meant.tokens;
            search(&Query { text, vector, tokens, min_likelihood, ..Query::default() });
        };
        row("a search by both", each(&asked, by_both));
        let Some(vectors) = snapshot.vectors() else { return Err("no vectors".into()) };
        let nearest = |(_, meant): &(&str, QueryEmbedding)| {
            black_box(vectors.search(&meant.vector, |_| true, NEAREST).len());
        };
        row("the nearest vectors of it", each(&asked, nearest));
    }
    Ok(())
}

/// Waits until every memory has its vector and signs, as long as there is progress.
fn signed(engine: &Engine) -> Outcome<Snapshot> {
    let (mut signed, mut since) = (0, Instant::now());
    loop {
        let snapshot = engine.snapshot()?;
        let all = snapshot.memories().len();
        if snapshot.signed() >= all {
            return Ok(snapshot);
        }
        let progress = engine.embedding().ok_or("no model")?;
        if let WorkerState::Failed(why) = progress.state {
            return Err(why.into());
        }
        if snapshot.signed() > signed {
            (signed, since) = (snapshot.signed(), Instant::now());
        }
        if progress.failed > 0 || since.elapsed() > PATIENCE {
            let failed = progress.failed;
            return Err(format!("{signed} of {all} have signs, {failed} never will").into());
        }
        std::thread::park_timeout(Duration::from_millis(200));
    }
}

fn each<T>(all: &[T], work: impl Fn(&T)) -> Vec<Duration> {
    let timed = |one| {
        let begun = Instant::now();
        work(one);
        begun.elapsed()
    };
    all.iter().map(timed).collect()
}

fn report(size: u64, what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times.get(rank).map_or(f64::NAN, |took| took.as_secs_f64() * 1e6)
    };
    println!("| {size} | {what} | {:.1} | {:.1} | {:.1} |", at(0), at(50), at(99));
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

fn decoded(line: &str) -> Option<Event> {
    match codec::decode(line.trim_end().as_bytes(), "") {
        Decoded::Event(event) => Some(*event),
        _ => None,
    }
}

/// Returns a new moment for each call, because ids must differ.
fn moment() -> Moment {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let now = Timestamp::constant(1_780_000_000, 0);
    Moment { now, random: COUNT.fetch_add(1, Ordering::SeqCst).into() }
}

fn filled(store: &Store, folder: &Path, lines: &str) -> (Duration, usize) {
    let identity = Identity { agent_id: "bench".into(), ..Identity::default() };
    let writer = Writer {
        store: store.clone(),
        config: Config::default(),
        directory: folder.to_owned(),
        identity,
    };
    let begun = Instant::now();
    let outcomes = record_all(&writer, lines, Durability::Written, moment);
    (begun.elapsed(), outcomes.iter().filter(|outcome| outcome.result.is_ok()).count())
}

fn core(store: &Store, folder: &Path, model: Option<PathBuf>) -> Outcome<Core> {
    let config = Config::default();
    let cache_dir = folder.join("cache");
    let dense = model.map(|model| Dense {
        load: Box::new(move || {
            load(Provider::Local(EmbeddingPrecision::default()), &model, NonZeroUsize::MIN)
        }),
        lock: Arc::new(CacheLock::of(&cache_dir)),
        cache_dir,
        name: "test".to_owned(),
        may_see: None,
        scale: <_>::default(),
    });
    let engine = Engine::start(EngineSetup {
        store: store.clone(),
        config: config.clone(),
        bound: Bound::NONE,
        watching: Watching::System,
        dense,
        checkpoints: None,
    })?;
    let model_dir = folder.join("model");
    let (store, clock) = (store.clone(), Box::new(moment));
    Ok(Core {
        engine,
        store,
        config,
        model_dir,
        query_log: None,
        second_source: None,
        reranker: None,
        teller: None,
        watching: Watching::PollOnly,
        past_sessions: <_>::default(),
        links: <_>::default(),
        words: <_>::default(),
        doctor: <_>::default(),
        work_trees: <_>::default(),
        past: <_>::default(),
        clock,
    })
}

fn caller(folder: &Path) -> Caller {
    Caller {
        directory: Some(folder.to_owned()),
        agent_id: "bench".into(),
        session_id: None,
        source: Some("agent".to_owned()),
        host: None,
        patience: Patience::OF_AN_AGENT,
    }
}

fn remote(endpoint: Endpoint, folder: &Path) -> Remote {
    let alone = || Err(ApiError::NotFound("the host of this process does not answer".to_owned()));
    let start = Start {
        program: "false".into(),
        args: Vec::new(),
        set: Vec::new(),
        directory: folder.to_owned(),
        clock: moment,
    };
    Remote {
        endpoint,
        start,
        program: "bench".to_owned(),
        version: "1".to_owned(),
        caller: caller(folder),
        alone: Box::new(alone),
        fresh_id: Box::new(|| {
            let Moment { now, random } = moment();
            EventId::mint(now, random)
        }),
        state: Default::default(),
    }
}

fn draft(number: u64) -> Draft {
    let event = corpus::event(number);
    Draft {
        repo: Some(event.repo),
        event_type: Some("error".to_owned()),
        context: Some(event.context),
        command: Some(event.command),
        lesson: Some(event.lesson),
        tags: event.tags.to_vec(),
        ..Draft::default()
    }
}
