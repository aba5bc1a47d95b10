//! Reads the command line of Kiro: `data.sqlite3`, with a JSON value for each conversation. Not here: how a database is
//! read (`session_tables`); the editor's files and the newer `.jsonl` files, of which no form is known.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tool_calls::{AgentCall, CallKind, exit_outcome, joined_text, millis_at, text_at};
use crate::prompt_text::typed_text;
use crate::session_tables::{FoundSession, SessionTable, TableError, read_changed};
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
};
use crate::table_rows::RowQuery;
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TranscriptMoment, TranscriptSink,
};

/// Reads the conversations of Kiro.
pub(super) struct Kiro;

impl TranscriptReader for Kiro {
    fn tool(&self) -> &'static Tool {
        &Tool {
            name: "kiro",
            title: "Kiro CLI",
            parser_version: 1,
            is_tried: false,
            days_kept: None,
        }
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let linux = places.named_or_home("XDG_DATA_HOME", ".local/share").join("kiro-cli");
        let mut roots = vec![linux, places.data.join("kiro-cli")];
        roots.dedup();
        roots
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 0, &|path| path.file_name().is_some_and(|name| name == "data.sqlite3"))
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        read_changed(file, resume, &CONVERSATIONS, sink)
    }
}

/// The table of Kiro; its key is the directory. A conversation that went on in another one is there twice; the newer row has
/// all of it.
static CONVERSATIONS: SessionTable = SessionTable {
    sessions: "Kiro's conversations",
    plan: "SELECT conversation_id, max(updated_at), sum(octet_length(value)) FROM conversations_v2
           GROUP BY conversation_id ORDER BY max(updated_at) DESC",
    session: RowQuery {
        table: "conversations_v2",
        columns: &["key"],
        content: Some("value"),
        clause: "WHERE conversation_id = ?1 ORDER BY updated_at DESC LIMIT 1",
    },
    messages: None,
    report: report_conversation,
};

fn report_conversation(
    session: &mut FoundSession<'_>,
    sink: &mut dyn TranscriptSink,
) -> Result<(), TableError> {
    let Some(value) = session.row.json(sink) else { return Ok(()) };
    sink.session(session.id, SessionExtent::Whole);
    if let Some(directory) = session.row.text("key") {
        sink.fact(SessionFact::Directory(directory.to_owned()));
    }
    for turn in value.get("history").and_then(Value::as_array).into_iter().flatten() {
        let at_ms = millis_at(turn, &["/user/timestamp", "/assistant/timestamp"]);
        let turn = KiroTurn { at_ms, turn };
        turn.report_user(sink);
        turn.report_assistant(sink);
        sink.count(RecordStatus::Understood);
    }
    Ok(())
}

/// What a person, or a tool in their place, said, and what the agent answered.
struct KiroTurn<'a> {
    at_ms: Option<i64>,
    turn: &'a Value,
}

impl KiroTurn<'_> {
    fn report_user(&self, sink: &mut dyn TranscriptSink) {
        let Some(content) = self.turn.pointer("/user/content") else { return };
        let inside = |name: &str| content.get(name);
        let cancelled = inside("CancelledToolUses");
        for (results, is_cancelled) in [(inside("ToolUseResults"), false), (cancelled, true)] {
            let results = results.and_then(|results| results.get("tool_use_results")?.as_array());
            for result in results.into_iter().flatten() {
                let call = text_at(result, &["/tool_use_id"]).unwrap_or_default().to_owned();
                let (outcome, output) = ended(result, is_cancelled);
                sink.moment(self.moment(MomentKind::Returned { call, outcome, output }));
            }
        }
        let prompt =
            inside("Prompt").or(cancelled).and_then(|inside| text_at(inside, &["/prompt"]));
        if let Some(prompt) = prompt {
            sink.moment(self.moment(MomentKind::Asked(typed_text(prompt))));
        }
        let known = ["Prompt", "ToolUseResults", "CancelledToolUses"];
        let fields = content.as_object().into_iter().flatten();
        for (kind, _) in fields.filter(|(kind, _)| !known.contains(&kind.as_str())) {
            sink.count(RecordStatus::Unknown(kind));
        }
    }

    fn report_assistant(&self, sink: &mut dyn TranscriptSink) {
        let Some(answer) = self.turn.get("assistant") else { return };
        let inside = answer.get("Response").or_else(|| answer.get("ToolUse")).unwrap_or(answer);
        if let Some(text) = text_at(inside, &["/content"]) {
            sink.moment(self.moment(MomentKind::Answered(text.to_owned())));
        }
        let calls = inside.get("tool_uses").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let name = text_at(call, &["/name"]).unwrap_or_default();
            let input = call.get("args").unwrap_or(&Value::Null);
            let kind = match name {
                "execute_bash" | "execute_cmd" | "shell" => CallKind::Shell,
                "fs_write" | "write" => CallKind::Edit,
                _ => CallKind::Other,
            };
            let id = text_at(call, &["/id"]).unwrap_or_default();
            AgentCall { message_id: None, at_ms: self.at_ms, id, name, kind, input }
                .report(None, sink);
        }
    }

    fn moment(&self, what: MomentKind) -> TranscriptMoment {
        TranscriptMoment { message_id: None, at_ms: self.at_ms, kind: what }
    }
}

