//! Tests of the reader of Claude Code, on lines that we made up, and on real ones where they are at hand.

use super::*;
use crate::exchange::{PartKind, SessionRead};
use crate::readers::golden::{GoldenCounts, compare, sessions_of};
use crate::readers::resume_law::{holds_when_cut, holds_when_damaged, holds_with_unknown};
use crate::real_files::fixtures;
use crate::transcript::{Census, Outcome, TitleSource};

/// A line of a session, with its id, its kind and more fields.
fn line(id: &str, kind: &str, more: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"{id}","sessionId":"s1","cwd":"/code/shop","gitBranch":"main","timestamp":"2026-09-10T08:00:00.000Z",{more}}}"#
    ) + "\n"
}

fn user(id: &str, text: &str) -> String {
    line(id, "user", &format!(r#""message":{{"role":"user","content":{text:?}}}"#))
}

fn assistant_line(id: &str, blocks: &str) -> String {
    line(id, "assistant", &format!(r#""message":{{"role":"assistant","content":[{blocks}]}}"#))
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":{text:?}}}"#)
}

fn call(id: &str, name: &str, input: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
}

fn came_back(id: &str, call: &str, is_error: &str, output: &str) -> String {
    let block = format!(
        r#"{{"type":"tool_result","tool_use_id":"{call}","is_error":{is_error},"content":{output:?}}}"#
    );
    line(id, "user", &format!(r#""message":{{"role":"user","content":[{block}]}}"#))
}

fn read_as(name: &str, transcript: &str) -> (Vec<SessionRead>, Census) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, transcript).unwrap();
    sessions_of(&ClaudeCode, &path)
}

fn parts_of(transcript: &str) -> Vec<PartKind> {
    let (sessions, census) = read_as("s1.jsonl", transcript);
    assert_eq!((census.broken, census.unknown.len()), (0, 0), "{census:?}");
    assert!(sessions.len() <= 1, "{sessions:?}");
    let exchanges = sessions.into_iter().flat_map(|session| session.exchanges);
    exchanges.flat_map(|exchange| exchange.parts).map(|part| part.what).collect()
}

fn asked(text: &str) -> PartKind {
    PartKind::Asked(text.to_owned())
}

fn answered(text: &str) -> PartKind {
    PartKind::Answered(text.to_owned())
}

fn outcome_of(is_error: &str, output: &str) -> (Outcome, Option<String>) {
    let transcript = user("u1", "go")
        + &assistant_line("a1", &call("c1", "Bash", r#"{"command":"make"}"#))
        + &came_back("u2", "c1", is_error, output);
    let parts = parts_of(&transcript);
    let PartKind::Ran { outcome, .. } = &parts[1] else { panic!("{parts:?}") };
    let decided = parts.get(2).map(|part| match part {
        PartKind::Decided(reason) => reason.clone(),
        other => panic!("{other:?}"),
    });
    (outcome.clone(), decided)
}

#[test]
fn a_session_is_questions_answers_and_calls() {
    let calls = [
        r#"{"type":"thinking","thinking":"hm","signature":"x"}"#.to_owned(),
        text("I look."),
        call("c1", "Bash", r#"{"command":"npm test","description":"run"}"#),
        call(
            "c2",
            "MultiEdit",
            r#"{"file_path":"/code/shop/cart.ts","edits":[{"type":"progress"}]}"#,
        ),
        call("c3", "NotebookEdit", r#"{"notebook_path":"a.ipynb"}"#),
        call("c4", "Grep", r#"{"pattern":"clock","path":"src"}"#),
        call("c5", "mcp__db__run", r#"{"query":{"deep":1},"text":"all"}"#),
        call("c6", "TodoWrite", r#"{"todos":[]}"#),
    ];
    let transcript =
        user("u1", "why is the cart test flaky") + &assistant_line("a1", &calls.join(","));
    let (sessions, census) = read_as("s1.jsonl", &transcript);
    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!(session.native_id, "s1");
    assert_eq!(session.facts.directory.as_deref(), Some("/code/shop"));
    assert_eq!(session.facts.branch.as_deref(), Some("main"));
    assert!(!session.facts.is_by_program);
    assert_eq!(session.exchanges[0].message_id.as_deref(), Some("u1"));
    assert_eq!(session.exchanges[0].span_ms(), Some((1_789_027_200_000, 1_789_027_200_000)));
    assert_eq!(census.understood, 2);
    let (outcome, excerpt) = (Outcome::Unknown, String::new());
    let called = |tool: &str, argument: &str| PartKind::Called {
        tool: tool.to_owned(),
        argument: argument.to_owned(),
        outcome: Outcome::Unknown,
        excerpt: String::new(),
    };
    let edited = |path: &str| PartKind::Edited {
        path: path.to_owned(),
        outcome: Outcome::Unknown,
        excerpt: String::new(),
    };
    let parts: Vec<_> = session.exchanges[0].parts.iter().map(|part| part.what.clone()).collect();
    let expected = [
        asked("why is the cart test flaky"),
        answered("I look."),
        PartKind::Ran { command: "npm test".to_owned(), outcome, excerpt },
        edited("/code/shop/cart.ts"),
        edited("a.ipynb"),
        called("Grep", "clock"),
        called("mcp__db__run", "all"),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn results_tell_how_a_call_ended() {
    for (is_error, output, expected) in [
        ("false", "ok", Outcome::Succeeded),
        ("null", "No matches found", Outcome::Succeeded),
        ("false", "Exit code 1 is what it prints", Outcome::Succeeded),
        ("false", "Command running in background with ID: b1", Outcome::Unknown),
        ("true", "Exit code 127\nzsh: not found", Outcome::Exited(127)),
        ("true", "Exit code 143\nCommand timed out after 2m", Outcome::Exited(143)),
        ("true", "Command timed out after 2m 0.0s", Outcome::Exited(143)),
        ("true", "<tool_use_error>File has not been read yet</tool_use_error>", Outcome::Faulted),
        ("true", "fatal: no repository", Outcome::Faulted),
    ] {
        assert_eq!(outcome_of(is_error, output), (expected, None), "{output}");
    }
}

#[test]
fn a_refusal_keeps_the_reason_of_the_person() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    assert_eq!(outcome_of("true", refused), (Outcome::Refused(None), None));
    let other = "The user doesn't want to take this action right now. STOP";
    assert_eq!(outcome_of("true", other), (Outcome::Refused(None), None));
    let reason = format!("{refused} To tell you how to proceed, the user said:\nuse pnpm");
    let expected = Some("use pnpm".to_owned());
    assert_eq!(outcome_of("true", &reason), (Outcome::Refused(expected.clone()), expected.clone()));
    let noted = format!("{reason}\n\nNote: The user's next message may contain a correction.");
    assert_eq!(outcome_of("true", &noted), (Outcome::Refused(expected.clone()), expected));
    let talk = format!("{refused} the user said:\nThe user wants to clarify these questions.");
    assert_eq!(outcome_of("true", &talk), (Outcome::Refused(None), None));
}

#[test]
fn plans_questions_and_answers_are_kept() {
    let question = r#"{"questions":[{"question":"Which one?","options":[{"label":"A"}]}]}"#;
    let transcript = user("u1", "plan it")
        + &assistant_line("a1", &call("c1", "AskUserQuestion", question))
        + &came_back(
            "u2",
            "c1",
            "false",
            "User has answered your questions: \"Which one?\"=\"A. B\". You can now continue with it.",
        )
        + &assistant_line("a2", &call("c2", "ExitPlanMode", r##"{"plan":"# Plan"}"##))
        + &came_back("u3", "c2", "true", "The user doesn't want to proceed with this tool use.");
    let parts = parts_of(&transcript);
    let called = |tool: &str, argument: &str, outcome| PartKind::Called {
        tool: tool.to_owned(),
        argument: argument.to_owned(),
        outcome,
        excerpt: if tool == "ExitPlanMode" {
            "The user doesn't want to proceed with this tool use.".to_owned()
        } else {
            String::new()
        },
    };
    let expected = [
        asked("plan it"),
        called("AskUserQuestion", "Which one?", Outcome::Succeeded),
        PartKind::Decided("\"Which one?\"=\"A. B\"".to_owned()),
        PartKind::Planned("# Plan".to_owned()),
        called("ExitPlanMode", "", Outcome::Refused(None)),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn what_a_program_wrote_is_no_question() {
    let prompt = |more: &str| {
        line("u", "user", &format!(r#"{more}"message":{{"role":"user","content":"notice"}}"#))
    };
    for more in [
        r#""isMeta":true,"#,
        r#""promptSource":"system","#,
        r#""promptSource":"sdk","origin":{"kind":"task-notification"},"#,
        r#""isSidechain":true,"#,
    ] {
        assert_eq!(parts_of(&prompt(more)), [], "{more}");
    }
    assert_eq!(parts_of(&user("u", "<task-notification>done</task-notification>")), []);
    let summary = PartKind::Summarised("notice".to_owned());
    assert_eq!(parts_of(&prompt(r#""isCompactSummary":true,"#)), [summary]);
    assert_eq!(parts_of(&user("u", "[Request interrupted by user]")), [PartKind::Interrupted]);
    let command = PartKind::Ran {
        command: "git push".to_owned(),
        outcome: Outcome::Unknown,
        excerpt: String::new(),
    };
    assert_eq!(parts_of(&user("u", "<bash-input>git push</bash-input>")), [command]);
    for (more, is_by_program) in [
        (r#""promptSource":"sdk","entrypoint":"sdk-py","#, true),
        (r#""promptSource":"sdk","origin":{"kind":"human"},"entrypoint":"claude-desktop","#, false),
        (r#""promptSource":"typed","entrypoint":"cli","#, false),
        (r#""entrypoint":"sdk-cli","#, true),
    ] {
        let (sessions, _) = read_as("s1.jsonl", &prompt(more));
        assert_eq!(sessions[0].facts.is_by_program, is_by_program, "{more}");
        assert_eq!(sessions[0].exchanges.len(), 1);
    }
}

#[test]
fn errors_of_the_model_are_failures_of_the_session() {
    let reply = |more: &str| {
        line(
            "a",
            "assistant",
            &format!(
                r#"{more}"message":{{"model":"<synthetic>","content":[{{"type":"text","text":"API Error: 529"}}]}}"#
            ),
        )
    };
    let failed = PartKind::Failed("API Error: 529".to_owned());
    assert_eq!(parts_of(&reply(r#""isApiErrorMessage":true,"#)), [failed]);
    assert_eq!(parts_of(&reply("")), []);
}

#[test]
fn glued_lines_and_noise_lose_nothing() {
    let noise = r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{"x":1}}"#;
    let transcript = format!(
        "{}{noise}\n{noise}{}{}{noise}\n",
        user("u1", "one"),
        user("u2", "two"),
        assistant_line("a1", &text("done")).trim_end()
    );
    let progress = line("p", "progress", r#""data":{"type":"agent_progress","message":{}}"#);
    let reminder = line("r", "attachment", r#""attachment":{"type":"task_reminder","content":[]}"#);
    let parts = parts_of(&(transcript + &progress + &reminder));
    assert_eq!(parts, [asked("one"), asked("two"), answered("done")]);
}

#[test]
fn titles_belong_to_the_session_that_they_name() {
    let summary = |leaf: &str, text: &str| {
        format!("{{\"type\":\"summary\",\"summary\":\"{text}\",\"leafUuid\":\"{leaf}\"}}\n")
    };
    let title = |kind: &str, session: &str, text: &str| {
        let field = if kind == "ai-title" { "aiTitle" } else { "customTitle" };
        format!("{{\"type\":\"{kind}\",\"{field}\":\"{text}\",\"sessionId\":\"{session}\"}}\n")
    };
    let begun = summary("elsewhere", "Another session") + &user("u1", "go");
    let titled = |more: &str| {
        let (sessions, _) = read_as("s1.jsonl", &(begun.clone() + more));
        sessions[0].facts.title.clone()
    };
    let is = |source, text: &str| Some((source, text.to_owned()));
    assert_eq!(titled(""), None);
    assert_eq!(titled(&summary("u1", "This one")), is(TitleSource::Summary, "This one"));
    assert_eq!(titled(&title("ai-title", "s1", "Cart")), is(TitleSource::Model, "Cart"));
    assert_eq!(titled(&title("custom-title", "s0", "Parent")), None);
    let both = title("custom-title", "s1", "Mine") + &title("ai-title", "s1", "Cart");
    assert_eq!(titled(&both), is(TitleSource::Person, "Mine"));
    let early = title("ai-title", "s1", "Early") + &user("u1", "go");
    assert_eq!(read_as("s1.jsonl", &early).0[0].facts.title, is(TitleSource::Model, "Early"));
}

fn queue(operation: &str, content: &str) -> String {
    let content =
        if content.is_empty() { String::new() } else { format!(",\"content\":{content:?}") };
    format!(
        r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"2026-09-10T08:00:00.000Z","sessionId":"s1"{content}}}"#
    ) + "\n"
}

fn queued_command(text: &str) -> String {
    line(
        "q",
        "attachment",
        &format!(r#""attachment":{{"type":"queued_command","prompt":{text:?}}}"#),
    )
}

#[test]
fn prompts_typed_meanwhile_are_told_once() {
    let (begin, done) = (user("u1", "go"), assistant_line("a1", &text("done")));
    let told = |steps: &[String]| parts_of(&(begin.clone() + &steps.concat() + &done));
    let once = [asked("go"), asked("and b"), answered("done")];
    let enqueued = queue("enqueue", "and b");
    let taken = queue("remove", "");
    for steps in [
        vec![enqueued.clone(), queue("dequeue", ""), user("u2", "and b")],
        vec![enqueued.clone(), taken.clone()],
        vec![enqueued.clone(), taken.clone(), queued_command("and b")],
        vec![enqueued.clone(), taken.clone(), user("u2", "and b")],
        vec![enqueued.clone(), queue("remove", "and b"), queued_command("and b")],
        vec![queue("enqueue", "{\"task_id\":\"b1\"}"), enqueued.clone(), taken.clone(), taken],
    ] {
        assert_eq!(told(&steps), once, "{steps:?}");
    }
    let back = [enqueued, queue("popAll", ""), queue("remove", "")];
    assert_eq!(told(&back), [asked("go"), answered("done")], "it was taken back to be edited");
    let notice = "<task-notification>x</task-notification>";
    assert_eq!(told(&[queued_command(notice)]), [asked("go"), answered("done")]);
}

#[test]
fn an_agent_is_a_session_of_its_own_below_its_parent() {
    let agent = |id: &str, text: &str| {
        user(id, text).replacen("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"a1b2\",\"uuid\"", 1)
    };
    let transcript = agent("x1", "List tests");
    let (sessions, _) = read_as("agent-a1b2.jsonl", &transcript);
    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!((session.native_id.as_str(), session.exchanges.len()), ("a1b2", 1));
    assert_eq!(session.facts.parent.as_deref(), Some("s1"));
    assert!(session.facts.is_by_program);
    // Between the lines of its parent, as old versions wrote it, it is left out.
    let parts = parts_of(&(user("u1", "go") + &transcript + &assistant_line("a1", &text("done"))));
    assert_eq!(parts, [asked("go"), answered("done")]);
}

#[test]
fn two_sessions_in_one_file_are_told_apart() {
    let second = user("u2", "two").replace("\"s1\"", "\"s2\"");
    let third = user("u3", "three");
    let (sessions, _) = read_as("s1.jsonl", &(user("u1", "one") + &second + &third));
    let told: Vec<_> =
        sessions.iter().map(|one| (one.native_id.as_str(), one.exchanges.len())).collect();
    assert_eq!(told, [("s1", 1), ("s2", 1)], "the first does not begin again");
    let prompts: Vec<_> = sessions[1].exchanges[0].parts.iter().map(|part| &part.what).collect();
    assert_eq!(prompts, [&asked("two"), &asked("three")]);
    assert_eq!(sessions[1].exchanges[0].message_id.as_deref(), Some("u2"));
}

#[test]
fn a_copy_keeps_the_ids_of_its_messages() {
    let copied = user("u1", "one").replace("\"s1\"", "\"s2\"").replacen(
        "\"uuid\"",
        "\"forkedFrom\":{\"sessionId\":\"s1\",\"messageUuid\":\"u1\"},\"uuid\"",
        1,
    );
    let (sessions, _) = read_as("s2.jsonl", &copied);
    assert_eq!(sessions[0].facts.fork_of.as_deref(), Some("s1"));
    assert_eq!(sessions[0].exchanges[0].message_id.as_deref(), Some("u1"));
}

/// A transcript with most of what there is.
fn long() -> String {
    let summary = "{\"type\":\"summary\",\"summary\":\"Other\",\"leafUuid\":\"x\"}\n";
    let moved = assistant_line("a3", &text("é moved")).replace("/code/shop", "/code/other");
    [
        summary.to_owned(),
        user("u1", "one"),
        assistant_line("a1", &(text("yes") + "," + &call("c1", "Bash", r#"{"command":"make"}"#))),
        queue("enqueue", "meanwhile"),
        came_back("u2", "c1", "true", "Exit code 2\nno"),
        queue("remove", ""),
        assistant_line("a2", &text("ok")),
        user("u3", "two"),
        moved,
        "{\"type\":\"ai-title\",\"aiTitle\":\"Cart\",\"sessionId\":\"s1\"}\n".to_owned(),
        user("u4", "three"),
        assistant_line("a4", &call("c2", "Write", r#"{"file_path":"a.rs"}"#)),
        came_back("u5", "c2", "false", "ok"),
    ]
    .concat()
}

#[test]
fn reading_on_is_the_same_as_reading_whole() {
    let text = long();
    holds_when_cut(&ClaudeCode, "s1.jsonl", &text, 2);
    let agent = text.replace("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"uuid\"");
    holds_when_cut(&ClaudeCode, "agent-a1.jsonl", &agent, 1);
}

#[test]
fn an_unknown_kind_changes_only_the_census() {
    holds_with_unknown(&ClaudeCode, "s1.jsonl", &long());
}

#[test]
fn damage_to_a_line_loses_no_neighbour() {
    let noise = r#"{"type":"progress","data":{"type":"agent_progress"}}"#;
    holds_when_damaged(&ClaudeCode, "s1.jsonl", &long(), (noise, "three"));
    let queued = r#"{"type":"queue-operation","operation":"enqueue""#;
    let glued = long().replace(&format!("\n{queued}"), queued);
    assert_eq!(glued.lines().count() + 1, long().lines().count());
    holds_when_cut(&ClaudeCode, "s1.jsonl", &glued, 2);
}

#[test]
fn transcripts_are_found_and_journals_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let below = root.join("projects/-code-shop/s1/subagents/workflows/w1");
    std::fs::create_dir_all(&below).unwrap();
    let projects = root.join("projects/-code-shop");
    for path in [
        below.join("agent-a3.jsonl"),
        below.join("journal.jsonl"),
        projects.join("s1.jsonl"),
        projects.join("s1/subagents/agent-a1.jsonl"),
        projects.join("s1/subagents/agent-a1.meta.json"),
        root.join("history.jsonl"),
        root.join("other.jsonl"),
    ] {
        std::fs::write(path, "").unwrap();
    }
    let names = |root: &Path| -> Vec<String> {
        let found = ClaudeCode.find(root).unwrap();
        let name =
            |file: TranscriptFile| file.path.file_name().unwrap().to_str().unwrap().to_owned();
        found.into_iter().map(name).collect()
    };
    let transcripts =
        ["s1/subagents/agent-a1.jsonl", "agent-a3.jsonl", "s1.jsonl", "history.jsonl"];
    let transcripts = transcripts.map(|name| name.rsplit('/').next().unwrap());
    assert_eq!(names(root), transcripts);
    assert_eq!(names(&projects), transcripts[..3], "a folder of a project can be named as well");
    assert_eq!(names(&root.join("none")), [""; 0]);
}

#[test]
fn the_directory_for_configuration_can_be_named() {
    let named = |list: Option<&'static str>| {
        let lookup = move |name: &str| {
            list.filter(|_| name == "CLAUDE_CONFIG_DIR").map(std::ffi::OsString::from)
        };
        let home = PathBuf::from("/h");
        let (data, config) = (home.join("data"), home.join("config"));
        ClaudeCode.roots(&TranscriptPlaces {
            home,
            data,
            config,
            work_trees: Vec::new(),
            lookup: &lookup,
        })
    };
    assert_eq!(named(Some("/a, /b")), [PathBuf::from("/a"), PathBuf::from("/b")]);
    assert_eq!(named(None), [PathBuf::from("/h/.claude"), PathBuf::from("/h/.config/claude")]);
}

#[test]
fn prompts_without_a_transcript_are_thin_sessions() {
    let prompt = |session: &str, text: &str, at: u64| {
        format!(
            "{{\"display\":{text:?},\"pastedContents\":{{}},\"timestamp\":{at},\"project\":\"/code/{session}\",\"sessionId\":\"{session}\"}}\n"
        )
    };
    let transcript = prompt("s1", "one", 5)
        + &prompt("s2", "other", 6)
        + &prompt("s1", "/clear", 7)
        + &prompt("s1", "two", 8)
        + "{\"display\":\"old\",\"timestamp\":1,\"project\":\"/code/x\"}\n";
    let (sessions, census) = read_as("history.jsonl", &transcript);
    let [first, second] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!((first.native_id.as_str(), second.native_id.as_str()), ("s1", "s2"));
    assert_eq!(first.facts.directory.as_deref(), Some("/code/s1"));
    assert_eq!(first.exchanges[0].span_ms(), Some((5, 8)));
    assert_eq!((census.understood, census.left), (3, 2));
    holds_when_cut(&ClaudeCode, "history.jsonl", &transcript, 1);
    let file = |name: &str| TranscriptFile { path: name.into(), root: PathBuf::new() };
    assert!(ClaudeCode.holds_only_prompts(&file("history.jsonl")));
    assert!(!ClaudeCode.holds_only_prompts(&file("s1.jsonl")));
}

#[test]
fn our_own_made_up_home_is_read() {
    let Some(root) = fixtures().map(|folder| folder.join("claude-code/own")) else { return };
    let files = ClaudeCode.find(&root).unwrap();
    let sessions: Vec<_> =
        files.iter().map(|file| sessions_of(&ClaudeCode, &file.path).0).collect();
    let [transcripts, agents, thin] = sessions.as_slice() else { panic!("{files:?}") };
    let (transcripts, agents) =
        if agents[0].facts.is_by_program { (transcripts, agents) } else { (agents, transcripts) };
    let parent = "11111111-2222-4333-8444-555555555555";
    assert_eq!((transcripts.len(), transcripts[0].native_id.as_str()), (1, parent));
    assert_eq!((agents.len(), agents[0].native_id.as_str()), (1, "a1b2c3"));
    assert_eq!(agents[0].facts.parent.as_deref(), Some(parent));
    assert_eq!(
        thin.iter().map(|one| one.native_id.as_str()).collect::<Vec<_>>(),
        [parent, "99999999-2222-4333-8444-555555555555"]
    );
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
            "9b138c7e-bf80-4a5d-af75-e52fc19a2db5.jsonl",
            counts([7, 25, 23, 7, 1, 0, 4]),
            "four recaps, and a command that the person ran",
        ),
        (
            "c93f3533-0f6b-4a61-99bd-7b788208ad61.jsonl",
            counts([2, 5, 0, 2, 0, 0, 0]),
            "the last line has no end, so it may still be written",
        ),
        (
            "189d8afc-493f-49af-b59e-6a1ee9676a6e.jsonl",
            counts([1, 7, 4, 5, 1, 0, 0]),
            "the last line has no end, so it may still be written",
        ),
        (
            "0cd9edf7-459c-4900-af40-cf2c64dea525.jsonl",
            counts([5, 48, 10, 1, 1, 1, 0]),
            "one prompt was typed while the agent worked",
        ),
        (
            "e4599950-b028-44fb-a2d5-ca8caffa2c3d.jsonl",
            counts([11, 42, 39, 60, 3, 2, 0]),
            "`No response requested.` was said by the tool, not by the model",
        ),
        (
            "5e1ab9a6-bf0e-4850-bd88-c2e45dea3d20.jsonl",
            counts([2, 12, 8, 2, 1, 0, 0]),
            "one answer is only line breaks",
        ),
        (
            "5b613073-e70b-48a1-b6ae-c6aaa99ec2b1.jsonl",
            counts([24, 41, 86, 10, 2, 3, 11]),
            "eleven recaps, and a prompt that was typed while the agent worked",
        ),
        ("665c2e57-8c9f-4dd8-ba40-05c63f801620.jsonl", counts([2, 8, 9, 0, 0, 0, 1]), "a recap"),
        (
            "88db7fea-797f-49be-9036-c762ae804ce0.jsonl",
            counts([7, 14, 15, 7, 0, 0, 2]),
            "two recaps",
        ),
    ];
    compare(&ClaudeCode, "claude-code", &explained);
}
