//! The messages of OpenCode, 1.x (a message with parts) and 2.x (one row with all its content), as what happened.
//! Not here: where they stand (`opencode`, `opencode_tables`).

use serde_json::Value;

use super::tool_calls::{
    AgentCall, CallKind, exit_code_in, exit_outcome, joined_text, millis_at, text_at,
};
use crate::prompt_text::typed_text;
use crate::transcript::{
    MomentKind, Outcome, RecordStatus, SessionExtent, SessionFact, TitleSource, TranscriptMoment,
    TranscriptSink,
};

/// The tool asks this itself when it compacts a session.
const ASKED_BY_THE_TOOL: &str = "What did we do so far?";

/// How the errors of refused calls begin; a reason may follow.
const REFUSED: &str = "The user rejected permission to use this specific tool call";
const REFUSED_BECAUSE: &str = " with the following feedback: ";

/// Titles that the tool gives before a model finds one.
const UNTITLED: &[&str] = &["New session - ", "Child session - "];

/// What all parts of a message have in common.
pub(super) struct MessageHead {
    /// Its id.
    pub(super) id: String,
    at_ms: Option<i64>,
    author: MessageAuthor,
}

/// Who wrote a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageAuthor {
    Person,
    Agent,
    /// The agent, who sums up the session so far.
    Summariser,
}

/// Begins a session and reports what is known about it. `info` is the session as the tool exports it.
pub(super) fn report_session(id: &str, info: &Value, sink: &mut dyn TranscriptSink) {
    sink.session(id, SessionExtent::Whole);
    if let Some(title) = text_at(info, &["/title"])
        && !UNTITLED.iter().any(|begin| title.starts_with(begin))
    {
        sink.fact(SessionFact::Title(TitleSource::Model, title.to_owned()));
    }
    if let Some(directory) = text_at(info, &["/directory"]) {
        sink.fact(SessionFact::Directory(directory.to_owned()));
    }
    if let Some(parent) = text_at(info, &["/parentID"]) {
        sink.fact(SessionFact::Parent(parent.to_owned()));
        sink.fact(SessionFact::ByProgram);
    }
    if let Some(fork) = text_at(info, &["/forkID"]) {
        sink.fact(SessionFact::ForkOf(fork.to_owned()));
    }
    if is_without_a_person(info) {
        sink.fact(SessionFact::ByProgram);
    }
}

/// `opencode run` forbids the agent to ask, as nobody is there to answer.
fn is_without_a_person(info: &Value) -> bool {
    let rules = info.pointer("/permission").and_then(Value::as_array);
    rules.into_iter().flatten().any(|rule| {
        text_at(rule, &["/permission"]) == Some("question")
            && text_at(rule, &["/action"]) == Some("deny")
    })
}

/// Returns the message from which on the session was undone, if the person undid something and has not gone on.
pub(super) fn undone_from(info: &Value) -> Option<&str> {
    text_at(info, &["/revert/messageID"])
}

impl MessageHead {
    /// Reads the head of a 1.x message. One that is too long to read is a person's: the tool adds the changes that followed
    /// to those, and nothing to others.
    pub(super) fn from_info(id: &str, created: Option<i64>, info: Option<&Value>) -> Option<Self> {
        let Some(info) = info else {
            return Some(Self { id: id.to_owned(), at_ms: created, author: MessageAuthor::Person });
        };
        let author = match text_at(info, &["/role"])? {
            "user" => MessageAuthor::Person,
            "assistant" if info.get("summary") == Some(&Value::Bool(true)) => {
                MessageAuthor::Summariser
            }
            "assistant" => MessageAuthor::Agent,
            _ => return None,
        };
        let at_ms = millis_at(info, &["/time/created"]).or(created);
        Some(Self { id: id.to_owned(), at_ms, author })
    }

    /// Reports one part of the message.
    pub(super) fn report_part(&self, id: &str, part: &Value, sink: &mut dyn TranscriptSink) {
        let record = match text_at(part, &["/type"]).unwrap_or_default() {
            "text" => self.report_text(part, sink),
            "tool" => {
                let name = text_at(part, &["/tool"]).unwrap_or_default();
                let at_ms = self.begun(millis_at(part, &["/state/time/start"]));
                report_tool(&self.id, at_ms, (id, name), part, sink);
                RecordStatus::Understood
            }
            "reasoning" | "step-start" | "step-finish" | "patch" | "file" | "snapshot"
            | "subtask" | "compaction" | "agent" | "retry" => RecordStatus::Left,
            kind => RecordStatus::Unknown(kind),
        };
        sink.count(record);
    }

