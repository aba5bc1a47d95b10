//! Droid, by Factory: one file of records for each session. Not here: the settings beside it, which only name the model.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json_parts::{CallNames, MomentStamp, text_field};
use super::message_blocks::BlockRules;
use crate::records::each_record;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::{
    MomentKind, Outcome, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the sessions of Droid.
pub struct Droid;

static TOOL: Tool =
    Tool { name: "droid", title: "Droid", parser_version: 1, is_tried: false, days_kept: None };

const RULES: BlockRules = BlockRules {
    calls: CallNames {
        shells: &["Execute", "Bash"],
        edits: &["Edit", "MultiEdit", "Create", "Write"],
        patches: &["ApplyPatch", "apply_patch"],
    },
    outcome: outcome_of,
};

/// Kinds of records that are known and left.
const LEFT: &[&str] = &["agent_turn_outcome", "session_end", "session_settings", "todo_state"];

impl TranscriptReader for Droid {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        vec![places.home.join(".factory/sessions")]
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 2, &|path| has_extension(path, "jsonl"))
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let stem = file.stem().unwrap_or_default();
        let mut is_begun = false;
        let mut each = |record: Value, sink: &mut dyn TranscriptSink| {
            if !std::mem::replace(&mut is_begun, true) {
                let id = text_field(&record, "id").filter(|_| is_kind(&record, "session_start"));
                let id = id.or_else(|| text_field(&record, "sessionId"));
                sink.session(id.as_deref().unwrap_or(stem), SessionExtent::Whole);
            }
            report_record(&record, sink)
        };
        let offset = each_record(&file.path, 0, sink, &|_| false, &mut each)?;
        Ok(Resume { offset, state: Value::Null })
    }
}

fn is_kind(record: &Value, kind: &str) -> bool {
    record["type"] == kind
}

/// Reports a record, and returns its kind if that is not known.
fn report_record(record: &Value, sink: &mut dyn TranscriptSink) -> Option<String> {
    let stamp = MomentStamp::from_values(&record["id"], &record["timestamp"]);
    match record["type"].as_str().unwrap_or("no type") {
        "session_start" => {
            let title = text_field(record, "sessionTitle").or_else(|| text_field(record, "title"));
            let facts = [
                text_field(record, "cwd").map(SessionFact::Directory),
                title.map(|title| SessionFact::Title(TitleSource::Model, title)),
                text_field(record, "parentSessionId").map(SessionFact::Parent),
                text_field(record, "parentSessionId").map(|_| SessionFact::ByProgram),
            ];
            facts.into_iter().flatten().for_each(|fact| sink.fact(fact));
        }
        "message" => {
            let message = &record["message"];
            return RULES.report_message(
                if message.is_object() { message } else { record },
                &stamp,
                sink,
            );
        }
        "compaction_state" => {
            let summary =
                text_field(record, "summaryText").or_else(|| text_field(record, "summary"));
            stamp.report(sink, MomentKind::Summarised(summary.unwrap_or_default()));
        }
        left if LEFT.contains(&left) => return Some(String::new()),
        unknown => return Some(unknown.to_owned()),
    }
    None
}

/// How a call ended. A command that failed ends with its exit code.
fn outcome_of(is_error: bool, output: &str) -> Outcome {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let code = last.strip_prefix("[Process exited with code ");
    match code.and_then(|code| code.strip_suffix(']')?.parse().ok()) {
        Some(code) if code != 0 => Outcome::Exited(code),
        _ if is_error => Outcome::Faulted,
        _ => Outcome::Succeeded,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::exchange::PartKind;
    use crate::readers::growth_law::{assert_unknown_records_are_only_counted, read_text};
    use crate::readers::resume_law;

    const NAME: &str = "sessions/-w/s1.jsonl";

    fn text() -> String {
        let message = |id: &str, role: &str, content: Value| json!({"type": "message", "id": id, "timestamp": "2026-01-01T00:00:00Z", "message": {"role": role, "content": content}});
        let call =
            json!({"type": "tool_use", "id": "1", "name": "Execute", "input": {"command": "make"}});
        let result = json!({"type": "tool_result", "tool_use_id": "1", "content": "no rule\n\n[Process exited with code 2]"});
        let records = [
            json!({"type": "session_start", "id": "s1", "title": "Sort", "cwd": "/w"}),
            message(
                "a",
                "user",
                json!([{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "go"}]),
            ),
            message("b", "assistant", json!([{"type": "text", "text": "so"}, call])),
            message("c", "user", json!([result])),
            json!({"type": "compaction_state", "summaryText": "so far"}),
            json!({"type": "message", "id": "d", "role": "user", "content": "flat"}),
        ];
        records.iter().map(|record| format!("{record}\n")).collect()
    }

    #[test]
    fn a_session_is_read_with_its_calls() {
        let (sessions, census) = read_text(&Droid, NAME, &text());
        let parts: Vec<_> = sessions[0]
            .exchanges
            .iter()
            .flat_map(|one| &one.parts)
            .map(|part| &part.what)
            .collect();
        assert_eq!(*parts[0], PartKind::Asked("go".to_owned()));
        assert!(matches!(parts[2], PartKind::Ran { outcome: Outcome::Exited(2), .. }), "{parts:?}");
        assert_eq!(*parts[3], PartKind::Summarised("so far".to_owned()));
        assert_eq!(*parts[4], PartKind::Asked("flat".to_owned()));
        assert_eq!((parts.len(), census.understood), (5, 6));
        assert_eq!(sessions[0].native_id, "s1");
        assert_eq!(sessions[0].facts.directory.as_deref(), Some("/w"));
    }

    #[test]
    fn unknown_records_are_only_counted() {
        let unknown = r#"{"type":"invented","id":"u"}"#;
        assert_unknown_records_are_only_counted(&Droid, NAME, &text(), unknown);
        resume_law::holds_when_damaged(&Droid, NAME, &text(), ("", "flat"));
    }
}
