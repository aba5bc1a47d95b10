//! Whatever way a text takes, no secret that `log-memory` would remove stands anywhere afterwards: texts lose their secrets before anybody
//! cuts, joins or respells them. All daily forms go through the real programs, and every file of the world is looked at. Not here: which
//! texts hold a secret (`guard::secrets`), what earlier versions wrote (`old_copies`).

mod old_copies;
mod peers;
mod saved_indexes;
mod writes;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use guard::secrets::daily_forms::{PlantedSecret, one_in_each};
use guard::secrets::{redacted, redacted_stamp};
use serde_json::{Value, json};
use sessions::session_store::SessionStore;
use upkeep::surfaces::{OwnFolders, SURFACES, SurfaceForm};

use crate::raw_client::{Client, Era};
use crate::session_secrets::{SecretRuns, runs_of, texts_in};
use crate::world::{AGENT_KNOWLEDGE, World, bytes_under, run};

/// Forms that go into one command or prompt, so that the test does not start thousands of processes. The first of them goes alone too.
const FORMS_PER_CALL: usize = 20;

/// Places for texts of which this world has none, and what looks at them.
const UNSEEN: [((&str, &str), &str); 7] = [
    ((".quarantine/", ""), "scrub: lines that could not be kept"),
    (("archive/", ""), "archive: lines of the log, moved"),
    (("team/", ""), "team: lines of other stores, which their own machines redacted"),
    ((".remote.json", ""), "remote_team: what a server answered"),
    (("searches/", ""), "old_copies: no version writes it any more"),
    (("sessions/", ""), "old_copies: no version writes it any more"),
    (("index/", ""), "saved_indexes"),
];

/// What a command prints that failed with a text.
fn failed_with(text: &str) -> String {
    format!("Exit code 1\nError E4242: access denied by the registry\n{text}")
}

fn asked_about(text: &str) -> String {
    format!("why does the deployment fail here\n{text}")
}

/// Texts as they are put into one command: each form on lines of its own.
fn joined(chunk: &[PlantedSecret]) -> String {
    chunk.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// The secrets, but for what the guard itself leaves of them in a text that the programs get.
pub fn secret_runs(planted: &[PlantedSecret]) -> HashSet<Vec<u8>> {
    let mut runs: HashSet<Vec<u8>> = planted.iter().flat_map(|one| runs_of(&one.secret)).collect();
    let count = runs.len();
    let alone = planted.iter().map(|one| one.text.clone());
    let together = planted.chunks(FORMS_PER_CALL).map(joined);
    for text in alone.chain(together) {
        for given in [failed_with(&text), asked_about(&text), format!("{text} --retry"), text] {
            for run in runs_of(&redacted(&given)) {
                runs.remove(&run);
            }
        }
    }
    assert!(runs.len() * 100 > count * 95 && planted.len() > 500, "{} of {count}", runs.len());
    runs
}

fn hook(world: &World, said: &Value) -> String {
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.args(["hook", "--agent", "claude-code"]);
    command.env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    let ran = run(&mut command, said.to_string().as_bytes());
    format!("{}{}", ran.output, ran.messages)
}

/// A command that fails and then works, as a client reports it.
fn worked_at(world: &World, number: usize, text: &str) -> String {
    let said = |event: &str, command: &str| {
        json!({ "session_id": format!("s{number}"), "cwd": world.work(), "hook_event_name": event, "tool_name": "Bash",
            "tool_input": { "command": command }, "error": failed_with(text), "tool_response": { "stdout": text } })
    };
    let failed = hook(world, &said("PostToolUseFailure", text));
    let mut worked = said("PostToolUse", &format!("{text} --retry"));
    worked.as_object_mut().unwrap().remove("error");
    failed + &hook(world, &worked)
}

fn prompted(world: &World, number: usize, text: &str) -> String {
    let said = json!({ "session_id": format!("p{number}"), "cwd": world.work(), "hook_event_name": "UserPromptSubmit",
        "prompt": asked_about(text) });
    hook(world, &said)
}

/// Runs one step for each place, on two threads.
fn each(count: usize, step: impl Fn(usize) -> String + Sync) -> Vec<String> {
    std::thread::scope(|scope| {
        let half = |first: usize| {
            let step = &step;
            move || (first..count).step_by(2).map(step).collect::<Vec<_>>()
        };
        let halves = [0, 1].map(|first| scope.spawn(half(first)));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    })
}

/// A transcript of Claude Code that holds a text in every place that has one.
fn transcript(world: &World, number: usize, text: &str) -> String {
    let (id, name) = (format!("01a0aaaa-0000-7000-8000-{number:012}"), folder_name(text));
    let mut lines = String::new();
    let mut say = |kind: &str, content: Value| {
        let line = json!({
            "type": kind, "uuid": format!("{id}-{}", lines.len()), "sessionId": id, "gitBranch": name,
            "cwd": world.work().join(&name), "timestamp": "2026-09-10T08:00:00.000Z",
            "message": { "role": kind, "content": content },
        });
        lines += &format!("{line}\n");
    };
    let call = |id: &str, tool: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]);
    let result = |id: &str, is_error: bool| json!([{ "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": failed_with(text) }]);
    say("user", json!(text));
    say("assistant", call("1", "Bash", json!({ "command": text })));
    say("user", result("1", true));
    say("assistant", call("2", "Bash", json!({ "command": format!("{text} --retry") })));
    say("user", result("2", false));
    say("assistant", call("3", "Edit", json!({ "file_path": format!("/w/{name}.rs") })));
    say("user", result("3", false));
    lines + &format!("{}\n", json!({ "type": "summary", "summary": text, "leafUuid": id }))
}

