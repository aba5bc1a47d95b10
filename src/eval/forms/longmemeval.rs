//! LongMemEval as published (D. Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive
//! Memory", ICLR 2025): questions, each with its haystack of chat sessions. Sessions are documents. Questions
//! whose id ends in `_abs` have no answer. Not here: other formats.

use std::collections::BTreeSet;

use super::object::SetObject;
use crate::EvalError;
use crate::test_set::{QueryScope, SetDocument, SetQuery, TestSet};

/// The suffix of the ids of questions without an answer.
const UNANSWERABLE: &str = "_abs";

const IDS: &str = "[\"session_1\"]";

/// Reads the questions. In the scope of the store all haystacks are one pool that contains each session once.
/// Otherwise each haystack is a separate group.
pub(super) fn read(
    questions: &[SetObject<'_>],
    scope: QueryScope,
    set: &mut TestSet,
) -> Result<(), EvalError> {
    let mut pooled = BTreeSet::new();
    for question in questions {
        let id = question.text("question_id", "\"q1\"")?;
        let group = (scope != QueryScope::Store).then(|| id.to_owned());
        let named = |session: &str| match &group {
            Some(group) => format!("{group}/{session}"),
            None => session.to_owned(),
        };
        for mut document in sessions(question)? {
            document.id = named(&document.id);
            document.group.clone_from(&group);
            if pooled.insert(document.id.clone()) {
                set.documents.push(document);
            }
        }
        let answers = question.texts("answer_session_ids", IDS)?;
        let is_answerable = !id.ends_with(UNANSWERABLE);
        let mut relevant = BTreeSet::new();
        for session in answers.into_iter().filter(|_| is_answerable) {
            if !pooled.contains(&named(session)) {
                let message = format!("{session:?} is not among haystack_session_ids");
                return Err(EvalError::form(&question.place, "answer_session_ids", message));
            }
            relevant.insert(named(session));
        }
        set.queries.push(SetQuery {
            id: id.to_owned(),
            text: question.text("question", "\"Which car did I buy?\"")?.to_owned(),
            group: group.clone(),
            kind: question.optional("question_type", "\"multi-session\"")?,
            relevant: relevant.into_iter().map(|session| (session, 1)).collect(),
            ..SetQuery::default()
        });
    }
    Ok(())
}

fn sessions(question: &SetObject<'_>) -> Result<Vec<SetDocument>, EvalError> {
    let ids = question.texts("haystack_session_ids", IDS)?;
    let dates = question.texts("haystack_dates", "[\"2023/04/10 (Mon) 23:07\"]")?;
    let sessions =
        question.list("haystack_sessions", "[[{\"role\":\"user\",\"content\":\"hello\"}]]")?;
    if ids.len() != sessions.len() || dates.len() != sessions.len() {
        let message = format!(
            "has {} sessions, but there are {} haystack_session_ids and {} haystack_dates",
            sessions.len(),
            ids.len(),
            dates.len()
        );
        return Err(EvalError::form(&question.place, "haystack_sessions", message));
    }
    let parts = (0..).zip(sessions).zip(ids.into_iter().zip(dates));
    let mut documents = Vec::with_capacity(sessions.len());
    for ((number, session), (id, date)) in parts {
        let place = format!("{}.haystack_sessions[{number}]", question.place);
        let Some(turns) = session.as_array() else {
            return Err(EvalError::form(place, "JSON", "must be an array of turns"));
        };
        let mut text = String::new();
        for (turn, value) in (0..).zip(turns) {
            let turn = SetObject::from_value(format!("{place}[{turn}]"), value)?;
            let role = turn.text("role", "\"user\"")?;
            let content = turn.text("content", "\"hello\"")?;
            text.push_str(&format!("{role}: {content}\n"));
        }
        // A session without turns cannot be a document.
        if !text.trim().is_empty() {
            documents.push(SetDocument {
                id: id.to_owned(),
                text,
                timestamp: Some(date.to_owned()),
                place,
                ..SetDocument::default()
            });
        }
    }
    Ok(documents)
}
