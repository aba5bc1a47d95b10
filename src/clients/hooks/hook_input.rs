//! The input of a hook, read into one closed enum. Every client has its own names for the same things and adds fields
//! with each release. Texts lose their secrets here, whole, before anything is cut off or taken apart. Known fields are looked up wherever a client may have put them; all others are ignored. Not
//! here: whether a tool failed (`outcome`), and what happens next (`mod`).

use std::io::Read;
use std::path::PathBuf;

use event::from_json;
use serde_json::{Map, Value};

use super::no_answer::NoAnswer;
use super::outcome::{self, OutcomeEvidence, ToolOutcome};
use super::payload_fields::{object, plain_name, text};
use super::tool::{Tool, changed_files, shell_command};
use guard::fence::unfenced;
use guard::secrets::RedactedText;
use learning::commands;
use learning::same_command::RawCommand;

/// Longest input, in bytes. Clients include whole files that a tool has read. Longer input is refused, since reading
/// it would take longer than a hook may take.
const INPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Longest part of a prompt that is looked up, in bytes.
const PROMPT_BYTES_MAX: usize = 2_000;

/// Longest part of a command that is read, in bytes. Of a longer one nothing is learned ([`commands::is_trivial`]), so what is read must
/// be longer than that.
const COMMAND_BYTES_MAX: usize = 4 * commands::COMMAND_BYTES_MAX;

/// Longest session id, in bytes.
const SESSION_BYTES_MAX: usize = 256;

/// One event of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookInput {
    /// What happened.
    pub event: HookEvent,
    /// The client's own name for the event; the answer must repeat it.
    pub event_name: String,
    /// The id of the session, if the client sends it.
    pub session_id: Option<RedactedText>,
    /// The id of the subagent that it happened to, if the client sends one.
    pub subagent: Option<RedactedText>,
    /// The working directory of the session, if the client sends it.
    pub directory: Option<PathBuf>,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEvent {
    /// A session starts or is resumed.
    Start(StartReason),
    /// The user sends a prompt.
    Prompt(RedactedText),
    /// A tool failed.
    ToolFailed(ToolCall),
    /// A tool succeeded.
    ToolSucceeded(ToolCall),
    /// The context is about to be compacted.
    Compact,
    /// A session ends.
    End,
}

/// Why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartReason {
    /// It is new.
    Fresh,
    /// It was interrupted, and its context is restored.
    Resumed,
    /// Its context was compacted or cleared.
    Emptied,
    /// A subagent begins, in a context of its own.
    Subagent(SubagentWork),
}

/// What a subagent can do, as far as its type tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubagentWork {
    /// It only looks and reports.
    Looks,
    /// Anything.
    Any,
}

/// The types of subagents that come with clients and only look.
const LOOKING: [&str; 3] = ["explore", "explorer", "plan"];

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The kind of tool.
    pub tool: Tool,
    /// The command of a shell; empty for other tools.
    pub command: RedactedText,
    /// The same with its secrets, to be recognised by.
    pub raw_command: RawCommand,
    /// The files that it changed.
    pub files: Vec<RedactedText>,
    /// Both ends of its output.
    pub output: RedactedText,
    /// How certain the failure is, if it failed.
    pub evidence: OutcomeEvidence,
}

/// Reads the input of a hook. `event` names the event if the input does not.
///
/// # Errors
/// [`NoAnswer`] if the input cannot be read, or the event is not handled.
pub fn read(input: &mut dyn Read, event: Option<&str>) -> Result<HookInput, NoAnswer> {
    let mut bytes = Vec::new();
    let read = input.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| NoAnswer::Input(error.to_string()))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > INPUT_BYTES_MAX {
        return Err(NoAnswer::Input(format!("more than {INPUT_BYTES_MAX} bytes")));
    }
    match from_json(&String::from_utf8_lossy(&bytes)) {
        Ok(Value::Object(fields)) => parse(&fields, event),
        Ok(_) => Err(NoAnswer::Input("JSON, but not an object".to_owned())),
        Err(error) => Err(NoAnswer::Input(format!("not JSON: {error}"))),
    }
}

fn parse(fields: &Map<String, Value>, event: Option<&str>) -> Result<HookInput, NoAnswer> {
    let named = text(fields, &["hook_event_name", "hookEventName", "hookName"]).or(event);
    let event_name = named.ok_or(NoAnswer::NoEvent)?.to_owned();
    let event = event_of(fields, &event_name)?;
    let session = text(
        fields,
        &["session_id", "sessionId", "sessionID", "conversation_id", "taskId", "thread_id"],
    );
    let session_id = session
        .filter(|id| !id.is_empty() && id.len() <= SESSION_BYTES_MAX)
        .map(RedactedText::stamp);
    let subagent = text(fields, &["agent_id", "agentId", "subagent_id"]);
    let subagent = subagent
        .filter(|id| !id.is_empty() && id.len() <= SESSION_BYTES_MAX)
        .map(RedactedText::stamp);
    let first_root = ["workspace_roots", "workspaceRoots"]
        .iter()
        .find_map(|name| fields.get(*name)?.get(0)?.as_str());
    let directory = text(fields, &["cwd", "working_directory", "workingDirectory"]).or(first_root);
    let directory = directory.map(PathBuf::from).filter(|path| path.is_absolute());
    Ok(HookInput { event, event_name, session_id, subagent, directory })
}

