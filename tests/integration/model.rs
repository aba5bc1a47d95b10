//! The embedding model at work: it finds what shares no word with the query, new lessons get their
//! vectors while the server runs, and nothing is computed twice. Not here: how well (`retrieval`),
//! being without it (`health`).

use serde_json::json;

use crate::pieces;
use crate::raw_client::{Client, Era};
use crate::world::World;

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
        let found = world.asked(&["search", PARAPHRASE, "--mode", mode, "--explain"]);
        let first = &found["memories"][0];
        assert_eq!(first["lesson"], LESSONS[0], "{mode}: {found}");
        let cosine = first["score"]["meaning"].as_f64().unwrap();
        assert!((0.25..1.0).contains(&cosine), "{found}");
        assert_eq!(found["notices"], json!([]), "{found}");
    }
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
    assert!(
        found.lines().any(|line| line.starts_with("1. ") && line.contains(LESSONS[0])),
        "{found}"
    );
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
