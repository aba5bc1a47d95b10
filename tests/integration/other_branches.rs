//! Memories of branches that are not merged where somebody stands, by the real programs and the real git. Not here: what counts as
//! merged (unit tests of `search::staleness`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, World, run};

const LESSON: &str = "walrus sessions live in redis";
const REMARK: &str = "from branch feat, not merged here";

/// A repository with a lesson learned on a branch, and another one on the main line.
fn learned(world: &World) -> PathBuf {
    let here = world.path("api");
    world.git(&here, &["init", "--quiet", "--initial-branch=main"]);
    world.git(&here, &["remote", "add", "origin", "https://github.com/acme/api.git"]);
    std::fs::write(here.join("a.txt"), "first line\n").unwrap();
    commit(world, &here);
    let save = |lesson: &str| {
        let args = [
            "--type",
            "decision",
            "--id",
            lesson.split(' ').next_back().unwrap(),
            "--lesson",
            lesson,
        ];
        world.log_memory_in(&here, &args).done();
    };
    save("walrus sessions use the plain file");
    world.git(&here, &["checkout", "--quiet", "-b", "feat"]);
    for text in ["one redis session\n", "two redis sessions\n"] {
        std::fs::write(here.join("b.txt"), text).unwrap();
        commit(world, &here);
    }
    save(LESSON);
    here
}

fn commit(world: &World, here: &Path) {
    world.git(here, &["add", "--all"]);
    world.git(here, &["commit", "--quiet", "--message", "x"]);
}

fn asked(world: &World, here: &Path, args: &[&str]) -> (String, Value) {
    let text = world.agent_knowledge_in(here, args).done();
    let json = world.agent_knowledge_in(here, &[args, &["--json"]].concat()).done();
    (text, serde_json::from_str(&json).unwrap())
}

fn start_hook(world: &World, here: &Path, session: &str) -> String {
    let said = json!({ "session_id": session, "cwd": here, "hook_event_name": "SessionStart", "source": "startup" });
    let mut command = world.command(AGENT_KNOWLEDGE);
    command
        .args(["hook", "--agent", "claude-code"])
        .env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    run(&mut command, said.to_string().as_bytes()).done()
}

/// Whether all answers say that the lesson is not merged, or none.
fn assert_remarked(world: &World, here: &Path, is_remarked: bool) {
    let (search, found) = asked(world, here, &["search", "walrus sessions"]);
    let (show, shown) = asked(world, here, &["show", "redis"]);
    let (context, briefed) = asked(world, here, &["context"]);
    for text in [&search, &show, &context] {
        assert!(text.contains("redis") && text.contains(REMARK) == is_remarked, "{text}");
    }
    let expected = if is_remarked { json!({ "redis": "feat" }) } else { Value::Null };
    assert_eq!((&found["unmerged"], &briefed["unmerged"]), (&expected, &expected));
    assert_eq!(found.get("unmerged").is_some(), is_remarked);
    let standing = &shown["memories"][0]["standing"];
    assert_eq!(standing.get("unmerged"), is_remarked.then_some(&json!("feat")));
}

// S-STALE-11, S-RANK-12, S-HOOK-14
#[test]
fn a_lesson_of_a_branch_is_marked_until_it_is_merged() {
    for world in [World::new(), World::sharing()] {
        let here = learned(&world);
        assert_remarked(&world, &here, false);
        assert!(start_hook(&world, &here, "s1").contains(LESSON));
        world.git(&here, &["checkout", "--quiet", "main"]);
        assert_remarked(&world, &here, true);
        let (text, found) = asked(&world, &here, &["search", "walrus sessions", "--explain"]);
        assert!(text.contains(", branch -0.300"), "{text}");
        let memories = found["memories"].as_array().unwrap();
        assert_eq!(memories[0]["id"], "file", "it ranks lower: {text}");
        let told = start_hook(&world, &here, "s2");
        assert!(told.contains("plain file") && !told.contains(LESSON), "{told}");
        // The squash is the merge.
        world.git(&here, &["merge", "--quiet", "--squash", "feat"]);
        commit(&world, &here);
        assert_remarked(&world, &here, false);
        assert!(start_hook(&world, &here, "s3").contains(LESSON));
        world.git(&here, &["branch", "--quiet", "--delete", "--force", "feat"]);
        assert_remarked(&world, &here, false);
        let stale = world.agent_knowledge_in(&here, &["stale"]).done();
        assert!(stale.starts_with("Nothing seems stale"), "{stale}");
    }
}

// S-STALE-11
#[test]
fn a_lesson_before_the_first_commit_is_of_the_branch() {
    let world = World::new();
    let here = world.path("api");
    world.git(&here, &["init", "--quiet", "--initial-branch=main"]);
    world.git(&here, &["remote", "add", "origin", "https://github.com/acme/api.git"]);
    std::fs::write(here.join("a.txt"), "first line\n").unwrap();
    commit(&world, &here);
    world.git(&here, &["checkout", "--quiet", "-b", "feat"]);
    world.log_memory_in(&here, &["--type", "decision", "--id", "redis", "--lesson", LESSON]).done();
    world.git(&here, &["checkout", "--quiet", "main"]);
    assert_remarked(&world, &here, false);
    world.git(&here, &["checkout", "--quiet", "feat"]);
    std::fs::write(here.join("b.txt"), "redis sessions\n").unwrap();
    commit(&world, &here);
    world.git(&here, &["checkout", "--quiet", "main"]);
    assert_remarked(&world, &here, true);
    world.git(&here, &["merge", "--quiet", "--no-ff", "--message", "x", "feat"]);
    assert_remarked(&world, &here, false);
}

// S-STALE-11
#[test]
fn where_nobody_can_tell_nothing_is_said() {
    let world = World::new();
    let here = learned(&world);
    world.git(&here, &["checkout", "--quiet", "main"]);
    // A teammate's clone never had the commit.
    let clone = world.path("clone");
    world.git(
        &here,
        &[
            "clone",
            "--quiet",
            "--single-branch",
            "--branch",
            "main",
            "--no-local",
            ".",
            clone.to_str().unwrap(),
        ],
    );
    world.git(&clone, &["remote", "set-url", "origin", "https://github.com/acme/api.git"]);
    assert_remarked(&world, &clone, false);
    // Elsewhere there is no such repository.
    let elsewhere = world.agent_knowledge(&["search", "walrus sessions"]).done();
    assert!(elsewhere.contains("redis") && !elsewhere.contains(REMARK), "{elsewhere}");
    let told = asked(&world, &here, &["search", "walrus sessions", "--as-of", "2099-01-01"]).0;
    assert!(!told.contains(REMARK), "{told}");
}
