//! What the work tree speaks against, by the real programs and the real git: the list, attached and alone, and the
//! marks in other replies. Not here: what a look comes to (unit tests of `search::staleness`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, Ran, World, run};

/// The log of the repository that all tests here work in.
const LOG: &str = "github.com+acme+api.jsonl";

/// A repository with one commit, in which a lesson was learned about a file.
fn learned(world: &World) -> PathBuf {
    let here = world.path("api");
    world.git(&here, &["init", "--quiet"]);
    world.git(&here, &["remote", "add", "origin", "https://github.com/acme/api.git"]);
    std::fs::create_dir(here.join("src")).unwrap();
    std::fs::write(here.join("src/walrus.rs"), "fn open_walrus() {}\n").unwrap();
    commit(world, &here);
    let args = ["--type", "error", "--context", "the walrus build hangs", "--lesson"];
    let lesson = "call `open_walrus` before `feed_walrus`, see src/walrus.rs";
    world.log_memory_in(&here, &[&args[..], &[lesson]].concat()).done();
    here
}

fn commit(world: &World, here: &Path) {
    world.git(here, &["add", "--all"]);
    world.git(here, &["commit", "--quiet", "--message", "x"]);
}

fn change(world: &World, here: &Path) {
    std::fs::write(here.join("src/walrus.rs"), "fn open_walrus(at: u8) {}\n").unwrap();
    commit(world, here);
}

fn stale(world: &World, here: &Path) -> Value {
    let text = world.agent_knowledge_in(here, &["stale", "--json"]).done();
    serde_json::from_str(&text).unwrap()
}

fn with_path(world: &World, here: &Path, path: &Path, args: &[&str]) -> Ran {
    run(world.command(AGENT_KNOWLEDGE).current_dir(here).env("PATH", path).args(args), b"")
}

// S-STALE-1, S-STALE-3, S-STALE-4
#[test]
fn a_lesson_about_a_changed_file_is_listed_as_stale() {
    for world in [World::new(), World::sharing()] {
        let here = learned(&world);
        let nothing = world.agent_knowledge_in(&here, &["stale"]).done();
        assert_eq!(nothing, "Nothing seems stale: 1 memory checked in github.com/acme/api.\n");
        change(&world, &here);
        let told = world.agent_knowledge_in(&here.join("src"), &["stale"]).done();
        let why = "(changed: src/walrus.rs; no longer there: `feed_walrus`)";
        assert!(
            told.starts_with("**Perhaps stale (1 of 1 memory) in github.com/acme/api:**"),
            "{told}"
        );
        assert!(told.contains("\n1. 0.65 [") && told.contains(why), "{told}");
        let renews = told.split("Still true: agent-knowledge ").nth(1).unwrap();
        let renews: Vec<&str> = renews.split('.').next().unwrap().split(' ').collect();
        world.agent_knowledge_in(&here, &renews).done();
        assert_eq!(stale(&world, &here)["found"], 0, "{renews:?}");
        // Nothing was ever hidden for it.
        let found = world.agent_knowledge_in(&here, &["search", "walrus build hangs"]).done();
        assert!(found.contains("open_walrus"), "{found}");
    }
}

// S-STALE-1
#[test]
fn a_look_is_about_the_repository_of_the_directory() {
    let world = World::new();
    let here = learned(&world);
    change(&world, &here);
    assert_eq!(world.agent_knowledge_in(&here, &["stale", "--repo", "api"]).exit, Some(0));
    let other = world.agent_knowledge_in(&here, &["stale", "--repo", "github.com/acme/web"]);
    assert_eq!(other.exit, Some(65));
    let said = "--repo: is github.com/acme/web, but this directory belongs to github.com/acme/api; run this in";
    assert!(other.messages.contains(said), "{}", other.messages);
    assert_eq!(stale(&world, &world.work())["checked"], 0);
}

// S-STALE-5
#[cfg(unix)]
#[test]
fn a_git_that_is_not_there_or_hangs_is_told_and_not_waited_for() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let here = learned(&world);
    change(&world, &here);
    let folder = world.path("programs");
    std::fs::create_dir(&folder).unwrap();
    let absent = with_path(&world, &here, &folder, &["stale"]).done();
    assert!(absent.contains("Note: the program git is not there; without git, only"), "{absent}");
    let git = folder.join("git");
    std::fs::write(&git, "#!/bin/sh\nexec /bin/sleep 600\n").unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o700)).unwrap();
    let hangs = with_path(&world, &here, &folder, &["stale"]).done();
    assert!(hangs.contains("Note: git took too long; without git"), "{hangs}");
}

