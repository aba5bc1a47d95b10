//! Words of a paste are words: what looks like a filter and names nothing that there is finds the lesson about it, by
//! every way to ask. Not here: filters that count (`filters`).

use serde_json::{Value, json};

use crate::http::client::{Server, request};
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Errors with words in the form of a filter; each is what a lesson of its own looks like.
const PASTES: [&str; 9] = [
    "unable to build kubernetes objects: kind:Deployment name:web not found",
    "manifest for acme/api tag:v1.2.3 not found in registry",
    "npm error Could not read package.json of file:../ui-kit",
    "pull access denied for repo:team/app by the daemon",
    "buildkite cannot dispatch agent:latest queue is paused",
    "argocd cannot resolve branch:release/9 of the chart",
    "helm refuses kind:StatefulSet tag:stable repo:charts/redis agent:tiller",
    "certificate is valid until: forever and trusted since: never",
    "branch: the merge train stopped, kind: Job",
];

fn world() -> World {
    let world = World::sharing();
    for (number, paste) in PASTES.iter().enumerate() {
        let lesson = format!("walrus lesson {number}");
        let args = ["--repo", "acme/api", "--type", "error", "--lesson", &lesson];
        world.log_memory(&[&args[..], &["--symptom", paste]].concat()).done();
    }
    world
}

fn piped(world: &World, text: &str) -> String {
    let mut command = world.command(AGENT_KNOWLEDGE);
    run(command.args(["search", "-"]), text.as_bytes()).done()
}

#[track_caller]
fn finds(reply: &str, number: usize) {
    assert!(reply.contains(&format!("walrus lesson {number}")), "{}: {reply}", PASTES[number]);
    assert!(!reply.contains("filter"), "{reply}");
}

// S-FIND-2
#[test]
fn a_pasted_error_finds_its_lesson_by_every_way() {
    let world = world();
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let mut client = Client::open(&world, Era::Modern);
    for (number, paste) in PASTES.into_iter().enumerate() {
        finds(&world.agent_knowledge(&["search", paste]).done(), number);
        finds(&piped(&world, paste), number);
        finds(&piped(&world, &format!("step 7 of 9\n{paste}\nexit status 1\n")), number);
        finds(&client.told("memory_search", &json!({ "query": paste })), number);
        let found = world.asked(&["search", paste]);
        assert!(found.get("filters").is_none(), "{found}");
        let sent: String = url_encoded(paste);
        let path = format!("/api/v1/search?query={sent}");
        let answer = server.send(&request("GET", &path, &[("Host", "localhost")], ""));
        finds(&answer.body, number);
    }
    world.agent_knowledge(&["serve", "--stop"]).done();
}

fn url_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

// S-FIND-2
#[test]
fn a_filter_by_something_known_stays_one() {
    let world = world();
    let line = json!({ "id": "known1", "repo": "github.com/acme/web", "agent_id": "latest", "event_type": "Deployment",
        "branch": "release/9", "lesson": "otter note", "tags": ["v1.2.3"], "files": ["../ui-kit"] });
    world.hand_write("web.jsonl", format!("{line}\n"));
    for word in [
        "kind:Deployment",
        "tag:v1.2.3",
        "tag:#V1.2.3",
        "agent:latest",
        "branch:release/9",
        "repo:acme/web",
        "repo:web",
        "file:../ui-kit",
    ] {
        let found = world.asked(&["search", word, "otter"]);
        assert_eq!(found["memories"][0]["id"], "known1", "{word}: {found}");
        assert_eq!(found["filters"], json!([word]), "{found}");
        let none = world.asked(&["search", "walrus lesson", word]);
        if word.starts_with("file:") {
            // The lesson whose symptom names the file is about it.
            assert_eq!(none["memories"].as_array().unwrap().len(), 1, "{none}");
            continue;
        }
        assert_eq!(none["memories"], json!([]), "{word}: {none}");
        let note = format!(
            "Note: {word} was read as a filter; \"{word}\", in quotes, searches for it as text."
        );
        assert!(none["notices"].as_array().unwrap().contains(&json!(note)), "{none}");
        let quoted = world.asked(&["search", "walrus lesson", &format!("\"{word}\"")]);
        assert_ne!(quoted["memories"], json!([]), "{word}: {quoted}");
        // A program that pipes cannot quote.
        assert!(
            piped(&world, &format!("walrus lesson {word}")).contains("walrus lesson"),
            "{word}"
        );
    }
    // Options are strict, whatever there is.
    for option in [["--kind", "Ingress"], ["--tag", "v9"], ["--agent", "nobody"]] {
        let none: Value = world.asked(&[&["search", "walrus"], &option[..]].concat());
        assert_eq!(none["memories"], json!([]), "{option:?}");
    }
    world.agent_knowledge(&["serve", "--stop"]).done();
}

// S-FIND-2
#[test]
fn a_filter_by_nothing_known_is_told_if_nothing_is_found() {
    let world = World::new();
    let saved = ["--repo", "acme/api", "--type", "error", "--lesson", "walrus"];
    world.log_memory(&saved).done();
    for (query, told) in [
        (
            "zyzzyva kind:Ingress",
            "Note: no memory has the kind ingress, so kind:Ingress was searched as text.",
        ),
        ("zyzzyva tag:v9", "Note: no memory has the tag v9, so tag:v9 was searched as text."),
    ] {
        let nothing = world.agent_knowledge(&["search", query]).done();
        assert!(nothing.contains(told), "{nothing}");
    }
    let nothing = piped(&world, "zyzzyva kind:Ingress");
    assert!(!nothing.contains("kind:"), "{nothing}");
}

// S-FIND-2
#[test]
fn a_path_of_the_directory_is_a_filter() {
    let world = world();
    std::fs::write(world.work().join("Cargo.toml"), "").unwrap();
    let none = world.asked(&["search", "walrus lesson", "file:Cargo.toml"]);
    assert_eq!(none["memories"], json!([]), "{none}");
    assert_ne!(world.asked(&["search", "walrus lesson", "file:other.toml"])["memories"], json!([]));
    world.agent_knowledge(&["serve", "--stop"]).done();
}
