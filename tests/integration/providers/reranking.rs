//! A reranker: likely hits are shown in its order, what is unlikely stays hidden, nothing private and nothing of a repository that is
//! left out is sent, and our own order stands where it does not answer. Not here: what a reranker can do wrong in detail (crate
//! `providers`).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stand_in_reranker::{Deed, StandInReranker};
use crate::http::client::{Server, request};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Lessons about one thing, in the order in which words alone show them, and another one.
const CART: [&str; 4] = [
    "one: the cart forgets its items when the session cookie is renewed",
    "two: the cart forgets its items after a payment that has been refused by the bank",
    "three: in the basket view the cart forgets items of guests unless local storage is allowed there",
    "four: on old phones the cart forgets some items while the page is reloaded in the background of another application",
];
const PUMPS: &str = "five: the prototype overheats when both pumps run at once";
/// Not likely to be about the cart, but possible.
const TROLLEY: &str = "six: the warehouse forgets trolleys";
const QUERY: &str = "the cart forgets its items";

fn note(world: &World, args: &[&str], lesson: &str) {
    world.log_memory(&[args, &["--type", "error", "--lesson", lesson]].concat()).done();
}

fn taught() -> World {
    let world = World::new();
    for lesson in CART.iter().chain([&PUMPS, &TROLLEY]) {
        note(&world, &["--repo", "shop"], lesson);
    }
    world
}

fn configure(world: &World, url: &str, more: &str) {
    world.configure(&format!(
        "[rerank]\nprovider = \"jina\"\nmodel = \"m\"\nurl = \"{url}\"\n{more}\n"
    ));
}

/// The first words of the likely hits of a reply.
fn first_words(found: &Value) -> Vec<String> {
    let hits = found["memories"].as_array().unwrap().iter();
    hits.map(|hit| hit["lesson"].as_str().unwrap().split(':').next().unwrap().to_owned()).collect()
}

fn search(world: &World, more: &[&str]) -> Value {
    world.asked(&[&["search", QUERY, "--repo", "shop"], more].concat())
}

fn notices(found: &Value) -> Vec<&str> {
    let about_order = |notice: &&str| notice.contains("order");
    let all = found["notices"].as_array().unwrap().iter().filter_map(Value::as_str);
    all.filter(about_order).collect()
}

/// Likes the fourth best, then the third.
fn opposite(text: &str) -> f64 {
    let place = |word: &str| ["one", "two", "three", "four"].iter().position(|one| *one == word);
    place(text.split(':').next().unwrap())
        .map_or(99.0, |place| f64::from(u8::try_from(place).unwrap()) - 2.5)
}

