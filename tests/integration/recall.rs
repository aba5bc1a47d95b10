//! What was acknowledged is found by the next question of any process, narrowed by what was asked
//! for, and cited by any short form of its id. Not here: how a reply looks (`reply`), a server that
//! runs while logs change (`freshness`), how well it ranks (`retrieval`).

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, Ran, World, run};

const NPM: &[&str] = &[
    "--repo",
    "github.com/acme/web",
    "--type",
    "error",
    "--context",
    "npm install failed with EACCES",
    "--command",
    "sudo chown -R $USER . && npm ci",
    "--lesson",
    "always verify ownership before npm operations",
    "--success-rate",
    "9/10",
    "--tags",
    "npm,permissions",
    "--file",
    "web/package.json",
    "--symptom",
    "EACCES: permission denied, mkdir node_modules",
    "--agent",
    "claude-code",
];

fn write(world: &World, args: &[&str]) -> String {
    world.log_memory(args).done().trim_end().to_owned()
}

fn write_lesson(world: &World, repo: &str, kind: &str, lesson: &str) -> String {
    write(world, &["--repo", repo, "--type", kind, "--lesson", lesson])
}

/// The lessons that a search finds, in order.
#[track_caller]
fn lessons(world: &World, args: &[&str]) -> Vec<String> {
    let answer = world.asked(&[&["search"], args].concat());
    let memories = answer["memories"].as_array().unwrap().iter();
    memories.map(|memory| memory["lesson"].as_str().unwrap().to_owned()).collect()
}

fn short(id: &str) -> &str {
    id.get(id.len() - 8..).unwrap()
}

// S-READ-1, S-REPLY-1
#[test]
fn a_lesson_is_found_by_the_very_next_command() {
    let world = World::new();
    let id = write(&world, NPM);
    let found = world.agent_knowledge(&["search", "npm", "install", "EACCES"]).done();
    assert!(found.starts_with("**Relevant Memories (1):**"), "{found}");
    let [line] = found.lines().filter(|line| line.starts_with("1. [")).collect::<Vec<_>>()[..]
    else {
        panic!("{found}")
    };
    let words =
        ["npm install failed with EACCES: always verify ownership", "(9/10 success)", "web"];
    for word in words.iter().chain(&["claude-code", "`sudo chown -R $USER . && npm ci`"]) {
        assert!(line.contains(word), "no {word:?} in {line}");
    }
    assert!(line.ends_with(short(&id)), "{line}");
    for asked in [
        &["context", "--repo", "web"][..],
        &["context", "--task", "npm install"],
        &["context", "--file", "web/package.json"],
        &["recent"],
        &["show", short(&id)],
    ] {
        let reply = world.agent_knowledge(asked).done();
        assert!(reply.contains("always verify ownership"), "{asked:?}: {reply}");
    }
    for words in ["verify", "chown", "EACCES: permission denied", "permissions", "package.json"] {
        assert_eq!(lessons(&world, &[words]).len(), 1, "{words}: every field is searched");
    }
}

// S-READ-1
#[test]
fn every_lesson_is_found_even_without_a_file_watcher() {
    let world = World::new();
    for (number, poll_only) in (0..8).zip([None, Some("1")].into_iter().cycle()) {
        let lesson = format!("unplug the quasar{number} first");
        write_lesson(&world, "api", "fact", &lesson);
        let mut command = world.command(AGENT_KNOWLEDGE);
        if let Some(value) = poll_only {
            command.env("AGENT_KNOWLEDGE_POLL_ONLY", value);
        }
        command.args(["search", &format!("quasar{number}")]);
        let found = run(&mut command, b"").done();
        assert!(found.contains(&lesson), "{found}");
    }
}

