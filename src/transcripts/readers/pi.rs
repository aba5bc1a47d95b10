//! Pi and its descendant Oh-My-Pi: a tree of entries in one file for each session. Going back and asking anew makes a
//! branch; the conversation is the path from the last entry to the root. Old files have no ids: there every entry counts.
//! Not here: branches that were left. They are counted and not told, like questions that were taken back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json_parts::{CallNames, MomentStamp, text_field, text_of};
use crate::prompt_text::typed_text;
use crate::records::each_record;
use crate::source::{
    ReadError, Resume, Tool, TranscriptFile, TranscriptPlaces, TranscriptReader, files_below,
    has_extension,
};
use crate::transcript::{
    MomentKind, Outcome, SessionExtent, SessionFact, TitleSource, TranscriptSink,
};

/// Reads the sessions of Pi and of Oh-My-Pi.
pub struct Pi;

static TOOL: Tool =
    Tool { name: "pi", title: "Pi", parser_version: 1, is_tried: true, days_kept: None };

const CALLS: CallNames = CallNames {
    shells: &["bash", "Bash"],
    edits: &["edit", "write", "Edit", "Write", "multi_edit", "MultiEdit"],
    patches: &["apply_patch"],
};

/// Kinds of entries that are known and left.
const LEFT: &[&str] = &[
    "branch",
    "custom",
    "custom_message",
    "label",
    "leaf",
    "mode_change",
    "model_change",
    "thinking_level_change",
];

/// Largest file that is read, in bytes: which entries count is known only at its end.
const FILE_BYTES_MAX: u64 = 512 << 20;

impl TranscriptReader for Pi {
    fn tool(&self) -> &'static Tool {
        &TOOL
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        let pi = places.named_or_home("PI_CODING_AGENT_DIR", ".pi/agent");
        [pi, places.home.join(".omp/agent")].map(|home| home.join("sessions")).into()
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        files_below(root, 3, &|path| has_extension(path, "jsonl"))
    }

    fn read(
        &self,
        file: &TranscriptFile,
        _resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let path = &file.path;
        let bytes = std::fs::metadata(path).map_err(ReadError::io(path))?.len();
        if bytes > FILE_BYTES_MAX {
            let what =
                format!("too large to read whole: {bytes} bytes of at most {FILE_BYTES_MAX}");
            return Err(ReadError::form(path, what));
        }
        let mut tree = PiTree::default();
        let mut each = |record: Value, _: &mut dyn TranscriptSink| tree.add_record(&record);
        let offset = each_record(path, 0, sink, &|_| false, &mut each)?;
        tree.report(path, sink);
        Ok(Resume { offset, state: Value::Null })
    }
}

/// An entry of the tree.
struct PiEntry {
    /// Nothing where the record does not say: then the entry before is its parent.
    parent: Option<PiParent>,
    has_id: bool,
    stamp: MomentStamp,
    happenings: Vec<MomentKind>,
}

/// What an entry follows.
enum PiParent {
    Root,
    Entry(String),
}

/// A session in memory.
#[derive(Default)]
struct PiTree {
    id: String,
    facts: Vec<SessionFact>,
    entries: Vec<PiEntry>,
    /// The place of each entry, by its id.
    places: HashMap<String, usize>,
}

impl PiTree {
    /// Takes a record, and returns its kind if that is not known.
    fn add_record(&mut self, record: &Value) -> Option<String> {
        let kind = record["type"].as_str().unwrap_or("no type").to_owned();
        match kind.as_str() {
            "session" => {
                self.take_head(record);
                return None;
            }
            "title" | "session_info" => {
                self.take_title(record);
                if kind == "title" {
                    return None;
                }
            }
            _ => {}
        }
        let (happenings, unknown) = match kind.as_str() {
            "message" => happenings_of(&record["message"], record["id"].as_str()),
            "compaction" | "branch_summary" => {
                let summary = text_field(record, "summary").unwrap_or_default();
                (vec![MomentKind::Summarised(summary)], None)
            }
            "session_info" => (Vec::new(), None),
            left if LEFT.contains(&left) => (Vec::new(), Some(String::new())),
            _ => (Vec::new(), Some(kind)),
        };
        // Entries of unknown kinds hold the path together as well.
        let id = text_field(record, "id");
        if let Some(id) = id.clone() {
            self.places.insert(id, self.entries.len());
        }
        let stamp = MomentStamp::from_values(&record["id"], &record["timestamp"]);
        let parent = record.get("parentId").map(|parent| match parent.as_str() {
            Some(id) => PiParent::Entry(id.to_owned()),
            None => PiParent::Root,
        });
        self.entries.push(PiEntry { parent, has_id: id.is_some(), stamp, happenings });
        unknown
    }

