//! Reads Goose: `sessions.db`, and the `.jsonl` files that it kept before. Not here: how a database is read
//! (`session_tables`).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tool_calls::{
    AgentCall, CallKind, exit_code_in, exit_outcome, joined_text, millis, millis_at, text_at,
};
use crate::database;
use crate::prompt_text::typed_text;
use crate::records::each_record;
use crate::session_tables::{FoundSession, SessionTable, SessionTables, TableError, read_changed};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::table_rows::RowQuery;
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptMoment,
    TranscriptSink,
};

/// How the answers to calls begin that a person did not allow.
const REFUSED: &[&str] =
    &["The user has declined to run this tool", "Let the user know the tool call was skipped"];

/// Names that the tool gives before a model finds one.
const UNTITLED: &[&str] = &["New session", "CLI Session", "New Chat"];

/// Reads the sessions of Goose.
pub(super) struct Goose;

impl TranscriptReader for Goose {
    fn tool(&self) -> &'static Tool {
        &Tool { name: "goose", title: "Goose", parser_version: 1, is_tried: true, days_kept: None }
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let named = places.named("GOOSE_PATH_ROOT").map(|root| root.join("data/sessions"));
        let linux = places.named_or_home("XDG_DATA_HOME", ".local/share").join("goose/sessions");
        let windows = places.data.join("Block/goose/data/sessions");
        named.into_iter().chain([linux, windows]).collect()
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        let is_database = |path: &Path| {
            path == root || path.file_name().is_some_and(|name| name == "sessions.db")
        };
        let mut files = files_below(root, 0, &|path| {
            has_extension(path, "jsonl") || has_extension(path, "db") && is_database(path)
        })?;
        // The tool copied the old files into the database once, and left them behind.
        let databases = files.iter().filter(|file| has_extension(&file.path, "db"));
        let copied: HashSet<String> = databases.flat_map(|file| session_ids(&file.path)).collect();
        files.retain(|file| file.stem().is_none_or(|stem| !copied.contains(stem)));
        Ok(files)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        if has_extension(&file.path, "db") {
            return read_changed(file, resume, &SESSIONS, sink);
        }
        read_lines(file, resume.map_or(0, |resume| resume.offset), sink)
    }
}

/// A database that cannot be read has none: then the old files are all there is.
fn session_ids(path: &Path) -> Vec<String> {
    let planned = database::open(path).ok().and_then(|database| SESSIONS.plan(&database).ok());
    planned.into_iter().flatten().map(|session| session.id).collect()
}

/// Reads a file of the old form: the session in its first line, then a message a line.
fn read_lines(
    file: &TranscriptFile,
    offset: u64,
    sink: &mut dyn TranscriptSink,
) -> Result<Resume, ReadError> {
    let id = file.stem().ok_or_else(|| ReadError::form(&file.path, "no session of Goose"))?;
    sink.session(id, if offset == 0 { SessionExtent::Whole } else { SessionExtent::Continued });
    let mut calls = CallNames::default();
    let mut each = |record: Value, sink: &mut dyn TranscriptSink| {
        let Some(role) = text_at(&record, &["/role"]) else {
            let is_head =
                record.get("working_dir").is_some() || record.get("description").is_some();
            if is_head {
                report_facts(&record, sink);
            }
            let kind = text_at(&record, &["/type"]).unwrap_or("line without a role");
            return (!is_head).then(|| kind.to_owned());
        };
        let Some(content) = record.get("content") else {
            return Some("message without content".to_owned());
        };
        let message = GooseMessage {
            id: text_at(&record, &["/id"]),
            at_ms: millis_at(&record, &["/created"]),
            role,
            is_shown: record.pointer("/metadata/userVisible") != Some(&Value::Bool(false)),
        };
        message.report(content, &mut calls, sink);
        None
    };
    let offset = each_record(&file.path, offset, sink, &|_| false, &mut each)?;
    Ok(Resume { offset, state: Value::Null })
}

