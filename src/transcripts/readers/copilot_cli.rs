//! Copilot CLI: a log of events, one file for each session, which only grows. Subagents write into the log of the session
//! that started them; what they do is part of the exchange in which they were started.
//! Not here: the chats of Copilot in VS Code.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json_parts::{CallNames, MomentStamp, text_field};
use super::loose_json::may_be_glued;
use crate::prompt_text::typed_text;
use crate::records::each_record;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension, leads_out_of,
};
use crate::transcript::{
    MomentKind, Outcome, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the sessions of Copilot CLI.
pub struct CopilotCli;

static TOOL: Tool = Tool {
    name: "copilot-cli",
    title: "Copilot CLI",
    parser_version: 1,
    is_tried: true,
    days_kept: None,
};

const CALLS: CallNames = CallNames {
    shells: &["bash", "powershell", "local_shell"],
    edits: &["edit", "create", "str_replace_editor"],
    patches: &["apply_patch"],
};

/// Tools that look at a command which was left running.
const WAITERS: &[&str] = &["read_bash", "read_powershell", "stop_bash", "stop_powershell"];

/// Kinds that say nothing worth keeping; their lines begin like this and are not parsed. They are half of the bytes.
const NOISE: &[&[u8]] = &[
    b"{\"type\":\"hook.",
    b"{\"type\":\"system.message\"",
    b"{\"type\":\"assistant.turn_",
    b"{\"type\":\"session.usage_",
];

/// Kinds that are known and left.
const LEFT: &[&str] = &[
    "assistant.intent",
    "assistant.message_delta",
    "assistant.reasoning",
    "assistant.reasoning_delta",
    "assistant.streaming_delta",
    "assistant.turn_end",
    "assistant.turn_start",
    "assistant.usage",
    "hook.end",
    "hook.start",
    "pending_messages.modified",
    "permission.requested",
    "session.compaction_start",
    "session.context_changed",
    "session.handoff",
    "session.idle",
    "session.info",
    "session.mode_changed",
    "session.model_change",
    "session.permissions_changed",
    "session.plan_changed",
    "session.remote_steerable_changed",
    "session.shutdown",
    "session.truncation",
    "session.usage_checkpoint",
    "session.usage_info",
    "session.warning",
    "session.workspace_file_changed",
    "skill.invoked",
    "subagent.completed",
    "subagent.deselected",
    "subagent.failed",
    "subagent.selected",
    "subagent.started",
    "system.message",
    "system.notification",
    "tool.execution_partial_result",
    "tool.execution_progress",
    "tool.user_requested",
    "user_input.completed",
    "user_input.requested",
];

/// Most calls of which something is remembered until they return.
const REMEMBERED_MAX: usize = 1_000;

impl TranscriptReader for CopilotCli {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let home = places.named_or_home("COPILOT_HOME", ".copilot");
        ["session-state", "history-session-state"].map(|folder| home.join(folder)).into()
    }

    /// A session that was moved into a folder of its own may have left its old file behind.
    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        let mut files = files_below(root, 1, &|path| {
            let is_events = path.file_name().is_some_and(|name| name == "events.jsonl");
            is_events || path.parent() == Some(root) && has_extension(path, "jsonl")
        })?;
        files.retain(|file| {
            let folder = file.path.with_extension("");
            file.path.ends_with("events.jsonl") || !folder.join("events.jsonl").is_file()
        });
        Ok(files)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let resume = resume.filter(|resume| resume.offset > 0);
        let known = resume.and_then(|resume| CopilotHead::deserialize(&resume.state).ok());
        let known = known.filter(|head| !head.id.is_empty());
        let offset = known.as_ref().and(resume).map_or(0, |resume| resume.offset);
        let mut log = CopilotLog::new(file);
        if let Some(head) = known {
            log.begin(head, SessionExtent::Continued, sink);
        }
        let is_noise =
            |line: &[u8]| NOISE.iter().any(|begin| line.starts_with(begin)) && !may_be_glued(line);
        let mut each = |record: Value, sink: &mut dyn TranscriptSink| log.read(&record, sink);
        let offset = each_record(&file.path, offset, sink, &is_noise, &mut each)?;
        let state = serde_json::to_value(&log.head).unwrap_or_default();
        Ok(Resume { offset, state })
    }
}

