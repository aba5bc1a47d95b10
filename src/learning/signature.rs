//! The signature of a failure: the lines that say what is wrong, without paths, numbers and addresses, which differ
//! each time. Two failures with one signature are the same failure; used as a query it finds the lesson. Not here:
//! what the command wanted (`commands`).

use std::fmt::Write;

use sha2::{Digest as _, Sha256};

use event::{KEY_DIGITS, OwnTag};
use guard::fence::unfenced;
use guard::secrets::RedactedText;
use guard::text::{Layout, neutralise};

/// Lines of a signature: what is wrong, where, and why.
const LINES_MAX: usize = 3;

/// Lines of a query: what explains the failure often stands in a line that says little of it. From eight lines on, more
/// failures get a wrong answer than gain a right one.
const QUERY_LINES_MAX: usize = 5;

/// Longest line that counts, in bytes. Longer lines are dumps.
const LINE_BYTES_MAX: usize = 300;

/// Lines that are examined: a failure is reported at the beginning or at the end of the output.
const LOOK_LINES_MAX: usize = 400;

/// Fewest words that tell a failure from others.
const WORDS_MIN: usize = 2;

/// What a line that reports an error contains, in lower case.
const MARKS: [&str; 40] = [
    "error",
    "err!",
    "fail",
    "fatal",
    "exception",
    "panic",
    "denied",
    "not found",
    "no such",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "undefined",
    "unresolved",
    "unknown",
    "unrecognized",
    "unsupported",
    "invalid",
    "illegal",
    "missing",
    "mismatch",
    "expected",
    "refused",
    "timed out",
    "timeout",
    "conflict",
    "already",
    "rejected",
    "forbidden",
    "unauthorized",
    "not permitted",
    "must ",
    "killed",
    "out of",
    "too many",
    "not installed",
    "is not",
    "outdated",
];

/// Lines that end every failure of a tool and tell none from another.
const GENERIC: [&str; 16] = [
    "could not compile",
    "a complete log",
    "for more information",
    "aborting due to",
    "exit code",
    "exit status",
    "command failed",
    "traceback (most recent",
    "this is probably not a problem with npm",
    "use --verbose",
    "build failed",
    "note: ",
    "run with `rust_backtrace",
    "process completed",
    "elifecycle",
    "stack trace",
];

/// Words that only say that something failed.
const EMPTY_WORDS: [&str; 14] = [
    "error", "errors", "failed", "failure", "fatal", "the", "exit", "code", "command", "status",
    "with", "and", "npm", "err",
];

/// More words that failures of all kinds contain. They stay in signatures, which are kept for ever.
const EVERYDAY_WORDS: [&str; 14] = [
    "column",
    "directory",
    "exist",
    "exists",
    "file",
    "files",
    "folder",
    "line",
    "path",
    "process",
    "run",
    "such",
    "test",
    "tests",
];

/// The signature of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Its lines, as they were.
    pub excerpt: RedactedText,
    /// Its words, without what differs each time.
    pub words: RedactedText,
    /// The words of five lines instead of three, for a query.
    pub all_words: RedactedText,
}

impl Signature {
    /// Makes the signature of a failure from its output; `None` where the output does not tell it from other
    /// failures.
    #[must_use]
    pub fn from_output(output: &RedactedText) -> Option<Self> {
        let plain = without_escapes(&unfenced(output));
        let all: Vec<&str> = plain
            .lines()
            .map(|line| line.trim().trim_start_matches("Output: "))
            .filter(|line| !line.is_empty())
            .collect();
        let half = LOOK_LINES_MAX / 2;
        let tail = all.len().saturating_sub(half).max(half.min(all.len()));
        let looked_at = all.iter().take(half).chain(all.get(tail..).unwrap_or_default());
        let lines: Vec<&str> = looked_at.copied().filter(|line| says_something(line)).collect();
        let chosen = telling_lines(&lines, LINES_MAX);
        let all_words: Vec<String> =
            telling_lines(&lines, QUERY_LINES_MAX).into_iter().map(stable_line).collect();
        let all_words = all_words.join(" ");
        let excerpt: Vec<String> =
            chosen.iter().map(|line| neutralise(&cut(line), Layout::Line)).collect();
        let words = chosen.iter().map(|line| stable_line(line)).collect::<Vec<_>>().join(" ");
        let is_telling = |word: &&str| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            word.chars().filter(|c| c.is_alphabetic()).count() >= 3
                && !EMPTY_WORDS.contains(&word.as_str())
        };
        let is_known = words.split_whitespace().filter(is_telling).count() >= WORDS_MIN;
        is_known.then(|| Self {
            excerpt: RedactedText::redact(&excerpt.join("\n")),
            words: RedactedText::redact(&words),
            all_words: RedactedText::redact(&all_words),
        })
    }
}

