//! The rules of lessons, measured on labelled sessions of the evaluation; each table is printed, and its floor asserted.
//! Not here: the rules' own tests, on sessions that we made up.

use std::collections::{BTreeMap, BTreeSet};

use guard::secrets::redacted;
use learning::commands::command_tasks;

use crate::eval_data::{EvalSession, eval_lines, eval_sessions};
use sessions::candidate_gates::{CandidateRefusal, PairGates};
use sessions::candidates::{candidates, command_pairs, merge_candidates};
use sessions::command_pair::CandidateClass;
use sessions::failure_signs::FailureSigns;
use sessions::fixed_failure::{FailureFix, FixedFailure, KnownFix, fixed_failures, known_fixes};
use sessions::remarks::remarks;
use sessions::session_judgement::{exchange_suspicion, may_recommend_fix};
use sessions::work_trail::{TrailEnd, TrailKind, work_trail};
use transcripts::exchange::{Exchange, ExchangePart, PartKind};

/// Returns a share with its 95 % interval (Wilson).
fn share(hits: usize, all: usize) -> String {
    let (hits, all) = (hits as f64, all.max(1) as f64);
    let (p, z) = (hits / all, 1.96);
    let middle = (p + z * z / (2.0 * all)) / (1.0 + z * z / all);
    let half = z * (p * (1.0 - p) / all + z * z / (4.0 * all * all)).sqrt() / (1.0 + z * z / all);
    format!("{p:.2} [{:.2}, {:.2}]", middle - half, middle + half)
}

/// A labelled pair: where it is, whether it is a lesson, and what the rule says about it, if it finds it.
struct LabelledPair {
    repo: String,
    class: String,
    is_lesson: bool,
    gates: Option<PairGates>,
}

fn labelled(sessions: &[EvalSession]) -> Vec<LabelledPair> {
    let begin = |text: &str| text.trim().chars().take(150).collect::<String>();
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for row in eval_lines("pairs.jsonl").unwrap() {
        let text = |name: &str| row[name].as_str().unwrap();
        let Some(label) = row["lesson"].as_i64() else { continue };
        let session = sessions.iter().find(|session| session.id == text("session")).unwrap();
        let (fail, fix) = (begin(&redacted(text("fail"))), begin(&redacted(text("fix"))));
        // Copies of a session hold the same pair.
        if !seen.insert((session.family.clone(), row["n_fail"].as_i64(), fail.clone())) {
            continue;
        }
        let pairs = command_pairs(&session.exchanges);
        let found = pairs
            .iter()
            .filter(|pair| begin(&pair.failed.line) == fail && begin(&pair.worked.line) == fix)
            .map(PairGates::examine)
            .max_by_key(PairGates::passes);
        all.push(LabelledPair {
            repo: session.repo.clone(),
            class: text("class").to_owned(),
            is_lesson: label == 1,
            gates: found,
        });
    }
    all
}

fn passes_reference(gates: &PairGates) -> bool {
    !gates.refusals.contains(&CandidateRefusal::NoErrorText)
        && !gates.refusals.contains(&CandidateRefusal::Unlike)
}

fn row(name: &str, pairs: &[&LabelledPair], is_kept: impl Fn(&LabelledPair) -> bool) -> (f64, f64) {
    let of = |is_lesson| {
        pairs.iter().filter(|pair| pair.is_lesson == is_lesson && is_kept(pair)).count()
    };
    let (good, bad) = (of(true), of(false));
    let wanted = |pair: &&&LabelledPair| pair.is_lesson && matches!(pair.class.as_str(), "B" | "C");
    let all = pairs.iter().filter(wanted).count();
    let kept = pairs.iter().filter(wanted).filter(|pair| is_kept(pair)).count();
    println!(
        "| {name} | {good} of {} | {} | {} |",
        good + bad,
        share(good, good + bad),
        share(kept, all)
    );
    (good as f64 / (good + bad).max(1) as f64, kept as f64 / all.max(1) as f64)
}

