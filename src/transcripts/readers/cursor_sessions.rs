//! Reads Cursor: the conversations of the editor, the transcripts of the command line, and its chats where those are plain
//! JSON. Transcripts have no results. Not here: the editor's database (`cursor_ide`), when and where a transcript was written
//! (`cursor_surroundings`).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cursor_ide::{CursorTables, kind_of};
use super::cursor_surroundings::{CursorClock, CursorDirectory, begin_of_chat, chat_beside};
use super::tool_calls::{AgentCall, joined_text, millis_at, text_at};
use crate::database::{self, ForeignDatabase};
use crate::prompt_text::typed_text;
use crate::records::{each_record, file_bytes, repaired_value};
use crate::session_tables::{PlannedSession, SessionTables, TableError, read_changed};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::table_rows::{RowQuery, VALUE_BYTES_MAX, has_table};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptMoment,
    TranscriptSink,
};

/// The element around what was typed; rules, open files and the like stand beside it.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");

/// Reads the sessions of Cursor.
pub(super) struct CursorReader;

impl TranscriptReader for CursorReader {
    fn tool(&self) -> &'static Tool {
        &Tool {
            name: "cursor",
            title: "Cursor",
            parser_version: 2,
            is_tried: false,
            days_kept: None,
        }
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let editor = places.config.join("Cursor/User/globalStorage");
        vec![editor, places.named_or_home("CURSOR_DATA_DIR", ".cursor")]
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
        let is_text = |path: &Path| has_extension(path, "jsonl") || has_extension(path, "txt");
        let is_transcript = |path: &Path| {
            is_text(path) && path.components().any(|part| part.as_os_str() == "agent-transcripts")
        };
        let mut files = files_below(root, 0, &|path| {
            is_named(path, "state.vscdb")
                || path == root && (is_text(path) || is_named(path, "store.db"))
        })?;
        // projects/<directory>/agent-transcripts/<id>/subagents/<id>.jsonl
        let transcripts = files_below(&root.join("projects"), 4, &is_transcript)?;
        let is_lines = |file: &&TranscriptFile| has_extension(&file.path, "jsonl");
        let stem = |file: &TranscriptFile| file.stem().map(str::to_owned);
        let lines: HashSet<_> = transcripts.iter().filter(is_lines).filter_map(stem).collect();
        let known: HashSet<_> = transcripts.iter().filter_map(stem).collect();
        let is_newest = |file: &TranscriptFile| {
            is_lines(&file) || stem(file).is_none_or(|stem| !lines.contains(&stem))
        };
        files.extend(transcripts.into_iter().filter(is_newest));
        // A chat is the same session once more; it is read where there is no transcript.
        let chats = files_below(&root.join("chats"), 2, &|path| is_named(path, "store.db"))?;
        let has_none =
            |file: &TranscriptFile| !chat_id(&file.path).is_some_and(|id| known.contains(id));
        files.extend(chats.into_iter().filter(has_none));
        for file in &mut files {
            root.clone_into(&mut file.root);
        }
        Ok(files)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        if has_extension(&file.path, "vscdb") {
            return read_changed(file, resume, &CursorTables::default(), sink);
        }
        if has_extension(&file.path, "db") {
            return read_changed(file, resume, &ChatTables, sink);
        }
        let offset = resume.map_or(0, |resume| resume.offset);
        if has_extension(&file.path, "txt") {
            return read_text(file, sink);
        }
        read_lines(file, offset, sink)
    }
}

/// The folder of a chat is named after it.
fn chat_id(path: &Path) -> Option<&str> {
    path.parent()?.file_name()?.to_str()
}

fn begin(
    file: &TranscriptFile,
    extent: SessionExtent,
    sink: &mut dyn TranscriptSink,
) -> Result<(), ReadError> {
    let id = file.stem().ok_or_else(|| ReadError::form(&file.path, "no session of Cursor"))?;
    sink.session(id, extent);
    let mut folders =
        file.path.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    if folders.next() == Some("subagents") {
        sink.fact(SessionFact::ByProgram);
        if let Some(parent) = folders.next() {
            sink.fact(SessionFact::Parent(parent.to_owned()));
        }
    }
    Ok(())
}

