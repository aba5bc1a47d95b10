//! Reads Crush, which keeps a database in each project: `.crush/crush.db`. Not here: how a database is read
//! (`session_tables`).

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tool_calls::{AgentCall, CallKind, exit_outcome, joined_text, millis, text_at};
use crate::prompt_text::typed_text;
use crate::records::file_bytes;
use crate::session_tables::{FoundSession, SessionTable, TableError, read_changed};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension, leads_out_of,
};
use crate::table_rows::RowQuery;
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptMoment,
    TranscriptSink,
};

/// Most projects that are taken from Crush's own list, and its largest size in bytes.
const PROJECTS_MAX: usize = 1_000;
const PROJECTS_BYTES_MAX: u64 = 4 << 20;

/// What the result says of a call that a person did not allow.
const REFUSED: &str = "denied permission";

/// Reads the sessions of Crush.
pub(super) struct Crush;

impl TranscriptReader for Crush {
    fn tool(&self) -> &'static Tool {
        &Tool { name: "crush", title: "Crush", parser_version: 1, is_tried: false, days_kept: None }
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let data = places.named_or_home("XDG_DATA_HOME", ".local/share");
        let listed = projects_in(&data.join("crush").join("projects.json"));
        let mut roots: Vec<_> =
            places.work_trees.iter().map(|tree| tree.join(".crush")).chain(listed).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// A work tree may come from anyone, so a link in it is not followed out of it.
    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        if root.parent().is_some_and(|tree| leads_out_of(tree, root)) {
            return Ok(Vec::new());
        }
        files_below(root, 0, &|path| {
            has_extension(path, "db") && path.file_stem().is_some_and(|stem| stem == "crush")
        })
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        read_changed(file, resume, &SESSIONS, sink)
    }
}

/// Returns the data folders of the projects in which Crush was used.
fn projects_in(list: &Path) -> Vec<PathBuf> {
    let list = file_bytes(list, PROJECTS_BYTES_MAX).ok();
    let list = list.and_then(|list| serde_json::from_slice::<Value>(&list).ok());
    let projects = list.as_ref().and_then(|list| list.get("projects").unwrap_or(list).as_array());
    let folder = |project: &Value| {
        let data = text_at(project, &["/data_dir"]).map(PathBuf::from);
        data.or_else(|| Some(PathBuf::from(text_at(project, &["/path"])?).join(".crush")))
    };
    projects.into_iter().flatten().take(PROJECTS_MAX).filter_map(folder).collect()
}

/// The tables of Crush.
static SESSIONS: SessionTable = SessionTable {
    sessions: "Crush's sessions",
    plan: "SELECT s.id, s.title, s.updated_at, count(m.id), max(m.updated_at), sum(octet_length(m.parts))
           FROM sessions s LEFT JOIN messages m ON m.session_id = s.id
           GROUP BY s.id ORDER BY s.created_at DESC",
    session: RowQuery {
        table: "sessions",
        columns: &["title", "parent_session_id"],
        content: None,
        clause: "WHERE id = ?1",
    },
    messages: Some(RowQuery {
        table: "messages",
        columns: &["id", "role", "created_at", "is_summary_message"],
        content: Some("parts"),
        clause: "WHERE session_id = ?1 ORDER BY created_at, rowid",
    }),
    report: report_session,
};

fn report_session(
    session: &mut FoundSession<'_>,
    sink: &mut dyn TranscriptSink,
) -> Result<(), TableError> {
    sink.session(session.id, SessionExtent::Whole);
    let own = |column: &str| session.row.text(column).map(str::to_owned);
    // The database lies in the project, so its place is the directory.
    let directory = session.path.ancestors().nth(2).and_then(Path::to_str).map(str::to_owned);
    let facts = [
        own("title").map(|title| SessionFact::Title(TitleSource::Model, title)),
        directory.map(SessionFact::Directory),
        own("parent_session_id").map(|_| SessionFact::ByProgram),
        own("parent_session_id").map(SessionFact::Parent),
    ];
    facts.into_iter().flatten().for_each(|fact| sink.fact(fact));
    for row in &mut *session.messages {
        let row = row?;
        let is_summary = row.number("is_summary_message") == Some(1);
        let message = CrushMessage {
            id: row.text("id").unwrap_or_default(),
            at_ms: row.number("created_at").and_then(millis),
            role: if is_summary { "summary" } else { row.text("role").unwrap_or_default() },
        };
        if let Some(parts) = row.json(sink) {
            message.report(&parts, sink);
        }
    }
    Ok(())
}