/// Reports what is known about a session: a row, or the first line of a file.
fn report_facts(info: &Value, sink: &mut dyn TranscriptSink) {
    let title = text_at(info, &["/name", "/description"]);
    if let Some(title) = title.filter(|title| !UNTITLED.contains(title)) {
        // A file says `true`, a row 1.
        let is_by_person = info.get("user_set_name").is_some_and(|set| *set == true || *set == 1);
        let source = if is_by_person { TitleSource::Person } else { TitleSource::Model };
        sink.fact(SessionFact::Title(source, title.to_owned()));
    }
    if let Some(directory) = text_at(info, &["/working_dir"]) {
        sink.fact(SessionFact::Directory(directory.to_owned()));
    }
    if let Some(parent) = text_at(info, &["/parent_session_id"]) {
        sink.fact(SessionFact::Parent(parent.to_owned()));
    }
    let is_by_program = text_at(info, &["/parent_session_id", "/schedule_id"]).is_some()
        || matches!(
            text_at(info, &["/session_type"]),
            Some("sub_agent" | "subagent" | "scheduled" | "hidden")
        );
    if is_by_program {
        sink.fact(SessionFact::ByProgram);
    }
}

/// Which calls were commands: only those have exit codes.
#[derive(Default)]
struct CallNames {
    shells: HashSet<String>,
}

/// Most calls that are remembered until their results come.
const CALLS_MAX: usize = 1_000;

/// What all items of a message have in common.
struct GooseMessage<'a> {
    id: Option<&'a str>,
    at_ms: Option<i64>,
    role: &'a str,
    /// Whether the person sees it. What only the agent sees is a summary or a reminder of the tool.
    is_shown: bool,
}

impl GooseMessage<'_> {
    fn report(&self, content: &Value, calls: &mut CallNames, sink: &mut dyn TranscriptSink) {
        // A thought is an item for each token; they are as many as the tokens, and all left.
        for item in content.as_array().into_iter().flatten() {
            match text_at(item, &["/type"]).unwrap_or_default() {
                "text" => self.report_text(item, sink),
                "toolRequest" | "frontendToolRequest" => self.report_call(item, calls, sink),
                "toolResponse" => self.report_result(item, calls, sink),
                "thinking"
                | "redactedThinking"
                | "reasoning"
                | "image"
                | "systemNotification"
                | "toolConfirmationRequest"
                | "actionRequired"
                | "contextLengthExceeded"
                | "summarizationRequested"
                | "conversationCompacted" => {}
                kind => sink.count(RecordStatus::Unknown(kind)),
            }
        }
    }

    fn report_text(&self, item: &Value, sink: &mut dyn TranscriptSink) {
        let text = text_at(item, &["/text"]).unwrap_or_default();
        let what = match self.role {
            _ if !self.is_shown => return,
            "user" => MomentKind::Asked(typed_text(text)),
            "assistant" => MomentKind::Answered(text.to_owned()),
            _ => return,
        };
        sink.moment(self.moment(what));
    }

    fn report_call(&self, item: &Value, calls: &mut CallNames, sink: &mut dyn TranscriptSink) {
        let call = item.get("toolCall").unwrap_or(item);
        let call = call.get("value").or_else(|| call.get("Ok")).unwrap_or(call);
        let name = text_at(call, &["/name"]).unwrap_or_default();
        let input = call.get("arguments").unwrap_or(&Value::Null);
        let id = text_at(item, &["/id", "/toolCall/id"]).unwrap_or_default();
        let kind = kind_of(name, input);
        if kind == CallKind::Shell && calls.shells.len() < CALLS_MAX {
            calls.shells.insert(id.to_owned());
        }
        let call = AgentCall { message_id: self.id, at_ms: self.at_ms, id, name, kind, input };
        // A call that could not be parsed has an error in its own place, and a result too.
        call.report(None, sink);
    }

    fn report_result(&self, item: &Value, calls: &mut CallNames, sink: &mut dyn TranscriptSink) {
        let result = item.get("toolResult").unwrap_or(&Value::Null);
        let error = text_at(result, &["/error", "/Err"]);
        let value = result.get("value").or_else(|| result.get("Ok")).unwrap_or(result);
        let content = value.get("content").unwrap_or(value);
        let output = error.map_or_else(|| joined_text(content), str::to_owned);
        let call = text_at(item, &["/id", "/toolCallId"]).unwrap_or_default().to_owned();
        let is_error = error.is_some() || value.get("isError") == Some(&Value::Bool(true));
        let is_shell = calls.shells.remove(&call);
        let code = ["/structuredContent/exit_code", "/structuredContent/exitCode"]
            .iter()
            .find_map(|pointer| value.pointer(pointer)?.as_i64())
            .or_else(|| exit_code_in(&output).filter(|_| is_error).map(i64::from))
            .filter(|_| is_shell);
        let outcome = match code {
            _ if REFUSED.iter().any(|begin| output.starts_with(begin)) => Outcome::Refused(None),
            Some(code) if code != 0 => exit_outcome(code),
            _ if is_error => Outcome::Faulted,
            _ => Outcome::Succeeded,
        };
        sink.moment(self.moment(MomentKind::Returned { call, outcome, output }));
    }

    fn moment(&self, what: MomentKind) -> TranscriptMoment {
        let message_id = self.id.map(str::to_owned);
        TranscriptMoment { message_id, at_ms: self.at_ms, kind: what }
    }
}

