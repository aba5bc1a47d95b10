//! Cline and its fork Roo Code: a folder for each task with the messages as they were sent to the model, and for newer
//! versions of Cline one file for each session. All are rewritten whole. Not here: what their views show
//! (`ui_messages.json`), which holds the same once more.
//!
//! Older versions call tools by elements in the text, and put the results into the next prompt.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::json_parts::{CallNames, MomentStamp, text_field, text_of, value_at, whole_json};
use super::message_blocks::BlockRules;
use crate::prompt_text::typed_text;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the tasks of Cline.
pub struct Cline;

/// Reads the tasks of Roo Code.
pub struct Roo;

static CLINE: Tool =
    Tool { name: "cline", title: "Cline", parser_version: 1, is_tried: false, days_kept: None };

static ROO: Tool =
    Tool { name: "roo", title: "Roo Code", parser_version: 1, is_tried: false, days_kept: None };

const RULES: BlockRules = BlockRules {
    calls: CallNames {
        shells: &["execute_command", "run_commands"],
        edits: &[
            "write_to_file",
            "replace_in_file",
            "apply_diff",
            "insert_content",
            "search_and_replace",
            "editor",
            "new_rule",
        ],
        patches: &["apply_patch"],
    },
    outcome: outcome_of,
};

/// Tools that older versions call by elements in the text.
const IN_TEXT: &[&str] = &[
    "execute_command",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "read_file",
    "search_files",
    "list_files",
    "use_mcp_tool",
    "ask_followup_question",
    "attempt_completion",
    "plan_mode_respond",
    "new_task",
];

/// Editors that keep the data of extensions in the same way.
const HOSTS: &[&str] = &["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// The messages of a task, the newer name first.
const MESSAGES: [&str; 2] = ["api_conversation_history.json", "claude_messages.json"];

/// Ends the name of a file with the messages of a session.
const SESSION: &str = "messages.json";

/// What the tool tells the model when the person refused.
const DENIED: &str = "The user denied this operation";

impl TranscriptReader for Cline {
    fn tool(&self) -> &'static Tool {
        &CLINE
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let mut homes = storages(places, "saoudrizwan.claude-dev");
        homes.push(places.home.join(".cline/data"));
        homes.iter().flat_map(|home| [home.join("tasks"), home.join("sessions")]).collect()
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        tasks_below(root)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        read_task(file, sink)
    }
}

impl TranscriptReader for Roo {
    fn tool(&self) -> &'static Tool {
        &ROO
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let homes = storages(places, "rooveterinaryinc.roo-cline");
        homes.iter().map(|home| home.join("tasks")).collect()
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        tasks_below(root)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        read_task(file, sink)
    }
}

/// The folders in which editors keep the data of an extension.
fn storages(places: &TranscriptPlaces<'_>, extension: &str) -> Vec<PathBuf> {
    let below = |host: &&str| places.config.join(host).join("User/globalStorage").join(extension);
    HOSTS.iter().map(below).collect()
}

fn tasks_below(root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
    let [newer, older] = MESSAGES;
    files_below(root, 1, &|path| {
        let is = |name: &str| path.file_name().is_some_and(|file| file == name);
        is(newer)
            || is(older) && !path.with_file_name(newer).is_file()
            || has_extension(path, SESSION)
    })
}

/// Reads a list of messages, or a session that has one.
fn read_task(file: &TranscriptFile, sink: &mut dyn TranscriptSink) -> Result<Resume, ReadError> {
    let path = &file.path;
    let mut value: Value = whole_json(path)?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let id =
        text_field(&value, "sessionId").unwrap_or_else(|| folder.unwrap_or_default().to_owned());
    let list =
        if value.is_array() { Some(value) } else { value.get_mut("messages").map(Value::take) };
    let Some(Value::Array(messages)) = list else {
        return Err(ReadError::form(path, "no list of messages"));
    };
    sink.session(&id, SessionExtent::Whole);
    let began = facts_beside(path, &id, sink);
    for (place, message) in messages.iter().enumerate() {
        let mut stamp = MomentStamp::from_values(&message["id"], &message["ts"]);
        stamp.at_ms = stamp.at_ms.or(began);
        let unknown = report_message(place, message, &stamp, sink);
        sink.count(match unknown.as_deref() {
            None => RecordStatus::Understood,
            Some("") => RecordStatus::Left,
            Some(kind) => RecordStatus::Unknown(kind),
        });
    }
    Ok(Resume { offset: 0, state: Value::Null })
}

