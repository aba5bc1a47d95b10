//! The commands about agent files, as clap reads them. Not here: what they do (`import`, `program`).

use std::path::PathBuf;

use clap::Args;

use super::OutputFormat;

const IMPORT_HELP: &str = "\
Each bullet, and each paragraph, becomes a memory of kind convention that names its file; fenced code stays with its paragraph.
Imported again, nothing changes; what is no longer in the file is taken out of answers, and brought back when it is there again. Comments,
front matter and our own blocks say nothing. What reads like an instruction to its reader is held back by searches, as always.

--found takes CLAUDE.md, AGENTS.md, .cursorrules, GEMINI.md and .github/copilot-instructions.md at the top of the work tree, as far as they
are there, and every file imported before; of one that is gone now, nothing counts any more.
--watch goes on until Ctrl-C: it imports what changes, and renews blocks that export has put into these files.";

const EXPORT_HELP: &str = "\
Conventions, decisions and patterns of this repository that have proven themselves (agent-knowledge feedback ID worked, in three sessions) stand in
a block between two marks; every other byte of the file stays. Run again, nothing changes unless the memories did. What was imported from an
agent file is not exported, and what is exported is never imported.";

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
    /// Only tell what would be written
    #[arg(long, conflicts_with = "watch")]
    pub dry_run: bool,
    /// Go on, and import what changes
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
    /// Most tokens of all the lines, 60 to 8000 [default: 800]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "remove")]
    pub max_tokens: Option<String>,
    /// Take the block out again
    #[arg(long)]
    pub remove: bool,
    /// Only tell what would be written
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
