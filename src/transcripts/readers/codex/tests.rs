//! Tests of the reader of Codex, on lines that we made up, and on real ones where they are at hand.

use super::*;
use crate::exchange::{PartKind, SessionRead};
use crate::readers::golden::{GoldenCounts, compare, sessions_of};
use crate::readers::resume_law::{holds_when_cut, holds_when_damaged, holds_with_unknown};
use crate::real_files::fixtures;
use crate::transcript::{Census, Outcome, TitleSource};

const OWN: &str = "019d7e2f-0041-7310-951c-94020254dfc9";
const PARENT: &str = "019d7d08-46c9-7f73-affe-4e6ca9852d56";
const OWN_TURN: &str = "019d7e2f-006a-78e0-8d88-fc868c230ea4";
const PARENT_TURN: &str = "019d7d08-f1d2-78a1-ae52-df8e21f9b394";
const NAME: &str = "rollout-2026-09-01T10-00-00-019d7e2f-0041-7310-951c-94020254dfc9.jsonl";

/// A line that was written so many milliseconds after 10 o'clock.
fn at(ms: u32, kind: &str, payload: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-09-01T10:00:{:02}.{:03}Z","type":"{kind}","payload":{payload}}}"#,
        ms / 1000,
        ms % 1000
    ) + "\n"
}

fn event(payload: &str) -> String {
    at(900, "event_msg", payload)
}

fn response(payload: &str) -> String {
    at(900, "response_item", payload)
}

fn meta(id: &str, more: &str) -> String {
    let git = r#""git":{"branch":"main","repository_url":"https://example.com/acme/shop.git"}"#;
    at(0, "session_meta", &format!(r#"{{"id":"{id}","cwd":"/code/shop",{more}{git}}}"#))
}

fn prompt(text: &str) -> String {
    event(&format!(r#"{{"type":"user_message","message":{text:?}}}"#))
}

fn message(role: &str, text: &str) -> String {
    response(&format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"text","text":{text:?}}}]}}"#
    ))
}

fn call(id: &str, name: &str, arguments: &str) -> String {
    response(&format!(
        r#"{{"type":"function_call","name":"{name}","arguments":{arguments:?},"call_id":"{id}"}}"#
    ))
}

fn output(id: &str, text: &str) -> String {
    response(&format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{text:?}}}"#))
}

fn item(item: &str) -> String {
    event(&format!(r#"{{"type":"item_completed","turn_id":"t","item":{item}}}"#))
}

fn read_as(name: &str, transcript: &str) -> (Vec<SessionRead>, Census) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, transcript).unwrap();
    sessions_of(&Codex, &path)
}

fn session_of(transcript: &str) -> SessionRead {
    let (mut sessions, census) = read_as(NAME, transcript);
    assert_eq!((census.broken, census.unknown.len(), sessions.len()), (0, 0, 1), "{census:?}");
    sessions.remove(0)
}

/// What happened after the first line and a first question.
fn parts_after(transcript: &str) -> Vec<PartKind> {
    let session = session_of(&(meta(OWN, "") + &prompt("go") + transcript));
    let parts = session.exchanges.into_iter().flat_map(|exchange| exchange.parts);
    parts.map(|part| part.kind).skip(1).collect()
}

fn asked(text: &str) -> PartKind {
    PartKind::Asked(text.to_owned())
}

fn answered(text: &str) -> PartKind {
    PartKind::Answered(text.to_owned())
}

fn ran(command: &str, outcome: Outcome, excerpt: &str) -> PartKind {
    PartKind::Ran { command: command.to_owned(), outcome, excerpt: excerpt.to_owned() }
}

fn edited(path: &str, outcome: Outcome) -> PartKind {
    PartKind::Edited { path: path.to_owned(), outcome, excerpt: String::new() }
}

