//! A real browser on the dashboard of the real server: all screens on six stores, by mouse and keys, live, in light, dark
//! and narrow; nothing that anybody wrote becomes markup; pages of other origins do not get in.
//! Not here: the checks themselves; those are in `tests/browser`. How long screens take is measured, not tested:
//! `node tests/browser/walk.mjs --report`.

use std::path::Path;

use crate::pieces;
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Lets `walk.mjs` try one thing, and fails with all its lines where a check failed.
fn walk(what: &str, args: &[&str], checks_min: usize) {
    let Some(browser) = pieces::browser() else { return };
    let world = World::new();
    let mut node = world.command(browser.join("bin/node"));
    node.env("AGENT_KNOWLEDGE_TEST_BROWSER", &browser);
    node.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/walk.mjs")).arg(what);
    // Ours are built side by side.
    node.arg("--programs").arg(Path::new(AGENT_KNOWLEDGE).parent().unwrap()).args(args);
    let ran = run(&mut node, b"");
    let failed: Vec<_> = ran.output.lines().filter(|line| line.starts_with("FAILED ")).collect();
    assert!(ran.exit == Some(0), "{}\n{}", failed.join("\n"), ran.messages);
    let passed = ran.output.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(passed >= checks_min, "only {passed} checks ran:\n{}", ran.output);
}

#[test]
fn browser_walk_finds_what_is_broken() {
    walk("control", &[], 12);
}

#[test]
fn browser_walks_an_empty_store() {
    walk("empty", &[], 88);
}

#[test]
fn browser_walks_our_own_lessons() {
    walk("own", &[], 190);
}

#[test]
fn browser_walks_real_logs() {
    let Some(logs) = pieces::data("real-logs") else { return };
    walk("real", &["--real-logs", logs.to_str().unwrap()], 88);
}

#[test]
fn browser_walks_a_hundred_thousand_memories() {
    walk("many", &[], 88);
}

#[test]
fn browser_makes_no_node_of_a_poisoned_text() {
    walk("poison", &[], 103);
}

#[test]
fn browser_shows_every_shape_of_memory_to_people() {
    walk("shapes", &[], 340);
}

#[test]
fn browser_lets_no_other_origin_in() {
    walk("attacks", &[], 73);
}
