//! Amp: one JSON value for each thread, as older versions kept it on the disk. Threads are on a server now, and what is
//! there is not read. Not here: its ledger of usage.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::json_parts::{
    CallNames, Lenient, MomentStamp, text_field, text_of, time_ms, value_at, whole_json,
};
use crate::prompt_text::typed_text;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the threads of Amp.
pub struct Amp;

static TOOL: Tool =
    Tool { name: "amp", title: "Amp", parser_version: 1, is_tried: false, days_kept: None };

const CALLS: CallNames = CallNames {
    shells: &["Bash", "shell_command"],
    edits: &["edit_file", "create_file", "format_file", "undo_edit"],
    patches: &["apply_patch"],
};

impl TranscriptReader for Amp {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    /// Amp follows XDG on every system.
    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        vec![places.named_or_home("XDG_DATA_HOME", ".local/share").join("amp/threads")]
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 0, &|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("T-") && has_extension(path, "json")
        })
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let thread: AmpThread = whole_json(&file.path)?;
        sink.session(&thread.id, SessionExtent::Whole);
        thread.tell_facts(sink);
        let began = time_ms(&thread.created);
        for message in thread.messages {
            let unknown = match &message.0 {
                Some(message) => message.report(began, sink),
                None => {
                    sink.count(RecordStatus::Broken);
                    continue;
                }
            };
            sink.count(unknown.map_or(RecordStatus::Understood, RecordStatus::Unknown));
        }
        Ok(Resume { offset: 0, state: Value::Null })
    }
}

/// A thread.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AmpThread {
    id: String,
    #[serde(default)]
    created: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    env: Value,
    #[serde(default, rename = "mainThreadID")]
    main_thread_id: Value,
    messages: Vec<Lenient<AmpMessage>>,
}

/// A message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AmpMessage {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    meta: Value,
    #[serde(default)]
    message_id: Value,
}

impl AmpThread {
    fn tell_facts(&self, sink: &mut dyn TranscriptSink) {
        let tree = value_at(&self.env, "/initial/trees/0");
        let directory = text_field(tree, "uri");
        let directory = directory.map(|uri| uri.strip_prefix("file://").unwrap_or(&uri).to_owned());
        let branch = text_field(&tree["repository"], "ref");
        let branch = branch.map(|name| name.trim_start_matches("refs/heads/").to_owned());
        let title = self.title.as_str().map(str::to_owned);
        let facts = [
            directory.map(SessionFact::Directory),
            branch.map(SessionFact::Branch),
            text_field(&tree["repository"], "url").map(SessionFact::Remote),
            title.map(|title| SessionFact::Title(TitleSource::Model, title)),
            self.main_thread_id.as_str().map(|id| SessionFact::Parent(id.to_owned())),
            self.main_thread_id.as_str().map(|_| SessionFact::ByProgram),
        ];
        facts.into_iter().flatten().for_each(|fact| sink.fact(fact));
    }
}

impl AmpMessage {
    /// Reports the message, and returns its role if that is not known.
    fn report(&self, began: Option<i64>, sink: &mut dyn TranscriptSink) -> Option<&str> {
        let number = self.message_id.as_i64().map(|number| number.to_string());
        let message_id = self.message_id.as_str().map(str::to_owned).or(number);
        let at_ms = time_ms(value_at(&self.meta, "/sentAt")).or(began);
        let stamp = MomentStamp { message_id, at_ms };
        let blocks = self.content.as_array().into_iter().flatten();
        match self.role.as_str() {
            "user" => {
                for block in blocks.filter(|block| block["type"] == "tool_result") {
                    stamp.report(sink, returned(block));
                }
                stamp.report(sink, MomentKind::Asked(typed_text(&text_of(&self.content))));
            }
            "assistant" => {
                stamp.report(sink, MomentKind::Answered(text_of(&self.content)));
                for block in blocks.filter(|block| block["type"] == "tool_use") {
                    let (call, tool) = (text_field(block, "id"), text_field(block, "name"));
                    let (call, tool) = (call.unwrap_or_default(), tool.unwrap_or_default());
                    for what in CALLS.happenings(&call, &tool, &block["input"]) {
                        stamp.report(sink, what);
                    }
                }
            }
            unknown => return Some(unknown),
        }
        None
    }
}

