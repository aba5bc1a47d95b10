//! Qwen Code: a log of records, one file for each session, which only grows. Its envelope is like that of Claude Code, its
//! messages are like those of Gemini CLI. Not here: its telemetry, which is most of the bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json_parts::{CallNames, MomentStamp, exit_code_at_end, text_field, text_of, value_at};
use super::loose_json::may_be_glued;
use crate::prompt_text::typed_text;
use crate::records::{RecordLine, RecordLines, each_record};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::{
    MomentKind, Outcome, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the sessions of Qwen Code.
pub struct QwenCode;

static TOOL: Tool = Tool {
    name: "qwen-code",
    title: "Qwen Code",
    parser_version: 1,
    is_tried: true,
    days_kept: None,
};

const CALLS: CallNames = CallNames {
    shells: &["run_shell_command"],
    edits: &["write_file", "edit", "replace", "notebook_edit"],
    patches: &[],
};

/// Kinds of system records that are known and left.
const LEFT: &[&str] = &[
    "agent_bootstrap",
    "agent_retry",
    "agent_session_ready",
    "at_command",
    "attribution_snapshot",
    "branch_checkpoint",
    "file_history_snapshot",
    "goal_runtime",
    "goal_state",
    "goal_turn_end",
    "notification",
    "omni_recall",
    "realtime_message",
    "session_approval_mode",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_execution_engine",
    "session_model",
    "session_notes",
    "session_source",
    "session_sources_snapshot",
    "slash_command",
    "turn_result",
    "ui_telemetry",
    "user_text_elements",
];

/// The kind of a line stands before this byte.
const KIND_BYTES: usize = 400;

/// Most records whose place is remembered for a rewind.
const REMEMBERED_MAX: usize = 100_000;

impl TranscriptReader for QwenCode {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        vec![places.home.join(".qwen/projects")]
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 2, &|path| {
            let folder = path.parent().and_then(Path::file_name);
            has_extension(path, "jsonl") && folder.is_some_and(|name| name == "chats")
        })
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let path = &file.path;
        let resume = resume.filter(|resume| resume.offset > 0);
        let known = resume.and_then(|resume| QwenHead::deserialize(&resume.state).ok());
        let mut offset = resume.map_or(0, |resume| resume.offset);
        let mut log = QwenLog::new(path);
        match known.filter(|head| !head.id.is_empty()) {
            Some(head) if !is_rewound(path, offset)? => {
                log.begin(head, SessionExtent::Continued, sink);
            }
            _ => offset = 0,
        }
        let is_noise =
            |line: &[u8]| has_kind(line, b"\"subtype\":\"ui_telemetry\"") && !may_be_glued(line);
        let mut each = |record: Value, sink: &mut dyn TranscriptSink| log.read(&record, sink);
        let offset = each_record(path, offset, sink, &is_noise, &mut each)?;
        let state = serde_json::to_value(&log.head).unwrap_or_default();
        Ok(Resume { offset, state })
    }
}

/// Tells whether the beginning of a line has this text.
fn has_kind(line: &[u8], text: &[u8]) -> bool {
    let begin = line.get(..KIND_BYTES).unwrap_or(line);
    begin.windows(text.len()).any(|window| window == text)
}

