//! The database of Cursor's editor, `state.vscdb`: a table of keys and values with a value for each conversation and one for
//! each message. It grows to gigabytes, so only ranges of keys are asked for. Not here: the transcripts of Cursor's command
//! line (`cursor_sessions`).

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::tool_calls::{AgentCall, CallKind, exit_outcome, joined_text, millis_at, text_at};
use crate::database::{self, ForeignDatabase};
use crate::prompt_text::typed_text;
use crate::records::file_bytes;
use crate::session_tables::{PlannedSession, SessionTables, TableError, fingerprint};
use crate::table_rows::{RowQuery, has_table};
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptMoment,
    TranscriptSink,
};

/// The keys of all conversations, the newest first.
const CONVERSATIONS: &str = "SELECT key FROM cursorDiskKV
    WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY rowid DESC";

/// The value at a key.
const VALUE: RowQuery<'_> = RowQuery {
    table: "cursorDiskKV",
    columns: &[],
    content: Some("value"),
    clause: "WHERE key = ?1",
};

/// The conversations that a workspace lists.
const LISTED: RowQuery<'_> = RowQuery {
    table: "ItemTable",
    columns: &[],
    content: Some("value"),
    clause: "WHERE key = 'composer.composerData'",
};

/// Most workspaces that are asked which conversations are theirs.
const WORKSPACES_MAX: usize = 500;

/// The table of Cursor's editor.
#[derive(Default)]
pub(super) struct CursorTables {
    /// Which conversation started which.
    parents: RefCell<HashMap<String, String>>,
    /// In which folder a conversation was held, where it does not say so itself.
    folders: OnceCell<HashMap<String, String>>,
}

impl SessionTables for CursorTables {
    fn plan(&self, database: &ForeignDatabase) -> Result<Vec<PlannedSession>, TableError> {
        if !has_table(database, VALUE.table)? {
            return Err(TableError::Form("a database without Cursor's conversations".to_owned()));
        }
        // Keys are sorted without their values, which may be gigabytes together.
        let mut keys = database.prepare(CONVERSATIONS)?;
        let keys = keys.query_map([], |row| row.get(0))?;
        let mut planned = Vec::new();
        for key in keys.collect::<rusqlite::Result<Vec<String>>>()? {
            let row = VALUE.first(database, [&key])?.unwrap_or_default();
            let (bytes, value) = (row.content_bytes, row.content.unwrap_or_default());
            let id = key.strip_prefix("composerData:").unwrap_or(&key).to_owned();
            self.note_children(&id, &value);
            // The conversation says when it was last changed, and lists its messages.
            let mark = format!("{bytes:?}/{}", fingerprint(&String::from_utf8_lossy(&value)));
            planned.push(PlannedSession { id, mark });
        }
        Ok(planned)
    }

    fn read_session(
        &self,
        database: &ForeignDatabase,
        id: &str,
        sink: &mut dyn TranscriptSink,
    ) -> Result<(), TableError> {
        let value = |key: &str, sink: &mut dyn TranscriptSink| {
            VALUE.first(database, [key]).map(|row| row?.json(sink))
        };
        let Some(composer) = value(&format!("composerData:{id}"), sink)? else { return Ok(()) };
        sink.session(id, SessionExtent::Whole);
        self.report_facts(id, database.path(), &composer, sink);
        let begun = millis_at(&composer, &["/createdAt"]);
        let list = |name: &str| composer.get(name).and_then(Value::as_array).into_iter().flatten();
        for bubble in list("conversation") {
            report_bubble(bubble, begun, sink);
        }
        for header in list("fullConversationHeadersOnly") {
            let Some(bubble) = text_at(header, &["/bubbleId"]) else { continue };
            if let Some(bubble) = value(&format!("bubbleId:{id}:{bubble}"), sink)? {
                report_bubble(&bubble, begun, sink);
            }
        }
        Ok(())
    }
}

impl CursorTables {
    fn note_children(&self, id: &str, value: &[u8]) {
        let name: &[u8] = b"\"subComposerIds\":[\"";
        if !value.windows(name.len()).any(|window| window == name) {
            return;
        }
        let Ok(composer) = serde_json::from_slice::<Value>(value) else { return };
        let children = composer.get("subComposerIds").and_then(Value::as_array);
        for child in children.into_iter().flatten().filter_map(Value::as_str) {
            self.parents.borrow_mut().insert(child.to_owned(), id.to_owned());
        }
    }

