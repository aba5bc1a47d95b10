//! How often the search finds the session that answers a question, on real sessions that are not part of the project. Not
//! here: reading the data (`eval_data`), candidates for lessons (`lessons_eval`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::eval_data::{EvalSession, eval_lines, eval_sessions};
use sessions::exchange_index::{ExchangeIndex, IndexedExchange};
use sessions::search_text::SessionTopic;
use sessions::session_search::{SessionHit, SessionQuery};
use transcripts::exchange::PartKind;

/// Sessions that are looked at for an answer.
const TOP: usize = 5;

/// Least shares, at or a little under what was measured: of `intent` at the first place, of the others among the first five.
const FLOORS: [(&str, f64); 4] =
    [("intent", 0.95), ("friction", 0.75), ("learning", 0.80), ("hard", 0.84)];

/// Questions about a file that at most this many sessions wrote.
const FILE_SESSIONS_MAX: usize = 3;

/// So many files are asked for.
const FILES: usize = 160;

/// Returns the interval that holds a share with a confidence of 95 % (Wilson, 1927, without correction for continuity).
fn interval(right: usize, all: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let (right, all) = (right as f64, all as f64);
    let (share, square) = (right / all, Z * Z);
    let middle = share + square / (2.0 * all);
    let half = Z * (share * (1.0 - share) / all + square / (4.0 * all * all)).sqrt();
    let scale = 1.0 + square / all;
    ((middle - half) / scale, (middle + half) / scale)
}

fn indexed(sessions: &[EvalSession]) -> ExchangeIndex {
    let mut index = ExchangeIndex::default();
    let mut row = 0;
    for (number, session) in (0..).zip(sessions) {
        let topic = SessionTopic::from_exchanges("", &session.exchanges);
        let exchanges: Vec<IndexedExchange<'_>> = session
            .exchanges
            .iter()
            .map(|exchange| {
                row += 1;
                IndexedExchange { row, session: number, topic, exchange }
            })
            .collect();
        index.insert_all(&exchanges).unwrap();
    }
    index
}

fn hits(
    index: &ExchangeIndex,
    text: &str,
    keep: &dyn Fn(u32, Option<i64>) -> bool,
) -> Vec<SessionHit> {
    index.find(&SessionQuery { text, scope: <_>::default(), speaker: None, keep, limit: TOP })
}

#[test]
fn the_session_that_answers_is_among_the_first() {
    let Some((sessions, questions)) = eval_sessions().zip(eval_lines("queries.jsonl")) else {
        return;
    };
    let index = indexed(sessions);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    let (mut likely, mut likely_right, mut said_for_nothing) = (0, 0, 0);
    let (mut weak, mut weak_right, mut weak_without) = (0, 0, 0);
    for question in &questions {
        let wanted = text(&question["session"]);
        let also = question["also_ok"].as_array().cloned().unwrap_or_default();
        let is_right = |hit: &SessionHit| {
            let id = &sessions[hit.session as usize].id;
            *id == wanted || also.iter().any(|other| text(other) == *id)
        };
        let asked = text(&question["q"]);
        let top = hits(&index, &asked, &|_, _| true);
        let counts = found.entry(text(&question["kind"])).or_default();
        counts.0 += 1;
        counts.1 += usize::from(top.first().is_some_and(is_right));
        counts.2 += usize::from(top.iter().any(is_right));
        let first = top.first().filter(|hit| hit.is_likely());
        likely += usize::from(first.is_some());
        likely_right += usize::from(first.is_some_and(is_right));
        // The same question, where the sessions of its repository are missing: nothing answers it.
        let repo =
            sessions.iter().find(|session| session.id == wanted).map(|session| &session.repo);
        let others = |session: u32, _| Some(&sessions[session as usize].repo) != repo;
        let elsewhere = hits(&index, &asked, &others);
        said_for_nothing += usize::from(elsewhere.first().is_some_and(SessionHit::is_likely));
        weak_without += usize::from(elsewhere.iter().all(SessionHit::is_weak));
        if top.iter().all(SessionHit::is_weak) {
            weak += 1;
            weak_right += usize::from(top.iter().any(is_right));
        }
    }
    for (kind, (all, first, five)) in &found {
        let [(low, high), (low5, high5)] = [first, five].map(|right| interval(*right, *all));
        println!(
            "{kind}: {all}, right first {first} ({low:.2} to {high:.2}), among {TOP} {five} ({low5:.2} to {high5:.2})"
        );
    }
    println!(
        "likely: {likely} of {}, {likely_right} right; without an answer {said_for_nothing}",
        questions.len()
    );
    println!(
        "weak: {weak}, {weak_right} with the right one among {TOP}; without an answer {weak_without}"
    );
    assert!(weak_without * 2 > questions.len() && weak * 5 < questions.len());
    assert!(said_for_nothing * 50 < questions.len(), "{said_for_nothing} said for nothing");
    assert!(likely_right * 4 > likely * 3, "{likely_right} of {likely}");
    for (kind, floor) in FLOORS {
        let (all, first, five) = found[kind];
        let right = if kind == "intent" { first } else { five };
        let share = right as f64 / all as f64;
        assert!(share >= floor, "{kind}: {share} is under {floor}");
    }
}