/// Tells whether something was taken back behind this offset: how far back is known only to who reads from the beginning.
fn is_rewound(path: &Path, offset: u64) -> Result<bool, ReadError> {
    let mut lines = RecordLines::open(path, offset)?;
    while let Some(line) = lines.next_line().map_err(ReadError::io(path))? {
        if matches!(line, RecordLine::Whole { bytes, .. } if has_kind(bytes, b"\"subtype\":\"rewind\""))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the first record says of the session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct QwenHead {
    id: String,
    directory: Option<String>,
    branch: Option<String>,
    fork_of: Option<String>,
    is_by_program: bool,
}

impl QwenHead {
    fn from_record(record: &Value, path: &Path) -> Self {
        let name =
            || path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        Self {
            id: text_field(record, "sessionId").unwrap_or_else(name),
            directory: text_field(record, "cwd"),
            branch: text_field(record, "gitBranch"),
            fork_of: text_field(&record["forkedFrom"], "sessionId"),
            is_by_program: record["isSidechain"] == true,
        }
    }

    fn report_facts(&self, sink: &mut dyn TranscriptSink) {
        let facts = [
            self.directory.clone().map(SessionFact::Directory),
            self.branch.clone().map(SessionFact::Branch),
            self.fork_of.clone().map(SessionFact::ForkOf),
            self.is_by_program.then_some(SessionFact::ByProgram),
        ];
        facts.into_iter().flatten().for_each(|fact| sink.fact(fact));
    }
}

/// The log of a session while it is read.
struct QwenLog<'a> {
    path: &'a Path,
    head: QwenHead,
    /// How many questions there were after a record, by its id.
    questions_after: HashMap<String, usize>,
    questions: usize,
    is_answered: bool,
}

impl<'a> QwenLog<'a> {
    fn new(path: &'a Path) -> Self {
        let (head, questions_after) = (QwenHead::default(), HashMap::new());
        Self { path, head, questions_after, questions: 0, is_answered: true }
    }

    fn begin(&mut self, head: QwenHead, extent: SessionExtent, sink: &mut dyn TranscriptSink) {
        sink.session(&head.id, extent);
        head.report_facts(sink);
        self.head = head;
    }

    /// Reads a record, and returns its kind if that is not known.
    fn read(&mut self, record: &Value, sink: &mut dyn TranscriptSink) -> Option<String> {
        let kind = record["type"].as_str().unwrap_or("no type");
        let is_record = ["user", "assistant", "tool_result", "system"].contains(&kind);
        if self.head.id.is_empty() && is_record {
            self.begin(QwenHead::from_record(record, self.path), SessionExtent::Whole, sink);
        }
        let stamp = MomentStamp::from_values(&record["uuid"], &record["timestamp"]);
        let unknown = match kind {
            "user" => self.asked(record, &stamp, sink),
            "assistant" => {
                answered(&record["message"], &stamp, sink);
                self.is_answered = true;
                None
            }
            "tool_result" => {
                returned(record, &stamp, sink);
                None
            }
            "system" => self.system(record, &stamp, sink),
            unknown => Some(unknown.to_owned()),
        };
        if let Some(id) = stamp.message_id.filter(|_| self.questions_after.len() < REMEMBERED_MAX) {
            self.questions_after.insert(id, self.questions);
        }
        unknown
    }

    /// Reports a prompt, unless a program wrote it.
    fn asked(
        &mut self,
        record: &Value,
        stamp: &MomentStamp,
        sink: &mut dyn TranscriptSink,
    ) -> Option<String> {
        let by_person = record["provenance"].as_str().is_none_or(|source| source == "real_user");
        let is_inserted =
            record["subtype"].as_str().is_some_and(|kind| kind != "mid_turn_user_message");
        if !by_person || is_inserted || record["isSidechain"] == true {
            return Some(String::new());
        }
        let shown = text_field(&record["systemPayload"], "displayText");
        let text = typed_text(&shown.unwrap_or_else(|| message_text(&record["message"])));
        if !text.is_empty() {
            self.questions += usize::from(self.is_answered);
            self.is_answered = false;
            stamp.report(sink, MomentKind::Asked(text));
        }
        None
    }

    fn system(
        &mut self,
        record: &Value,
        stamp: &MomentStamp,
        sink: &mut dyn TranscriptSink,
    ) -> Option<String> {
        let payload = &record["systemPayload"];
        match record["subtype"].as_str().unwrap_or("no subtype") {
            "custom_title" => {
                let is_auto = payload["titleSource"] == "auto";
                let source = if is_auto { TitleSource::Model } else { TitleSource::Person };
                let title = text_field(payload, "customTitle").unwrap_or_default();
                sink.fact(SessionFact::Title(source, title));
            }
            "parent_session" => {
                let parent = text_field(payload, "parentSessionId");
                parent.into_iter().for_each(|id| sink.fact(SessionFact::Parent(id)));
                sink.fact(SessionFact::ByProgram);
            }
            "chat_compression" => {
                let summary = message_text(value_at(payload, "/compressedHistory/0"));
                stamp.report(sink, MomentKind::Summarised(summary));
                self.is_answered = true;
            }
            "rewind" => {
                let parent = record["parentUuid"].as_str().unwrap_or_default();
                let kept = self.questions_after.get(parent).copied().unwrap_or(0);
                let questions = self.questions.saturating_sub(kept);
                stamp.report(sink, MomentKind::TakenBack { questions });
                self.questions = kept;
                self.is_answered = true;
            }
            left if LEFT.contains(&left) => return Some(String::new()),
            unknown => return Some(format!("system/{unknown}")),
        }
        None
    }
}

/// Returns the text of a message, in either of its forms.
fn message_text(message: &Value) -> String {
    let parts = &message["parts"];
    text_of(if parts.is_null() { &message["content"] } else { parts })
}

fn answered(message: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
    stamp.report(sink, MomentKind::Answered(message_text(message)));
    for part in message["parts"].as_array().into_iter().flatten() {
        let call = &part["functionCall"];
        let Some(tool) = text_field(call, "name") else { continue };
        let id = text_field(call, "id").unwrap_or_default();
        if tool == "exit_plan_mode" {
            let plan = text_field(&call["args"], "plan").unwrap_or_default();
            stamp.report(sink, MomentKind::Planned(plan));
        }
        for what in CALLS.happenings(&id, &tool, &call["args"]) {
            stamp.report(sink, what);
        }
    }
}

fn returned(record: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
    let result = &record["toolCallResult"];
    let status = result["status"].as_str().unwrap_or_default();
    let parts = value_at(record, "/message/parts").as_array().into_iter().flatten();
    for response in parts.map(|part| &part["functionResponse"]).filter(|one| one.is_object()) {
        let call =
            text_field(response, "id").or_else(|| text_field(result, "callId")).unwrap_or_default();
        let own = &response["response"];
        let output =
            text_field(own, "output").or_else(|| text_field(own, "error")).unwrap_or_default();
        let outcome = match (status, exit_code_at_end(&output)) {
            ("cancelled", _) => Outcome::Refused(None),
            ("success" | "error", Some(code)) if code != 0 => Outcome::Exited(code),
            ("success", _) => Outcome::Succeeded,
            ("error", _) => Outcome::Faulted,
            _ => Outcome::Unknown,
        };
        let is_answer = response["name"] == "ask_user_question" && outcome == Outcome::Succeeded;
        let decided = is_answer.then(|| output.clone());
        stamp.report(sink, MomentKind::Returned { call, outcome, output });
        if let Some(decided) = decided {
            stamp.report(sink, MomentKind::Decided(decided));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exchange::{PartKind, SessionRead};
    use crate::readers::golden::{self, GoldenCounts};
    use crate::readers::growth_law::{
        assert_reading_on_is_reading_whole, assert_unknown_records_are_only_counted, read_text,
    };
    use crate::readers::resume_law;
    use crate::real_files::fixtures;

    const NAME: &str = "projects/-w/chats/s1.jsonl";

    fn record(id: &str, parent: &str, kind: &str, mut rest: Value) -> Value {
        let envelope = json!({"uuid": id, "parentUuid": parent, "sessionId": "s1", "timestamp": "2026-01-01T00:00:00Z", "type": kind, "cwd": "/w", "gitBranch": "main"});
        rest.as_object_mut().unwrap().extend(envelope.as_object().unwrap().clone());
        rest
    }

    fn asks(id: &str, text: &str) -> Value {
        let message = json!({"role": "user", "parts": [{"text": text}]});
        record(id, "", "user", json!({"provenance": "real_user", "message": message}))
    }

    fn says(id: &str, parts: &Value) -> Value {
        record(id, "", "assistant", json!({"message": {"role": "model", "parts": parts}}))
    }

    fn lines(records: &[Value]) -> String {
        records.iter().map(|record| format!("{record}\n")).collect()
    }

    fn read(records: &[Value]) -> SessionRead {
        read_text(&QwenCode, NAME, &lines(records)).0.remove(0)
    }

    fn parts(records: &[Value]) -> Vec<PartKind> {
        let exchanges = read(records).exchanges.into_iter();
        exchanges.flat_map(|one| one.parts).map(|part| part.what).collect()
    }

    #[test]
    fn only_what_a_person_typed_is_a_question() {
        let by = |provenance: &str, rest: &Value| {
            let mut record = asks("x", "from a program");
            record["provenance"] = json!(provenance);
            record.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            record
        };
        let expanded = by(
            "real_user",
            &json!({"systemPayload": {"displayText": "read @a", "hookContext": ""}}),
        );
        let told = parts(&[
            asks("a", "one"),
            by("system", &json!({"subtype": "notification"})),
            by("goal_runtime", &json!({})),
            by("real_user", &json!({"subtype": "cron"})),
            by("real_user", &json!({"isSidechain": true})),
            expanded,
            says("b", &json!([{"text": "hm", "thought": true}, {"text": "1"}])),
        ]);
        let asked = |text: &str| PartKind::Asked(text.to_owned());
        assert_eq!(told, [asked("one"), asked("read @a"), PartKind::Answered("1".to_owned())]);
    }

    #[test]
    fn calls_end_by_status_and_exit_code() {
        let call = |id: &str| json!({"functionCall": {"id": id, "name": "run_shell_command", "args": {"command": "make"}}});
        let result = |id: &str, status: &str, response: Value| {
            let part = json!({"functionResponse": {"id": id, "name": "run_shell_command", "response": response}});
            record(
                "r",
                "",
                "tool_result",
                json!({"message": {"role": "user", "parts": [part]}, "toolCallResult": {"callId": id, "status": status}}),
            )
        };
        let told = parts(&[
            asks("a", "go"),
            says("b", &json!([call("1"), call("2"), call("3"), call("4")])),
            result("1", "success", json!({"output": "Output: x\nExit Code: 2\nSignal: (none)"})),
            result("2", "success", json!({"output": "Output: x\nExit Code: 0"})),
            result("3", "cancelled", json!({"error": "[Operation Cancelled]"})),
            result("4", "error", json!({"error": "no such file"})),
        ]);
        let outcomes: Vec<_> = told
            .into_iter()
            .filter_map(|part| match part {
                PartKind::Ran { outcome, .. } => Some(outcome),
                _ => None,
            })
            .collect();
        let expected =
            [Outcome::Exited(2), Outcome::Succeeded, Outcome::Refused(None), Outcome::Faulted];
        assert_eq!(outcomes, expected);
    }

    fn rewound() -> Vec<Value> {
        vec![
            asks("a", "one"),
            says("b", &json!([{"text": "1"}])),
            asks("c", "two"),
            says("d", &json!([{"text": "2"}])),
            record(
                "e",
                "b",
                "system",
                json!({"subtype": "rewind", "systemPayload": {"truncatedCount": 2}}),
            ),
            asks("f", "three"),
        ]
    }

    #[test]
    fn a_rewind_takes_back_the_questions_after_its_parent() {
        let told = parts(&rewound());
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[2], PartKind::Asked("three".to_owned()));
    }

    #[test]
    fn titles_forks_parents_and_summaries_are_told() {
        let mut first = asks("a", "one");
        first["forkedFrom"] = json!({"sessionId": "s0", "messageUuid": "a"});
        let system = |kind: &str, payload: Value| {
            record("x", "", "system", json!({"subtype": kind, "systemPayload": payload}))
        };
        let summary = json!({"info": {}, "compressedHistory": [{"role": "user", "parts": [{"text": "so far"}]}]});
        let session = read(&[
            first,
            system("custom_title", json!({"customTitle": "Mine"})),
            system("custom_title", json!({"customTitle": "By a model", "titleSource": "auto"})),
            system("parent_session", json!({"parentSessionId": "p"})),
            system("chat_compression", summary),
        ]);
        let facts = &session.facts;
        assert_eq!(facts.title, Some((TitleSource::Person, "Mine".to_owned())));
        assert_eq!((facts.fork_of.as_deref(), facts.parent.as_deref()), (Some("s0"), Some("p")));
        assert_eq!(
            (facts.directory.as_deref(), facts.branch.as_deref()),
            (Some("/w"), Some("main"))
        );
        assert!(facts.is_by_program);
        assert_eq!(session.exchanges[0].parts[1].what, PartKind::Summarised("so far".to_owned()));
    }

    #[test]
    fn the_laws_of_growing_files_hold() {
        let telemetry = record("t", "", "system", json!({"subtype": "ui_telemetry"}));
        let call = json!({"functionCall": {"id": "1", "name": "write_file", "args": {"file_path": "a.rs"}}});
        let plain = [
            asks("a", "one"),
            telemetry,
            says("b", &json!([{"text": "1"}, call])),
            asks("c", "two"),
            says("d", &json!([{"text": "2"}])),
        ];
        for text in [lines(&plain), lines(&rewound())] {
            assert_reading_on_is_reading_whole(&QwenCode, NAME, &text);
            let unknown = json!({"uuid": "u", "sessionId": "s1", "type": "invented"}).to_string();
            assert_unknown_records_are_only_counted(&QwenCode, NAME, &text, &unknown);
        }
    }

    #[test]
    fn damage_to_a_line_loses_no_neighbour() {
        let noise = record("t", "", "system", json!({"subtype": "ui_telemetry"})).to_string();
        let text = lines(&[asks("a", "one"), says("b", &json!([{"text": "1"}])), asks("c", "two")]);
        resume_law::holds_when_damaged(&QwenCode, NAME, &text, (&noise, "two"));
    }

    #[test]
    fn real_files_have_the_counts_of_another_reader() {
        let Some(fixtures) = fixtures() else { return };
        let folder = fixtures.join("qwen/real/lantern/qwen-home/projects/-code/chats");
        // Counted by a few lines of Python that know only the types and the kinds of parts.
        for (name, edits) in [
            ("27d495d1-de2d-449d-af11-d42d4d6ef80d.jsonl", 1),
            ("85aa748a-9159-4a4f-9f9b-1b2cea32fd5b.jsonl", 1),
            ("a719f84a-209d-406a-8e6c-dc671c9c0192.jsonl", 0),
            ("c190cd9d-544a-49d6-ab6c-f38d501ca4b8.jsonl", 2),
        ] {
            let (sessions, census) = golden::sessions_of(&QwenCode, &folder.join(name));
            let expected = GoldenCounts { user: 1, assistant: 1, edits, ..GoldenCounts::default() };
            assert_eq!(GoldenCounts::count(&sessions), expected, "{name} {census:?}");
            assert!(census.unknown.is_empty() && census.broken == 0, "{name} {census:?}");
        }
    }
}
