//! Continue: one JSON value for each session, rewritten whole, and a list of all sessions beside it, which alone says when
//! one began. Not here: its development data, which repeats single messages.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::json_parts::{
    CallNames, Lenient, MomentStamp, text_field, text_of, value_at, whole_json,
};
use crate::prompt_text::typed_text;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the sessions of Continue.
pub struct Continue;

static TOOL: Tool = Tool {
    name: "continue",
    title: "Continue",
    parser_version: 1,
    is_tried: false,
    days_kept: None,
};

const CALLS: CallNames = CallNames {
    shells: &["run_terminal_command", "Bash"],
    edits: &[
        "edit_existing_file",
        "create_new_file",
        "single_find_and_replace",
        "multi_edit",
        "Edit",
        "Write",
        "MultiEdit",
    ],
    patches: &[],
};

/// The list of all sessions.
const LIST: &str = "sessions.json";

/// Titles that a session has before it gets one.
const NO_TITLES: &[&str] = &["New Session", "Untitled Session", "Chat"];

impl TranscriptReader for Continue {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        vec![places.named_or_home("CONTINUE_GLOBAL_DIR", ".continue").join("sessions")]
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 0, &|path| {
            has_extension(path, "json") && path.file_name().is_some_and(|name| name != LIST)
        })
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let chat: ContinueChat = whole_json(&file.path)?;
        sink.session(&chat.session_id, SessionExtent::Whole);
        if let Some(path) = chat.workspace_directory.as_str().filter(|path| !path.is_empty()) {
            let path = path.strip_prefix("file://").unwrap_or(path);
            sink.fact(SessionFact::Directory(path.to_owned()));
        }
        if let Some(title) = chat.title.as_str().filter(|title| !NO_TITLES.contains(title)) {
            sink.fact(SessionFact::Title(TitleSource::Model, title.to_owned()));
        }
        let stamp = MomentStamp { message_id: None, at_ms: began(&file.path, &chat.session_id) };
        for item in chat.history {
            let Some(item) = item.0 else {
                sink.count(RecordStatus::Broken);
                continue;
            };
            let unknown = item.report(&stamp, sink);
            sink.count(match unknown {
                None => RecordStatus::Understood,
                Some("") => RecordStatus::Left,
                Some(role) => RecordStatus::Unknown(role),
            });
        }
        Ok(Resume { offset: 0, state: Value::Null })
    }
}

/// Returns when a session began: the list tells it in milliseconds, as a text.
fn began(path: &Path, id: &str) -> Option<i64> {
    let list: Vec<Lenient<ContinueListed>> = whole_json(&path.with_file_name(LIST)).ok()?;
    let listed = list.into_iter().filter_map(|one| one.0).find(|one| one.session_id == id)?;
    listed.date_created.as_str()?.parse().ok()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContinueListed {
    session_id: String,
    date_created: Value,
}

/// A session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContinueChat {
    session_id: String,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    workspace_directory: Value,
    history: Vec<Lenient<ContinueItem>>,
}

/// A message with the calls that it made. What was attached to it is not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContinueItem {
    message: Value,
    #[serde(default)]
    tool_call_states: Value,
    #[serde(default)]
    conversation_summary: Value,
}

impl ContinueItem {
    /// Reports the message, and returns its role if that is not known; empty if it is left.
    fn report(&self, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) -> Option<&str> {
        let text = text_of(value_at(&self.message, "/content"));
        match value_at(&self.message, "/role").as_str().unwrap_or("no role") {
            "user" => stamp.report(sink, MomentKind::Asked(typed_text(&text))),
            "assistant" => {
                stamp.report(sink, MomentKind::Answered(text));
                let states = self.tool_call_states.as_array();
                states.into_iter().flatten().for_each(|state| tell_call(state, stamp, sink));
            }
            // A result stands in the state of its call as well.
            "tool" | "thinking" | "system" => return Some(""),
            unknown => return Some(unknown),
        }
        if let Some(summary) = self.conversation_summary.as_str() {
            stamp.report(sink, MomentKind::Summarised(summary.to_owned()));
        }
        None
    }
}

