//! Whether a tool succeeded, by what its client reports: some clients have an event for failures, some a field, some
//! only say it in the output. Not here: whether a failure is worth an answer (`signature`).

use serde_json::{Map, Value};

use super::payload_fields::{object, text};
use super::tool::Tool;
use guard::fence::unfenced;
use guard::secrets::RedactedText;
use learning::last_words::{ends_like_a_failure, exit_code, reads_like_a_failure};

/// Longest output that is examined, in bytes: a part from its beginning and a longer one from its end. Errors are at
/// either end.
const OUTPUT_HEAD_BYTES: usize = 4 * 1024;
const OUTPUT_TAIL_BYTES: usize = 12 * 1024;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolOutcome {
    /// It failed.
    Failed,
    /// It succeeded, as far as the client reports.
    Succeeded,
    /// It still runs in the background.
    Running,
}

/// How certain a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeEvidence {
    /// The client reported it, or the last line is one that only failures print.
    Stated,
    /// A line near the end looks like a failure. That is enough for an answer, but not for a lesson.
    Guessed,
}

/// The result of a tool call.
#[derive(Debug)]
pub(super) struct ToolResult {
    pub(super) outcome: ToolOutcome,
    /// How certain the failure is.
    pub(super) evidence: OutcomeEvidence,
    /// The user interrupted it.
    pub(super) is_interrupted: bool,
    /// Both ends of its output without secrets, with the errors first.
    pub(super) output: RedactedText,
}

/// Reads the result of a tool call. Only the output of shells is examined for errors: other tools may return text
/// about failures, such as an issue or a log, without having failed.
pub(super) fn tool_result(fields: &Map<String, Value>, tool: &Tool) -> ToolResult {
    let is_shell = *tool == Tool::Shell;
    let mut look = ResultFields::default();
    look.at(fields);
    let names = [
        "tool_response",
        "tool_output",
        "toolResponse",
        "toolResult",
        "tool_result",
        "result",
        "output",
    ];
    let mut is_bare = false;
    if let Some(response) = names.iter().find_map(|name| fields.get(*name)) {
        match object(response).filter(|_| is_shell || response.is_object()) {
            Some(fields) => look.at(&fields),
            None => {
                look.at_text(response);
                is_bare = true;
            }
        }
    }
    let ResultFields { has_failed, is_interrupted, is_running, errors, others } = look;
    let output = errors.into_iter().chain(others).collect::<Vec<_>>().join("\n");
    let code = if is_shell { exit_code(&output) } else { None };
    // Only Codex reports the output and nothing else, and only Codex sends a turn id.
    let is_guess = is_shell && is_bare && code.is_none() && fields.contains_key("turn_id");
    let has_failed = has_failed || code.is_some_and(|code| code != 0);
    let seems_failed = !has_failed && is_guess && reads_like_a_failure(&output);
    let outcome = if has_failed || seems_failed {
        ToolOutcome::Failed
    } else if is_running || is_in_background(fields) {
        ToolOutcome::Running
    } else {
        ToolOutcome::Succeeded
    };
    let is_sure = has_failed || ends_like_a_failure(&output);
    let evidence = if is_sure { OutcomeEvidence::Stated } else { OutcomeEvidence::Guessed };
    ToolResult { outcome, evidence, is_interrupted, output: shortened(&output) }
}

/// Tells whether the tool was started in the background.
fn is_in_background(fields: &Map<String, Value>) -> bool {
    let inputs = ["tool_input", "toolInput", "toolArgs", "args", "parameters"];
    let asked = ["run_in_background", "is_background", "isBackground"];
    inputs.iter().filter_map(|name| object(fields.get(*name)?)).any(|input| {
        asked.iter().any(|name| input.get(*name).and_then(Value::as_bool) == Some(true))
    })
}

#[derive(Default)]
struct ResultFields {
    has_failed: bool,
    is_interrupted: bool,
    is_running: bool,
    errors: Vec<String>,
    others: Vec<String>,
}

