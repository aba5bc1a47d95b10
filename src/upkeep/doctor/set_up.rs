//! Checks which agents are connected: whether their configuration files mention this program, and the state of
//! those that setup installed. The files are only read. Not here: installing (`clients::setup`).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::diagnosis::Diagnosis;
use crate::display_path::display_path;
use clients::setup::ClientsStatus;

/// Configuration files below the home directory, and their clients.
const AT_HOME: [(&str, &str); 8] = [
    ("Claude Code", ".claude.json"),
    ("Codex", ".codex/config.toml"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("OpenCode", ".config/opencode/opencode.json"),
    ("OpenCode", ".config/opencode/opencode.jsonc"),
    ("Qwen Code", ".qwen/settings.json"),
    ("Windsurf", ".codeium/windsurf/mcp_config.json"),
];

/// Configuration files of a project, and their clients.
const IN_PROJECT: [(&str, &str); 5] = [
    ("Claude Code", ".mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("OpenCode", "opencode.json"),
];

/// How many bytes of a file are searched. Some clients keep their whole history in it.
const LOOKED_AT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The name of this program in a configuration.
const NAME: &[u8] = b"agent-knowledge";

pub(super) fn examine(home: Option<&Path>, directory: &Path) -> Diagnosis {
    let at_home = AT_HOME.iter().filter_map(|(client, file)| Some((client, home?.join(file))));
    // A project's files are in its outermost folder, and the working directory may be any folder inside.
    let inside = directory.ancestors().take_while(|folder| Some(*folder) != home);
    let in_project = inside
        .flat_map(|folder| IN_PROJECT.iter().map(|(client, file)| (client, folder.join(file))));
    let naming = at_home.chain(in_project).filter(|(_, file)| names_us(file));
    let titles: Vec<String> = naming
        .map(|(client, file): (_, PathBuf)| format!("{client} ({})", display_path(&file)))
        .collect();
    if titles.is_empty() {
        return Diagnosis::fine("clients", "no known configuration file mentions agent-knowledge");
    }
    Diagnosis::fine("clients", format!("named by {}", titles.join(", ")))
}

/// Reports what setup knows: connected clients, problems, and clients that were not set up.
pub(super) fn set_up(standing: &ClientsStatus) -> Vec<Diagnosis> {
    let mut findings = Vec::new();
    if !standing.set_up.is_empty() {
        findings.push(Diagnosis::fine("set up", standing.set_up.join(", ")));
    }
    let check = || "agent-knowledge setup --check".to_owned();
    let problems = standing.problems.iter();
    findings.extend(problems.map(|says| Diagnosis::warn("set up", says).with_fix(check())));
    if !standing.left_out.is_empty() {
        let names = standing.left_out.join(" ");
        let says = format!("installed but not set up: {}", standing.left_out.join(", "));
        let mend = format!("agent-knowledge setup {names}");
        findings.push(Diagnosis::warn("set up", says).with_fix(mend));
    }
    findings
}

fn names_us(file: &Path) -> bool {
    // Opening a device or a pipe would block.
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut bytes = Vec::new();
    let read = File::open(file).map(|file| file.take(LOOKED_AT_BYTES_MAX).read_to_end(&mut bytes));
    read.is_ok() && bytes.windows(NAME.len()).any(|window| window == NAME)
}
