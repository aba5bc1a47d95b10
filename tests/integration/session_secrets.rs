//! No secret of a transcript survives in what is kept of it, in an index or in an answer. Not here: which texts hold one
//! (`guard::secrets`), secrets that are cut in two (the crate `sessions`).

use std::collections::HashSet;
use std::path::Path;

use guard::secrets::redacted;
use serde_json::{Value, json};
use sessions::session_store::SessionStore;

use crate::pieces;
use crate::raw_client::{Client, Era};
use crate::secrets::{leaks, rows, text};
use crate::world::{World, bytes_under};

/// Planted secrets of one session.
const SECRETS_PER_SESSION: usize = 250;

/// The longest run of a secret that may stand somewhere by chance, plus one, in bytes.
const RUN_BYTES: usize = 12;

/// Beginnings of rules whose secrets have a form that nothing else has.
const WELL_KNOWN: &[&str] = &[
    "anthropic-",
    "aws-access-token",
    "github-",
    "gitlab-",
    "jwt",
    "openai-",
    "private-key",
    "sendgrid-",
    "slack-",
    "stripe-",
];

/// What each planted text became a part of: a question, an answer, a command, and what the command printed.
fn failed_output(planted: &str) -> String {
    format!("Exit code 1\n{planted}")
}

/// A session of Claude Code.
fn claude_lines(world: &World, id: &str, planted: &[&str]) -> String {
    let mut lines = String::new();
    for (number, text) in planted.iter().enumerate() {
        let mut say = |kind: &str, content: Value| {
            let line = json!({
                "type": kind, "uuid": format!("{id}-{number}-{}", lines.len()), "sessionId": id, "cwd": world.work(),
                "gitBranch": "main", "timestamp": format!("2026-09-10T08:{:02}:{:02}.000Z", number / 60, number % 60),
                "message": { "role": kind, "content": content },
            });
            lines += &format!("{line}\n");
        };
        let call = |id: &str, command: &str| json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
        let result = |id: &str, is_error: bool, text: &str| json!([{ "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text }]);
        let (failed, worked) = (format!("{number}-1"), format!("{number}-2"));
        say("user", json!(text));
        say("assistant", json!([{ "type": "text", "text": text }, call(&failed, text)]));
        say("user", result(&failed, true, &failed_output(text)));
        say("assistant", json!([call(&worked, &format!("{text} --retry"))]));
        say("user", result(&worked, false, text));
    }
    lines
}

/// A session of Codex, in a repository whose remote holds a password.
fn codex_lines(world: &World, id: &str, planted: &[&str]) -> String {
    let mut lines = String::new();
    let mut line = |kind: &str, payload: Value| {
        let line =
            json!({ "timestamp": "2026-09-01T10:00:01.000Z", "type": kind, "payload": payload });
        lines += &format!("{line}\n");
    };
    let remote = format!("https://bob:{}@github.com/acme/shop.git", remote_password());
    let git = json!({ "branch": "main", "repository_url": remote });
    line("session_meta", json!({ "id": id, "cwd": world.work(), "source": "cli", "git": git }));
    for (number, text) in planted.iter().enumerate() {
        let call = number.to_string();
        line("event_msg", json!({ "type": "user_message", "message": text }));
        let answer = json!([{ "type": "output_text", "text": text }]);
        line("response_item", json!({ "type": "message", "role": "assistant", "content": answer }));
        let arguments = json!({ "cmd": text }).to_string();
        line(
            "response_item",
            json!({ "type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call }),
        );
        let output = format!("Process exited with code 1\nOutput:\n{text}");
        line(
            "response_item",
            json!({ "type": "function_call_output", "call_id": call, "output": output }),
        );
    }
    lines
}

fn remote_password() -> String {
    ["Zx81", "spectrum", "Atari"].concat()
}

/// Runs of secrets that may stand nowhere. Case does not count: an index has none.
pub struct SecretRuns {
    /// Which first three bytes a run has, so that most places cost one look.
    begins: Vec<bool>,
    runs: HashSet<Vec<u8>>,
}

impl SecretRuns {
    pub fn of(runs: HashSet<Vec<u8>>) -> Self {
        let mut begins = vec![false; 1 << 24];
        runs.iter().for_each(|run| begins[begin_of(run)] = true);
        Self { begins, runs }
    }

    #[track_caller]
    pub fn assert_none_in(&self, place: &str, bytes: &[u8]) {
        let bytes = bytes.to_ascii_lowercase();
        let held = bytes
            .windows(RUN_BYTES)
            .position(|run| self.begins[begin_of(run)] && self.runs.contains(run));
        let around = |at: usize| {
            let (from, to) = (at.saturating_sub(60), (at + 60).min(bytes.len()));
            String::from_utf8_lossy(&bytes[from..to]).into_owned()
        };
        assert_eq!(held.map(around), None, "in {place}");
    }
}

fn begin_of(run: &[u8]) -> usize {
    usize::from(run[0]) << 16 | usize::from(run[1]) << 8 | usize::from(run[2])
}

pub fn runs_of(text: &str) -> impl Iterator<Item = Vec<u8>> {
    let text = text.to_ascii_lowercase().into_bytes();
    (0..(text.len() + 1).saturating_sub(RUN_BYTES))
        .map(move |from| text[from..from + RUN_BYTES].to_vec())
}

/// All texts in an answer, each on a line of its own.
pub fn texts_in(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(values) => values.iter().map(texts_in).collect(),
        Value::Object(fields) => fields.values().map(texts_in).collect(),
        _ => String::new(),
    }
}

// S-SESS-3
// P13
#[test]
fn no_secret_of_others_survives_an_import() {
    let Some(folder) = pieces::data("secrets") else { return };
    let positives = rows(&folder, "positives_dev.jsonl.gz");
    let world = World::new();
    world.git(&world.work(), &["init", "-q"]);
    let mut sessions = Vec::new();
    for (number, rows) in positives.chunks(SECRETS_PER_SESSION).enumerate() {
        let planted: Vec<&str> = rows.iter().map(|row| text(row, "text")).collect();
        let id = format!("01a0aaaa-0000-7000-8000-{number:012}");
        let (path, lines) = if number % 2 == 0 {
            (format!(".claude/projects/-w/{id}.jsonl"), claude_lines(&world, &id, &planted))
        } else {
            let path = format!(".codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-{id}.jsonl");
            (path, codex_lines(&world, &id, &planted))
        };
        let path = world.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, lines).unwrap();
        sessions.push((id, rows));
    }
    let runs = secret_runs(&positives);
    let imported = world.agent_knowledge(&["sessions", "import", "--yes"]).done();
    assert!(imported.contains(&format!("in {} sessions", sessions.len())), "{imported}");
    let mut survivors = Vec::new();
    let kept = SessionStore::open(&world.home().join(".local/share/agent-knowledge/sessions"));
    let kept = kept.unwrap().unwrap();
    for (id, rows) in &sessions {
        let session = kept.sessions_named(id, 1).unwrap().remove(0);
        let exchanges = kept.exchanges_of(session.row).unwrap();
        assert_eq!(exchanges.len(), rows.len(), "{id}");
        for (row, kept) in rows.iter().zip(exchanges) {
            let texts = texts_in(&serde_json::to_value(kept.exchange).unwrap());
            runs.assert_none_in(id, texts.as_bytes());
            survivors.extend(leaks(&texts, text(row, "secret")).then(|| text(row, "rule")));
        }
    }
    for (id, _) in sessions.iter().step_by(7) {
        for args in [&["sessions", "show", id, "--json"][..], &["sessions", "summary", id]] {
            let told = world.agent_knowledge(args).done();
            runs.assert_none_in(&args.join(" "), told.as_bytes());
        }
    }
    assert_answers_clean(&world, &positives, &runs);
    for (path, bytes) in bytes_under(&world.path("")) {
        let is_transcript =
            [".claude", ".codex"].iter().any(|name| path.starts_with(Path::new("home").join(name)));
        if !is_transcript {
            runs.assert_none_in(&path.display().to_string(), &bytes);
        }
    }
    println!("{} of {} survive: {survivors:?}", survivors.len(), positives.len());
    assert!(survivors.len() * 200 <= positives.len(), "{survivors:?}");
    let is_known = |rule: &&str| WELL_KNOWN.iter().any(|begin| rule.starts_with(begin));
    assert!(!survivors.iter().any(is_known), "{survivors:?}");
    let known = positives.iter().map(|row| text(row, "rule")).filter(is_known).count();
    assert!(known > 500, "{known} of well-known forms");
}

/// The runs of all secrets but those that the guard leaves in its answer about a planted text.
fn secret_runs(positives: &[Value]) -> SecretRuns {
    let secrets = positives.iter().flat_map(|row| runs_of(text(row, "secret")));
    let mut runs: HashSet<Vec<u8>> = secrets.chain(runs_of(&remote_password())).collect();
    for row in positives {
        let planted = text(row, "text");
        for field in [planted, &failed_output(planted)] {
            for run in runs_of(&redacted(field)) {
                runs.remove(&run);
            }
        }
    }
    assert!(runs.len() > 10_000, "{}", runs.len());
    SecretRuns::of(runs)
}

/// Asks in all ways in which past sessions answer.
fn assert_answers_clean(world: &World, positives: &[Value], runs: &SecretRuns) {
    for args in [
        &["sessions", "list", "--limit", "100"][..],
        &["sessions", "list", "--json"],
        &["sessions", "review", "--explain"],
        &["sessions", "check"],
        &["sessions", "search", "token", "--limit", "10"],
        &["sessions", "search", "password export key", "--scope", "errors", "--json"],
        &["sessions", "review", "--accept", "all"],
        &["search", "token"],
    ] {
        let told = world.agent_knowledge(args);
        runs.assert_none_in(&args.join(" "), format!("{told:?}").as_bytes());
    }
    let mut client = Client::open(world, Era::Modern);
    for row in positives.iter().step_by(200) {
        let query = redacted(text(row, "text"));
        let told = client.told("session_search", &json!({ "query": query, "limit": 10 }));
        runs.assert_none_in("session_search", told.as_bytes());
    }
}
