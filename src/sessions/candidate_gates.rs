//! Whether a pair of a failed command and what worked is plausible. Measured on labelled pairs of real sessions: without
//! these gates about half of the pairs teach nothing. Not here: finding the pairs (`candidates`).

use std::collections::BTreeSet;
use std::fmt;

use learning::command_effects::{changed_things, is_path, is_setting};
use learning::commands::{directory, is_check, proves_success, working_parts};
use learning::shell_set_up::{new_set_up, without_set_up};

use super::command_pair::{CandidateClass, CommandPair};

/// Shortest output that can say what was wrong, in characters.
const ERROR_CHARACTERS_MIN: usize = 16;

/// Least share of words that both commands have, of all their words, in percent. Below it, another form is another command.
const SIMILARITY_PERCENT_MIN: usize = 40;

/// What an error contains that speaks of how a command is used, in lower case.
const USAGE: &[&str] = &[
    "unknown flag",
    "unknown option",
    "unknown shorthand",
    "unknown field",
    "unknown json field",
    "unknown command",
    "unknown subcommand",
    "unknown argument",
    "unknown target",
    "unrecognized",
    "unrecognised",
    "not recognized",
    "unexpected argument",
    "invalid option",
    "invalid argument",
    "illegal option",
    "illegal",
    "usage:",
    "cannot be found",
    "command not found",
    "no such file",
    "no such option",
    "no matches found",
    "requires",
    "required",
    "must be",
    "must specify",
    "format error",
    "deprecated",
    "to fix",
    "valid values",
    "none of the others can be",
    "did you mean",
    "--help",
    "use --",
    "(use ",
    "missing script",
    "no go files",
];

/// What the output of a failing test contains for certain, and what it may contain, in lower case.
const FAILED_TESTS: &[&str] = &["--- fail", "(fail)", "tests failed", "assertionerror"];
const TEST_FAILURES: &[&str] = &[" failed", "failing", "expected:", "fail:"];

/// What an error contains that passes by itself or lies outside of the repository, in lower case.
const PASSING: &[&str] = &[
    "http 401",
    "bad credentials",
    "rate limit",
    "http 50",
    "could not resolve host",
    "connection refused",
    "connection reset",
    "network is unreachable",
    "timed out",
];

/// What speaks for a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateSignal {
    /// The error says how the command must be used.
    SpeaksOfUsage,
    /// Both commands share this percentage of their words.
    Similar(usize),
    /// The same command worked, after another one.
    SameCommand,
}

/// What speaks against a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateRefusal {
    /// The output does not say what was wrong.
    NoErrorText,
    /// The commands have little in common, and the error does not speak of their use.
    Unlike,
    /// The error passes by itself, or comes from the network.
    Passing,
    /// A test failed, and then fewer or other tests ran.
    Narrower,
    /// What worked is a part of what failed.
    Part,
    /// The program was asked for another task.
    OtherTask,
    /// What failed was itself a change to a source file, such as `sed -i`.
    Programming,
    /// It ran in another directory, which the commands do not tell.
    OtherPlace,
    /// A pipe hides how the command ended.
    HiddenEnd,
    /// A check only reported what is wrong, and then the same program changed or showed it.
    OnlyReported,
}

impl fmt::Display for CandidateSignal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SpeaksOfUsage => out.write_str("the error says how the command is used"),
            Self::Similar(percent) => write!(out, "the commands share {percent}% of their words"),
            Self::SameCommand => out.write_str("the same command worked after another one"),
        }
    }
}

impl fmt::Display for CandidateRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoErrorText => "the output does not say what was wrong",
            Self::Unlike => "the commands have little in common",
            Self::Passing => "the error passes by itself",
            Self::Narrower => "a test failed, and then other tests ran",
            Self::Part => "what worked is a part of what failed",
            Self::OtherTask => "the program was asked for something else",
            Self::Programming => "the command that failed changes source files",
            Self::OtherPlace => "it worked in another directory",
            Self::HiddenEnd => "a pipe hides how the command ended",
            Self::OnlyReported => "the check only reported what it can change",
        })
    }
}