/// A text as the name of a folder or a branch.
fn folder_name(text: &str) -> String {
    text.replace(['/', '\n', '\t'], "_")
}

/// A directory as Claude Code names a folder after it: whatever is no letter or digit becomes `-`.
fn respelled(directory: &str) -> String {
    directory.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(200).collect()
}

fn import(world: &World, planted: &[PlantedSecret]) {
    for (number, one) in planted.iter().enumerate() {
        let lines = transcript(world, number, &one.text);
        let folder =
            world.home().join(".claude/projects").join(respelled(&format!("/w/{}", one.text)));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("01a0aaaa-0000-7000-8000-{number:012}.jsonl"));
        std::fs::write(path, lines).unwrap();
    }
    let told = world.agent_knowledge(&["sessions", "import", "--yes"]).done();
    assert!(told.contains(&format!("in {} sessions", planted.len())), "{told}");
}

/// The secrets, but for what the guard leaves of a text as a folder's or a branch's name, as it does in those of an event.
fn runs(planted: &[PlantedSecret], world: &World) -> SecretRuns {
    let mut runs = secret_runs(planted);
    for one in planted {
        let name = folder_name(&one.text);
        let directory = world.work().join(&name).display().to_string();
        for left in
            [redacted_stamp(&directory), redacted(&name), redacted(&format!("/w/{name}.rs"))]
        {
            for run in runs_of(&left) {
                runs.remove(&run);
            }
        }
    }
    SecretRuns::of(runs)
}

/// Rows of `upkeep::surfaces`, by what their paths begin and end with.
type SeenSurfaces = BTreeSet<(&'static str, &'static str)>;

/// Looks at every byte that the programs left, and that each file is one that `scrub` and `verify` know. Returns which rows of their
/// table had a file.
#[track_caller]
fn assert_clean(world: &World, runs: &SecretRuns) -> SeenSurfaces {
    let sessions = world.home().join(".local/share/agent-knowledge/sessions");
    let (store, cache) = (world.store(), world.path("cache"));
    let places = OwnFolders { store: &store, cache: &cache, sessions: &sessions };
    let mut seen = SeenSurfaces::new();
    for (path, bytes) in files_of(world) {
        let file = world.path(&path);
        runs.assert_none_in(&path.display().to_string(), &bytes);
        let is_ours = [&store, &cache, &sessions].iter().any(|root| file.starts_with(root));
        let claims = places.surface_of(&file);
        assert!(
            !is_ours || claims.is_some(),
            "no row of upkeep::surfaces claims {}",
            path.display()
        );
        seen.extend(claims.filter(|_| !bytes.is_empty()).map(|row| (row.prefix, row.suffix)));
    }
    seen
}

/// Every file of a world but the transcripts, which are what was imported, the work tree, which is git's, and sockets.
fn files_of(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in ["home", "logs", "cache", "remote"] {
        let folder = world.path(name);
        let below = if folder.exists() { bytes_under(&folder) } else { BTreeMap::new() };
        files.extend(below.into_iter().map(|(path, bytes)| (Path::new(name).join(path), bytes)));
    }
    files.retain(|path, _| !path.starts_with("home/.claude"));
    files
}

