//! `review --judge`: asks the configured judge about each pair, and shows or carries out its decisions. Not here:
//! asking the judge (`providers::chat_model`), finding the pairs (`api::local`).

use guard::secrets::RedactedText;
use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use event::{DecodedLine, Draft, codec, suspicion};
use guard::text::{Layout, neutralise};
use providers::chat_model::{Decision, ReasonedDecision};
use reply::Reply;
use requests::{Api, ApiError, ChangeExtent, ChangeRequest, Request, Voice, WantedChange};

/// The name under which decisions are written.
const JUDGE: &str = "judge";

/// Asks about every pair of a review, and carries out the decisions if asked to.
pub(crate) fn judge_pairs(
    api: &dyn Api,
    review: &Reply,
    doing: ChangeExtent,
    decide: &mut dyn FnMut(&Value) -> Result<ReasonedDecision, ApiError>,
) -> Result<Reply, ApiError> {
    let mut pairs = review.json.get("pairs").and_then(Value::as_array).cloned().unwrap_or_default();
    pairs.retain(|pair| !is_private(pair));
    if pairs.is_empty() {
        return Ok(review.clone());
    }
    // All decisions are made before the first is carried out: if the judge fails, nothing has changed.
    let decided = pairs.iter().map(decide);
    let decided: Vec<ReasonedDecision> = decided.collect::<Result<_, ApiError>>()?;
    let head =
        if doing == ChangeExtent::Do { "Decided" } else { "Decisions, not applied (use --apply)" };
    let mut text = format!("{head}:\n");
    let mut decisions = Vec::new();
    let mut touched: BTreeSet<String> = BTreeSet::new();
    for (pair, decided) in pairs.iter().zip(&decided) {
        let (older, newer) = (id(pair, "older"), id(pair, "newer"));
        let outcome = match doing {
            ChangeExtent::Show => "shown".to_owned(),
            // A change of one of these memories may invalidate this decision.
            ChangeExtent::Do if touched.contains(&older) || touched.contains(&newer) => {
                "skipped: another decision changed one of them".to_owned()
            }
            ChangeExtent::Do => {
                act(api, pair, decided).unwrap_or_else(|error| format!("not done: {error}"))
            }
        };
        touched.extend([older.clone(), newer.clone()]);
        let (name, reason) = (decided.decision.as_str(), neutralise(&decided.reason, Layout::Line));
        let _ = write!(
            text,
            "\n- {} and {}: {name} ({reason}); {outcome}",
            short(&older),
            short(&newer)
        );
        if let Decision::Merge(lesson) = &decided.decision {
            let _ = write!(text, "\n  into: {}", neutralise(lesson, Layout::Line));
        }
        let lesson = match &decided.decision {
            Decision::Merge(lesson) => Some(lesson),
            _ => None,
        };
        decisions.push(json!({ "older": older, "newer": newer, "decision": name, "reason": decided.reason, "lesson": lesson, "outcome": outcome }));
    }
    Ok(Reply::new(text, json!({ "done": doing == ChangeExtent::Do, "decisions": decisions })))
}

/// Tells whether a memory of a pair must never leave this machine.
fn is_private(pair: &Value) -> bool {
    let is = |which| {
        pair.get(which).and_then(|memory| memory.get("private")) == Some(&Value::Bool(true))
    };
    is("older") || is("newer")
}

/// Carries out a decision, and returns the outcome.
fn act(api: &dyn Api, pair: &Value, decided: &ReasonedDecision) -> Result<String, ApiError> {
    let (older, newer) = (id(pair, "older"), id(pair, "newer"));
    let change = |ids: Vec<String>, change: WantedChange| {
        let voice = Voice::Model { client: Some(RedactedText::redact(JUDGE)), session: None };
        let note = Some(decided.reason.clone()).filter(|reason| !reason.is_empty());
        api.ask_as(&Request::Change(ChangeRequest { ids, change, note }), &voice)
            .map(|_| "done".to_owned())
    };
    match &decided.decision {
        Decision::SupersedeOld => change(vec![older], WantedChange::Superseded { by: newer }),
        Decision::SupersedeNew => change(vec![newer], WantedChange::Superseded { by: older }),
        Decision::KeepBoth => change(vec![older], WantedChange::Distinct { from: newer }),
        // A text that searches would hold back must not replace two that they show.
        Decision::Merge(lesson) if reads_like_an_order(lesson) => {
            Ok("skipped: its lesson reads like an instruction".to_owned())
        }
        Decision::Merge(lesson) => {
            let judge = Voice::Model { client: Some(RedactedText::stamp(JUDGE)), session: None };
            let by = api.ask_as(&Request::Save(Box::new(merged(pair, lesson))), &judge)?;
            let by = by.json.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            change(vec![older, newer], WantedChange::Superseded { by })
        }
        Decision::Unclear => Ok("left for a person to decide".to_owned()),
    }
}

fn reads_like_an_order(lesson: &str) -> bool {
    let line = json!({ "lesson": lesson }).to_string();
    matches!(codec::decode(line.as_bytes(), ""), DecodedLine::Event(event) if suspicion(&event).is_some())
}

/// Makes one lesson of two, with the context of the newer.
fn merged(pair: &Value, lesson: &str) -> Draft {
    let text = |name: &str| {
        let newer = pair.get("newer").and_then(|newer| newer.get(name)?.as_str());
        newer.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Draft {
        repo: text("repo"),
        event_type: text("event_type"),
        context: text("context"),
        command: text("command"),
        lesson: Some(lesson.to_owned()),
        confidence: Some("inferred".to_owned()),
        ..Draft::default()
    }
}

fn id(pair: &Value, which: &str) -> String {
    let id = pair.get(which).and_then(|memory| memory.get("id")?.as_str());
    id.unwrap_or_default().to_owned()
}

/// Characters of the end of an id that are shown.
const SHORT_CHARS: usize = 8;

fn short(id: &str) -> &str {
    id.len().checked_sub(SHORT_CHARS).and_then(|start| id.get(start..)).unwrap_or(id)
}
