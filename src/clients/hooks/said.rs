//! What a client says to its hook, in one closed enum. Every client has other names for the same things, and
//! new fields with each release: those we know are looked for wherever a client may have put them, all others
//! are passed over. Not here: whether a tool failed (`outcome`), what is done about it (the recipe).

use std::io::Read;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::Silence;
use super::outcome::{self, Evidence, Outcome};

/// Longest input, in bytes: a client hands over whole files that a tool has read. What is longer is not looked
/// at, since reading it would take the time there is.
const INPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Longest session id that names a session, in bytes.
const SESSION_BYTES_MAX: usize = 256;

/// What happened in a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What.
    pub happening: Happening,
    /// What the client calls it; its answer must name it so.
    pub event: String,
    /// The session, where the client tells it.
    pub session_id: Option<String>,
    /// Where it works, where it tells that.
    pub directory: Option<PathBuf>,
}

/// All that can happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A session begins, or goes on.
    Start(Why),
    /// Somebody asks for something.
    Prompt(String),
    /// A tool did not do what it should.
    ToolFailed(ToolCall),
    /// A tool did.
    ToolSucceeded(ToolCall),
    /// What was said so far is about to be put in fewer words.
    Compact,
    /// A session is over.
    End,
}

/// Why a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is a new one.
    Fresh,
    /// It was broken off and all that was said is there again.
    Resumed,
    /// All that was said was put in fewer words, or away.
    Emptied,
}

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Which tool.
    pub tool: Tool,
    /// What a shell ran; empty for other tools.
    pub command: String,
    /// The files it changed.
    pub files: Vec<String>,
    /// What it said.
    pub output: String,
    /// How it is known that it failed, if it did.
    pub evidence: Evidence,
}

/// The kinds of tools that make a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Runs commands.
    Shell,
    /// Changes files.
    Edit,
    /// Looks at something; that there is nothing to see is no failure.
    Look,
    /// Any other, by its name.
    Other(String),
}

/// Names of shells among tools.
const SHELLS: [&str; 11] = [
    "bash",
    "shell",
    "localshell",
    "runshellcommand",
    "executecommand",
    "execcommand",
    "runterminalcmd",
    "runterminalcommand",
    "runinterminal",
    "terminal",
    "powershell",
];
/// Beginnings of the names of tools that change files.
const EDITORS: [&str; 8] =
    ["edit", "write", "multiedit", "notebookedit", "applypatch", "replace", "strreplace", "create"];
/// Beginnings of the names of tools that look.
const LOOKERS: [&str; 13] = [
    "read",
    "grep",
    "glob",
    "ls",
    "list",
    "search",
    "find",
    "web",
    "fetch",
    "todo",
    "view",
    "memory",
    "mcpagentknowledge",
];

/// Reads what a client says. `event` names what happened where the client does not.
///
/// # Errors
/// [`Silence`]: it is no such thing, or nothing that concerns us.
pub fn read(input: &mut dyn Read, event: Option<&str>) -> Result<Said, Silence> {
    let mut bytes = Vec::new();
    let read = input.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Silence::Input(error.to_string()))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > INPUT_BYTES_MAX {
        return Err(Silence::Input(format!("more than {INPUT_BYTES_MAX} bytes")));
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(said)) => understood(&said, event),
        Ok(_) => Err(Silence::Input("JSON, but no object".to_owned())),
        Err(error) => Err(Silence::Input(format!("no JSON: {error}"))),
    }
}

fn understood(said: &Map<String, Value>, event: Option<&str>) -> Result<Said, Silence> {
    let named = text(said, &["hook_event_name", "hookEventName", "hookName"]).or(event);
    let event = named.ok_or(Silence::NoEvent)?.to_owned();
    let happening = happening(said, &event)?;
    let session = text(
        said,
        &["session_id", "sessionId", "sessionID", "conversation_id", "taskId", "thread_id"],
    );
    let session_id =
        session.filter(|id| !id.is_empty() && id.len() <= SESSION_BYTES_MAX).map(str::to_owned);
    let first_root = ["workspace_roots", "workspaceRoots"]
        .iter()
        .find_map(|name| said.get(*name)?.get(0)?.as_str());
    let directory = text(said, &["cwd", "working_directory", "workingDirectory"]).or(first_root);
    let directory = directory.map(PathBuf::from).filter(|path| path.is_absolute());
    Ok(Said { happening, event, session_id, directory })
}

