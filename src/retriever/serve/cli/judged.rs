//! `review --judge`: each pair is shown to the judge of the configuration, and what it decides is told, or done. Not
//! here: asking it (`judge`), the pairs (`local`).

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Settings, Wiring};
use crate::event::{Draft, Layout, neutralise};
use crate::retriever::render::Reply;
use crate::retriever::serve::api::{Api, ApiError, ChangeRequest, Doing, Voice, Wanted};
use crate::retriever::serve::judge::{Decided, Decision};

/// Who is told to have decided.
const JUDGE: &str = "judge";

/// Asks about every pair of a review, and does what is decided where that is asked for.
pub(super) fn judged(
    wiring: &mut dyn Wiring,
    settings: &Settings,
    api: &dyn Api,
    review: &Reply,
    doing: Doing,
) -> Result<Reply, ApiError> {
    let pairs = review.json.get("pairs").and_then(Value::as_array).cloned().unwrap_or_default();
    if pairs.is_empty() {
        return Ok(review.clone());
    }
    let head = if doing == Doing::Do { "Decided" } else { "Would be decided, with --apply" };
    let mut text = format!("{head}:\n");
    let mut decisions = Vec::new();
    for pair in &pairs {
        let decided = wiring.judge(settings, pair)?;
        let (older, newer) = (id(pair, "older"), id(pair, "newer"));
        if doing == Doing::Do {
            act(api, pair, &decided)?;
        }
        let reason = neutralise(&decided.reason, Layout::Line);
        let _ = write!(
            text,
            "\n- {} and {}: {} ({reason})",
            short(&older),
            short(&newer),
            decided.decision.as_str()
        );
        decisions.push(json!({ "older": older, "newer": newer, "decision": decided.decision.as_str(), "reason": decided.reason }));
    }
    Ok(Reply::new(text, json!({ "done": doing == Doing::Do, "decisions": decisions })))
}

fn act(api: &dyn Api, pair: &Value, decided: &Decided) -> Result<(), ApiError> {
    let (older, newer) = (id(pair, "older"), id(pair, "newer"));
    let change = |ids: Vec<String>, change: Wanted| {
        let voice = Voice::Model { client: Some(JUDGE.to_owned()), session: None };
        let note = Some(decided.reason.clone()).filter(|reason| !reason.is_empty());
        api.change(&ChangeRequest { ids, change, note }, &voice).map(drop)
    };
    match &decided.decision {
        Decision::SupersedeOld => change(vec![older], Wanted::Superseded { by: newer }),
        Decision::SupersedeNew => change(vec![newer], Wanted::Superseded { by: older }),
        Decision::KeepBoth => change(vec![older], Wanted::Distinct { from: newer }),
        Decision::Merge(lesson) => {
            let by = api.save(merged(pair, lesson), Some(JUDGE))?;
            let by = by.json.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            change(vec![older, newer], Wanted::Superseded { by })
        }
        Decision::Unclear => Ok(()),
    }
}

/// A lesson that says what two say, under what the newer was about.
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

/// So many characters of the end of an id are shown.
const SHORT_CHARS: usize = 8;

fn short(id: &str) -> &str {
    id.len().checked_sub(SHORT_CHARS).and_then(|start| id.get(start..)).unwrap_or(id)
}