/// What the first event says of the session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct CopilotHead {
    id: String,
    directory: Option<String>,
    branch: Option<String>,
    remote: Option<String>,
}

impl CopilotHead {
    fn from_data(data: &Value) -> Self {
        let context = &data["context"];
        let host = text_field(context, "repositoryHost").filter(|host| host != "github.com");
        let remote = text_field(context, "repository").map(|name| match host {
            Some(host) => format!("https://{host}/{name}"),
            None => name,
        });
        Self {
            id: text_field(data, "sessionId").unwrap_or_default(),
            directory: text_field(context, "cwd"),
            branch: text_field(context, "branch"),
            remote,
        }
    }

    fn report_facts(&self, sink: &mut dyn TranscriptSink) {
        let facts = [
            self.directory.clone().map(SessionFact::Directory),
            self.branch.clone().map(SessionFact::Branch),
            self.remote.clone().map(SessionFact::Remote),
        ];
        facts.into_iter().flatten().for_each(|fact| sink.fact(fact));
    }
}

/// The log of a session while it is read.
struct CopilotLog<'a> {
    file: &'a TranscriptFile,
    head: CopilotHead,
    /// Calls that have not returned: the tool, and its question or the shell that it waits for.
    open: HashMap<String, (String, String)>,
    /// Commands that were left running: the call that started each, by its shell.
    running: HashMap<String, String>,
    /// What the person said when refusing a call; nothing if a rule refused it.
    refusals: HashMap<String, Option<Outcome>>,
}

impl<'a> CopilotLog<'a> {
    fn new(file: &'a TranscriptFile) -> Self {
        let head = CopilotHead::default();
        let (open, running, refusals) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { file, head, open, running, refusals }
    }

    fn begin(&mut self, head: CopilotHead, extent: SessionExtent, sink: &mut dyn TranscriptSink) {
        sink.session(&head.id, extent);
        head.report_facts(sink);
        self.head = head;
        self.tell_names(sink);
    }

    /// The session's name stands in a file beside the log.
    fn tell_names(&self, sink: &mut dyn TranscriptSink) {
        let beside = self.file.path.with_file_name("workspace.yaml");
        if self.file.path.parent().is_some_and(|folder| leads_out_of(folder, &beside)) {
            return;
        }
        let Ok(text) = std::fs::read_to_string(beside) else { return };
        for (name, source) in [("summary:", TitleSource::Summary), ("name:", TitleSource::Model)] {
            let value = text.lines().find_map(|line| line.strip_prefix(name));
            let value = value.map(|value| value.trim().trim_matches(['"', '\'']).to_owned());
            // `|-` begins a text of several lines, which is no name.
            if let Some(title) = value.filter(|value| !value.starts_with(['|', '>'])) {
                sink.fact(SessionFact::Title(source, title));
            }
        }
    }