/// The files that few sessions wrote, by their last folder and name, with these sessions.
fn rare_files(sessions: &[EvalSession]) -> Vec<(String, BTreeSet<u32>)> {
    let mut written: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (number, session) in (0..).zip(sessions) {
        for part in session.exchanges.iter().flat_map(|exchange| &exchange.parts) {
            let PartKind::Edited { path, .. } = &part.what else { continue };
            let Some((folders, name)) = path.rsplit_once('/') else { continue };
            let folder = folders.rsplit('/').next().unwrap_or_default();
            if name.contains('.') && !folder.is_empty() {
                written.entry(format!("{folder}/{name}")).or_default().insert(number);
            }
        }
    }
    let rare: Vec<_> =
        written.into_iter().filter(|(_, sessions)| sessions.len() <= FILE_SESSIONS_MAX).collect();
    let step = rare.len().div_ceil(FILES);
    rare.into_iter().step_by(step).collect()
}

#[test]
fn sentences_find_who_wrote_a_file() {
    let Some(sessions) = eval_sessions() else { return };
    let index = indexed(sessions);
    let files = rare_files(sessions);
    for form in [
        "{}",
        "when did we change {}",
        "why does the code in {} look like this and who asked for it",
    ] {
        let right = |(file, wrote): &&(String, BTreeSet<u32>)| {
            let found = hits(&index, &form.replace("{}", file), &|_, _| true);
            found.iter().any(|hit| wrote.contains(&hit.session))
        };
        let right = files.iter().filter(right).count();
        println!("{form}: {right} of {}", files.len());
        assert!(right * 10 > files.len() * 9, "{form}: {right} of {}", files.len());
    }
}

/// Every so many sessions are asked for by their own question.
const OWN_STEP: usize = 6;

/// The first question of a session, if it has a few words.
fn first_question(session: &EvalSession) -> Option<&str> {
    let mut parts = session.exchanges.iter().flat_map(|exchange| &exchange.parts);
    let asked = parts.find_map(|part| match &part.what {
        PartKind::Asked(text) => Some(text.as_str()),
        _ => None,
    });
    asked.filter(|text| (3..=40).contains(&text.split_whitespace().count()))
}

#[test]
fn a_sessions_own_question_finds_it_in_a_collection_of_any_size() {
    let Some(sessions) = eval_sessions() else { return };
    let index = indexed(sessions);
    let is_likely = |index: &ExchangeIndex, asked: &str, keep: &dyn Fn(u32) -> bool| {
        let found = hits(index, asked, &|session, _| keep(session));
        found.first().is_some_and(SessionHit::is_likely)
    };
    let (mut all, mut among_many, mut alone, mut elsewhere) = (0, 0, 0, 0);
    for session in sessions.iter().step_by(OWN_STEP) {
        let Some(asked) = first_question(session) else { continue };
        let is_here = |number: u32| sessions[number as usize].repo == session.repo;
        let one = indexed(std::slice::from_ref(session));
        all += 1;
        among_many += usize::from(is_likely(&index, asked, &is_here));
        alone += usize::from(is_likely(&one, asked, &|_| true));
        elsewhere += usize::from(is_likely(&index, asked, &|number| !is_here(number)));
    }
    println!("own questions: {among_many} of {all}, in one session {alone}, elsewhere {elsewhere}");
    assert!(among_many * 100 >= all * 95 && alone * 100 >= all * 95, "{among_many} {alone} {all}");
    assert!(elsewhere * 12 < all, "{elsewhere} of {all} said for nothing");
}
