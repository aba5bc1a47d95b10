//! LoCoMo as published (A. Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents",
//! ACL 2024): conversations of many sessions, with questions about each. Turns are documents, and conversations
//! are groups. Questions of category 5 have no answer. Not here: other formats.

use std::collections::BTreeSet;

use serde_json::Value;

use super::object::SetObject;
use crate::EvalError;
use crate::test_set::{SetDocument, SetQuery, TestSet};

/// The published numbers of the categories, and their meanings.
const CATEGORIES: [(u64, &str); 5] =
    [(1, "multi-hop"), (2, "temporal"), (3, "open-domain"), (4, "single-hop"), (5, "adversarial")];

/// The category of questions without an answer.
const UNANSWERABLE: u64 = 5;

pub(super) fn read(samples: &[SetObject<'_>], set: &mut TestSet) -> Result<(), EvalError> {
    let mut left_out = 0;
    for sample in samples {
        let id = sample.text("sample_id", "\"conv-1\"")?;
        let turns = turns(sample, id)?;
        let known: BTreeSet<String> = turns.iter().map(|turn| turn.id.clone()).collect();
        set.documents.extend(turns);
        for (number, asked) in (0..).zip(sample.objects("qa", "[{\"question\":\"When?\"}]")?) {
            let category = category(&asked)?;
            let relevant = evidence(&asked, id, &known)?;
            let is_answerable = category.0 != UNANSWERABLE;
            if is_answerable && relevant.is_empty() {
                left_out += 1;
                continue;
            }
            set.queries.push(SetQuery {
                id: format!("{id}/q{number}"),
                text: asked.text("question", "\"When did they meet?\"")?.to_owned(),
                group: Some(id.to_owned()),
                kind: Some(category.1.to_owned()),
                relevant: if is_answerable { relevant } else { Vec::new() },
                ..SetQuery::default()
            });
        }
    }
    if left_out > 0 {
        set.notes.push(format!(
            "{left_out} questions name no existing turn as their evidence and are left out"
        ));
    }
    Ok(())
}

/// Returns the turns of all sessions, in session order.
fn turns(sample: &SetObject<'_>, id: &str) -> Result<Vec<SetDocument>, EvalError> {
    let conversation = sample.object("conversation", "{\"session_1\":[]}")?;
    let number = |name: &String| name.strip_prefix("session_")?.parse::<u32>().ok();
    let mut sessions: Vec<u32> = conversation.map().keys().filter_map(number).collect();
    sessions.sort_unstable();
    let mut documents = Vec::new();
    for session in sessions {
        let name = format!("session_{session}");
        let when =
            conversation.optional(&format!("{name}_date_time"), "\"1:56 pm on 8 May, 2023\"")?;
        for turn in conversation.objects(&name, "[{\"speaker\":\"Ann\",\"dia_id\":\"D1:1\"}]")? {
            let said = turn.optional("text", "\"hello\"")?.unwrap_or_default();
            let shown = turn.optional("blip_caption", "\"a photo of a dog\"")?;
            let shown = shown.map(|caption| format!(" [image: {caption}]")).unwrap_or_default();
            if said.is_empty() && shown.is_empty() {
                continue;
            }
            documents.push(SetDocument {
                id: format!("{id}/{}", turn.text("dia_id", "\"D1:1\"")?),
                text: format!("{}: {said}{shown}", turn.text("speaker", "\"Ann\"")?),
                timestamp: when.clone(),
                group: Some(id.to_owned()),
                place: turn.place.clone(),
                ..SetDocument::default()
            });
        }
    }
    Ok(documents)
}

fn category(asked: &SetObject<'_>) -> Result<(u64, &'static str), EvalError> {
    let given = asked.map().get("category").and_then(Value::as_u64);
    let known = CATEGORIES.into_iter().find(|(number, _)| Some(*number) == given);
    known.ok_or_else(|| {
        EvalError::form(&asked.place, "category", "must be a number from 1 to 5; for example 4")
    })
}

/// Returns the turns named as evidence. The published file joins some ids in one string, and a few ids match no
/// turn. Those are ignored.
fn evidence(
    asked: &SetObject<'_>,
    id: &str,
    known: &BTreeSet<String>,
) -> Result<Vec<(String, u32)>, EvalError> {
    if !asked.has("evidence") {
        return Ok(Vec::new());
    }
    let named = asked.texts("evidence", "[\"D1:3\"]")?;
    let turns = named.iter().flat_map(|text| text.split([';', ',', ' ']));
    let turns: BTreeSet<String> =
        turns.map(|turn| format!("{id}/{turn}")).filter(|turn| known.contains(turn)).collect();
    Ok(turns.into_iter().map(|turn| (turn, 1)).collect())
}
