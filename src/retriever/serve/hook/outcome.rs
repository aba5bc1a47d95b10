//! Whether a tool did what it should, by what its client tells of it: some have an event of its own for that,
//! some a field, some only say it in the text. Not here: whether a failure is worth a word (`signature`).

use serde_json::{Map, Value};

use super::said::{object, text};

/// Longest output that is looked at, in bytes: its beginning and, for most, its end. Errors stand at either.
const OUTPUT_HEAD_BYTES: usize = 4 * 1024;
const OUTPUT_TAIL_BYTES: usize = 12 * 1024;

/// Lines at the beginning and at the end of an output in which an exit code is believed: in between it is
/// what a program printed.
const EXIT_LINES: usize = 5;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Not as it should.
    Failed,
    /// As it should, as far as is told.
    Succeeded,
}

/// What became of a use of a tool.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) outcome: Outcome,
    /// A person broke it off.
    pub(super) is_interrupted: bool,
    /// What it said, its errors first.
    pub(super) output: String,
}

/// Reads the outcome from what a client says of a tool.
pub(super) fn of(said: &Map<String, Value>) -> Ending {
    let mut look = Look::default();
    look.at(said);
    let names = [
        "tool_response",
        "tool_output",
        "toolResponse",
        "toolResult",
        "tool_result",
        "result",
        "output",
    ];
    if let Some(response) = names.iter().find_map(|name| said.get(*name)) {
        match object(response) {
            Some(fields) => look.at(&fields),
            None => {
                look.at_text(response);
                let text = look.others.join("\n");
                look.has_failed |= exit_code(&text).is_none() && reads_like_a_failure(&text);
            }
        }
    }
    let Look { has_failed, is_interrupted, errors, others } = look;
    let output = errors.into_iter().chain(others).collect::<Vec<_>>().join("\n");
    let has_failed = has_failed || exit_code(&output).is_some_and(|code| code != 0);
    let outcome = if has_failed { Outcome::Failed } else { Outcome::Succeeded };
    Ending { outcome, is_interrupted, output: shortened(output) }
}

#[derive(Default)]
struct Look {
    has_failed: bool,
    is_interrupted: bool,
    errors: Vec<String>,
    others: Vec<String>,
}