fn happening(said: &Map<String, Value>, event: &str) -> Result<Happening, Silence> {
    Ok(match plain(event).as_str() {
        "sessionstart" | "taskstart" | "start" => Happening::Start(why(said)),
        "taskresume" => Happening::Start(Why::Resumed),
        "userpromptsubmit"
        | "userpromptsubmitted"
        | "beforeagent"
        | "beforesubmitprompt"
        | "prompt" => {
            let inner = said.get("userPromptSubmit").and_then(Value::as_object).unwrap_or(said);
            let prompt = text(inner, &["prompt", "message", "text"]).unwrap_or_default();
            // Gemini puts what hooks said at the start in front of it.
            let said_first = prompt.strip_prefix("<hook_context>");
            let own = said_first.and_then(|rest| Some(rest.split_once("</hook_context>")?.1));
            Happening::Prompt(own.unwrap_or(prompt).trim().to_owned())
        }
        "posttoolusefailure" | "toolfailed" => tool(said, Some(Outcome::Failed))?,
        "posttooluse" | "aftertool" | "toolsucceeded" => tool(said, None)?,
        "precompact" | "precompress" | "compact" => Happening::Compact,
        "sessionend" | "taskcomplete" | "taskcancel" | "sessionshutdown" | "end" => Happening::End,
        _ => return Err(Silence::OtherEvent(event.chars().take(40).collect())),
    })
}

fn why(said: &Map<String, Value>) -> Why {
    match text(said, &["source", "trigger"]).map(plain).as_deref() {
        Some("resume" | "fork") => Why::Resumed,
        Some("clear" | "compact") => Why::Emptied,
        _ => Why::Fresh,
    }
}

/// Reads the use of a tool; `told` is its outcome where the event's name tells it.
fn tool(said: &Map<String, Value>, told: Option<Outcome>) -> Result<Happening, Silence> {
    let inner = said.get("postToolUse").and_then(Value::as_object).unwrap_or(said);
    let name = text(inner, &["tool_name", "toolName", "tool"]).unwrap_or_default();
    let input = ["tool_input", "toolInput", "toolArgs", "args", "parameters"];
    let input = input.iter().find_map(|name| object(inner.get(*name)?)).unwrap_or_default();
    let tool = kind_of(name);
    let result = outcome::of(inner, &tool);
    if result.is_interrupted {
        return Err(Silence::Interrupted);
    }
    let call = ToolCall {
        command: if tool == Tool::Shell { command(&input) } else { String::new() },
        files: if tool == Tool::Edit { files(&input) } else { Vec::new() },
        output: result.output,
        evidence: if told.is_some() { Evidence::Told } else { result.evidence },
        tool,
    };
    Ok(match told.unwrap_or(result.outcome) {
        Outcome::Running => return Err(Silence::Nothing("it goes on in the background")),
        Outcome::Failed => Happening::ToolFailed(call),
        Outcome::Succeeded => Happening::ToolSucceeded(call),
    })
}

fn kind_of(name: &str) -> Tool {
    let plain = plain(name);
    let begins = |list: &[&str]| list.iter().any(|beginning| plain.starts_with(beginning));
    if SHELLS.contains(&plain.as_str()) {
        Tool::Shell
    } else if begins(&EDITORS) {
        Tool::Edit
    } else if begins(&LOOKERS) || name.contains("agent-knowledge") {
        Tool::Look
    } else {
        Tool::Other(name.chars().take(64).collect())
    }
}

/// The command of a shell: a line, or words of which the last is the line that a shell was given.
fn command(input: &Map<String, Value>) -> String {
    let line = |value: &Value| match value {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            let is_script = matches!(words.get(1), Some(&("-c" | "-lc" | "-Command" | "/c")));
            let last = words.last().map(|last| (*last).to_owned());
            if is_script { last } else { Some(words.join(" ")) }
        }
        _ => None,
    };
    ["command", "cmd", "script"].iter().find_map(|name| line(input.get(*name)?)).unwrap_or_default()
}

