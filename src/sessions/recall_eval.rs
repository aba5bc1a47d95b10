//! How often the search finds the session that answers a question, on real sessions that are not part of the project. Not
//! here: reading the data (`eval_data`), candidates for lessons (`lessons_eval`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::eval_data::{EvalSession, eval_lines, eval_sessions};
use super::exchange_index::{ExchangeIndex, IndexedExchange};
use super::search_text::SessionTopic;
use super::session_search::{SessionHit, SessionQuery};

/// Sessions that are looked at for an answer.
const TOP: usize = 5;

/// Least shares, a little under what was measured: of `intent` at the first place, of the others among the first five.
const FLOORS: [(&str, f64); 4] =
    [("intent", 0.90), ("friction", 0.74), ("learning", 0.79), ("hard", 0.78)];

fn indexed(sessions: &[EvalSession]) -> ExchangeIndex {
    let mut index = ExchangeIndex::default();
    let mut row = 0;
    for (number, session) in (0..).zip(sessions) {
        let topic = SessionTopic::of("", &session.exchanges);
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
        said_for_nothing +=
            usize::from(hits(&index, &asked, &others).first().is_some_and(SessionHit::is_likely));
    }
    println!("{found:?} (questions, right first, right among {TOP})");
    println!(
        "likely: {likely} of {}, {likely_right} right; without an answer {said_for_nothing}",
        questions.len()
    );
    assert!(said_for_nothing * 50 < questions.len(), "{said_for_nothing} said for nothing");
    assert!(likely_right * 4 > likely * 3, "{likely_right} of {likely}");
    for (kind, floor) in FLOORS {
        let (all, first, five) = found[kind];
        let right = if kind == "intent" { first } else { five };
        let share = right as f64 / all as f64;
        assert!(share >= floor, "{kind}: {share} is under {floor}");
    }
}
