//! From a failure and its fix to the draft of a lesson. The rules are strict: a success that may be chance, or the
//! result of editing source code until it compiles, is no lesson. Not here: whether something failed, and whether the
//! lesson was drafted before (`clients::hooks`, `sessions`).

use crate::command_effects::{is_setting, may_help, moves_files, name_of};
use crate::command_failure::{CommandFailure, SessionStep};
use crate::commands::{command_goal, core_command, is_check, stands_for};
use crate::same_command::essence;
use crate::shell_set_up::{new_set_up, with_set_up, without_set_up};
use crate::signature;
use event::Draft;
use guard::text::{Layout, neutralise};

/// Most commands of a fix. Of more, nobody knows which one helped.
const FIX_COMMANDS_MAX: usize = 3;

/// Most files of a fix that are named.
const FIX_FILES_MAX: usize = 4;

/// Longest command of a lesson, in bytes.
const FIX_BYTES_MAX: usize = 600;

/// A lesson of a session.
#[derive(Debug)]
pub struct SessionLesson {
    /// The same key for the same failure with the same fix, in every repository.
    pub key: String,
    /// The draft to save.
    pub draft: Draft,
}

/// Finds the failure that a successful command has fixed: the latest one with the same goal.
#[must_use]
pub fn fixed_failure<'a>(
    failures: &'a [CommandFailure],
    worked: &str,
) -> Option<&'a CommandFailure> {
    let wanted = command_goal(worked)?;
    failures.iter().rev().find(|failure| *failure.goal == *wanted)
}

/// Drafts a lesson from a failure and the command that then succeeded, without its secrets, or nothing if it teaches nothing.
#[must_use]
pub fn draft_lesson(failure: &CommandFailure, worked: &str) -> Option<SessionLesson> {
    let fix = match is_check(&failure.goal) {
        true => CommandFix::of_check(failure, worked)?,
        false => CommandFix::from_commands(
            failure,
            &core_command(&failure.command),
            &core_command(worked),
        )?,
    };
    Some(lesson_from_fix(failure, fix))
}

/// Writes a failure and its fix down as a lesson.
#[must_use]
pub fn lesson_from_fix(failure: &CommandFailure, fix: CommandFix) -> SessionLesson {
    let failed = core_command(&failure.command);
    let key = signature::lesson_key(&failure.words, &failure.goal, &fix.identity());
    let first = failure.excerpt.lines().next().unwrap_or_default();
    let draft = Draft {
        event_type: Some("error".to_owned()),
        context: Some(format!("`{failed}` failed: {first}")),
        command: Some(fix.command()),
        lesson: Some(fix.lesson(&failed)),
        success_rate: Some("1/1".to_owned()),
        symptoms: vec![failure.excerpt.to_string()],
        files: fix.files,
        tags: vec![key.clone(), signature::failure_key(&failure.words)],
        ..Draft::default()
    };
    SessionLesson { key, draft }
}

/// What fixed a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandFix {
    /// The command that succeeded instead; none if the same command succeeded.
    pub instead: Option<String>,
    /// The commands that ran before it.
    pub before: Vec<String>,
    /// The files that were changed before it.
    pub files: Vec<String>,
}

/// What an error contains that comes from what a check lacked, and what the output of a failed test contains, in lower case.
const LACKED: [&str; 13] = [
    "not found",
    "no module named",
    "modulenotfounderror",
    "cannot find",
    "could not find",
    "unresolved import",
    "no such file",
    "permission denied",
    "not permitted",
    "[setup failed]",
    "unsupported",
    "requires",
    "unauthorized",
];
const FAILED_TESTS: [&str; 7] =
    ["--- fail", "(fail)", "assert", "expected", "tests failed", "test failed", "failures:"];

/// Tells whether a check says that a test failed, and not that something was lacking.
fn is_failed_test(failure: &CommandFailure) -> bool {
    let lower = failure.excerpt.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|words| lower.contains(words));
    has(&FAILED_TESTS) && !has(&LACKED)
}

impl CommandFix {
    /// Finds what a test, a linter or another check lacked. Running it again, other tests, and any changed file teach nothing.
    fn of_check(failure: &CommandFailure, worked: &str) -> Option<Self> {
        let is_certain = |step: &SessionStep| match step {
            SessionStep::Changed(_) => false,
            SessionStep::Ran(command) => {
                may_help(command, &failure.goal)
                    || command_goal(command).is_none_or(|goal| is_check(&goal))
            }
        };
        if is_failed_test(failure) || !failure.since.iter().all(is_certain) {
            return None;
        }
        let (failed, again) = (core_command(&failure.command), core_command(worked));
        if new_set_up(&failure.command, worked).is_empty() {
            let is_same = essence(&again) == essence(&neutralise(&failed, Layout::Line));
            return is_same.then(|| Self::from_commands(failure, &failed, &again))?;
        }
        let instead = neutralise(&with_set_up(worked, &again), Layout::Line);
        let is_same = without_set_up(&again) == without_set_up(&failed);
        (is_same && failure.since.is_empty() && instead.len() <= FIX_BYTES_MAX)
            .then(|| Self { instead: Some(instead), ..Self::default() })
    }

