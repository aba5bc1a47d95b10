//! What somebody may write in the place of a repository's name, over every command that takes one: the commands are listed from the
//! manual pages, so that a new one fails here. Not here: the tools of MCP (`session_place`).

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::world::{World, run};

const MONO: &str = "codeberg.org/nordlys/mono";
const HELD: &str = "the lamp of the harbour is green";

/// A command of each page of the manual that names a repository: how it is called, with `REPO` in its place.
const CALLS: [(&str, &[&str]); 21] = [
    ("add", &["add", "--repo", "REPO", "--type", "fact", "--lesson", "ropes are tarred in May"]),
    ("analyze", &["analyze", "hubs", "--repo", "REPO"]),
    ("archive", &["archive", "REPO", "--dry-run"]),
    ("context", &["context", "--repo", "REPO"]),
    ("export", &["export", "--format", "jsonl", "--repo", "REPO"]),
    ("fade", &["fade", "--repo", "REPO"]),
    ("impact", &["impact", "src/lamp.rs", "--repo", "REPO"]),
    ("import", &["import", "NOTES", "--repo", "REPO", "--dry-run"]),
    ("link", &["link", "ID", "touches", "src/lamp.rs", "--repo", "REPO"]),
    ("list", &["list", "--repo", "REPO"]),
    ("related", &["related", "src/lamp.rs", "--repo", "REPO"]),
    ("review", &["review", "--repo", "REPO"]),
    ("scrub", &["scrub", "--dry-run", "--repo", "REPO"]),
    ("search", &["search", "lamp", "--repo", "REPO"]),
    ("sessions-list", &["sessions", "list", "--repo", "REPO"]),
    ("sessions-review", &["sessions", "review", "--repo", "REPO"]),
    ("sessions-search", &["sessions", "search", "lamp", "--repo", "REPO"]),
    ("stale", &["stale", "--repo", "REPO"]),
    ("unlink", &["unlink", "ID", "touches", "src/keel.rs", "--repo", "REPO"]),
    ("verify", &["verify", "--dry-run", "--repo", "REPO"]),
    // Needs a terminal, and asks the same question as `list`.
    ("pick", &[]),
];

/// Pages on which `REPO` is no name of a repository: a pattern of the settings.
const PATTERNS: [&str; 1] = ["model-use"];

fn repository(world: &World, name: &str, url: &str) -> PathBuf {
    let top = world.path(name);
    world.git(&top, &["init", "--quiet"]);
    world.git(&top, &["commit", "--quiet", "--allow-empty", "--message", "one"]);
    world.git(&top, &["remote", "add", "origin", url]);
    top
}

/// The commands whose page of the manual names a repository.
fn listed_commands(world: &World) -> Vec<String> {
    let pages = world.path("man");
    world.agent_knowledge(&["man-pages", pages.to_str().unwrap()]).done();
    let mut found = Vec::new();
    for page in std::fs::read_dir(&pages).unwrap() {
        let path = page.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let Some(name) = stem.strip_prefix("agent-knowledge-") else { continue };
        let text = std::fs::read_to_string(&path).unwrap();
        let is_taken = text.lines().any(|line| {
            let is_option = line.starts_with("\\fB") || line.starts_with("[\\fI");
            is_option && (line.contains("REPO\\fR") || line.contains("<REPO>"))
        });
        if is_taken && !PATTERNS.contains(&name) {
            found.push(name.to_owned());
        }
    }
    found.sort();
    found
}

/// A world with two repositories of one name, a monorepo with a package, and a session in it.
fn harbour() -> (World, PathBuf, String) {
    let world = World::new();
    let top = repository(&world, "mono", "git@codeberg.org:nordlys/mono.git");
    let web = top.join("packages/web");
    std::fs::create_dir_all(&web).unwrap();
    std::fs::write(web.join("package.json"), "{}\n").unwrap();
    let id =
        world.log_memory_in(&top, &["--type", "fact", "--lesson", HELD, "--file", "src/lamp.rs"]);
    let id = id.done().trim().to_owned();
    for owner in ["ann", "ben"] {
        let repo = format!("codeberg.org/{owner}/kiosk");
        let lesson = format!("the lamp of {owner} is red");
        world.log_memory(&["--repo", &repo, "--type", "fact", "--lesson", &lesson]).done();
    }
    let session = world.home().join(".claude/projects/-mono/s1.jsonl");
    std::fs::create_dir_all(session.parent().unwrap()).unwrap();
    let line = |number: usize, kind: &str, text: &str| {
        let at = format!("2026-10-01T09:0{number}:00.000Z");
        json!({ "type": kind, "uuid": format!("u{number}"), "parentUuid": null, "isSidechain": false, "cwd": top, "gitBranch": "main",
            "sessionId": "s1", "version": "2.1.270", "timestamp": at, "message": { "role": kind, "id": format!("m{number}"),
            "content": [{ "type": "text", "text": text }] } })
    };
    let asked = line(0, "user", "why is the lamp of the harbour green");
    let told = line(1, "assistant", "Because ships come home to starboard, as the chart says.");
    std::fs::write(&session, format!("{asked}\n{told}\n")).unwrap();
    world.agent_knowledge_in(&top, &["sessions", "import", "--yes"]).done();
    let notes = world.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("buoys.md"), "Buoys are painted each spring.\n").unwrap();
    (world, top, id)
}

