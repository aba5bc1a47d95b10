//! The calls of Codex that have not come back yet, and how they end. One call is told up to three times: as a call of the
//! model, as an event and as an item, each with its own id. Not here: which line tells what (`codex_session`).

use std::collections::HashMap;

use serde::Deserialize;

use super::codex_line::{CodexArguments, CodexItem, command_of, paths_in, paths_of};
use crate::readers::loose_json::{LooseItems, LooseValue};
use crate::transcript::{MomentKind, Outcome};

/// Most calls that wait for their results at once.
const CALLS_MAX: usize = 1_000;

/// Names of the tool that runs a command.
const SHELLS: &[&str] =
    &["exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"];

/// Calls that say nothing worth keeping: they wait, or keep the agent's own list.
const CALLS_LEFT: &[&str] =
    &["update_plan", "wait_agent", "wait", "close_agent", "load_workspace_dependencies"];

/// What a call is about.
enum CallSubject {
    Command(String),
    Paths(Vec<String>),
    Tool(String),
}

/// The calls that have not come back.
#[derive(Default)]
pub(super) struct CodexCalls {
    open: HashMap<String, CallSubject>,
    /// The call that started a process which still runs, by the number of the process.
    processes: HashMap<String, String>,
    /// The call that started the process, by the call that writes to it or waits for it.
    waits: HashMap<String, String>,
}

impl CodexCalls {
    /// A call of the model.
    pub(super) fn add_call(
        &mut self,
        (call, name): (&str, &str),
        written: LooseItems<CodexArguments>,
        found: &mut Vec<MomentKind>,
    ) {
        let arguments = CodexArguments::parse(written);
        match name {
            "write_stdin" => {
                let process = process_of(&arguments.session_id);
                if let Some(begun) = self.processes.get(&process) {
                    self.waits.insert(call.to_owned(), begun.clone());
                }
            }
            "apply_patch" => {
                let patch = [&arguments.input, &arguments.patch].map(LooseValue::text).concat();
                self.add_edits(call, paths_in(&patch), found);
            }
            name if CALLS_LEFT.contains(&name) => {}
            name if SHELLS.contains(&name) => {
                let command = [&arguments.cmd, &arguments.command].map(command_of).concat();
                self.add_command(call, command, found);
            }
            name => self.add_tool_use(call, name, arguments.main(), found),
        }
    }

    /// A command. A patch that is given to a shell is an edit.
    pub(super) fn add_command(&mut self, call: &str, command: String, found: &mut Vec<MomentKind>) {
        if command.trim_start().starts_with("apply_patch") {
            let paths = paths_in(&command);
            if !paths.is_empty() {
                return self.add_edits(call, paths, found);
            }
        }
        self.open(call, CallSubject::Command(command.clone()));
        found.push(MomentKind::Ran { call: call.to_owned(), command });
    }

    /// Edits, one for each path.
    pub(super) fn add_edits(
        &mut self,
        call: &str,
        paths: Vec<String>,
        found: &mut Vec<MomentKind>,
    ) {
        let edits = paths.iter().enumerate();
        found.extend(edits.map(|(place, path)| MomentKind::Edited {
            call: call_of_path(call, place),
            path: path.clone(),
        }));
        self.open(call, CallSubject::Paths(paths));
    }

    /// Another tool.
    pub(super) fn add_tool_use(
        &mut self,
        call: &str,
        tool: &str,
        argument: String,
        found: &mut Vec<MomentKind>,
    ) {
        self.open(call, CallSubject::Tool(tool.to_owned()));
        let (call, tool) = (call.to_owned(), tool.to_owned());
        found.push(MomentKind::Called { call, tool, argument });
    }

    fn open(&mut self, call: &str, about: CallSubject) {
        if !call.is_empty() && self.open.len() < CALLS_MAX {
            self.open.insert(call.to_owned(), about);
        }
    }

    pub(super) fn is_open(&self, call: &str) -> bool {
        self.open.contains_key(call)
    }

    /// What the model was told about a call. A command that still runs has not ended.
    pub(super) fn add_output(&mut self, call: &str, output: &str, found: &mut Vec<MomentKind>) {
        let begun = self.waits.remove(call);
        let call = begun.as_deref().unwrap_or(call);
        match ending_of(output) {
            CallEnding::Runs(process) => {
                if self.processes.len() < CALLS_MAX {
                    self.processes.insert(process, call.to_owned());
                }
            }
            CallEnding::Ended(outcome, output) => self.end_call(call, &outcome, output, found),
        }
    }