fn event_of(fields: &Map<String, Value>, event: &str) -> Result<HookEvent, NoAnswer> {
    Ok(match plain_name(event).as_str() {
        "sessionstart" | "taskstart" | "start" => HookEvent::Start(start_reason(fields)),
        "subagentstart" => {
            let kind = text(fields, &["agent_type", "agentType", "subagent_type"]);
            let kind = kind.map(plain_name).unwrap_or_default();
            let looks = LOOKING.contains(&kind.as_str());
            let work = if looks { SubagentWork::Looks } else { SubagentWork::Any };
            HookEvent::Start(StartReason::Subagent(work))
        }
        "taskresume" => HookEvent::Start(StartReason::Resumed),
        "userpromptsubmit"
        | "userpromptsubmitted"
        | "beforeagent"
        | "beforesubmitprompt"
        | "prompt" => {
            let inner = fields.get("userPromptSubmit").and_then(Value::as_object).unwrap_or(fields);
            let prompt = text(inner, &["prompt", "message", "text"]).unwrap_or_default();
            // Gemini CLI puts the answer of the start hook in front of the first prompt.
            let said_first = prompt.strip_prefix("<hook_context>");
            let own = said_first.and_then(|rest| Some(rest.split_once("</hook_context>")?.1));
            let own = unfenced(own.unwrap_or(prompt));
            HookEvent::Prompt(RedactedText::beginning(own.trim(), PROMPT_BYTES_MAX))
        }
        "posttoolusefailure" | "toolfailed" => tool(fields, Some(ToolOutcome::Failed))?,
        "posttooluse" | "aftertool" | "toolsucceeded" => tool(fields, None)?,
        "precompact" | "precompress" | "compact" => HookEvent::Compact,
        "sessionend" | "taskcomplete" | "taskcancel" | "sessionshutdown" | "end" => HookEvent::End,
        _ => return Err(NoAnswer::OtherEvent(RedactedText::stamp(event).cut(40).into_string())),
    })
}

fn start_reason(fields: &Map<String, Value>) -> StartReason {
    match text(fields, &["source", "trigger"]).map(plain_name).as_deref() {
        Some("resume" | "fork") => StartReason::Resumed,
        Some("clear" | "compact") => StartReason::Emptied,
        _ => StartReason::Fresh,
    }
}

