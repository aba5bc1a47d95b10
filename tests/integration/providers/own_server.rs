//! Our own server as a provider: another store that asks it gets the vectors, and the answers, of the model itself.

use std::process::Stdio;

use serde_json::{Value, json};

use super::stand_in_provider::{StandInProvider, model_a};
use crate::http::client::{HttpAnswer, Server, request};
use crate::pieces;
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// A token as `--token-file` or the environment gives it.
const TOKEN: &str = "an-invented-token-for-this-test-0123456789";

const LESSONS: &[&str] = &[
    "npm install failed with EACCES: always verify who owns node_modules first",
    "pin the base image by digest, tags move",
    "the flaky websocket test needs a longer handshake timeout",
    "run the migrations before the seeds, foreign keys fail otherwise",
    "prefer composition over inheritance in the view layer",
    "the linker runs out of memory on two jobs; build with one",
    "a stale lock file makes the scheduler wait for ever; remove it at start",
];
const QUERIES: &[&str] = &[
    "permission trouble while adding javascript packages",
    "compiling ended because memory was exhausted",
    "database relations are violated during setup",
    "container image changed under the same name",
    "connection test fails now and then",
];

fn teacher(world: &World) -> Server {
    let mut command = Server::command(world, &["--http", "127.0.0.1:0"]);
    Server::of(command.env("AGENT_KNOWLEDGE_TOKEN", TOKEN).stdin(Stdio::null()))
}

fn asked(server: &Server, token: &str, body: &Value) -> HttpAnswer {
    let shown = format!("Bearer {token}");
    let headers = [("Host", "localhost"), ("Authorization", shown.as_str())];
    server.send(&request("POST", "/v1/embeddings", &headers, &body.to_string()))
}