// S-LINE-4
#[test]
fn an_id_is_cited_by_any_beginning_or_end_that_means_one_memory() {
    let world = World::new();
    let id = write(&world, NPM);
    let other = write(&world, &[NPM, &["--id", "note-1"]].concat());
    assert_eq!(other, "note-1");
    let lower = short(&id).to_lowercase();
    for cited in [id.as_str(), short(&id), &lower, id.get(..20).unwrap()] {
        let shown = world.asked(&["show", cited]);
        assert_eq!(shown["memories"][0]["id"], id.as_str(), "{cited}");
    }
    let both = world.asked(&["show", &id, "note-1"]);
    assert_eq!(both["memories"].as_array().unwrap().len(), 2);
    write(&world, &[NPM, &["--id", "note-2"]].concat());
    let ran = world.agent_knowledge(&["show", "note-"]);
    assert_eq!((ran.exit, ran.output.as_str()), (Some(1), ""));
    assert!(ran.messages.contains("note-1") && ran.messages.contains("note-2"), "{}", ran.messages);
}

// S-LINE-9
#[test]
fn what_was_written_is_read_back_equal_and_stands_on_one_line() {
    let world = World::new();
    let lesson =
        "first \"quoted\" \\ line\n\tsecond line: naïve 日本語 🦀 {\"id\":\"x\"}\n\nfourth";
    let event = json!({"repo": "api", "event_type": "fact", "lesson": lesson,
        "command": "printf 'a\\nb'", "tags": ["ünïcode", "a b"], "symptoms": ["one\ntwo"]});
    world.log_memory_json(event.to_string(), &[]).done();
    assert_eq!(world.log_lines("api.jsonl").len(), 1);
    let shown = world.asked(&["recent"])["memories"][0].clone();
    for (field, value) in event.as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}");
    }
}

/// Four memories that share a word, and differ in everything one can ask for.
fn varied() -> World {
    let world = World::new();
    let common = |more: &[&str]| {
        write(&world, &[more, &["--context", "the zebra stopped"]].concat());
    };
    let web = ["--repo", "github.com/acme/web"];
    let api = ["--repo", "https://gitlab.com/acme/api.git"];
    common(&[&web[..], &["--type", "error", "--lesson", "one", "--tags", "ci,npm"]].concat());
    common(&[&web[..], &["--type", "pattern", "--lesson", "two", "--file", "src/db.rs"]].concat());
    common(&[&api[..], &["--type", "error", "--lesson", "three", "--tags", "ci"]].concat());
    common(
        &[&api[..], &["--type", "gotcha", "--lesson", "four", "--file", "app/main.py"]].concat(),
    );
    world
}

#[test]
fn filters_narrow_what_is_found() {
    let world = varied();
    let found = |filters: &[&str]| {
        let mut found = lessons(&world, &[&["zebra"], filters].concat());
        found.sort();
        found.join(" ")
    };
    assert_eq!(found(&[]), "four one three two");
    assert_eq!(found(&["--kind", "error"]), "one three");
    assert_eq!(found(&["--kind", "error", "--kind", "pattern"]), "one three two");
    assert_eq!(found(&["--tag", "ci"]), "one three");
    assert_eq!(found(&["--tag", "ci", "--tag", "npm"]), "one");
    assert_eq!(found(&["--file", "db.rs"]), "two");
    assert_eq!(found(&["--file", "db.rs", "--file", "app/main.py"]), "four two");
    assert_eq!(found(&["--repo", "github.com/acme/web", "--kind", "error"]), "one");
    assert_eq!(found(&["--limit", "2"]).split(' ').count(), 2);
    assert_eq!(found(&["--kind", "task"]), "");
    // S-LINE-5: a kind that nobody knows is kept, found, and shown as what it is.
    assert_eq!(found(&["--kind", "gotcha"]), "four");
    assert!(world.agent_knowledge(&["search", "zebra"]).done().contains("gotcha"));
}

