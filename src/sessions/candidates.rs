//! Finds what past sessions may teach: a command that failed and another form of it that worked, or one that worked after
//! another command. What is found is a candidate, which a person keeps or not. Not here: which pairs are plausible
//! (`candidate_gates`), what people said (`remarks`), and whether anything is saved.

use std::collections::{BTreeMap, BTreeSet};

use event::Draft;
use guard::secrets::RedactedText;
use guard::text::{Layout, neutralise};
use learning::command_effects::{is_path, is_setting, moves_files};
use learning::command_failure::CommandFailure;
use learning::session_lesson::{self, CommandFix};
use learning::shell_set_up::new_set_up;
use learning::signature::{self, Signature, stable_line};

use super::candidate_gates::PairGates;
use super::command_pair::{CandidateClass, CommandPair};
use super::work_trail::{TrailCommand, TrailEnd, TrailKind, TrailStep, work_trail};
use transcripts::exchange::Exchange;

/// Most commands between a failure and what worked. Farther apart, the work has moved on.
const BETWEEN_MAX: usize = 10;

/// Most commands that are named as the fix. Of more, nobody knows which one helped.
const STEPS_MAX: usize = 3;

/// Longest command that a lesson names, in bytes. A longer one is cut: what it is about stands at its beginning.
const COMMAND_BYTES_MAX: usize = 600;

/// Most candidates of one session. More of them are noise, and nobody reviews them.
const CANDIDATES_MAX: usize = 50;

/// Most places that are named of a candidate.
const SIGHTINGS_MAX: usize = 20;

/// Where a candidate was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sighting {
    /// The id of the session.
    pub session: String,
    /// The exchange in which it begins.
    pub ordinal: u32,
    /// Milliseconds since 1970 in UTC, if known.
    pub at_ms: Option<i64>,
}

/// What a past session may teach.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its kind.
    pub class: CandidateClass,
    /// Equal for the same commands, or the same words of a person, wherever they are found. An answer to a candidate is
    /// remembered by it.
    pub fingerprint: String,
    /// What spoke for it.
    pub gates: Option<PairGates>,
    /// The lines of the output that say what was wrong; empty for remarks of a person.
    pub error: String,
    /// The command that failed, or what the agent had said.
    pub failed: String,
    /// The commands that worked, or what the person said.
    pub worked: Vec<String>,
    /// Where it was found, the first place first.
    pub sightings: Vec<Sighting>,
    /// In how many sessions it was found that know nothing of each other.
    pub proofs: usize,
    /// The memory to save if it is kept.
    pub draft: Draft,
}

/// Finds the candidates in the exchanges of one session, in their order, those that pass their gates.
#[must_use]
pub fn candidates(session: &str, exchanges: &[Exchange]) -> Vec<Candidate> {
    let pairs = command_pairs(exchanges);
    let passed = pairs.iter().filter_map(|pair| {
        let gates = PairGates::examine(pair);
        if gates.passes() { candidate(session, pair, gates) } else { None }
    });
    passed.take(CANDIDATES_MAX).collect()
}

/// Finds every failed command that worked later in another form, or after another command. Commands that worked after a
/// change to a source file are left out: that is programming.
#[must_use]
pub fn command_pairs(exchanges: &[Exchange]) -> Vec<CommandPair> {
    let steps = work_trail(exchanges);
    let places = steps.iter().enumerate();
    places.filter_map(|(place, step)| pair_at(step, steps.get(place + 1..)?)).collect()
}

fn pair_at(step: &TrailStep, later: &[TrailStep]) -> Option<CommandPair> {
    let TrailKind::Ran(failed) = &step.kind else { return None };
    let TrailEnd::Failed(output) = &failed.end else { return None };
    let mut between = Vec::new();
    for next in later {
        let ran = match &next.kind {
            TrailKind::Changed(file) if is_path(file) && !is_setting(file) => return None,
            TrailKind::Changed(_) => continue,
            TrailKind::Ran(ran) => ran,
        };
        if ran.tasks.iter().any(|task| failed.tasks.contains(task)) {
            return pair_of(step, failed, output, ran, between);
        }
        let is_git = failed.tasks.iter().any(|task| task.starts_with("git "));
        if !is_git && moves_files(&ran.line) {
            return None;
        }
        // A failed command helped nobody.
        if ran.end == TrailEnd::Worked {
            between.push(ran.clone());
        }
        if between.len() > BETWEEN_MAX {
            return None;
        }
    }
    None
}