/// How a command ends, and what it says.
type Answered = (Option<i32>, String);

/// What a command answers, without what differs from one call to the next.
fn answer(world: &World, top: &Path, words: &[String]) -> Answered {
    let args: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut ran = world.agent_knowledge_in(top, &args);
    if words[0] == "add" && ran.exit == Some(0) {
        // Its answer is an id. That it went where it should is seen by the logs.
        (ran.output, ran.messages) = (world.log_names().join(" "), String::new());
    }
    (ran.exit, ran.output + &ran.messages)
}

// S-REPO-8
#[test]
fn each_command_with_a_repository_has_a_row_here() {
    let mut rows: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    rows.sort_unstable();
    assert_eq!(listed_commands(&World::new()), rows);
}

// S-REPO-4, S-REPO-8
#[test]
fn every_command_knows_the_repository_at_hand() {
    let (world, top, id) = harbour();
    let (top_text, web) = (top.display().to_string(), top.join("packages/web"));
    let web_text = web.display().to_string();
    let notes = world.path("notes").display().to_string();
    let call = |words: &[&str], repo: Option<&str>| -> Vec<String> {
        let mut called = Vec::new();
        for word in words {
            match (*word, repo) {
                ("REPO", None) => drop(called.pop_if(|last: &mut String| last == "--repo")),
                ("REPO", Some(repo)) => called.push(repo.to_owned()),
                ("ID", _) => called.push(id.clone()),
                ("NOTES", _) => called.push(notes.clone()),
                (word, _) => called.push(word.to_owned()),
            }
        }
        called
    };
    let mut wrong = Vec::new();
    let mut differs = |name: &str, text: &str, told: Answered, expected: &Answered| {
        if told != *expected {
            wrong.push(format!("{name} with {text:?}: {told:?}, not {expected:?}"));
        }
    };
    for (name, words) in CALLS.iter().filter(|(_, words)| !words.is_empty()) {
        let asked = |repo: Option<&str>| answer(&world, &top, &call(words, repo));
        // The first call may change something, so that the others find it done.
        asked(Some(MONO));
        let (named, unnamed) = (asked(Some(MONO)), asked(None));
        assert_ne!(named.0, Some(70), "{name}: {named:?}");
        let own = [".", "./", "current", "this repo", "mono", "MONO", "nordlys/mono"];
        let paths = [&*top_text, &*web_text, "./packages/web", "packages/web"];
        for text in own.into_iter().chain(paths).chain(["https://codeberg.org/nordlys/mono.git"]) {
            differs(name, text, asked(Some(text)), &named);
        }
        for text in ["undefined", "null", "None", "", "${workspaceFolder}"] {
            differs(name, text, asked(Some(text)), &unnamed);
        }
        if !name.starts_with("sessions") {
            let (exit, told) = asked(Some("kiosk"));
            let both = ["ann", "ben"].map(|owner| format!("codeberg.org/{owner}/kiosk"));
            let names_both = both.iter().all(|key| told.contains(key));
            let expected = if names_both { told.clone() } else { both.join(" or ") };
            differs(name, "kiosk", (exit, told), &(Some(65), expected));
        }
        for text in ["/no/such/folder", "../..", "./packages/none"] {
            let (exit, told) = asked(Some(text));
            differs(name, text, (exit, told.clone()), &(Some(65), told));
        }
        if *name != "add" && *name != "import" {
            let (_, told) = asked(Some("nonesuch"));
            let is_silent = if told.contains(HELD) { None } else { Some(65) };
            differs(name, "nonesuch", (is_silent, told.clone()), &(Some(65), told));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // `add` may make a log for a new name, and no word or path does.
    let made: Vec<String> =
        world.log_names().into_iter().filter(|log| !log.contains("kiosk")).collect();
    assert_eq!(made, ["codeberg.org+nordlys+mono.jsonl"]);
    // A name that a known repository has is that, whatever folder is there.
    std::fs::create_dir_all(top.join("ann/kiosk")).unwrap();
    let told = world.agent_knowledge_in(&top, &["list", "--repo", "ann/kiosk"]).done();
    assert!(told.contains("the lamp of ann is red"), "{told}");
}

// S-REPO-8
#[test]
fn a_save_knows_the_folder_of_a_package() {
    let (world, top, _) = harbour();
    for repo in ["packages/web", "./packages/web", "undefined", "current"] {
        let args = ["--repo", repo, "--type", "fact", "--lesson", &format!("saved by {repo}")];
        world.log_memory_in(&top, &args).done();
    }
    assert_eq!(world.events("codeberg.org+nordlys+mono.jsonl").len(), 5);
    let mut unknown = world.command(crate::world::LOG_MEMORY);
    unknown.current_dir(&top).args(["--repo", "acme/new", "--type", "fact", "--lesson", "x"]);
    run(&mut unknown, b"").done();
    assert!(world.log_names().contains(&"acme+new.jsonl".to_owned()));
}
