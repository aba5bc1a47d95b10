//! Turns a line of the own logs into a request to the team's server, and reads the answer. Not here: actions about memories
//! (`team_actions`), when a line is delivered (`outbox`).

use event::{Event, EventId, HOOK, clean, codec, without_user_name};
use serde_json::Value;
use settings::SyncPolicy;
use sha2::{Digest, Sha256};

use crate::team_actions::action_request;
use crate::team_server::{AnswerContentType, ServerAnswer, ServerRequest, TeamServerError};

/// Notes of a session, which help nobody else.
const SESSION: &str = "session";

/// The fields of a lesson that are sent. Who said it and when is for the server to say.
const FIELDS: [&str; 12] = [
    "id",
    "event_type",
    "lesson",
    "context",
    "command",
    "symptoms",
    "tags",
    "files",
    "success_rate",
    "confidence",
    "expires",
    "repo",
];

/// The longest body that a server takes, in bytes.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// The longest mark of an action that a server takes, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// What becomes of a delivery. All but the first say why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The server has it.
    Delivered,
    /// The server will never take it.
    Refused(String),
    /// The server does not know the memory of the line; it may soon, if another server has it.
    Unknown(String),
    /// The server is doing just this.
    InProgress(String),
    /// The server fails at this line.
    Failed(String),
    /// The server takes nothing now, or something else answers in its place.
    Unavailable(String),
}

/// Tells whether a line is of this machine alone, whatever it says.
pub fn is_of_this_machine(event: &Event) -> bool {
    event.is_private()
        || event.event_type.as_str() == SESSION
        || event.source.as_deref() == Some(HOOK)
}

/// Returns the request that delivers an event. `None` if it stays: it is private, of a repository that is not shared, or says
/// what only this machine needs.
pub fn delivery_request(event: &Event, policy: &SyncPolicy) -> Option<ServerRequest> {
    if is_of_this_machine(event) || !policy.receives(&event.repo_key()) {
        return None;
    }
    // Any program may have written the line.
    let event = &without_user_names(clean::without_secrets(event.clone()));
    let agent = Some(event.agent_id.clone()).filter(|agent| is_header(agent));
    if let Some(memory) = &event.memory_id {
        return action_request(event, memory, agent);
    }
    let mut fields = codec::fields_of(event);
    fields.retain(|name, value| {
        FIELDS.contains(&name.as_str()) && !value.is_null() && value.as_str() != Some("")
    });
    fields.insert("id".to_owned(), event.id.as_str().into());
    fields.insert("repo".to_owned(), event.repo_key().as_str().into());
    Some(ServerRequest::post("memories".to_owned(), Value::Object(fields), agent))
}

fn without_user_names(mut event: Event) -> Event {
    for file in &mut event.files {
        *file = without_user_name(file).into_owned();
    }
    event
}

/// Returns the mark by which a server knows an action that it is sent again. `answers` says how often it has answered that it does
/// not know the memory: the mark changes with it, so that a server that keeps its answers looks again.
pub fn idempotency_key(id: &EventId, answers: usize) -> String {
    let mark = format!("{}.{answers}", id.as_str());
    match mark.len() <= KEY_BYTES_MAX {
        true => mark,
        false => {
            let digest = Sha256::digest(&mark);
            digest.iter().take(KEY_BYTES_MAX / 2).map(|byte| format!("{byte:02x}")).collect()
        }
    }
}

/// Returns why a request is too long for any server.
pub fn length_problem(request: &ServerRequest) -> Option<String> {
    let bytes = request.body.as_ref().map_or(0, |body| body.to_string().len());
    (bytes > BODY_BYTES_MAX)
        .then(|| format!("it has {bytes} bytes, and at most {BODY_BYTES_MAX} can be sent"))
}

/// Returns the outcome of a delivery, from the answer of the server.
pub fn delivery_outcome(
    event: &Event,
    answer: &Result<ServerAnswer, TeamServerError>,
) -> DeliveryOutcome {
    let answer = match answer {
        Err(none) => return DeliveryOutcome::Unavailable(none.why.clone()),
        Ok(answer) if answer.is_reply() => return DeliveryOutcome::Delivered,
        Ok(answer) => answer,
    };
    let why = format!("it {}", answer.shown());
    let is_deed = event.memory_id.is_some();
    match (answer.form, answer.status) {
        (_, 500) => DeliveryOutcome::Failed(why),
        (AnswerContentType::Problem, 404) if is_deed => DeliveryOutcome::Unknown(why),
        (AnswerContentType::Problem, 409) => DeliveryOutcome::InProgress(why),
        (AnswerContentType::Problem, 400 | 405 | 413 | 415 | 422) => DeliveryOutcome::Refused(why),
        (AnswerContentType::Problem, 404 | 501..=599) => DeliveryOutcome::Failed(why),
        _ => DeliveryOutcome::Unavailable(why),
    }
}

/// Tells whether a name can stand in a header.
fn is_header(name: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(is_fine)
}

#[cfg(test)]
mod tests {
    use event::DecodedLine;
    use serde_json::json;

    use super::*;

