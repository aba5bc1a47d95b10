//! Failures of past sessions that were fixed: which error, of which command, and what made it work. A row for each is
//! computed at import; a failure is answered from the rows of its repository that bear one of its signatures. Not here:
//! where rows are kept, how an answer is worded, whether a fix is a lesson (`candidates`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use guard::secrets::RedactedText;
use guard::text::{Layout, neutralise};
use learning::command_effects::{is_path, is_setting, may_help, name_of};
use learning::commands::{directory, is_check};
use learning::shell_set_up::new_set_up;

use super::candidate_gates::{PairGates, is_of_environment};
use super::command_pair::{CandidateClass, CommandPair};
use super::failure_signs::FailureSigns;
use super::work_trail::{TrailCommand, TrailEnd, TrailKind, TrailStep, work_trail};
use transcripts::exchange::Exchange;

/// Most steps between a failure and its fix. Farther apart, something else fixed it.
const STEPS_MAX: usize = 60;

/// Most commands that are named of what helped, and most files. The last ones count.
const COMMANDS_MAX: usize = 3;
const FILES_MAX: usize = 4;

/// Longest command, in bytes.
const COMMAND_BYTES_MAX: usize = 400;

/// Most fixed failures of one session.
const FIXED_MAX: usize = 200;

/// Sessions in which the same commands must have fixed an error that says little.
const GENERAL_SESSIONS_MIN: usize = 2;

/// Tasks that pass work on, or only tell something.
const PASSING_ON: &[&str] =
    &["git push", "git commit", "git add", "git fetch", "gh pr", "gh run", "gh issue"];

/// A failure that was fixed in the same session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedFailure {
    /// What it is recognised by.
    pub signs: FailureSigns,
    /// The command that failed.
    pub command: String,
    /// What made it work.
    #[serde(rename = "mended_by")]
    pub fixed_by: FailureFix,
    /// The id of the session.
    pub session: String,
    /// The exchange in which it failed.
    pub ordinal: u32,
    /// Milliseconds since 1970 in UTC, if known.
    pub at_ms: Option<i64>,
}

/// What fixed a failure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FailureFix {
    /// These commands, the last of which worked.
    Commands(Vec<String>),
    /// Changes to these files, by their names, after which the command worked.
    Edits(Vec<String>),
}

/// A fix that worked before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFix<'a> {
    /// The latest failure that was fixed so.
    pub latest: &'a FixedFailure,
    /// In how many sessions it was fixed so.
    pub sessions: usize,
}

/// Finds the failures of a session that were fixed in it.
#[must_use]
pub fn fixed_failures(session: &str, exchanges: &[Exchange]) -> Vec<FixedFailure> {
    let steps = work_trail(exchanges);
    let found = steps.iter().enumerate().filter_map(|(place, step)| {
        let TrailKind::Ran(failed) = &step.kind else { return None };
        let TrailEnd::Failed(output) = &failed.end else { return None };
        let signs = FailureSigns::recognise(&failed.line, output)?;
        let fixed_by = end_of((step, failed, output), steps.get(place + 1..)?)?;
        Some(FixedFailure {
            signs,
            command: shown_command(&failed.core),
            fixed_by,
            session: session.to_owned(),
            ordinal: step.ordinal,
            at_ms: step.at_ms,
        })
    });
    found.take(FIXED_MAX).collect()
}

/// Returns what made the command work, if anything did.
fn end_of(
    (step, failed, output): (&TrailStep, &TrailCommand, &RedactedText),
    later: &[TrailStep],
) -> Option<FailureFix> {
    let (mut between, mut files): (Vec<&TrailCommand>, Vec<String>) = (Vec::new(), Vec::new());
    for next in later.iter().take(STEPS_MAX) {
        match &next.kind {
            TrailKind::Changed(file) if is_path(file) => files.push(name_of(file).to_owned()),
            TrailKind::Changed(_) => {}
            TrailKind::Ran(ran) => {
                let is_again = failed.tries_the_same(ran);
                match (&ran.end, is_again) {
                    (TrailEnd::Worked, true) => {
                        let pair = pair_of((step, failed, output), ran, &between);
                        let fix = fix_of(&pair, files.clone());
                        // What is no fix may have helped the command that works later.
                        if fix.is_some() || pair.class == CandidateClass::StepBetween {
                            return fix;
                        }
                        between.push(ran);
                    }
                    (TrailEnd::Worked, false) => between.push(ran),
                    // It still fails: what was done so far did not help alone.
                    (TrailEnd::Failed(_), true) => between.clear(),
                    (TrailEnd::Failed(_), false) => {}
                }
            }
        }
    }
    None
}