    fn take_head(&mut self, record: &Value) {
        if !self.id.is_empty() {
            return;
        }
        self.id = text_field(record, "id").unwrap_or_default();
        self.take_title(record);
        self.facts.extend(text_field(record, "cwd").map(SessionFact::Directory));
        let source =
            text_field(record, "branchedFrom").or_else(|| text_field(record, "parentSession"));
        let source = source.and_then(|path| id_by_name(&path));
        self.facts.extend(source.map(SessionFact::ForkOf));
    }

    fn take_title(&mut self, record: &Value) {
        let by_person = record["type"] == "session_info"
            || [&record["source"], &record["titleSource"]].iter().any(|source| *source == "user");
        let source = if by_person { TitleSource::Person } else { TitleSource::Model };
        let title = text_field(record, "title").or_else(|| text_field(record, "name"));
        self.facts.extend(title.map(|title| SessionFact::Title(source, title)));
    }

    fn report(mut self, path: &Path, sink: &mut dyn TranscriptSink) {
        if self.id.is_empty() {
            let name = path.file_name().and_then(|name| name.to_str());
            self.id = name.and_then(id_by_name).unwrap_or_default();
        }
        sink.session(&self.id, SessionExtent::Whole);
        self.facts.drain(..).for_each(|fact| sink.fact(fact));
        let is_told = self.path_to_root();
        for (entry, is_told) in self.entries.into_iter().zip(is_told) {
            for what in entry.happenings.into_iter().filter(|_| is_told) {
                entry.stamp.report(sink, what);
            }
        }
    }

    /// Tells of every entry whether it is on the path from the last one to the root.
    fn path_to_root(&self) -> Vec<bool> {
        let mut is_told: Vec<bool> = self.entries.iter().map(|entry| !entry.has_id).collect();
        let mut at = self.entries.iter().rposition(|entry| entry.has_id);
        while let Some(place) = at {
            if let Some(told) = is_told.get_mut(place) {
                *told = true;
            }
            // Where a parent is lost, or comes later, the entry before stands for it: a line that could not be read must
            // not cost all before it. Places only fall, so a circle ends.
            let known = match self.entries.get(place).and_then(|entry| entry.parent.as_ref()) {
                Some(PiParent::Root) => break,
                Some(PiParent::Entry(id)) => self.places.get(id).copied(),
                None => None,
            };
            let known = known.filter(|parent| *parent < place);
            at = known.or_else(|| place.checked_sub(1));
        }
        is_told
    }
}

/// The id in a name such as `<time>_<id>.jsonl`, on any system's path.
fn id_by_name(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let id = stem.rsplit_once('_').map_or(stem, |(_, id)| id);
    (!id.is_empty()).then(|| id.to_owned())
}

