//! Messages in the form of Anthropic's API, which several tools keep as they sent them: texts, calls and results are blocks
//! of a message. Not here: the files in which those messages are, and what a tool writes into its texts.

use serde_json::Value;

use super::json_parts::{CallNames, MomentStamp, text_field, text_of};
use crate::prompt_text::typed_text;
use crate::transcript::{MomentKind, Outcome, TranscriptSink};

/// How a tool uses the blocks.
pub(super) struct BlockRules {
    /// Its tools.
    pub(super) calls: CallNames,
    /// How a call ended, by its error flag and its output.
    pub(super) outcome: fn(bool, &str) -> Outcome,
}

impl BlockRules {
    /// Reports a message, and returns its role if that is not known.
    pub(super) fn report_message(
        &self,
        message: &Value,
        stamp: &MomentStamp,
        sink: &mut dyn TranscriptSink,
    ) -> Option<String> {
        let content = &message["content"];
        match message["role"].as_str().unwrap_or("no role") {
            "user" => {
                self.tell_results(content, stamp, sink);
                stamp.report(sink, MomentKind::Asked(typed_text(&text_of(content))));
            }
            "assistant" => {
                stamp.report(sink, MomentKind::Answered(text_of(content)));
                self.tell_calls(content, stamp, sink);
            }
            "system" => return Some(String::new()),
            unknown => return Some(format!("message/{unknown}")),
        }
        None
    }

    fn tell_calls(&self, content: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
        for block in content.as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                let (call, tool) = (text_field(block, "id"), text_field(block, "name"));
                let (call, tool) = (call.unwrap_or_default(), tool.unwrap_or_default());
                for what in self.calls.happenings(&call, &tool, &block["input"]) {
                    stamp.report(sink, what);
                }
            }
        }
    }

    fn tell_results(&self, content: &Value, stamp: &MomentStamp, sink: &mut dyn TranscriptSink) {
        for block in content.as_array().into_iter().flatten() {
            if block["type"] == "tool_result" {
                let call = text_field(block, "tool_use_id").unwrap_or_default();
                let output = result_text(&block["content"]);
                let outcome = (self.outcome)(block["is_error"] == true, &output);
                stamp.report(sink, MomentKind::Returned { call, outcome, output });
            }
        }
    }
}

/// The text of a result; one without text parts is told as JSON.
fn result_text(content: &Value) -> String {
    let text = text_of(content);
    if text.is_empty() && !content.is_null() { content.to_string() } else { text }
}