    fn read(line: &Value) -> Event {
        match codec::decode(line.to_string().as_bytes(), "") {
            DecodedLine::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    // S-WRITE-8
    #[test]
    fn a_line_of_any_writer_leaves_without_secrets() {
        let token = ["gh", "p_a8Kd03jFq9ZxLm2Pw7Rt5Yb1Nc4Vh6Gs0Qe3"].concat();
        let line = json!({ "id": "m1", "repo": "github.com/acme/api", "lesson": format!("use {token}"),
            "context": token, "agent_id": token });
        let request = delivery_request(&read(&line), &SyncPolicy::default()).unwrap();
        let sent = format!("{:?} {:?}", request.body, request.agent);
        assert!(sent.contains("use [REDACTED:") && !sent.contains(&token), "{sent}");
    }

    fn sent_request(line: &Value) -> Option<(String, Value)> {
        let request = delivery_request(&read(line), &SyncPolicy::default())?;
        Some((request.path, request.body.unwrap()))
    }

    // S-REMOTE-2
    #[test]
    fn a_lesson_is_sent_under_its_id() {
        let line = json!({"id": "m1", "event_type": "fact", "lesson": "x", "repo": "github.com/a/b",
            "timestamp": "2026-01-01T00:00:00Z", "host": "here", "branch": "b", "tags": ["t"]});
        let body = json!({"id": "m1", "event_type": "fact", "lesson": "x", "tags": ["t"],
            "repo": "github.com/a/b"});
        assert_eq!(sent_request(&line), Some(("memories".to_owned(), body)));
        let about = |more: Value| {
            let mut line = json!({"id": "e1", "memory_id": "m1", "repo": "github.com/a/b"});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            sent_request(&line).unwrap()
        };
        let verdict = about(json!({"event_type": "feedback", "verdict": "worked", "lesson": "ok"}));
        assert_eq!(verdict.0, "memories/m1/feedback");
        assert_eq!(verdict.1, json!({"verdict": "worked", "note": "ok"}));
        assert_eq!(about(json!({"event_type": "retract"})).0, "memories/m1/forget");
        let link = json!({"event_type": "link", "target": "m2", "relation": "depends_on"});
        let body = json!({"source": "m1", "target": "m2", "relation": "depends_on", "strength": 0.5,
            "origin": "manual", "repo": "github.com/a/b"});
        assert_eq!(about(link), ("links".to_owned(), body));
    }

    // S-REMOTE-3
    #[test]
    fn what_is_of_this_machine_stays() {
        let line = |more: Value| {
            let mut line = json!({"id": "m1", "lesson": "x", "repo": "github.com/a/b"});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            sent_request(&line)
        };
        assert!(line(json!({})).is_some());
        for stays in [
            json!({"private": true}),
            json!({"repo": "global"}),
            json!({"repo": "api~0123abcd"}),
            json!({"event_type": "session"}),
            json!({"source": "hook"}),
        ] {
            assert_eq!(line(stays.clone()), None, "{stays}");
        }
    }

    // S-REMOTE-2
    #[test]
    fn only_our_problems_refuse_a_line() {
        let lesson = read(&json!({"id": "m1", "lesson": "x", "repo": "github.com/a/b"}));
        let feedback = read(
            &json!({"id": "e1", "memory_id": "m1", "event_type": "retract", "repo": "github.com/a/b"}),
        );
        let outcome_of = |event: &Event, status, form| {
            let answer = ServerAnswer { status, form, json: json!({"detail": "so it is"}) };
            delivery_outcome(event, &Ok(answer))
        };
        for status in [200, 201, 301, 400, 401, 403, 404, 413, 502] {
            for event in [&lesson, &feedback] {
                let outcome = outcome_of(event, status, AnswerContentType::Other);
                assert!(
                    matches!(outcome, DeliveryOutcome::Unavailable(_)),
                    "{status}: {outcome:?}"
                );
            }
        }
        let why = "it answered 400: so it is".to_owned();
        assert_eq!(
            outcome_of(&lesson, 400, AnswerContentType::Problem),
            DeliveryOutcome::Refused(why)
        );
        assert!(matches!(
            outcome_of(&feedback, 404, AnswerContentType::Problem),
            DeliveryOutcome::Unknown(_)
        ));
        assert!(matches!(
            outcome_of(&lesson, 404, AnswerContentType::Problem),
            DeliveryOutcome::Failed(_)
        ));
        assert!(matches!(
            outcome_of(&feedback, 409, AnswerContentType::Problem),
            DeliveryOutcome::InProgress(_)
        ));
        assert!(matches!(
            outcome_of(&lesson, 503, AnswerContentType::Problem),
            DeliveryOutcome::Failed(_)
        ));
        assert!(matches!(
            outcome_of(&lesson, 403, AnswerContentType::Problem),
            DeliveryOutcome::Unavailable(_)
        ));
        assert_eq!(outcome_of(&lesson, 201, AnswerContentType::Reply), DeliveryOutcome::Delivered);
    }

    // S-REMOTE-2
    #[test]
    fn a_mark_fits_and_changes_with_answers() {
        for id in ["e1", &"x".repeat(128)] {
            let id = EventId::foreign(id).unwrap();
            let (first, next) = (idempotency_key(&id, 0), idempotency_key(&id, 1));
            assert!(first != next && first == idempotency_key(&id, 0));
            assert!([first, next].iter().all(|mark| mark.len() <= KEY_BYTES_MAX));
        }
    }
}