/// Returns what happened by a message, and its role if that is not known.
fn happenings_of(message: &Value, id: Option<&str>) -> (Vec<MomentKind>, Option<String>) {
    let content = &message["content"];
    let happenings = match message["role"].as_str().unwrap_or("no role") {
        "user" => vec![MomentKind::Asked(typed_text(&text_of(content)))],
        "assistant" => answered(message),
        "toolResult" | "tool" => {
            let call = text_field(message, "toolCallId").unwrap_or_default();
            let output = text_of(content);
            let outcome = outcome_of(message["isError"].as_bool(), &output);
            vec![MomentKind::Returned { call, outcome, output }]
        }
        // A person ran it.
        "bashExecution" => {
            let call = format!("run-{}", id.unwrap_or_default());
            let command = text_field(message, "command").unwrap_or_default();
            let output = text_field(message, "output").unwrap_or_default();
            let code = message["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
            let outcome = match code {
                Some(0) => Outcome::Succeeded,
                Some(code) => Outcome::Exited(code),
                None => Outcome::Unknown,
            };
            let ran = MomentKind::Ran { call: call.clone(), command };
            vec![ran, MomentKind::Returned { call, outcome, output }]
        }
        "branchSummary" | "compactionSummary" => {
            let summary = text_field(message, "summary").unwrap_or_else(|| text_of(content));
            vec![MomentKind::Summarised(summary)]
        }
        "custom" | "hookMessage" => return (Vec::new(), Some(String::new())),
        unknown => return (Vec::new(), Some(format!("message/{unknown}"))),
    };
    (happenings, None)
}

fn answered(message: &Value) -> Vec<MomentKind> {
    let mut happenings = Vec::new();
    let text = text_of(&message["content"]);
    if !text.trim().is_empty() {
        happenings.push(MomentKind::Answered(text));
    }
    for part in message["content"].as_array().into_iter().flatten() {
        if part["type"] == "toolCall" {
            let (call, tool) = (text_field(part, "id"), text_field(part, "name"));
            let (call, tool) = (call.unwrap_or_default(), tool.unwrap_or_default());
            happenings.extend(CALLS.happenings(&call, &tool, &part["arguments"]));
        }
    }
    match message["stopReason"].as_str() {
        Some("aborted") => happenings.push(MomentKind::Interrupted),
        Some("error") => {
            let error = text_field(message, "errorMessage").unwrap_or_default();
            happenings.push(MomentKind::Failed(error));
        }
        _ => {}
    }
    happenings
}

/// How a call ended. The last line of a command that failed has its exit code.
fn outcome_of(is_error: Option<bool>, output: &str) -> Outcome {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let code = last.strip_prefix("Command exited with code ").and_then(|code| code.parse().ok());
    match (is_error, code) {
        (Some(true), Some(code)) if code != 0 => Outcome::Exited(code),
        (Some(true), _) => Outcome::Faulted,
        (Some(false), _) => Outcome::Succeeded,
        (None, _) => Outcome::Unknown,
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
    use crate::real_files::{fixtures, unpacked_at};
    use crate::transcript::Census;

    const NAME: &str = "--w--/2026-01-01T00-00-00-000Z_s1.jsonl";

    fn head() -> Value {
        json!({"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"})
    }

    fn entry(id: &str, parent: Option<&str>, message: &Value) -> Value {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01Z", "message": message})
    }

    fn asks(id: &str, parent: Option<&str>, text: &str) -> Value {
        entry(id, parent, &json!({"role": "user", "content": [{"type": "text", "text": text}]}))
    }

    fn says(id: &str, parent: Option<&str>, text: &str) -> Value {
        let content =
            json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]);
        entry(id, parent, &json!({"role": "assistant", "content": content, "stopReason": "stop"}))
    }

    fn lines(records: &[Value]) -> String {
        records.iter().map(|record| format!("{record}\n")).collect()
    }

    fn read(records: &[Value]) -> (Vec<SessionRead>, Census) {
        read_text(&Pi, NAME, &lines(records))
    }

    fn parts(records: &[Value]) -> Vec<PartKind> {
        let exchanges = read(records).0.into_iter().flat_map(|session| session.exchanges);
        exchanges.flat_map(|one| one.parts).map(|part| part.what).collect()
    }

    fn part_texts(records: &[Value]) -> Vec<String> {
        let text = |part| match part {
            PartKind::Asked(text) | PartKind::Answered(text) | PartKind::Summarised(text) => text,
            other => format!("{other:?}"),
        };
        parts(records).into_iter().map(text).collect()
    }

    #[test]
    fn the_conversation_is_the_path_to_the_last_leaf() {
        let records = [
            head(),
            asks("a", None, "one"),
            says("b", Some("a"), "1"),
            asks("c", Some("b"), "two"),
            says("d", Some("c"), "2"),
            asks("e", Some("b"), "two, anew"),
            json!({"type": "label", "id": "f", "parentId": "e", "targetId": "a", "label": "x"}),
        ];
        assert_eq!(part_texts(&records), ["one", "1", "two, anew"]);
        assert_eq!(read(&records).1.understood, 6, "a branch that was left is counted");
    }

    #[test]
    fn a_lost_parent_does_not_cost_what_is_before_it() {
        let records = [
            head(),
            asks("a", None, "one"),
            says("b", Some("a"), "1"),
            asks("c", Some("lost"), "two"),
            says("d", Some("d"), "2"),
        ];
        assert_eq!(part_texts(&records), ["one", "1", "two", "2"]);
    }

    #[test]
    fn old_files_without_ids_or_parents_are_read_in_order() {
        let mut records =
            [head(), asks("a", None, "one"), says("b", None, "1"), asks("c", None, "two")];
        for without in ["parentId", "id"] {
            for record in &mut records[1..] {
                record.as_object_mut().unwrap().remove(without);
            }
            assert_eq!(part_texts(&records), ["one", "1", "two"], "{without}");
        }
    }

    #[test]
    fn calls_runs_and_ends_are_told() {
        let call = |id: &str, name: &str, arguments: Value| json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
        let content = json!([
            {"type": "text", "text": "so"},
            call("1", "bash", json!({"command": "make"})),
            call("2", "edit", json!({"path": "a.rs"})),
            call("3", "bash", json!({"command": "sleep 9"})),
        ]);
        let result = |id: &str, call: &str, is_error: bool, text: &str| {
            entry(
                id,
                None,
                &json!({"role": "toolResult", "toolCallId": call, "isError": is_error, "content": [{"type": "text", "text": text}]}),
            )
        };
        let mut records = vec![
            head(),
            asks("a", None, "go"),
            entry(
                "b",
                None,
                &json!({"role": "assistant", "content": content, "stopReason": "aborted"}),
            ),
            result("c", "1", true, "no rule\n\n\nCommand exited with code 2"),
            result("d", "2", false, "done"),
            result("e", "3", true, "Command aborted"),
            entry(
                "f",
                None,
                &json!({"role": "bashExecution", "command": "ls", "output": "none", "exitCode": 1}),
            ),
            entry(
                "g",
                None,
                &json!({"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "no net"}),
            ),
            json!({"type": "compaction", "id": "h", "summary": "so far"}),
        ];
        for place in 2..records.len() {
            records[place]["parentId"] = records[place - 1]["id"].clone();
        }
        let outcomes: Vec<_> = parts(&records)
            .into_iter()
            .filter_map(|part| match part {
                PartKind::Ran { outcome, .. } | PartKind::Edited { outcome, .. } => Some(outcome),
                _ => None,
            })
            .collect();
        let expected =
            [Outcome::Exited(2), Outcome::Succeeded, Outcome::Faulted, Outcome::Exited(1)];
        assert_eq!(outcomes, expected);
        let told = part_texts(&records);
        for expected in ["so", "Interrupted", "Failed(\"no net\")", "so far"] {
            assert!(told.iter().any(|part| part == expected), "{expected} in {told:?}");
        }
    }

    #[test]
    fn titles_and_forks_are_facts() {
        let mut begin = head();
        begin["branchedFrom"] = json!("C:\\s\\2026-01-01T00-00-00-000Z_s0.jsonl");
        let named = json!({"type": "session_info", "id": "n", "parentId": "a", "name": "Mine"});
        let slot = json!({"type": "title", "v": 1, "title": "By a model", "source": "auto"});
        let told = read(&[slot, begin, asks("a", None, "one"), named]).0;
        let facts = &told[0].facts;
        assert_eq!(facts.title, Some((TitleSource::Person, "Mine".to_owned())));
        assert_eq!(
            (facts.fork_of.as_deref(), facts.directory.as_deref()),
            (Some("s0"), Some("/w"))
        );
        assert_eq!(told[0].native_id, "s1");
        assert_eq!(read(&[asks("a", None, "one")]).0[0].native_id, "s1", "by the name of the file");
    }

    #[test]
    fn unknown_records_are_only_counted() {
        let text = lines(&[head(), asks("a", None, "one"), says("b", Some("a"), "1")]);
        let unknown = json!({"type": "invented", "data": 1}).to_string();
        assert_unknown_records_are_only_counted(&Pi, NAME, &text, &unknown);
        resume_law::holds_when_damaged(&Pi, NAME, &text, ("", "one"));
    }

    #[test]
    fn real_files_have_the_counts_of_another_reader() {
        let Some(fixtures) = fixtures() else { return };
        let folder = tempfile::tempdir().unwrap();
        let counts = |user, assistant, commands, edits, exit_nonzero| GoldenCounts {
            user,
            assistant,
            commands,
            edits,
            exit_nonzero,
            ..GoldenCounts::default()
        };
        // Counted by a few lines of Python that know only the roles and the kinds of parts.
        for (name, expected) in [
            ("auth-go__019e44d4-6ecf-7c1d-96ab-582effc13411.jsonl", counts(16, 16, 83, 58, 8)),
            (
                "pi-mono__before-compaction.jsonl.gz",
                // Three of the commands were run by the person.
                GoldenCounts { summaries: 2, ..counts(55, 253, 206 + 3, 141, 6) },
            ),
            ("pi-mono__large-session.jsonl", counts(88, 244, 192, 149, 17)),
        ] {
            let path = unpacked_at(&fixtures.join("pi/real").join(name), folder.path());
            let (sessions, census) = golden::sessions_of(&Pi, &path);
            assert_eq!(GoldenCounts::count(&sessions), expected, "{name} {census:?}");
            assert!(census.unknown.is_empty() && census.broken == 0, "{name} {census:?}");
        }
    }
}