// S-REPO-4
#[test]
fn a_repository_is_named_by_key_url_or_unique_short_name() {
    let world = varied();
    for named in ["github.com/acme/web", "git@github.com:Acme/Web.git", "web", "acme/web"] {
        let mut found = lessons(&world, &["zebra", "--repo", named]);
        found.sort();
        assert_eq!(found, ["one", "two"], "{named}");
    }
    let unknown = world.asked(&["search", "zebra", "--repo", "github.com/acme/nothing"]);
    assert_eq!(unknown["memories"], json!([]));
    let asked = ["search", "zebra", "--repo", "github.com/acme/nothing", "--mode", "lexical"];
    let told = world.agent_knowledge(&asked);
    assert_eq!(
        told.done().trim_end(),
        "No relevant memories.\nNote: there are no memories of github.com/acme/nothing. Search \
         without a repo to see other repositories."
    );
    write_lesson(&world, "github.com/other/web", "fact", "five");
    let ran = world.agent_knowledge(&["search", "zebra", "--repo", "web"]);
    assert_eq!((ran.exit, ran.output.as_str()), (Some(65), ""));
    let both = "--repo: could be github.com/acme/web or github.com/other/web";
    assert!(ran.messages.contains(both), "{}", ran.messages);
}

// S-REPO-4
#[test]
fn aliases_and_unique_short_names_mean_their_repository() {
    let world = World::new();
    let line = |repo: &str, lesson: &str| {
        format!("{}\n", json!({"repo": repo, "lesson": lesson, "context": "zebra"}))
    };
    world.hand_write("github.com+acme+old.jsonl", line("github.com/acme/old", "before the move"));
    world.hand_write("github.com+acme+api.jsonl", line("github.com/acme/api", "after the move"));
    world.hand_write("api.jsonl", "{\"lesson\":\"by hand\",\"context\":\"zebra\"}\n");
    let of_api = || {
        let mut found = lessons(&world, &["zebra", "--repo", "github.com/acme/api"]);
        found.sort();
        found
    };
    assert_eq!(of_api(), ["after the move", "by hand"]);
    world.configure("[aliases]\n\"github.com/acme/old\" = \"github.com/acme/api\"\n");
    assert_eq!(of_api(), ["after the move", "before the move", "by hand"]);
    assert_eq!(lessons(&world, &["zebra", "--repo", "github.com/acme/old"]).len(), 3);
    // Once the short name could mean another, it is only itself.
    world.hand_write("gitlab.com+x+api.jsonl", line("gitlab.com/x/api", "of another"));
    assert_eq!(of_api(), ["after the move", "before the move"]);
}

// S-RANK-4
#[test]
fn the_callers_repository_comes_first_and_others_follow() {
    let world = World::new();
    let here = world.path("here");
    world.git(&here, &["init", "--quiet"]);
    world.git(&here, &["remote", "add", "origin", "https://github.com/acme/here"]);
    write_lesson(&world, "github.com/acme/there", "fact", "the zebra needs water");
    write_lesson(&world, "github.com/acme/here", "fact", "the zebra needs grass");
    write_lesson(&world, "github.com/acme/there", "fact", "the zebra needs shade");
    let in_here = |more: &[&str]| -> Vec<String> {
        let args = [&["search", "zebra", "--json"], more].concat();
        let answer: Value =
            serde_json::from_str(&world.agent_knowledge_in(&here, &args).done()).unwrap();
        let memories = answer["memories"].as_array().unwrap().iter();
        memories.map(|memory| memory["repo"].as_str().unwrap().to_owned()).collect()
    };
    let (ours, theirs) = ("github.com/acme/here", "github.com/acme/there");
    assert_eq!(in_here(&[]), [ours, theirs, theirs]);
    assert_eq!(in_here(&["--this-repo"]), [ours]);
    let briefing = world.agent_knowledge_in(&here, &["context"]).done();
    assert!(briefing.contains("grass") && !briefing.contains("water"), "{briefing}");
}

