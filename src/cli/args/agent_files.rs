//! The commands `import` and `export`, as clap parses them. Not here: what they do (`clients::agent_files`, `exchange`,
//! `program`).

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::output_format::OutputFormat;

const IMPORT_HELP: &str = "\
A store is a folder, a database or a JSON file, and is only read. It is recognised by what is in
it; --from takes one of: agent-knowledge (its exports, or a log), server-memory,
mcp-memory-service, openmemory, mem0, yaad, knowledge-server, agentcache, claude-code,
basic-memory, knowledge-vault, obsidian (any folder of Markdown). The report counts what was read,
what is new and what is left out. Importing again writes only what is new. --undo takes back
what one import wrote, and nothing else.

In an agent file each bullet and each paragraph becomes a memory of kind convention; importing it
again also takes out what was removed. Comments, front matter and our own blocks are skipped.
--found takes CLAUDE.md, AGENTS.md, .cursorrules, GEMINI.md and .github/copilot-instructions.md
at the top of the work tree, and every file imported before. --watch keeps running until Ctrl-C:
it imports changes, and updates the blocks that export has put into these files.

Imported text that reads like an instruction to its reader is held back by searches, as always.

Examples:
  agent-knowledge import ~/notes --dry-run
  agent-knowledge import ~/.claude/projects/-srv-api/memory
  agent-knowledge import memory.jsonl --from server-memory --repo global
  agent-knowledge import --undo import-7Q2MB3KD";

const EXPORT_HELP: &str = "\
With --format, all memories that count, except private ones, with all their fields. markdown: a
folder of notes with front matter, one per memory, which Obsidian opens; a note that you change
comes back as a memory that replaces the old one. jsonl: one line per memory, as in a log. csv: a
table for spreadsheets. agent-knowledge import reads notes and lines back as equal memories.

Without it, proven conventions, decisions and patterns of this repository (agent-knowledge
feedback ID worked, in three sessions) go into a block between two marks of an agent file; every
other byte of the file stays. Running it again changes nothing unless the memories changed.
Memories imported from an agent file are not exported there, and exported ones are never imported.

Examples:
  agent-knowledge export --format markdown --to ~/vault/memories --all
  agent-knowledge export --format jsonl | jq .lesson";

/// The `import` command.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub struct Import {
    /// A store of another tool, or agent files in this work tree
    #[arg(value_name = "PATH", required_unless_present_any = ["found", "undo"], conflicts_with = "found")]
    pub files: Vec<PathBuf>,
    /// Which tool wrote the store [default: by what is in it]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["found", "watch"])]
    pub from: Option<String>,
    /// For which repository, or global for all [default: that of this directory]
    #[arg(long, value_name = "REPO", conflicts_with_all = ["found", "watch"])]
    pub repo: Option<String>,
    /// Take back what one import of a store wrote
    #[arg(long, value_name = "ID", conflicts_with_all = ["files", "found", "watch", "from", "repo"])]
    pub undo: Option<String>,
    /// All agent files at the top of this work tree
    #[arg(long)]
    pub found: bool,
    /// Only show what would be written
    #[arg(long, conflicts_with = "watch")]
    pub dry_run: bool,
    /// Keep running, and import agent files when they change
    #[arg(long)]
    pub watch: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// A form of exported memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A folder of notes with front matter.
    Markdown,
    /// One line of JSON per memory.
    Jsonl,
    /// A table.
    Csv,
}

/// The `export` command.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub struct Export {
    /// Export memories in this form: markdown, jsonl or csv
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Option<ExportFormat>,
    /// The folder of the notes, or the file [default: standard output; AGENTS.md without --format]
    #[arg(long, value_name = "PATH")]
    pub to: Option<PathBuf>,
    /// Memories of all repositories
    #[arg(long, requires = "format")]
    pub all: bool,
    /// Memories of this repository [default: that of this directory]
    #[arg(long, value_name = "REPO", requires = "format", conflicts_with = "all")]
    pub repo: Option<String>,
    /// How proven a memory must be: proven or established [default: proven]
    #[arg(long, value_name = "MATURITY", conflicts_with_all = ["remove", "format"])]
    pub min: Option<String>,
    /// Most tokens of all the lines, 100 to 8000 [default: 800]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with_all = ["remove", "format"])]
    pub max_tokens: Option<String>,
    /// Remove the block again
    #[arg(long, conflicts_with = "format")]
    pub remove: bool,
    /// Only show what would be written
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