// S0-62
#[test]
fn gates_raise_the_precision_of_candidates() {
    let Some(sessions) = eval_sessions() else { return };
    let all = labelled(sessions);
    // Nobody told us labels of other repositories, so one half of these stands in for them.
    let halves = ["PackmindHub/context-evaluator", "EntityProcess/agentv"];
    let mut last = (0.0, 0.0);
    for (name, in_half) in [("first half", Some(false)), ("second half", Some(true)), ("all", None)]
    {
        let is_in = |pair: &&LabelledPair| {
            in_half.is_none_or(|is_in| halves.contains(&pair.repo.as_str()) == is_in)
        };
        let pairs: Vec<_> = all.iter().filter(is_in).collect();
        println!(
            "{name}: {} labelled pairs\n| gates | lessons | precision | recall |",
            pairs.len()
        );
        row("none, as labelled B or C", &pairs, |pair| matches!(pair.class.as_str(), "B" | "C"));
        row("none, as found", &pairs, |pair| pair.gates.is_some());
        row("the reference's", &pairs, |pair| pair.gates.as_ref().is_some_and(passes_reference));
        last = row("all", &pairs, |pair| pair.gates.as_ref().is_some_and(PairGates::passes));
    }
    assert!(last.0 >= 0.80 && last.1 >= 0.85, "precision {}, recall {}", last.0, last.1);
}

#[test]
fn candidates_are_few_enough_to_review() {
    let Some(sessions) = eval_sessions() else { return };
    let found: Vec<_> =
        sessions.iter().flat_map(|session| candidates(&session.id, &session.exchanges)).collect();
    let total = found.len();
    let family = |id: &str| {
        let known = sessions.iter().find(|session| session.id == id);
        known.map_or_else(|| id.to_owned(), |session| session.family.clone())
    };
    let distinct = merge_candidates(found, &family);
    let of = |class| distinct.iter().filter(|candidate| candidate.class == class).count();
    let proved = distinct.iter().filter(|candidate| candidate.proofs > 1).count();
    println!(
        "{total} candidates in {} sessions, {} distinct: {} other form, {} step between; {proved} proved",
        sessions.len(),
        distinct.len(),
        of(CandidateClass::OtherForm),
        of(CandidateClass::StepBetween)
    );
    assert!((40..=120).contains(&distinct.len()) && proved >= 1);
}

/// A failed command of a session, and how it ended there.
struct ReplayedFailure {
    command: String,
    signs: Option<FailureSigns>,
    /// Its first line that looks like an error, by a rule of its own.
    line: Option<String>,
    end: Option<FailureFix>,
}

/// Most ends that are shown of one failure.
const SHOWN: usize = 3;

/// The first line with a word of failure, without digits and folders; not the rule that is measured.
fn error_line(output: &str) -> Option<String> {
    let marks = ["error", "fail", "fatal", "not found", "no such", "cannot", "denied", "unknown"];
    let line = output.lines().map(str::trim).find(|line| {
        let lower = line.to_lowercase();
        line.len() > 15
            && !lower.starts_with("exit code")
            && marks.iter().any(|mark| lower.contains(mark))
    })?;
    let words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let words = words.map(|word| word.replace(|c: char| c.is_ascii_digit(), "0"));
    Some(words.collect::<Vec<_>>().join(" "))
}

fn replayed(session: &EvalSession) -> Vec<ReplayedFailure> {
    let mended = fixed_failures(&session.id, &session.exchanges);
    let steps = work_trail(&session.exchanges);
    let failures = steps.iter().filter_map(|step| {
        let TrailKind::Ran(failed) = &step.kind else { return None };
        let TrailEnd::Failed(output) = &failed.end else { return None };
        let signs = FailureSigns::recognise(&failed.line, output);
        let end = mended.iter().find(|row| {
            row.at_ms == step.at_ms
                && row.ordinal == step.ordinal
                && Some(&row.signs) == signs.as_ref()
        });
        let end = end.map(|row| row.fixed_by.clone());
        Some(ReplayedFailure {
            command: failed.line.to_string(),
            signs,
            line: error_line(output),
            end,
        })
    });
    failures.collect()
}

fn contains(shown: &FailureFix, needed: &FailureFix) -> bool {
    match (shown, needed) {
        (FailureFix::Commands(shown), FailureFix::Commands(needed)) => {
            let goals = |all: &[String]| {
                all.iter().flat_map(|one| command_tasks(one)).collect::<BTreeSet<_>>()
            };
            !goals(shown).is_disjoint(&goals(needed))
        }
        (FailureFix::Edits(shown), FailureFix::Edits(needed)) => {
            shown.iter().any(|file| needed.contains(file))
        }
        _ => false,
    }
}