/// Most files of one change that are told.
const FILES_MAX: usize = 8;

/// The files of a change, by their fields or in the words of a patch.
fn files(input: &Map<String, Value>) -> Vec<String> {
    let named = text(
        input,
        &["file_path", "filePath", "path", "target_file", "absolute_path", "notebook_path"],
    );
    if let Some(named) = named {
        return vec![named.to_owned()];
    }
    let patch = text(input, &["patch", "input", "command", "diff"]).unwrap_or_default();
    let marks = ["*** Update File: ", "*** Add File: ", "+++ b/"];
    let named =
        |line: &str| marks.iter().find_map(|mark| line.strip_prefix(mark)).map(str::to_owned);
    patch.lines().filter_map(named).take(FILES_MAX).collect()
}

/// The first of some fields that is a text.
pub(super) fn text<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str())
}

/// An object, also one that was written into a text.
pub(super) fn object(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    }
}

/// A name without what clients write differently.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(value: &Value) -> Result<Said, Silence> {
        read(&mut value.to_string().as_bytes(), None)
    }

    fn happens(value: &Value) -> Happening {
        said(value).unwrap().happening
    }

    // S-HOOK-1
    #[test]
    fn each_client_is_understood_in_its_own_words() {
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
            let Happening::ToolFailed(call) = happens(&value) else { panic!("{client}") };
            assert_eq!((call.tool, call.command.as_str()), (Tool::Shell, "npm ci"), "{client}");
            assert!(call.output.contains("boom"), "{client}: {}", call.output);
        }
    }

    #[test]
    fn a_session_and_its_place_are_found_under_every_name() {
        for value in [
            json!({"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/w", "source": "startup"}),
            json!({"hookEventName": "sessionStart", "sessionId": "s1", "cwd": "/w", "unheard": {"of": 1}}),
            json!({"hook_event_name": "sessionStart", "conversation_id": "s1", "workspace_roots": ["/w"]}),
            json!({"hookName": "TaskStart", "taskId": "s1", "workspaceRoots": ["/w", "/x"]}),
        ] {
            let said = said(&value).unwrap();
            assert_eq!(said.happening, Happening::Start(Why::Fresh));
            assert_eq!(said.session_id.as_deref(), Some("s1"));
            assert_eq!(said.directory, Some(PathBuf::from("/w")));
        }
        let value = json!({"session_id": 5, "cwd": "relative", "source": "compact"});
        let said = read(&mut value.to_string().as_bytes(), Some("sessionStart")).unwrap();
        assert_eq!((said.session_id, said.directory), (None, None));
        assert_eq!(said.happening, Happening::Start(Why::Emptied));
    }

    #[test]
    fn what_hooks_said_before_a_prompt_is_no_part_of_it() {
        let prompt = "<hook_context>MARK</hook_context>\n\nfix the build";
        let value = json!({"hook_event_name": "BeforeAgent", "prompt": prompt});
        assert_eq!(happens(&value), Happening::Prompt("fix the build".to_owned()));
    }

    #[test]
    fn what_a_patch_changes_is_known() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n+x\n*** Add File: b.toml\n*** End Patch";
        let value = json!({"hook_event_name": "PostToolUse", "tool_name": "apply_patch",
            "tool_input": {"command": patch}, "tool_response": "Success"});
        let Happening::ToolSucceeded(call) = happens(&value) else { panic!() };
        assert_eq!(
            (call.tool, call.files),
            (Tool::Edit, vec!["src/a.rs".to_owned(), "b.toml".to_owned()])
        );
    }

    // S-HOOK-2
    #[test]
    fn whatever_else_comes_is_no_reason_to_speak() {
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
        assert!(matches!(said(&stop), Err(Silence::Interrupted)));
        let long = vec![b' '; usize::try_from(INPUT_BYTES_MAX).unwrap() + 1];
        assert!(matches!(read(&mut long.as_slice(), None), Err(Silence::Input(_))));
    }
}