/// What all parts of a message have in common.
struct CrushMessage<'a> {
    id: &'a str,
    at_ms: Option<i64>,
    role: &'a str,
}

impl CrushMessage<'_> {
    fn report(&self, parts: &Value, sink: &mut dyn TranscriptSink) {
        for part in parts.as_array().into_iter().flatten() {
            let data = part.get("data").unwrap_or(part);
            match text_at(part, &["/type"]).unwrap_or_default() {
                "text" => {
                    let text = text_at(data, &["/text"]).unwrap_or_default();
                    sink.moment(self.moment(match self.role {
                        "user" => MomentKind::Asked(typed_text(text)),
                        "summary" => MomentKind::Summarised(text.to_owned()),
                        _ => MomentKind::Answered(text.to_owned()),
                    }));
                }
                "tool_call" => self.report_call(data, sink),
                "tool_result" => self.report_result(data, sink),
                "shell_command" => {
                    let ended = data.get("exit_code").and_then(Value::as_i64).map(exit_outcome);
                    let output = data.get("output").map(joined_text).unwrap_or_default();
                    let call = AgentCall {
                        message_id: Some(self.id),
                        at_ms: self.at_ms,
                        id: self.id,
                        name: "shell",
                        kind: CallKind::Shell,
                        input: data,
                    };
                    call.report(ended.map(|outcome| (outcome, output)), sink);
                }
                "reasoning" | "finish" | "image_url" | "binary" => {}
                kind => sink.count(RecordStatus::Unknown(kind)),
            }
        }
        sink.count(RecordStatus::Understood);
    }

    fn report_call(&self, data: &Value, sink: &mut dyn TranscriptSink) {
        let name = text_at(data, &["/name"]).unwrap_or_default();
        let kind = match name {
            "bash" => CallKind::Shell,
            "edit" | "multiedit" | "write" => CallKind::Edit,
            _ => CallKind::Other,
        };
        // Arguments are JSON in a text.
        let input = data.get("input").unwrap_or(&Value::Null);
        let parsed = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let input = parsed.as_ref().unwrap_or(input);
        let id = text_at(data, &["/id"]).unwrap_or_default();
        let (message_id, at_ms) = (Some(self.id), self.at_ms);
        AgentCall { message_id, at_ms, id, name, kind, input }.report(None, sink);
    }

    /// A command that fails is no error to Crush; the last line of its output says it.
    fn report_result(&self, data: &Value, sink: &mut dyn TranscriptSink) {
        let call = text_at(data, &["/tool_call_id"]).unwrap_or_default().to_owned();
        let output = data.get("content").map(joined_text).unwrap_or_default();
        let is_error = data.get("is_error") == Some(&Value::Bool(true));
        let is_shell = text_at(data, &["/name"]) == Some("bash");
        let last = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let code = last.and_then(|line| line.strip_prefix("Exit code ")?.parse().ok());
        let outcome = match code.filter(|_| is_shell) {
            _ if is_error && output.contains(REFUSED) => Outcome::Refused(None),
            Some(code) => exit_outcome(code),
            None if is_error => Outcome::Faulted,
            None => Outcome::Succeeded,
        };
        sink.moment(self.moment(MomentKind::Returned { call, outcome, output }));
    }

    fn moment(&self, what: MomentKind) -> TranscriptMoment {
        TranscriptMoment { message_id: Some(self.id.to_owned()), at_ms: self.at_ms, kind: what }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::golden::{GoldenCounts, sessions_of, try_sessions_of};
    use crate::real_files::fixtures;

    const ROWS: &str = r#"
        CREATE TABLE sessions(id, parent_session_id, title, created_at, updated_at);
        CREATE TABLE messages(id, session_id, role, parts, created_at, updated_at);
        INSERT INTO sessions VALUES ('s', NULL, 'Cart', 1, 1), ('k', 's', 'Kid', 2, 2);
        INSERT INTO messages VALUES
            ('m1', 's', 'user', '[{"type":"text","data":{"text":"why"}}]', 1790000000, 1),
            ('m2', 's', 'assistant', '[{"type":"reasoning","data":{"thinking":"hm"}},
                {"type":"tool_call","data":{"id":"c1","name":"bash","input":"{\"command\":\"make\"}"}},
                {"type":"tool_call","data":{"id":"c2","name":"edit","input":"{\"file_path\":\"a.rs\"}"}},
                {"type":"hologram"}]', 1790000001, 1),
            ('m3', 's', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"c1","name":"bash",
                "content":"no rule\nExit code 2","is_error":false}},
                {"type":"tool_result","data":{"tool_call_id":"c2","name":"edit",
                "content":"user denied permission","is_error":true}}]', 1790000002, 1),
            ('m4', 'k', 'user', '[{"type":"text","data":{"text":"look"}}]', 1790000003, 1);"#;

    #[test]
    fn a_session_is_read_with_what_failed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop/.crush/crush.db");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch(ROWS).unwrap();
        let (sessions, census, end) = try_sessions_of(&Crush, &path, None);
        let session = sessions.iter().find(|session| session.native_id == "s").unwrap();
        let parts: Vec<_> =
            session.exchanges[0].parts.iter().map(|part| part.what.clone()).collect();
        assert_eq!(parts[0], PartKind::Asked("why".to_owned()));
        assert!(matches!(&parts[1], PartKind::Ran { outcome: Outcome::Exited(2), .. }));
        assert!(matches!(&parts[2], PartKind::Edited { outcome: Outcome::Refused(None), .. }));
        assert!(session.facts.directory.as_ref().unwrap().ends_with("shop"));
        let kid = sessions.iter().find(|session| session.native_id == "k").unwrap();
        assert_eq!((kid.facts.parent.as_deref(), kid.facts.is_by_program), (Some("s"), true));
        assert_eq!(census.unknown.get("hologram"), Some(&1));
        let resume = end.unwrap();
        writer.execute_batch("UPDATE messages SET updated_at = 2 WHERE id = 'm4'").unwrap();
        assert_eq!(try_sessions_of(&Crush, &path, Some(&resume)).0.len(), 1);
        writer.execute_batch("DROP TABLE messages").unwrap();
        assert!(try_sessions_of(&Crush, &path, None).2.is_err());
    }

    #[test]
    fn projects_are_known_trees_and_those_that_crush_lists() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join(".local/share/crush");
        std::fs::create_dir_all(&data).unwrap();
        let list = r#"{"projects":[{"path":"/b"},{"path":"/c","data_dir":"/d/.crush"}]}"#;
        std::fs::write(data.join("projects.json"), list).unwrap();
        let places = TranscriptPlaces {
            home: home.path().to_owned(),
            data: PathBuf::new(),
            config: PathBuf::new(),
            work_trees: vec!["/a".into(), "/b".into()],
            lookup: &|_| None,
        };
        let expected = ["/a/.crush", "/b/.crush", "/d/.crush"].map(PathBuf::from);
        assert_eq!(Crush.roots(&places), expected);
    }

    // S-SESS-2
    #[cfg(unix)]
    #[test]
    fn links_never_lead_out_of_a_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, outside) = (folder.path().join("tree"), folder.path().join("outside"));
        for place in [&tree, &outside] {
            std::fs::create_dir_all(place.join("data")).unwrap();
            std::fs::write(place.join("data/crush.db"), "").unwrap();
        }
        let root = tree.join(".crush");
        for (target, found) in [(outside.join("data"), 0), (tree.join("data"), 1)] {
            std::os::unix::fs::symlink(target, &root).unwrap();
            assert_eq!(Crush.find(&root).unwrap().len(), found);
            std::fs::remove_file(&root).unwrap();
        }
    }

    #[test]
    fn a_database_that_another_project_made_up_is_read() {
        let Some(fixtures) = fixtures() else { return };
        let (sessions, census) =
            sessions_of(&Crush, &fixtures.join("crush/synthetic/ctx/crush/v1/crush.db"));
        let expected = GoldenCounts {
            user: 1,
            assistant: 1,
            commands: 2,
            summaries: 1,
            ..GoldenCounts::default()
        };
        assert_eq!((GoldenCounts::count(&sessions), census.unknown.len()), (expected, 0));
    }
}
