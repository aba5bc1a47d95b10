//! Reads the agent threads of Zed: `threads.db`, in which each is one JSON value, compressed since 2025. Messages have no
//! times. Not here: how a database is read (`session_tables`).

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tool_calls::{
    AgentCall, CallKind, exit_code_in, exit_outcome, joined_text, millis_at, text_at,
};
use crate::prompt_text::typed_text;
use crate::records::{decompressed, repaired_value};
use crate::session_tables::{FoundSession, SessionTable, TableError, read_changed};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::table_rows::{DatabaseRow, RowQuery, VALUE_BYTES_MAX};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptMoment,
    TranscriptSink,
};

/// Longest thread that is unpacked, in bytes.
const THREAD_BYTES_MAX: u64 = 8 * VALUE_BYTES_MAX as u64;

/// What the result says of a call that a person did not allow.
const REFUSED: &str = "denied by user";

/// The name of a thread before a model finds one.
const UNTITLED: &str = "New Thread";

/// Reads the threads of Zed.
pub(super) struct Zed;

impl TranscriptReader for Zed {
    fn tool(&self) -> &'static Tool {
        &Tool { name: "zed", title: "Zed", parser_version: 1, is_tried: false, days_kept: None }
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let linux = places.named_or_home("XDG_DATA_HOME", ".local/share").join("zed/threads");
        let windows = places.named("LOCALAPPDATA").map(|data| data.join("Zed/threads"));
        [linux, places.data.join("Zed/threads")].into_iter().chain(windows).collect()
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 0, &|path| has_extension(path, "db"))
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        read_changed(file, resume, &THREADS, sink)
    }
}

/// The table of Zed.
static THREADS: SessionTable = SessionTable {
    sessions: "Zed's threads",
    plan: "SELECT id, updated_at, octet_length(data) FROM threads ORDER BY updated_at DESC",
    session: RowQuery {
        table: "threads",
        columns: &["summary", "updated_at", "created_at", "parent_id", "folder_paths", "data_type"],
        content: Some("data"),
        clause: "WHERE id = ?1",
    },
    messages: None,
    report: report_thread,
};

fn report_thread(
    session: &mut FoundSession<'_>,
    sink: &mut dyn TranscriptSink,
) -> Result<(), TableError> {
    let row = &session.row;
    let Some(thread) = thread_of(row, sink) else { return Ok(()) };
    sink.session(session.id, SessionExtent::Whole);
    let title = text_at(&thread, &["/title", "/summary"]).or(row.text("summary"));
    if let Some(title) = title.filter(|title| *title != UNTITLED) {
        sink.fact(SessionFact::Title(TitleSource::Model, title.to_owned()));
    }
    // Several folders may be open; the first stands for them.
    if let Some(folder) = row.text("folder_paths").and_then(|paths| paths.lines().next()) {
        sink.fact(SessionFact::Directory(folder.to_owned()));
    }
    let inside = text_at(&thread, &["/subagent_context/parent_thread_id"]);
    if let Some(parent) = row.text("parent_id").or(inside) {
        sink.fact(SessionFact::Parent(parent.to_owned()));
        sink.fact(SessionFact::ByProgram);
    }
    // Only the thread has a time: its first message is given it, so that the session has one.
    let times = ["created_at", "updated_at"].into_iter();
    let mut begun = times.filter_map(|name| millis_at(row.columns.get(name)?, &[""])).next();
    for message in thread.get("messages").and_then(Value::as_array).into_iter().flatten() {
        report_message(message, begun.take(), sink);
    }
    Ok(())
}

/// Returns the thread in a row, which may be compressed.
fn thread_of(row: &DatabaseRow, sink: &mut dyn TranscriptSink) -> Option<Value> {
    let data = row.bytes(sink)?;
    let thread = match row.text("data_type") {
        Some("zstd") => {
            decompressed(data, THREAD_BYTES_MAX).and_then(|data| repaired_value(&data).ok())
        }
        Some("json") | None => repaired_value(data).ok(),
        Some(kind) => {
            sink.count(RecordStatus::Unknown(&format!("data type {kind}")));
            return None;
        }
    };
    if thread.is_none() {
        sink.count(RecordStatus::Broken);
    }
    thread
}