/// What earlier sessions of a repository hold.
#[derive(Default)]
struct Past {
    rows: Vec<FixedFailure>,
    /// First lines of failures, and whether one of those was mended.
    lines: BTreeMap<String, bool>,
}

impl Past {
    fn add(&mut self, session: &EvalSession, failures: Vec<ReplayedFailure>) {
        for failure in failures {
            if let Some(line) = failure.line {
                *self.lines.entry(line).or_default() |= failure.end.is_some();
            }
        }
        self.rows.extend(fixed_failures(&session.id, &session.exchanges));
    }

    fn has_signature(&self, signs: &FailureSigns) -> bool {
        let shares = |row: &FixedFailure| {
            row.signs.signatures.iter().any(|one| signs.signatures.contains(one))
                && row.signs.goals.iter().any(|goal| signs.goals.contains(goal))
        };
        self.rows.iter().any(shares)
    }
}

/// Counts of failures that have an earlier mended twin, by one meaning of twin, and of those that have none.
#[derive(Default)]
struct TwinCounts {
    twins: usize,
    /// Mended now too, by commands and by edits; and of those, what earlier sessions had done too was shown.
    now: [usize; 2],
    hits: [usize; 2],
    others: usize,
    silent: usize,
}

impl TwinCounts {
    fn add(&mut self, is_twin: bool, now: Option<&FailureFix>, shown: &[KnownFix<'_>]) {
        if !is_twin {
            self.others += 1;
            self.silent += usize::from(shown.is_empty());
            return;
        }
        self.twins += 1;
        let Some(now) = now else { return };
        let place = usize::from(matches!(now, FailureFix::Edits(_)));
        self.now[place] += 1;
        let is_hit = shown.iter().any(|known| contains(&known.latest.fixed_by, now));
        self.hits[place] += usize::from(is_hit);
    }

    fn print(&self, name: &str) -> (f64, f64, f64) {
        let Self { twins, now: [commands, edits], hits: [by_command, by_edit], others, silent } =
            self;
        let (now, hits) = (commands + edits, by_command + by_edit);
        println!(
            "| {name} | {twins} | {hits} of {now}: {} | {by_command} of {commands}: {} | {by_edit} of {edits} | {silent} of {others}: {} |",
            share(hits, now),
            share(*by_command, *commands),
            share(*silent, *others)
        );
        let part = |some: usize, all: usize| some as f64 / all.max(1) as f64;
        (part(hits, now), part(*by_command, *commands), part(*silent, *others))
    }
}

// Each repository's sessions in the order of time: at each failure, what do the earlier ones say?
#[test]
fn earlier_ends_of_a_failure_are_shown() {
    let Some(sessions) = eval_sessions() else { return };
    let mut pasts: BTreeMap<&str, Past> = BTreeMap::new();
    let (mut by_line, mut by_signature) = (TwinCounts::default(), TwinCounts::default());
    let mut told = (0, 0, 0);
    let (mut failures_len, mut seen, mut families) = (0, 0, BTreeSet::new());
    for session in sessions.iter().filter(|session| families.insert(session.family.clone())) {
        let past = pasts.entry(&session.repo).or_default();
        let failures = replayed(session);
        for failure in &failures {
            let signs = failure.signs.as_ref();
            let shown =
                signs.map(|signs| known_fixes(signs, &past.rows, SHOWN)).unwrap_or_default();
            let twin = failure.line.as_ref().and_then(|line| past.lines.get(line));
            if !shown.is_empty() {
                let now = failure.end.as_ref();
                let is_hit = |now| shown.iter().any(|known| contains(&known.latest.fixed_by, now));
                told.0 += 1;
                told.1 += usize::from(now.is_some());
                told.2 += usize::from(now.is_some_and(is_hit));
            }
            failures_len += 1;
            seen += usize::from(twin.is_some());
            by_line.add(twin == Some(&true), failure.end.as_ref(), &shown);
            let has_signature = signs.is_some_and(|signs| past.has_signature(signs));
            by_signature.add(has_signature, failure.end.as_ref(), &shown);
        }
        past.add(session, failures);
    }
    println!("{failures_len} failures, {seen} with the first error line of an earlier one");
    println!("{} failures got an answer, {} of those were mended, {} so", told.0, told.1, told.2);
    println!("| twin | failures | shown | by command | by edit | silent on others |");
    let (_, by_command, silence) = by_line.print("same first error line");
    let (shown, _, strict_silence) = by_signature.print("same signature and goal");
    assert!(shown >= 0.60 && by_command >= 0.65, "shown {shown}, by command {by_command}");
    assert!(silence >= 0.95 && strict_silence >= 0.93, "silence {silence}, {strict_silence}");
}

/// What a hook says at failures: how often, how often that is what helped now too, and how often nothing of the kind did.
#[derive(Debug, Default, PartialEq, Eq)]
struct HookTally {
    told: usize,
    right: usize,
    wrong: usize,
}

impl HookTally {
    fn add(&mut self, known: Option<&KnownFix<'_>>, now: Option<&FailureFix>) {
        let Some(known) = known else { return };
        self.told += 1;
        let Some(now) = now else { return };
        let is_right = contains(&known.latest.fixed_by, now);
        self.right += usize::from(is_right);
        self.wrong += usize::from(!is_right);
    }
}

// What the rule of a hook's advice costs on real failures: it says less, and is right more often.
// S-SESS-14
#[test]
fn ordinary_advice_is_kept() {
    let Some(sessions) = eval_sessions() else { return };
    let mut pasts: BTreeMap<&str, Past> = BTreeMap::new();
    let (mut all, mut ordinary, mut families) =
        (HookTally::default(), HookTally::default(), BTreeSet::new());
    for session in sessions.iter().filter(|session| families.insert(session.family.clone())) {
        let past = pasts.entry(&session.repo).or_default();
        let failures = replayed(session);
        for failure in &failures {
            let Some(signs) = &failure.signs else { continue };
            let may_tell = |row: &&FixedFailure| may_recommend_fix(row, &failure.command);
            let told: Vec<_> = past.rows.iter().filter(may_tell).cloned().collect();
            let now = failure.end.as_ref();
            all.add(known_fixes(signs, &past.rows, 1).first(), now);
            ordinary.add(known_fixes(signs, &told, 1).first(), now);
        }
        past.add(session, failures);
    }
    println!("everything: {all:?}; what may be recommended: {ordinary:?}");
    // Of the rest, most only have the program in common with what helped now: `gh api` of another address.
    assert!(ordinary.right * 4 >= all.right * 3, "{ordinary:?} of {all:?}");
    assert!(ordinary.told < all.told && ordinary.wrong < all.wrong, "{ordinary:?} of {all:?}");
}

#[test]
fn lasting_directions_are_offered() {
    let Some(rows) = eval_lines("corrections.jsonl") else { return };
    let (mut offered, mut durable) = ((0, 0), 0);
    for row in &rows {
        let is_durable = row["label"] == "durable";
        let what = PartKind::Asked(row["text"].as_str().unwrap().to_owned());
        let parts = vec![ExchangePart { at_ms: Some(0), kind: what }];
        let asked = Exchange { ordinal: 0, message_id: None, parts };
        let is_offered = !remarks("s", &[asked]).is_empty();
        durable += usize::from(is_durable);
        offered.0 += usize::from(is_offered && is_durable);
        offered.1 += usize::from(is_offered);
    }
    println!(
        "{} corrections, {} offered, {} of {durable} durable",
        rows.len(),
        offered.1,
        offered.0
    );
    let sessions = eval_sessions().unwrap();
    let all: usize =
        sessions.iter().map(|session| remarks(&session.id, &session.exchanges).len()).sum();
    println!("{all} remarks in {} sessions", sessions.len());
    assert!(offered.0 >= 2 && offered.1 <= rows.len() / 3, "{offered:?}");
}

/// Of innocent exchanges, at most one in so many may be flagged.
const INNOCENT_SHARE: usize = 40;

#[test]
fn innocent_sessions_are_hardly_flagged() {
    let Some(sessions) = eval_sessions() else { return };
    let exchanges: Vec<_> = sessions.iter().flat_map(|session| &session.exchanges).collect();
    let flagged =
        exchanges.iter().filter(|exchange| exchange_suspicion(exchange).is_some()).count();
    println!("flagged: {flagged} of {} innocent exchanges", exchanges.len());
    assert!(flagged > 0 && flagged * INNOCENT_SHARE < exchanges.len(), "{flagged}");
}
