//! One line of a transcript of Claude Code: its fields, and what its tool calls and their results mean. Not here: sessions
//! and who said what (`claude_code`).

use serde::Deserialize;

use crate::readers::loose_json::{Loose, Shaped};
use crate::transcript::{Happening, Outcome};

/// The fields of a line that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaudeLine {
    #[serde(rename = "type")]
    pub(super) kind: Loose,
    pub(super) subtype: Loose,
    pub(super) uuid: Loose,
    pub(super) session_id: Loose,
    pub(super) agent_id: Loose,
    pub(super) timestamp: Loose,
    pub(super) cwd: Loose,
    pub(super) git_branch: Loose,
    pub(super) entrypoint: Loose,
    pub(super) prompt_source: Loose,
    pub(super) origin: Shaped<ClaudeOrigin>,
    pub(super) forked_from: Shaped<ClaudeOrigin>,
    pub(super) is_sidechain: Loose,
    pub(super) is_meta: Loose,
    pub(super) is_compact_summary: Loose,
    pub(super) is_api_error_message: Loose,
    pub(super) message: Shaped<ClaudeMessage>,
    pub(super) operation: Loose,
    pub(super) content: Loose,
    pub(super) attachment: Shaped<ClaudeAttachment>,
    pub(super) custom_title: Loose,
    pub(super) ai_title: Loose,
    pub(super) summary: Loose,
    pub(super) leaf_uuid: Loose,
}

/// Who caused a prompt, or which session was copied.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaudeOrigin {
    pub(super) kind: Loose,
    pub(super) session_id: Loose,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeMessage {
    pub(super) model: Loose,
    pub(super) content: Shaped<ClaudeBlock>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeAttachment {
    #[serde(rename = "type")]
    pub(super) kind: Loose,
    pub(super) prompt: Shaped<ClaudeBlock>,
}

/// A part of a message: text, a call or its result.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeBlock {
    #[serde(rename = "type")]
    pub(super) kind: Loose,
    pub(super) text: Loose,
    pub(super) id: Loose,
    pub(super) name: Loose,
    pub(super) input: Shaped<ClaudeInput>,
    pub(super) tool_use_id: Loose,
    pub(super) content: Shaped<ClaudeBlock>,
    pub(super) is_error: Loose,
}

/// The arguments of a call that tell what it was about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeInput {
    command: Loose,
    file_path: Loose,
    notebook_path: Loose,
    plan: Loose,
    questions: Shaped<ClaudeQuestion>,
    pattern: Loose,
    query: Loose,
    url: Loose,
    prompt: Loose,
    skill: Loose,
    subject: Loose,
    path: Loose,
    description: Loose,
    title: Loose,
    text: Loose,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudeQuestion {
    question: Loose,
}

/// Calls that say nothing worth keeping: lists that the agent keeps for itself.
const CALLS_LEFT: &[&str] =
    &["TodoWrite", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "BashOutput", "ToolSearch"];

/// All text of a content, its parts on lines of their own.
pub(super) fn text_of(content: &mut Shaped<ClaudeBlock>) -> String {
    let mut text = content.text.take();
    for block in content.items.iter_mut().filter(|block| block.kind.text() == "text") {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(block.text.text());
    }
    text
}

/// What a call of a tool is: one event, or two for a plan.
pub(super) fn called(block: ClaudeBlock, found: &mut Vec<Happening>) {
    let (call, tool, mut input) = (block.id, block.name, block.input.into_first());
    let call = call.text().to_owned();
    match tool.text() {
        "Bash" | "PowerShell" => {
            found.push(Happening::Ran { call, command: input.command.take() });
        }
        "Edit" | "Write" | "MultiEdit" => {
            found.push(Happening::Edited { call, path: input.file_path.take() });
        }
        "NotebookEdit" => {
            found.push(Happening::Edited { call, path: input.notebook_path.take() });
        }
        name if CALLS_LEFT.contains(&name) => {}
        name => {
            let tool = name.to_owned();
            if name == "ExitPlanMode" {
                found.push(Happening::Planned(input.plan.take()));
            }
            found.push(Happening::Called { call, tool, argument: argument_of(input) });
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
    fields.into_iter().find(|field| field.some().is_some()).map(Loose::take).unwrap_or_default()
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
pub(super) fn returned(text: &str, is_error: bool) -> (Outcome, Option<String>) {
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
