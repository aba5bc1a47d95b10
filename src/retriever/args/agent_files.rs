//! The commands about agent files, as clap parses them. Not here: what they do (`clients::agent_files`, `program`).

use std::path::PathBuf;

use clap::Args;

use super::OutputFormat;

const IMPORT_HELP: &str = "\
Each bullet and each paragraph becomes a memory of kind convention that names its file; fenced
code stays with its paragraph. Importing an unchanged file again changes nothing. Text that was
removed from the file is taken out of answers, and brought back when it returns. Comments, front
matter and our own blocks are skipped. Searches hold back text that reads like an instruction to
its reader, as always.

--found takes CLAUDE.md, AGENTS.md, .cursorrules, GEMINI.md and .github/copilot-instructions.md
at the top of the work tree, where they exist, and every file imported before. When a file has
been deleted, its memories no longer count.
--watch keeps running until Ctrl-C: it imports changes, and updates the blocks that export has
put into these files.";

const EXPORT_HELP: &str = "\
Writes proven conventions, decisions and patterns of this repository (agent-knowledge feedback
ID worked, in three sessions) into a block between two marks; every other byte of the file
stays. Running it again changes nothing unless the memories changed. Memories imported from an
agent file are not exported, and exported ones are never imported.";

/// The `import` command.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub struct Import {
    /// Agent files in this work tree
    #[arg(value_name = "FILE", required_unless_present = "found", conflicts_with = "found")]
    pub files: Vec<PathBuf>,
    /// All agent files at the top of this work tree
    #[arg(long)]
    pub found: bool,
    /// Only show what would be written
    #[arg(long, conflicts_with = "watch")]
    pub dry_run: bool,
    /// Keep running, and import files when they change
    #[arg(long)]
    pub watch: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// The `export` command.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub struct Export {
    /// The file [default: AGENTS.md at the top of this work tree]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// How proven a memory must be: proven or established [default: proven]
    #[arg(long, value_name = "MATURITY", conflicts_with = "remove")]
    pub min: Option<String>,
    /// Most tokens of all the lines, 100 to 8000 [default: 800]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "remove")]
    pub max_tokens: Option<String>,
    /// Remove the block again
    #[arg(long)]
    pub remove: bool,
    /// Only show what would be written
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
