//! Whether an output ends like that of a failed program, for clients that do not say how a command ended. Not here: the
//! fields in which others say it (`clients::hooks`, `transcripts::readers`).

/// Lines at the beginning and at the end of an output in which an exit code is believed. In between, it is output of
/// the program.
const EXIT_LINES: usize = 5;

/// Beginnings of the lines that programs print last when they fail. The list is short, since a warning that is taken
/// for an error leads to an answer that nobody needs.
const LAST_WORDS: [&str; 11] = [
    "fatal error:",
    "segmentation fault",
    "error:",
    "error[",
    "fatal:",
    "npm err!",
    "npm error",
    "traceback (most recent call last)",
    "panic:",
    "e: ",
    "make: ***",
];

/// Endings of such lines.
const LAST_WORDS_AT_END: [&str; 5] = [
    "(core dumped)",
    ": command not found",
    ": no such file or directory",
    ": permission denied",
    ": not found",
];

/// Tells whether an output ends like that of a failed program.
#[must_use]
pub fn reads_like_a_failure(output: &str) -> bool {
    last_lines(output).take(EXIT_LINES).any(tells_a_failure)
}

/// Tells whether the very last line is that of a failed program.
#[must_use]
pub fn ends_like_a_failure(output: &str) -> bool {
    last_lines(output).next().is_some_and(tells_a_failure)
}

fn last_lines(output: &str) -> impl Iterator<Item = &str> {
    output.lines().rev().map(str::trim).filter(|line| !line.is_empty())
}

fn tells_a_failure(line: &str) -> bool {
    let lower = line.to_lowercase();
    LAST_WORDS.iter().any(|words| lower.starts_with(words))
        || LAST_WORDS_AT_END.iter().any(|words| lower.ends_with(words))
        || line
            .split_once(": ")
            .is_some_and(|(name, says)| is_exception(name) || is_of_program(name, says))
}

/// Tells whether a single word names an error type, such as `ModuleNotFoundError` or `java.io.IOException`.
/// `train_error` is a number.
fn is_exception(name: &str) -> bool {
    !name.contains(' ') && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Tells whether a program says an error after its name: `psql: ERROR:  relation "x" does not exist`.
fn is_of_program(name: &str, says: &str) -> bool {
    !name.contains(' ') && ["ERROR:", "FATAL:"].iter().any(|word| says.starts_with(word))
}

/// Finds the exit code in the text of an output.
#[must_use]
pub fn exit_code(output: &str) -> Option<i64> {
    let lines: Vec<&str> = output.lines().collect();
    let end_lines = lines.iter().take(EXIT_LINES).chain(lines.iter().rev().take(EXIT_LINES));
    end_lines.into_iter().find_map(|line| code_of(line))
}

/// Returns the exit code of a line that says nothing else.
fn code_of(line: &str) -> Option<i64> {
    let line = line.trim().to_ascii_lowercase();
    // `<shellId: 0 completed with exit code 2>`, `[Command exited with code 2]`
    let line = line.trim_matches(['<', '>', '[', ']']);
    let line =
        match line.strip_prefix("shellid: ").and_then(|rest| rest.split_once(" completed with ")) {
            Some((_, outcome)) => outcome,
            None => line,
        };
    // What pnpm writes in front of it.
    let line = line.strip_prefix("elifecycle").map_or(line, str::trim_start);
    let beginnings = [
        "exit code:",
        "exit code",
        "process exited with code",
        "command failed with exit code",
        "command exited with code",
        "exited with code",
    ];
    let rest = beginnings.iter().find_map(|beginning| line.strip_prefix(beginning))?;
    rest.trim().trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HOOK-1
    #[test]
    fn a_failure_is_recognised_by_its_last_lines() {
        for text in [
            "ls: cannot access '/no/such/place': No such file or directory\n",
            "  File \"a.py\", line 3\nModuleNotFoundError: No module named 'yaml'",
            "error: x\n3 warnings",
            "psql: ERROR:  relation \"x\" does not exist",
            "<--- JS stacktrace --->\nFATAL ERROR: Reached heap limit Allocation failed",
            "boom\nAborted (core dumped)",
        ] {
            assert!(reads_like_a_failure(text), "{text}");
        }
        for text in ["", "epoch 3\ntrain_error: 0.5", "failed: 0", "error: old\n1\n2\n3\n4\n5"] {
            assert!(!reads_like_a_failure(text), "{text}");
        }
        assert!(ends_like_a_failure("ok\nerror: x") && !ends_like_a_failure("error: x\nok"));
    }

    #[test]
    fn an_exit_code_stands_alone_at_either_end() {
        assert_eq!(exit_code("Exit code 2\nboom"), Some(2));
        assert_eq!(exit_code("b\nProcess exited with code 0"), Some(0));
        assert_eq!(exit_code("boom\n<shellId: 0 completed with exit code 2>"), Some(2));
        assert_eq!(exit_code("boom\n[Command exited with code 2]"), Some(2));
        assert_eq!(exit_code("boom\n ELIFECYCLE  Command failed with exit code 134."), Some(134));
        assert_eq!(exit_code("the exit code: 1"), None);
        let middle = format!("{}exit code: 1\n{}", "a\n".repeat(9), "b\n".repeat(9));
        assert_eq!(exit_code(&middle), None);
    }
}