    fn report_facts(&self, id: &str, path: &Path, composer: &Value, sink: &mut dyn TranscriptSink) {
        if let Some(name) = text_at(composer, &["/name"]) {
            sink.fact(SessionFact::Title(TitleSource::Model, name.to_owned()));
        }
        let own = text_at(
            composer,
            &["/workspaceIdentifier/uri/fsPath", "/workspaceIdentifier/uri/path"],
        );
        let folders = || self.folders.get_or_init(|| folders_beside(path));
        let folder = own.map(str::to_owned).or_else(|| folders().get(id).cloned());
        if let Some(folder) = folder {
            sink.fact(SessionFact::Directory(folder));
        }
        if let Some(parent) = self.parents.borrow().get(id) {
            sink.fact(SessionFact::Parent(parent.clone()));
        }
        let is_set = |name: &str| composer.get(name) == Some(&Value::Bool(true));
        if is_set("isSubagent") || self.parents.borrow().contains_key(id) {
            sink.fact(SessionFact::ByProgram);
        }
    }
}

/// Asks the workspaces, each of which has a database of its own, which conversations they list.
fn folders_beside(global: &Path) -> HashMap<String, String> {
    let mut folders = HashMap::new();
    let user = global.ancestors().nth(2).unwrap_or(global);
    let Ok(entries) = std::fs::read_dir(user.join("workspaceStorage")) else { return folders };
    for workspace in entries.flatten().take(WORKSPACES_MAX).map(|entry| entry.path()) {
        if let Some((folder, ids)) = listed_in(&workspace) {
            folders.extend(ids.into_iter().map(|id| (id, folder.clone())));
        }
    }
    folders
}

fn listed_in(workspace: &Path) -> Option<(String, Vec<String>)> {
    let about = file_bytes(&workspace.join("workspace.json"), 1 << 20).ok()?;
    let about: Value = serde_json::from_slice(&about).ok()?;
    let folder = percent_decoded(text_at(&about, &["/folder"])?.strip_prefix("file://")?);
    let database = database::open(&workspace.join("state.vscdb")).ok()?;
    let value = LISTED.first(&database, []).ok()??.content?;
    let value: Value = serde_json::from_slice(&value).ok()?;
    let ids = value.get("allComposers")?.as_array()?.iter();
    let ids = ids.filter_map(|one| Some(text_at(one, &["/composerId"])?.to_owned())).collect();
    Some((folder, ids))
}

/// Undoes the escapes of a URI. On Windows the path is behind a slash.
fn percent_decoded(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code =
            code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%');
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    if is_drive { path.trim_start_matches('/').to_owned() } else { path }
}

/// Reports a message. Its kind is a number: 1 is the person, 2 the agent.
fn report_bubble(bubble: &Value, begun: Option<i64>, sink: &mut dyn TranscriptSink) {
    let id = text_at(bubble, &["/bubbleId"]);
    let at_ms = millis_at(bubble, &["/createdAt", "/timingInfo/clientStartTime"]).or(begun);
    let moment = |what| TranscriptMoment { message_id: id.map(str::to_owned), at_ms, kind: what };
    let text = text_at(bubble, &["/text"]);
    match bubble.get("type").and_then(Value::as_i64) {
        Some(1) => sink.moment(moment(MomentKind::Asked(typed_text(text.unwrap_or_default())))),
        Some(2) => {
            if let Some(text) = text {
                sink.moment(moment(MomentKind::Answered(text.to_owned())));
            }
            if let Some(tool) = bubble.get("toolFormerData") {
                report_tool(tool, id, at_ms, sink);
            }
        }
        _ => return sink.count(RecordStatus::Unknown("message of no known type")),
    }
    sink.count(RecordStatus::Understood);
}

fn report_tool(tool: &Value, id: Option<&str>, at_ms: Option<i64>, sink: &mut dyn TranscriptSink) {
    let name = text_at(tool, &["/name"]).unwrap_or_default();
    if name.is_empty() {
        return;
    }
    // Arguments and results are JSON in texts.
    let inner = |name: &str| {
        let value = tool.get(name)?;
        let text = value.as_str().filter(|text| !text.is_empty());
        text.map_or_else(|| Some(value.clone()), |text| serde_json::from_str(text).ok())
    };
    let kind = kind_of(name);
    let given = |value: &Value| value.as_object().is_some_and(|fields| !fields.is_empty());
    let input = inner("rawArgs").filter(given).or_else(|| inner("params")).unwrap_or_default();
    let result = inner("result").unwrap_or_default();
    let call_id = text_at(tool, &["/toolCallId"]).or(id).unwrap_or_default();
    let call = AgentCall { message_id: id, at_ms, id: call_id, name, kind, input: &input };
    call.report(ended(kind, tool, &result), sink);
}