    fn from_commands(failure: &CommandFailure, failed: &str, worked: &str) -> Option<Self> {
        let worked = neutralise(worked, Layout::Line);
        if worked.len() > FIX_BYTES_MAX {
            return None;
        }
        // Changes to source code are in the history of the repository.
        if failure.since.iter().any(|step| is_work(step, &failure.goal)) {
            return None;
        }
        if essence(&worked) != essence(&neutralise(failed, Layout::Line)) {
            return stands_for(&worked, failed).then(|| Self {
                instead: Some(worked),
                before: Vec::new(),
                files: Vec::new(),
            });
        }
        let (mut before, mut files) = (Vec::new(), Vec::new());
        for step in &failure.since {
            match step {
                SessionStep::Ran(command) => {
                    let command = neutralise(&core_command(command), Layout::Line);
                    // Another try with the same goal is no help.
                    let is_help = may_help(&command, &failure.goal)
                        && command_goal(&command).as_deref() != Some(&*failure.goal);
                    if is_help && command.len() <= FIX_BYTES_MAX && !before.contains(&command) {
                        before.push(command);
                    }
                }
                SessionStep::Changed(file) => {
                    let name = name_of(file).to_owned();
                    if !files.contains(&name) {
                        files.push(name);
                    }
                }
            }
        }
        let spare = before.len().saturating_sub(FIX_COMMANDS_MAX);
        before.drain(..spare);
        files.truncate(FIX_FILES_MAX);
        let is_known = !before.is_empty() || !files.is_empty();
        is_known.then_some(Self { instead: None, before, files })
    }

    fn command(&self) -> String {
        self.instead.clone().unwrap_or_else(|| self.before.join(" && "))
    }

    /// Identifies this fix: its commands and files.
    #[must_use]
    pub fn identity(&self) -> String {
        format!("{}\n{}", self.command(), self.files.join("\n"))
    }

    fn lesson(&self, failed: &str) -> String {
        if let Some(instead) = &self.instead {
            return format!("`{instead}` worked where `{failed}` had failed.");
        }
        let ran =
            self.before.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", ");
        let changed = match self.files.as_slice() {
            [] => String::new(),
            files => format!("a change to {}", files.join(", ")),
        };
        let parts = [ran, changed].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        format!("`{failed}` worked after {}.", parts.join(" and "))
    }
}