    /// Reads an event, and returns its kind if that is not known.
    fn read(&mut self, record: &Value, sink: &mut dyn TranscriptSink) -> Option<String> {
        let (kind, data) = (record["type"].as_str().unwrap_or("no type"), &record["data"]);
        if LEFT.contains(&kind) {
            return Some(String::new());
        }
        if self.head.id.is_empty() {
            let mut head =
                if kind == "session.start" { CopilotHead::from_data(data) } else { <_>::default() };
            if head.id.is_empty() {
                head.id = id_by_path(&self.file.path);
            }
            self.begin(head, SessionExtent::Whole, sink);
        }
        let stamp = MomentStamp::from_values(&record["id"], &record["timestamp"]);
        match kind {
            "session.start" => {}
            "session.resume" => CopilotHead::from_data(data).report_facts(sink),
            "session.title_changed" => {
                let title = text_field(data, "title").unwrap_or_default();
                sink.fact(SessionFact::Title(TitleSource::Model, title));
            }
            "user.message" => return asked(record, &stamp, sink),
            "assistant.message" => {
                let text = text_field(data, "content").unwrap_or_default();
                stamp.report(sink, MomentKind::Answered(text));
            }
            "tool.execution_start" => self.started(data, &stamp, sink),
            "tool.execution_complete" => self.completed(data, &stamp, sink),
            "permission.completed" => self.permitted(data),
            "session.compaction_complete" => {
                let text = text_field(data, "summaryContent").unwrap_or_default();
                stamp.report(sink, MomentKind::Summarised(text));
            }
            "session.task_complete" => {
                stamp.report(
                    sink,
                    MomentKind::Answered(text_field(data, "summary").unwrap_or_default()),
                );
            }
            "session.error" => {
                stamp.report(
                    sink,
                    MomentKind::Failed(text_field(data, "message").unwrap_or_default()),
                );
            }
            "abort" => stamp.report(sink, MomentKind::Interrupted),
            unknown => return Some(unknown.to_owned()),
        }
        None
    }

    fn started(&mut self, data: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
        let call = text_field(data, "toolCallId").unwrap_or_default();
        let tool = text_field(data, "toolName").or_else(|| text_field(data, "mcpToolName"));
        let (tool, arguments) = (tool.unwrap_or_default(), &data["arguments"]);
        if tool == "exit_plan_mode" {
            let plan = text_field(arguments, "summary").unwrap_or_default();
            stamp.report(sink, MomentKind::Planned(plan));
        }
        for what in CALLS.happenings(&call, &tool, arguments) {
            stamp.report(sink, what);
        }
        let about = text_field(arguments, "question").or_else(|| text_field(arguments, "shellId"));
        if self.open.len() < REMEMBERED_MAX {
            self.open.insert(call, (tool, about.unwrap_or_default()));
        }
    }

    fn completed(&mut self, data: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
        let call = text_field(data, "toolCallId").unwrap_or_default();
        let (tool, about) = self.open.remove(&call).unwrap_or_default();
        let content = text_field(&data["result"], "content").unwrap_or_default();
        let is_success = data["success"].as_bool();
        let (outcome, output) = if is_success == Some(false) {
            (self.failure(&call, &data["error"]), text_field(&data["error"], "message"))
        } else {
            (ended(&content, is_success), Some(content.clone()))
        };
        let output = output.unwrap_or_default();
        if let Some(shell) = left_running(&content).filter(|_| CALLS.shells.contains(&&*tool)) {
            // It returns when a later call looks at it.
            if self.running.len() < REMEMBERED_MAX {
                self.running.insert(shell.to_owned(), call);
            }
            return;
        }
        let exited = exit_code(&content).filter(|_| WAITERS.contains(&&*tool));
        if let Some(call) = exited.and_then(|_| self.running.remove(&about)) {
            let (outcome, output) = (outcome.clone(), output.clone());
            stamp.report(sink, MomentKind::Returned { call, outcome, output });
        }
        let decision = match tool.as_str() {
            "ask_user" => content.strip_prefix("User ").and_then(|text| text.split_once(": ")),
            "exit_plan_mode" if !content.starts_with("Plan approved") => Some(("", &*content)),
            _ => None,
        };
        let decided = decision.map(|(_, answer)| format!("{about}\n{answer}"));
        stamp.report(sink, MomentKind::Returned { call, outcome, output });
        if let Some(decided) = decided {
            stamp.report(sink, MomentKind::Decided(decided.trim().to_owned()));
        }
    }

    /// Remembers what a person or a rule said about a call.
    fn permitted(&mut self, data: &Value) {
        let (Some(call), result) = (text_field(data, "toolCallId"), &data["result"]) else {
            return;
        };
        let kind = result["kind"].as_str().unwrap_or_default();
        if kind.starts_with("denied") && self.refusals.len() < REMEMBERED_MAX {
            let is_person = kind.contains("by-user");
            let refused = || Outcome::Refused(text_field(result, "feedback"));
            self.refusals.insert(call, is_person.then(refused));
        }
    }