fn pair_of(
    (step, failed, output): (&TrailStep, &TrailCommand, &RedactedText),
    worked: &TrailCommand,
    between: &[&TrailCommand],
) -> CommandPair {
    CommandPair {
        class: match failed.essence == worked.essence {
            true => CandidateClass::StepBetween,
            false => CandidateClass::OtherForm,
        },
        ordinal: step.ordinal,
        at_ms: step.at_ms,
        failed: failed.clone(),
        output: output.to_string(),
        worked: worked.clone(),
        between: between.iter().map(|ran| (*ran).clone()).collect(),
    }
}

/// Returns what fixed a failure, given all that was done between it and the success.
fn fix_of(pair: &CommandPair, files: Vec<String>) -> Option<FailureFix> {
    let CommandPair { failed, worked, .. } = pair;
    if !is_wrapper_changed(failed, worked) && !PairGates::examine(pair).passes() {
        return None;
    }
    // What prepares the shell is the fix, whatever was edited meanwhile.
    if !new_set_up(&failed.line, &worked.line).is_empty() {
        return Some(FailureFix::Commands(vec![as_it_ran(failed, worked)]));
    }
    let is_moved = directory(&failed.line) != directory(&worked.line);
    if is_moved && pair.class == CandidateClass::StepBetween {
        let is_here = directory(&worked.line).is_some_and(|place| !place.starts_with(['/', '~']));
        return is_here.then(|| FailureFix::Commands(vec![as_it_ran(failed, worked)]));
    }
    if pair.class == CandidateClass::OtherForm {
        // Of another command and an edit, nobody knows which one helped.
        let is_certain = files.is_empty() || is_of_environment(&pair.output);
        return is_certain.then(|| FailureFix::Commands(vec![as_it_ran(failed, worked)]));
    }
    // What the machine lacks is not in a source file.
    let files: Vec<String> = match is_of_environment(&pair.output) {
        true => files.into_iter().filter(|file| is_setting(file)).collect(),
        false => files,
    };
    // Of several edits, nobody knows which one helped.
    let files = named_in(&pair.output, files)?;
    if !files.is_empty() {
        return Some(FailureFix::Edits(files));
    }
    let goal = failed.tasks.last().map_or("", String::as_str);
    let helped = pair.between.iter().filter(|ran| !is_no_help(ran, goal));
    let commands: Vec<String> = helped.map(|ran| shown_command(&ran.core)).collect();
    // The same again, with nothing done that could help: chance.
    (!commands.is_empty()).then(|| FailureFix::Commands(last_of(commands, COMMANDS_MAX)))
}

/// Tells whether a command cannot have helped: it only checks something, or passes work on.
fn is_no_help(ran: &TrailCommand, goal: &str) -> bool {
    let passes_on = |task: &String| {
        PASSING_ON.contains(&task.as_str())
            || task.ends_with(" version")
            || is_check(task) && !task.contains("fix")
    };
    !may_help(&ran.core, goal) && ran.tasks.iter().all(passes_on)
}

/// Tells whether one command is the other with a program in front that runs it, such as `uv run`.
fn is_wrapper_changed(failed: &TrailCommand, worked: &TrailCommand) -> bool {
    let ends_with =
        |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with(' '));
    let (failed, worked) = (failed.essence.as_str(), worked.essence.as_str());
    ends_with(failed, worked) || ends_with(worked, failed)
}

/// Returns a command that worked: as it ran, where that is in another directory or prepares the shell.
fn as_it_ran(failed: &TrailCommand, worked: &TrailCommand) -> String {
    let is_moved = directory(&failed.line) != directory(&worked.line);
    let is_prepared = !new_set_up(&failed.line, &worked.line).is_empty();
    shown_command(if is_moved || is_prepared { &worked.line } else { &worked.core })
}

/// Returns the edited files that an output names, or the only one; `None` where several were edited and none is named.
fn named_in(output: &str, files: Vec<String>) -> Option<Vec<String>> {
    let files = last_of(files, usize::MAX);
    if files.len() < 2 {
        return Some(files);
    }
    let named: Vec<String> = files.into_iter().filter(|file| output.contains(file)).collect();
    (!named.is_empty()).then(|| last_of(named, FILES_MAX))
}

/// Returns the last different ones, in order.
fn last_of(all: Vec<String>, most: usize) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for item in all.into_iter().rev() {
        if kept.len() < most && !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept.reverse();
    kept
}

fn shown_command(command: &str) -> String {
    let end = command.floor_char_boundary(COMMAND_BYTES_MAX);
    neutralise(command.get(..end).unwrap_or_default(), Layout::Line)
}