/// The names of tools begin with that of their extension: `developer__shell`.
fn kind_of(name: &str, input: &Value) -> CallKind {
    match name.rsplit_once("__").map_or(name, |(_, name)| name) {
        "shell" => CallKind::Shell,
        "write" | "edit" => CallKind::Edit,
        "text_editor" if text_at(input, &["/command"]) != Some("view") => CallKind::Edit,
        _ => CallKind::Other,
    }
}

/// The tables of Goose. A conversation that is replaced has new numbers; a message that is rewritten has another length.
static SESSIONS: SessionTable = SessionTable {
    sessions: "Goose's sessions",
    plan: "SELECT s.id, s.name, s.updated_at, count(m.id), max(m.id), sum(octet_length(m.content_json))
           FROM sessions s LEFT JOIN messages m ON m.session_id = s.id
           GROUP BY s.id ORDER BY s.created_at DESC",
    // As the first line of an old file has it.
    session: RowQuery {
        table: "sessions",
        columns: &[
            "name",
            "description",
            "user_set_name",
            "working_dir",
            "session_type",
            "parent_session_id",
            "schedule_id",
        ],
        content: None,
        clause: "WHERE id = ?1",
    },
    messages: Some(RowQuery {
        table: "messages",
        columns: &["message_id", "role", "created_timestamp", "metadata_json"],
        content: Some("content_json"),
        clause: "WHERE session_id = ?1 ORDER BY id",
    }),
    report: report_session,
};

