//! What earlier versions wrote with secrets in it: `verify` reports it and `scrub` removes it, from every surface. Not here: what is
//! written today.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;

use crate::world::{World, bytes_under};

fn token() -> String {
    ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat()
}

/// A password that stands where no rule knows it any more.
fn reshaped() -> String {
    ["Quovadis77", "kestrel"].concat()
}

fn write(world: &World, path: &str, text: &str) {
    let path = world.path(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn holders(world: &World) -> Vec<PathBuf> {
    let holds = |bytes: &[u8], secret: &str| {
        bytes.windows(secret.len()).any(|run| run == secret.as_bytes())
    };
    let all = bytes_under(&world.path("")).into_iter();
    all.filter(|(_, bytes)| holds(bytes, &token()) || holds(bytes, &reshaped()))
        .map(|(path, _)| path)
        .collect()
}

/// A row as an earlier version kept it, with a secret in the directory and another in a free page.
fn keep_raw_row(folder: &Path) {
    let rows = Connection::open(folder.join("sessions.db")).unwrap();
    let facts = json!({ "title": null, "directory": format!("/w/{}", token()), "branch": token(), "remote": null,
        "parent": null, "fork_of": null, "is_by_program": false });
    let query = "INSERT INTO session(tool, native_id, facts, title, opening, is_by_program) VALUES ('codex', 's9', ?1, ?2, ?2, 0)";
    rows.execute(query, [facts.to_string(), token()]).unwrap();
    rows.execute("INSERT INTO tombstone VALUES ('path', ?1, 1)", [token().repeat(300)]).unwrap();
    rows.execute("DELETE FROM tombstone", []).unwrap();
}

// S-SCRUB-3
#[test]
fn what_earlier_versions_left_is_reported_and_removed() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "plain"]).done();
    let sessions = world.home().join(".local/share/agent-knowledge/sessions");
    drop(sessions::session_store::SessionStore::create(&sessions).unwrap());
    keep_raw_row(&sessions);
    let at = "2026-01-02T03:04:05Z";
    let query = json!({ "at": at, "repo": "api", "query": format!("use {}", token()) });
    write(&world, "cache/gaps/0011223344556677.jsonl", &format!("{query}\n"));
    write(
        &world,
        "cache/searches/0011223344556677.jsonl",
        &json!({ "at": at, "query": format!("curl -u jane: {}", reshaped()) }).to_string(),
    );
    write(
        &world,
        "cache/sessions/codex-0011223344556677",
        &json!({ "mended": reshaped() }).to_string(),
    );
    write(
        &world,
        "cache/hook-sessions/codex-0011223344556677",
        &format!("{}\n", json!({ "mended": token() })),
    );
    write(
        &world,
        "cache/journal/0011223344556677.1.jsonl",
        &format!("{}\n", json!({ "event": "silent", "at": at, "asked": token() })),
    );
    assert_eq!(holders(&world).len(), 6, "{:?}", holders(&world));

    let checked = world.agent_knowledge(&["verify"]);
    assert_eq!(checked.exit, Some(1), "{}", checked.output);
    for name in ["gaps", "searches", "cache/sessions", "hook-sessions", "journal", "sessions.db"] {
        assert!(checked.output.contains(name), "{name}: {}", checked.output);
    }
    assert!(!checked.output.contains(&token()) && checked.output.contains("agent-knowledge scrub"));

    assert_eq!(world.agent_knowledge(&["scrub", "--dry-run"]).exit, Some(1));
    assert_eq!(holders(&world).len(), 6, "nothing was changed");
    let scrubbed = world.agent_knowledge(&["scrub"]);
    assert_eq!(scrubbed.exit, Some(0), "{scrubbed:?}");
    assert_eq!(holders(&world), Vec::<PathBuf>::new(), "{}", scrubbed.output);
    assert_eq!(world.agent_knowledge(&["scrub"]).output, "no secrets found\n");
    assert_eq!(world.agent_knowledge(&["verify"]).exit, Some(0));
}