    fn report_text(&self, part: &Value, sink: &mut dyn TranscriptSink) -> RecordStatus<'static> {
        let is_set = |name: &str| part.get(name).and_then(Value::as_bool).unwrap_or_default();
        let text = text_at(part, &["/text"]).unwrap_or_default();
        if is_set("synthetic") || is_set("ignored") || text.is_empty() {
            return RecordStatus::Left;
        }
        let at_ms = self.begun(millis_at(part, &["/time/start"]));
        let what = match self.author {
            MessageAuthor::Person => match asked(text) {
                Some(text) => MomentKind::Asked(text),
                None => return RecordStatus::Left,
            },
            MessageAuthor::Agent => MomentKind::Answered(text.to_owned()),
            MessageAuthor::Summariser => MomentKind::Summarised(text.to_owned()),
        };
        sink.moment(moment(&self.id, at_ms, what));
        RecordStatus::Understood
    }

    /// Reports why the message ended early, if it did.
    pub(super) fn report_error(&self, info: &Value, sink: &mut dyn TranscriptSink) {
        report_error(&self.id, self.at_ms, info, sink);
    }

    /// A part does not begin before its message.
    fn begun(&self, start: Option<i64>) -> Option<i64> {
        start.filter(|start| self.at_ms.is_none_or(|created| *start >= created)).or(self.at_ms)
    }
}

/// Reports a message of 2.x.
pub(super) fn report_message(
    id: &str,
    kind: &str,
    created: Option<i64>,
    data: &Value,
    sink: &mut dyn TranscriptSink,
) {
    let at_ms = millis_at(data, &["/time/created"]).or(created);
    let text = text_at(data, &["/text", "/summary"]).unwrap_or_default();
    let what = match kind {
        "user" => asked(text).map(MomentKind::Asked),
        "compaction" => Some(MomentKind::Summarised(text.to_owned())),
        "shell" => {
            let state = data.get("state").unwrap_or(data);
            let ended = Some((outcome_of("shell", state), output_of(state)));
            let call = AgentCall {
                message_id: Some(id),
                at_ms,
                id,
                name: "shell",
                kind: CallKind::Shell,
                input: data,
            };
            call.report(ended, sink);
            return sink.count(RecordStatus::Understood);
        }
        "assistant" => {
            let content = data.get("content").and_then(Value::as_array);
            for (place, item) in content.into_iter().flatten().enumerate() {
                report_item((id, place), at_ms, item, sink);
            }
            report_error(id, at_ms, data, sink);
            return sink.count(RecordStatus::Understood);
        }
        "system" | "synthetic" | "idle" => None,
        _ if kind.ends_with("-switched") => None,
        _ => return sink.count(RecordStatus::Unknown(kind)),
    };
    sink.count(if what.is_some() { RecordStatus::Understood } else { RecordStatus::Left });
    if let Some(what) = what {
        sink.moment(moment(id, at_ms, what));
    }
}

/// Reports an item of what the agent of 2.x said and did.
fn report_item(
    (message, place): (&str, usize),
    at_ms: Option<i64>,
    item: &Value,
    sink: &mut dyn TranscriptSink,
) {
    match text_at(item, &["/type"]).unwrap_or_default() {
        "text" => {
            let text = text_at(item, &["/text"]).unwrap_or_default();
            sink.moment(moment(message, at_ms, MomentKind::Answered(text.to_owned())));
        }
        "tool" => {
            let name = text_at(item, &["/name", "/tool"]).unwrap_or_default();
            let start = millis_at(item, &["/time/created", "/state/time/start"]);
            let at_ms = start.filter(|start| at_ms.is_none_or(|at| *start >= at)).or(at_ms);
            report_tool(message, at_ms, (&format!("{message}/{place}"), name), item, sink);
        }
        "reasoning" | "file" => {}
        kind => sink.count(RecordStatus::Unknown(kind)),
    }
}

/// Reports a call. Its id is that of its part: models give the same one to several calls.
fn report_tool(
    message: &str,
    at_ms: Option<i64>,
    (id, name): (&str, &str),
    part: &Value,
    sink: &mut dyn TranscriptSink,
) {
    let state = part.get("state").unwrap_or(&Value::Null);
    let kind = match name {
        "bash" | "shell" | "powershell" => CallKind::Shell,
        "edit" | "write" | "multiedit" | "patch" | "apply_patch" => CallKind::Edit,
        _ => CallKind::Other,
    };
    let input = state.get("input").unwrap_or(&Value::Null);
    let call = AgentCall { message_id: Some(message), at_ms, id, name, kind, input };
    let is_over = matches!(text_at(state, &["/status"]), Some("completed" | "error"));
    call.report(is_over.then(|| (outcome_of(name, state), output_of(state))), sink);
    if name == "question"
        && let Some(decision) = decision_of(state)
    {
        sink.moment(moment(message, at_ms, MomentKind::Decided(decision)));
    }
}

