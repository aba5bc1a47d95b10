//! What earlier versions wrote with secrets in it: `verify` reports it and `scrub` removes it, from every surface. Not here: what is
//! written today.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

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

/// The tables as version 1 of them was made first; later versions only added to them.
const FIRST_TABLES: &str = include_str!("first_session_tables.sql");

/// JSON as zlib packs it that compresses nothing (RFC 1950 and 1951): the text can be found in the row.
fn packed(value: &Value) -> Vec<u8> {
    let text = value.to_string().into_bytes();
    let length = u16::try_from(text.len()).unwrap();
    let sum = text.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    let head =
        [0x78, 0x01, 1].into_iter().chain(length.to_le_bytes()).chain((!length).to_le_bytes());
    head.chain(text).chain((sum.1 << 16 | sum.0).to_be_bytes()).collect()
}

/// Past sessions as the first version kept them: a secret in every text of every table, in a free page, and in the log of SQLite. The
/// answer reads the database, as a running retriever does.
fn first_past_sessions(folder: &Path) -> Connection {
    std::fs::create_dir_all(folder).unwrap();
    let rows = Connection::open(folder.join("sessions.db")).unwrap();
    rows.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    rows.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(())).unwrap();
    rows.execute_batch(FIRST_TABLES).unwrap();
    rows.pragma_update(None, "user_version", 1).unwrap();
    let token = token();
    let path = format!("/home/jane/.claude/projects/-w-{}/s9.jsonl", reshaped());
    let facts = json!({ "title": ["Person", token], "directory": format!("/w/{token}"), "branch": format!("fix/{token}"),
        "remote": format!("https://jane:{token}@github.com/acme/web.git"), "parent": token, "fork_of": token, "is_by_program": false });
    let exchange = json!({ "ordinal": 0, "message_id": token, "parts": [
        { "at_ms": 1, "what": { "Asked": format!("use {token}") } } ] });
    let state = json!({ "offset": 0, "state": { "begun": token } }).to_string();
    let census = json!({ "unknown": { token.as_str(): 1 } }).to_string();
    let mended = json!({ "command": format!("curl -H 'X-Api-Key: {token}' x") }).to_string();
    let texts: [(&str, &[&dyn rusqlite::ToSql]); 7] = [
        ("INSERT INTO setting VALUES ('consent', ?1)", &[&token]),
        (
            "INSERT INTO file(path, tool, parser_version, size, mtime_ns, inode, head, tail, end, resume, ordinal, census, error)
                VALUES (?1, 'claude-code', 1, 0, 0, 0, 0, 0, 0, ?2, 0, ?3, ?4)",
            &[&path, &state, &census, &format!("failed to read {path}: {token}")],
        ),
        (
            "INSERT INTO session(tool, native_id, facts, repo, title, opening, is_by_program, parent)
                VALUES ('claude-code', ?1, ?2, ?1, ?1, ?1, 0, ?1)",
            &[&token, &facts.to_string()],
        ),
        (
            "INSERT INTO exchange(session, file, ordinal, digest, parts, body) VALUES (1, 1, 0, 0, 1, ?1)",
            &[&packed(&exchange)],
        ),
        ("INSERT INTO tombstone VALUES ('session', ?1, 1)", &[&format!("claude-code/{token}")]),
        ("INSERT INTO mended(session, repo, key, mended) VALUES (1, ?1, ?1, ?2)", &[&token, &mended]),
        ("INSERT INTO tombstone VALUES ('path', ?1, 1)", &[&format!("/w/{}", token.repeat(300))]),
    ];
    for (query, values) in texts {
        rows.execute(query, values).unwrap();
    }
    rows.execute("DELETE FROM tombstone WHERE kind = 'path'", []).unwrap();
    rows
}

/// A line of the first version whose writer redacted nothing.
fn raw_line(id: &str) -> String {
    let token = token();
    let line = json!({ "id": id, "timestamp": "2026-01-02T03:04:05Z", "repo": "api", "event_type": "fact", "lesson": format!("use {token}"),
        "context": token, "agent_id": token, "session_id": token, "host": token, "branch": token, "note": { "password": token } });
    format!("{line}\n")
}

// S-SCRUB-3, S-SESS-3
#[test]
fn a_store_of_the_first_version_is_clean_after_a_scrub() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "plain"]).done();
    write(&world, "logs/api.jsonl", &raw_line("m1"));
    write(&world, "logs/.quarantine/api.jsonl", &raw_line("m3"));
    let at = "2026-01-02T03:04:05Z";
    let searched =
        json!({ "at": at, "repo": "api", "query": format!("curl -u jane: {}", reshaped()) });
    write(&world, "cache/searches/0011223344556677.jsonl", &format!("{searched}\n"));
    write(
        &world,
        "cache/sessions/codex-0011223344556677",
        &json!({ "mended": reshaped() }).to_string(),
    );
    let told = json!({ "event": "injected", "at": at, "agent": token(), "session": token(), "asked": token(), "memories": [token()] });
    write(&world, "cache/journal/0011223344556677.1.jsonl", &format!("{told}\n"));
    write(&world, "cache/sessions.index", &format!("akexch1\n{}", token()));
    write(&world, "cache/index/0011223344556677/checkpoint", &token());
    let sessions = world.home().join(".local/share/agent-knowledge/sessions");
    let reader = first_past_sessions(&sessions);
    assert_eq!(holders(&world).len(), 8, "{:?}", holders(&world));
    let wal = std::fs::read(sessions.join("sessions.db-wal")).unwrap();
    assert!(wal.len() > 10_000, "nothing was moved into the database yet");

    let checked = world.agent_knowledge(&["verify"]);
    assert_eq!(checked.exit, Some(1), "{}", checked.output);
    assert!(!checked.output.contains(&token()) && !checked.output.contains(&reshaped()));
    let before = world.agent_knowledge(&["scrub", "--dry-run", "--json"]);
    let before: Value = serde_json::from_str(&before.output).unwrap();
    for column in [
        "file.path",
        "file.resume",
        "file.census",
        "file.error",
        "session.facts",
        "session.native_id",
        "exchange.body",
        "mended.mended",
    ] {
        assert!(before.to_string().contains(column), "{column}: {before}");
    }
    let scrubbed = world.agent_knowledge(&["scrub"]);
    assert_eq!(scrubbed.exit, Some(0), "{scrubbed:?}");
    assert_eq!(holders(&world), Vec::<PathBuf>::new(), "{}", scrubbed.output);
    let body: Vec<u8> =
        reader.query_row("SELECT body FROM exchange", [], |row| row.get(0)).unwrap();
    let kept = sessions::session_store::SessionStore::open(&sessions).unwrap().unwrap();
    let texts = format!(
        "{:?}",
        kept.exchanges_of(1).unwrap().iter().map(|one| &one.exchange).collect::<Vec<_>>()
    );
    assert!(!texts.contains(&token()) && texts.contains("[REDACTED:"), "{texts} {}", body.len());
    assert_eq!(world.agent_knowledge(&["scrub"]).output, "no secrets found\n");
    // The log was written by hand, so its chain is told as broken.
    let checked = world.agent_knowledge(&["verify"]).output;
    assert!(!checked.contains("github-token") && !checked.contains("earlier version"), "{checked}");
}
