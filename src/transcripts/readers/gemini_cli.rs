//! Gemini CLI: one JSON value for each session, and since 2026 a log that is replayed. A resumed session leaves both.
//!
//! The log also has what the model is shown (`$set` with `messages`), which loses what was masked or compressed. It is
//! merged: only what the person took back (`$rewindTo`) is gone. Not here: the descendants with forms of their own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::json_parts::{
    CallNames, Lenient, MomentStamp, exit_code_at_end, text_field, text_of, value_at, whole_json,
};
use crate::prompt_text::typed_text;
use crate::records::each_record;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension, leads_out_of,
};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the sessions of Gemini CLI.
pub struct GeminiCli;

static TOOL: Tool = Tool {
    name: "gemini-cli",
    title: "Gemini CLI",
    parser_version: 1,
    is_tried: true,
    days_kept: Some(30),
};

const CALLS: CallNames = CallNames {
    shells: &["run_shell_command"],
    edits: &["replace", "write_file", "edit"],
    patches: &[],
};

/// Largest log that is replayed, in bytes: its messages are in memory until its end.
const LOG_BYTES_MAX: u64 = 512 << 20;

/// What a session can say of itself.
const KNOWN_FACTS: &[&str] = &[
    "sessionId",
    "projectHash",
    "startTime",
    "lastUpdated",
    "summary",
    "messages",
    "kind",
    "directories",
    "memoryScratchpad",
];

/// Prompts that the tool writes in the name of the person.
const WRITTEN_BY_TOOL: &[&str] = &["System: Please continue."];

/// What the model is made to say after a summary.
const ACKNOWLEDGED: &str = "Got it. Thanks for the additional context!";

impl TranscriptReader for GeminiCli {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let home = places.named("GEMINI_CLI_HOME").unwrap_or_else(|| places.home.clone());
        vec![home.join(".gemini/tmp")]
    }

    /// Takes `chats/session-*` and `chats/<parent>/*`. Of a session in both forms the new one has more.
    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        let mut files = files_below(root, 3, &|path| {
            let is_chat = has_extension(path, "jsonl") || has_extension(path, "json");
            is_chat && chats_of(path).is_some()
        })?;
        files.retain(|file| {
            has_extension(&file.path, "jsonl") || !file.path.with_extension("jsonl").is_file()
        });
        Ok(files)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let (chat, offset) = if has_extension(&file.path, "jsonl") {
            replayed(&file.path, sink)?
        } else {
            (whole(&file.path, sink)?, 0)
        };
        chat.report(file, sink);
        Ok(Resume { offset, state: Value::Null })
    }
}

/// Returns the folder `chats` that a transcript is in, or the one above.
fn chats_of(path: &Path) -> Option<&Path> {
    let folder = path.parent()?;
    let is_chats = |folder: &&Path| folder.file_name().is_some_and(|name| name == "chats");
    let is_session = path.file_name()?.to_str()?.starts_with("session-");
    Some(folder)
        .filter(is_chats)
        .filter(|_| is_session)
        .or_else(|| folder.parent().filter(is_chats))
}

/// A message, as far as it is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiMessage {
    id: Value,
    timestamp: Value,
    r#type: String,
    content: Value,
    display_content: Value,
    tool_calls: Option<Vec<GeminiCall>>,
}

/// A call with its result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiCall {
    id: String,
    name: String,
    args: Value,
    result: Value,
    status: String,
    timestamp: Value,
}

/// The old form: all of a session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiWhole {
    session_id: String,
    #[serde(default)]
    kind: Value,
    #[serde(default)]
    summary: Value,
    #[serde(default)]
    directories: Value,
    messages: Vec<Lenient<GeminiMessage>>,
}

/// What a session says of itself; in a log, later records replace earlier ones.
#[derive(Debug, Default)]
struct GeminiFacts {
    kind: Value,
    summary: Value,
    directories: Value,
}

impl GeminiFacts {
    fn read_record(&mut self, record: &mut Value) {
        for (name, kept) in [
            ("kind", &mut self.kind),
            ("summary", &mut self.summary),
            ("directories", &mut self.directories),
        ] {
            if let Some(value) = record.get_mut(name) {
                *kept = value.take();
            }
        }
    }
}

/// A session in memory.
#[derive(Default)]
struct GeminiChat {
    id: String,
    facts: GeminiFacts,
    messages: Vec<GeminiMessage>,
    /// The place of each message, by its id.
    places: HashMap<String, usize>,
}