impl ResultFields {
    fn at(&mut self, fields: &Map<String, Value>) {
        let is =
            |name: &str, wanted: bool| fields.get(name).and_then(Value::as_bool) == Some(wanted);
        self.is_interrupted |=
            is("is_interrupt", true) || is("interrupted", true) || is("isInterrupt", true);
        self.has_failed |= is("success", false) || is("isError", true) || is("is_error", true);
        self.is_running |= fields.get("backgroundTaskId").is_some_and(|id| !id.is_null());
        let words = ["resultType", "status"].iter().filter_map(|name| fields.get(*name)?.as_str());
        self.has_failed |=
            words.into_iter().any(|word| matches!(word, "failure" | "error" | "failed" | "denied"));
        for name in ["exit_code", "exitCode", "exit", "returnCode"] {
            let code = fields.get(name).and_then(Value::as_i64);
            self.has_failed |= code.is_some_and(|code| code != 0);
        }
        if let Some(metadata) = fields.get("metadata").and_then(Value::as_object) {
            self.at(metadata);
        }
        for error in
            ["error", "error_message", "errorMessage"].iter().filter_map(|name| fields.get(*name))
        {
            let message = match error {
                Value::Object(inner) => text(inner, &["message", "text"]).unwrap_or("failed"),
                other => other.as_str().unwrap_or_default(),
            };
            if !message.is_empty() {
                self.has_failed = true;
                self.errors.push(message.to_owned());
            }
        }
        let outputs = [
            "stderr",
            "stdout",
            "output",
            "aggregated_output",
            "llmContent",
            "textResultForLlm",
            "content",
        ];
        self.others.extend(
            outputs.iter().filter_map(|name| fields.get(*name)?.as_str()).map(str::to_owned),
        );
    }

    fn at_text(&mut self, response: &Value) {
        match response {
            Value::String(text) => self.others.push(text.clone()),
            Value::Array(parts) => {
                let parts =
                    parts.iter().filter_map(|part| part.get("text").unwrap_or(part).as_str());
                self.others.extend(parts.map(str::to_owned));
            }
            _ => {}
        }
    }
}