fn get(server: &Server, path: &str) -> Value {
    let answer =
        server.send(&request("GET", &format!("/api/v1/{path}"), &[("Host", "localhost")], ""));
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

fn serve(world: &World) -> Server {
    Server::start(world, &["--http", "127.0.0.1:0", "--no-token"])
}

// S-RERANK-3
#[test]
fn likely_hits_are_shown_in_its_order() {
    let (world, reranker) = (taught(), StandInReranker::start(Deed::Scores(opposite)));
    let own = search(&world, &[]);
    assert_eq!(first_words(&own), ["one", "two", "three", "four"]);
    configure(&world, &reranker.url, "");
    assert_eq!(first_words(&search(&world, &[])), ["four", "three", "two", "one"]);
    // The limit cuts afterwards.
    let two = search(&world, &["--limit", "2", "--explain"]);
    assert_eq!(first_words(&two), ["four", "three"]);
    let asked = reranker.asked().pop().unwrap();
    assert_eq!((&asked["query"], &asked["documents"]), (&json!(QUERY), &json!(CART)));
    // Likelihoods stay ours, as their mean where they rise with its order, and the score stands beside our own.
    let score = &two["memories"][0]["score"];
    assert_eq!(score["reranker"], json!(0.5), "{two}");
    let likelihood = |found: &Value, word: &str| {
        let hits = found["memories"].as_array().unwrap().iter();
        let mut of = hits.filter(|hit| hit["lesson"].as_str().unwrap().starts_with(word));
        of.next().unwrap()["likelihood"].as_f64().unwrap()
    };
    let mean = f64::midpoint(likelihood(&own, "three"), likelihood(&own, "four"));
    assert!((likelihood(&two, "four") - mean).abs() < 0.002, "{two} {own}");
    let told = notices(&two);
    assert!(told.iter().any(|one| one.contains("m of 127.0.0.1")), "{told:?}");
    assert!(two["near_misses"].to_string().contains("one: the cart"), "{two}");
    let whole = ["search", QUERY, "--repo", "shop", "--explain", "--max-tokens", "2000"];
    let text = world.agent_knowledge(&whole).done();
    assert!(text.contains("; reranker 0.500") && text.contains("; reranker -2.500"), "{text}");
    // It likes the pumps best of all, and never hears of them.
    assert!(!reranker.has_seen("pumps"));
    let found = search(&world, &[]);
    assert!(!found.to_string().contains("pumps"));
    // What is possible stays a title, as it is without it.
    assert!(own["possible"].to_string().contains("six: the"), "{own}");
    assert_eq!(found["possible"], own["possible"]);
    assert!(!reranker.has_seen("trolleys"));
    // REST and MCP are answered alike.
    let server = serve(&world);
    let path = format!("search?query={}&repo=shop", QUERY.replace(' ', "%20"));
    assert_eq!(first_words(&get(&server, &path)), ["four", "three", "two", "one"]);
    let told = server.told("memory_search", &json!({ "query": QUERY, "repo": "shop" }));
    assert!(told.find("four:").unwrap() < told.find("one:").unwrap(), "{told}");
}

// S-RERANK-3
#[test]
fn who_has_no_use_for_it_does_not_ask() {
    let (world, reranker) = (taught(), StandInReranker::start(Deed::Scores(opposite)));
    configure(&world, &reranker.url, "");
    for args in [
        &["search", QUERY, "--mode", "lexical"][..],
        &["search", "prototype overheats pumps"],
        &["search", "kind:error"],
        &["search", QUERY, "--as-of", "1d"],
        &["context", "--task", QUERY, "--repo", "shop"],
        &["list"],
    ] {
        world.agent_knowledge(args).done();
    }
    let said = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": world.work(),
        "prompt": "why is it that the cart forgets its items when a session cookie is renewed?" });
    let mut hook = world.command(AGENT_KNOWLEDGE);
    hook.args(["hook", "--agent", "claude-code"]).env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    let recalled = run(&mut hook, said.to_string().as_bytes()).done();
    assert!(recalled.contains("one: the cart"), "{recalled}");
    assert_eq!(reranker.asked(), Vec::<Value>::new());
    search(&world, &[]);
    assert_eq!(reranker.asked().len(), 1);
}

// S-RERANK-4
#[test]
fn what_is_left_out_is_not_sent_and_stays() {
    let world = World::new();
    for (repo, lesson) in
        [("shop", CART[0]), ("github.com/acme/lab", CART[1]), ("shop", CART[2]), ("shop", CART[3])]
    {
        note(&world, &["--repo", repo], lesson);
    }
    let everywhere = |more: &[&str]| world.asked(&[&["search", QUERY], more].concat());
    assert_eq!(first_words(&everywhere(&[])), ["one", "two", "three", "four"]);
    let reranker = StandInReranker::start(Deed::Scores(opposite));
    configure(&world, &reranker.url, "off_repos = [\"github.com/acme/*\"]");
    assert_eq!(first_words(&everywhere(&[])), ["four", "two", "three", "one"], "it stays second");
    let before = reranker.asked().len();
    // A query about it is not sent, under whatever name it is called.
    for more in [&["--repo", "lab"][..], &["--repo", "github.com/acme/lab"]] {
        everywhere(more);
    }
    world.asked(&["search", "repo:lab the cart forgets its items secretly"]);
    let lab = world.path("lab");
    std::fs::create_dir(&lab).unwrap();
    world.git(&lab, &["init", "-q"]);
    world.git(&lab, &["remote", "add", "origin", "https://github.com/acme/lab.git"]);
    world.agent_knowledge_in(&lab, &["search", QUERY]).done();
    assert_eq!(reranker.asked().len(), before);
    assert!(!reranker.has_seen("refused by the bank") && !reranker.has_seen("secretly"));
    // From one search to the next while a server runs, too.
    let server = serve(&world);
    let path = format!("search?query={}", QUERY.replace(' ', "%20"));
    get(&server, &path);
    assert_eq!(reranker.asked().len(), before + 1);
    configure(&world, &reranker.url, "off_repos = [\"*\"]");
    get(&server, &path);
    assert_eq!(reranker.asked().len(), before + 1);
}

