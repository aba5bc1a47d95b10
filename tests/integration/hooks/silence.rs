//! How often a failure gets an answer that has nothing to do with it, and how often it gets the right one: two
//! hundred failures of other software and the errors of our own benchmark, looked up among its lessons; and failures
//! that were recorded by running commands, with their full output (`tests/fixtures/failures`).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::local::{Core, Local};
use clients::hooks::hook_input::ToolCall;
use clients::hooks::outcome::OutcomeEvidence;
use clients::hooks::recall::failure_request;
use clients::hooks::tool::Tool;
use engine::CacheLock;
use engine::watch::WatchMode;
use engine::{DenseSetup, Engine, EngineSetup};
use event::{EventId, Timestamp};
use index::embed::load;
use learning::same_command::RawCommand;
use memory::MemoryBound;
use requests::Api as _;
use requests::caller::{Caller, Patience};
use serde_json::Value;
use settings::{Config, EmbeddingPrecision};
use store::Store;
use writer::Moment;

use crate::pieces;
use crate::world::World;

/// Longest wait until all lessons are embedded.
const STEP: Duration = Duration::from_secs(120);

/// Unrelated failures that may get an answer, of two hundred: twice what was measured (3, with and without the model).
const WRONG_MAX: usize = 6;

/// Errors of the benchmark that get the right lesson, in percent, at the least: five points below what was measured
/// (72 of 127 by words, 77 with the model).
const RIGHT_PERCENT_MIN: usize = 51;

/// Recorded failures, in two halves. The bar was chosen on `dev`. Measured on 24 November 2026: of `dev`, 4 of 178 got
/// a wrong answer by words and 3 with the model; of `test`, 9 of 190; the right one was given to 28 of 58 and 27 of 59
/// by words, to 30 and 28 with the model. With three lines instead of five and a bar of 4, it was 4 and 4 of `dev`, 8
/// and 9 of `test`; 26, 27, 28 and 27 right ones. Since 28 November 2026, when a first success counts for a lesson, 2 and 10 with
/// the model.
const HALVES: [&str; 2] = ["dev", "test"];

/// Recorded failures without a matching lesson that may get an answer, in percent of both halves: 12 or 13 of 368 were measured. In
/// one half of 190 a single answer is half a percent.
const MADE_WRONG_PERCENT_MAX: usize = 4;

/// Recorded failures that get the right lesson, in percent of either half, at the least: five points below what was
/// measured.
const MADE_RIGHT_PERCENT_MIN: usize = 39;

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// A recorded failure of a command.
struct Made {
    command: String,
    output: String,
    /// The short ids of the lessons that answer it; empty if none does.
    lessons: BTreeSet<String>,
}

/// The failures of one half.
fn made(half: &str) -> Vec<Made> {
    let lines = read(&format!("tests/fixtures/failures/{half}.jsonl"));
    let text = |case: &Value, name: &str| case[name].as_str().unwrap().to_owned();
    let lessons = |case: &Value| {
        let ids = case["lessons"].as_array().into_iter().flatten();
        ids.map(|id| EventId::foreign(id.as_str().unwrap()).unwrap().short().to_owned()).collect()
    };
    let cases = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let made = cases.map(|case| Made {
        command: text(&case, "command"),
        output: text(&case, "output"),
        lessons: lessons(&case),
    });
    made.collect()
}

/// Looks up all recorded failures.
#[track_caller]
fn judge_made(model: Option<PathBuf>) {
    let world = World::new();
    let memory = memory(&world, model);
    let told = |made: &Made| told(&memory, &made.command, &made.output);
    let (mut wrong_len, mut all) = (0, 0);
    for half in HALVES {
        let (known, unrelated): (Vec<Made>, Vec<Made>) =
            made(half).into_iter().partition(|made| !made.lessons.is_empty());
        let wrong: Vec<&str> = unrelated
            .iter()
            .filter(|made| !told(made).is_empty())
            .map(|made| made.command.as_str())
            .collect();
        let right = known.iter().filter(|made| !told(made).is_disjoint(&made.lessons)).count();
        let (half_wrong_len, half_all) = (wrong.len(), unrelated.len());
        (wrong_len, all) = (wrong_len + half_wrong_len, all + half_all);
        eprintln!(
            "{half}, unrelated, and got an answer: {half_wrong_len} of {half_all} {wrong:#?}"
        );
        eprintln!("{half}, known, and got the right one: {right} of {}", known.len());
        let is_enough = right * 100 >= MADE_RIGHT_PERCENT_MIN * known.len();
        assert!(is_enough, "{right} of {}", known.len());
    }
    assert!(wrong_len * 100 <= MADE_WRONG_PERCENT_MAX * all, "{wrong_len} of {all}");
}

/// Writes the lessons of the benchmark into a world.
fn teach(world: &World) {
    let mut logs: BTreeMap<String, String> = BTreeMap::new();
    for line in read("benches/lessons/corpus.jsonl").lines() {
        let lesson: Value = serde_json::from_str(line).unwrap();
        let log = lesson["repo"].as_str().unwrap().replace('/', "+");
        logs.entry(log).or_default().push_str(&format!("{line}\n"));
    }
    for (log, lines) in logs {
        world.hand_write(&format!("{log}.jsonl"), lines);
    }
}