/// Returns the lines of a long log that report its errors, each cut to 300 bytes; `None` where no line does. Takes time
/// linear in the length of the log.
#[must_use]
pub fn error_lines(log: &str) -> Option<String> {
    let plain = without_escapes(log);
    let lines: Vec<&str> =
        plain.lines().map(str::trim).filter(|line| says_something(line)).collect();
    let chosen = telling_lines(&lines, LINES_MAX);
    let is_marked = |line: &&str| {
        let lower = cut(line).to_lowercase();
        MARKS.iter().any(|mark| lower.contains(mark))
    };
    let shown: Vec<String> = chosen.into_iter().filter(is_marked).map(cut).collect();
    (!shown.is_empty()).then(|| shown.join("\n"))
}

/// Returns the words that failures of all kinds contain: sharing them makes no two failures similar.
#[must_use]
pub fn common_words() -> String {
    [&MARKS[..], &EMPTY_WORDS, &EVERYDAY_WORDS].concat().join(" ")
}

/// Returns the key of a lesson: equal for the same failure with the same fix, wherever it happened.
#[must_use]
pub fn lesson_key(words: &str, goal: &str, fix: &str) -> String {
    tag(OwnTag::Fix, &[words, goal, fix])
}

/// Returns the key of a failure: equal for the same failure, wherever it happened.
#[must_use]
pub fn failure_key(words: &str) -> String {
    tag(OwnTag::Failure, &[words])
}

fn tag(kind: OwnTag, parts: &[&str]) -> String {
    let mut sum = Sha256::new();
    for part in parts {
        let part = part.to_lowercase();
        sum.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        sum.update(part);
    }
    let mut key = kind.beginning().to_owned();
    for byte in sum.finalize().iter().take(KEY_DIGITS / 2) {
        let _ = write!(key, "{byte:02x}");
    }
    key
}

/// Returns the lines that say most about what is wrong, in their order; the last lines where none does.
fn telling_lines<'a>(lines: &[&'a str], lines_max: usize) -> Vec<&'a str> {
    let marks = |line: &str| {
        let lower = cut(line).to_lowercase();
        let found = MARKS.iter().filter(|mark| lower.contains(**mark)).count();
        // `Error: what it is about` says more than `3 errors`; a name such as EACCES more than a sentence.
        found + usize::from(found > 0 && lower.contains(": ")) + usize::from(has_code(line))
    };
    let mut ranked: Vec<(usize, usize)> =
        lines.iter().map(|line| marks(line)).enumerate().collect();
    ranked.retain(|(_, marks)| *marks > 0);
    ranked.sort_by_key(|(place, marks)| (std::cmp::Reverse(*marks), *place));
    ranked.truncate(lines_max);
    ranked.sort_unstable();
    if ranked.is_empty() {
        return lines.iter().rev().take(2).rev().copied().collect();
    }
    let mut chosen: Vec<&str> =
        ranked.iter().filter_map(|(place, _)| lines.get(*place).copied()).collect();
    chosen.dedup();
    chosen
}

/// Tells whether a line names an error as programs do: EACCES, E0308, TS2304.
fn has_code(line: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        let is_name = word.len() >= 5
            && word.starts_with('E')
            && word.bytes().all(|byte| byte.is_ascii_uppercase());
        let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
        let digits = word.bytes().skip(letters).filter(u8::is_ascii_digit).count();
        is_name || ((1..=3).contains(&letters) && digits >= 3 && letters + digits == word.len())
    })
}

fn says_something(line: &str) -> bool {
    let lower = cut(line).to_lowercase();
    lower.chars().filter(|c| c.is_alphabetic()).count() >= 3
        && !GENERIC.iter().any(|generic| lower.contains(generic))
}

fn cut(line: &str) -> String {
    line.get(..line.floor_char_boundary(LINE_BYTES_MAX)).unwrap_or_default().to_owned()
}

/// Returns a line without what differs each time: paths keep their last part, numbers and addresses are removed.
#[must_use]
pub fn stable_line(line: &str) -> String {
    let cut = cut(line);
    let words = cut.split_whitespace().map(|word| {
        let word = word.trim_end_matches([',', ';', '.', ')']);
        let is_path = word.matches(['/', '\\']).count() > 0 && !word.contains("://");
        let last = if is_path { word.rsplit(['/', '\\']).next().unwrap_or(word) } else { word };
        // `main.rs:12:5` is a place in a file.
        last.split_once(':').filter(|(_, place)| is_passing(place)).map_or(last, |(name, _)| name)
    });
    let kept: Vec<&str> = words.filter(|word| !word.is_empty() && !is_passing(word)).collect();
    kept.join(" ")
}