/// Reports a message: of 0.3 by its only key, of 0.2 by its role.
fn report_message(message: &Value, at_ms: Option<i64>, sink: &mut dyn TranscriptSink) {
    if let Some(role) = text_at(message, &["/role"]) {
        report_old(message, role, at_ms, sink);
        return sink.count(RecordStatus::Understood);
    }
    let (kind, inside) = match message {
        Value::Object(fields) => match fields.iter().next() {
            Some((kind, inside)) => (kind.as_str(), inside),
            None => return sink.count(RecordStatus::Broken),
        },
        Value::String(kind) => (kind.as_str(), &Value::Null),
        _ => return sink.count(RecordStatus::Broken),
    };
    let content = inside.get("content").and_then(Value::as_array);
    match kind {
        "User" => {
            let id = text_at(inside, &["/id"]);
            // What was mentioned is the text of files; what was typed stands beside it.
            let texts = content.into_iter().flatten().filter_map(|item| text_at(item, &["/Text"]));
            let text = texts.collect::<Vec<_>>().join("\n");
            sink.moment(moment(id, at_ms, MomentKind::Asked(typed_text(&text))));
        }
        "Agent" => {
            for item in content.into_iter().flatten() {
                report_item(item, inside.get("tool_results"), at_ms, sink);
            }
        }
        "Compaction" => {
            let text = text_at(inside, &["/Summary", "/summary"]).unwrap_or_default();
            sink.moment(moment(None, at_ms, MomentKind::Summarised(text.to_owned())));
        }
        "Resume" => return sink.count(RecordStatus::Left),
        kind => return sink.count(RecordStatus::Unknown(kind)),
    }
    sink.count(RecordStatus::Understood);
}

fn report_item(
    item: &Value,
    results: Option<&Value>,
    at_ms: Option<i64>,
    sink: &mut dyn TranscriptSink,
) {
    if let Some(text) = text_at(item, &["/Text"]) {
        sink.moment(moment(None, at_ms, MomentKind::Answered(text.to_owned())));
    } else if let Some(call) = item.get("ToolUse") {
        let id = text_at(call, &["/id"]).unwrap_or_default();
        let result = results.and_then(|results| results.get(id));
        report_call(call, result, at_ms, sink);
    }
}

fn report_old(message: &Value, role: &str, at_ms: Option<i64>, sink: &mut dyn TranscriptSink) {
    let list = |name: &str| message.get(name).and_then(Value::as_array).into_iter().flatten();
    let is_text = |part: &&Value| text_at(part, &["/type"]) == Some("text");
    let texts = list("segments").filter(is_text).filter_map(|part| text_at(part, &["/text"]));
    let text = texts.collect::<Vec<_>>().join("\n");
    match role {
        "user" => sink.moment(moment(None, at_ms, MomentKind::Asked(typed_text(&text)))),
        "assistant" => sink.moment(moment(None, at_ms, MomentKind::Answered(text))),
        _ => {}
    }
    for call in list("tool_uses") {
        let id = text_at(call, &["/id"]);
        let result = list("tool_results").find(|result| text_at(result, &["/tool_use_id"]) == id);
        report_call(call, result, at_ms, sink);
    }
}

fn report_call(
    call: &Value,
    result: Option<&Value>,
    at_ms: Option<i64>,
    sink: &mut dyn TranscriptSink,
) {
    let name = text_at(call, &["/name"]).unwrap_or_default();
    let kind = match name {
        "terminal" => CallKind::Shell,
        "edit_file" | "streaming_edit_file" | "write_file" | "create_file" | "delete_path" => {
            CallKind::Edit
        }
        _ => CallKind::Other,
    };
    let id = text_at(call, &["/id"]).unwrap_or_default();
    let input = call.get("input").unwrap_or(&Value::Null);
    let call = AgentCall { message_id: None, at_ms, id, name, kind, input };
    call.report(result.map(|result| ended(kind, result)), sink);
}

/// A command that fails is no error to Zed; the first line of its output says it.
fn ended(kind: CallKind, result: &Value) -> (Outcome, String) {
    let output = joined_text(result.get("content").unwrap_or(&Value::Null));
    let is_error = result.get("is_error") == Some(&Value::Bool(true));
    let head = output.lines().next().filter(|_| kind == CallKind::Shell).unwrap_or_default();
    let outcome = match exit_code_in(head).filter(|_| head.contains("failed")) {
        _ if is_error && output.contains(REFUSED) => Outcome::Refused(None),
        Some(code) => exit_outcome(code.into()),
        None if is_error => Outcome::Faulted,
        None => Outcome::Succeeded,
    };
    (outcome, output)
}