/// Reads the old form. Each message counts as a record.
fn whole(path: &Path, sink: &mut dyn TranscriptSink) -> Result<GeminiChat, ReadError> {
    let GeminiWhole { session_id, kind, summary, directories, messages } = whole_json(path)?;
    let facts = GeminiFacts { kind, summary, directories };
    let mut chat = GeminiChat { id: session_id, facts, ..GeminiChat::default() };
    for message in messages {
        let Some(message) = message.0 else {
            sink.count(RecordStatus::Broken);
            continue;
        };
        sink.count(match message.known() {
            Ok(true) => RecordStatus::Understood,
            Ok(false) => RecordStatus::Left,
            Err(kind) => RecordStatus::Unknown(kind),
        });
        chat.messages.push(message);
    }
    Ok(chat)
}

/// Replays the new form.
fn replayed(path: &Path, sink: &mut dyn TranscriptSink) -> Result<(GeminiChat, u64), ReadError> {
    let bytes = std::fs::metadata(path).map_err(ReadError::io(path))?.len();
    if bytes > LOG_BYTES_MAX {
        let what = format!("too large to replay: {bytes} bytes of at most {LOG_BYTES_MAX}");
        return Err(ReadError::form(path, what));
    }
    let mut chat = GeminiChat::default();
    let mut each = |record: Value, _: &mut dyn TranscriptSink| chat.replay(record);
    let offset = each_record(path, 0, sink, &|_| false, &mut each)?;
    if chat.id.is_empty() {
        // Its first line may be lost; the name of the file has a part of the id.
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        chat.id = name.to_owned();
    }
    Ok((chat, offset))
}

impl GeminiChat {
    /// Replays a record, and returns its kind if that is not known.
    fn replay(&mut self, mut record: Value) -> Option<String> {
        if let Some(id) = value_at(&record, "/$rewindTo").as_str() {
            let place = self.places.get(id).copied().unwrap_or(0);
            self.messages.truncate(place);
            self.places.retain(|_, kept| *kept < place);
            return None;
        }
        if value_at(&record, "/id").is_string() {
            return self.add_message(record, KnownMessage::Replaced);
        }
        let set = record.get_mut("$set").map(Value::take);
        let mut facts = set.unwrap_or(record);
        if !facts.is_object() {
            return Some("no object".to_owned());
        }
        if let Some(id) = text_field(&facts, "sessionId").filter(|_| self.id.is_empty()) {
            self.id = id;
        }
        let is_known = KNOWN_FACTS.iter().any(|name| facts.get(*name).is_some());
        self.facts.read_record(&mut facts);
        let Some(Value::Array(messages)) = facts.get_mut("messages").map(Value::take) else {
            return (!is_known).then(|| "no kind".to_owned());
        };
        let unknown = messages
            .into_iter()
            .filter_map(|message| self.add_message(message, KnownMessage::Kept));
        unknown.last()
    }

    /// Adds a message. One that is known by its id is replaced, or kept as it was said.
    fn add_message(&mut self, message: Value, known: KnownMessage) -> Option<String> {
        let Ok(message) = GeminiMessage::deserialize(message) else {
            return Some("broken message".to_owned());
        };
        let unknown = message.known().err().map(str::to_owned);
        let is_left = message.known() == Ok(false);
        let id = message.id.as_str().unwrap_or_default().to_owned();
        match self.places.get(&id).and_then(|place| self.messages.get_mut(*place)) {
            Some(_) if known == KnownMessage::Kept => {}
            Some(old) => *old = message,
            None => {
                self.places.insert(id, self.messages.len());
                self.messages.push(message);
            }
        }
        unknown.or_else(|| (is_left && known == KnownMessage::Replaced).then(String::new))
    }

    fn report(&self, file: &TranscriptFile, sink: &mut dyn TranscriptSink) {
        sink.session(&self.id, SessionExtent::Whole);
        let chats = chats_of(&file.path);
        let above = file.path.parent().filter(|folder| chats.is_some_and(|chats| chats != *folder));
        let parent = above.and_then(|folder| folder.file_name()?.to_str());
        if let Some(parent) = parent {
            sink.fact(SessionFact::Parent(parent.to_owned()));
        }
        if parent.is_some() || self.facts.kind == "subagent" {
            sink.fact(SessionFact::ByProgram);
        }
        let own = || Some(self.facts.directories.get(0)?.as_str()?.to_owned());
        let project = chats.and_then(Path::parent);
        if let Some(path) = project.and_then(directory_of).or_else(own) {
            sink.fact(SessionFact::Directory(path));
        }
        if let Some(summary) = self.facts.summary.as_str() {
            sink.fact(SessionFact::Title(TitleSource::Summary, summary.to_owned()));
        }
        self.messages.iter().for_each(|message| message.report(sink));
    }
}