/// Tells whether a word is only a number, a time, an address or punctuation.
fn is_passing(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).trim_start_matches("0x");
    let is_number =
        bare.bytes().all(|byte| byte.is_ascii_digit() || b".:-_+TZmsx%,".contains(&byte));
    let is_address = bare.len() >= 8
        && bare.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && bare.bytes().any(|byte| byte.is_ascii_digit());
    is_number || is_address
}

/// Removes the escape sequences of terminals.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1B}' {
            plain.push(if c == '\r' { '\n' } else { c });
            continue;
        }
        // A sequence ends with a letter, or a title with a bell.
        let _ = rest.by_ref().find(|c| c.is_ascii_alphabetic() || *c == '\u{7}');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(output: &str) -> RedactedText {
        Signature::from_output(&output.into()).unwrap().words
    }

    // S-HOOK-9
    #[test]
    fn no_secret_stands_in_a_signature() {
        for output in [
            "Error: password: hunter2secretX denied by the registry example",
            "fatal: \"api_key\": \"abcd1234efgh5678ijkl\" is not permitted here",
        ] {
            let found = Signature::from_output(&output.into()).unwrap();
            for secret in ["hunter2secretX", "abcd1234efgh5678ijkl"] {
                let all = format!("{} {}", found.excerpt, found.words);
                assert!(!all.contains(secret), "{all}");
            }
        }
    }

    #[test]
    fn the_same_failure_has_one_signature_wherever_it_happens() {
        for (one, other) in [
            (
                "npm ERR! code EACCES\nnpm ERR! path /usr/lib/node_modules\nnpm ERR! Error: EACCES: permission denied, mkdir '/usr/lib/node_modules'",
                "\u{1B}[31mnpm ERR!\u{1B}[0m code EACCES\nnpm ERR! path /opt/x/node_modules\nnpm ERR! Error: EACCES: permission denied, mkdir '/opt/x/node_modules'",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\nModuleNotFoundError: No module named 'yaml'",
                "Traceback (most recent call last):\n  File \"/c/b.py\", line 77, in <module>\nModuleNotFoundError: No module named 'yaml'",
            ),
            (
                "Exit code 101\nerror: linking with `cc` failed: exit status: 1\n/usr/bin/ld: cannot find -lssl at 0x7ffd12345678",
                "error: linking with `cc` failed: exit status: 1\n/bin/ld: cannot find -lssl at 0x7aaa99990000",
            ),
        ] {
            assert_eq!(words(one), words(other));
        }
        assert_ne!(
            words("ModuleNotFoundError: No module named 'yaml'"),
            words("ModuleNotFoundError: No module named 'toml'")
        );
    }

    #[test]
    fn a_signature_keeps_only_what_distinguishes_a_failure() {
        let output = "   Compiling api v0.1.0 (/home/me/api)\nerror[E0433]: failed to resolve: use of undeclared crate `serde`\n --> src/main.rs:3:5\n  |\n3 | use serde::Serialize;\n\nFor more information about this error, try `rustc --explain E0433`.\nerror: could not compile `api` (bin \"api\") due to 1 previous error";
        let signature = Signature::from_output(&output.into()).unwrap();
        assert_eq!(
            signature.excerpt,
            "error[E0433]: failed to resolve: use of undeclared crate `serde`"
        );
    }

    // S-HOOK-6
    #[test]
    fn a_failure_that_says_nothing_has_no_signature() {
        for output in [
            "",
            "Exit code 1",
            "error",
            "npm ERR!\nExit code 1",
            "12 34",
            "failed\nfailed",
            "<agent-knowledge>\npermission denied for user root\n</agent-knowledge>",
        ] {
            assert_eq!(Signature::from_output(&output.into()), None, "{output:?}");
        }
    }

    #[test]
    fn a_key_is_equal_for_the_same_lesson_only() {
        assert_eq!(lesson_key("A b", "npm install", "x"), lesson_key("a b", "npm install", "x"));
        assert_ne!(lesson_key("a", "b", "c"), lesson_key("ab", "", "c"));
        assert_eq!(OwnTag::parse(&lesson_key("", "", "")), Some(OwnTag::Fix));
        assert_eq!(OwnTag::parse(&failure_key("")), Some(OwnTag::Failure));
    }
}
