//! Filters by repository, kind, tag, file, time and agent, as options and in the query; corrections of typos, and
//! phrases in quotes. Not here: ranking (`retrieval`), wrong options (`asking`).

use serde_json::{Value, json};

use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Memories that differ in everything that a filter sees.
fn world() -> World {
    let world = World::new();
    let line = |id: &str, time: Option<&str>, agent: &str, kind: &str, more: Value| {
        let mut line = json!({"id": id, "repo": "api", "agent_id": agent, "event_type": kind,
            "lesson": format!("walrus lesson {id}")});
        let fields = line.as_object_mut().unwrap();
        time.into_iter().for_each(|time| drop(fields.insert("timestamp".into(), time.into())));
        fields.extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let lines = [
        line("oldest", Some("2020-01-01T00:00:00Z"), "Codex", "error", json!({"tags": ["npm"]})),
        line(
            "middle",
            Some("2022-03-01T23:30:00Z"),
            "claude",
            "fact",
            json!({"files": ["src/a.rs"], "branch": "fix/a-1"}),
        ),
        line(
            "newest",
            Some("2023-01-01T00:00:00Z"),
            "codex",
            "error",
            json!({"tags": ["npm", "ci"]}),
        ),
        line("timeless", None, "cursor", "error", json!({"repo": "web"})),
    ];
    world.hand_write("all.jsonl", lines.concat());
    world
}

#[track_caller]
fn found(world: &World, args: &[&str]) -> Vec<String> {
    let answer =
        world.asked(&[&["search", "--max-tokens", "4000", "--limit", "20"], args].concat());
    let hits = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}"));
    hits.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

// S-FIND-10
#[test]
fn records_of_sessions_are_found_where_somebody_asks_for_them() {
    let world = World::new();
    let line = |id: &str, kind: &str| {
        json!({"id": id, "repo": "api", "event_type": kind, "timestamp": "2026-01-01T00:00:00Z",
            "lesson": format!("the walrus gateway, {id}")})
    };
    let lines =
        ["session", "fact"].map(|kind| format!("{}\n", line(&format!("{kind}-note"), kind)));
    world.hand_write("all.jsonl", lines.concat());
    assert_eq!(found(&world, &["walrus gateway"]), ["fact-note"]);
    let newest = world.asked(&["recent"]);
    assert!(newest.to_string().contains("fact-note"), "{newest}");
    assert!(!newest.to_string().contains("session-note"), "{newest}");
    assert_eq!(found(&world, &["walrus gateway kind:session"]), ["session-note"]);
    assert_eq!(found(&world, &["walrus gateway", "--kind", "session"]), ["session-note"]);
    assert!(world.asked(&["list"]).to_string().contains("session-note"));
}

// S-FIND-1, S-FIND-2
#[test]
fn filters_work_the_same_as_options_and_in_the_query() {
    let world = world();
    for (option, word, expected) in [
        (["--kind", "error"], "kind:error", &["newest", "oldest", "timeless"][..]),
        (["--branch", "fix/a-1"], "branch:fix/a-1", &["middle"]),
        (["--type", "fact"], "kind:fact", &["middle"]),
        (["--tags", "ci"], "tag:ci", &["newest"]),
        (["--tag", "npm"], "tag:npm", &["newest", "oldest"]),
        (["--file", "src/a.rs"], "file:src/a.rs", &["middle"]),
        (["--repo", "web"], "repo:web", &["timeless"]),
        (["--agent", "CODEX"], "agent:CODEX", &["newest", "oldest"]),
        (["--since", "2022-03-01"], "since:2022-03-01", &["middle", "newest"]),
        (["--until", "2022-03-01"], "until:2022-03-01", &["middle", "oldest"]),
        (["--until", "2022-03-01T23:30:00Z"], "until:2022-03-01T23:30:00Z", &["middle", "oldest"]),
        (["--until", "1d"], "until:1d", &["middle", "newest", "oldest"]),
        (["--since", "2w"], "since:2w", &[]),
    ] {
        assert_eq!(
            sorted(found(&world, &[&["walrus"], &option[..]].concat())),
            expected,
            "{option:?}"
        );
        assert_eq!(sorted(found(&world, &["walrus", word])), expected, "{word}");
    }
}

// S-FIND-1
#[test]
fn a_tag_is_one_however_it_is_written() {
    let world = World::new();
    for (id, tag) in [("m1", "CI"), ("m2", "Ci"), ("m3", "#ci"), ("m4", "tests")] {
        let line = json!({ "id": id, "repo": "api", "event_type": "fact", "lesson": format!("walrus {id}"), "tags": [tag] });
        world.hand_write(&format!("{id}.jsonl"), format!("{line}\n"));
    }
    for tag in ["ci", "CI", "#CI"] {
        assert_eq!(sorted(found(&world, &["walrus", "--tag", tag])), ["m1", "m2", "m3"], "{tag}");
        assert_eq!(
            sorted(found(&world, &[&format!("walrus tag:{tag}")])),
            ["m1", "m2", "m3"],
            "{tag}"
        );
    }
}

// S-FIND-2
#[test]
fn options_and_query_filters_must_all_match() {
    let world = world();
    assert_eq!(found(&world, &["walrus agent:codex", "--tag", "ci"]), ["newest"]);
    assert!(found(&world, &["walrus kind:fact", "--kind", "error"]).is_empty());
    assert_eq!(found(&world, &["tag:npm", "until:2021-01-01", "walrus"]), ["oldest"]);
}

// S-FIND-2
#[test]
fn filters_without_a_query_list_the_newest_first() {
    let world = world();
    assert_eq!(found(&world, &["kind:error"]), ["newest", "oldest", "timeless"]);
    assert_eq!(found(&world, &["kind:error", "--agent", "codex"]), ["newest", "oldest"]);
    let nothing = world.agent_knowledge(&["search", "kind:nonsense"]).done();
    assert!(nothing.contains("no memory has the kind nonsense"), "{nothing}");
}

// S-FIND-2
#[test]
fn a_filter_with_a_wrong_value_is_told() {
    let world = world();
    for (query, told) in [
        ("zyzzyva since:gestern", "\"since:gestern\" was read as text; since: takes a time"),
        (
            "zyzzyva kind:",
            "\"kind:\" was read as text; kind: takes one word, for example kind:error.",
        ),
    ] {
        let nothing = world.agent_knowledge(&["search", query]).done();
        assert!(nothing.contains(told), "{nothing}");
    }
    for option in ["--kind", "--tag", "--since"] {
        let ran = world.agent_knowledge(&["search", "walrus", option, ""]);
        let told = format!("{option}: is empty; give it a value, or leave it out");
        assert!(ran.exit == Some(65) && ran.messages.contains(&told), "{ran:?}");
    }
}

// S-FIND-2
#[test]
fn pasted_text_is_not_read_as_filters() {
    let world = world();
    for query in
        ["error: walrus", "kind: walrus", "std::walrus", "https://walrus", "since:ever walrus"]
    {
        assert_eq!(found(&world, &[query, "--min-relevance", "0"]).len(), 4, "{query}");
    }
    assert_eq!(found(&world, &["\"kind:error walrus\" walrus", "--min-relevance", "0"]).len(), 4);
}

// S-FIND-1
#[test]
fn days_are_those_of_the_user() {
    let world = World::new();
    // The morning of the 28th in Auckland.
    let line = json!({ "id": "m1", "repo": "api", "event_type": "fact", "timestamp": "2026-11-27T20:00:00Z", "lesson": "walrus" });
    world.hand_write("api.jsonl", format!("{line}\n"));
    let found = |zone: &str, args: &[&str]| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.env("TZ", zone).args(["search", "walrus", "--json"]).args(args);
        run(&mut command, b"").json()["memories"][0]["id"] == "m1"
    };
    for (zone, is_on_28th) in [("<+13>-13", true), ("UTC", false), ("<-05>5", false)] {
        assert_eq!(found(zone, &["--since", "2026-11-28"]), is_on_28th, "{zone}");
        assert_eq!(found(zone, &["since:2026-11-28"]), is_on_28th, "{zone}");
        assert_eq!(found(zone, &["--until", "2026-11-27"]), !is_on_28th, "{zone}");
    }
    let saved = ["--repo", "web", "--type", "fact", "--lesson", "walrus today"];
    world.log_memory(&saved).done();
    for since in ["today", "yesterday", "1y"] {
        let found = world.asked(&["search", "walrus", "--since", since, "--repo", "web"]);
        assert_eq!(found["memories"].as_array().unwrap().len(), 1, "{since}: {found}");
    }
    let tomorrow = world.asked(&["search", "walrus", "--since", "tomorrow"]);
    assert_eq!(tomorrow["memories"], json!([]), "{tomorrow}");
}

