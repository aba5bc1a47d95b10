//! Which agents know of us: their configuration files are looked at, and nothing else is done with
//! them; and how those stand that were set up. Not here: putting us into them (`setup`).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Diagnosis;
use crate::shown_path::shown;
use clients::setup::Standing;

/// Configuration files below the home directory, and whose they are.
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

/// The same for a project.
const IN_PROJECT: [(&str, &str); 5] = [
    ("Claude Code", ".mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("OpenCode", "opencode.json"),
];

/// So much of a file is looked at, in bytes. Some clients keep their whole history in it.
const LOOKED_AT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How a configuration names us.
const NAME: &[u8] = b"agent-knowledge";

pub(super) fn examine(home: Option<&Path>, directory: &Path) -> Diagnosis {
    let at_home = AT_HOME.iter().filter_map(|(client, file)| Some((client, home?.join(file))));
    // A project's files stand in its outermost folder; we may be anywhere inside.
    let inside = directory.ancestors().take_while(|folder| Some(*folder) != home);
    let in_project = inside
        .flat_map(|folder| IN_PROJECT.iter().map(|(client, file)| (client, folder.join(file))));
    let naming = at_home.chain(in_project).filter(|(_, file)| names_us(file));
    let told: Vec<String> =
        naming.map(|(client, file): (_, PathBuf)| format!("{client} ({})", shown(&file))).collect();
    if told.is_empty() {
        return Diagnosis::fine(
            "clients",
            "none of the known configuration files names agent-knowledge",
        );
    }
    Diagnosis::fine("clients", format!("named by {}", told.join(", ")))
}

/// What setup knows: who lives, what is wrong, and who was left out.
pub(super) fn set_up(standing: &Standing) -> Vec<Diagnosis> {
    let mut findings = Vec::new();
    if !standing.set_up.is_empty() {
        findings.push(Diagnosis::fine("set up", standing.set_up.join(", ")));
    }
    let check = || "agent-knowledge setup --check".to_owned();
    let problems = standing.problems.iter();
    findings.extend(problems.map(|says| Diagnosis::warn("set up", says).mended_by(check())));
    if !standing.left_out.is_empty() {
        let names = standing.left_out.join(" ");
        let says = format!("here, and not set up: {}", standing.left_out.join(", "));
        let mend = format!("agent-knowledge setup {names}");
        findings.push(Diagnosis::warn("set up", says).mended_by(mend));
    }
    findings
}

fn names_us(file: &Path) -> bool {
    // A device or a pipe in its place would make us wait.
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut bytes = Vec::new();
    let read = File::open(file).map(|file| file.take(LOOKED_AT_BYTES_MAX).read_to_end(&mut bytes));
    read.is_ok() && bytes.windows(NAME.len()).any(|window| window == NAME)
}