fn report_session(
    session: &mut FoundSession<'_>,
    sink: &mut dyn TranscriptSink,
) -> Result<(), TableError> {
    sink.session(session.id, SessionExtent::Whole);
    report_facts(&Value::Object(session.row.columns.clone()), sink);
    let mut calls = CallNames::default();
    for row in &mut *session.messages {
        let row = row?;
        let Some(content) = row.json(sink) else { continue };
        let metadata = row.text("metadata_json").map(serde_json::from_str::<Value>);
        let metadata = metadata.and_then(Result::ok).unwrap_or_default();
        let message = GooseMessage {
            id: row.text("message_id"),
            at_ms: row.number("created_timestamp").and_then(millis),
            role: row.text("role").unwrap_or_default(),
            is_shown: metadata.get("userVisible") != Some(&Value::Bool(false)),
        };
        message.report(&content, &mut calls, sink);
        sink.count(RecordStatus::Understood);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::exchange::{PartKind, SessionRead};
    use crate::readers::golden::{GoldenCounts, sessions_of, try_sessions_of};
    use crate::readers::resume_law;
    use crate::real_files::fixtures;

    const TABLES: &str = r#"
        CREATE TABLE sessions(id, name, user_set_name, session_type, working_dir, created_at, updated_at,
            parent_session_id);
        CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, message_id, session_id, role,
            content_json, created_timestamp, metadata_json);
        INSERT INTO sessions VALUES
            ('1', 'CLI Session', 0, 'user', '/w', '2026', '2026', NULL),
            ('2', 'Cart', 1, 'sub_agent', '/w', '2026', '2026', '1');
        INSERT INTO messages(message_id, session_id, role, content_json, created_timestamp, metadata_json)
        VALUES
            ('u', '1', 'user', '[{"type":"text","text":"why"}]', 1790000000, '{"userVisible":true}'),
            ('a', '1', 'assistant', '[{"type":"thinking","thinking":"I"},{"type":"thinking","thinking":" see"},
                {"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":
                    {"name":"developer__shell","arguments":{"command":"make"}}}},
                {"type":"toolRequest","id":"c2","toolCall":{"status":"success","value":
                    {"name":"developer__text_editor","arguments":{"command":"write","path":"a.rs"}}}},
                {"type":"toolRequest","id":"c3","toolCall":{"status":"success","value":
                    {"name":"shell","arguments":{"command":"rm x"}}}}]', 1790000001, NULL),
            ('r', '1', 'user', '[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":
                    {"content":[{"type":"text","text":"no rule\nCommand exited with code 2"}],"isError":true}}},
                {"type":"toolResponse","id":"c2","toolResult":{"status":"success","value":
                    {"content":[],"isError":false}}},
                {"type":"toolResponse","id":"c3","toolResult":{"status":"success","value":
                    {"content":[{"type":"text","text":"The user has declined to run this tool. Stop."}]}}}]',
                1790000002, NULL),
            ('s', '1', 'user', '[{"type":"text","text":"a summary for the agent"}]', 1790000003,
                '{"userVisible":false}'),
            ('k', '2', 'user', '[{"type":"text","text":"look"},{"type":"hologram"}]', 1790000004, NULL);"#;

    fn database() -> (tempfile::TempDir, PathBuf, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        writer.execute_batch(TABLES).unwrap();
        (folder, path, writer)
    }

    fn kinds(session: &SessionRead) -> Vec<PartKind> {
        let parts = session.exchanges.iter().flat_map(|exchange| &exchange.parts);
        parts.map(|part| part.what.clone()).collect()
    }

    #[test]
    fn calls_meet_their_results_and_thoughts_are_left() {
        let (_folder, path, _writer) = database();
        let (sessions, census) = sessions_of(&Goose, &path);
        let person = sessions.iter().find(|session| session.native_id == "1").unwrap();
        let expected = [
            PartKind::Asked("why".to_owned()),
            PartKind::Ran {
                command: "make".to_owned(),
                outcome: Outcome::Exited(2),
                excerpt: "no rule\nCommand exited with code 2".to_owned(),
            },
            PartKind::Edited {
                path: "a.rs".to_owned(),
                outcome: Outcome::Succeeded,
                excerpt: String::new(),
            },
            PartKind::Ran {
                command: "rm x".to_owned(),
                outcome: Outcome::Refused(None),
                excerpt: "The user has declined to run this tool. Stop.".to_owned(),
            },
        ];
        assert_eq!(kinds(person), expected);
        assert_eq!((person.facts.title.clone(), person.facts.is_by_program), (None, false));
        assert_eq!(person.exchanges[0].span_ms().unwrap().0, 1_790_000_000_000);
        let kid = sessions.iter().find(|session| session.native_id == "2").unwrap();
        assert_eq!(kid.facts.title, Some((TitleSource::Person, "Cart".to_owned())));
        assert_eq!((kid.facts.parent.as_deref(), kid.facts.is_by_program), (Some("1"), true));
        assert_eq!(census.unknown.get("hologram"), Some(&1));
    }

    #[test]
    fn a_replaced_or_rewritten_message_is_read_again() {
        let (_folder, path, writer) = database();
        let resume = try_sessions_of(&Goose, &path, None).2.unwrap();
        assert_eq!(try_sessions_of(&Goose, &path, Some(&resume)).0.len(), 0);
        for change in [
            r#"UPDATE messages SET content_json = '[{"type":"text","text":"longer"}]' WHERE message_id = 'k'"#,
            "UPDATE messages SET id = 99 WHERE message_id = 'k'",
        ] {
            writer.execute_batch(change).unwrap();
            let (sessions, _, _) = try_sessions_of(&Goose, &path, Some(&resume));
            assert_eq!(sessions.len(), 1, "{change}");
        }
        writer.execute_batch("DROP TABLE messages").unwrap();
        assert!(try_sessions_of(&Goose, &path, None).2.is_err());
    }

    #[test]
    fn old_files_that_the_database_has_are_not_read_twice() {
        let (folder, _path, _writer) = database();
        let line =
            r#"{"role":"user","created":1790000000,"content":[{"type":"text","text":"old"}]}"#;
        let head = r#"{"working_dir":"/w","description":"Named"}"#;
        for name in ["1.jsonl", "0.jsonl"] {
            std::fs::write(folder.path().join(name), format!("{head}\n{line}\n")).unwrap();
        }
        let files = Goose.find(folder.path()).unwrap();
        let names: Vec<_> = files.iter().filter_map(TranscriptFile::stem).collect();
        assert_eq!(names, ["0", "sessions"]);
        let path = folder.path().join("0.jsonl");
        let (sessions, _, end) = try_sessions_of(&Goose, &path, None);
        assert_eq!(kinds(&sessions[0]), [PartKind::Asked("old".to_owned())]);
        assert_eq!(sessions[0].facts.directory.as_deref(), Some("/w"));
        std::fs::write(&path, format!("{head}\n{line}\n{line}\n")).unwrap();
        let (sessions, _, _) = try_sessions_of(&Goose, &path, Some(&end.unwrap()));
        assert_eq!((sessions[0].extent, kinds(&sessions[0]).len()), (SessionExtent::Continued, 1));
    }

    #[test]
    fn an_old_file_that_grows_is_read_as_one_that_is_whole() {
        let text = r#"{"working_dir":"/w","description":"Named"}
{"role":"user","created":1790000000,"content":[{"type":"text","text":"why"}]}
{"role":"assistant","created":1790000001,"content":[{"type":"toolRequest","id":"c1","toolCall":{"value":{"name":"shell","arguments":{"command":"make"}}}}]}
{"role":"user","created":1790000002,"content":[{"type":"toolResponse","id":"c1","toolResult":{"value":{"content":[{"type":"text","text":"exit code 2"}],"isError":true}}}]}
{"role":"user","created":1790000003,"content":[{"type":"text","text":"and?"}]}
{"role":"assistant","created":1790000004,"content":[{"type":"text","text":"so"}]}
"#;
        resume_law::holds_when_cut(&Goose, "1.jsonl", text, 3);
        resume_law::holds_with_unknown(&Goose, "1.jsonl", text);
        resume_law::holds_when_damaged(&Goose, "1.jsonl", text, ("", "why"));
    }

    #[test]
    fn a_real_database_is_read_where_it_lies() {
        let Some(fixtures) = fixtures() else { return };
        let path = fixtures.join("goose/real/lantern/goose-home/sessions/sessions.db");
        let (sessions, census) = sessions_of(&Goose, &path);
        // 22 messages: 4 prompts, 2 answers, 8 calls of tools that are neither a shell nor an editor.
        let expected = GoldenCounts { user: 4, assistant: 2, ..GoldenCounts::default() };
        assert_eq!((sessions.len(), GoldenCounts::count(&sessions)), (4, expected));
        assert_eq!((census.understood, census.unknown.len(), census.broken), (22, 0, 0));
        let called = sessions.iter().flat_map(kinds).filter_map(|part| match part {
            PartKind::Called { outcome, .. } => Some(outcome),
            _ => None,
        });
        let called: Vec<_> = called.collect();
        let faults = called.iter().filter(|outcome| **outcome == Outcome::Faulted).count();
        assert_eq!((called.len(), faults), (8, 6), "a success with `isError` is a fault");
    }

    #[test]
    fn forms_that_other_projects_made_up_are_read() {
        let Some(fixtures) = fixtures() else { return };
        let fixtures = fixtures.join("goose/synthetic");
        for (name, commands) in [
            ("ctx/goose/v14/sessions.db", 1),
            ("ctx/goose/v15/sessions.db", 1),
            ("deja-vu/goose/sessions/20250724_1.jsonl", 0),
        ] {
            let (sessions, _) = sessions_of(&Goose, &fixtures.join(name));
            let counts = GoldenCounts::count(&sessions);
            assert_eq!((sessions.len(), counts.user, counts.commands), (1, 1, commands), "{name}");
        }
    }
}
