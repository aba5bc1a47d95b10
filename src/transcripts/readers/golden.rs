//! Real transcripts, read and counted. Not here: where they are (`real_files`), a reader's own tests, on transcripts that we
//! made up.

use std::path::Path;

use serde_json::Value;

use crate::exchange::{ExchangeBuilder, PartKind, SessionRead};
use crate::real_files::{fixtures, unpacked_at};
use crate::source::{ReadError, Resume, TranscriptFile, TranscriptReader};
use crate::transcript::{Census, Outcome};

/// All sessions of a file, and how its records were recognised.
pub(crate) fn sessions_of(
    reader: &dyn TranscriptReader,
    path: &Path,
) -> (Vec<SessionRead>, Census) {
    let (sessions, census, end) = try_sessions_of(reader, path, None);
    end.unwrap();
    (sessions, census)
}

/// The same, from where an earlier reading stopped.
pub(crate) fn try_sessions_of(
    reader: &dyn TranscriptReader,
    path: &Path,
    resume: Option<&Resume>,
) -> (Vec<SessionRead>, Census, Result<Resume, ReadError>) {
    let mut sessions = Vec::new();
    let mut deliver = |session| sessions.push(session);
    let mut builder = ExchangeBuilder::new(0, &mut deliver);
    let root = path.parent().unwrap().to_owned();
    let end = reader.read(&TranscriptFile { path: path.to_owned(), root }, resume, &mut builder);
    let census = builder.finish();
    (sessions, census, end)
}

/// What a file holds, as `GOLDEN.jsonl` counts it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GoldenCounts {
    pub(crate) user: u64,
    pub(crate) assistant: u64,
    pub(crate) commands: u64,
    pub(crate) edits: u64,
    pub(crate) exit_nonzero: u64,
    pub(crate) refused: u64,
    pub(crate) summaries: u64,
}

impl GoldenCounts {
    pub(crate) fn count(sessions: &[SessionRead]) -> Self {
        let mut counts = Self::default();
        let parts =
            sessions.iter().flat_map(|session| &session.exchanges).flat_map(|one| &one.parts);
        for part in parts {
            match &part.what {
                PartKind::Asked(_) => counts.user += 1,
                PartKind::Answered(_) => counts.assistant += 1,
                PartKind::Summarised(_) => counts.summaries += 1,
                PartKind::Ran { outcome, .. } => {
                    counts.commands += 1;
                    counts.exit_nonzero += u64::from(matches!(outcome, Outcome::Exited(_)));
                }
                PartKind::Edited { .. } => counts.edits += 1,
                _ => {}
            }
            if let PartKind::Ran { outcome, .. }
            | PartKind::Edited { outcome, .. }
            | PartKind::Called { outcome, .. } = &part.what
            {
                counts.refused += u64::from(matches!(outcome, Outcome::Refused(_)));
            }
        }
        counts
    }

    /// Names the counts that differ, each with ours and the other.
    fn differences(self, golden: Self) -> String {
        let counts = [
            ("user", self.user, golden.user),
            ("assistant", self.assistant, golden.assistant),
            ("commands", self.commands, golden.commands),
            ("edits", self.edits, golden.edits),
            ("exit not 0", self.exit_nonzero, golden.exit_nonzero),
            ("refused", self.refused, golden.refused),
            ("summaries", self.summaries, golden.summaries),
        ];
        let differ = counts.iter().filter(|(_, ours, theirs)| ours != theirs);
        differ
            .map(|(name, ours, theirs)| format!("{name} {ours}, not {theirs}"))
            .collect::<Vec<_>>()
            .join("; ")
    }

    fn golden(row: &Value) -> Self {
        let number = |name: &str| row[name].as_u64().unwrap_or_default();
        Self {
            user: number("user"),
            assistant: number("assistant"),
            commands: number("commands"),
            edits: number("edits"),
            exit_nonzero: number("exit_nonzero"),
            refused: number("refused"),
            summaries: number("summaries"),
        }
    }
}