/// A command tells its exit code in what it returns; a call that a person did not allow is cancelled by what they typed.
fn ended(result: &Value, is_cancelled: bool) -> (Outcome, String) {
    let content = result.get("content").unwrap_or(&Value::Null);
    let items = content.as_array().into_iter().flatten();
    let json = items.filter_map(|item| item.get("Json")).next().unwrap_or(&Value::Null);
    let code = json.get("exit_status").and_then(|code| {
        code.as_i64().or_else(|| code.as_str()?.trim_start_matches("exit status: ").parse().ok())
    });
    let streams = ["/stderr", "/stdout"].map(|name| text_at(json, &[name]).unwrap_or_default());
    let output = if json.is_null() { joined_text(content) } else { streams.join("\n") };
    let outcome = match (code, text_at(result, &["/status"])) {
        _ if is_cancelled => Outcome::Refused(None),
        (Some(code), _) => exit_outcome(code),
        (None, Some("Error" | "error")) => Outcome::Faulted,
        (None, Some("Success" | "success")) => Outcome::Succeeded,
        _ => Outcome::Unknown,
    };
    (outcome, output)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::golden::{GoldenCounts, sessions_of, try_sessions_of};
    use crate::real_files::fixtures;

    const VALUE: &str = r#"{"history":[
        {"user":{"timestamp":"2026-09-21T14:13:20Z","content":{"Prompt":{"prompt":"why"}}},
         "assistant":{"ToolUse":{"content":"I look","tool_uses":[
            {"id":"c1","name":"execute_bash","args":{"command":"make"}},
            {"id":"c2","name":"fs_write","args":{"command":"create","path":"a.rs"}}]}}},
        {"user":{"content":{"ToolUseResults":{"tool_use_results":[
            {"tool_use_id":"c1","status":"Success","content":[{"Json":{"exit_status":"2","stdout":"","stderr":"no rule"}}]},
            {"tool_use_id":"c2","status":"Success","content":[{"Text":"ok"}]}]}}},
         "assistant":{"ToolUse":{"content":"","tool_uses":[{"id":"c3","name":"execute_bash","args":{"command":"rm x"}}]}}},
        {"user":{"content":{"CancelledToolUses":{"prompt":"no","tool_use_results":[
            {"tool_use_id":"c3","status":"Error","content":[]}]}}},
         "assistant":{"Response":{"content":"fine"}}},
        {"user":{"content":{"Hologram":{}}}}]}"#;

    #[test]
    fn a_conversation_is_read_with_its_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.sqlite3");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "CREATE TABLE conversations_v2(key, conversation_id, value, created_at, updated_at)",
            )
            .unwrap();
        let mut row =
            writer.prepare("INSERT INTO conversations_v2 VALUES (?1, 's', ?2, 1, ?3)").unwrap();
        row.execute(("/old", "{}", 1)).unwrap();
        row.execute(("/w", VALUE, 2)).unwrap();
        let (sessions, census, end) = try_sessions_of(&Kiro, &path, None);
        let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
        let exchanges: Vec<Vec<_>> = session
            .exchanges
            .iter()
            .map(|exchange| exchange.parts.iter().map(|part| part.what.clone()).collect())
            .collect();
        assert_eq!(exchanges[0][0], PartKind::Asked("why".to_owned()));
        assert!(
            matches!(&exchanges[0][2], PartKind::Ran { outcome: Outcome::Exited(2), excerpt, .. } if excerpt == "no rule")
        );
        assert!(matches!(&exchanges[0][3], PartKind::Edited { outcome: Outcome::Succeeded, .. }));
        assert!(matches!(&exchanges[0][4], PartKind::Ran { outcome: Outcome::Refused(None), .. }));
        assert_eq!(exchanges[1][0], PartKind::Asked("no".to_owned()));
        assert_eq!(session.facts.directory.as_deref(), Some("/w"));
        assert_eq!(census.unknown.get("Hologram"), Some(&1));
        let resume = end.unwrap();
        assert_eq!(try_sessions_of(&Kiro, &path, Some(&resume)).0.len(), 0);
        writer.execute_batch("DROP TABLE conversations_v2").unwrap();
        assert!(try_sessions_of(&Kiro, &path, None).2.is_err());
    }

    #[test]
    fn a_database_that_another_project_made_up_is_read() {
        let Some(fixtures) = fixtures() else { return };
        let (sessions, _) =
            sessions_of(&Kiro, &fixtures.join("kiro/synthetic/ctx/kiro-cli/v2/data.sqlite3"));
        let expected = GoldenCounts { user: 1, assistant: 2, ..GoldenCounts::default() };
        assert_eq!(GoldenCounts::count(&sessions), expected);
    }
}