// S-FIND-1
#[test]
fn a_wrong_time_ends_with_65_and_an_example() {
    for option in ["--since", "--until"] {
        let ran = world().agent_knowledge(&["search", "x", option, "gestern"]);
        assert_eq!((ran.exit, ran.output.as_str()), (Some(65), ""), "{}", ran.messages);
        let told = format!("{option}: must be a time, a day or an age, for example");
        assert!(ran.messages.contains(&told) && ran.messages.contains("30d"), "{}", ran.messages);
    }
}

// S-FIND-1, S-FIND-2
#[test]
fn models_use_the_same_filters() {
    let world = world();
    let mut client = Client::open(&world, Era::Modern);
    let mut told = |arguments: Value| client.told("memory_search", &arguments);
    let by_field = told(json!({"query": "walrus", "agents": ["codex"], "until": "2021-01-01"}));
    let by_word = told(json!({"query": "walrus agent:codex until:2021-01-01"}));
    for reply in [by_field, by_word] {
        assert!(reply.contains("lesson oldest") && !reply.contains("lesson newest"), "{reply}");
    }
    let (refusal, is_error) = client.call("memory_search", &json!({"query": "x", "since": "soon"}));
    assert!(is_error && refusal.contains("since: must be a time"), "{refusal}");
}

// S-FIND-3, S-FIND-4
#[test]
fn quoted_phrases_match_exactly_and_typos_are_corrected() {
    let world = World::new();
    for lesson in [
        "the pipe is broken: pipe, broken, pipe",
        "it ended with a broken pipe in a very long build of everything on a cold day",
        "kubernetes evicts the pod",
    ] {
        world.log_memory(&["--repo", "api", "--type", "error", "--lesson", lesson]).done();
    }
    let first = |query: &str| world.agent_knowledge(&["search", query]).done();
    let phrase = first("\"Broken Pipe\"");
    assert!(phrase.contains("ended with") && !phrase.contains("pipe, broken"), "{phrase}");
    assert!(first("\"broken pipes everywhere\"").contains("pipe, broken"));
    assert!(first("kuberntes").contains("kubernetes evicts"));
}

// S-FIND-1
#[test]
fn a_list_without_memories_says_why() {
    let world = world();
    let listed = |args: &[&str]| world.agent_knowledge(&[&["list"], args].concat()).done();
    assert!(listed(&["--branch", "fix/a-1"]).contains("walrus lesson middle"));
    assert_eq!(listed(&["--repo", "webb"]), "There are no memories of webb. Did you mean web?\n");
    assert!(listed(&["--tag", "none"]).starts_with("No memory fits."));
    let empty = World::new().agent_knowledge(&["list"]).done();
    assert_eq!(empty, "No memories yet. agent-knowledge add saves the first one.\n");
}
