//! The embedding model at work: it finds what shares no word with the query, new lessons get their
//! vectors while the server runs, and nothing is computed twice. Not here: how well (`retrieval`),
//! being without it (`health`).

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::pieces;
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Longest anything may take: a debug build on a busy machine, but never for ever.
const STEP: Duration = Duration::from_secs(60);

const LESSONS: &[&str] = &[
    "npm install failed with EACCES: always verify who owns node_modules first",
    "pin the base image by digest, tags move",
    "the flaky websocket test needs a longer handshake timeout",
    "run the migrations before the seeds, foreign keys fail otherwise",
    "prefer composition over inheritance in the view layer",
];
/// Means the first lesson and shares no word with any.
const PARAPHRASE: &str = "permission trouble while adding javascript packages";

fn taught(world: &World) {
    for lesson in LESSONS {
        world.log_memory(&["--repo", "api", "--type", "error", "--lesson", lesson]).done();
    }
}

// S-RANK-2
#[test]
fn model_finds_what_shares_no_word_with_the_query() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    taught(&world);
    let words = world.agent_knowledge(&["search", PARAPHRASE, "--mode", "lexical"]).done();
    assert_eq!(words, "No relevant memories.\n");
    for mode in ["hybrid", "dense"] {
        let rank_alone = ["--min-relevance", "0", "--explain"];
        let asked = [&["search", PARAPHRASE, "--mode", mode][..], &rank_alone].concat();
        let found = world.asked(&asked);
        let first = &found["memories"][0];
        assert_eq!(first["lesson"], LESSONS[0], "{mode}: {found}");
        let cosine = first["score"]["meaning"].as_f64().unwrap();
        assert!((0.25..1.0).contains(&cosine), "{found}");
        assert_eq!(found["notices"], json!([]), "{found}");
    }
    let usual = world.asked(&["search", PARAPHRASE]);
    let title = usual["possible"][0]["title"].as_str().unwrap();
    assert!(title.starts_with(LESSONS[0]), "a possible answer: {usual}");
    let nonsense = world.asked(&["search", "qqxyzzy wwplugh", "--mode", "dense"]);
    assert_eq!(nonsense["memories"], json!([]), "{nonsense}");
}

// S-RANK-2
#[test]
fn model_brings_to_a_briefing_what_shares_no_word_with_the_task() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    taught(&world);
    let briefing = world.asked(&["context", "--repo", "api", "--task", PARAPHRASE]);
    assert_eq!(briefing["for_task"][0]["lesson"], LESSONS[0], "{briefing}");
}

// S-RANK-2, S-READ-1
#[test]
fn model_and_server_embed_what_comes_while_they_run() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    let mut client = Client::open(&world, Era::Modern);
    taught(&world);
    // Found at once by its words, whatever the model is doing.
    assert!(client.search("EACCES node_modules").contains(LESSONS[0]));
    LESSONS.iter().for_each(|lesson| client.wait_for_meaning(lesson));
    let found = client.search(PARAPHRASE);
    let is_title = |line: &str| line.starts_with("- ") && line.contains(LESSONS[0]);
    assert!(found.lines().any(is_title), "{found}");
    assert!(client.leave().status.success());
}

#[test]
fn model_embeds_nothing_twice() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    taught(&world);
    let count = LESSONS.len();
    let first = world.agent_knowledge(&["index"]).done();
    assert_eq!(first, format!("{count} memories embedded now, 0 from the cache, 0 failed\n"));
    let second = world.agent_knowledge(&["index"]).done();
    assert_eq!(second, format!("0 memories embedded now, {count} from the cache, 0 failed\n"));
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "one more"]).done();
    let third = world.asked(&["index"]);
    assert_eq!(third, json!({"embedded": 1, "from_cache": count, "failed": 0}));
    // The cache is only a cache.
    std::fs::remove_dir_all(world.path("cache")).unwrap();
    assert_eq!(world.asked(&["index"])["embedded"], count + 1);
    let status = world.asked(&["status"]);
    assert_eq!(status["model"]["state"], "model installed", "{status}");
}

