//! The beginning of a rollout of Codex: whose session it is, which form it has, and where its own lines begin, because a fork
//! and a subagent start with all lines of their parent. It is read anew each time; usually it is a few lines. Not here: the
//! rest of the file (`codex_session`).

use serde_json::Value;

use super::codex_line::{CodexLine, CodexPayload, is_noise, joined_text};
use crate::prompt_text::typed_text;
use crate::readers::loose_json::millis_of;
use crate::records::{RecordLine, RecordLines, values_of_line};
use crate::source::{ReadError, TranscriptFile};
use crate::transcript::SessionFact;

/// Where the prompts of a rollout are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptForm {
    /// In events or items that say so.
    Marked,
    /// Only among the messages for the model, together with what tools put there.
    Mixed,
}

/// What the beginning says.
#[derive(Debug, Default)]
pub(super) struct CodexHead {
    pub(super) id: String,
    pub(super) facts: Vec<SessionFact>,
    pub(super) is_paginated: bool,
    /// When the first line was written, in milliseconds since 1970.
    since_ms: Option<i64>,
    has_meta: bool,
    has_copies: bool,
    /// Where the first line that is no copy begins.
    own_from: Option<u64>,
    has_prompt: bool,
    form: Option<PromptForm>,
}

/// A line this much later than the first one is no copy, in milliseconds: copies are written at once.
const COPYING_MS: i64 = 500;

impl CodexHead {
    /// Reads the beginning, up to where all is known.
    pub(super) fn read(file: &TranscriptFile) -> Result<Self, ReadError> {
        let mut head = Self { id: id_in_name(file).to_owned(), ..Self::default() };
        let mut lines = RecordLines::open(&file.path, 0)?;
        while head.form.is_none() {
            let Some(line) = lines.next_line().map_err(ReadError::io(&file.path))? else { break };
            let RecordLine::Whole { offset, bytes } = line else { continue };
            if is_noise(bytes) {
                continue;
            }
            values_of_line(bytes, &mut |line| {
                if let Ok(line) = line {
                    head.read_line(line, offset);
                }
            });
        }
        Ok(head)
    }

    fn read_line(&mut self, line: CodexLine, offset: u64) {
        let (kind, time) = (line.kind, millis_of(line.timestamp.text()));
        let payload = line.payload.into_first();
        if kind.text() == "session_meta" {
            return self.meta(&payload, time);
        }
        if self.is_copying() {
            if kind.text() == "turn_context" && self.is_own_turn(payload.turn_id.text(), time) {
                self.own_from = Some(offset);
            }
            return;
        }
        let item = payload.item.first().map_or("", |item| item.kind.text());
        match (kind.text(), payload.kind.text(), payload.role.text()) {
            ("event_msg", "user_message", _) => self.form = Some(PromptForm::Marked),
            ("event_msg", "item_completed", _) if item == "UserMessage" => {
                self.form = Some(PromptForm::Marked);
            }
            ("response_item", _, "user") => self.has_prompt |= mixed_prompt(&payload).is_some(),
            // The event about a prompt stands before all that the model does.
            ("response_item", "function_call" | "custom_tool_call", _)
            | ("response_item", _, "assistant")
                if self.has_prompt =>
            {
                self.form = Some(PromptForm::Mixed);
            }
            _ => {}
        }
    }

    fn meta(&mut self, meta: &CodexPayload, time: Option<i64>) {
        let id = meta.id.some().or(meta.session_id.some());
        if self.has_meta {
            self.has_copies |= id.is_some_and(|id| id != self.id);
            return;
        }
        (self.has_meta, self.since_ms) = (true, time);
        self.id = id.unwrap_or(&self.id).to_owned();
        self.is_paginated = meta.history_mode.text() == "paginated";
        let spawn = meta.source.pointer("/subagent/thread_spawn/parent_thread_id");
        let parent = spawn.and_then(Value::as_str).map(str::to_owned);
        let parent = parent.or_else(|| meta.parent_thread_id.owned());
        let is_program = is_program(&meta.source) || meta.thread_source.text() == "subagent";
        let fork = meta.forked_from_id.owned().filter(|_| parent.is_none());
        let (branch, remote) = meta
            .git
            .first()
            .map_or((None, None), |git| (git.branch.owned(), git.repository_url.owned()));
        let facts = [
            meta.cwd.owned().map(SessionFact::Directory),
            branch.map(SessionFact::Branch),
            remote.map(SessionFact::Remote),
            parent.map(SessionFact::Parent),
            fork.map(SessionFact::ForkOf),
            is_program.then_some(SessionFact::ByProgram),
        ];
        self.facts = facts.into_iter().flatten().collect();
    }

    fn is_copying(&self) -> bool {
        self.has_copies && self.own_from.is_none()
    }

    /// Tells whether a line at this offset is a copy of the parent's.
    pub(super) fn is_copied(&self, offset: u64) -> bool {
        self.has_copies && self.own_from.is_none_or(|own_from| offset < own_from)
    }

    /// Tells whether a turn is not of the parent. The ids of turns and sessions hold the time at which they were made;
    /// where they do not, the time of the line decides.
    pub(super) fn is_own_turn(&self, turn: &str, time: Option<i64>) -> bool {
        match (made_ms(turn), made_ms(&self.id)) {
            (Some(turn), Some(session)) => turn >= session,
            _ => time.zip(self.since_ms).is_some_and(|(now, since)| now - since > COPYING_MS),
        }
    }

    /// Where the prompts are.
    pub(super) fn form(&self) -> PromptForm {
        self.form.unwrap_or(PromptForm::Marked)
    }

    /// Tells whether the file ended before all was known, so that it must be read from its beginning when it has grown.
    pub(super) fn is_open(&self) -> bool {
        self.is_copying() || self.has_prompt && self.form.is_none() || !self.has_meta
    }
}

/// The prompt in a message for the model, unless a tool wrote it.
pub(super) fn mixed_prompt(payload: &CodexPayload) -> Option<String> {
    let text = joined_text(&payload.content);
    if text.trim_start().starts_with('<') {
        return None;
    }
    Some(typed_text(&text)).filter(|prompt| !prompt.is_empty())
}

/// When an id was made, in milliseconds since 1970, if it is a UUID of version 7.
fn made_ms(id: &str) -> Option<u64> {
    let is_seventh = id.len() == 36 && id.as_bytes().get(14) == Some(&b'7');
    let digits = format!("{}{}", id.get(..8)?, id.get(9..13)?);
    u64::from_str_radix(&digits, 16).ok().filter(|_| is_seventh)
}

/// The id in `rollout-<date>-<id>`, or the whole name.
fn id_in_name(file: &TranscriptFile) -> &str {
    let stem = file.stem().unwrap_or("unknown");
    let dated =
        stem.strip_prefix("rollout-").and_then(|rest| rest.get("2026-09-01T10-00-00-".len()..));
    dated.filter(|id| !id.is_empty()).unwrap_or(stem)
}

/// Tells whether the value of `source` in the first line names a program: a subagent, a review, a script.
fn is_program(source: &Value) -> bool {
    match source {
        Value::String(name) => ["exec", "mcp"].contains(&name.as_str()),
        Value::Object(kinds) => kinds.contains_key("subagent") || kinds.contains_key("internal"),
        _ => false,
    }
}