// S-RERANK-4
#[test]
fn nothing_private_is_sent_to_a_program() {
    let world = taught();
    let mine = "mine: the cart forgets its items, as my own manager told me";
    note(&world, &["--repo", "shop", "--private"], mine);
    let local = StandInReranker::start(Deed::Scores(opposite));
    configure(&world, &local.url, "");
    search(&world, &[]);
    assert!(local.has_seen("my own manager"), "a server on this machine may see it");
    // A program may send anything anywhere, so it sees as little as a server elsewhere.
    let log = world.path("seen.txt");
    let script = format!(
        "import json,sys; r=json.load(sys.stdin); open({:?},'a').write(json.dumps(r)); \
         print(json.dumps({{'scores': list(range(len(r['documents'])))}}))",
        log.display().to_string()
    );
    world.configure(&format!(
        "[rerank]\nprovider = \"command\"\ncommand = [\"python3\", \"-c\", {script:?}]\ntimeout_ms = 4000\n"
    ));
    let key = ["sk-proj-", "Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56"].concat();
    let found = world.asked(&["search", &format!("{QUERY} with {key}"), "--repo", "shop"]);
    let words = first_words(&found);
    assert!(words.contains(&"mine".to_owned()), "it is found all the same: {found}");
    let seen = std::fs::read_to_string(&log).unwrap();
    assert!(seen.contains("cookie is renewed") && !seen.contains("my own manager"), "{seen}");
    assert!(seen.contains("forgets its items with") && !seen.contains(&key), "{seen}");
}

// S-RERANK-5
#[test]
fn own_order_stands_where_it_does_not_answer() {
    let world = taught();
    let own = first_words(&search(&world, &["--limit", "3"]));
    let reranker = StandInReranker::start(Deed::Nothing);
    let two =
        "{\"results\":[{\"index\":0,\"relevance_score\":1},{\"index\":1,\"relevance_score\":2}]}";
    let of_four = |one: &'static str| -> &'static str {
        let rest = "{\"index\":0,\"relevance_score\":1},{\"index\":1,\"relevance_score\":1},{\"index\":2,\"relevance_score\":1}";
        Box::leak(format!("{{\"results\":[{rest},{one}]}}").into_boxed_str())
    };
    for (deed, why) in [
        (Deed::Nothing, "did not answer in 400 ms"),
        (
            Deed::Says("401 Unauthorized", "{\"detail\":\"bad key\"}"),
            "refused the request (401): bad key",
        ),
        (Deed::Says("500 Internal Server Error", "oh"), "failed (500): oh"),
        (
            Deed::Says("200 OK", "{\"error\":{\"message\":\"no model\"}}"),
            "answered with an error: no model",
        ),
        (Deed::Says("200 OK", two), "returned 2 scores for 4 texts"),
        (
            Deed::Says("200 OK", of_four("{\"index\":3,\"relevance_score\":null}")),
            "returned a score that is no number",
        ),
        (
            Deed::Says("200 OK", of_four("{\"index\":2,\"relevance_score\":1}")),
            "returned an index that is of no text, or of one that has a score already",
        ),
    ] {
        // Only who says nothing is not waited for.
        let wait = if matches!(deed, Deed::Nothing) { 400 } else { 4_000 };
        configure(&world, &reranker.url, &format!("timeout_ms = {wait}"));
        reranker.does(deed);
        let begun = Instant::now();
        let found = search(&world, &["--limit", "3"]);
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(first_words(&found), own, "{why}");
        let expected = format!("Note: order by words and meaning alone ({} {why}).", reranker.host);
        assert_eq!(notices(&found), [expected]);
    }
    configure(&world, "http://127.0.0.1:1", "key_env = \"NO_SUCH_KEY\"");
    let found = search(&world, &[]);
    assert!(notices(&found)[0].contains("the variable NO_SUCH_KEY"), "{found}");
}

// S-RERANK-5
#[test]
fn an_outage_is_told_once_and_left_alone() {
    let world = taught();
    let reranker = StandInReranker::start(Deed::Says("500 Internal Server Error", "oh"));
    configure(&world, &reranker.url, "");
    let server = serve(&world);
    let path = format!("search?query={}&repo=shop", QUERY.replace(' ', "%20"));
    let first = get(&server, &path);
    assert_eq!(notices(&first).len(), 1, "{first}");
    for _ in 0..3 {
        let next = get(&server, &path);
        assert_eq!(notices(&next), Vec::<&str>::new());
        assert_eq!(first_words(&next), ["one", "two", "three", "four"]);
    }
    assert_eq!(reranker.asked().len(), 1, "it is left alone");
    assert_eq!(get(&server, "status")["reranker"]["rests"], true);
    // Another setting is another reranker.
    reranker.does(Deed::Scores(opposite));
    configure(&world, &reranker.url, "timeout_ms = 3500");
    assert_eq!(first_words(&get(&server, &path)), ["four", "three", "two", "one"]);
}