/// Returns how such a failure was fixed before, the most likely fix first, at most `most`. `earlier` are rows of the same repository
/// that share a signature with it.
#[must_use]
pub fn known_fixes<'a>(
    signs: &FailureSigns,
    earlier: &'a [FixedFailure],
    most: usize,
) -> Vec<KnownFix<'a>> {
    let mut fixes: BTreeMap<&FailureFix, (usize, KnownFix<'a>, Vec<&str>)> = BTreeMap::new();
    for row in earlier {
        let shared = signs.shared_lines(&row.signs);
        let is_general =
            signs.shares_general(&row.signs) && matches!(row.fixed_by, FailureFix::Commands(_));
        if shared == 0 && !is_general || !signs.shares_goal(&row.signs) {
            continue;
        }
        let (best, fix, sessions) = fixes
            .entry(&row.fixed_by)
            .or_insert_with(|| (0, KnownFix { latest: row, sessions: 0 }, Vec::new()));
        *best = shared.max(*best);
        if row.at_ms >= fix.latest.at_ms {
            fix.latest = row;
        }
        if !sessions.contains(&row.session.as_str()) {
            sessions.push(&row.session);
            fix.sessions += 1;
        }
    }
    let mut ranked: Vec<_> = fixes.into_values().collect();
    ranked.retain(|(shared, fix, _)| *shared > 0 || fix.sessions >= GENERAL_SESSIONS_MIN);
    ranked.sort_by_key(|(shared, fix, _)| {
        std::cmp::Reverse((*shared, fix.sessions, fix.latest.at_ms))
    });
    ranked.into_iter().take(most).map(|(_, fix, _)| fix).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work_trail::made_up::{edited, exchange, failed, ran};
    use transcripts::exchange::PartKind;

    const MISSING: &str = "error: Cannot find module 'left-pad' from '/w/a1/src/index.js:12'";

    fn rows(session: &str, parts: &[PartKind]) -> Vec<FixedFailure> {
        fixed_failures(session, &[exchange(parts)])
    }

    fn fixes_known_for(command: &str, output: &str, earlier: &[FixedFailure]) -> Vec<FailureFix> {
        let signs = FailureSigns::recognise(&command.into(), &output.into()).unwrap();
        known_fixes(&signs, earlier, 3).iter().map(|known| known.latest.fixed_by.clone()).collect()
    }

    fn commands(all: &[&str]) -> FailureFix {
        FailureFix::Commands(all.iter().map(|command| (*command).to_owned()).collect())
    }

    fn edits(all: &[&str]) -> FailureFix {
        FailureFix::Edits(all.iter().map(|file| (*file).to_owned()).collect())
    }

    #[test]
    fn a_row_says_what_made_the_command_work() {
        for (between, worked, expected) in [
            (vec![ran("npm ci")], "npm run build", commands(&["npm ci"])),
            (vec![], "npm run build --legacy", commands(&["npm run build --legacy"])),
            (vec![edited("/w/package.json")], "npm run build", edits(&["package.json"])),
            (
                vec![edited("a.js"), edited("package.json")],
                "npm run build",
                edits(&["package.json"]),
            ),
            (
                vec![failed("npm run build", MISSING), ran("npm ci")],
                "npm run build",
                commands(&["npm ci"]),
            ),
        ] {
            let mut parts = vec![failed("npm run build", MISSING)];
            parts.extend(between);
            parts.push(ran(worked));
            let found = rows("s", &parts);
            assert_eq!(found[0].fixed_by, expected, "{parts:?}");
            assert_eq!(
                (found[0].session.as_str(), found[0].ordinal, found[0].at_ms),
                ("s", 7, Some(0))
            );
            assert_eq!(found[0].command, "npm run build");
        }
    }

    // S20 of the cases, and others of these kinds.
    #[test]
    fn the_fix_is_told_as_it_ran_and_what_is_none_is_not_told() {
        let engine = "ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment (bad pnpm and/or Node.js version)";
        let broken = "src/cart.ts(3,1): error TS2304: Cannot find name 'price' in this scope";
        for (command, output, between, worked, expected) in [
            (
                "pnpm --filter shop test",
                engine,
                vec![edited("src/cart.ts")],
                ". nvm.sh && nvm use && pnpm --filter shop test",
                Some(commands(&[". nvm.sh && nvm use && pnpm --filter shop test"])),
            ),
            (
                "pytest -q",
                "ModuleNotFoundError: No module named 'flask_login' here",
                vec![],
                "source .venv/bin/activate && pytest -q",
                Some(commands(&["source .venv/bin/activate && pytest -q"])),
            ),
            (
                "go build ./...",
                "pattern ./...: directory prefix . does not contain main module",
                vec![],
                "cd agents/caracal && go build ./...",
                Some(commands(&["cd agents/caracal && go build ./..."])),
            ),
            ("biome check .", broken, vec![], "biome version", None),
            (
                "black --check src",
                "would reformat src/a.py, one file here",
                vec![],
                "black --diff src",
                None,
            ),
            (
                "shfmtx run",
                "bash: shfmtx: command not found",
                vec![edited("fossa.sh")],
                "shfmtx run",
                None,
            ),
            ("make build", broken, vec![ran("git push"), ran("npm test")], "make build", None),
            (
                "npm run build",
                broken,
                vec![edited("src/cart.ts")],
                "npm run build",
                Some(edits(&["cart.ts"])),
            ),
        ] {
            let mut parts = vec![failed(command, output)];
            parts.extend(between);
            parts.push(ran(worked));
            let found = rows("s", &parts).into_iter().next().map(|row| row.fixed_by);
            assert_eq!(found, expected, "{command}, then {worked}");
        }
    }

    #[test]
    fn an_end_that_nobody_knows_leaves_no_row() {
        for later in [
            vec![],
            vec![ran("npm run build")],
            vec![edited("a.js"), edited("b.js"), ran("npm run build")],
            vec![failed("npm run build", MISSING)],
        ] {
            let mut parts = vec![failed("npm run build", MISSING)];
            parts.extend(later);
            assert_eq!(rows("s", &parts), [], "{parts:?}");
        }
        let not_run = "<tool_use_error>Sibling tool call errored</tool_use_error>";
        assert_eq!(rows("s", &[failed("make all", not_run), ran("mkdir x"), ran("make all")]), []);
    }

    #[test]
    fn the_same_error_is_known_in_other_places() {
        let earlier =
            rows("s", &[failed("npm run build", MISSING), ran("npm ci"), ran("npm run build")]);
        let elsewhere = "error: Cannot find module 'left-pad' from '/home/b/src/index.js:77'";
        assert_eq!(
            fixes_known_for("cd /b && npm run build", elsewhere, &earlier),
            [commands(&["npm ci"])]
        );
        let other = "error: Cannot find module 'right-pad' from '/w/a1/src/index.js:12'";
        assert_eq!(fixes_known_for("npm run build", other, &earlier), []);
        assert_eq!(fixes_known_for("terraform plan", MISSING, &earlier), [], "another goal");
    }

    #[test]
    fn a_line_that_says_little_needs_a_repeated_command() {
        let output = "Found 3 errors.\n[lint] ERROR task failed";
        let fix = [failed("make lint", output), ran("make lint-fix"), ran("make lint")];
        let edit = [failed("make lint", output), edited("a.go"), ran("make lint")];
        let once = [rows("a", &fix), rows("b", &edit), rows("c", &edit)].concat();
        assert_eq!(
            fixes_known_for("make lint", "Found 12 errors.\n[lint] ERROR task failed", &once),
            []
        );
        let twice = [once, rows("d", &fix)].concat();
        assert_eq!(fixes_known_for("make lint", output, &twice), [commands(&["make lint-fix"])]);
    }

    #[test]
    fn what_helped_most_often_and_last_is_shown_first() {
        let with = |session: &str, step: &str| {
            rows(session, &[failed("npm run build", MISSING), ran(step), ran("npm run build")])
        };
        let earlier =
            [with("a", "npm ci"), with("b", "npm i left-pad"), with("c", "npm i left-pad")];
        let signs = FailureSigns::recognise(&"npm run build".into(), &MISSING.into()).unwrap();
        let earlier = earlier.concat();
        let known = known_fixes(&signs, &earlier, 1);
        let [first] = known.as_slice() else { panic!("{known:?}") };
        assert_eq!(first.latest.fixed_by, commands(&["npm i left-pad"]));
        assert_eq!((first.sessions, first.latest.session.as_str()), (2, "c"));
    }

    #[test]
    fn a_wrapper_that_was_dropped_is_what_helped() {
        let output = "error: unrecognized subcommand 'bun'";
        let parts = [failed("wrap bun run test", output), ran("bun run test"), ran("wrap git log")];
        assert_eq!(rows("s", &parts)[0].fixed_by, commands(&["bun run test"]));
    }

    #[test]
    fn what_a_runner_counts_tells_no_failure_from_others() {
        let output = |error: &str| {
            format!("FAIL test/a.test.js\n  {error}\nTests: 1 failed, 20 passed\nTime: 2 s")
        };
        let queue =
            output("QueueBackendError: cannot reach broker rabbit-prod (set QUEUE_BACKEND)");
        let earlier =
            rows("s", &[failed("npm test", &queue), ran("QUEUE_BACKEND=memory npm test")]);
        let told = |error: &str| fixes_known_for("npm test", &output(error), &earlier);
        assert_eq!(
            told("QueueBackendError: cannot reach broker rabbit-prod (set QUEUE_BACKEND)").len(),
            1
        );
        for other in [
            "TypeError: Cannot read properties of undefined",
            "AssertionError: expected 3 items, got 2",
        ] {
            assert_eq!(told(other), [], "{other}");
        }
    }
}