fn read_lines(
    file: &TranscriptFile,
    offset: u64,
    sink: &mut dyn TranscriptSink,
) -> Result<Resume, ReadError> {
    begin(file, if offset == 0 { SessionExtent::Whole } else { SessionExtent::Continued }, sink)?;
    let mut clock = clock_of(file, offset);
    let mut directory = CursorDirectory::of_file(&file.path);
    let mut each = |record: Value, sink: &mut dyn TranscriptSink| {
        let Some(role) = text_at(&record, &["/role"]) else {
            // What tells only that a turn has ended says nothing.
            let kind = text_at(&record, &["/type", "/event"]).unwrap_or("line without a role");
            return Some(if kind == "turn_ended" { String::new() } else { kind.to_owned() });
        };
        let content = record.pointer("/message/content").or_else(|| record.get("content"));
        let content = content.unwrap_or(&Value::Null);
        let calls = content.as_array().into_iter().flatten();
        let inputs = calls.filter_map(|item| item.get("input").or_else(|| item.get("args")));
        inputs.for_each(|input| directory.see_call(input));
        let at_ms = clock.at(millis_at(&record, &["/timestamp"]), content);
        report_content(role, content, at_ms, sink)
    };
    let offset = each_record(&file.path, offset, sink, &|_| false, &mut each)?;
    if let Some(path) = directory.found {
        sink.fact(SessionFact::Directory(path));
    }
    Ok(Resume { offset, state: Value::Null })
}

/// The times of a transcript. Only its first message has the time of the chat.
fn clock_of(file: &TranscriptFile, offset: u64) -> CursorClock {
    let chat = file.stem().filter(|_| offset == 0).and_then(|id| chat_beside(file, id));
    let about = chat.and_then(|path| chat_facts(&database::open(&path).ok()?));
    CursorClock::of_file(file, about.as_ref().and_then(begin_of_chat))
}

/// Reports a message, and returns the kind of an item that is not known.
fn report_content(
    role: &str,
    content: &Value,
    at_ms: Option<i64>,
    sink: &mut dyn TranscriptSink,
) -> Option<String> {
    let mut unknown = None;
    let moment = |moment_kind| TranscriptMoment { message_id: None, at_ms, kind: moment_kind };
    let report_text = |text: &str, sink: &mut dyn TranscriptSink| match role {
        "user" => sink.moment(moment(MomentKind::Asked(typed_query(text)))),
        "assistant" => sink.moment(moment(MomentKind::Answered(text.to_owned()))),
        _ => {}
    };
    if let Some(text) = content.as_str() {
        report_text(text, sink);
    }
    for item in content.as_array().into_iter().flatten() {
        match text_at(item, &["/type"]).unwrap_or_default() {
            "text" => report_text(text_at(item, &["/text"]).unwrap_or_default(), sink),
            "tool_use" | "tool-call" => {
                let name = text_at(item, &["/name", "/toolName"]).unwrap_or_default();
                let id = text_at(item, &["/id", "/toolCallId"]).unwrap_or_default();
                let input = item.get("input").or_else(|| item.get("args")).unwrap_or(&Value::Null);
                let kind = kind_of(name);
                AgentCall { message_id: None, at_ms, id, name, kind, input }.report(None, sink);
            }
            "tool_result" | "tool-result" => {
                let call = text_at(item, &["/tool_use_id", "/toolCallId"]).unwrap_or_default();
                let output = item.get("content").or_else(|| item.get("result")).map(joined_text);
                let is_error = ["is_error", "isError"]
                    .iter()
                    .any(|name| item.get(name) == Some(&Value::Bool(true)));
                let outcome = if is_error { Outcome::Faulted } else { Outcome::Unknown };
                let (call, output) = (call.to_owned(), output.unwrap_or_default());
                sink.moment(moment(MomentKind::Returned { call, outcome, output }));
            }
            "thinking" | "reasoning" | "redacted-reasoning" | "image" | "file" => {}
            kind => unknown = Some(kind.to_owned()),
        }
    }
    unknown
}

/// Returns what was typed: the inside of the element where there is one.
fn typed_query(text: &str) -> String {
    match text.split_once(QUERY.0) {
        Some((_, behind)) => {
            typed_text(behind.split_once(QUERY.1).map_or(behind, |(inside, _)| inside))
        }
        None => typed_text(text),
    }
}