/// What happens to a message that is known already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KnownMessage {
    Replaced,
    Kept,
}

/// Returns the directory of a project: it stands in a file beside the chats, or in the list of all projects.
fn directory_of(project: &Path) -> Option<String> {
    let beside = project.join(".project_root");
    if leads_out_of(project, &beside) {
        return None;
    }
    if let Ok(path) = std::fs::read_to_string(beside) {
        return Some(path.trim().to_owned()).filter(|path| !path.is_empty());
    }
    let name = project.file_name()?.to_str()?;
    let list = project.parent()?.parent()?.join("projects.json");
    let list: Value = whole_json(&list).ok()?;
    let projects = value_at(&list, "/projects").as_object()?;
    projects.iter().find(|(_, slug)| slug.as_str() == Some(name)).map(|(path, _)| path.clone())
}

impl GeminiMessage {
    /// Tells whether the message is worth reading, or returns its unknown kind.
    fn known(&self) -> Result<bool, &str> {
        match self.r#type.as_str() {
            "user" | "gemini" | "error" => Ok(true),
            "info" => Ok(self.is_cancelled()),
            "warning" => Ok(false),
            unknown => Err(unknown),
        }
    }

    fn is_cancelled(&self) -> bool {
        text_of(&self.content).trim() == "Request cancelled."
    }

    fn report(&self, sink: &mut dyn TranscriptSink) {
        let stamp = MomentStamp::from_values(&self.id, &self.timestamp);
        match self.r#type.as_str() {
            "user" => {
                let shown = Some(text_of(&self.display_content)).filter(|text| !text.is_empty());
                let text = shown.unwrap_or_else(|| text_of(&self.content));
                if text.trim_start().starts_with("<state_snapshot>") {
                    stamp.report(sink, MomentKind::Summarised(text));
                } else if !WRITTEN_BY_TOOL.contains(&text.trim()) {
                    stamp.report(sink, MomentKind::Asked(typed_text(&text)));
                }
            }
            "gemini" => {
                let text = text_of(&self.content);
                if text != ACKNOWLEDGED {
                    stamp.report(sink, MomentKind::Answered(text));
                }
                self.tool_calls.iter().flatten().for_each(|call| call.report(&stamp, sink));
            }
            "error" => stamp.report(sink, MomentKind::Failed(text_of(&self.content))),
            "info" if self.is_cancelled() => stamp.report(sink, MomentKind::Interrupted),
            _ => {}
        }
    }
}

impl GeminiCall {
    fn report(&self, message: &MomentStamp, sink: &mut dyn TranscriptSink) {
        let at_ms = super::json_parts::time_ms(&self.timestamp).or(message.at_ms);
        let stamp = MomentStamp { at_ms, ..message.clone() };
        for what in CALLS.happenings(&self.id, &self.name, &self.args) {
            stamp.report(sink, what);
        }
        let output = self.output();
        let outcome = outcome_of(&self.status, &output);
        let is_answer = self.name == "ask_user" && outcome == Outcome::Succeeded;
        let decided = is_answer.then(|| output.clone());
        stamp.report(sink, MomentKind::Returned { call: self.id.clone(), outcome, output });
        if let Some(decided) = decided {
            stamp.report(sink, MomentKind::Decided(decided));
        }
    }