    /// A call has come back. Only the first report counts.
    pub(super) fn end_call(
        &mut self,
        call: &str,
        outcome: &Outcome,
        output: &str,
        found: &mut Vec<MomentKind>,
    ) {
        let edits = match self.open.remove(call) {
            None => return,
            Some(CallSubject::Paths(paths)) => paths.len(),
            Some(_) => 1,
        };
        found.extend((0..edits).map(|place| MomentKind::Returned {
            call: call_of_path(call, place),
            outcome: outcome.clone(),
            output: output.to_owned(),
        }));
    }

    /// A finished item: the call that it tells again, or one that only it tells.
    pub(super) fn add_item(&mut self, item: CodexItem, found: &mut Vec<MomentKind>) {
        let id = item.id.text();
        let output = item.aggregated_output.text();
        let outcome = outcome_of(item.exit_code.number(), item.status.text());
        let (kind, paths) = (item.kind.text(), paths_of(&item.changes));
        let command = command_of(&item.command);
        let is_same = |about: &CallSubject| match about {
            CallSubject::Command(known) => kind == "CommandExecution" && *known == command,
            CallSubject::Paths(known) => {
                kind == "FileChange" && known.iter().any(|path| paths.contains(path))
            }
            CallSubject::Tool(tool) => kind == "McpToolCall" && tool.ends_with(item.tool.text()),
        };
        let known = self.open.iter().filter(|(_, about)| is_same(about)).map(|(call, _)| call);
        // The smallest, because the order of a map is not the same twice.
        let known = if self.is_open(id) { None } else { known.min().cloned() };
        let call = known.unwrap_or_else(|| id.to_owned());
        if !self.is_open(&call) {
            match kind {
                "CommandExecution" => self.add_command(&call, command, found),
                "FileChange" => self.add_edits(&call, paths, found),
                _ => {
                    let tool = format!("mcp__{}__{}", item.server.text(), item.tool.text());
                    let argument = CodexArguments::parse(item.arguments).main();
                    self.add_tool_use(&call, &tool, argument, found);
                }
            }
        }
        self.end_call(&call, &outcome, output, found);
    }
}

/// Each path of a call has a result of its own.
fn call_of_path(call: &str, place: usize) -> String {
    if place == 0 || call.is_empty() { call.to_owned() } else { format!("{call}/{place}") }
}

/// The number of a process, which is written as a number or as a text.
fn process_of(number: &LooseValue) -> String {
    number.number().map_or_else(|| number.text().to_owned(), |number| number.to_string())
}

/// How a call ended, by its exit code and its status.
pub(super) fn outcome_of(exit_code: Option<i64>, status: &str) -> Outcome {
    match (status, exit_code.and_then(|code| i32::try_from(code).ok())) {
        ("declined", _) => Outcome::Refused(None),
        (_, Some(0)) => Outcome::Succeeded,
        (_, Some(code)) => Outcome::Exited(code),
        ("completed" | "success", None) => Outcome::Succeeded,
        ("failed", None) => Outcome::Faulted,
        _ => Outcome::Unknown,
    }
}

/// What the text that the model got says about a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallEnding<'a> {
    /// It goes on as the process with this number.
    Runs(String),
    /// It ended, with this output.
    Ended(Outcome, &'a str),
}

/// The oldest form of a result.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OldOutput {
    metadata: LooseItems<OldMetadata>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OldMetadata {
    exit_code: LooseValue,
}

/// Beginnings of what the tool says when it could not do it.
const FAULTS: &[&str] = &[
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "failed to parse",
    "execution error",
    "unsupported call",
    "aborted by user",
    "collab spawn failed",
];

/// Reads how a call ended from the text that the model got.
pub(super) fn ending_of(text: &str) -> CallEnding<'_> {
    let (head, output) = text.split_once("\nOutput:").unwrap_or((text, text));
    let line = |mark: &str| head.lines().find_map(|line| line.strip_prefix(mark)).map(str::trim);
    if let Some(process) = line("Process running with session ID ") {
        return CallEnding::Runs(process.to_owned());
    }
    let code = line("Process exited with code ").or_else(|| head.strip_prefix("Exit code: "));
    let code = code.and_then(|code| code.lines().next()?.trim().parse().ok());
    let old = || {
        let old: OldOutput = serde_json::from_str(text).ok()?;
        old.metadata.into_first().exit_code.number()
    };
    let code = code.or_else(|| text.starts_with('{').then(old).flatten());
    let outcome = match code {
        Some(code) => outcome_of(Some(code), ""),
        None if text.contains("rejected by user") => Outcome::Refused(None),
        None if FAULTS.iter().any(|begin| text.starts_with(begin)) => Outcome::Faulted,
        None => Outcome::Unknown,
    };
    CallEnding::Ended(outcome, output)
}
