//! The kind of a lesson for which none was given, guessed from its words. A caller that uses the guess says so. Not here: which kinds
//! there are (`kind`).

use super::{Draft, SuccessRate};

/// The kind that claims nothing about an error or a success.
const KIND_DEFAULT: &str = "pattern";

/// Words of a failure.
const FAILURES: &[&str] = &[
    "error",
    "errors",
    "fail",
    "fails",
    "failed",
    "failing",
    "failure",
    "crash",
    "crashes",
    "crashed",
    "panic",
    "panics",
    "panicked",
    "exception",
    "hangs",
    "hung",
    "broke",
    "breaks",
    "broken",
    "denied",
    "refused",
    "timeout",
    "bug",
    "segfault",
    "deadlock",
    "flaky",
];

/// Codes of the system and of package managers. A list, because other words in capitals begin alike: `EXPLAIN`, `EDITOR`.
const CODES: &[&str] = &[
    "EACCES",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "EAGAIN",
    "EBADENGINE",
    "EBADF",
    "EBUSY",
    "ECONNABORTED",
    "ECONNREFUSED",
    "ECONNRESET",
    "EEXIST",
    "EHOSTUNREACH",
    "EINTEGRITY",
    "EINTR",
    "EINVAL",
    "EIO",
    "EISDIR",
    "ELOOP",
    "EMFILE",
    "ENETUNREACH",
    "ENOENT",
    "ENOMEM",
    "ENOSPC",
    "ENOTDIR",
    "ENOTEMPTY",
    "ENOTFOUND",
    "EPERM",
    "EPIPE",
    "ERESOLVE",
    "EROFS",
    "ETIMEDOUT",
    "EXDEV",
];

/// The words that show the kind of a lesson.
struct Signs {
    kind: &'static str,
    /// Words that begin the lesson or one of its clauses.
    begins: &'static [&'static str],
    /// Words anywhere in the lesson.
    says: &'static [&'static str],
}

/// The signs of each kind; the first that fits counts.
const SIGNS: &[Signs] = &[
    Signs { kind: "task", begins: &["todo", "to do:", "remains:", "still to do"], says: &[] },
    Signs {
        kind: "decision",
        begins: &["we decided", "we chose", "decided to", "decision:", "chose "],
        says: &["chosen over"],
    },
    Signs {
        kind: "preference",
        begins: &["i prefer", "we prefer", "prefer ", "i like", "please "],
        says: &[],
    },
    Signs {
        kind: "convention",
        begins: &["always ", "never ", "every ", "convention:"],
        says: &["by convention", "must be named"],
    },
    Signs {
        kind: "procedure",
        begins: &["first ", "1. ", "steps:", "step 1", "to release"],
        says: &[],
    },
];

/// Bytes of a text that are looked at: its first sentences.
const LOOK_BYTES_MAX: usize = 600;

impl Draft {
    /// Guesses the kind: a failure by its symptoms or its words, a decision, a rule, steps, else a success or a pattern.
    #[must_use]
    pub fn guessed_kind(&self) -> &'static str {
        let lesson = begin(self.lesson.as_deref().unwrap_or_default());
        let context = begin(self.context.as_deref().unwrap_or_default());
        if !self.symptoms.is_empty() || tells_of_failure(context) {
            return "error";
        }
        let text = lesson.to_lowercase();
        let fits = |signs: &&Signs| {
            signs.begins.iter().any(|sign| begins_clause(&text, sign))
                || signs.says.iter().any(|sign| has_words(&text, sign))
        };
        if let Some(signs) = SIGNS.iter().find(fits) {
            return signs.kind;
        }
        if tells_of_failure(lesson) {
            return "error";
        }
        let rate = self.success_rate.as_deref().and_then(|rate| SuccessRate::parse(rate).ok());
        let worked = rate.is_some_and(|rate| rate.counts().0 > 0);
        if worked && self.command.is_some() { "success" } else { KIND_DEFAULT }
    }
}

fn begin(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LOOK_BYTES_MAX)).unwrap_or_default()
}

/// A word of failure, or a code such as `EACCES` or `E0433`.
fn tells_of_failure(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| FAILURES.contains(&word.to_lowercase().as_str()) || is_code(word))
}

fn is_code(word: &str) -> bool {
    let number = word.strip_prefix('E').unwrap_or_default();
    CODES.contains(&word) || number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells whether a text has these words.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(place, _)| {
        let before = text.get(..place).and_then(|before| before.chars().next_back());
        let after = text.get(place + words.len()..).and_then(|after| after.chars().next());
        [before, after].into_iter().flatten().all(|letter| !letter.is_alphanumeric())
    })
}

/// Tells whether a clause of a text begins with a sign.
fn begins_clause(text: &str, sign: &str) -> bool {
    let clauses = text.split(['.', ';', ':', '\n', ',']).map(str::trim_start);
    // A sign with a colon or a point stands at the beginning of all.
    text.trim_start().starts_with(sign)
        || clauses.into_iter().any(|clause| clause.starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-ADD-1
    #[test]
    fn the_kind_is_guessed_from_the_words() {
        let lesson = |text: &str| Draft { lesson: Some(text.to_owned()), ..Draft::default() };
        for (text, kind) in [
            ("npm install failed with EACCES; chown first", "error"),
            ("the build hangs without a tty", "error"),
            ("npm install says EACCES: chown first", "error"),
            ("the state is_FAILED", "error"),
            ("E0433 wants the crate in the manifest", "error"),
            ("set EDITOR, and EXPLAIN the plan of E12345", "pattern"),
            ("sqlite was chosen over postgres, which is one thing more", "decision"),
            ("the colour chosen overlaps the text", "pattern"),
            ("a file of tests is named after its subject by convention", "convention"),
            ("a test must be named after its subject", "convention"),
            ("We decided to keep sqlite, because a server is one thing more", "decision"),
            ("Always run the migrations first", "convention"),
            ("never rebase a shared branch; it fails others", "convention"),
            ("I prefer short commits", "preference"),
            ("TODO: raise the limit", "task"),
            ("First tag, then push", "procedure"),
            ("1. tag 2. push", "procedure"),
            ("run the migrations before the tests", "pattern"),
            ("failover is done by hand", "pattern"),
            ("", "pattern"),
        ] {
            assert_eq!(lesson(text).guessed_kind(), kind, "{text}");
        }
        let symptoms = vec!["E0433".to_owned()];
        assert_eq!(Draft { symptoms, ..lesson("use the crate") }.guessed_kind(), "error");
        let (command, rate) = (Some("npm ci".to_owned()), Some("9/10".to_owned()));
        let worked = Draft { command, success_rate: rate, ..lesson("use ci") };
        assert_eq!(worked.guessed_kind(), "success");
        for rate in [" 0 / 9", "00/3", "often"] {
            let rate = Some(rate.to_owned());
            let never = Draft { success_rate: rate.clone(), ..worked.clone() };
            assert_eq!(never.guessed_kind(), "pattern", "{rate:?}");
        }
    }
}