/// Reports what files beside the messages say of the task, and returns when it began.
fn facts_beside(path: &Path, id: &str, sink: &mut dyn TranscriptSink) -> Option<i64> {
    let list = path.ancestors().nth(3).map(|home| home.join("state/taskHistory.json"));
    let of_list = || {
        let tasks: Vec<Value> = whole_json(&list?).ok()?;
        tasks.into_iter().find(|task| task.get("id").and_then(Value::as_str) == Some(id))
    };
    let manifest = path.with_file_name(format!("{id}.json"));
    let item = whole_json(&path.with_file_name("history_item.json"))
        .or_else(|_| whole_json::<Value>(&manifest))
        .ok()
        .or_else(of_list)?;
    let item = &item;
    let directory = ["cwdOnTaskInitialization", "workspace", "cwd"].iter();
    let fork = text_field(value_at(item, "/metadata/fork"), "forkedFromSessionId");
    let title = text_field(&item["metadata"], "title");
    let facts = [
        directory.filter_map(|name| text_field(item, name)).next().map(SessionFact::Directory),
        text_field(item, "parentTaskId").map(SessionFact::Parent),
        text_field(item, "parentTaskId").map(|_| SessionFact::ByProgram),
        (item["interactive"] == false).then_some(SessionFact::ByProgram),
        title.map(|title| SessionFact::Title(TitleSource::Model, title)),
        fork.map(SessionFact::ForkOf),
    ];
    facts.into_iter().flatten().for_each(|fact| sink.fact(fact));
    item["ts"].as_i64()
}

fn report_message(
    place: usize,
    message: &Value,
    stamp: &MomentStamp,
    sink: &mut dyn TranscriptSink,
) -> Option<String> {
    let text = text_of(&message["content"]);
    if message["role"] == "assistant"
        && IN_TEXT.iter().any(|tool| text.contains(&format!("<{tool}>")))
    {
        let (said, calls) = calls_in(&text);
        stamp.report(sink, MomentKind::Answered(said));
        for (tool, input) in calls {
            // Only one call is made at a time; its result stands in the next message.
            for what in RULES.calls.happenings(&format!("text-{}", place + 1), tool, &input) {
                stamp.report(sink, what);
            }
        }
        return None;
    }
    if message["role"] == "user" && text.starts_with('[') && text.contains("] Result:") {
        let (_, output) = text.split_once("] Result:").unwrap_or_default();
        let outcome = outcome_of(false, output);
        let (call, output) = (format!("text-{place}"), output.trim().to_owned());
        stamp.report(sink, MomentKind::Returned { call, outcome, output });
        decided(&text, stamp, sink);
        if let Some(feedback) = element(&text, "feedback") {
            stamp.report(sink, MomentKind::Asked(typed_text(feedback)));
        }
        return None;
    }
    let unknown = RULES.report_message(message, stamp, sink);
    for block in message["content"].as_array().into_iter().flatten() {
        // What the agent says at the end is the argument of a call, and what the person answers is a result.
        let said = match block["name"].as_str().unwrap_or_default() {
            "attempt_completion" => text_field(&block["input"], "result"),
            "plan_mode_respond" => text_field(&block["input"], "response"),
            _ => None,
        };
        if let Some(said) = said {
            stamp.report(sink, MomentKind::Answered(said));
        }
        if block["type"] == "tool_result" {
            decided(&text_of(&block["content"]), stamp, sink);
        }
    }
    unknown
}

/// Reports the answer to a question of the agent, if a result has one.
fn decided(result: &str, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
    if let Some(answer) = element(result, "answer") {
        stamp.report(sink, MomentKind::Decided(answer.trim().to_owned()));
    }
}

