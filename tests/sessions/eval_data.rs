//! Sessions and labels of the evaluation, in `shared/data` beside the project and never part of it. Where they are missing,
//! the tests that need them are skipped, except in CI. Not here: what is measured (the tests of each rule).

use std::io::Read as _;
use std::sync::OnceLock;

use serde_json::Value;

use transcripts::exchange::{Exchange, ExchangeBuilder};
use transcripts::real_files::fixtures;
use transcripts::transcript::{
    MomentKind, Outcome, SessionExtent, TranscriptMoment, TranscriptSink as _,
};

/// One session of the evaluation.
pub struct EvalSession {
    pub id: String,
    pub repo: String,
    /// The least id among the session and its copies.
    pub family: String,
    /// When it began, as the file writes it.
    pub began: String,
    pub exchanges: Vec<Exchange>,
}

/// Returns the lines of a file of the evaluation, or nothing where it is missing and may be.
pub fn eval_lines(name: &str) -> Option<Vec<Value>> {
    let path = fixtures()?.parent()?.join("eval").join(name);
    let bytes = std::fs::read(&path).unwrap();
    let mut text = String::new();
    if name.ends_with(".gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Returns all sessions in the order of time. They are read once for all tests.
pub fn eval_sessions() -> Option<&'static [EvalSession]> {
    static SESSIONS: OnceLock<Option<Vec<EvalSession>>> = OnceLock::new();
    SESSIONS.get_or_init(read_sessions).as_deref()
}

fn read_sessions() -> Option<Vec<EvalSession>> {
    let mut sessions: Vec<_> = eval_lines("sessions.jsonl.gz")?.iter().map(session_of).collect();
    sessions.sort_by(|one, other| (&one.began, &one.id).cmp(&(&other.began, &other.id)));
    Some(sessions)
}

fn session_of(row: &Value) -> EvalSession {
    let id = row["id"].as_str().unwrap().to_owned();
    let copies = row["forks"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let family = copies.chain([id.as_str()]).min().unwrap().to_owned();
    let events = row["events"].as_array().unwrap();
    let began = events.iter().find_map(|event| event["ts"].as_str()).unwrap_or_default();
    let mut exchanges = Vec::new();
    let mut deliver = |session: transcripts::exchange::SessionRead| exchanges = session.exchanges;
    let mut builder = ExchangeBuilder::new(0, &mut deliver);
    builder.session(&id, SessionExtent::Whole);
    for event in events {
        let at_ms = event["ts"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        let at_ms = at_ms.map(jiff::Timestamp::as_millisecond);
        if let Some(what) = happening_of(event) {
            // The number of the event, by which labels name it.
            let message_id = Some(event["n"].to_string());
            builder.moment(TranscriptMoment { message_id, at_ms, kind: what });
        }
    }
    let _ = builder.finish();
    let repo = row["repo"].as_str().unwrap().to_owned();
    EvalSession { id, repo, family, began: began.to_owned(), exchanges }
}

fn happening_of(event: &Value) -> Option<MomentKind> {
    // The evaluation cuts the middle out as we do, with another mark.
    let text = event["t"].as_str().unwrap_or_default().replace(" […] ", "\n...\n");
    let call = event["id"].as_str().unwrap_or_default().to_owned();
    Some(match event["k"].as_str().unwrap() {
        "user" => MomentKind::Asked(text),
        "assistant" => MomentKind::Answered(text),
        "summary" => MomentKind::Summarised(text),
        "cmd" => MomentKind::Ran { call, command: text },
        "edit" => MomentKind::Edited { call, path: text },
        "result" => MomentKind::Returned { call, outcome: outcome_of(event), output: text },
        _ => return None,
    })
}

fn outcome_of(event: &Value) -> Outcome {
    let exit = event["exit"].as_i64().and_then(|code| i32::try_from(code).ok());
    match exit {
        _ if event["rejected"].as_i64().is_some() => Outcome::Refused(None),
        Some(0) => Outcome::Succeeded,
        Some(code) => Outcome::Exited(code),
        None if event["err"].as_i64().is_some() => Outcome::Faulted,
        None => Outcome::Unknown,
    }
}