/// How a call ended: a command that failed is done, with an exit code.
fn returned(block: &Value) -> MomentKind {
    let (run, result) = (&block["run"], value_at(block, "/run/result"));
    let code = result["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
    let outcome = match (run["status"].as_str(), code) {
        (Some("done"), Some(code)) if code != 0 => Outcome::Exited(code),
        (Some("done"), _) => Outcome::Succeeded,
        (Some("rejected-by-user"), _) => Outcome::Refused(text_field(run, "reason")),
        (Some("error" | "cancelled"), _) => Outcome::Faulted,
        _ => Outcome::Unknown,
    };
    let output = text_field(result, "output").or_else(|| result.as_str().map(str::to_owned));
    let error = || text_field(&run["error"], "message").or_else(|| text_field(run, "error"));
    let call = text_field(block, "toolUseID").unwrap_or_default();
    MomentKind::Returned { call, outcome, output: output.or_else(error).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::golden;

    #[test]
    fn a_thread_is_read_with_its_calls() {
        let folder = tempfile::tempdir().unwrap();
        let call = |id: &str, command: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"cmd": command}});
        let result =
            |id: &str, run: Value| json!({"type": "tool_result", "toolUseID": id, "run": run});
        let tree = json!({"uri": "file:///w", "repository": {"url": "https://git.example.org/o/shop", "ref": "refs/heads/main"}});
        let thread = json!({
            "v": 9, "id": "T-1", "created": 1000, "title": "Sort", "env": {"initial": {"trees": [tree]}},
            "messages": [
                {"role": "user", "messageId": 0, "content": [{"type": "text", "text": "go"}], "meta": {"sentAt": 2000}},
                {"role": "assistant", "messageId": 1, "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "so"}, call("1", "make"), call("2", "rm x"), call("3", "ls")]},
                {"role": "user", "messageId": 2, "content": [
                    result("1", json!({"status": "done", "result": {"output": "no rule", "exitCode": 2}})),
                    result("2", json!({"status": "rejected-by-user", "reason": "keep it"})),
                    result("3", json!({"status": "done", "result": {"output": "a", "exitCode": 0}})),
                ]},
                {"role": "oracle", "content": []},
                7,
            ],
        });
        for (name, text) in [("T-1.json", thread.to_string()), ("other.json", "{}".to_owned())] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let found = Amp.find(folder.path()).unwrap();
        let [file] = found.as_slice() else { panic!("{found:?}") };
        let (sessions, census) = golden::sessions_of(&Amp, &file.path);
        let exchange = &sessions[0].exchanges[0];
        assert_eq!(exchange.span_ms(), Some((1000, 2000)));
        let outcomes: Vec<_> = exchange
            .parts
            .iter()
            .filter_map(|part| match &part.what {
                PartKind::Ran { outcome, .. } => Some(outcome.clone()),
                _ => None,
            })
            .collect();
        let refused = Outcome::Refused(Some("keep it".to_owned()));
        assert_eq!(outcomes, [Outcome::Exited(2), refused, Outcome::Succeeded]);
        let facts = &sessions[0].facts;
        assert_eq!(
            (facts.directory.as_deref(), facts.branch.as_deref()),
            (Some("/w"), Some("main"))
        );
        assert_eq!((census.unknown["oracle"], census.broken), (1, 1));
    }

    #[test]
    fn a_file_of_another_form_is_an_error_not_silence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("T-1.json");
        std::fs::write(&path, "{\"id\": \"T-1\"}").unwrap();
        let (_, _, end) = golden::try_sessions_of(&Amp, &path, None);
        assert!(matches!(end, Err(ReadError::Form { .. })));
    }
}