// S-RANK-4
#[test]
fn much_good_evidence_beats_little_perfect_evidence() {
    let world = World::new();
    let line = |id: &str, day: &str, rate: &str| {
        json!({"id": id, "timestamp": format!("{day}T00:00:00Z"), "repo": format!("api{id}"),
            "lesson": format!("the zebra z{}{}", day.replace('-', ""), rate.replace('/', "")), "success_rate": rate})
    };
    // All so old that their age makes no difference, and asked for two years later, when their reports still count.
    let lines = [
        line("few", "2001-01-01", "5/5"),
        line("older", "2001-01-01", "3/4"),
        line("much", "2001-01-01", "90/100"),
        line("newer", "2001-01-02", "3/4"),
        line("bad", "2001-01-03", "1/9"),
    ];
    world.hand_write("api.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let found = world.asked(&["search", "zebra", "--explain", "--as-of", "2003-01-03"]);
    let found = found["memories"].as_array().unwrap();
    let ids: Vec<&str> = found.iter().map(|memory| memory["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["much", "few", "newer", "older", "bad"]);
    let part = |memory: &Value, name: &str| memory["score"][name].as_f64().unwrap();
    for memory in found {
        assert!((-0.125..=0.125).contains(&part(memory, "success")), "{memory}");
        assert!((-0.125..-0.03).contains(&part(memory, "recency")), "{memory}");
        assert!(part(memory, "repo").abs() < 1e-6, "{memory}");
    }
    world.log_memory(&["--type", "fact", "--lesson", "the zebra"]).done();
    let found = world.asked(&["search", "zebra", "--explain"]);
    let here = &found["memories"][0];
    assert!(part(here, "repo") > 0.08 && part(here, "recency") > 0.03, "{here}");
}

// S-LINE-6, S-READ-3
#[test]
fn the_order_of_reading_changes_no_memory() {
    let lines = [
        r#"{"id":"m1","repo":"a","lesson":"zebra one","timestamp":"2026-01-01T00:00:00Z"}"#,
        r#"{"id":"f1","repo":"a","event_type":"feedback","memory_id":"m1","outcome":"worked"}"#,
        r#"{"id":"f2","repo":"a","event_type":"never-heard-of","memory_id":"m1","lesson":"zebra two"}"#,
        r#"{"id":"m1","repo":"b","lesson":"zebra three","timestamp":"2026-01-02T00:00:00Z"}"#,
        r#"{"id":"m1","repo":"c","lesson":"zebra four","timestamp":"2026-01-03T00:00:00Z"}"#,
    ];
    let told = |order: &[usize]| {
        let world = World::new();
        for (place, line) in order.iter().enumerate() {
            // The logs are read in the order of their names; the last one holds everything again.
            world.hand_write(&format!("{place}.jsonl"), format!("{}\n", lines[*line]));
        }
        world.hand_write("z.jsonl", lines.map(|line| format!("{line}\n")).concat());
        let repos = world.asked(&["status"])["repos"].clone();
        let found = world.asked(&["search", "zebra"])["memories"].clone();
        (world.asked(&["show", "m1"]), found, repos)
    };
    let first = told(&[0, 1, 2, 3, 4]);
    let memory = &first.0["memories"][0];
    assert_eq!(memory["history"].as_array().unwrap().len(), 2, "{memory}");
    assert_eq!(memory["conflicts"].as_array().unwrap().len(), 2, "{memory}");
    assert_eq!(first.1.as_array().unwrap().len(), 1, "an event about one is none");
    assert_eq!(first.2.as_object().unwrap().values().collect::<Vec<_>>(), [1], "{}", first.2);
    for order in [[4, 3, 2, 1, 0], [1, 4, 0, 2, 3], [3, 0, 4, 1, 2]] {
        assert_eq!(told(&order), first, "{order:?}");
    }
}

// S-STORE-1
#[test]
fn every_log_in_the_store_counts_whoever_made_it() {
    let world = World::new();
    world.hand_write("anything at all.jsonl", "{\"lesson\":\"zebra of others\"}\n");
    world.hand_write(".hidden.jsonl", "{\"lesson\":\"zebra hidden\"}\n");
    world.hand_write("notes.json", "{\"lesson\":\"zebra elsewhere\"}\n");
    assert_eq!(lessons(&world, &["zebra"]), ["zebra of others"]);
    let other = world.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("a.jsonl"), "{\"lesson\":\"zebra of the flag\"}\n").unwrap();
    let by_flag = ["zebra", "--logs", other.to_str().unwrap()];
    assert_eq!(lessons(&world, &by_flag), ["zebra of the flag"]);
    world.configure(&format!("logs = {other:?}"));
    let configured = |ran: Ran| ran.done().contains("zebra of the flag");
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.env_remove("AGENT_KNOWLEDGE_LOGS").args(["search", "zebra"]);
    assert!(configured(run(&mut command, b"")));
}