/// The memory that hooks ask, in this process. With a model, waits until every lesson has its vector and signs.
fn memory(world: &World, model: Option<PathBuf>) -> Local {
    teach(world);
    let (store, config) = (Store::at(world.store()), Config::default());
    let cache_dir = world.path("cache");
    let dense = model.clone().map(|model| DenseSetup {
        load: Box::new(move || load(EmbeddingPrecision::default(), &model, NonZeroUsize::MIN)),
        lock: Arc::new(CacheLock::in_dir(&cache_dir)),
        cache_dir,
        idle: None,
        name: "test".to_owned(),
        may_see: None,
        scale: <_>::default(),
    });
    let has_model = dense.is_some();
    let engine = Engine::start(EngineSetup {
        store: store.clone(),
        config: config.clone(),
        bound: MemoryBound::NONE,
        watching: WatchMode::PollOnly,
        dense,
        checkpoints: None,
    });
    let engine = engine.unwrap();
    let start = Instant::now();
    while has_model && {
        let snapshot = engine.snapshot().unwrap();
        snapshot.embedded_count().min(snapshot.signed_count()) < snapshot.memories().len()
    } {
        assert!(start.elapsed() < STEP, "not every lesson is embedded");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let clock = Box::new(|| Moment { now: Timestamp::constant(1_780_000_000, 0), random: 1 });
    let model_dir = model.unwrap_or_default();
    let core = Core {
        doctor: <_>::default(),
        work_trees: <_>::default(),
        past: <_>::default(),
        second_source: None,
        reranker: None,
        engine,
        store,
        config,
        model_dir,
        query_log: None,
        delivery_journal: None,
        watching: WatchMode::PollOnly,
        past_sessions: <_>::default(),
        links: <_>::default(),
        analysis_cache: <_>::default(),
        clock,
    };
    let patience = Patience::FOR_PERSON;
    let directory = Some(world.work());
    let agent_id = "codex".to_owned();
    let caller = Caller {
        directory,
        agent_id: agent_id.into(),
        session_id: None,
        source: None,
        host: None,
        patience,
    };
    Local::new(Arc::new(core), caller)
}

/// The ids of the memories that a hook shows for a failure; empty if it does not even ask.
fn told(memory: &Local, command: &str, output: &str) -> BTreeSet<String> {
    let raw_command = RawCommand::new(command.to_owned());
    let (command, output) = (command.into(), output.into());
    let evidence = OutcomeEvidence::Stated;
    let files = Vec::new();
    let call = ToolCall { tool: Tool::Shell, command, raw_command, files, output, evidence };
    let Some(request) = failure_request(&call) else { return BTreeSet::new() };
    let text = memory.ask(&request.into()).unwrap().text;
    let ids = text.lines().filter_map(|line| Some(line.split_once(". [")?.1.rsplit_once(" · ")?.1));
    ids.map(|id| id.trim().to_owned()).collect()
}

/// The errors that the benchmark asks about, with the short ids of the right lessons.
fn related() -> Vec<(String, BTreeSet<String>)> {
    let mut right: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in read("benches/lessons/qrels.tsv").lines() {
        let mut columns = line.split_whitespace();
        let (query, lesson) = (columns.next().unwrap(), columns.next().unwrap());
        let id = EventId::foreign(lesson).unwrap().short().to_owned();
        right.entry(query.to_owned()).or_default().insert(id);
    }
    let queries = read("benches/lessons/queries.jsonl");
    let queries = queries.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let errors = queries.filter(|query| query["type"] == "error");
    errors
        .map(|query| {
            let id = query["id"].as_str().unwrap();
            (query["text"].as_str().unwrap().to_owned(), right.get(id).cloned().unwrap_or_default())
        })
        .collect()
}

/// Looks up all of them: how many unrelated failures got an answer, and how many errors the right one.
#[track_caller]
fn judge(model: Option<PathBuf>) {
    let world = World::new();
    let memory = memory(&world, model);
    let unrelated = read("tests/fixtures/failures/unrelated.tsv");
    let wrong: Vec<&str> = unrelated
        .lines()
        .filter(|line| {
            let (command, output) = line.split_once('\t').unwrap();
            !told(&memory, command, output).is_empty()
        })
        .collect();
    assert_eq!(unrelated.lines().count(), 200);
    let related = related();
    // Without the command, which is the harder question.
    let right = related.iter().filter(|(text, right)| !told(&memory, "x", text).is_disjoint(right));
    let right = right.count();
    eprintln!("unrelated failures that got an answer: {} of 200 {wrong:#?}", wrong.len());
    eprintln!("errors that got the right one: {right} of {}", related.len());
    assert!(wrong.len() <= WRONG_MAX, "{} of 200: {wrong:#?}", wrong.len());
    assert!(right * 100 >= RIGHT_PERCENT_MIN * related.len(), "{right} of {}", related.len());
}

// S-HOOK-4
#[test]
fn recorded_failures_get_no_more_answers_than_measured() {
    judge_made(None);
}

// S-HOOK-4
#[test]
fn model_recorded_failures_get_no_more_answers() {
    let Some(model) = pieces::model() else { return };
    judge_made(Some(model));
}

// S-HOOK-4
#[test]
fn only_known_failures_get_an_answer() {
    judge(None);
}

// S-HOOK-4
#[test]
fn model_only_known_failures_get_an_answer() {
    let Some(model) = pieces::model() else { return };
    judge(Some(model));
}