impl Look {
    fn at(&mut self, fields: &Map<String, Value>) {
        let is =
            |name: &str, wanted: bool| fields.get(name).and_then(Value::as_bool) == Some(wanted);
        self.is_interrupted |=
            is("is_interrupt", true) || is("interrupted", true) || is("isInterrupt", true);
        self.has_failed |= is("success", false) || is("isError", true) || is("is_error", true);
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
        let said = [
            "stderr",
            "stdout",
            "output",
            "aggregated_output",
            "llmContent",
            "textResultForLlm",
            "content",
        ];
        self.others
            .extend(said.iter().filter_map(|name| fields.get(*name)?.as_str()).map(str::to_owned));
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

/// How lines begin that programs end with when they fail. Codex hands over what was printed and nothing else: who
/// sees an error in a mere warning speaks when nobody needs it, so these are few.
const LAST_WORDS: [&str; 10] = [
    "error:",
    "error[",
    "fatal:",
    "npm err!",
    "npm error",
    "traceback (most recent call last)",
    "panic:",
    "e: ",
    "make: ***",
    "failed:",
];

/// What such lines end in.
const LAST_WORDS_AT_END: [&str; 4] =
    [": command not found", ": no such file or directory", ": permission denied", ": not found"];

/// Tells whether a text that comes without an outcome ends like that of a program that failed.
fn reads_like_a_failure(output: &str) -> bool {
    output
        .lines()
        .rev()
        .map(|line| line.trim().to_lowercase())
        .filter(|line| !line.is_empty())
        .take(EXIT_LINES)
        .any(|line| {
            LAST_WORDS.iter().any(|words| line.starts_with(words))
                || LAST_WORDS_AT_END.iter().any(|words| line.ends_with(words))
                || line.split_once(": ").is_some_and(|(name, _)| is_exception(name))
        })
}

/// `modulenotfounderror`, `java.io.ioexception`: a name of one word that says so.
fn is_exception(name: &str) -> bool {
    !name.contains(' ') && (name.ends_with("error") || name.ends_with("exception"))
}

/// Finds the exit code that a tool put in words.
fn exit_code(output: &str) -> Option<i64> {
    let lines: Vec<&str> = output.lines().collect();
    let ends = lines.iter().take(EXIT_LINES).chain(lines.iter().rev().take(EXIT_LINES));
    ends.into_iter().find_map(|line| code_of(line))
}

/// The code of a line that says nothing else.
fn code_of(line: &str) -> Option<i64> {
    let line = line.trim().to_ascii_lowercase();
    let beginnings = [
        "exit code:",
        "exit code",
        "process exited with code",
        "command failed with exit code",
        "exited with code",
    ];
    let rest = beginnings.iter().find_map(|beginning| line.strip_prefix(beginning))?;
    rest.trim().trim_end_matches('.').parse().ok()
}

fn shortened(output: String) -> String {
    if output.len() <= OUTPUT_HEAD_BYTES + OUTPUT_TAIL_BYTES {
        return output;
    }
    let head = output.get(..output.floor_char_boundary(OUTPUT_HEAD_BYTES)).unwrap_or_default();
    let tail = output.len().saturating_sub(OUTPUT_TAIL_BYTES);
    let tail = output.get(output.ceil_char_boundary(tail)..).unwrap_or_default();
    format!("{head}\n{tail}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(value: &Value) -> Outcome {
        of(value.as_object().unwrap()).outcome
    }

    #[test]
    fn success_is_what_nothing_speaks_against() {
        for value in [
            json!({}),
            json!({"tool_response": {"stdout": "ok", "stderr": "warning: x", "interrupted": false}}),
            json!({"tool_response": "Exit code: 0\nOutput:\nfailed: 0"}),
            json!({"tool_response": {"llmContent": "Exit Code: 0", "error": null}}),
            json!({"tool_response": "{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"}),
            json!({"toolResult": {"resultType": "success", "textResultForLlm": "ok"}}),
        ] {
            assert_eq!(outcome(&value), Outcome::Succeeded, "{value}");
        }
    }

    #[test]
    fn an_exit_code_in_the_middle_of_an_output_is_what_a_program_printed() {
        let lines = |middle: &str| format!("{}{middle}\n{}", "a\n".repeat(9), "b\n".repeat(9));
        assert_eq!(outcome(&json!({"tool_response": lines("exit code: 1")})), Outcome::Succeeded);
        assert_eq!(outcome(&json!({"tool_response": "b\nexit code 1"})), Outcome::Failed);
        assert_eq!(outcome(&json!({"tool_response": "the exit code: 1"})), Outcome::Succeeded);
    }

    // S-HOOK-1
    #[test]
    fn what_comes_without_an_outcome_is_judged_by_its_last_lines() {
        for (text, expected) in [
            ("ls: cannot access '/no/such/place': No such file or directory\n", Outcome::Failed),
            ("npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve", Outcome::Failed),
            (
                "  File \"a.py\", line 3\nModuleNotFoundError: No module named 'yaml'",
                Outcome::Failed,
            ),
            (
                "error[E0433]: failed to resolve\n --> a.rs:1:1\nerror: could not compile `a`",
                Outcome::Failed,
            ),
            ("", Outcome::Succeeded),
            ("added 9 packages\n0 errors, 2 warnings\nfound 0 vulnerabilities", Outcome::Succeeded),
            ("test error_is_told ... ok\ntest result: ok. 3 passed; 0 failed", Outcome::Succeeded),
            ("error: old\n1\n2\n3\n4\n5\ndone", Outcome::Succeeded),
        ] {
            assert_eq!(outcome(&json!({ "tool_response": text })), expected, "{text}");
        }
    }

    #[test]
    fn a_long_output_keeps_both_ends() {
        let output = format!("first {} last", "é".repeat(40_000));
        let result = of(json!({"tool_response": output}).as_object().unwrap());
        assert!(result.output.len() <= OUTPUT_HEAD_BYTES + OUTPUT_TAIL_BYTES + 1);
        assert!(result.output.starts_with("first ") && result.output.ends_with(" last"));
    }
}