#[test]
fn the_first_line_tells_whose_session_it_is() {
    let (sessions, _) = read_as(NAME, &(meta(OWN, r#""source":"cli","#) + &prompt("go")));
    let facts = &sessions[0].facts;
    assert_eq!(sessions[0].native_id, OWN);
    assert_eq!(facts.directory.as_deref(), Some("/code/shop"));
    assert_eq!(facts.branch.as_deref(), Some("main"));
    assert_eq!(facts.remote.as_deref(), Some("https://example.com/acme/shop.git"));
    for (source, is_by_program) in [
        (r#""source":"cli","#, false),
        (r#""source":"vscode","#, false),
        (r#""source":"exec","#, true),
        (r#""source":{"subagent":"review"},"#, true),
        (r#""source":"cli","thread_source":"subagent","#, true),
    ] {
        let session = session_of(&(meta(OWN, source) + &prompt("go")));
        assert_eq!(session.facts.is_by_program, is_by_program, "{source}");
    }
    let fork = session_of(&meta(OWN, &format!(r#""forked_from_id":"{PARENT}","#)));
    assert_eq!(fork.facts.fork_of.as_deref(), Some(PARENT));
    let (sessions, _) = read_as(NAME, &prompt("no first line"));
    assert_eq!(sessions[0].native_id, OWN, "the name of the file tells it");
}

#[test]
fn a_command_ends_as_its_first_report_says() {
    let go = call("c1", "exec_command", r#"{"cmd":"make","workdir":"/code"}"#);
    let parts_told = |more: &str| parts_after(&(go.clone() + more));
    let exited = |code: i64| {
        output(
            "c1",
            &format!("Chunk ID: a\nWall time: 1\nProcess exited with code {code}\nOutput:\nout\n"),
        )
    };
    assert_eq!(parts_told(""), [ran("make", Outcome::Unknown, "")]);
    assert_eq!(parts_told(&exited(0)), [ran("make", Outcome::Succeeded, "")]);
    assert_eq!(parts_told(&exited(2)), [ran("make", Outcome::Exited(2), "out")]);
    let end = event(
        r#"{"type":"exec_command_end","call_id":"c1","exit_code":3,"aggregated_output":"no","status":"failed"}"#,
    );
    assert_eq!(parts_told(&(end + &exited(0))), [ran("make", Outcome::Exited(3), "no")]);
    let declined =
        event(r#"{"type":"exec_command_end","call_id":"c1","exit_code":-1,"status":"declined"}"#);
    assert_eq!(parts_told(&declined), [ran("make", Outcome::Refused(None), "")]);
    for (text, outcome) in [
        (r#"{"output":"x","metadata":{"exit_code":1}}"#, Outcome::Exited(1)),
        ("Exit code: 4\nWall time: 0 seconds\nOutput:\nx", Outcome::Exited(4)),
        ("exec_command failed for `make`: Rejected(\"rejected by user\")", Outcome::Refused(None)),
        ("aborted by user after 3.1s", Outcome::Faulted),
        ("something else", Outcome::Unknown),
    ] {
        let parts = parts_told(&output("c1", text));
        let PartKind::Ran { outcome: ours, .. } = &parts[0] else { panic!("{parts:?}") };
        assert_eq!(*ours, outcome, "{text}");
    }
}

#[test]
fn a_process_that_goes_on_ends_by_a_later_call() {
    let transcript = call("c1", "exec_command", r#"{"cmd":"make"}"#)
        + &output("c1", "Wall time: 1\nProcess running with session ID 77\nOutput:\n")
        + &call("c2", "write_stdin", r#"{"session_id":77,"chars":""}"#)
        + &output("c2", "Wall time: 9\nProcess running with session ID 77\nOutput:\n")
        + &call("c3", "write_stdin", r#"{"session_id":77,"chars":""}"#)
        + &output("c3", "Wall time: 9\nProcess exited with code 1\nOutput:\nno\n");
    assert_eq!(parts_after(&transcript), [ran("make", Outcome::Exited(1), "no")]);
}

#[test]
fn commands_are_written_in_many_ways() {
    for (name, arguments, command) in [
        ("shell", r#"{"command":["bash","-lc","ls -a"]}"#, "ls -a"),
        ("shell", r#"{"command":["git","status"]}"#, "git status"),
        ("shell_command", r#"{"command":"ls"}"#, "ls"),
    ] {
        let parts = parts_after(&call("c", name, arguments));
        assert_eq!(parts, [ran(command, Outcome::Unknown, "")], "{name} {arguments}");
    }
    let object = response(
        r#"{"type":"function_call","name":"exec_command","arguments":{"cmd":"ls"},"call_id":"c"}"#,
    );
    assert_eq!(parts_after(&object), [ran("ls", Outcome::Unknown, "")]);
    let own = event(
        r#"{"type":"exec_command_end","call_id":"u","source":"user_shell","command":["zsh","-lc","pwd"],"exit_code":0}"#,
    );
    assert_eq!(parts_after(&own), [ran("pwd", Outcome::Succeeded, "")]);
}

#[test]
fn each_path_of_a_patch_is_an_edit() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+*** no\n*** Add File: b.rs\n+y\n*** End Patch";
    let written = response(&format!(
        r#"{{"type":"custom_tool_call","name":"apply_patch","input":{patch:?},"call_id":"c"}}"#
    ));
    let both =
        |outcome: &Outcome| [edited("a.rs", outcome.clone()), edited("b.rs", outcome.clone())];
    assert_eq!(parts_after(&written), both(&Outcome::Unknown));
    let done = event(r#"{"type":"patch_apply_end","call_id":"c","success":true,"changes":{}}"#);
    assert_eq!(parts_after(&(written.clone() + &done)), both(&Outcome::Succeeded));
    let failed = event(r#"{"type":"patch_apply_end","call_id":"c","success":false}"#);
    assert_eq!(parts_after(&(written + &failed)), both(&Outcome::Faulted));
    let shell = format!(
        "{{\"command\":[\"bash\",\"-lc\",{:?}]}}",
        format!("apply_patch <<'E'\n{patch}\nE")
    );
    assert_eq!(parts_after(&call("c", "shell", &shell)), both(&Outcome::Unknown));
}

#[test]
fn other_calls_and_events_are_kept() {
    let called = |tool: &str, argument: &str, outcome| PartKind::Called {
        tool: tool.to_owned(),
        argument: argument.to_owned(),
        outcome,
        excerpt: String::new(),
    };
    let transcript = call("c1", "spawn_agent", r#"{"agent_type":"explorer","message":"look"}"#)
        + &call("c2", "_fetch_pr", r#"{"pr_number":255}"#)
        + &event(
            r#"{"type":"mcp_tool_call_end","call_id":"c2","result":{"Ok":{"isError":false}}}"#,
        )
        + &call("c3", "_fetch_pr", "{}")
        + &event(r#"{"type":"mcp_tool_call_end","call_id":"c3","result":{"Err":""}}"#)
        + &call("c4", "update_plan", r#"{"plan":[]}"#)
        + &response(r#"{"type":"web_search_call","action":{"type":"search","query":"clock"}}"#)
        + &item(r##"{"type":"Plan","text":"# Plan"}"##)
        + &event(r#"{"type":"error","message":"usage limit"}"#)
        + &event(r#"{"type":"turn_aborted","reason":"interrupted"}"#)
        + &at(900, "compacted", r#"{"message":"so far","replacement_history":[{"type":"x"}]}"#)
        + &at(900, "compacted", r#"{"message":""}"#);
    let expected = [
        called("spawn_agent", "look", Outcome::Unknown),
        called("_fetch_pr", "", Outcome::Succeeded),
        called("_fetch_pr", "", Outcome::Faulted),
        called("web_search", "clock", Outcome::Unknown),
        PartKind::Planned("# Plan".to_owned()),
        PartKind::Failed("usage limit".to_owned()),
        PartKind::Interrupted,
        PartKind::Summarised("so far".to_owned()),
    ];
    assert_eq!(parts_after(&transcript), expected);
}

#[test]
fn a_title_may_come_later() {
    let named = event(r#"{"type":"thread_name_updated","thread_name":"Fix the cart"}"#);
    let session = session_of(&(meta(OWN, "") + &prompt("go") + &named));
    assert_eq!(session.facts.title, Some((TitleSource::Model, "Fix the cart".to_owned())));
}

#[test]
fn turns_that_were_taken_back_are_gone() {
    let back = event(r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let transcript = meta(OWN, "")
        + &prompt("one")
        + &message("assistant", "a")
        + &prompt("two")
        + &message("assistant", "b")
        + &back
        + &prompt("three");
    let exchanges = session_of(&transcript).exchanges;
    let first: Vec<_> = exchanges.iter().map(|exchange| &exchange.parts[0].kind).collect();
    assert_eq!(first, [&asked("one"), &asked("three")]);
    holds_when_cut(&Codex, NAME, &transcript, 2);
}

/// What a fork or a subagent starts with: its own first line, and then all lines of its parent.
fn copied(turn: &str, more: &str) -> String {
    meta(OWN, more)
        + &meta(PARENT, r#""source":"cli","#)
        + &at(1, "turn_context", &format!(r#"{{"turn_id":"{turn}"}}"#))
        + &prompt("the parent's question")
        + &message("assistant", "the parent's answer")
}

fn own(turn: &str, ms: u32) -> String {
    at(ms, "turn_context", &format!(r#"{{"turn_id":"{turn}"}}"#))
        + &prompt("its own question")
        + &message("assistant", "its own answer")
}

#[test]
fn copied_lines_of_the_parent_are_skipped() {
    let spawned = format!(
        r#""forked_from_id":"{PARENT}","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{PARENT}"}}}}}},"#
    );
    // By the time in the ids, also where copying takes long; else by the time of the line.
    for (parent_turn, own_turn, ms) in
        [(PARENT_TURN, OWN_TURN, 100), (PARENT_TURN, OWN_TURN, 9_000), ("1", "2", 1_200)]
    {
        let session = session_of(&(copied(parent_turn, &spawned) + &own(own_turn, ms)));
        let parts: Vec<_> = session
            .exchanges
            .iter()
            .flat_map(|exchange| &exchange.parts)
            .map(|part| &part.kind)
            .collect();
        assert_eq!(parts, [&asked("its own question"), &answered("its own answer")]);
        assert_eq!(session.native_id, OWN);
        assert_eq!(session.facts.parent.as_deref(), Some(PARENT));
        assert_eq!(session.facts.fork_of, None, "a subagent is no fork");
        assert!(session.facts.is_by_program);
    }
    assert_eq!(session_of(&copied(PARENT_TURN, &spawned)).exchanges, []);
    // Without copies the first turn is its own, however soon it comes.
    let alone = session_of(&(meta(OWN, &spawned) + &own("1", 1)));
    assert_eq!(alone.exchanges.len(), 1);
    let whole = copied(PARENT_TURN, &spawned) + &own(OWN_TURN, 100);
    holds_when_cut(&Codex, NAME, &whole, 3);
}

#[test]
fn items_of_the_paginated_form_are_reported_once() {
    let id = "019d7e2f-00aa-78e0-8d88-fc868c230ea4";
    let transcript = meta(OWN, r#""source":"cli","history_mode":"paginated","#)
        + &message("user", "<environment_context>x</environment_context>")
        + &message("user", "why")
        + &item(&format!(
            r#"{{"type":"UserMessage","id":"{id}","content":[{{"type":"text","text":"why"}}]}}"#
        ))
        + &response(
            r#"{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"await x()"}"#,
        )
        + &item(
            r#"{"type":"CommandExecution","id":"i1","command":["zsh","-lc","make"],"status":"failed","aggregatedOutput":"no","exitCode":1}"#,
        )
        + &call("c2", "exec_command", r#"{"cmd":"ls"}"#)
        + &item(
            r#"{"type":"CommandExecution","id":"i2","command":["zsh","-lc","ls"],"status":"completed","exit_code":0}"#,
        )
        + &output("c2", "Process exited with code 0\nOutput:\n")
        + &item(
            r#"{"type":"FileChange","id":"i3","changes":{"a.rs":{"type":"add"}},"status":"completed"}"#,
        )
        + &item(
            r#"{"type":"FileChange","id":"i4","changes":[{"path":"b.rs"}],"status":"declined"}"#,
        )
        + &item(
            r#"{"type":"McpToolCall","id":"i5","server":"db","tool":"run","arguments":{"query":"x"},"status":"failed"}"#,
        )
        + &item(r#"{"type":"AgentMessage","id":"i6","content":[{"type":"Text","text":"so"}]}"#)
        + &message("assistant", "so")
        + &item(r#"{"type":"Reasoning","id":"i7"}"#);
    let session = session_of(&transcript);
    assert_eq!(session.exchanges[0].message_id.as_deref(), Some(id));
    let parts: Vec<_> = session.exchanges[0].parts.iter().map(|part| part.kind.clone()).collect();
    let expected = [
        asked("why"),
        ran("make", Outcome::Exited(1), "no"),
        ran("ls", Outcome::Succeeded, ""),
        edited("a.rs", Outcome::Succeeded),
        edited("b.rs", Outcome::Refused(None)),
        PartKind::Called {
            tool: "mcp__db__run".to_owned(),
            argument: "x".to_owned(),
            outcome: Outcome::Faulted,
            excerpt: String::new(),
        },
        answered("so"),
    ];
    assert_eq!(parts, expected);
    let (_, census) = read_as(NAME, &(transcript + &item(r#"{"type":"Novel"}"#)));
    assert_eq!(census.unknown.keys().collect::<Vec<_>>(), ["item Novel"]);
}

#[test]
fn prompts_are_found_where_no_event_tells_them() {
    let transcript = meta(OWN, "")
        + &message("user", "# AGENTS.md instructions for /code/shop\nbe nice")
        + &message("user", "<user_instructions>x</user_instructions>")
        + &message("user", "# Context\n## My request for Codex:\nwhy")
        + &message("assistant", "so")
        + &message("user", "and now");
    let session = session_of(&transcript);
    let parts: Vec<_> = session
        .exchanges
        .iter()
        .flat_map(|exchange| &exchange.parts)
        .map(|part| &part.kind)
        .collect();
    assert_eq!(parts, [&asked("why"), &answered("so"), &asked("and now")]);
    holds_when_cut(&Codex, NAME, &transcript, 2);
}

/// A rollout with most of what there is.
fn long() -> String {
    meta(OWN, r#""source":"cli","#)
        + &at(5, "turn_context", &format!(r#"{{"turn_id":"{OWN_TURN}"}}"#))
        + &message("user", "one")
        + &prompt("one")
        + &message("assistant", "yes")
        + &call("c1", "exec_command", r#"{"cmd":"make"}"#)
        + &output("c1", "Process exited with code 2\nOutput:\nno")
        + &prompt("two")
        + &message("assistant", "é")
        + &event(r#"{"type":"thread_name_updated","thread_name":"Cart"}"#)
        + &prompt("three")
        + &call("c2", "exec_command", r#"{"cmd":"make"}"#)
        + &output("c2", "Process exited with code 0\nOutput:\n")
}

#[test]
fn reading_on_is_the_same_as_reading_whole() {
    holds_when_cut(&Codex, NAME, &long(), 2);
}

#[test]
fn an_unknown_kind_changes_only_the_census() {
    holds_with_unknown(&Codex, NAME, &long());
}

#[test]
fn damage_to_a_line_loses_no_neighbour() {
    let noise = event(r#"{"type":"token_count"}"#);
    holds_when_damaged(&Codex, NAME, &long(), noise.trim_end(), "three");
    // The first line tells whose session it is, and holds instructions of any kind.
    let head = |text: &str| format!(r#""source":"cli","base_instructions":"{text}","#);
    let read = |text: &str| session_of(&(meta(OWN, &head(text)) + &prompt("go")));
    assert_eq!(read("half \\ud83d"), read("whole words"));
}

#[test]
fn a_session_is_found_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let (day, old) = (root.join("sessions/2026/09/01"), root.join("archived_sessions"));
    std::fs::create_dir_all(&day).unwrap();
    std::fs::create_dir_all(&old).unwrap();
    for path in [
        day.join("rollout-a.jsonl"),
        day.join("rollout-a.jsonl.zst"),
        day.join("rollout-b.jsonl.zst"),
        day.join("notes.jsonl"),
        old.join("rollout-b.jsonl"),
        old.join("rollout-c.jsonl"),
        root.join("history.jsonl"),
    ] {
        std::fs::write(path, "").unwrap();
    }
    let found = |root: &Path| -> Vec<PathBuf> {
        Codex.find(root).unwrap().into_iter().map(|file| file.path).collect()
    };
    let expected =
        [day.join("rollout-a.jsonl"), day.join("rollout-b.jsonl.zst"), old.join("rollout-c.jsonl")];
    assert_eq!(found(root), expected);
    assert_eq!(found(&day).len(), 2, "a folder can be named as well");
    assert_eq!(found(&root.join("none")), [] as [PathBuf; 0]);
}

#[test]
fn our_own_paginated_rollout_is_read_plain_and_compressed() {
    let Some(root) = fixtures().map(|folder| folder.join("codex/own")) else { return };
    let files = Codex.find(&root).unwrap();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        let (sessions, census) = sessions_of(&Codex, &file.path);
        assert_eq!((census.broken, census.unknown.len()), (0, 0), "{census:?}");
        let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
        assert_eq!(session.native_id, "01a0aaaa-0000-7000-8000-000000000001");
        assert!(!session.facts.is_by_program);
        let parts: Vec<_> = session.exchanges[0].parts.iter().map(|part| &part.kind).collect();
        let failed = ran("pnpm test cart", Outcome::Exited(1), "1 test failed: price expired");
        let answer = answered("Prices expire at midnight; freeze the clock.");
        assert_eq!(parts, [&asked("why is the cart test flaky"), &failed, &answer]);
    }
}

/// What differs from the counts of a simple reader, and why.
#[test]
fn real_transcripts_hold_what_was_counted() {
    let counts = |[user, assistant, commands, edits, exit_nonzero, refused, summaries]: [u64;
                      7]| {
        GoldenCounts { user, assistant, commands, edits, exit_nonzero, refused, summaries }
    };
    let explained = [
        (
            "git-sync__019d7d08-46c9-7f73-affe-4e6ca9852d56.jsonl.gz",
            counts([16, 175, 328, 88, 20, 0, 0]),
            "six exit codes are told twice, by an event and by `write_stdin`; the summary is empty",
        ),
        (
            "git-sync__019d85eb-8e2e-7e83-8d90-640dce44d5f9.jsonl",
            counts([8, 34, 73, 9, 9, 0, 0]),
            "one exit code is told twice, by an event and by `write_stdin`",
        ),
    ];
    compare(&Codex, "codex", &explained);
}