fn pair_of(
    step: &TrailStep,
    failed: &TrailCommand,
    output: &str,
    worked: &TrailCommand,
    between: Vec<TrailCommand>,
) -> Option<CommandPair> {
    let mut pair = CommandPair {
        class: CandidateClass::OtherForm,
        ordinal: step.ordinal,
        at_ms: step.at_ms,
        failed: failed.clone(),
        output: output.to_owned(),
        worked: worked.clone(),
        between,
    };
    let is_prepared = !new_set_up(&failed.line, &worked.line).is_empty();
    let is_same = failed.essence == worked.essence && !is_prepared && !pair.is_moved_inside();
    pair.class = match (is_same, pair.between.is_empty()) {
        (false, true) => CandidateClass::OtherForm,
        (true, false) => CandidateClass::StepBetween,
        // Chance, or too much at once.
        (true, true) | (false, false) => return None,
    };
    (worked.end == TrailEnd::Worked).then_some(pair)
}

/// Joins the candidates of several sessions that say the same, the first in front. `family` names the session that a
/// session is a copy or a part of: those know of each other, and prove nothing.
#[must_use]
pub fn merge_candidates(found: Vec<Candidate>, family: &dyn Fn(&str) -> String) -> Vec<Candidate> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<Candidate> = Vec::new();
    for candidate in found {
        match places.get(&candidate.fingerprint).and_then(|place| all.get_mut(*place)) {
            Some(known) => known.sightings.extend(candidate.sightings),
            None => {
                places.insert(candidate.fingerprint.clone(), all.len());
                all.push(candidate);
            }
        }
    }
    for candidate in &mut all {
        candidate.sightings.sort_by_key(|seen| (seen.at_ms, seen.session.clone(), seen.ordinal));
        candidate.sightings.dedup();
        let families: BTreeSet<_> =
            candidate.sightings.iter().map(|seen| family(&seen.session)).collect();
        candidate.proofs = families.len();
        candidate.sightings.truncate(SIGHTINGS_MAX);
    }
    all
}

fn candidate(session: &str, pair: &CommandPair, gates: PairGates) -> Option<Candidate> {
    let signature = Signature::from_output(&RedactedText::redact(&pair.output));
    let (excerpt, words) = signature.map_or_else(
        || (RedactedText::redact(&pair.output).reshaped(first_line), RedactedText::default()),
        |signature| (signature.excerpt, signature.words),
    );
    let fix = fix_of(pair)?;
    let failure = CommandFailure {
        at: pair.at_ms.unwrap_or_default() / 1_000,
        command: RedactedText::redact(&cut(&pair.failed.core)),
        goal: pair.failed.tasks.first().map(|task| RedactedText::redact(task)).unwrap_or_default(),
        excerpt: excerpt.clone(),
        words,
        fingerprint: 0,
        since: Vec::new(),
    };
    // Numbers, addresses and folders differ each time.
    let fingerprint = signature::lesson_key(
        &stable_line(&pair.failed.essence),
        &failure.goal,
        &stable_line(&fix.identity().replace('\n', " ")),
    );
    let worked = fix.instead.clone().map_or_else(|| fix.before.clone(), |instead| vec![instead]);
    Some(Candidate {
        class: pair.class,
        fingerprint,
        gates: Some(gates),
        error: excerpt.into_string(),
        failed: failure.command.to_string(),
        worked,
        sightings: vec![Sighting {
            session: session.to_owned(),
            ordinal: pair.ordinal,
            at_ms: pair.at_ms,
        }],
        proofs: 1,
        draft: session_lesson::lesson_from_fix(&failure, fix).draft,
    })
}

fn fix_of(pair: &CommandPair) -> Option<CommandFix> {
    let plain = |command: &TrailCommand| neutralise(&cut(&command.core), Layout::Line);
    if pair.class == CandidateClass::OtherForm {
        let instead = neutralise(&cut(pair.worked_as_it_ran()), Layout::Line);
        return Some(CommandFix { instead: Some(instead), ..CommandFix::default() });
    }
    let mut before: Vec<String> = pair.between.iter().map(plain).collect();
    before.dedup();
    let spare = before.len().saturating_sub(STEPS_MAX);
    before.drain(..spare);
    Some(CommandFix { before, ..CommandFix::default() })
}

fn cut(command: &str) -> String {
    match command.get(..command.floor_char_boundary(COMMAND_BYTES_MAX)) {
        Some(begin) if begin.len() < command.len() => format!("{begin}..."),
        _ => command.to_owned(),
    }
}

