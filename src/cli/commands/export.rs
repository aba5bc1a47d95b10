//! `export`: memories for other tools, or proven ones for an agent file. Not here: records (`records`), the block of an agent file
//! (`block`).

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

pub(super) mod block;
pub(super) mod records;

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

/// Export memories as notes, JSON or a table, or proven ones into an agent file
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
    /// Only learned in this folder of a repository, or below it: a package, such as packages/web (may be repeated: any may match)
    #[arg(long = "folder", value_name = "FOLDER", requires = "format")]
    pub folders: Vec<String>,
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

/// Runs the command.
pub(super) fn export(context: &mut CommandContext<'_, '_>, command: &Export) -> CommandResult {
    let (program, options) = (&mut *context.program, context.options);
    let reply = match command.format {
        Some(format) => program.export_records(options, command, format)?,
        None => program.write_block(options, command)?,
    };
    Ok(CommandEnd::answer(command.form, reply))
}
