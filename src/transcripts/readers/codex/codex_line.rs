//! One line of a rollout of Codex: its fields, in the old form and in the paginated one. Not here: what they mean
//! (`codex_session`, `codex_calls`).

use serde::Deserialize;
use serde_json::Value;

use crate::readers::loose_json::{LooseItems, LooseValue, has_bytes, head_of, may_be_glued};

/// A line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexLine {
    pub(super) timestamp: LooseValue,
    #[serde(rename = "type")]
    pub(super) kind: LooseValue,
    pub(super) payload: LooseItems<CodexPayload>,
}

/// The fields of all kinds of lines.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexPayload {
    #[serde(rename = "type")]
    pub(super) kind: LooseValue,
    pub(super) id: LooseValue,
    pub(super) session_id: LooseValue,
    pub(super) turn_id: LooseValue,
    pub(super) call_id: LooseValue,
    // The first line.
    pub(super) cwd: LooseValue,
    pub(super) source: Value,
    pub(super) thread_source: LooseValue,
    pub(super) history_mode: LooseValue,
    pub(super) forked_from_id: LooseValue,
    pub(super) parent_thread_id: LooseValue,
    pub(super) git: LooseItems<CodexGit>,
    // Messages.
    pub(super) role: LooseValue,
    pub(super) content: LooseItems<CodexPart>,
    pub(super) message: LooseValue,
    // Calls and results.
    pub(super) name: LooseValue,
    pub(super) arguments: LooseItems<CodexArguments>,
    pub(super) input: LooseValue,
    pub(super) action: LooseItems<CodexArguments>,
    pub(super) output: LooseItems<CodexPart>,
    pub(super) command: LooseValue,
    pub(super) exit_code: LooseValue,
    pub(super) aggregated_output: LooseValue,
    pub(super) status: LooseValue,
    pub(super) success: LooseValue,
    pub(super) stderr: LooseValue,
    pub(super) result: LooseItems<CodexResult>,
    // Events.
    pub(super) item: LooseItems<CodexItem>,
    pub(super) num_turns: LooseValue,
    pub(super) reason: LooseValue,
    pub(super) thread_name: LooseValue,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexGit {
    pub(super) branch: LooseValue,
    pub(super) repository_url: LooseValue,
}

/// A part of a message, or the output of a call where it is an object.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexPart {
    pub(super) text: LooseValue,
    pub(super) content: LooseValue,
}

/// The result of a call of a server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexResult {
    #[serde(rename = "Ok")]
    pub(super) ok: LooseItems<CodexAnswer>,
    #[serde(rename = "Err")]
    pub(super) err: LooseValue,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexAnswer {
    #[serde(rename = "isError", alias = "is_error")]
    pub(super) is_error: LooseValue,
    pub(super) content: LooseItems<CodexPart>,
}

/// A finished item of the paginated form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexItem {
    #[serde(rename = "type")]
    pub(super) kind: LooseValue,
    pub(super) id: LooseValue,
    pub(super) text: LooseValue,
    pub(super) content: LooseItems<CodexPart>,
    pub(super) command: LooseValue,
    #[serde(alias = "exitCode")]
    pub(super) exit_code: LooseValue,
    #[serde(alias = "aggregatedOutput")]
    pub(super) aggregated_output: LooseValue,
    pub(super) status: LooseValue,
    /// By path, or as a list of objects with a path.
    pub(super) changes: Value,
    pub(super) server: LooseValue,
    pub(super) tool: LooseValue,
    pub(super) arguments: LooseItems<CodexArguments>,
}

/// The arguments of a call that tell what it was about.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexArguments {
    pub(super) cmd: LooseValue,
    pub(super) command: LooseValue,
    pub(super) input: LooseValue,
    pub(super) patch: LooseValue,
    pub(super) session_id: LooseValue,
    message: LooseValue,
    prompt: LooseValue,
    query: LooseValue,
    url: LooseValue,
    path: LooseValue,
    pattern: LooseValue,
}

impl CodexArguments {
    /// Parses arguments, which are JSON in a text or an object.
    pub(super) fn parse(written: LooseItems<Self>) -> Self {
        match written.text.some() {
            Some(text) => serde_json::from_str(text).unwrap_or_default(),
            None => written.into_first(),
        }
    }

    /// The argument that says most.
    pub(super) fn main(&self) -> String {
        let fields =
            [&self.message, &self.prompt, &self.query, &self.url, &self.path, &self.pattern];
        let field = fields.into_iter().find_map(|field| field.some());
        field.map_or_else(|| command_of(&self.command), str::to_owned)
    }
}

/// All text of a content or an output, its parts on lines of their own.
pub(super) fn joined_text(content: &LooseItems<CodexPart>) -> String {
    if let Some(text) = content.text.some() {
        return text.to_owned();
    }
    let parts = content.items.iter().filter_map(|part| part.text.some().or(part.content.some()));
    parts.collect::<Vec<_>>().join("\n")
}

/// The command line in a text, or in the arguments of a program. A shell that only wraps it is left out.
pub(super) fn command_of(command: &LooseValue) -> String {
    let LooseValue::List(words) = command else { return command.text().to_owned() };
    let words: Vec<_> = words.iter().map(LooseValue::text).collect();
    match words.as_slice() {
        [_, "-c" | "-lc" | "-ic" | "-Command" | "/c", line] => (*line).to_owned(),
        words => words.join(" "),
    }
}

/// The paths in a patch.
pub(super) fn paths_in(patch: &str) -> Vec<String> {
    const MARKS: &[&str] = &["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let marked = |line| MARKS.iter().find_map(move |mark| str::strip_prefix(line, *mark));
    patch.lines().filter_map(marked).map(|path| path.trim().to_owned()).collect()
}

/// The paths that an item changed.
pub(super) fn paths_of(changes: &Value) -> Vec<String> {
    let named = |change: &Value| Some(change.get("path")?.as_str()?.to_owned());
    match changes {
        Value::Object(changes) => changes.keys().cloned().collect(),
        Value::Array(changes) => changes.iter().filter_map(named).collect(),
        _ => Vec::new(),
    }
}

/// Kinds of lines that are left before they are parsed.
const NOISE: &[&[u8]] = &[
    b"\"type\":\"token_count\"",
    b"\"type\":\"reasoning\"",
    b"\"type\":\"world_state\"",
    b"\"type\":\"agent_message\"",
    b"\"type\":\"agent_reasoning\"",
    b"\"type\":\"exec_command_output_delta\"",
];

/// Tells whether a line says nothing worth keeping.
pub(super) fn is_noise(line: &[u8]) -> bool {
    let head = head_of(line);
    NOISE.iter().any(|kind| has_bytes(head, kind)) && !may_be_glued(line)
}