fn first_line(output: &str) -> String {
    let line = output.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    neutralise(line, Layout::Line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work_trail::made_up::{edited, exchange, failed, ran};

    fn found(parts: &[transcripts::exchange::PartKind]) -> Vec<Candidate> {
        candidates("s1", &[exchange(parts)])
    }

    const UNKNOWN: &str = "error: unexpected argument '--stat' found";

    #[test]
    fn another_form_that_works_is_a_candidate() {
        let parts =
            [failed("cd /w && gh pr diff 8 --stat", UNKNOWN), ran("gh pr diff 8 --name-only")];
        let all = found(&parts);
        let [only] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(only.class, CandidateClass::OtherForm);
        assert_eq!(
            (only.failed.as_str(), only.worked[0].as_str()),
            ("gh pr diff 8 --stat", "gh pr diff 8 --name-only")
        );
        assert_eq!(only.sightings[0].session, "s1");
        let lesson = only.draft.lesson.as_deref().unwrap();
        assert_eq!(
            lesson,
            "`gh pr diff 8 --name-only` worked where `gh pr diff 8 --stat` had failed."
        );
        assert!(only.draft.symptoms[0].contains("unexpected argument"));
    }

    // S20 and S21 of the cases, and others of their kinds.
    #[test]
    fn what_prepared_or_moved_a_command_is_a_candidate() {
        const MISSING: &str = "error: cannot find what this needs to run here";
        for (failing, worked) in [
            ("mvn verify", "export JAVA_HOME=/opt/jdk17 && mvn verify"),
            ("npm run lint", "cd packages/api && npm run lint"),
            ("pytest -q", "PYTHONPATH=src pytest -q"),
            ("cargo test", "cargo +nightly test"),
        ] {
            let all = found(&[failed(failing, MISSING), ran(worked)]);
            let [only] = all.as_slice() else { panic!("{worked}: {all:?}") };
            assert_eq!(only.worked, [worked]);
        }
        for worked in ["cd /other/api && npm run lint", "cd ../x && npm run lint", "npm run lint"] {
            assert_eq!(found(&[failed("npm run lint", MISSING), ran(worked)]), [], "{worked}");
        }
        let installed = found(&[
            failed("npm test", "Error: Cannot find module 'left-pad'"),
            ran("npm ci"),
            ran("npm test"),
        ]);
        assert_eq!(installed[0].worked, ["npm ci"]);
    }

    #[test]
    fn the_command_between_is_the_lesson() {
        let refused = "error: failed to push some refs\n! [rejected] main (fetch first)";
        let parts = [
            failed("git push", refused),
            ran("git status"),
            ran("git pull --rebase"),
            ran("git push"),
        ];
        let all = found(&parts);
        let [only] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(
            (only.class, only.worked.as_slice()),
            (CandidateClass::StepBetween, ["git pull --rebase".to_owned()].as_slice())
        );
        assert_eq!(
            only.draft.lesson.as_deref(),
            Some("`git push` worked after `git pull --rebase`.")
        );
    }

    #[test]
    fn what_programming_or_chance_fixed_is_left_out() {
        for parts in [
            vec![failed("cargo build", UNKNOWN), edited("src/a.rs"), ran("cargo build --release")],
            vec![failed("cargo build", UNKNOWN), ran("git stash"), ran("cargo build")],
            vec![failed("cargo build", UNKNOWN), ran("cargo build")],
            vec![failed("cargo build", UNKNOWN), ran("cargo clean"), ran("cargo build --release")],
            vec![failed("cargo build", UNKNOWN), failed("cargo build --release", UNKNOWN)],
            vec![failed("cargo build", UNKNOWN), ran("cargo --help"), ran("cargo build")],
            vec![failed("grep x y", UNKNOWN), ran("grep x z")],
        ] {
            assert_eq!(found(&parts), [], "{parts:?}");
        }
    }

    #[test]
    fn a_far_success_is_no_fix() {
        let between = (0..=BETWEEN_MAX).map(|number| ran(&format!("./step{number}.sh")));
        let mut parts = vec![failed("make all", UNKNOWN)];
        parts.extend(between);
        parts.push(ran("make all"));
        assert_eq!(found(&parts), []);
    }

    #[test]
    fn no_secret_stands_in_a_candidate() {
        let token = ["ghp", "_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        let line = |option: &str| format!("deploy push --token {token} {option}");
        let all = found(&[failed(&line("--stat"), UNKNOWN), ran(&line("--name-only"))]);
        assert_eq!(all.len(), 1);
        assert!(!format!("{all:?}").contains(&token));
    }

    #[test]
    fn only_unrelated_sessions_prove_a_candidate() {
        let parts = [failed("gh pr diff 8 --stat", UNKNOWN), ran("gh pr diff 8 --name-only")];
        let seen = |session: &str| candidates(session, &[exchange(&parts)]);
        let all: Vec<_> =
            ["a", "a-copy", "b", "b"].iter().flat_map(|session| seen(session)).collect();
        let family = |session: &str| session.chars().take(1).collect::<String>();
        let joined = merge_candidates(all, &family);
        let [only] = joined.as_slice() else { panic!("{joined:?}") };
        assert_eq!((only.proofs, only.sightings.len()), (2, 3), "the same place counts once");
    }

    #[test]
    fn a_long_command_is_cut_in_the_lesson() {
        let long = |option: &str| format!("bd create {option} --text '{}'", "x ".repeat(2_000));
        let all = found(&[failed(&long("--stat"), UNKNOWN), ran(&long("--name-only"))]);
        let command = all[0].draft.command.as_deref().unwrap();
        assert!(command.len() <= COMMAND_BYTES_MAX + 3 && command.ends_with("..."), "{command}");
    }
}