/// The folders of `GOLDEN.jsonl`, each of which a reader's tests compare.
const COMPARED: &[&str] = &["claude-code", "codex", "copilot-cli", "gemini-cli", "opencode"];

/// Reads every real file of a tool and compares its counts with `GOLDEN.jsonl`. `explained` names the files whose counts
/// differ, with ours and the reason; a difference that is not there, and a row that no longer differs, both fail.
pub(crate) fn compare(
    reader: &dyn TranscriptReader,
    folder: &str,
    explained: &[(&str, GoldenCounts, &str)],
) {
    assert!(COMPARED.contains(&folder), "{folder}");
    let Some(fixtures) = fixtures() else { return };
    let unpacked = tempfile::tempdir().unwrap();
    let golden = std::fs::read_to_string(fixtures.join("GOLDEN.jsonl")).unwrap();
    let (mut wrong, mut files) = (Vec::new(), 0);
    for row in golden.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let name = row["file"].as_str().unwrap();
        if !name.starts_with(&format!("{folder}/")) {
            continue;
        }
        files += 1;
        let path = unpacked_at(&fixtures.join(name), unpacked.path());
        let (sessions, census) = sessions_of(reader, &path);
        let (ours, theirs) = (GoldenCounts::count(&sessions), GoldenCounts::golden(&row));
        let reason = explained.iter().find(|(file, _, _)| name.ends_with(file));
        let expected = reason.map_or(theirs, |(_, ours, _)| *ours);
        if let Some((file, _, why)) = reason {
            println!("| {folder} | {file} | {} | {why} |", ours.differences(theirs));
        }
        if ours != expected || reason.is_some() && ours == theirs {
            wrong.push(format!("{name}\n  ours   {ours:?}\n  golden {theirs:?}\n  {census:?}"));
        }
    }
    assert!(files > 0, "no real files of {folder}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Real files that `GOLDEN.jsonl` does not count, and which test counts them instead.
const COUNTED_ELSEWHERE: &[(&str, &str)] = &[
    ("aider/real/", "aider::a_real_file_has_the_counts_of_another_reader"),
    ("goose/real/lantern/goose-home/sessions/", "goose::a_real_database_is_read_where_it_lies"),
    ("opencode/real/lantern/", "opencode_tables::a_real_database_is_read_where_it_lies"),
    ("pi/real/", "pi::real_files_have_the_counts_of_another_reader"),
    (
        "qwen/real/lantern/qwen-home/projects/-code/chats/",
        "qwen_code::real_files_have_the_counts_of_another_reader",
    ),
];

/// Real files that are no transcripts of a tool that we read, and why.
const LEFT: &[(&str, &str)] = &[
    ("qwen/real/lantern/qwen-home/usage_record.jsonl", "tokens, no text"),
    ("qwen/real/lantern/qwen-home/projects/-code/meta.json", "the name of the project"),
    ("specstory/real/", "exports of a tool that has no sessions of its own"),
];

#[test]
fn every_real_file_is_counted() {
    let Some(fixtures) = fixtures() else { return };
    let golden = std::fs::read_to_string(fixtures.join("GOLDEN.jsonl")).unwrap();
    let rows = golden.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut counted: Vec<String> =
        rows.map(|row| row["file"].as_str().unwrap().to_owned()).collect();
    let not_compared = counted.iter().find(|file| {
        let folder = file.split_once('/').unwrap().0;
        !COMPARED.contains(&folder)
    });
    assert_eq!(not_compared, None);
    let others = COUNTED_ELSEWHERE.iter().chain(LEFT).map(|(begin, _)| (*begin).to_owned());
    counted.extend(others);
    let mut open = vec![fixtures.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&fixtures).unwrap().to_str().unwrap().to_owned();
            let is_counted = || counted.iter().any(|begin| name.starts_with(begin));
            if path.is_dir() {
                open.push(path);
            } else if name.split('/').nth(1) == Some("real") {
                assert!(is_counted(), "{name} has no counts");
            }
        }
    }
}