fn moment(id: Option<&str>, at_ms: Option<i64>, what: MomentKind) -> TranscriptMoment {
    TranscriptMoment { message_id: id.map(str::to_owned), at_ms, kind: what }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::golden::{GoldenCounts, sessions_of, try_sessions_of};
    use crate::real_files::fixtures;
    use crate::records::compressed;

    const THREAD: &str = r#"{"version":"0.3.0","title":"Cart","messages":[
        {"User":{"id":"u1","content":[{"Text":"why"},{"Mention":{"uri":"a.rs","content":"fn main"}}]}},
        {"Agent":{"content":[{"Thinking":{"text":"hm"}},
            {"ToolUse":{"id":"t1","name":"terminal","input":{"command":"make","cd":"."}}},
            {"ToolUse":{"id":"t2","name":"edit_file","input":{"path":"a.rs"}}},
            {"Text":"done"}],
          "tool_results":{
            "t1":{"is_error":false,"content":[{"Text":"Command \"make\" failed with exit code 2.\nno rule"}]},
            "t2":{"is_error":true,"content":[{"Text":"Permission to run tool action denied by user"}]}}}},
        "Resume",{"Hologram":{}},{"Compaction":{"Summary":"short"}}]}"#;

    const OLD: &str = r#"{"version":"0.2.0","summary":"Old","messages":[
        {"id":1,"role":"user","segments":[{"type":"text","text":"and?"}]},
        {"id":2,"role":"assistant","segments":[{"type":"thinking","text":"x"},{"type":"text","text":"so"}]}]}"#;

    fn database() -> (tempfile::TempDir, PathBuf, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE threads(id, summary, updated_at, data_type, data, parent_id, folder_paths)",
            )
            .unwrap();
        let mut row = writer
            .prepare(
                "INSERT INTO threads VALUES (?1, '', ?2, ?3, ?4, ?5, '/w' || char(10) || '/v')",
            )
            .unwrap();
        let time = "2026-09-21T14:13:20Z";
        row.execute(("new", time, "zstd", compressed(THREAD.as_bytes()), None::<&str>)).unwrap();
        row.execute(("old", time, "json", OLD, Some("new"))).unwrap();
        drop(row);
        (folder, path, writer)
    }

    #[test]
    fn both_forms_are_read() {
        let (_folder, path, _writer) = database();
        let (sessions, census) = sessions_of(&Zed, &path);
        let new = sessions.iter().find(|session| session.native_id == "new").unwrap();
        let parts: Vec<_> = new.exchanges[0].parts.iter().map(|part| part.what.clone()).collect();
        assert_eq!(parts.len(), 5, "{parts:?}");
        assert_eq!(parts[0], PartKind::Asked("why".to_owned()));
        assert!(matches!(&parts[1], PartKind::Ran { outcome: Outcome::Exited(2), .. }));
        assert!(matches!(&parts[2], PartKind::Edited { outcome: Outcome::Refused(None), .. }));
        assert_eq!(parts[4], PartKind::Summarised("short".to_owned()));
        assert_eq!(new.facts.directory.as_deref(), Some("/w"));
        assert_eq!(new.exchanges[0].span_ms(), Some((1_790_000_000_000, 1_790_000_000_000)));
        let old = sessions.iter().find(|session| session.native_id == "old").unwrap();
        assert_eq!(old.exchanges[0].parts.len(), 2);
        assert_eq!((old.facts.parent.as_deref(), old.facts.is_by_program), (Some("new"), true));
        assert_eq!(census.unknown.get("Hologram"), Some(&1));
    }

    #[test]
    fn damage_of_one_thread_stays_its_own() {
        let (_folder, path, writer) = database();
        writer.execute_batch("UPDATE threads SET data = x'28b52ffd00' WHERE id = 'new'").unwrap();
        let (sessions, census) = sessions_of(&Zed, &path);
        assert_eq!((sessions.len(), census.broken), (1, 1));
        writer.execute_batch("UPDATE threads SET data_type = 'brotli'").unwrap();
        let (sessions, census) = sessions_of(&Zed, &path);
        assert_eq!((sessions.len(), census.unknown.get("data type brotli")), (0, Some(&2)));
        writer.execute_batch("DROP TABLE threads").unwrap();
        assert!(try_sessions_of(&Zed, &path, None).2.is_err());
    }

    #[test]
    fn a_thread_that_another_project_made_up_is_read() {
        let Some(fixtures) = fixtures() else { return };
        let (sessions, census) =
            sessions_of(&Zed, &fixtures.join("zed/synthetic/ctx/zed/v1/threads.db"));
        let expected = GoldenCounts {
            user: 2,
            assistant: 2,
            edits: 1,
            summaries: 1,
            ..GoldenCounts::default()
        };
        assert_eq!((GoldenCounts::count(&sessions), census.unknown.len()), (expected, 0));
    }
}