    fn failure(&mut self, call: &str, error: &Value) -> Outcome {
        let is_refused = matches!(error["code"].as_str(), Some("denied" | "rejected"));
        let said = self.refusals.remove(call);
        said.unwrap_or_else(|| is_refused.then_some(Outcome::Refused(None)))
            .unwrap_or(Outcome::Faulted)
    }
}

/// Reports a prompt. One with a source was written by a program: a skill, a reminder, or the prompt of a subagent.
fn asked(record: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) -> Option<String> {
    let data = &record["data"];
    if data["source"].is_string() || record["agentId"].is_string() {
        return Some(String::new());
    }
    stamp.report(
        sink,
        MomentKind::Asked(typed_text(&text_field(data, "content").unwrap_or_default())),
    );
    None
}

/// `<id>/events.jsonl`, or `<id>.jsonl` before.
fn id_by_path(path: &Path) -> String {
    let name = if path.ends_with("events.jsonl") { path.parent() } else { Some(path) };
    let name = name.and_then(Path::file_stem).and_then(|name| name.to_str());
    name.unwrap_or_default().to_owned()
}

/// How a call ended that the tool calls a success: a command does so whatever its exit code is.
fn ended(content: &str, is_success: Option<bool>) -> Outcome {
    match exit_code(content) {
        Some(0) => Outcome::Succeeded,
        Some(code) => Outcome::Exited(code),
        None if is_success.is_none() || left_running(content).is_some() => Outcome::Unknown,
        None => Outcome::Succeeded,
    }
}

/// The last line of a result has the exit code. Above it is what the command printed, which may look the same.
fn exit_code(content: &str) -> Option<i32> {
    let line = content.trim_end().lines().next_back()?.strip_prefix('<')?.strip_suffix('>')?;
    line.rsplit_once(" with exit code ")?.1.parse().ok()
}