/// Asks again while the model is being loaded.
fn vectors(server: &Server, texts: &[&str]) -> Vec<Vec<f64>> {
    let body = json!({ "model": "all-MiniLM-L6-v2", "input": texts });
    let begun = std::time::Instant::now();
    loop {
        let answer = asked(server, TOKEN, &body);
        if answer.status == 503 && begun.elapsed() < crate::http::client::STEP {
            std::thread::park_timeout(std::time::Duration::from_millis(100));
            continue;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        let vector = |one: &Value| {
            let numbers = one["embedding"].as_array().unwrap().iter();
            numbers.map(|number| number.as_f64().unwrap()).collect()
        };
        return answer["data"].as_array().unwrap().iter().map(vector).collect();
    }
}

// S-PROVIDER-8
#[test]
fn model_of_ours_is_a_provider_with_the_same_answers() {
    let Some(model) = pieces::model() else { return };
    let (here, elsewhere) = (World::with_model(model), World::new());
    for world in [&here, &elsewhere] {
        for lesson in LESSONS {
            world.log_memory(&["--repo", "api", "--type", "error", "--lesson", lesson]).done();
        }
    }
    let server = teacher(&here);
    // What PyTorch computes; see the tests of the model.
    let reference = [-0.034_477_25, 0.031_023_17, 0.006_734_97, 0.026_108_98];
    let own = vectors(&server, &["hello world"]).remove(0);
    assert_eq!(own.len(), 384);
    assert!(own.iter().zip(reference).all(|(ours, expected)| (ours - expected).abs() < 1e-5));
    let url = format!("http://127.0.0.1:{}/v1", server.port());
    let with_key = |args: &[&str]| {
        let mut command = elsewhere.command(AGENT_KNOWLEDGE);
        run(command.env("TEACHERS_KEY", TOKEN).args(args), b"").done()
    };
    let model = "all-MiniLM-L6-v2";
    let args =
        ["model", "use", "openai", model, "--url", &url, "--key-env", "TEACHERS_KEY", "--yes"];
    with_key(&args);
    assert!(with_key(&["index"]).starts_with("7 memories embedded now"));
    for query in QUERIES {
        let search =
            ["search", query, "--mode", "dense", "--min-relevance", "0", "--explain", "--json"];
        let of = |text: String| -> Vec<(String, f64)> {
            let found: Value = serde_json::from_str(&text).unwrap();
            let hits = found["memories"].as_array().unwrap().iter();
            hits.map(|hit| {
                let lesson = hit["lesson"].as_str().unwrap().to_owned();
                (lesson, hit["score"]["meaning"].as_f64().unwrap())
            })
            .collect()
        };
        let (ours, theirs) = (of(here.agent_knowledge(&search).done()), of(with_key(&search)));
        assert!(!ours.is_empty(), "{query}");
        let lessons = |hits: &[(String, f64)]| {
            hits.iter().map(|(lesson, _)| lesson.clone()).collect::<Vec<_>>()
        };
        assert_eq!(lessons(&ours), lessons(&theirs), "{query}");
        // Here a query may be computed in int8, which is off by up to .002 of cosine.
        let is_near =
            |(one, other): (&(String, f64), &(String, f64))| (one.1 - other.1).abs() < 0.01;
        assert!(ours.iter().zip(&theirs).all(is_near), "{ours:?} {theirs:?}");
    }
    assert!(
        !server
            .send(&request("POST", "/v1/embeddings", &[("Host", "localhost")], "{}"))
            .all()
            .contains("data")
    );
}

// S-PROVIDER-8
#[test]
fn model_vectors_need_a_token_and_a_model() {
    let world = World::new();
    let server = teacher(&world);
    let body = json!({ "model": "all-MiniLM-L6-v2", "input": "hello" });
    assert_eq!(asked(&server, "wrong", &body).status, 401);
    let none = asked(&server, TOKEN, &body);
    assert_eq!(none.status, 503, "{none:?}");
    assert!(none.body.contains("model fetch"), "{}", none.body);
    let other = asked(&server, TOKEN, &json!({ "model": "gpt", "input": "hello" }));
    assert!(other.status == 404 && other.body.contains("all-MiniLM-L6-v2"), "{other:?}");
    let get = server.send(&request(
        "GET",
        "/v1/embeddings",
        &[("Host", "localhost"), ("Authorization", &format!("Bearer {TOKEN}"))],
        "",
    ));
    assert_eq!(get.status, 405, "{get:?}");
}

// S-PROVIDER-9
#[test]
fn model_calibration_maps_cosines_and_is_explained() {
    let Some(model) = pieces::model() else { return };
    // Two stores: a server whose own store changes its model answers for its old model no longer.
    let (world, elsewhere) = (World::with_model(model.clone()), World::with_model(model));
    for (number, lesson) in LESSONS.iter().chain(QUERIES).chain(LESSONS).enumerate() {
        let lesson =
            format!("{lesson}, seen {number} times in {}", QUERIES[number % QUERIES.len()]);
        world.log_memory(&["--repo", "api", "--type", "error", "--lesson", &lesson]).done();
    }
    // A model with the vectors of ours and one more number, which brings all cosines near each other.
    let server = teacher(&elsewhere);
    vectors(&server, &["warm"]);
    let script = format!(
        "import json,sys,urllib.request as u; r=json.load(sys.stdin); r['model']='all-MiniLM-L6-v2'; r.pop('input_type'); \
         q=u.Request('http://127.0.0.1:{}/v1/embeddings',json.dumps(r).encode(),{{'Authorization':'Bearer {TOKEN}'}}); \
         print(json.dumps({{'embeddings':[d['embedding']+[1.0] for d in json.load(u.urlopen(q))['data']]}}))",
        server.port()
    );
    let args = ["model", "use", "command", "m", "--yes", "--command", "python3", "-c", &script];
    world.agent_knowledge(&args).done();
    let told = world.agent_knowledge(&["model", "calibrate"]).done();
    // The cosine c became (c + 1) / 2, so the line back is 2 c - 1.
    assert!(told.contains("scale     2.0") || told.contains("scale     1.9"), "{told}");
    world.agent_knowledge(&["index"]).done();
    let found = world.asked(&["search", QUERIES[1], "--explain"]);
    let note = found["notices"].to_string();
    assert!(note.contains("x cosine -"), "{found}");
}

// S-PROVIDER-9
#[test]
fn calibration_without_our_model_sends_nothing() {
    let (world, provider) = (World::new(), StandInProvider::start(model_a));
    for number in 1..9 {
        let lesson = format!("memory {number} the cart forgets its items");
        world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", &lesson]).done();
    }
    let args = ["model", "use", "openai", "m", "--url", &provider.url, "--yes"];
    world.agent_knowledge(&args).done();
    let before = provider.texts();
    let ran = world.agent_knowledge(&["model", "calibrate"]);
    assert!(ran.messages.contains("model fetch"), "{ran:?}");
    assert_eq!(provider.texts(), before);
}

// S-PROVIDER-8
#[test]
fn model_vectors_reach_the_official_client() {
    let (Some(client), Some(model)) = (pieces::openai_client(), pieces::model()) else { return };
    let world = World::with_model(model);
    let server = teacher(&world);
    let ours = vectors(&server, &["hello world", "the linker runs out of memory"]);
    let url = format!("http://127.0.0.1:{}/v1", server.port());
    let mut command = world.command(client.join("bin/python"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/ask_embeddings.py");
    let told = run(command.args([script, &url, TOKEN]), b"").done();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["model"], "all-MiniLM-L6-v2");
    assert_eq!((&told["wrong_key"], told["tokens"].as_u64().unwrap()), (&json!(401), 10));
    assert!(told["wrong_model"].as_str().unwrap().contains("all-MiniLM-L6-v2 alone"), "{told}");
    for field in ["vectors", "floats"] {
        for (vector, ours) in told[field].as_array().unwrap().iter().zip(&ours) {
            let numbers = vector.as_array().unwrap().iter().map(|number| number.as_f64().unwrap());
            let cosine: f64 = numbers.zip(ours).map(|(one, other)| one * other).sum();
            assert!(cosine > 0.9999, "{field}: {cosine}");
        }
    }
}
