//! Measures the search of exchanges on real sessions and questions. They are in `shared/data` beside the project and
//! never part of it; where they are missing, the tests are skipped, except in CI. Not here: the search itself.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::exchange::{ExchangeBuilder, SessionRead};
use crate::exchange_index::{ExchangeIndex, IndexedExchange};
use crate::scope::ExchangeScope;
use crate::search_text::SessionTopic;
use crate::session_search::{SessionHit, SessionQuery};
use crate::transcript::{
    Extent, Happening, Outcome, SessionFact, TitleSource, TranscriptMoment, TranscriptSink,
};

/// A session of the evaluation, with its repository.
pub(crate) struct EvalSession {
    pub(crate) id: String,
    pub(crate) repository: String,
    pub(crate) read: SessionRead,
}

/// A question, and the sessions that answer it.
pub(crate) struct EvalQuestion {
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) sessions: Vec<String>,
}

fn folder() -> Option<PathBuf> {
    let beside =
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sessions/eval");
    let folder = std::env::var_os("SESSIONS_EVAL_DIR").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "shared/data/sessions is missing");
    eprintln!("SKIPPED: shared/data/sessions is not here");
    None
}

fn rows(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().map(|line| serde_json::from_str(line).unwrap())
}

/// Reads all sessions and questions.
pub(crate) fn loaded() -> Option<(Vec<EvalSession>, Vec<EvalQuestion>)> {
    let folder = folder()?;
    let mut text = String::new();
    let file = std::fs::File::open(folder.join("sessions.jsonl.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let sessions = rows(&text).map(|row| session_of(&row)).collect();
    let text = std::fs::read_to_string(folder.join("queries.jsonl")).unwrap();
    let questions = rows(&text).map(|row| {
        let also = row["also_ok"].as_array().unwrap().iter();
        let sessions = std::iter::once(&row["session"]).chain(also);
        EvalQuestion {
            kind: text_of(&row["kind"]),
            text: text_of(&row["q"]),
            sessions: sessions.map(text_of).collect(),
        }
    });
    Some((sessions, questions.collect()))
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn session_of(row: &Value) -> EvalSession {
    let mut reads = Vec::new();
    let mut deliver = |read| reads.push(read);
    let mut builder = ExchangeBuilder::new(0, &mut deliver);
    let id = text_of(&row["id"]);
    builder.session(&id, Extent::Whole);
    let mut tools = HashMap::new();
    for event in row["events"].as_array().unwrap() {
        if event["k"] == "title" {
            builder.fact(SessionFact::Title(TitleSource::Model, text_of(&event["t"])));
        } else if let Some(what) = happening(event, &mut tools) {
            let at = event["ts"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
            let at_ms = at.map(jiff::Timestamp::as_millisecond);
            let message_id = Some(format!("{id}-{}", event["n"]));
            builder.happened(TranscriptMoment { message_id, at_ms, what });
        }
    }
    let _ = builder.finish();
    let read = reads.pop().unwrap();
    EvalSession { id, repository: text_of(&row["repo"]), read }
}

fn happening(event: &Value, tools: &mut HashMap<String, String>) -> Option<Happening> {
    let (text, call, tool) = (text_of(&event["t"]), text_of(&event["id"]), text_of(&event["tool"]));
    Some(match event["k"].as_str()? {
        "user" => Happening::Asked(text),
        "assistant" => Happening::Answered(text),
        "summary" => Happening::Summarised(text),
        "cmd" => Happening::Ran { call, command: text },
        "edit" => Happening::Edited { call, path: text },
        "tool" if tool == "ExitPlanMode" => Happening::Planned(text),
        "tool" => {
            tools.insert(call.clone(), tool.clone());
            Happening::Called { call, tool, argument: text }
        }
        "result" if tools.get(&call).is_some_and(|tool| tool == "AskUserQuestion") => {
            Happening::Decided(text)
        }
        "result" => Happening::Returned { call, outcome: outcome(event), output: text },
        _ => return None,
    })
}

fn outcome(event: &Value) -> Outcome {
    let code = event["exit"].as_i64().map(|code| i32::try_from(code).unwrap_or(1));
    let reason = || {
        let text = event["t"].as_str()?.split_once("the user said:")?.1;
        Some(text.trim().to_owned())
    };
    match (event["rejected"].is_null(), code, event["err"].is_null()) {
        (false, ..) => Outcome::Refused(reason()),
        (_, Some(0), _) => Outcome::Succeeded,
        (_, Some(code), _) => Outcome::Exited(code),
        (_, None, false) => Outcome::Faulted,
        (_, None, true) => Outcome::Succeeded,
    }
}

/// An index of all sessions that `keep` lets through; a session's row is its place.
fn indexed(sessions: &[EvalSession], keep: impl Fn(&EvalSession) -> bool) -> ExchangeIndex {
    let mut index = ExchangeIndex::default();
    let mut row = 0;
    for (session, of) in (0..).zip(sessions) {
        let title = of.read.facts.title.as_ref().map_or("", |(_, title)| title);
        // A tool's own placeholder.
        let title = if title.starts_with("New session") { "" } else { title };
        let topic = SessionTopic::of(title, &of.read.exchanges);
        let mut all = Vec::new();
        for exchange in &of.read.exchanges {
            row += 1;
            all.push(IndexedExchange { row, session, topic, exchange });
        }
        if keep(of) {
            index.insert_all(&all).unwrap();
        }
    }
    index
}

fn query<'a>(text: &'a str, keep: &'a dyn Fn(u32, Option<i64>) -> bool) -> SessionQuery<'a> {
    SessionQuery { text, scope: ExchangeScope::All, speaker: None, keep, limit: 10 }
}

#[test]
fn eval_recall() {
    let Some((sessions, questions)) = loaded() else { return };
    let index = indexed(&sessions, |_| true);
    println!(
        "{} exchanges, {} speech and {} work passages",
        index.len(),
        index.speech.len(),
        index.work.len()
    );
    let mut ranks: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for question in &questions {
        let hits = index.find(&query(&question.text, &|_, _| true));
        let answers =
            |hit: &SessionHit| question.sessions.contains(&sessions[hit.session as usize].id);
        let rank = hits.iter().position(answers).map_or(usize::MAX, |place| place + 1);
        ranks.entry(&question.kind).or_default().push(rank);
    }
    let mut line = String::new();
    let mut mrr = 0.0;
    for kind in ["intent", "friction", "learning", "hard"] {
        let ranks = &ranks[kind];
        let at = |top: usize| ranks.iter().filter(|rank| **rank <= top).count();
        line += &format!("{kind} @1 {} @5 {} | ", at(1), at(5));
        mrr +=
            ranks.iter().map(|r| if *r == usize::MAX { 0.0 } else { 1.0 / *r as f64 }).sum::<f64>();
    }
    println!("{line} need 43 66 58 16 M {:.4}", mrr / 226.0);
}