fn tell_call(state: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
    let function = value_at(state, "/toolCall/function");
    let call = text_field(state, "toolCallId").unwrap_or_default();
    let tool = text_field(function, "name").unwrap_or_default();
    let written = || serde_json::from_str(function["arguments"].as_str()?).ok();
    let parsed = Some(&state["parsedArgs"]).filter(|arguments| arguments.is_object()).cloned();
    let arguments = parsed.or_else(written).unwrap_or_default();
    for what in CALLS.happenings(&call, &tool, &arguments) {
        stamp.report(sink, what);
    }
    let items = state["output"].as_array().into_iter().flatten();
    let texts =
        |name: &str| items.clone().filter_map(|item| text_field(item, name)).collect::<Vec<_>>();
    let code = texts("status").iter().find_map(|status| exit_code(status));
    let outcome = match (state["status"].as_str(), code) {
        (Some("canceled"), _) => Outcome::Refused(None),
        (Some("done" | "errored"), Some(code)) if code != 0 => Outcome::Exited(code),
        (Some("done"), _) => Outcome::Succeeded,
        (Some("errored"), _) => Outcome::Faulted,
        _ => Outcome::Unknown,
    };
    let output = texts("content").join("\n");
    stamp.report(sink, MomentKind::Returned { call, outcome, output });
}

/// A command that failed is done, and its status ends with the exit code.
fn exit_code(status: &str) -> Option<i32> {
    status.rsplit_once("exit code ")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::golden;

    fn read(session: &Value) -> (Vec<crate::exchange::SessionRead>, crate::transcript::Census) {
        let folder = tempfile::tempdir().unwrap();
        let list = json!([{"sessionId": "s1", "dateCreated": "1767225600000"}]);
        std::fs::write(folder.path().join(LIST), list.to_string()).unwrap();
        let path = folder.path().join("s1.json");
        std::fs::write(&path, session.to_string()).unwrap();
        assert_eq!(Continue.find(folder.path()).unwrap().len(), 1, "the list is no session");
        golden::sessions_of(&Continue, &path)
    }

    #[test]
    fn a_session_is_read_with_its_calls() {
        let call = |id: &str, name: &str, arguments: &str, status: &str, output: Value| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"toolCallId": id, "toolCall": {"id": id, "function": function}, "status": status, "output": output})
        };
        let failed = json!([{"content": "no rule", "status": "Command failed with exit code 2"}]);
        let states = json!([
            call("1", "run_terminal_command", "{\"command\":\"make\"}", "done", failed),
            call("2", "edit_existing_file", "{\"filepath\":\"a.rs\"}", "canceled", json!([])),
            call("3", "edit_existing_file", "{\"filepath\":\"b.rs\"}", "generated", json!([])),
        ]);
        let (sessions, census) = read(&json!({
            "sessionId": "s1", "title": "Sort", "workspaceDirectory": "file:///w",
            "history": [
                {"message": {"role": "user", "content": [{"type": "text", "text": "go"}]}, "contextItems": [{"content": "no"}]},
                {"message": {"role": "thinking", "content": "hm"}},
                {"message": {"role": "assistant", "content": "so"}, "toolCallStates": states, "conversationSummary": "so far"},
                {"message": {"role": "tool", "content": "no rule", "toolCallId": "1"}},
                {"message": {"role": "oracle", "content": "x"}},
                7,
            ],
        }));
        let parts: Vec<_> = sessions[0].exchanges[0].parts.iter().map(|part| &part.what).collect();
        assert_eq!(parts.len(), 6, "{parts:?}");
        let excerpt = String::new();
        let edited = |path: &str, outcome| PartKind::Edited {
            path: path.to_owned(),
            outcome,
            excerpt: excerpt.clone(),
        };
        assert_eq!(*parts[3], edited("a.rs", Outcome::Refused(None)));
        assert_eq!(*parts[4], edited("b.rs", Outcome::Unknown));
        assert!(matches!(parts[2], PartKind::Ran { outcome: Outcome::Exited(2), .. }), "{parts:?}");
        let facts = &sessions[0].facts;
        assert_eq!(facts.directory.as_deref(), Some("/w"));
        assert_eq!(facts.title, Some((TitleSource::Model, "Sort".to_owned())));
        assert_eq!(
            sessions[0].exchanges[0].span_ms(),
            Some((1_767_225_600_000, 1_767_225_600_000))
        );
        assert_eq!((census.unknown["oracle"], census.broken, census.left), (1, 1, 2));
    }

    #[test]
    fn a_file_of_another_form_is_an_error_not_silence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1.json");
        std::fs::write(&path, "{\"sessionId\": \"s1\"}").unwrap();
        let (_, _, end) = golden::try_sessions_of(&Continue, &path, None);
        assert!(matches!(end, Err(ReadError::Form { .. })));
    }
}
