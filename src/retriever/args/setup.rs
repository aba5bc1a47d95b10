//! The `setup` command, as clap reads it. Not here: what it does (`setup`).

use clap::Args;

use super::OutputFormat;

const SETUP_HELP: &str = "\
Clients: claude-code, codex, gemini, opencode, copilot, droid, qwen, cline, amp, goose, cursor, vscode, windsurf,
zed, continue, claude-desktop. Without a name all that are found are set up.

Each gets our MCP server and, where it has hooks, ours. Every other byte of its files stays; the file as it was is
kept in 'setup' beside the logs. Run twice, nothing changes; run by a program that was moved, the path changes. A
file that does not parse is left alone, and told with line and column (exit 1).

--undo makes every file what it was, byte for byte; from one that was changed since, only our part is taken out.
--check tells whether all is still as written and when each client and hook was last seen (exit 1 when a hook
that should have fired has not).

AGENT_KNOWLEDGE_HOOKS=off switches all hooks off without changing a file.";

/// The `setup` command.
#[derive(Debug, Args)]
#[command(after_help = SETUP_HELP)]
pub struct Setup {
    /// Only these clients
    #[arg(value_name = "CLIENT")]
    pub clients: Vec<String>,
    /// For all projects of this user, as when nothing is said
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// For the project of this directory, in files that may be shared
    #[arg(long)]
    pub project: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// Take it all back
    #[arg(long, conflicts_with = "check")]
    pub undo: bool,
    /// Check what was set up
    #[arg(long)]
    pub check: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