/// What speaks for and against a pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairGates {
    /// What speaks for it.
    pub signals: Vec<CandidateSignal>,
    /// What speaks against it. One is enough.
    pub refusals: Vec<CandidateRefusal>,
}

impl PairGates {
    /// Examines a pair.
    #[must_use]
    pub fn examine(pair: &CommandPair) -> Self {
        let mut gates = Self::default();
        let lower = pair.output.to_lowercase();
        let is_usage = USAGE.iter().any(|words| lower.contains(words));
        let similarity = likeness_percent(pair);
        // The same command with another environment is no other command.
        let is_same = pair.class == CandidateClass::StepBetween
            || is_prepared(pair)
            || pair.is_moved_inside();
        if is_usage {
            gates.signals.push(CandidateSignal::SpeaksOfUsage);
        }
        if is_same {
            gates.signals.push(CandidateSignal::SameCommand);
        } else if similarity >= SIMILARITY_PERCENT_MIN {
            gates.signals.push(CandidateSignal::Similar(similarity));
        }
        let mut refuse = |is_so: bool, why| {
            if is_so {
                gates.refusals.push(why);
            }
        };
        refuse(!has_error_text(&pair.output), CandidateRefusal::NoErrorText);
        refuse(
            !is_same && !is_usage && similarity < SIMILARITY_PERCENT_MIN,
            CandidateRefusal::Unlike,
        );
        let is_passing = PASSING.iter().any(|words| lower.contains(words));
        refuse(!is_same && is_passing, CandidateRefusal::Passing);
        refuse(!is_same && is_narrower(pair, &lower, is_usage), CandidateRefusal::Narrower);
        refuse(!is_same && is_part(pair), CandidateRefusal::Part);
        refuse(!is_same && is_other_task(pair), CandidateRefusal::OtherTask);
        refuse(!is_same && !is_usage && only_reported(pair), CandidateRefusal::OnlyReported);
        refuse(!is_same && edits(&pair.failed.line), CandidateRefusal::Programming);
        refuse(!is_same && is_elsewhere(pair), CandidateRefusal::OtherPlace);
        refuse(!proves_success(&pair.worked.line), CandidateRefusal::HiddenEnd);
        gates
    }

    /// Tells whether the pair is worth a person's time.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.refusals.is_empty()
    }
}

fn has_error_text(output: &str) -> bool {
    let error_lines =
        output.lines().filter(|line| !line.trim().to_lowercase().starts_with("exit code"));
    error_lines.map(|line| line.trim().chars().count()).sum::<usize>() >= ERROR_CHARACTERS_MIN
}

/// Returns how alike the two commands are: whole, or the two parts of them that are most alike without being equal.
fn likeness_percent(pair: &CommandPair) -> usize {
    let parts = unequal_parts(pair).map(|(left, right)| similarity_percent(&left, &right));
    parts.max().unwrap_or(0).max(similarity_percent(&pair.failed.core, &pair.worked.core))
}

/// Pairs each part of what failed with each part of what worked that begins with the same program and is not equal.
fn unequal_parts(pair: &CommandPair) -> impl Iterator<Item = (String, String)> {
    let (failed, worked) = (working_parts(&pair.failed.core), working_parts(&pair.worked.core));
    let worked: Vec<_> = worked.into_iter().filter(|part| !failed.contains(part)).collect();
    failed.into_iter().flat_map(move |left| {
        let others = worked.clone().into_iter();
        others.map(move |right| (left.clone(), right))
    })
}

/// Returns the share of the words of two commands that both have, in percent (Jaccard's index).
#[must_use]
pub fn similarity_percent(left: &str, right: &str) -> usize {
    let words = |command: &str| -> BTreeSet<String> {
        let plain = |word: &str| word.trim_matches(['"', '\'']).to_owned();
        command.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect()
    };
    let (left, right) = (words(left), words(right));
    let all = left.union(&right).count();
    left.intersection(&right).count() * 100 / all.max(1)
}

