//! The state of past sessions for `status` and `doctor`: whether they may be read, what is kept, and what a tool is about
//! to delete before it was read. Not here: what an import finds (`session_reading`), other parts of the state (`status`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::reply::Reply;
use super::session_line::{DAY, MINUTE, bytes, counted, time, tool_title};
use sessions::session_import::ToolFiles;
use sessions::session_rows::ToolExtent;
use transcripts::readers::reader_of_tool;

/// Days before a tool deletes a transcript in which it counts as about to go.
const WARNED_DAYS: i64 = 3;

const DAY_MS: i64 = 86_400_000;
const MS_NS: i64 = 1_000_000;

/// The command that reads transcripts.
const IMPORT: &str = "agent-knowledge sessions import";

/// What is known about past sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionsState {
    /// Whether the person allowed to read them; nothing if they were not asked.
    pub is_allowed: Option<bool>,
    /// The tools whose sessions may be read; empty for all.
    pub only: Vec<String>,
    /// What is kept of each tool.
    pub extents: BTreeMap<String, ToolExtent>,
    /// The bytes of the kept sessions on the disk.
    pub bytes: u64,
    /// When an import last looked for new ones, in milliseconds since 1970.
    pub looked_at_ms: Option<i64>,
    /// The transcripts on the disk.
    pub tools: BTreeMap<&'static str, ToolFiles>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// The state of a part of the program, such as past sessions, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateNote {
    /// One line.
    pub says: String,
    /// What somebody should see to, in one line each.
    pub warnings: Vec<String>,
    /// The command that helps.
    pub command: Option<String>,
}

impl SessionsState {
    /// Puts it in words. Nothing where there is nothing to say: no session is kept and no transcript is on the disk.
    #[must_use]
    pub fn state_note(&self) -> Option<StateNote> {
        let files: u64 = self.tools.values().map(|tool| tool.files).sum();
        let command = Some(IMPORT.to_owned());
        match self.is_allowed {
            None if files == 0 => None,
            None => {
                let size = bytes(self.tools.values().map(|tool| tool.bytes).sum());
                let files = counted(files, "transcript");
                let says =
                    format!("{files} on this disk ({size}); none was read, nobody was asked");
                Some(StateNote { says, warnings: Vec::new(), command })
            }
            Some(false) => {
                let says = "not read, as you chose".to_owned();
                Some(StateNote { says, warnings: Vec::new(), command: None })
            }
            Some(true) => {
                let warnings = self.warnings();
                let command = command.filter(|_| !warnings.is_empty());
                Some(StateNote { says: self.kept(), warnings, command })
            }
        }
    }

    /// Adds it to the answer of `status`.
    #[must_use]
    pub fn added_to(&self, reply: Reply) -> Reply {
        let Some(note) = self.state_note() else { return reply };
        let said = match note.command.as_ref().filter(|_| note.warnings.is_empty()) {
            Some(command) => format!("{}: {command}", note.says),
            None => note.says.clone(),
        };
        let reply = reply.with_line("sessions", &said);
        let reply = note
            .warnings
            .iter()
            .fold(reply, |reply, warning| reply.with_line("", &format!("{warning}: {IMPORT}")));
        reply.with_field("sessions", self.json())
    }

    fn kept(&self) -> String {
        let sum = |count: fn(&ToolExtent) -> u64| self.extents.values().map(count).sum::<u64>();
        let newest =
            self.extents.values().filter_map(|tool| tool.span_ms).map(|(_, last)| last).max();
        let newest = newest.map(|newest| format!("newest of {}, ", time(Some(newest), DAY)));
        let titles: Vec<String> = self.only.iter().map(|tool| tool_title(tool)).collect();
        let only = match titles.as_slice() {
            [] => String::new(),
            titles => format!("; only of {}", titles.join(", ")),
        };
        format!(
            "{} with {}, {}; {}looked for new ones {}{only}",
            counted(sum(|tool| tool.sessions), "session"),
            counted(sum(|tool| tool.exchanges), "exchange"),
            bytes(self.bytes),
            newest.unwrap_or_default(),
            time(self.looked_at_ms, MINUTE),
        )
    }