/// Reads a call of a tool. `stated` is its outcome if the name of the event says it.
fn tool(fields: &Map<String, Value>, stated: Option<ToolOutcome>) -> Result<HookEvent, NoAnswer> {
    let inner = fields.get("postToolUse").and_then(Value::as_object).unwrap_or(fields);
    let name = text(inner, &["tool_name", "toolName", "tool"]).unwrap_or_default();
    let input = ["tool_input", "toolInput", "toolArgs", "args", "parameters"];
    let input = input.iter().find_map(|name| object(inner.get(*name)?)).unwrap_or_default();
    let tool = Tool::from_name(name);
    let result = outcome::tool_result(inner, &tool);
    if result.is_interrupted {
        return Err(NoAnswer::Interrupted);
    }
    let command =
        if tool == Tool::Shell { unfenced(&shell_command(&input)) } else { String::new() };
    let files = if tool == Tool::Edit { changed_files(&input) } else { Vec::new() };
    let call = ToolCall {
        command: RedactedText::beginning(&command, COMMAND_BYTES_MAX),
        raw_command: RawCommand::new(command),
        files: files.iter().map(|file| RedactedText::redact(file)).collect(),
        output: result.output,
        evidence: if stated.is_some() { OutcomeEvidence::Stated } else { result.evidence },
        tool,
    };
    Ok(match stated.unwrap_or(result.outcome) {
        ToolOutcome::Running => {
            return Err(NoAnswer::Nothing("the command still runs in the background"));
        }
        ToolOutcome::Failed => HookEvent::ToolFailed(call),
        ToolOutcome::Succeeded => HookEvent::ToolSucceeded(call),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_value(value: &Value) -> Result<HookInput, NoAnswer> {
        read(&mut value.to_string().as_bytes(), None)
    }

    fn parse_event(value: &Value) -> HookEvent {
        parse_value(value).unwrap().event
    }

    // S-HOOK-1
    #[test]
    fn the_input_of_each_client_is_understood() {
        for (client, value) in [
            (
                "claude-code",
                json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
                "tool_input": {"command": "npm ci"}, "error": "Exit code 1\nboom"}),
            ),
            (
                "codex",
                json!({"hook_event_name": "PostToolUse", "tool_name": "shell",
                "tool_input": {"command": ["bash", "-lc", "npm ci"]},
                "tool_response": "{\"output\":\"boom\",\"metadata\":{\"exit_code\":1}}"}),
            ),
            (
                "codex, newer",
                json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": {"command": "npm ci"}, "tool_response": "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom"}),
            ),
            (
                "gemini",
                json!({"hook_event_name": "AfterTool", "tool_name": "run_shell_command",
                "tool_input": {"command": "npm ci"}, "tool_response": {"llmContent": "Output: boom\nExit Code: 1"}}),
            ),
            (
                "gemini, error",
                json!({"hook_event_name": "AfterTool", "tool_name": "run_shell_command",
                "tool_input": {"command": "npm ci"}, "tool_response": {"error": {"message": "boom"}}}),
            ),
            (
                "cursor",
                json!({"hook_event_name": "postToolUseFailure", "tool_name": "Shell",
                "tool_input": "{\"command\":\"npm ci\"}", "error_message": "boom"}),
            ),
            (
                "copilot",
                json!({"hookEventName": "postToolUseFailure", "toolName": "bash",
                "toolArgs": "{\"command\":\"npm ci\"}", "error": "boom"}),
            ),
            (
                "cline",
                json!({"hookName": "PostToolUse", "postToolUse": {"toolName": "execute_command",
                "parameters": {"command": "npm ci"}, "result": "boom", "success": false}}),
            ),
        ] {
            let HookEvent::ToolFailed(call) = parse_event(&value) else { panic!("{client}") };
            assert_eq!((call.tool, call.command.as_str()), (Tool::Shell, "npm ci"), "{client}");
            assert!(call.output.contains("boom"), "{client}: {}", call.output);
        }
    }

    #[test]
    fn session_and_directory_are_found_under_every_name() {
        for value in [
            json!({"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/w", "source": "startup"}),
            json!({"hookEventName": "sessionStart", "sessionId": "s1", "cwd": "/w", "unheard": {"of": 1}}),
            json!({"hook_event_name": "sessionStart", "conversation_id": "s1", "workspace_roots": ["/w"]}),
            json!({"hookName": "TaskStart", "taskId": "s1", "workspaceRoots": ["/w", "/x"]}),
        ] {
            let input = parse_value(&value).unwrap();
            assert_eq!(input.event, HookEvent::Start(StartReason::Fresh));
            assert_eq!(input.session_id.as_deref(), Some("s1"));
            assert_eq!(input.directory, Some(PathBuf::from("/w")));
        }
        let value = json!({"session_id": 5, "cwd": "relative", "source": "compact"});
        let input = read(&mut value.to_string().as_bytes(), Some("sessionStart")).unwrap();
        assert_eq!((input.session_id, input.directory), (None, None));
        assert_eq!(input.event, HookEvent::Start(StartReason::Emptied));
    }

    #[test]
    fn earlier_hook_answers_are_removed_from_a_prompt() {
        let prompt = "<hook_context>MARK</hook_context>\n\nfix the build";
        let value = json!({"hook_event_name": "BeforeAgent", "prompt": prompt});
        assert_eq!(parse_event(&value), HookEvent::Prompt("fix the build".into()));
    }

    #[test]
    fn the_files_of_a_patch_are_known() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n+x\n*** Add File: b.toml\n*** End Patch";
        let value = json!({"hook_event_name": "PostToolUse", "tool_name": "apply_patch",
            "tool_input": {"command": patch}, "tool_response": "Success"});
        let HookEvent::ToolSucceeded(call) = parse_event(&value) else { panic!() };
        assert_eq!((call.tool, call.files), (Tool::Edit, vec!["src/a.rs".into(), "b.toml".into()]));
    }

    // S-HOOK-2
    #[test]
    fn other_input_gets_no_answer() {
        for text in [
            "",
            "x",
            "[]",
            "5",
            "{}",
            "{\"hook_event_name\":\"Notification\"}",
            "{\"hook_event_name\":7}",
        ] {
            assert!(read(&mut text.as_bytes(), None).is_err(), "{text}");
        }
        let stop = json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "x", "is_interrupt": true});
        assert!(matches!(parse_value(&stop), Err(NoAnswer::Interrupted)));
        let long = vec![b' '; usize::try_from(INPUT_BYTES_MAX).unwrap() + 1];
        assert!(matches!(read(&mut long.as_slice(), None), Err(NoAnswer::Input(_))));
    }
}
