//! The kinds of tools that agents use, and what their input says: a shell's command, an editor's files. Not here:
//! how a call ended (`outcome`).

use serde_json::{Map, Value};

use super::payload_fields::{plain_name, text};

/// The kinds of tools that are treated differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Runs commands.
    Shell,
    /// Changes files.
    Edit,
    /// Only reads. An empty result is no failure.
    Look,
    /// Any other tool, by its name.
    Other(String),
}

/// Names of shell tools.
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
/// Beginnings of the names of tools that only read.
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

impl Tool {
    /// Returns the kind of a tool, by the name that its client gives it.
    pub(super) fn from_name(name: &str) -> Self {
        let plain = plain_name(name);
        let begins = |list: &[&str]| list.iter().any(|beginning| plain.starts_with(beginning));
        if SHELLS.contains(&plain.as_str()) {
            Self::Shell
        } else if begins(&EDITORS) {
            Self::Edit
        } else if begins(&LOOKERS) || name.contains("agent-knowledge") {
            Self::Look
        } else {
            Self::Other(name.chars().take(64).collect())
        }
    }
}

/// Returns the command of a shell tool: a string, or a list of words whose last one is the script after `-c`.
pub(super) fn shell_command(input: &Map<String, Value>) -> String {
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

/// Most files of one change that are recorded.
const FILES_MAX: usize = 8;

/// Returns the changed files, from the fields of the input or from a patch in it.
pub(super) fn changed_files(input: &Map<String, Value>) -> Vec<String> {
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