/// Tells whether a step changed source code, so that it is unknown whether anything else helped.
fn is_work(step: &SessionStep, goal: &str) -> bool {
    match step {
        SessionStep::Changed(file) => !is_setting(file),
        SessionStep::Ran(command) => !goal.starts_with("git ") && moves_files(command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(command: &str, since: &[SessionStep]) -> CommandFailure {
        CommandFailure {
            at: 0,
            command: command.into(),
            goal: command_goal(command).unwrap().into(),
            excerpt: "Error: EACCES: permission denied, mkdir '/x'".into(),
            words: "Error EACCES permission denied mkdir".into(),
            fingerprint: 0,
            since: since.to_vec(),
        }
    }

    fn ran(command: &str) -> SessionStep {
        SessionStep::Ran(command.into())
    }

    fn changed(file: &str) -> SessionStep {
        SessionStep::Changed(file.into())
    }

    // S-HOOK-5
    #[test]
    fn another_command_with_the_same_goal_is_a_lesson() {
        let failed = failure("npm install", &[]);
        let lesson =
            draft_lesson(&failed, "cd /w && sudo chown -R $USER . && npm ci 2>&1 | tail -3")
                .unwrap();
        let draft = lesson.draft;
        assert_eq!(draft.command.as_deref(), Some("sudo chown -R $USER . && npm ci"));
        assert_eq!(
            draft.context.as_deref(),
            Some("`npm install` failed: Error: EACCES: permission denied, mkdir '/x'")
        );
        assert!(draft.lesson.unwrap().ends_with("worked where `npm install` had failed."));
        assert_eq!(draft.tags, [lesson.key, signature::failure_key(&failed.words)]);
    }

    // S-HOOK-5
    #[test]
    fn steps_before_a_repeated_command_are_the_lesson() {
        let steps = [
            ran("ls"),
            ran("apt-get install -y libssl-dev"),
            ran("git add -A"),
            changed("/w/Cargo.toml"),
            ran("cargo fmt"),
            ran("cargo build --release 2>&1 | tail -3"),
        ];
        let draft = draft_lesson(&failure("cargo build", &steps), "cargo build").unwrap().draft;
        assert_eq!(
            draft.lesson.as_deref(),
            Some(
                "`cargo build` worked after `apt-get install -y libssl-dev` and a change to Cargo.toml."
            )
        );
        assert_eq!(
            (draft.command.as_deref(), draft.files),
            (Some("apt-get install -y libssl-dev"), vec!["Cargo.toml".to_owned()])
        );
    }

    // S-HOOK-6
    #[test]
    fn chance_and_everyday_work_are_no_lessons() {
        for (failed, since, worked) in [
            ("npm install", vec![], "npm install"),
            ("GITHUB_TOKEN=[REDACTED:github-token] npm install", vec![], "npm install"),
            ("npm install", vec![], "CI=1 npm install --verbose"),
            ("npm install", vec![ran("npm config get proxy")], "npm install"),
            ("cargo test", vec![changed("src/lib.rs"), ran("cargo check")], "cargo test"),
            ("cargo test a", vec![], "cargo test b"),
            ("cargo test", vec![], "cargo test --lib"),
            ("docker run a", vec![], "docker run b"),
            ("cargo build", vec![ran("cat x"), ran("git commit -m x")], "cargo build"),
            ("cargo build", vec![changed("src/a.rs"), ran("cargo fmt")], "cargo build"),
            ("cargo build", vec![ran("cargo fmt")], "cargo build"),
            ("cargo build", vec![changed("src/a.rs"), ran("cargo clean")], "cargo build"),
            ("cargo build", vec![changed("src/a.rs")], "cargo build --release"),
            ("make", vec![ran("git pull"), ran("mkdir -p out")], "make"),
            ("npm test", vec![ran("npm ci"), ran("npm run build")], "npm test"),
            ("./run.sh", vec![ran("./gen.sh")], "./run.sh"),
            ("npm install", vec![ran("npm ci")], "npm install"),
            ("curl https://a.example", vec![], "curl https://b.example"),
        ] {
            assert!(
                draft_lesson(&failure(failed, &since), worked).is_none(),
                "{failed} -> {worked}"
            );
        }
    }

    // S-HOOK-5
    #[test]
    fn setup_steps_are_the_fix() {
        for (failed, step, expected) in [
            ("./build.sh", ran("touch .ready"), "`./build.sh` worked after `touch .ready`."),
            (
                "npm install",
                ran("npm config set proxy http://proxy.example:3128"),
                "`npm install` worked after `npm config set proxy http://proxy.example:3128`.",
            ),
            (
                "cargo build",
                ran("cargo update -p time --precise 0.3.35"),
                "`cargo build` worked after `cargo update -p time --precise 0.3.35`.",
            ),
            ("npm install", changed(".npmrc"), "`npm install` worked after a change to .npmrc."),
            ("git push", ran("git pull --rebase"), "`git push` worked after `git pull --rebase`."),
            ("pytest", ran("pip install -e ."), "`pytest` worked after `pip install -e .`."),
            ("npm test", ran("npm ci"), "`npm test` worked after `npm ci`."),
            ("go test ./...", ran("make deps"), "`go test ./...` worked after `make deps`."),
            ("make test", ran("make login"), "`make test` worked after `make login`."),
        ] {
            let lesson = draft_lesson(&failure(failed, &[step]), failed).unwrap();
            assert_eq!(lesson.draft.lesson.as_deref(), Some(expected));
        }
    }

    // S21 of the cases, and others of its kind.
    #[test]
    fn what_set_up_a_check_is_its_fix() {
        for (failed, worked, expected) in [
            ("pytest -q tests", "PYTHONPATH=src pytest -q tests", "PYTHONPATH=src pytest -q tests"),
            ("go test ./...", "GOCACHE=/t/gc go test ./...", "GOCACHE=/t/gc go test ./..."),
            ("cargo test", "cargo +nightly test", "cargo +nightly test"),
            ("mvn test", "cd /w && export A_HOME=/x && mvn test", "export A_HOME=/x && mvn test"),
        ] {
            let lesson = draft_lesson(&failure(failed, &[]), worked).unwrap();
            assert_eq!(lesson.draft.command.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_failed_test_and_another_test_teach_nothing() {
        let asserted = CommandFailure {
            excerpt: "AssertionError: 3 != 4 in test_cart".into(),
            ..failure("pytest", &[ran("pip install -e .")])
        };
        assert!(draft_lesson(&asserted, "pytest").is_none());
        for (since, worked) in [
            (vec![], "PYTHONPATH=src pytest -k other"),
            (vec![changed("pytest.ini"), ran("pip install x")], "pytest"),
            (vec![changed("src/a.py")], "PYTHONPATH=src pytest"),
            (vec![ran("./seed.sh"), ran("pip install x")], "pytest"),
            (vec![], "CI=1 pytest"),
        ] {
            assert!(draft_lesson(&failure("pytest", &since), worked).is_none(), "{worked}");
        }
    }

    #[test]
    fn only_failures_with_the_same_goal_are_fixed() {
        let failures = [failure("npm install", &[]), failure("cargo build", &[])];
        assert_eq!(
            fixed_failure(&failures, "npm ci").map(|failure| failure.goal.as_str()),
            Some("npm install")
        );
        assert!(
            fixed_failure(&failures, "npm test").is_none()
                && fixed_failure(&failures, "ls").is_none()
        );
    }
}
