//! The rules of lessons, measured on labelled sessions of the evaluation; each table is printed, and its floor asserted.
//! Not here: the rules' own tests, on sessions that we made up.

use std::collections::BTreeSet;

use guard::secrets::redacted;

use crate::candidate_gates::{CandidateRefusal, PairGates};
use crate::candidates::{CandidateClass, candidates, command_pairs, joined};
use crate::eval_data::{EvalSession, eval_lines, eval_sessions};

/// Returns a share with its 95 % interval (Wilson).
pub(crate) fn share(hits: usize, all: usize) -> String {
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
            .map(PairGates::of)
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
    let all = labelled(&sessions);
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
    let distinct = joined(found, &family);
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