// S-RANK-2
#[test]
fn model_with_one_damaged_file_is_named_and_words_go_on() {
    let Some(model) = pieces::model() else { return };
    let world = World::new();
    for file in std::fs::read_dir(model).unwrap().map(|entry| entry.unwrap()) {
        let place = world.path("no-model").join(file.file_name());
        if file.file_name() == "tokenizer.json" {
            let mut bytes = std::fs::read(file.path()).unwrap();
            bytes[1_000] ^= 1;
            std::fs::write(place, bytes).unwrap();
        } else {
            std::os::unix::fs::symlink(file.path(), place).unwrap();
        }
    }
    taught(&world);
    let found = world.agent_knowledge(&["search", "EACCES"]).done();
    assert!(found.contains(LESSONS[0]), "{found}");
    let [note] = found.lines().filter(|line| line.starts_with("Note: ")).collect::<Vec<_>>()[..]
    else {
        panic!("{found}")
    };
    assert!(
        note.contains("tokenizer.json has the wrong checksum") && note.contains("model fetch"),
        "{note}"
    );
    let told = world.agent_knowledge(&["model", "status"]).done();
    assert!(told.contains("ready     no"), "{told}");
    let ran = world.agent_knowledge(&["index"]);
    assert_eq!((ran.exit, ran.output.as_str()), (Some(69), ""));
    assert!(ran.messages.contains("tokenizer.json"), "{}", ran.messages);
}

/// Asks in a process of its own, or over the retriever of this world.
fn told(world: &World, how: &str, args: &[&str]) -> Value {
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.env("AGENT_KNOWLEDGE_RETRIEVER", how).args(args).arg("--json");
    serde_json::from_str(&run(&mut command, b"").done()).unwrap()
}

fn ranked(world: &World, how: &str) -> Value {
    told(
        world,
        how,
        &[
            "search",
            "npm permission trouble EACCES, websocket and migrations fail",
            "--explain",
            "--min-relevance",
            "0",
        ],
    )["memories"]
        .take()
}

/// What is found, and how near its tokens are, in hundredths: made again, the last bits may differ.
fn nearness(world: &World, how: &str) -> Vec<(String, Option<String>)> {
    let hits = ranked(world, how);
    let hundredths = |hit: &Value| Some(format!("{:.2}", hit["score"]["tokens"].as_f64()?));
    let told = |hit: &Value| (hit["lesson"].as_str().unwrap().to_owned(), hundredths(hit));
    hits.as_array().unwrap().iter().map(told).collect()
}

/// The retriever of this world, once it has the signs of all tokens.
fn retriever_with_signs(world: &World) {
    let start = Instant::now();
    while told(world, "shared", &["status"])["signed"] != LESSONS.len() {
        assert!(start.elapsed() < STEP, "{}", told(world, "shared", &["status"]));
    }
}

/// Ends it, also where a test fails.
struct Ending<'a>(&'a World);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // One that is gone already needs no ending.
        let stop = ["serve", "--stop"];
        let mut command = self.0.command(AGENT_KNOWLEDGE);
        let _ = command.env("AGENT_KNOWLEDGE_RETRIEVER", "shared").args(stop).output();
    }
}

fn signs_file(world: &World) -> PathBuf {
    let paths = std::fs::read_dir(world.path("cache")).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| path.extension().is_some_and(|found| found == "tokens");
    paths.into_iter().find(is_it).unwrap()
}

// S-RANK-3, S-RANK-8, S-READ-6
#[test]
fn model_ranks_by_tokens_alike_in_every_process() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    taught(&world);
    world.asked(&["index"]);
    let own = nearness(&world, "own");
    assert_eq!(own[0].0, LESSONS[0], "{own:?}");
    assert!(own.len() > 1 && own.iter().all(|(_, tokens)| tokens.is_some()), "{own:?}");
    let _ending = Ending(&world);
    retriever_with_signs(&world);
    assert_eq!(nearness(&world, "shared"), own);
    // It leaves a checkpoint, and the next one begins there.
    drop(Ending(&world));
    retriever_with_signs(&world);
    assert_eq!(nearness(&world, "shared"), own);
    // By words alone nothing is different.
    let lexical = told(&world, "own", &["search", "EACCES", "--explain", "--mode", "lexical"]);
    assert!(lexical["memories"][0]["score"].get("tokens").is_none(), "{lexical}");
}

// S-RANK-8
#[test]
fn model_makes_signs_for_vectors_that_have_none() {
    let Some(model) = pieces::model() else { return };
    let world = World::with_model(model);
    taught(&world);
    world.asked(&["index"]);
    let before = nearness(&world, "own");
    assert!(before[0].1.is_some(), "{before:?}");
    let path = signs_file(&world);
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged.get_mut(middle..).unwrap().fill(0x55);
    for bytes in [&b""[..], &damaged] {
        std::fs::write(&path, bytes).unwrap();
        // What is missing is made by a second inference; the vectors stay.
        assert_eq!(world.asked(&["index"])["from_cache"], LESSONS.len());
        assert_eq!(nearness(&world, "own"), before);
    }
    let _ending = Ending(&world);
    retriever_with_signs(&world);
    // Under a running retriever: the answer stands, and the next ones are as before.
    std::fs::write(&path, &damaged).unwrap();
    let start = Instant::now();
    while nearness(&world, "shared") != before {
        assert!(start.elapsed() < STEP, "{:?}", nearness(&world, "shared"));
    }
}