// S-STALE-6
#[test]
fn replies_mark_a_memory_whose_file_changed() {
    let world = World::new();
    let here = learned(&world);
    let line = json!({ "id": "m1", "timestamp": "2026-02-01T00:00:00Z", "event_type": "error", "agent_id": "codex",
        "source": "agent", "lesson": "the zebra parser needs a lock", "files": ["src/walrus.rs"] });
    let lines: Vec<Vec<u8>> = world.log_lines(LOG);
    let text = lines.into_iter().chain([line.to_string().into_bytes()]);
    world.hand_write(
        LOG,
        text.flat_map(|line| [line, b"\n".to_vec()].concat()).collect::<Vec<u8>>(),
    );
    let search = ["search", "zebra parser lock"];
    let plain = world.agent_knowledge_in(&here, &search).done();
    assert!(plain.contains("needs a lock · codex"), "a checkout says nothing: {plain}");
    let file = std::fs::File::options().write(true).open(here.join("src/walrus.rs")).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written + Duration::from_secs(24 * 3_600)).unwrap();
    for args in [&search[..], &["context"]] {
        let marked = world.agent_knowledge_in(&here, args).done();
        assert!(marked.contains("needs a lock (src/walrus.rs changed since) · codex"), "{marked}");
        let json = world.agent_knowledge_in(&here, &[args, &["--json"]].concat()).done();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["changed"], json!({ "m1": ["src/walrus.rs"] }));
    }
    // Of how the files were then nothing is known.
    let then = [&search[..], &["--as-of", "2099-01-01"]].concat();
    let then = world.agent_knowledge_in(&here, &then).done();
    assert!(then.contains("needs a lock · codex"), "{then}");
    // Elsewhere nobody looks at its files.
    let elsewhere = world.agent_knowledge(&search).done();
    assert!(elsewhere.contains("needs a lock · api, codex"), "{elsewhere}");
}

// S-STALE-8
#[cfg(unix)]
#[test]
fn without_a_change_nobody_asks_git_again() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::sharing();
    let here = learned(&world);
    change(&world, &here);
    let folder = world.path("programs");
    std::fs::create_dir(&folder).unwrap();
    let (git, calls) = (folder.join("git"), world.path("calls"));
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("git"))
        .find(|git| git.is_file())
        .unwrap();
    let script = format!("#!/bin/sh\necho >>{}\nexec {} \"$@\"\n", calls.display(), real.display());
    std::fs::write(&git, script).unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o700)).unwrap();
    let found = |expected: u64| {
        let told = with_path(&world, &here, &folder, &["stale", "--json"]).json();
        assert_eq!(told["found"], expected, "{told}");
        std::fs::read(&calls).unwrap().len()
    };
    let first = found(1);
    assert_eq!((found(1), found(1)), (first, first));
    std::fs::write(here.join("src/other.rs"), "x").unwrap();
    assert_eq!(found(1), first, "no memory names it");
    std::fs::write(here.join("src/walrus.rs"), "fn feed_walrus() {}\n").unwrap();
    let second = found(1);
    assert!(second > first, "a named file");
    commit(&world, &here);
    let third = found(1);
    assert!(third > second, "a commit");
    world.log_memory_in(&here, &["--type", "fact", "--lesson", "see src/walrus.rs"]).done();
    assert!(found(1) > third, "a memory");
    // A file that thousands of memories name is still one file.
    let line = |number: usize| json!({ "event_type": "fact", "lesson": format!("walrus {number}"), "files": ["src/walrus.rs"] });
    let lines: String = (0..4_200).map(|number| format!("{}\n", line(number))).collect();
    let mut log_memory = world.command(LOG_MEMORY);
    log_memory.args(["--json", "-"]).current_dir(&here);
    run(&mut log_memory, lines.as_bytes()).done();
    let looked = || {
        with_path(&world, &here, &folder, &["stale", "--json"]).done();
        std::fs::read(&calls).unwrap().len()
    };
    let many = looked();
    assert_eq!(looked(), many);
}
