//! How the lines of a rollout of Codex make a session: what was said, what was done, what was taken back. Not here: the
//! beginning of the file (`codex_head`), how calls end (`codex_calls`).

use super::codex_calls::{CodexCalls, outcome_of};
use super::codex_head::{CodexHead, PromptForm, mixed_prompt};
use super::codex_line::{CodexItem, CodexLine, CodexPayload, command_of, joined_text, paths_in};
use crate::prompt_text::typed_text;
use crate::readers::loose_json::millis_of;
use crate::transcript::{
    MomentKind, Outcome, SessionExtent, SessionFact, TitleSource, TranscriptMoment, TranscriptSink,
};

/// Kinds of lines that say nothing worth keeping.
const KINDS_LEFT: &[&str] =
    &["session_meta", "turn_context", "world_state", "inter_agent_communication", "state"];

/// Kinds of messages for the model that say nothing worth keeping.
const RESPONSES_LEFT: &[&str] = &[
    "reasoning",
    "tool_search_call",
    "tool_search_output",
    "ghost_snapshot",
    "compaction",
    "compaction_trigger",
    "context_compaction",
    "image_generation_call",
];

/// Kinds of events that say nothing worth keeping.
const EVENTS_LEFT: &[&str] = &[
    "token_count",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "context_compacted",
    "exec_command_begin",
    "exec_command_output_delta",
    "patch_apply_begin",
    "patch_apply_updated",
    "turn_diff",
    "mcp_tool_call_begin",
    "web_search_begin",
    "web_search_end",
    "view_image_tool_call",
    "image_generation_begin",
    "image_generation_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "entered_review_mode",
    "exited_review_mode",
    "thread_goal_updated",
    "thread_settings_applied",
    "sub_agent_activity",
    "warning",
    "guardian_assessment",
    "background_event",
    "stream_error",
    "item_started",
    "plan_update",
];

/// Kinds of items that say nothing worth keeping, or that a call of the model tells as well.
const ITEMS_LEFT: &[&str] = &[
    "Reasoning",
    "WebSearch",
    "ImageView",
    "ImageGeneration",
    "ContextCompaction",
    "EnteredReviewMode",
    "ExitedReviewMode",
    "CollabAgentToolCall",
    "DynamicToolCall",
    "SubAgentActivity",
    "HookPrompt",
    "Sleep",
];

/// The reading of one file.
pub(super) struct CodexReading {
    head: CodexHead,
    is_copied: bool,
    calls: CodexCalls,
    /// The last answer, and whether an item told it: a message for the model tells it again.
    answer: Option<(bool, String)>,
}

/// Whether a line was understood: `Ok(true)`, says nothing, or is of an unknown kind.
type Told = Result<bool, String>;

impl CodexReading {
    /// Begins the session, or goes on with it.
    pub(super) fn new(mut head: CodexHead, offset: u64, sink: &mut dyn TranscriptSink) -> Self {
        let extent = if offset == 0 { SessionExtent::Whole } else { SessionExtent::Continued };
        if !head.id.is_empty() {
            sink.session(&head.id, extent);
        }
        std::mem::take(&mut head.facts).into_iter().for_each(|fact| sink.fact(fact));
        let is_copied = head.is_copied(offset);
        Self { head, is_copied, calls: CodexCalls::default(), answer: None }
    }

    /// Reports a line. Returns its kind if that is unknown, and an empty text if it says nothing.
    pub(super) fn read_line(
        &mut self,
        line: CodexLine,
        sink: &mut dyn TranscriptSink,
    ) -> Option<String> {
        let CodexLine { timestamp, kind, payload } = line;
        let (at_ms, payload) = (millis_of(timestamp.text()), payload.into_first());
        if self.is_copied {
            let is_turn = kind.text() == "turn_context";
            self.is_copied = !(is_turn && self.head.is_own_turn(payload.turn_id.text(), at_ms));
            return Some(String::new());
        }
        let (mut found, mut message_id) = (Vec::new(), None);
        let told = match kind.text() {
            "response_item" => self.response(payload, &mut found),
            "event_msg" if payload.kind.text() == "item_completed" => {
                let item = payload.item.into_first();
                message_id = item.id.owned().filter(|id| id.len() >= ID_BYTES_MIN);
                self.item(item, &mut found)
            }
            "event_msg" => self.event(payload, &mut found, sink),
            "compacted" => {
                found.extend(payload.message.owned().map(MomentKind::Summarised));
                Ok(!found.is_empty())
            }
            kind if KINDS_LEFT.contains(&kind) => Ok(false),
            "" => Err("without a type".to_owned()),
            kind => Err(kind.to_owned()),
        };
        for what in found {
            sink.moment(TranscriptMoment { message_id: message_id.clone(), at_ms, kind: what });
        }
        told.map(|is_told| (!is_told).then(String::new)).unwrap_or_else(Some)
    }

