//! What a failure is recognised by when it comes again: the lines that say what was wrong, and what the command does. Not here: how
//! it was fixed (`fixed_failure`).

use guard::secrets::RedactedText;
use learning::commands::command_tasks;
use learning::signature::{Signature, failure_key, stable_line};
use serde::{Deserialize, Serialize};

/// Fewest letters of a line, and fewest words, that tell one error from others.
const LETTERS_MIN: usize = 8;
const WORDS_MIN: usize = 3;

/// What a line contains that only says that something failed, or counts what did, in lower case.
const GENERAL: &[&str] = &[
    "warning",
    "husky",
    "hint:",
    "script failed",
    "task failed",
    "errors were emitted",
    "exited with code",
    "exit status",
    "duration ",
    "[build failed]",
    "[setup failed]",
    "problems (",
    "tests failed",
    "test failed",
    "fixes applied",
    "lifecycle script",
    "recipe for target",
    "warnings generated",
    "please fix",
    "for help",
    "see above",
    "test files",
    "could not apply",
    "merge conflict",
    "timed out after",
];

/// What a failure is recognised by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureSigns {
    /// Hashes of the lines that say what was wrong, without what differs each time; at most three.
    pub signatures: Vec<String>,
    /// Hashes of the lines that only say that something was wrong. With one of them, only a command that often helped is
    /// worth a word.
    pub general: Vec<String>,
    /// What the commands of the line do: programs with their tasks.
    pub goals: Vec<String>,
    /// The line that says most.
    pub error_line: String,
}

impl FailureSigns {
    /// Recognises a failure; `None` where its output does not tell it from others, or the command only looks.
    #[must_use]
    pub fn recognise(command: &RedactedText, output: &RedactedText) -> Option<Self> {
        let signature = Signature::from_output(output)?;
        let (telling, others): (Vec<&str>, Vec<&str>) =
            signature.excerpt.lines().partition(|line| is_telling(line));
        let marks = |lines: &[&str]| {
            let mut marks: Vec<_> =
                lines.iter().map(|line| failure_key(&without_variable_parts(line))).collect();
            marks.dedup();
            marks
        };
        let error_line = (*telling.first().or(others.first())?).to_owned();
        let (signatures, general) = (marks(&telling), marks(&others));
        let goals = command_tasks(command);
        (!goals.is_empty()).then_some(Self { signatures, general, goals, error_line })
    }

    /// Every hash by which a row may be found.
    pub fn lookup_hashes(&self) -> impl Iterator<Item = &str> {
        self.signatures.iter().chain(&self.general).map(String::as_str)
    }

    /// Returns how many telling lines two failures share.
    pub(super) fn shared_lines(&self, other: &Self) -> usize {
        self.signatures.iter().filter(|signature| other.signatures.contains(signature)).count()
    }

    pub(super) fn shares_general(&self, other: &Self) -> bool {
        self.general.iter().any(|signature| other.general.contains(signature))
    }

    pub(super) fn shares_goal(&self, other: &Self) -> bool {
        self.goals.iter().any(|goal| other.goals.contains(goal))
    }
}

fn is_telling(line: &str) -> bool {
    let plain = without_variable_parts(line);
    let lower = line.to_lowercase();
    let counts = ["found error", "error found error", "fail ", "ok "];
    let is_count = counts.iter().any(|begin| plain.starts_with(begin));
    // A program repeats the command that it runs.
    let is_echo = line.starts_with("$ ") || line.starts_with("> ");
    plain.chars().filter(|c| c.is_alphabetic()).count() >= LETTERS_MIN
        && plain.split(' ').count() >= WORDS_MIN
        && !is_count
        && !counts_only(&plain)
        && !is_echo
        && !GENERAL.iter().any(|words| lower.contains(words))
}

/// The words of lines in which the runner of tests or checks counts.
const COUNTED: &[&str] = &[
    "checks",
    "duration",
    "errors",
    "error",
    "errored",
    "fail",
    "failed",
    "failing",
    "failures",
    "files",
    "file",
    "filtered",
    "finished",
    "found",
    "ignored",
    "in",
    "measured",
    "ms",
    "of",
    "ok",
    "out",
    "pass",
    "passed",
    "passing",
    "pending",
    "problems",
    "ran",
    "result",
    "run",
    "s",
    "skipped",
    "snapshot",
    "snapshots",
    "suite",
    "suites",
    "test",
    "tests",
    "time",
    "todo",
    "total",
    "warnings",
    "with",
    "xfailed",
    "xpassed",
];

/// Tells whether a line without its numbers only counts: `Tests: 1 failed, 20 passed`.
fn counts_only(plain: &str) -> bool {
    let words = plain.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.clone().next().is_some() && words.into_iter().all(|word| COUNTED.contains(&word))
}

/// Returns a line without paths, numbers and hashes, also where they are a part of a word.
#[must_use]
pub fn without_variable_parts(line: &str) -> String {
    let line = stable_line(line);
    let words = line.split(' ').map(|word| {
        let is_hash = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { "#".to_owned() } else { word.replace(|c: char| c.is_ascii_digit(), "") }
    });
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_paths_and_hashes_do_not_count() {
        let one = "src/a/main.rs:12:5: E0433 in 1a2b3c4d9f at step3";
        let other = "other/main.rs:99:1: E0433 in ffee00112 at step14";
        assert_eq!(without_variable_parts(one), without_variable_parts(other));
    }

    #[test]
    fn a_line_that_only_counts_is_known() {
        for line in [
            "tests: failed, passed",
            "test result: failed. passed; failed; ignored",
            "ran test suites in s",
        ] {
            assert!(counts_only(line), "{line}");
        }
        assert!(!counts_only("error: failed to build the wheel"));
    }
}