    fn output(&self) -> String {
        let results = self.result.as_array().into_iter().flatten();
        let responses = results.map(|result| value_at(result, "/functionResponse/response"));
        let texts = responses.filter_map(|response| {
            text_field(response, "output").or_else(|| text_field(response, "error"))
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// How a call ended. A command that failed is a success with an exit code.
fn outcome_of(status: &str, output: &str) -> Outcome {
    match (status, exit_code_at_end(output)) {
        ("cancelled", _) => Outcome::Refused(None),
        ("success" | "error", Some(code)) if code != 0 => Outcome::Exited(code),
        ("success", _) => Outcome::Succeeded,
        ("error", _) => Outcome::Faulted,
        _ => Outcome::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exchange::{PartKind, SessionRead};
    use crate::readers::golden::{self, GoldenCounts};
    use crate::readers::growth_law::{assert_unknown_records_are_only_counted, read_text};
    use crate::readers::resume_law;
    use crate::transcript::Census;

    const LOG: &str = "tmp/shop/chats/session-2026-01-01T00-00-abcd.jsonl";

    fn message(id: &str, kind: &str, content: &str) -> Value {
        json!({"id": id, "timestamp": "2026-01-01T00:00:00Z", "type": kind, "content": [{"text": content}]})
    }

    fn log(records: &[Value]) -> String {
        let head = json!({"sessionId": "s1", "projectHash": "p", "kind": "main"});
        [head].iter().chain(records).map(|record| format!("{record}\n")).collect()
    }

    fn part_texts(sessions: &[SessionRead]) -> Vec<String> {
        let exchanges = sessions.iter().flat_map(|session| &session.exchanges);
        let texts = exchanges.flat_map(|one| &one.parts).map(|part| match &part.what {
            PartKind::Asked(text) | PartKind::Answered(text) => text.clone(),
            other => format!("{other:?}"),
        });
        texts.collect()
    }

    fn replay(records: &[Value]) -> (Vec<String>, Census) {
        let (sessions, census) = read_text(&GeminiCli, LOG, &log(records));
        assert_eq!(sessions[0].native_id, "s1");
        (part_texts(&sessions), census)
    }

    #[test]
    fn batches_and_single_messages_are_both_read() {
        let batch = json!({"$set": {"messages": [message("a", "user", "one"), message("b", "gemini", "1")]}});
        let (told, census) =
            replay(&[batch, message("c", "user", "two"), message("d", "gemini", "2")]);
        assert_eq!(told, ["one", "1", "two", "2"]);
        assert_eq!((census.understood, census.unknown.len()), (4, 0));
    }

    #[test]
    fn the_same_id_again_replaces_in_its_place() {
        let (told, _) = replay(&[
            message("a", "user", "one"),
            message("b", "gemini", "1"),
            message("c", "user", "two"),
            message("b", "gemini", "1, better"),
        ]);
        assert_eq!(told, ["one", "1, better", "two"]);
    }

    #[test]
    fn a_rewind_takes_back_and_an_unknown_one_takes_all() {
        let asked =
            [message("a", "user", "one"), message("b", "gemini", "1"), message("c", "user", "two")];
        let rewound = |id: &str| {
            let mut records = asked.to_vec();
            records.extend([json!({"$rewindTo": id}), message("d", "user", "three")]);
            replay(&records).0
        };
        assert_eq!(rewound("b"), ["one", "three"]);
        assert_eq!(rewound("gone"), ["three"]);
    }

    #[test]
    fn a_compressed_context_loses_nothing_that_was_said() {
        let context = json!({"$set": {"messages": [
            message("x", "user", "<state_snapshot>so far</state_snapshot>"),
            message("y", "gemini", "Got it. Thanks for the additional context!"),
            message("b", "gemini", "[masked]"),
        ]}});
        let (told, _) =
            replay(&[message("a", "user", "one"), message("b", "gemini", "1"), context]);
        assert_eq!(told[..2], ["one", "1"]);
        assert!(told[2].starts_with("Summarised("), "{told:?}");
        assert_eq!(told.len(), 3);
    }

    #[test]
    fn what_the_tool_adds_to_a_prompt_is_left_out() {
        let shown = json!({"id": "c", "type": "user", "content": [{"text": "look\n"}, {"text": "all of the file"}], "displayContent": [{"text": "look @a"}]});
        let (told, _) = replay(&[
            message("a", "user", "<session_context>a tree</session_context>"),
            message("b", "user", "read @a\n\n--- Content from referenced files ---\nall of a"),
            shown,
            message("d", "user", "System: Please continue."),
            message("e", "info", "Update available"),
            message("f", "info", "Request cancelled."),
            message("g", "error", "no quota"),
        ]);
        assert_eq!(told, ["read @a", "look @a", "Interrupted", "Failed(\"no quota\")"]);
    }

    #[test]
    fn calls_end_by_status_and_exit_code() {
        let call = |status: &str, response: Value| {
            let result = json!([{"functionResponse": {"response": response}}]);
            let call = json!({"id": "c", "name": "run_shell_command", "args": {"command": "make"}, "status": status, "result": result});
            let mut told = message("a", "gemini", "");
            told["toolCalls"] = json!([call]);
            replay(&[told]).0
        };
        for (status, response, expected) in [
            (
                "success",
                json!({"output": "Output: x\nExit Code: 2\nProcess Group PGID: 1"}),
                "Exited(2)",
            ),
            ("success", json!({"output": "Output: x\nProcess Group PGID: 1"}), "Succeeded"),
            ("cancelled", json!({"error": "[Operation Cancelled]"}), "Refused(None)"),
            ("error", json!({"error": "no such file"}), "Faulted"),
            ("executing", json!({}), "Unknown"),
        ] {
            let told = call(status, response);
            assert!(told[0].contains(&format!("outcome: {expected}")), "{told:?}");
        }
    }

    #[test]
    fn a_session_in_both_forms_is_found_once_in_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("tmp");
        for name in [
            "shop/chats/session-a.json",
            "shop/chats/session-a.jsonl",
            "shop/chats/session-b.json",
            "shop/chats/s1/sub.jsonl",
            "shop/logs.json",
            "shop/chats/other.json",
        ] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, log(&[])).unwrap();
        }
        let found = GeminiCli.find(&root).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|file| file.path.strip_prefix(root.join("shop/chats")).unwrap())
            .collect();
        assert_eq!(names, ["s1/sub.jsonl", "session-a.jsonl", "session-b.json"].map(Path::new));
        std::fs::write(root.join("shop/.project_root"), "/w/shop\n").unwrap();
        let (sessions, _) = golden::sessions_of(&GeminiCli, &root.join("shop/chats/s1/sub.jsonl"));
        let facts = &sessions[0].facts;
        assert_eq!(facts.directory.as_deref(), Some("/w/shop"));
        assert_eq!((facts.parent.as_deref(), facts.is_by_program), (Some("s1"), true));
    }

    #[test]
    fn the_list_of_projects_tells_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOG);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, log(&[json!({"$set": {"summary": "Sort"}})])).unwrap();
        let list = json!({"projects": {"/w/other": "other", "/w/shop": "shop"}});
        std::fs::write(folder.path().join("projects.json"), list.to_string()).unwrap();
        let facts = &golden::sessions_of(&GeminiCli, &path).0[0].facts;
        assert_eq!(facts.directory.as_deref(), Some("/w/shop"));
        assert_eq!(facts.title, Some((TitleSource::Summary, "Sort".to_owned())));
    }

    #[test]
    fn a_file_of_another_form_is_an_error_not_silence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats/session-a.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        for text in
            ["[]", "{\"sessionId\": \"a\"}", "{\"messages\": []}", "{\"sessionId\": \"a\", "]
        {
            std::fs::write(&path, text).unwrap();
            let (sessions, _, end) = golden::try_sessions_of(&GeminiCli, &path, None);
            assert!(matches!(end, Err(ReadError::Form { .. })), "{text}");
            assert_eq!(sessions, []);
        }
        let odd = json!({"sessionId": "a", "messages": [7, message("a", "invented", "x"), message("b", "user", "one")]});
        std::fs::write(&path, odd.to_string()).unwrap();
        let (sessions, census) = golden::sessions_of(&GeminiCli, &path);
        assert_eq!(part_texts(&sessions), ["one"]);
        assert_eq!((census.broken, census.unknown["invented"]), (1, 1));
    }

    #[test]
    fn unknown_records_are_only_counted() {
        let text = log(&[message("a", "user", "one"), message("b", "gemini", "1")]);
        let unknown = json!({"id": "u", "type": "invented", "content": "x"}).to_string();
        assert_unknown_records_are_only_counted(&GeminiCli, LOG, &text, &unknown);
        let unknown = json!({"$invented": {"x": 1}}).to_string();
        assert_unknown_records_are_only_counted(&GeminiCli, LOG, &text, &unknown);
        resume_law::holds_when_damaged(&GeminiCli, LOG, &text, ("", "one"));
    }

    #[test]
    fn real_files_have_the_counts_of_another_reader() {
        let continued = GoldenCounts { user: 1, assistant: 1, edits: 1, ..GoldenCounts::default() };
        let explained = [(
            "cli__2026-01-10-fa4593e0-f7e1-4dd1-b656-da95fb4d60fa.json",
            continued,
            "the tool itself wrote `System: Please continue.`",
        )];
        golden::compare(&GeminiCli, "gemini-cli", &explained);
    }
}