    /// A message for the model, a call or its result.
    fn response(&mut self, payload: CodexPayload, found: &mut Vec<MomentKind>) -> Told {
        let call = payload.call_id.text();
        match (payload.kind.text(), payload.role.text()) {
            ("message" | "", "assistant") => {
                self.answered(false, joined_text(&payload.content), found);
            }
            ("message" | "", "user") if self.head.form() == PromptForm::Mixed => {
                found.extend(mixed_prompt(&payload).map(MomentKind::Asked));
            }
            ("message" | "", _) => {}
            ("function_call", _) => {
                self.calls.add_call((call, payload.name.text()), payload.arguments, found);
                return Ok(true);
            }
            ("custom_tool_call", _) => {
                let (name, input) = (payload.name.text(), payload.input.text());
                match name {
                    "apply_patch" => self.calls.add_edits(call, paths_in(input), found),
                    // A program that calls the tools; items tell which.
                    "exec" if self.head.is_paginated => {}
                    name => self.calls.add_tool_use(call, name, input.to_owned(), found),
                }
            }
            ("local_shell_call", _) => {
                let action = payload.action.into_first();
                self.calls.add_command(call, command_of(&action.command), found);
            }
            ("web_search_call", _) => {
                let argument = payload.action.into_first().main();
                self.calls.add_tool_use("", "web_search", argument, found);
            }
            ("function_call_output" | "custom_tool_call_output", _) => {
                self.calls.add_output(call, &joined_text(&payload.output), found);
                return Ok(true);
            }
            (kind, _) if RESPONSES_LEFT.contains(&kind) => {}
            (kind, _) => return Err(format!("response_item {kind}")),
        }
        Ok(!found.is_empty())
    }

    fn event(
        &mut self,
        payload: CodexPayload,
        found: &mut Vec<MomentKind>,
        sink: &mut dyn TranscriptSink,
    ) -> Told {
        match payload.kind.text() {
            "user_message" => self.asked(payload.message.text(), found),
            "exec_command_end" => self.command_ended(&payload, found),
            "patch_apply_end" => {
                let is_success = payload.success.is_true();
                let status = if is_success { "completed" } else { payload.status.text() };
                let status = if status.is_empty() { "failed" } else { status };
                let (call, output) = (payload.call_id.text(), payload.stderr.text());
                self.calls.end_call(call, &outcome_of(None, status), output, found);
            }
            "mcp_tool_call_end" => {
                let result = payload.result.into_first();
                let is_error = result.ok.first().is_none_or(|answer| answer.is_error.is_true());
                let output = result.ok.first().map(|answer| joined_text(&answer.content));
                let output = output.unwrap_or_else(|| result.err.text().to_owned());
                let outcome = if is_error { Outcome::Faulted } else { Outcome::Succeeded };
                self.calls.end_call(payload.call_id.text(), &outcome, &output, found);
            }
            "thread_name_updated" => {
                let title = payload.thread_name.text().to_owned();
                sink.fact(SessionFact::Title(TitleSource::Model, title));
                return Ok(true);
            }
            "error" => found.push(MomentKind::Failed(payload.message.text().to_owned())),
            "turn_aborted" if ["interrupted", "replaced"].contains(&payload.reason.text()) => {
                found.push(MomentKind::Interrupted);
            }
            "turn_aborted" => {}
            "thread_rolled_back" => {
                let questions = payload.num_turns.number().and_then(|turns| turns.try_into().ok());
                found.push(MomentKind::TakenBack { questions: questions.unwrap_or_default() });
            }
            kind if EVENTS_LEFT.contains(&kind) => {}
            kind => return Err(format!("event_msg {kind}")),
        }
        Ok(!found.is_empty())
    }

    fn command_ended(&mut self, payload: &CodexPayload, found: &mut Vec<MomentKind>) {
        let (call, status) = (payload.call_id.text(), payload.status.text());
        // What a person types behind a `!` is no call of the model.
        if payload.source.as_str() == Some("user_shell") && !self.calls.is_open(call) {
            self.calls.add_command(call, command_of(&payload.command), found);
        }
        let outcome = outcome_of(payload.exit_code.number(), status);
        self.calls.end_call(call, &outcome, payload.aggregated_output.text(), found);
    }

    fn item(&mut self, mut item: CodexItem, found: &mut Vec<MomentKind>) -> Told {
        match item.kind.text() {
            "UserMessage" => self.asked(&joined_text(&item.content), found),
            "AgentMessage" => {
                let text = if item.content.items.is_empty() {
                    item.text.take_text()
                } else {
                    joined_text(&item.content)
                };
                self.answered(true, text, found);
            }
            "Plan" => found.push(MomentKind::Planned(item.text.take_text())),
            "CommandExecution" | "FileChange" | "McpToolCall" => self.calls.add_item(item, found),
            kind if ITEMS_LEFT.contains(&kind) => {}
            kind => return Err(format!("item {kind}")),
        }
        Ok(!found.is_empty())
    }

    fn asked(&mut self, text: &str, found: &mut Vec<MomentKind>) {
        let prompt = typed_text(text);
        self.answer = None;
        if !prompt.is_empty() {
            found.push(MomentKind::Asked(prompt));
        }
    }

    /// Reports an answer, unless the other form told it just before.
    fn answered(&mut self, is_item: bool, text: String, found: &mut Vec<MomentKind>) {
        let is_again = |(was_item, told): &(bool, String)| *was_item != is_item && *told == text;
        if self.answer.as_ref().is_some_and(is_again) {
            self.answer = None;
            return;
        }
        self.answer = Some((is_item, text.clone()));
        found.push(MomentKind::Answered(text));
    }
}

/// Shorter ids are numbers that other sessions have as well.
const ID_BYTES_MIN: usize = 32;