/// Reads the older form: lines that name who speaks, and marks before what is no speech.
fn read_text(file: &TranscriptFile, sink: &mut dyn TranscriptSink) -> Result<Resume, ReadError> {
    let bytes = file_bytes(&file.path, VALUE_BYTES_MAX as u64)?;
    begin(file, SessionExtent::Whole, sink)?;
    let (mut role, mut text) = ("", String::new());
    let (mut clock, mut directory) = (clock_of(file, 0), CursorDirectory::of_file(&file.path));
    let mut end = |role: &str, text: &mut String, sink: &mut dyn TranscriptSink| {
        let content = Value::String(std::mem::take(text));
        if role == "call" {
            directory.see_call(&content);
        }
        if !role.is_empty() {
            let at_ms = clock.at(None, &content);
            report_content(role, &content, at_ms, sink);
            sink.count(RecordStatus::Understood);
        }
    };
    for line in String::from_utf8_lossy(&bytes).lines() {
        let next = match line.trim_end() {
            "user:" => "user",
            "assistant:" | "A:" => "assistant",
            mark if mark.starts_with("[Thinking]") => "thinking",
            mark if mark.starts_with("[Tool call]") => "call",
            mark if mark.starts_with("[Tool result]") => "result",
            _ => {
                text.push_str(line);
                text.push('\n');
                continue;
            }
        };
        end(role, &mut text, sink);
        role = next;
    }
    end(role, &mut text, sink);
    if let Some(path) = directory.found {
        sink.fact(SessionFact::Directory(path));
    }
    Ok(Resume::default())
}

/// The database of one chat: its messages are values that are named by their content, in the order in which they came.
struct ChatTables;

/// The values.
const BLOBS: RowQuery<'_> =
    RowQuery { table: "blobs", columns: &[], content: Some("data"), clause: "ORDER BY rowid" };

/// What the chat says of itself.
const ABOUT: RowQuery<'_> =
    RowQuery { table: "meta", columns: &[], content: Some("value"), clause: "WHERE key = '0'" };