/// Which tool does what, by the names of the editor and of the command line.
pub(super) fn kind_of(name: &str) -> CallKind {
    let name = name.to_ascii_lowercase();
    match name.trim_end_matches("_v2") {
        "shell" | "bash" | "run_command" => CallKind::Shell,
        name if name.starts_with("run_terminal") => CallKind::Shell,
        "write" | "strreplace" | "edit" | "multiedit" | "delete" | "applypatch"
        | "editnotebook" | "edit_file" | "search_replace" | "write_file" | "apply_patch"
        | "delete_file" | "multi_edit" | "edit_notebook" => CallKind::Edit,
        _ => CallKind::Other,
    }
}

/// A command that succeeded has no exit code in older versions, as those leave out a zero.
fn ended(kind: CallKind, tool: &Value, result: &Value) -> Option<(Outcome, String)> {
    let (status, decision) = (text_at(tool, &["/status"]), text_at(tool, &["/userDecision"]));
    let texts = ["/output", "/contents", "/message", "/error"];
    let output = text_at(result, &texts).map(str::to_owned);
    let output = output.or_else(|| tool.get("error").map(joined_text)).unwrap_or_default();
    let is_rejected = [decision, status].contains(&Some("rejected"))
        || result.get("rejected") == Some(&Value::Bool(true));
    let code = ["/exitCodeV2", "/exitCode", "/exit_code"]
        .iter()
        .find_map(|pointer| result.pointer(pointer)?.as_i64())
        .filter(|_| kind == CallKind::Shell);
    let outcome = match (code, status) {
        _ if is_rejected => Outcome::Refused(None),
        (Some(code), _) => exit_outcome(code),
        (None, Some("error")) => Outcome::Faulted,
        (None, Some("completed")) => Outcome::Succeeded,
        _ => return None,
    };
    Some((outcome, output))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rusqlite::Connection;

    use super::*;
    use crate::exchange::{PartKind, SessionRead};
    use crate::readers::cursor_sessions::CursorReader;
    use crate::readers::golden::{sessions_of, try_sessions_of};

    const ROWS: &str = r#"
        CREATE TABLE ItemTable(key TEXT UNIQUE, value BLOB);
        CREATE TABLE cursorDiskKV(key TEXT UNIQUE, value BLOB);
        INSERT INTO cursorDiskKV VALUES
            ('composerData:a', '{"composerId":"a","name":"Cart","createdAt":1790000000000,
                "fullConversationHeadersOnly":[{"bubbleId":"1","type":1},{"bubbleId":"2","type":2},
                {"bubbleId":"3","type":2},{"bubbleId":"4","type":2},{"bubbleId":"gone","type":2}],
                "subComposerIds":["b"]}'),
            ('composerData:b', '{"composerId":"b","conversation":[{"bubbleId":"9","type":1,"text":"look"}],
                "workspaceIdentifier":{"uri":{"fsPath":"/v"}}}'),
            ('composerData:draft', '{"composerId":"draft","fullConversationHeadersOnly":[]}'),
            ('bubbleId:a:4', '{"bubbleId":"4","type":2,"toolFormerData":{"name":"run_terminal_command_v2",
                "status":"completed","userDecision":"rejected","params":"{\"command\":\"rm x\"}"}}'),
            ('bubbleId:a:3', CAST('{"bubbleId":"3","type":2,"text":"done","toolFormerData":{"name":"search_replace",
                "status":"completed","rawArgs":"{\"file_path\":\"a.rs\"}","result":"{}"}}' AS BLOB)),
            ('bubbleId:a:2', '{"bubbleId":"2","type":2,"createdAt":"2026-09-21T14:13:21Z","toolFormerData":{
                "name":"run_terminal_cmd","status":"completed","rawArgs":"{\"command\":\"make\"}",
                "result":"{\"output\":\"no rule\",\"exitCodeV2\":2}"}}'),
            ('bubbleId:a:1', '{"bubbleId":"1","type":1,"text":"why"}'),
            ('bubbleId:a:unlisted', '{"bubbleId":"5","type":1,"text":"a message that was taken back"}'),
            ('agentKv:blob:x', '{"role":"user","content":"never read"}');"#;

    fn database() -> (tempfile::TempDir, PathBuf, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let global = folder.path().join("globalStorage");
        std::fs::create_dir(&global).unwrap();
        let path = global.join("state.vscdb");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        writer.execute_batch(ROWS).unwrap();
        (folder, path, writer)
    }

    fn named<'a>(sessions: &'a [SessionRead], id: &str) -> &'a SessionRead {
        sessions.iter().find(|session| session.native_id == id).unwrap()
    }

    #[test]
    fn messages_are_read_in_the_order_of_the_conversation() {
        let (folder, path, _writer) = database();
        let workspace = folder.path().join("workspaceStorage/w1");
        std::fs::create_dir_all(&workspace).unwrap();
        std::fs::write(workspace.join("workspace.json"), r#"{"folder":"file:///w%20x"}"#).unwrap();
        let listed = Connection::open(workspace.join("state.vscdb")).unwrap();
        listed
            .execute_batch(
                r#"CREATE TABLE ItemTable(key, value); INSERT INTO ItemTable VALUES
                    ('composer.composerData', '{"allComposers":[{"composerId":"a"}]}')"#,
            )
            .unwrap();
        let (sessions, census) = sessions_of(&CursorReader, &path);
        assert_eq!(sessions.len(), 2, "the draft says nothing");
        let (a, b) = (named(&sessions, "a"), named(&sessions, "b"));
        let parts: Vec<_> = a.exchanges[0].parts.iter().map(|part| part.what.clone()).collect();
        assert_eq!(parts.len(), 5, "{parts:?}");
        assert_eq!(parts[0], PartKind::Asked("why".to_owned()));
        assert!(
            matches!(&parts[1], PartKind::Ran { outcome: Outcome::Exited(2), excerpt, .. } if excerpt == "no rule")
        );
        assert_eq!(parts[2], PartKind::Answered("done".to_owned()));
        assert!(
            matches!(&parts[3], PartKind::Edited { outcome: Outcome::Succeeded, path, .. } if path == "a.rs")
        );
        assert!(matches!(&parts[4], PartKind::Ran { outcome: Outcome::Refused(None), .. }));
        assert_eq!(a.exchanges[0].span_ms(), Some((1_790_000_000_000, 1_790_000_001_000)));
        assert_eq!(a.facts.directory.as_deref(), Some("/w x"), "as its workspace says");
        assert_eq!(b.facts.directory.as_deref(), Some("/v"));
        assert_eq!((b.facts.parent.as_deref(), b.facts.is_by_program), (Some("a"), true));
        assert_eq!((census.broken, census.too_long, census.unknown.len()), (0, 0, 0));
    }

    #[test]
    fn a_huge_message_is_skipped_and_only_changes_are_read() {
        let (_folder, path, writer) = database();
        let resume = try_sessions_of(&CursorReader, &path, None).2.unwrap();
        assert_eq!(try_sessions_of(&CursorReader, &path, Some(&resume)).0.len(), 0);
        writer
            .execute_batch(
                "UPDATE cursorDiskKV SET value = zeroblob(20000000) WHERE key = 'bubbleId:a:2';
                 UPDATE cursorDiskKV SET value = replace(value, '000}', '001}') || ' ' WHERE key = 'composerData:a'",
            )
            .unwrap();
        let (sessions, census, _) = try_sessions_of(&CursorReader, &path, Some(&resume));
        assert_eq!((sessions.len(), census.too_long), (1, 1));
        assert_eq!(sessions[0].exchanges[0].parts.len(), 4);
        writer.execute_batch("DROP TABLE cursorDiskKV").unwrap();
        assert!(try_sessions_of(&CursorReader, &path, None).2.is_err());
    }

    #[test]
    fn folders_are_paths_on_every_system() {
        assert_eq!(percent_decoded("/w/100%25"), "/w/100%");
        assert_eq!(percent_decoded("/c%3A/w"), "c:/w");
        assert_eq!(percent_decoded("/w/%zz%"), "/w/%zz%");
    }

    #[test]
    fn only_ranges_of_keys_are_asked_for() {
        let (_folder, _path, writer) = database();
        let plan = format!("EXPLAIN QUERY PLAN {CONVERSATIONS}");
        let steps: Vec<String> = writer
            .prepare(&plan)
            .unwrap()
            .query_map([], |row| row.get(3))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert!(
            steps.iter().any(|step| step.contains("SEARCH") && step.contains("COVERING")),
            "{steps:?}"
        );
        assert!(!steps.iter().any(|step| step.contains("SCAN")), "{steps:?}");
    }
}