/// What is packed, as it is unpacked.
#[track_caller]
fn assert_rows_clean(world: &World, runs: &SecretRuns) {
    let folder = world.home().join(".local/share/agent-knowledge/sessions");
    let kept = SessionStore::open(&folder).unwrap().unwrap();
    kept.exchanges_above(0, usize::MAX >> 1, &mut |one| {
        let texts = texts_in(&serde_json::to_value(&one.exchange).unwrap());
        runs.assert_none_in("an exchange", texts.as_bytes());
    })
    .unwrap();
}

/// Holds the lock of the log that the forms are saved to, so that what is saved next waits in the spool.
fn lock_of_log(world: &World) -> File {
    let locks = std::fs::read_dir(world.store().join(".locks")).unwrap();
    let mut paths = locks.map(|lock| lock.unwrap().path());
    let is_of_log = |path: &PathBuf| path.to_string_lossy().ends_with("api.jsonl.lock");
    let lock = File::options().write(true).open(paths.find(is_of_log).unwrap()).unwrap();
    lock.lock().unwrap();
    lock
}

/// Memories that hold a text in every field of text.
fn lines(planted: &[PlantedSecret]) -> String {
    let line = |text: &str| json!({ "repo": "github.com/acme/api", "event_type": "error", "lesson": text, "context": text, "command": text, "symptoms": [text] });
    planted.iter().map(|one| format!("{}\n", line(&one.text))).collect()
}

// S-WRITE-8, S-HOOK-9, S-SESS-3, S-ANALYZE-6, S-SCRUB-3
// P13
#[test]
fn no_secret_of_daily_life_is_written_sent_or_shown() {
    let world = World::new();
    world.git(&world.work(), &["init", "-q"]);
    let remote = world.path("remote");
    std::fs::create_dir(&remote).unwrap();
    world
        .configure(&format!("[sync]\nremote = \"folder:{}\"\nshare = [\"*\"]\n", remote.display()));
    let planted = one_in_each();
    let everywhere = SecretRuns::of(secret_runs(&planted));
    let chunks: Vec<&[PlantedSecret]> = planted.chunks(FORMS_PER_CALL).collect();
    let said = each(chunks.len(), |number| {
        let (alone, together) = (&chunks[number][0].text, joined(chunks[number]));
        let failed = [alone, &together].map(|text| worked_at(&world, number, text));
        failed.concat() + &prompted(&world, number, &together)
    });
    for told in &said {
        everywhere.assert_none_in("what a hook prints", told.as_bytes());
    }
    let mut seen = assert_clean(&world, &everywhere);
    let log: Value =
        serde_json::from_str(&world.agent_knowledge(&["analyze", "searches", "--json"]).done())
            .unwrap();
    assert!(!log["found"].as_array().unwrap().is_empty(), "the hooks have looked");
    for args in [&["analyze", "searches"][..], &["recent", "--json"], &["verify"]] {
        everywhere.assert_none_in(&args.join(" "), world.agent_knowledge(args).output.as_bytes());
    }
    world.log_memory_json(lines(&planted), &[]).done();
    let lock = lock_of_log(&world);
    let waiting = world.log_memory_json(lines(&planted), &[]).done();
    assert!(waiting.contains("spool"), "{waiting}");
    seen.extend(assert_clean(&world, &everywhere));
    drop(lock);
    let mut client = Client::open(&world, Era::Modern);
    for one in planted.iter().step_by(3) {
        let told = client.told("memory_search", &json!({ "query": one.text }));
        everywhere.assert_none_in("memory_search", told.as_bytes());
    }
    client.leave();
    world.agent_knowledge(&["sync", "--yes"]).done();
    assert!(!bytes_under(&remote).is_empty(), "something was sent");
    seen.extend(assert_clean(&world, &everywhere));
    import(&world, &planted);
    world.agent_knowledge(&["sessions", "search", "registry denied access"]).done();
    let runs = runs(&planted, &world);
    assert_rows_clean(&world, &runs);
    seen.extend(assert_clean(&world, &runs));
    let texts = SURFACES.iter().filter(|row| row.form != SurfaceForm::NoText);
    let unseen: Vec<_> =
        texts.map(|row| (row.prefix, row.suffix)).filter(|row| !seen.contains(row)).collect();
    assert_eq!(unseen, UNSEEN.map(|(row, _)| row));
    for args in [
        &["sessions", "list", "--limit", "100"][..],
        &["sessions", "review", "--explain"],
        &["sessions", "check"],
    ] {
        runs.assert_none_in(&args.join(" "), world.agent_knowledge(args).output.as_bytes());
    }
    let told = world.agent_knowledge(&["scrub"]);
    assert_eq!(told.output, "no secrets found\n", "{}", told.messages);
    assert!(world.path("cache/gaps").exists());
}