/// Tells whether a test failed, and then a check ran with other arguments.
fn is_narrower(pair: &CommandPair, output: &str, is_usage: bool) -> bool {
    let has = |marks: &[&str]| marks.iter().any(|words| output.contains(words));
    let is_test = pair.failed.tasks.iter().any(|task| is_check(task));
    is_test && (has(FAILED_TESTS) || !is_usage && has(TEST_FAILURES))
}

/// Tells whether every command that worked was one of those that failed.
fn is_part(pair: &CommandPair) -> bool {
    let failed = working_parts(&pair.failed.core);
    working_parts(&pair.worked.core).iter().all(|part| failed.contains(part))
}

/// Tells whether the programs were asked for something else: `x remove` and then `x list`, but not `lint` and then
/// `lint:fix`.
fn is_other_task(pair: &CommandPair) -> bool {
    let gives_up = |part: &str| part.split(' ').any(|word| GIVING_UP.contains(&word));
    !unequal_parts(pair)
        .any(|(failed, worked)| is_same_task(&failed, &worked) && !gives_up(&worked))
}

fn is_same_task(failed: &str, worked: &str) -> bool {
    let (failed, worked) = (task_words(failed), task_words(worked));
    let is_like =
        |(left, right): (&&str, &&str)| left.starts_with(*right) || right.starts_with(*left);
    failed.first().is_some_and(|program| worked.first() == Some(program))
        && failed.iter().zip(&worked).all(is_like)
}

/// Options with which a program gives up what it began, or leaves its checks out.
const GIVING_UP: &[&str] = &["--abort", "--quit", "--skip", "--no-verify"];

/// Options of a check that only reports, and those that change or show what it reported.
const REPORTING: &[&str] = &["--check", "--check-only", "--list-different", "--dry-run", "-l"];
const APPLYING: &[&str] = &["--diff", "--write", "--fix", "-w", "-d", "-i", "--in-place"];

/// Tells whether a check reported something, and then the same program changed or showed it.
fn only_reported(pair: &CommandPair) -> bool {
    unequal_parts(pair).any(|(failed, worked)| {
        let has =
            |part: &str, options: &[&str]| part.split(' ').any(|word| options.contains(&word));
        has(&failed, REPORTING)
            && !has(&worked, REPORTING)
            && (has(&worked, APPLYING) || is_same_but(&failed, &worked, REPORTING))
    })
}

/// Tells whether two commands differ in these options alone.
fn is_same_but(failed: &str, worked: &str, options: &[&str]) -> bool {
    failed.split(' ').filter(|word| !options.contains(word)).eq(worked.split(' '))
}

/// What the output of a failure contains that comes from what a machine has or allows, in lower case.
const OF_ENVIRONMENT: &[&str] = &[
    "command not found",
    ": not found",
    "no such file or directory (os error 2)",
    "unsupported_engine",
    "unsupported engine",
    "unsupported node",
    "requires node",
    "node version",
    "python version",
    "rustc version",
    "permission denied",
    "operation not permitted",
    "eacces",
    "eperm",
    "no module named",
    "modulenotfounderror",
    "cannot find module",
    "cannot find package",
    "module not found",
    "no such module",
    "exit code 127",
    "exit code 126",
    "exited with 127",
];

/// Tells whether a failure comes from what the machine has or allows: a missing program, a wrong version, a missing module, a
/// permission.
#[must_use]
pub(super) fn is_of_environment(output: &str) -> bool {
    let lower = output.to_lowercase();
    OF_ENVIRONMENT.iter().any(|words| lower.contains(words))
}

fn edits(command: &str) -> bool {
    changed_things(command).iter().any(|file| is_path(file) && !is_setting(file))
}

fn is_elsewhere(pair: &CommandPair) -> bool {
    let place = directory(&pair.worked.line);
    place.is_some() && place != directory(&pair.failed.line)
}

/// Returns the program and the plain words behind it, at most two: `gh pr view`.
fn task_words(part: &str) -> Vec<&str> {
    let is_plain = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || "-:_".contains(c));
    let mut words = part.split(' ').skip_while(|word| is_variable(word));
    let program = words.next();
    let named = words.take_while(|word| is_plain(word) && !word.starts_with('-')).take(2);
    program.into_iter().chain(named).collect()
}