    fn warnings(&self) -> Vec<String> {
        let tools = self.tools.iter().filter_map(|(tool, files)| {
            let days = reader_of_tool(tool)?.tool().days_kept?;
            let age_ms = self.now_ms.saturating_sub(files.oldest_unread_ns? / MS_NS);
            let is_near = age_ms >= (i64::from(days) - WARNED_DAYS) * DAY_MS;
            is_near.then(|| {
                format!(
                    "{} deletes transcripts after {days} days, and of {} not read the oldest is {} days old",
                    tool_title(tool),
                    counted(files.changed, "file"),
                    age_ms / DAY_MS,
                )
            })
        });
        tools.collect()
    }

    fn json(&self) -> Value {
        let sum = |count: fn(&ToolExtent) -> u64| self.extents.values().map(count).sum::<u64>();
        json!({
            "allowed": self.is_allowed, "only_tools": self.only, "sessions": sum(|tool| tool.sessions), "exchanges": sum(|tool| tool.exchanges),
            "bytes": self.bytes, "looked_at_ms": self.looked_at_ms,
            "transcripts": self.tools.values().map(|tool| tool.files).sum::<u64>(),
            "unread": self.tools.values().map(|tool| tool.changed).sum::<u64>(), "about_to_go": self.warnings(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_790_000_000_000;

    fn state(is_allowed: Option<bool>, unread_days: i64) -> SessionsState {
        let oldest = Some((NOW_MS - unread_days * DAY_MS) * MS_NS);
        let files = ToolFiles {
            files: 4,
            bytes: 2_000_000,
            changed: 2,
            oldest_ns: oldest,
            oldest_unread_ns: oldest,
            ..ToolFiles::default()
        };
        let tools = BTreeMap::from([("claude-code", files.clone()), ("codex", files)]);
        SessionsState { is_allowed, tools, now_ms: NOW_MS, ..SessionsState::default() }
    }

    // S-SESS-12
    #[test]
    fn a_tool_that_is_about_to_delete_is_named() {
        let warned = |days| state(Some(true), days).state_note().unwrap().warnings;
        assert_eq!(warned(26), Vec::<String>::new());
        let [only] = warned(27).try_into().unwrap();
        assert!(only.starts_with("Claude Code deletes transcripts after 30 days"), "{only}");
        assert_eq!(state(Some(false), 29).state_note().unwrap().warnings, Vec::<String>::new());
    }

    // S-SESS-12
    #[test]
    fn the_newest_is_named_if_there_is_one() {
        let kept = |extents| {
            let (is_allowed, looked_at_ms) = (Some(true), Some(NOW_MS));
            let state = SessionsState { is_allowed, extents, looked_at_ms, ..<_>::default() };
            state.state_note().unwrap().says
        };
        let nothing = kept(BTreeMap::new());
        assert!(nothing.contains("0 bytes; looked for new ones 2026-"), "{nothing}");
        let extent = ToolExtent { sessions: 1, exchanges: 2, span_ms: Some((NOW_MS, NOW_MS)) };
        let one = kept(BTreeMap::from([("codex".to_owned(), extent)]));
        assert!(one.contains("; newest of 2026-09-21, looked for"), "{one}");
    }

    // S-SESS-12
    #[test]
    fn the_answer_of_the_person_decides_what_is_said() {
        let unasked = state(None, 1).state_note().unwrap();
        assert!(unasked.says.starts_with("8 transcripts on this disk (4.0 MB)"), "{unasked:?}");
        assert_eq!(unasked.command.as_deref(), Some(IMPORT));
        assert_eq!(state(Some(false), 1).state_note().unwrap().says, "not read, as you chose");
        assert_eq!(SessionsState::default().state_note(), None);
    }
}