/// Returns the shell of a command that was left running.
fn left_running(content: &str) -> Option<&str> {
    let line = content.trim_end().lines().next_back()?;
    let is_running = line.contains(" still running") || line.contains("started in background");
    let (_, shell) = line.split_once("shellId: ").filter(|_| is_running)?;
    shell.split([' ', '>']).next()
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

    const NAME: &str = "session-state/s1/events.jsonl";

    fn log(events: &[(&str, Value)]) -> String {
        let line = |(place, (kind, data)): (usize, &(&str, Value))| {
            let timestamp = format!("2026-01-01T00:00:{place:02}Z");
            let mut event =
                json!({"data": data, "id": format!("e{place}"), "timestamp": timestamp});
            if data["agent"].is_string() {
                event["agentId"] = data["agent"].clone();
            }
            event.to_string().replacen('{', &format!("{{\"type\":{kind:?},"), 1) + "\n"
        };
        events.iter().enumerate().map(line).collect()
    }

    fn start() -> (&'static str, Value) {
        let context = json!({"cwd": "/w", "branch": "main", "repository": "o/shop", "repositoryHost": "git.example.org"});
        ("session.start", json!({"sessionId": "s1", "context": context}))
    }

    fn asks(text: &str) -> (&'static str, Value) {
        ("user.message", json!({"content": text, "transformedContent": format!("<now/>{text}")}))
    }

    fn calls(call: &str, tool: &str, arguments: &Value) -> (&'static str, Value) {
        (
            "tool.execution_start",
            json!({"toolCallId": call, "toolName": tool, "arguments": arguments}),
        )
    }

    fn returns(call: &str, content: &str) -> (&'static str, Value) {
        let result = json!({"content": content});
        ("tool.execution_complete", json!({"toolCallId": call, "success": true, "result": result}))
    }

    fn faults(call: &str, code: &str) -> (&'static str, Value) {
        let error = json!({"message": "it was not run", "code": code});
        ("tool.execution_complete", json!({"toolCallId": call, "success": false, "error": error}))
    }

    fn parts(events: &[(&str, Value)]) -> Vec<PartKind> {
        let (sessions, _) = read_text(&CopilotCli, NAME, &log(events));
        let [SessionRead { exchanges, .. }] = sessions.as_slice() else { panic!("{sessions:?}") };
        exchanges.iter().flat_map(|one| &one.parts).map(|part| part.what.clone()).collect()
    }

    fn outcomes(events: &[(&str, Value)]) -> Vec<Outcome> {
        let outcome = |part| match part {
            PartKind::Ran { outcome, .. }
            | PartKind::Edited { outcome, .. }
            | PartKind::Called { outcome, .. } => Some(outcome),
            _ => None,
        };
        parts(events).into_iter().filter_map(outcome).collect()
    }

    #[test]
    fn a_command_that_failed_is_called_a_success() {
        let ended = |content: &str| {
            outcomes(&[
                start(),
                asks("go"),
                calls("c", "bash", &json!({"command": "make"})),
                returns("c", content),
            ])
        };
        for (content, expected) in [
            ("no rule\n<exited with exit code 2>", Outcome::Exited(2)),
            ("no rule\n<shellId: 7 completed with exit code 128>\n", Outcome::Exited(128)),
            ("ok\n<shellId: 7 completed with exit code 0>", Outcome::Succeeded),
            ("<exited with exit code 2>\nprinted by the command", Outcome::Succeeded),
            ("<command with shellId: 7 is still running after 30 seconds.>", Outcome::Unknown),
        ] {
            assert_eq!(ended(content), [expected], "{content}");
        }
    }

    #[test]
    fn a_command_left_running_ends_when_it_is_looked_at() {
        let events = [
            start(),
            asks("go"),
            calls("c", "bash", &json!({"command": "make"})),
            returns("c", "<command started in background with shellId: watch>"),
            calls("d", "read_bash", &json!({"shellId": "watch"})),
            returns("d", "<command with shellId: watch is still running after 5 seconds.>"),
            calls("e", "read_bash", &json!({"shellId": "watch"})),
            returns("e", "broken\n<shellId: watch completed with exit code 3>"),
        ];
        let expected = [Outcome::Exited(3), Outcome::Unknown, Outcome::Exited(3)];
        assert_eq!(outcomes(&events), expected);
    }

    #[test]
    fn a_refusal_has_its_reason_and_a_rule_is_no_person() {
        let denied = |call: &str, kind: &str| {
            let result = json!({"kind": kind, "feedback": "use pnpm"});
            ("permission.completed", json!({"toolCallId": call, "result": result}))
        };
        let call = |call: &str| calls(call, "bash", &json!({"command": "npm i"}));
        let events = [
            start(),
            asks("go"),
            call("a"),
            denied("a", "denied-interactively-by-user"),
            faults("a", "denied"),
            call("b"),
            denied("b", "denied-by-rules"),
            faults("b", "denied"),
            call("c"),
            faults("c", "rejected"),
            call("d"),
            faults("d", "failure"),
        ];
        let expected = [
            Outcome::Refused(Some("use pnpm".to_owned())),
            Outcome::Faulted,
            Outcome::Refused(None),
            Outcome::Faulted,
        ];
        assert_eq!(outcomes(&events), expected);
    }

    #[test]
    fn only_what_a_person_typed_is_a_question() {
        let events = [
            start(),
            asks("sort it"),
            (
                "user.message",
                json!({"content": "<skill-context>x</skill-context>", "source": "skill-x"}),
            ),
            ("user.message", json!({"content": "You are a worker", "agent": "a1"})),
            ("assistant.message", json!({"content": "from below", "agent": "a1"})),
            ("assistant.message", json!({"content": "", "toolRequests": []})),
        ];
        let expected =
            [PartKind::Asked("sort it".to_owned()), PartKind::Answered("from below".to_owned())];
        assert_eq!(parts(&events), expected);
    }

    #[test]
    fn plans_decisions_summaries_and_ends_are_told() {
        let events = [
            start(),
            asks("go"),
            calls("a", "ask_user", &json!({"question": "Which?", "choices": ["x", "y"]})),
            returns("a", "User selected: y"),
            calls("b", "exit_plan_mode", &json!({"summary": "- cut it"})),
            returns("b", "Plan rejected. Smaller, please"),
            ("session.compaction_complete", json!({"success": true, "summaryContent": "so far"})),
            ("session.error", json!({"message": "no quota"})),
            ("abort", json!({"reason": "user initiated"})),
        ];
        let parts = parts(&events);
        for expected in [
            PartKind::Decided("Which?\ny".to_owned()),
            PartKind::Planned("- cut it".to_owned()),
            PartKind::Decided("Plan rejected. Smaller, please".to_owned()),
            PartKind::Summarised("so far".to_owned()),
            PartKind::Failed("no quota".to_owned()),
            PartKind::Interrupted,
        ] {
            assert!(parts.contains(&expected), "{expected:?} in {parts:?}");
        }
    }

    #[test]
    fn facts_come_from_the_log_and_from_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1/events.jsonl");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, log(&[start(), asks("go")])).unwrap();
        let names = "id: s1\nsummary: |-\n  two\nname: \"Sort the cart\"\n";
        std::fs::write(path.with_file_name("workspace.yaml"), names).unwrap();
        let (sessions, _) = golden::sessions_of(&CopilotCli, &path);
        let facts = &sessions[0].facts;
        assert_eq!(facts.title, Some((TitleSource::Model, "Sort the cart".to_owned())));
        assert_eq!(facts.directory.as_deref(), Some("/w"));
        assert_eq!(facts.branch.as_deref(), Some("main"));
        assert_eq!(facts.remote.as_deref(), Some("https://git.example.org/o/shop"));
    }

    #[test]
    fn a_session_in_its_folder_and_beside_it_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/events.jsonl", "a.jsonl", "b.jsonl", "c/other.jsonl"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = CopilotCli.find(folder.path()).unwrap();
        let ids: Vec<_> = found.iter().map(|file| id_by_path(&file.path)).collect();
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn the_laws_of_growing_files_hold() {
        let text = log(&[
            start(),
            asks("one"),
            calls("a", "bash", &json!({"command": "make"})),
            returns("a", "<exited with exit code 1>"),
            asks("two"),
            calls("b", "ask_user", &json!({"question": "Which?"})),
            returns("b", "User responded: neither"),
        ]);
        assert_reading_on_is_reading_whole(&CopilotCli, NAME, &text);
        let unknown = r#"{"type":"session.invented","data":{"content":"x"}}"#;
        assert_unknown_records_are_only_counted(&CopilotCli, NAME, &text, unknown);
    }

    #[test]
    fn damage_to_a_line_loses_no_neighbour() {
        let text = log(&[start(), asks("one"), asks("two")]);
        let noise = r#"{"type":"hook.start","data":{}}"#;
        resume_law::holds_when_damaged(&CopilotCli, NAME, &text, (noise, "two"));
    }

    #[test]
    fn real_files_have_the_counts_of_another_reader() {
        let starcar = GoldenCounts {
            user: 1,
            assistant: 82,
            commands: 138,
            edits: 35,
            exit_nonzero: 25,
            summaries: 1,
            ..GoldenCounts::default()
        };
        let gatomia = GoldenCounts {
            user: 1,
            assistant: 6,
            commands: 2,
            edits: 2,
            ..GoldenCounts::default()
        };
        let explained = [
            (
                "StarCar__70b173ed-7b83-485a-b71a-5adb0591db07.jsonl.gz",
                starcar,
                "two reminders and two prompts of subagents are no questions; a compaction",
            ),
            (
                "gatomia-vscode__378ab881-f02f-435c-9673-0c8d7c7d6bef.jsonl",
                gatomia,
                "two texts of skills are no questions",
            ),
        ];
        golden::compare(&CopilotCli, "copilot-cli", &explained);
    }
}
