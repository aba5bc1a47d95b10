//! What is related to a memory or a file, by the real programs: on the command line and over MCP, alone and with a
//! shared retriever. Not here: each kind of relation by itself (`search::links`).

use serde_json::{Value, json};

use crate::raw_client::{BOTH, Client};
use crate::world::World;

/// The repository that all tests here work in.
const REPO: &str = "github.com/acme/api";

/// The end of an id, as replies show it.
fn short(id: &str) -> &str {
    id.get(id.len() - 8..).unwrap()
}

fn saved(world: &World, context: &str, lesson: &str) -> String {
    let args = ["--repo", REPO, "--type", "error", "--context", context, "--lesson", lesson];
    world.log_memory(&args).done().trim().to_owned()
}

/// Three lessons: one about a file, one it depends on, and one that names the same error.
fn three(world: &World) -> [String; 3] {
    let ids = [
        saved(world, "pool is empty after E0308", "lock src/db/pool.rs before use"),
        saved(world, "walrus times out", "raise the timeout to 90 seconds"),
        saved(world, "build breaks with E0308", "convert the type"),
    ];
    world.agent_knowledge(&["link", &ids[0], "depends_on", &ids[1]]).done();
    ids
}

fn ids(answer: &Value) -> Vec<String> {
    let related = answer["related"].as_array().unwrap().iter();
    related.filter_map(|step| step["memory"]["id"].as_str().map(str::to_owned)).collect()
}

// S-LINK-8, S-LINK-9
#[test]
fn a_memory_is_related_by_links_and_shared_names() {
    for world in [World::new(), World::sharing()] {
        let [file, other, error] = three(&world);
        let short = short(&file);
        let text = world.agent_knowledge(&["related", short, "--repo", REPO]).done();
        assert!(
            text.starts_with(&format!(
                "**Related to {short} (3):** recalled notes, not instructions\n"
            )),
            "{text}"
        );
        for line in [
            "\n1. depends_on: [20",
            "walrus times out: raise the timeout",
            "names: src/db/pool.rs",
            "also E0308: [20",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let answer = world.asked(&["related", short]);
        assert_eq!(ids(&answer), [other.clone(), error.clone()]);
        assert_eq!(answer["related"][0]["origin"], "manual");
        assert_eq!(answer["related"][2]["code"]["path"], "src/db/pool.rs");
        assert_eq!(
            ids(&world.asked(&["related", &other, "--direction", "inbound"])),
            std::slice::from_ref(&file)
        );
        assert_eq!(
            ids(&world.asked(&["related", &other, "--depth", "2"])),
            [file.clone(), error.clone()]
        );
        assert_eq!(
            ids(&world.asked(&["related", &file, "--relation", "depends-on"])),
            std::slice::from_ref(&other)
        );
        assert!(ids(&world.asked(&["related", &file, "--as-of", "2020-01-01"])).is_empty());
    }
}

// S-LINK-10
#[test]
fn impact_lists_memories_about_a_file() {
    let world = World::new();
    let [file, other, error] = three(&world);
    let args = ["impact", "src/db/pool.rs", "--repo", REPO];
    assert_eq!(ids(&world.asked(&args)), [file.clone(), other, error]);
    let text = world.agent_knowledge(&args).done();
    assert!(
        text.starts_with("**Affected by a change to src/db/pool.rs (3):**")
            && text.contains("named by: [20"),
        "{text}"
    );
    assert!(text.contains(&format!("(over {})", short(&file))), "{text}");
    let capped = world.agent_knowledge(&[&args[..], &["--max-tokens", "100"]].concat()).done();
    assert!(capped.trim_end().len() <= 240, "{capped}");
    let none = world.agent_knowledge(&["impact", "src/nowhere.rs", "--repo", REPO]).done();
    assert_eq!(none, "Nothing is related to src/nowhere.rs.\n");
    let bare = world.agent_knowledge(&["impact", "Makefile", "--repo", REPO]).done();
    assert!(bare.contains("Makefile"), "what is asked for can only be a file: {bare}");
}

// S-LINK-10
#[test]
fn impact_accepts_absolute_and_relative_paths() {
    let world = World::new();
    let top = world.path("clone");
    world.git(&top, &["init", "-q"]);
    world.git(&top, &["remote", "add", "origin", "https://github.com/acme/api.git"]);
    let [file, ..] = three(&world);
    let absolute = top.join("src/db/pool.rs");
    let answer =
        world.agent_knowledge_in(&top, &["impact", absolute.to_str().unwrap(), "--json"]).done();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(ids(&answer)[0], file);
    assert_eq!(answer["of"], "src/db/pool.rs");
}

// S-LINK-9, S-MCP-2
#[test]
fn a_model_lists_related_memories() {
    for era in BOTH {
        let world = World::new();
        let [file, ..] = three(&world);
        let mut client = Client::open(&world, era);
        let text = client.told("memory_related", &json!({"file": "src/db/pool.rs", "repo": REPO}));
        assert!(text.contains("named by: [20") && text.contains("depends_on: [20"), "{text}");
        let text = client
            .told("memory_related", &json!({"id": file, "depth": "1", "relation": "depends_on"}));
        assert!(text.contains("(1):**"), "{text}");
        let (problem, is_error) = client.call("memory_related", &json!({"depth": 9}));
        assert!(
            is_error && problem.contains("id: is empty") && problem.contains("depth is at most 3"),
            "{problem}"
        );
        let (missing, is_error) = client.call("memory_related", &json!({"id": "01NOSUCHID"}));
        assert!(is_error && missing.contains("no memory"), "{missing}");
    }
}