/// A command that fails is `completed` like one that succeeds; only its exit code tells.
fn outcome_of(name: &str, state: &Value) -> Outcome {
    let error = state.get("error").map(joined_text).unwrap_or_default();
    if let Some(rest) = error.strip_prefix(REFUSED) {
        return Outcome::Refused(rest.strip_prefix(REFUSED_BECAUSE).map(str::to_owned));
    }
    let is_shell = matches!(name, "bash" | "shell" | "powershell");
    let exit = ["/metadata/exit", "/exit", "/exitCode"]
        .iter()
        .find_map(|pointer| state.pointer(pointer))
        .filter(|_| is_shell);
    match exit {
        Some(Value::Number(code)) => return code.as_i64().map_or(Outcome::Faulted, exit_outcome),
        // Time ran out, or the command was stopped.
        Some(Value::Null) => return Outcome::Faulted,
        _ => {}
    }
    match text_at(state, &["/status"]) {
        Some("error") if is_shell => {
            let code = error.strip_prefix("exit ").and_then(|code| code.trim().parse().ok());
            code.or_else(|| exit_code_in(&error)).map_or(Outcome::Faulted, Outcome::Exited)
        }
        Some("error") => Outcome::Faulted,
        // The tool runs this in the place of a call whose arguments are wrong.
        Some("completed") if name == "invalid" => Outcome::Faulted,
        Some("completed") if !is_shell => Outcome::Succeeded,
        _ => Outcome::Unknown,
    }
}

fn output_of(state: &Value) -> String {
    let texts = [state.get("error"), state.get("output"), state.get("content")];
    texts.into_iter().flatten().map(joined_text).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns the answers of a person to the questions of the agent, each behind its question.
fn decision_of(state: &Value) -> Option<String> {
    let answers = state.pointer("/metadata/answers")?.as_array()?;
    let questions = state.pointer("/input/questions").and_then(Value::as_array);
    let line = |(place, answer): (usize, &Value)| {
        let question = questions.and_then(|questions| questions.get(place));
        let question = question.and_then(|one| text_at(one, &["/question"])).unwrap_or_default();
        format!("{question} {}", joined_text(answer)).trim().to_owned()
    };
    Some(answers.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))
}

fn report_error(message: &str, at_ms: Option<i64>, info: &Value, sink: &mut dyn TranscriptSink) {
    let Some(error) = info.get("error").filter(|error| !error.is_null()) else { return };
    let name = text_at(error, &["/name", "/type"]).unwrap_or_default();
    let what = if name == "MessageAbortedError" || name == "aborted" {
        MomentKind::Interrupted
    } else {
        let text = text_at(error, &["/data/message", "/message"]).or(error.as_str());
        MomentKind::Failed(text.unwrap_or(name).to_owned())
    };
    sink.moment(moment(message, at_ms, what));
}

/// Returns what a person asked, or nothing if the tool did. `opencode run` puts its arguments in quotes.
fn asked(text: &str) -> Option<String> {
    let text = typed_text(&unquoted(text.trim()));
    (!text.is_empty() && text != ASKED_BY_THE_TOOL).then_some(text)
}

fn unquoted(text: &str) -> String {
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let is_whole = |inside: &&str| !inside.replace("\\\"", "").contains('"');
    inside.filter(is_whole).map_or_else(|| text.to_owned(), |inside| inside.replace("\\\"", "\""))
}

fn moment(message: &str, at_ms: Option<i64>, what: MomentKind) -> TranscriptMoment {
    TranscriptMoment { message_id: Some(message.to_owned()), at_ms, kind: what }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_exit_code_tells_that_a_command_failed() {
        let state = |state: Value| outcome_of("bash", &state);
        assert_eq!(
            state(json!({"status": "completed", "metadata": {"exit": 3}})),
            Outcome::Exited(3)
        );
        assert_eq!(
            state(json!({"status": "completed", "metadata": {"exit": 0}})),
            Outcome::Succeeded
        );
        assert_eq!(
            state(json!({"status": "completed", "metadata": {"exit": null}})),
            Outcome::Faulted
        );
        assert_eq!(state(json!({"status": "completed"})), Outcome::Unknown);
        assert_eq!(state(json!({"status": "error", "error": "exit 1"})), Outcome::Exited(1));
        assert_eq!(
            state(json!({"status": "error", "error": {"message": "no shell"}})),
            Outcome::Faulted
        );
    }

    #[test]
    fn a_refusal_keeps_its_reason_and_a_bad_call_is_a_fault() {
        let refused = format!("{REFUSED}.");
        let because = format!("{REFUSED}{REFUSED_BECAUSE}use pnpm");
        let state = |error: &str| json!({"status": "error", "error": error});
        assert_eq!(outcome_of("bash", &state(&refused)), Outcome::Refused(None));
        assert_eq!(
            outcome_of("edit", &state(&because)),
            Outcome::Refused(Some("use pnpm".to_owned()))
        );
        assert_eq!(outcome_of("invalid", &json!({"status": "completed"})), Outcome::Faulted);
    }

    #[test]
    fn quotes_of_the_command_line_go_and_those_of_a_person_stay() {
        assert_eq!(unquoted(r#""say \"hi\" now""#), r#"say "hi" now"#);
        assert_eq!(unquoted(r#""a b" c "d e""#), r#""a b" c "d e""#);
        assert_eq!(asked("What did we do so far?"), None);
    }

    #[test]
    fn answers_stand_behind_their_questions() {
        let state = json!({
            "input": {"questions": [{"question": "Which port?"}, {"question": "Why?"}]},
            "metadata": {"answers": [["8080"], ["a", "b"]]},
        });
        assert_eq!(decision_of(&state).as_deref(), Some("Which port? 8080\nWhy? a\nb"));
    }
}
