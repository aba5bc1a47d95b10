//! The `setup` command, as clap parses it. Not here: what it does (`clients::setup`).

use clap::Args;

use crate::args::output_format::OutputFormat;

const SETUP_HELP: &str = "\
Clients: claude-code, codex, gemini, opencode, copilot, droid, qwen, cline, amp, goose, cursor,
vscode, windsurf, zed, continue, claude-desktop. Without a name, all clients that are found are
set up.

Each client gets our MCP server and, if it has hooks, our hooks. Every other byte of its files
stays; a copy of the original file is kept in 'setup' beside the logs. Running it again changes
nothing, unless the program was moved: then its path is updated. A file that cannot be parsed is
left alone, and reported with line and column (exit 1).

--undo restores every file byte for byte; if a file has been changed since, only our part is
removed.
--check verifies that everything is still as written, and shows when each client and hook was
last seen (exit 1 when a hook that should have run has not).

AGENT_KNOWLEDGE_HOOKS=off disables all hooks without changing a file.";

/// The `setup` command.
#[derive(Debug, Args)]
#[command(after_help = SETUP_HELP)]
pub struct Setup {
    /// Only these clients
    #[arg(value_name = "CLIENT")]
    pub clients: Vec<String>,
    /// For all projects of this user (the default)
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// For the project of this directory, in files that can be shared
    #[arg(long)]
    pub project: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// Undo the setup
    #[arg(long, conflicts_with = "check")]
    pub undo: bool,
    /// Check the setup
    #[arg(long)]
    pub check: bool,
    /// Ask nothing; past sessions are then not read
    #[arg(long, conflicts_with = "check")]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