impl SessionTables for ChatTables {
    fn plan(&self, database: &ForeignDatabase) -> Result<Vec<PlannedSession>, TableError> {
        if !has_table(database, BLOBS.table)? {
            return Err(TableError::Form("a database without Cursor's messages".to_owned()));
        }
        let query = "SELECT count(*), sum(octet_length(data)) FROM blobs";
        let mark = database.query_row(query, [], |row| {
            Ok(format!("{:?}/{:?}", row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
        })?;
        Ok(vec![PlannedSession {
            id: chat_id(database.path()).unwrap_or_default().to_owned(),
            mark,
        }])
    }

    fn read_session(
        &self,
        database: &ForeignDatabase,
        id: &str,
        sink: &mut dyn TranscriptSink,
    ) -> Result<(), TableError> {
        sink.session(id, SessionExtent::Whole);
        let about = chat_facts(database).unwrap_or_default();
        if let Some(name) = text_at(&about, &["/name"]).filter(|name| *name != "New Agent") {
            sink.fact(SessionFact::Title(TitleSource::Model, name.to_owned()));
        }
        // Only the chat has a time: its first message is given it.
        let mut begun = begin_of_chat(&about);
        for row in BLOBS.prepare(database)?.rows([])? {
            let row = row?;
            let Some(data) = row.bytes(sink) else { continue };
            // The rest is a tree of the same values, or encrypted.
            let message = repaired_value::<Value>(data).ok();
            let role = message.as_ref().and_then(|message| text_at(message, &["/role"]));
            let content = message.as_ref().and_then(|message| message.get("content"));
            let (Some(role), Some(content)) = (role, content) else {
                sink.count(RecordStatus::Left);
                continue;
            };
            match report_content(role, content, begun.take(), sink) {
                Some(kind) => sink.count(RecordStatus::Unknown(&kind)),
                None => sink.count(RecordStatus::Understood),
            }
        }
        Ok(())
    }
}

/// Returns what a chat says of itself: JSON, in hexadecimal digits.
fn chat_facts(database: &ForeignDatabase) -> Option<Value> {
    let value = ABOUT.first(database, []).ok()??.content?;
    if let Ok(value) = serde_json::from_slice::<Value>(&value)
        && value.is_object()
    {
        return Some(value);
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = value.chunks(2).map(byte).collect();
    serde_json::from_slice(&bytes?).ok()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::exchange::{PartKind, SessionRead};
    use crate::readers::golden::{GoldenCounts, sessions_of, try_sessions_of};
    use crate::readers::resume_law;
    use crate::real_files::fixtures;

    fn kinds(session: &SessionRead) -> Vec<PartKind> {
        let parts = session.exchanges.iter().flat_map(|exchange| &exchange.parts);
        parts.map(|part| part.kind.clone()).collect()
    }

    const LINES: &str = r#"{"role":"user","message":{"content":[{"type":"text","text":"<rules>be nice</rules>\n<timestamp>Tuesday, Mar 10, 2026, 9:41 AM (UTC-7)</timestamp>\n<user_query>\nwhy\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"so"},{"type":"tool_use","name":"Shell","input":{"command":"make"}},{"type":"tool_use","name":"Write","input":{"path":"a.rs"}}]}}
{"type":"turn_ended","status":"success"}
{"type":"hologram"}
"#;

    #[test]
    fn a_transcript_gives_messages_and_calls() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1.jsonl");
        std::fs::write(&path, LINES).unwrap();
        let (sessions, census, end) = try_sessions_of(&CursorReader, &path, None);
        let parts = kinds(&sessions[0]);
        assert_eq!(parts[0], PartKind::Asked("why".to_owned()), "without what stands beside it");
        assert!(matches!(&parts[2], PartKind::Ran { outcome: Outcome::Unknown, .. }));
        assert!(matches!(&parts[3], PartKind::Edited { path, .. } if path == "a.rs"));
        assert_eq!((census.left, census.unknown.get("hologram")), (1, Some(&1)));
        let (sessions, _, _) = try_sessions_of(&CursorReader, &path, Some(&end.unwrap()));
        assert_eq!(
            (sessions[0].extent, sessions[0].exchanges.len()),
            (SessionExtent::Continued, 0)
        );
    }

    #[test]
    fn a_transcript_that_grows_is_read_as_one_that_is_whole() {
        let again = LINES.replace("why", "and?");
        let text = format!("{LINES}{again}");
        resume_law::holds_when_cut(&CursorReader, "s1.jsonl", &text, 2);
        resume_law::holds_with_unknown(&CursorReader, "s1.jsonl", LINES);
        resume_law::holds_when_damaged(&CursorReader, "s1.jsonl", &text, "", "why");
    }

    #[test]
    fn the_older_text_form_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1.txt");
        let text = "user:\n<user_query>\nwhy\n</user_query>\n\nassistant:\n[Thinking] hm\nlong\n[Tool call] Shell\n  command: make\n[Tool result] Shell\nassistant:\nso\n";
        std::fs::write(&path, text).unwrap();
        let (sessions, _) = sessions_of(&CursorReader, &path);
        let expected = [PartKind::Asked("why".to_owned()), PartKind::Answered("so".to_owned())];
        assert_eq!(kinds(&sessions[0]), expected);
    }

    #[test]
    fn a_session_is_found_once_and_subagents_have_parents() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [
            "projects/w/agent-transcripts/s1/s1.jsonl",
            "projects/w/agent-transcripts/s1.txt",
            "projects/w/agent-transcripts/s2.txt",
            "projects/w/agent-transcripts/s1/subagents/k1.jsonl",
            "projects/w/terminals/1.txt",
            "chats/h/s1/store.db",
            "chats/h/s3/store.db",
        ] {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), LINES).unwrap();
        }
        let files = CursorReader.find(root).unwrap();
        let names: Vec<_> = files
            .iter()
            .map(|file| file.path.strip_prefix(root).unwrap().to_str().unwrap())
            .collect();
        let expected = [
            "projects/w/agent-transcripts/s1/s1.jsonl",
            "projects/w/agent-transcripts/s1/subagents/k1.jsonl",
            "projects/w/agent-transcripts/s2.txt",
            "chats/h/s3/store.db",
        ];
        assert_eq!(names, expected);
        let (sessions, _) = sessions_of(&CursorReader, &files[1].path);
        let facts = &sessions[0].facts;
        assert_eq!((facts.parent.as_deref(), facts.is_by_program), (Some("s1"), true));
    }

    // S-SESS-17
    #[test]
    fn a_transcript_is_dated_by_its_chat_and_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("projects/w-shop/agent-transcripts/s1/s1.jsonl");
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let line = |role: &str, text: &str| {
            format!(
                "{{\"role\":{role:?},\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":{text:?}}}]}}}}\n"
            )
        };
        let edit = r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"path":"/w/shop/a.rs"}}]}}"#;
        let text = format!(
            "{}{edit}\n{}{}",
            line("user", "why"),
            line("user", "and?"),
            line("assistant", "so")
        );
        std::fs::write(&place, text).unwrap();
        let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_790_000_900);
        std::fs::File::options().write(true).open(&place).unwrap().set_modified(written).unwrap();
        let file = TranscriptFile { path: place, root: folder.path().to_owned() };
        let read = || {
            let mut sessions = Vec::new();
            let mut deliver = |session: SessionRead| sessions.push(session);
            let mut builder = crate::exchange::ExchangeBuilder::new(0, &mut deliver);
            CursorReader.read(&file, None, &mut builder).unwrap();
            let _census = builder.finish();
            sessions.remove(0)
        };
        let session = read();
        assert_eq!(session.exchanges[0].span_ms(), Some((1_790_000_900_000, 1_790_000_900_000)));
        assert_eq!(session.facts.directory.as_deref(), Some("/w/shop"), "by the path of the edit");
        let chat = folder.path().join("chats/0123/s1/store.db");
        std::fs::create_dir_all(chat.parent().unwrap()).unwrap();
        Connection::open(chat)
            .unwrap()
            .execute_batch(
                "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
                 INSERT INTO meta VALUES ('0', hex('{\"createdAt\":1790000000000}'))",
            )
            .unwrap();
        let session = read();
        assert_eq!(session.exchanges[0].span_ms(), Some((1_790_000_000_000, 1_790_000_900_000)));
        assert_eq!(session.exchanges[1].span_ms(), Some((1_790_000_900_000, 1_790_000_900_000)));
    }

    #[test]
    fn a_chat_is_read_where_it_is_plain() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s3").join("store.db");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                r#"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
                   CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB);
                   INSERT INTO meta VALUES ('0', hex('{"name":"Cart","createdAt":1790000000000}'));
                   INSERT INTO blobs VALUES ('z', '{"role":"user","content":"<user_query>why</user_query>"}'),
                       ('tree', x'0a20ff'), ('a', '{"role":"assistant","content":[{"type":"text","text":"so"},
                        {"type":"tool-call","toolCallId":"t","toolName":"Shell","args":{"command":"make"}}]}');"#,
            )
            .unwrap();
        let (sessions, census) = sessions_of(&CursorReader, &path);
        let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
        assert_eq!((session.native_id.as_str(), kinds(session).len()), ("s3", 3));
        assert_eq!(session.facts.title, Some((TitleSource::Model, "Cart".to_owned())));
        assert_eq!(session.exchanges[0].span_ms(), Some((1_790_000_000_000, 1_790_000_000_000)));
        assert_eq!(census.left, 1);
        writer.execute_batch("UPDATE blobs SET data = x'0a20ff'").unwrap();
        let (sessions, census) = sessions_of(&CursorReader, &path);
        assert!(sessions.is_empty() && census.unknown.len() == 1, "encrypted is not empty");
    }

    #[test]
    fn transcripts_that_other_projects_made_up_are_read() {
        let Some(fixtures) = fixtures() else { return };
        let root = fixtures.join("cursor/synthetic/ctx/cursor/2026.06.24");
        let (mut sessions, mut broken) = (Vec::new(), 0);
        for file in CursorReader.find(&root).unwrap() {
            let (read, census) = sessions_of(&CursorReader, &file.path);
            sessions.extend(read);
            broken += census.broken;
        }
        let counts = GoldenCounts::count(&sessions);
        assert_eq!((counts.user, counts.assistant, counts.edits, broken), (2, 1, 1, 1));
    }
}
