//! One line of a transcript of Claude Code: its fields, and what its tool calls and their results mean. Not here: sessions
//! and who said what (`claude_code`).

use serde::Deserialize;

use crate::readers::loose_json::{LooseItems, LooseValue};
use crate::transcript::{MomentKind, Outcome};

/// The fields of a line that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaudeLine {
    #[serde(rename = "type")]
    pub(super) kind: LooseValue,
    pub(super) subtype: LooseValue,
    pub(super) uuid: LooseValue,
    pub(super) session_id: LooseValue,
    pub(super) agent_id: LooseValue,
    pub(super) timestamp: LooseValue,
    pub(super) cwd: LooseValue,
    pub(super) git_branch: LooseValue,
    pub(super) entrypoint: LooseValue,
    pub(super) prompt_source: LooseValue,
    pub(super) origin: LooseItems<ClaudeOrigin>,
    pub(super) forked_from: LooseItems<ClaudeOrigin>,
    pub(super) is_sidechain: LooseValue,
    pub(super) is_meta: LooseValue,
    pub(super) is_compact_summary: LooseValue,
    pub(super) is_api_error_message: LooseValue,
    pub(super) message: LooseItems<ClaudeMessage>,
    pub(super) operation: LooseValue,
    pub(super) content: LooseValue,
    pub(super) attachment: LooseItems<ClaudeAttachment>,
    pub(super) custom_title: LooseValue,
    pub(super) ai_title: LooseValue,
    pub(super) summary: LooseValue,
    pub(super) leaf_uuid: LooseValue,
}

/// Who caused a prompt, or which session was copied.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaudeOrigin {
    pub(super) kind: LooseValue,
    pub(super) session_id: LooseValue,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeMessage {
    pub(super) model: LooseValue,
    pub(super) content: LooseItems<ClaudeBlock>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeAttachment {
    #[serde(rename = "type")]
    pub(super) kind: LooseValue,
    pub(super) prompt: LooseItems<ClaudeBlock>,
}

/// A part of a message: text, a call or its result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeBlock {
    #[serde(rename = "type")]
    pub(super) kind: LooseValue,
    pub(super) text: LooseValue,
    pub(super) id: LooseValue,
    pub(super) name: LooseValue,
    pub(super) input: LooseItems<ClaudeInput>,
    pub(super) tool_use_id: LooseValue,
    pub(super) content: LooseItems<ClaudeBlock>,
    pub(super) is_error: LooseValue,
}

/// The arguments of a call that tell what it was about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeInput {
    command: LooseValue,
    file_path: LooseValue,
    notebook_path: LooseValue,
    plan: LooseValue,
    questions: LooseItems<ClaudeQuestion>,
    pattern: LooseValue,
    query: LooseValue,
    url: LooseValue,
    prompt: LooseValue,
    skill: LooseValue,
    subject: LooseValue,
    path: LooseValue,
    description: LooseValue,
    title: LooseValue,
    text: LooseValue,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeQuestion {
    question: LooseValue,
}

/// Calls that say nothing worth keeping: lists that the agent keeps for itself.
const CALLS_LEFT: &[&str] =
    &["TodoWrite", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "BashOutput", "ToolSearch"];

/// All text of a content, its parts on lines of their own.
pub(super) fn text_of(content: &mut LooseItems<ClaudeBlock>) -> String {
    let mut text = content.text.take_text();
    for block in content.items.iter_mut().filter(|block| block.kind.text() == "text") {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(block.text.text());
    }
    text
}

/// What a call of a tool is: one event, or two for a plan.
pub(super) fn add_call(block: ClaudeBlock, found: &mut Vec<MomentKind>) {
    let (call, tool, mut input) = (block.id, block.name, block.input.into_first());
    let call = call.text().to_owned();
    match tool.text() {
        "Bash" | "PowerShell" => {
            found.push(MomentKind::Ran { call, command: input.command.take_text() });
        }
        "Edit" | "Write" | "MultiEdit" => {
            found.push(MomentKind::Edited { call, path: input.file_path.take_text() });
        }
        "NotebookEdit" => {
            found.push(MomentKind::Edited { call, path: input.notebook_path.take_text() });
        }
        name if CALLS_LEFT.contains(&name) => {}
        name => {
            let tool = name.to_owned();
            if name == "ExitPlanMode" {
                found.push(MomentKind::Planned(input.plan.take_text()));
            }
            found.push(MomentKind::Called { call, tool, argument: argument_of(input) });
        }
    }
}

/// The argument that says most.
fn argument_of(mut input: ClaudeInput) -> String {
    if !input.questions.items.is_empty() {
        let questions = input.questions.items.iter().map(|one| one.question.text());
        return questions.collect::<Vec<_>>().join("\n");
    }
    let fields = [
        &mut input.file_path,
        &mut input.pattern,
        &mut input.query,
        &mut input.url,
        &mut input.prompt,
        &mut input.skill,
        &mut input.subject,
        &mut input.path,
        &mut input.command,
        &mut input.description,
        &mut input.title,
        &mut input.text,
    ];
    fields
        .into_iter()
        .find(|field| field.some().is_some())
        .map(LooseValue::take_text)
        .unwrap_or_default()
}

/// How Claude Code words that a person refused a call.
const REFUSED: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
];

/// Before the reason of a refusal.
const REASON: &str = "the user said:\n";

/// After the reason: a hint to the model.
const REASON_END: &str = "\n\nNote: The user's next message";

/// A reason in the words of the tool: the person wants to talk before they answer.
const NO_REASON: &str = "The user wants to clarify these questions";

/// Around the answers to a question of the agent.
const ANSWERS: &[&str] = &["User has answered your questions:", "User answered your questions:"];
const ANSWERS_END: &str = ". You can now continue";

/// The exit code of a command that was stopped because its time ran out.
const TIME_RAN_OUT: i32 = 143;

/// How a call ended, and what the person decided by it.
pub(super) fn call_outcome(text: &str, is_error: bool) -> (Outcome, Option<String>) {
    let text = text.trim_start();
    if !is_error {
        let answers = ANSWERS.iter().find_map(|begin| text.strip_prefix(begin)).map(|answers| {
            answers.rsplit_once(ANSWERS_END).map_or(answers, |(kept, _)| kept).trim().to_owned()
        });
        // A command in the background has not ended.
        let is_open = text.starts_with("Command running in background");
        return (if is_open { Outcome::Unknown } else { Outcome::Succeeded }, answers);
    }
    if REFUSED.iter().any(|begin| text.starts_with(begin)) {
        let reason = text.split_once(REASON).map(|(_, reason)| reason);
        let reason = reason
            .map(|reason| reason.split_once(REASON_END).map_or(reason, |(kept, _)| kept).trim())
            .filter(|reason| !reason.is_empty() && !reason.starts_with(NO_REASON))
            .map(str::to_owned);
        return (Outcome::Refused(reason.clone()), reason);
    }
    if text.starts_with("Command timed out after") {
        return (Outcome::Exited(TIME_RAN_OUT), None);
    }
    let code = text.strip_prefix("Exit code ").and_then(|rest| {
        let end = rest.find(|next: char| !next.is_ascii_digit() && next != '-');
        rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
    });
    let outcome = match code {
        None => Outcome::Faulted,
        Some(0) => Outcome::Succeeded,
        Some(code) => Outcome::Exited(code),
    };
    (outcome, None)
}