// S-RERANK-1
#[test]
fn nobody_is_asked_while_settings_are_unreadable() {
    let (world, reranker) = (taught(), StandInReranker::start(Deed::Scores(opposite)));
    configure(&world, &reranker.url, "");
    let server = serve(&world);
    let path = format!("search?query={}&repo=shop", QUERY.replace(' ', "%20"));
    let order = || first_words(&get(&server, &path));
    assert_eq!(order(), ["four", "three", "two", "one"]);
    // Somebody has saved half of a change.
    world.configure("[rerank]\nprovider = \"ji");
    for _ in 0..2 {
        assert_eq!(order(), ["one", "two", "three", "four"]);
    }
    assert!(get(&server, "status").get("reranker").is_none());
    assert_eq!(reranker.asked().len(), 1);
    configure(&world, &reranker.url, "");
    assert_eq!(order(), ["four", "three", "two", "one"]);
}

// S-RERANK-1
#[test]
fn a_change_of_equal_length_counts_at_once() {
    let (world, reranker) = (taught(), StandInReranker::start(Deed::Scores(opposite)));
    let rest = format!("\nmodel = \"m\"\nurl = \"{}\"\n", reranker.url);
    let configure = |provider: &str| {
        world.configure(&format!("[rerank]\nprovider = {provider}{rest}"));
    };
    configure("\"jina\"");
    let server = serve(&world);
    let path = format!("search?query={}&repo=shop", QUERY.replace(' ', "%20"));
    for asked in 1..=10 {
        configure("\"jina\"");
        assert_eq!(first_words(&get(&server, &path)), ["four", "three", "two", "one"]);
        configure("\"off\" ");
        assert_eq!(first_words(&get(&server, &path)), ["one", "two", "three", "four"]);
        assert_eq!(reranker.asked().len(), asked);
    }
}

// S-RERANK-6
#[test]
fn who_gets_what_is_told() {
    let (world, reranker) = (taught(), StandInReranker::start(Deed::Scores(opposite)));
    let url = format!("{}/v1", reranker.url);
    let set = ["config", "set", "rerank.provider", "jina", "rerank.model", "m", "rerank.url", &url];
    world.agent_knowledge(&set).done();
    assert_eq!(first_words(&search(&world, &[])), ["four", "three", "two", "one"]);
    let line =
        format!("queries and the texts of likely hits are sent to m of {} (jina)", reranker.host);
    let status = world.agent_knowledge(&["status"]).done();
    assert!(status.contains(&format!("\nreranker  {line}")), "{status}");
    let told = &world.asked(&["status"])["reranker"];
    assert_eq!(told["name"], format!("m of {} (jina)", reranker.host));
    assert!(told["what_is_sent"].as_str().unwrap().starts_with(&line), "{told}");
    assert_eq!(told["rests"], false);
    let doctor = world.agent_knowledge(&["doctor"]).output;
    assert!(doctor.contains(&line), "{doctor}");
    let setup = world.agent_knowledge(&["setup", "--yes"]);
    assert!(setup.output.contains(&line), "{setup:?}");
    world.agent_knowledge(&["config", "set", "rerank.key_env", "NO_SUCH_KEY"]).done();
    let doctor = world.agent_knowledge(&["doctor"]).output;
    assert!(doctor.contains("warn  reranker       the variable NO_SUCH_KEY"), "{doctor}");
    for (key, wrong) in [
        ("rerank.timeout_ms", "10001"),
        ("rerank.url", "http://rerank.example.com"),
        ("rerank.provider", "nobody"),
    ] {
        let ran = world.agent_knowledge(&["config", "set", key, wrong]);
        assert_eq!(ran.exit, Some(65), "{ran:?}");
        let field = key.trim_start_matches("rerank.");
        assert!(ran.messages.contains(&format!("rerank: {field} must be")), "{ran:?}");
        assert!(ran.messages.contains("for example"), "{ran:?}");
    }
    world.agent_knowledge(&["config", "set", "rerank.provider", "off"]).done();
    assert_eq!(first_words(&search(&world, &[])), ["one", "two", "three", "four"]);
    assert!(!world.agent_knowledge(&["status"]).done().contains("reranker"));
    assert!(world.asked(&["status"]).get("reranker").is_none());
}