/// Takes the calls out of a text.
fn calls_in(text: &str) -> (String, Vec<(&'static str, Value)>) {
    let first = IN_TEXT.iter().filter_map(|tool| text.find(&format!("<{tool}>"))).min();
    let mut said = text.get(..first.unwrap_or(text.len())).unwrap_or(text).to_owned();
    let mut calls = Vec::new();
    for tool in IN_TEXT.iter().copied() {
        let Some(inside) = element(text, tool) else { continue };
        let mut input = Map::new();
        for name in ["command", "path", "query", "regex", "question", "server_name", "message"] {
            if let Some(value) = element(inside, name) {
                input.insert(name.to_owned(), Value::from(value.trim()));
            }
        }
        match tool {
            "attempt_completion" => {
                said.push_str(element(inside, "result").unwrap_or_default().trim());
            }
            "plan_mode_respond" => {
                said.push_str(element(inside, "response").unwrap_or_default().trim());
            }
            _ => calls.push((tool, Value::Object(input))),
        }
    }
    (said, calls)
}

/// The inside of an element, up to the end of the text if it is not closed.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, inside) = text.split_once(&format!("<{name}>"))?;
    Some(inside.split_once(&format!("</{name}>")).map_or(inside, |(inside, _)| inside))
}

/// How a call ended. An exit code is told before the output.
fn outcome_of(is_error: bool, output: &str) -> Outcome {
    if output.contains(DENIED) {
        let reason = element(output, "feedback").map(|reason| reason.trim().to_owned());
        return Outcome::Refused(reason);
    }
    let told = output.split_once("\nOutput:").map_or(output, |(told, _)| told);
    let code = told.lines().take(8).find_map(|line| line.trim().strip_prefix("Exit code: "));
    match code.and_then(|code| code.trim().parse().ok()) {
        Some(code) if code != 0 => Outcome::Exited(code),
        _ if is_error || output.trim_start().starts_with("The tool execution failed") => {
            Outcome::Faulted
        }
        _ => Outcome::Succeeded,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exchange::{PartKind, SessionRead};
    use crate::readers::golden::{self, GoldenCounts};
    use crate::real_files::fixtures;

    fn write(folder: &Path, name: &str, value: &Value) -> PathBuf {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, value.to_string()).unwrap();
        path
    }

    fn part_texts(session: &SessionRead) -> Vec<String> {
        let parts = session.exchanges.iter().flat_map(|one| &one.parts);
        let text = |part: &PartKind| match part {
            PartKind::Asked(text) => format!("Q {text}"),
            PartKind::Answered(text) => format!("A {text}"),
            PartKind::Ran { command, outcome, .. } => format!("R {command} {outcome:?}"),
            PartKind::Edited { path, outcome, .. } => format!("E {path} {outcome:?}"),
            other => format!("{other:?}"),
        };
        parts.map(|part| text(&part.what)).collect()
    }

    fn text(role: &str, text: &str) -> Value {
        json!({"role": role, "content": [{"type": "text", "text": text}]})
    }

    #[test]
    fn a_task_of_blocks_is_read_with_the_facts_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let call = json!({"type": "tool_use", "id": "1", "name": "execute_command", "input": {"command": "make"}});
        let result = json!({"type": "tool_result", "tool_use_id": "1", "content": "Command execution was not successful.\nExit code: 2\nOutput:\nExit code: 9"});
        let messages = json!([
            text("user", "<task>\nbuild it\n</task>\n<environment_details>a tree</environment_details>"),
            {"role": "assistant", "content": [{"type": "text", "text": "so"}, call]},
            {"role": "user", "content": [result, {"type": "text", "text": "<environment_details>x</environment_details>"}]},
            {"role": "oracle", "content": "x"},
        ]);
        let path = write(folder.path(), "tasks/t1/api_conversation_history.json", &messages);
        let list = json!([{"id": "t1", "ts": 5, "cwdOnTaskInitialization": "/w"}]);
        write(folder.path(), "state/taskHistory.json", &list);
        let (sessions, census) = golden::sessions_of(&Cline, &path);
        assert_eq!(part_texts(&sessions[0]), ["Q build it", "A so", "R make Exited(2)"]);
        assert_eq!(sessions[0].native_id, "t1");
        assert_eq!(sessions[0].facts.directory.as_deref(), Some("/w"));
        assert_eq!(sessions[0].exchanges[0].span_ms(), Some((5, 5)));
        assert_eq!(census.unknown["message/oracle"], 1);
    }

    #[test]
    fn calls_in_texts_are_joined_with_their_results() {
        let folder = tempfile::tempdir().unwrap();
        let messages = json!([
            text("user", "<task>build it</task>"),
            text(
                "assistant",
                "I try.\n<execute_command>\n<command>make</command>\n</execute_command>"
            ),
            text(
                "user",
                "[execute_command for 'make'] Result:\n\nThe user denied this operation.\n<feedback>use just</feedback>"
            ),
            text(
                "assistant",
                "<write_to_file><path>a.rs</path><content>x</content></write_to_file>"
            ),
            text("user", "[write_to_file for 'a.rs'] Result:\n\nThe content was saved."),
            text(
                "assistant",
                "<ask_followup_question><question>Which?</question></ask_followup_question>"
            ),
            text(
                "user",
                "[ask_followup_question for 'Which?'] Result:\n\n<answer>\nthe small one\n</answer>"
            ),
            text("assistant", "<attempt_completion><result>Done.</result></attempt_completion>"),
        ]);
        let path = write(folder.path(), "tasks/t2/claude_messages.json", &messages);
        let item = json!({"id": "t2", "workspace": "/w", "parentTaskId": "t1"});
        write(folder.path(), "tasks/t2/history_item.json", &item);
        let (sessions, _) = golden::sessions_of(&Roo, &path);
        let expected = [
            "Q build it",
            "A I try.",
            "R make Refused(Some(\"use just\"))",
            "Q use just",
            "E a.rs Succeeded",
            "Called { tool: \"ask_followup_question\", argument: \"Which?\", outcome: Succeeded, excerpt: \"\" }",
            "Decided(\"the small one\")",
            "A Done.",
        ];
        assert_eq!(part_texts(&sessions[0]), expected);
        let facts = &sessions[0].facts;
        assert_eq!((facts.parent.as_deref(), facts.is_by_program), (Some("t1"), true));
    }

    #[test]
    fn a_session_file_and_its_manifest_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let messages = json!({"version": 1, "sessionId": "s1", "messages": [
            {"id": "m1", "role": "user", "ts": 7, "content": [{"type": "text", "text": "hello"}, {"type": "file", "path": "a", "content": "no"}]},
        ]});
        let path = write(folder.path(), "sessions/s1/s1.messages.json", &messages);
        let fork = json!({"forkedFromSessionId": "s0"});
        let manifest =
            json!({"cwd": "/w", "interactive": true, "metadata": {"title": "Greet", "fork": fork}});
        write(folder.path(), "sessions/s1/s1.json", &manifest);
        let found = Cline.find(&folder.path().join("sessions")).unwrap();
        assert_eq!(found.iter().map(|file| &file.path).collect::<Vec<_>>(), [&path]);
        let (sessions, _) = golden::sessions_of(&Cline, &path);
        assert_eq!(part_texts(&sessions[0]), ["Q hello"]);
        let facts = &sessions[0].facts;
        assert_eq!(facts.title, Some((TitleSource::Model, "Greet".to_owned())));
        assert_eq!((facts.fork_of.as_deref(), facts.is_by_program), (Some("s0"), false));
    }

    #[test]
    fn a_test_file_of_the_vendor_has_the_counts_of_its_blocks() {
        let Some(fixtures) = fixtures() else { return };
        let path = fixtures.join("cline/vendor/session.messages.json");
        let (sessions, census) = golden::sessions_of(&Cline, &path);
        let expected = GoldenCounts {
            user: 5,
            assistant: 14,
            commands: 1,
            edits: 4,
            ..GoldenCounts::default()
        };
        assert_eq!(GoldenCounts::count(&sessions), expected, "{census:?}");
    }

    #[test]
    fn a_file_of_another_form_is_an_error_not_silence() {
        let folder = tempfile::tempdir().unwrap();
        for value in [json!({"x": 1}), json!(7)] {
            let path = write(folder.path(), "tasks/t1/api_conversation_history.json", &value);
            let (_, _, end) = golden::try_sessions_of(&Cline, &path, None);
            assert!(matches!(end, Err(ReadError::Form { .. })), "{value}");
        }
    }
}