/// Tells whether the command that failed worked once the shell was prepared for it.
fn is_prepared(pair: &CommandPair) -> bool {
    let last = |command: &str| working_parts(command).pop().map(|part| without_set_up(&part));
    !new_set_up(&pair.failed.line, &pair.worked.line).is_empty()
        && last(&pair.failed.core) == last(&pair.worked.core)
}

fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::command_pairs;
    use crate::work_trail::made_up::{exchange, failed, ran};

    const LONG: &str = "error: something is wrong here";

    fn gates(line: &str, output: &str, worked: &str) -> PairGates {
        let pairs = command_pairs(&[exchange(&[failed(line, output), ran(worked)])]);
        let [pair] = pairs.as_slice() else { panic!("{pairs:?}") };
        PairGates::examine(pair)
    }

    #[test]
    fn usage_or_likeness_speaks_for_a_pair() {
        for (line, output, worked) in [
            ("gofmt -l ./a/...", "stat ./a/...: no such file or directory", "gofmt -d src"),
            ("npm run lint 2>&1", LONG, "npm run lint:fix 2>&1"),
            ("npm test && npm run lint", LONG, "npm run lint:fix"),
            ("gh api x?a=1 --jq .b", LONG, "gh api 'x?a=1' --jq .b"),
        ] {
            let gates = gates(line, output, worked);
            assert!(gates.passes() && !gates.signals.is_empty(), "{line}: {gates:?}");
        }
    }

    #[test]
    fn each_refusal_has_its_reason() {
        for (line, output, worked, why) in [
            ("npm run lint", "Exit code 1\nno", "npm run lint:fix", CandidateRefusal::NoErrorText),
            ("terraform plan -a b c d", LONG, "terraform plan -e f g h", CandidateRefusal::Unlike),
            (
                "go test ./a -run One",
                "--- FAIL: One (0.1s)\nexpected 1",
                "go test ./a -run Two",
                CandidateRefusal::Narrower,
            ),
            ("git checkout main && git pull", LONG, "git checkout main", CandidateRefusal::Part),
            ("worktool remove a -f", LONG, "worktool list", CandidateRefusal::OtherTask),
            ("git rebase main", LONG, "git rebase --abort", CandidateRefusal::OtherTask),
            (
                "gh pr view 8 -q a",
                "HTTP 401: Bad credentials",
                "gh pr view 9 -q a",
                CandidateRefusal::Passing,
            ),
            (
                "sed -i s/a/b/ src/a.rs",
                LONG,
                "sed -i s/a/c/ src/a.rs",
                CandidateRefusal::Programming,
            ),
            (
                "make x && make y -j",
                LONG,
                "cd /b && make x && make y -j8",
                CandidateRefusal::OtherPlace,
            ),
            ("npm run lint", LONG, "npm run lint:fix | head -3", CandidateRefusal::HiddenEnd),
            ("black --check src", LONG, "black --diff src", CandidateRefusal::OnlyReported),
            ("prettier --check .", LONG, "prettier --write .", CandidateRefusal::OnlyReported),
            ("black --check src", LONG, "black src", CandidateRefusal::OnlyReported),
        ] {
            let gates = gates(line, output, worked);
            assert!(gates.refusals.contains(&why), "{worked}: {gates:?}");
            assert!(!why.to_string().is_empty() && !gates.passes());
        }
    }

    // S21 of the cases: no test ran, and only a variable was added.
    #[test]
    fn a_test_with_another_environment_is_no_other_test() {
        let output = "open /x/go-build/0a: operation not permitted\nFAIL: ./a [setup failed]";
        let gates = gates("go test ./...", output, "GOCACHE=/t/gc go test ./...");
        assert!(gates.passes(), "{gates:?}");
    }

    #[test]
    fn likeness_is_the_share_of_common_words() {
        assert_eq!(similarity_percent("a b c", "a b 'c'"), 100);
        assert_eq!(similarity_percent("a b c d", "a b e"), 40);
        assert_eq!(similarity_percent("", ""), 0);
    }
}