fn shortened(output: &str) -> RedactedText {
    RedactedText::head_and_tail(&unfenced(output), (OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES), "\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(value: &Value) -> ToolOutcome {
        tool_result(value.as_object().unwrap(), &Tool::Shell).outcome
    }

    #[test]
    fn a_call_succeeded_unless_something_says_otherwise() {
        for value in [
            json!({}),
            json!({"tool_response": {"stdout": "ok", "stderr": "warning: x", "interrupted": false}}),
            json!({"tool_response": "Exit code: 0\nOutput:\nfailed: 0"}),
            json!({"tool_response": {"llmContent": "Exit Code: 0", "error": null}}),
            json!({"tool_response": "{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"}),
            json!({"toolResult": {"resultType": "success", "textResultForLlm": "ok"}}),
        ] {
            assert_eq!(outcome(&value), ToolOutcome::Succeeded, "{value}");
        }
    }

    #[test]
    fn exit_codes_in_the_middle_of_an_output_are_ignored() {
        let lines = |middle: &str| format!("{}{middle}\n{}", "a\n".repeat(9), "b\n".repeat(9));
        assert_eq!(
            outcome(&json!({"tool_response": lines("exit code: 1")})),
            ToolOutcome::Succeeded
        );
        assert_eq!(outcome(&json!({"tool_response": "b\nexit code 1"})), ToolOutcome::Failed);
        assert_eq!(outcome(&json!({"tool_response": "the exit code: 1"})), ToolOutcome::Succeeded);
    }

    // S-HOOK-1
    #[test]
    fn without_an_outcome_the_last_lines_decide() {
        for (text, expected) in [
            (
                "ls: cannot access '/no/such/place': No such file or directory\n",
                ToolOutcome::Failed,
            ),
            ("npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve", ToolOutcome::Failed),
            (
                "  File \"a.py\", line 3\nModuleNotFoundError: No module named 'yaml'",
                ToolOutcome::Failed,
            ),
            (
                "error[E0433]: failed to resolve\n --> a.rs:1:1\nerror: could not compile `a`",
                ToolOutcome::Failed,
            ),
            ("", ToolOutcome::Succeeded),
            (
                "added 9 packages\n0 errors, 2 warnings\nfound 0 vulnerabilities",
                ToolOutcome::Succeeded,
            ),
            (
                "test error_is_shown ... ok\ntest result: ok. 3 passed; 0 failed",
                ToolOutcome::Succeeded,
            ),
            ("epoch 3\ntrain_error: 0.5\nvalidation_error: 0.4", ToolOutcome::Succeeded),
            ("failed: 0", ToolOutcome::Succeeded),
            ("error: old\n1\n2\n3\n4\n5\ndone", ToolOutcome::Succeeded),
        ] {
            let input = json!({"turn_id": "1", "tool_response": text});
            assert_eq!(outcome(&input), expected, "{text}");
            let other = json!({ "tool_response": text });
            assert_eq!(
                outcome(&other),
                ToolOutcome::Succeeded,
                "who tells outcomes is believed: {text}"
            );
        }
    }

    // S-HOOK-6
    #[test]
    fn text_of_other_tools_is_no_outcome() {
        let tool = Tool::Other("mcp__tracker__show".to_owned());
        for response in [
            json!("Error: the page of an issue"),
            json!("exit code 1"),
            json!("{\"status\":\"failed\"}"),
            json!([{"type": "text", "text": "ValueError: x"}]),
        ] {
            let input = json!({"turn_id": "1", "tool_response": response});
            let ending = tool_result(input.as_object().unwrap(), &tool);
            assert_eq!(ending.outcome, ToolOutcome::Succeeded, "{input}");
        }
        let input = json!({"tool_response": {"isError": true, "content": "x"}});
        assert_eq!(tool_result(input.as_object().unwrap(), &tool).outcome, ToolOutcome::Failed);
    }

    // S-HOOK-6
    #[test]
    fn background_commands_have_no_outcome_yet() {
        for input in [
            json!({"tool_input": {"run_in_background": true}, "tool_response": {"stdout": ""}}),
            json!({"tool_input": {}, "tool_response": {"stdout": "", "backgroundTaskId": "b1"}}),
            json!({"toolArgs": "{\"is_background\":true}"}),
        ] {
            assert_eq!(outcome(&input), ToolOutcome::Running, "{input}");
        }
        let no = json!({"tool_input": {"run_in_background": false}, "tool_response": {"backgroundTaskId": null}});
        assert_eq!(outcome(&no), ToolOutcome::Succeeded);
    }

    // S-HOOK-6
    #[test]
    fn only_the_very_last_line_proves_a_failure() {
        for (text, expected) in [
            ("ok\nerror: x", OutcomeEvidence::Stated),
            ("error: x\n3 warnings", OutcomeEvidence::Guessed),
        ] {
            let input = json!({"turn_id": "1", "tool_response": text});
            let ending = tool_result(input.as_object().unwrap(), &Tool::Shell);
            assert_eq!(
                (ending.outcome, ending.evidence),
                (ToolOutcome::Failed, expected),
                "{text}"
            );
        }
        let stated = json!({"tool_response": {"exit_code": 1, "output": "boom"}});
        assert_eq!(
            tool_result(stated.as_object().unwrap(), &Tool::Shell).evidence,
            OutcomeEvidence::Stated
        );
    }

    #[test]
    fn a_long_output_keeps_both_ends() {
        let output = format!("first {} last", "é".repeat(40_000));
        let input = json!({"tool_response": output});
        let result = tool_result(input.as_object().unwrap(), &Tool::Shell);
        assert!(result.output.len() <= OUTPUT_HEAD_BYTES + OUTPUT_TAIL_BYTES + 1);
        assert!(result.output.starts_with("first ") && result.output.ends_with(" last"));
    }
}
