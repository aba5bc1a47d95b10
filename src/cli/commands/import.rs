//! `import`: memories of other tools, and files for agents. Not here: reading a store and writing what is new (`store_import`),
//! agent files (`agent_files`).

use std::path::PathBuf;

use clap::Args;
use event::Problems;
use exchange::foreign_place::ForeignPlace;
use requests::{ApiError, ChangeExtent};
use retriever::options::GlobalOptions;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::program::Program;

mod agent_files;
pub(super) mod foreign_failure;
pub(super) mod import_site;
mod import_watch;
mod report;
mod store_import;
mod store_report;

const IMPORT_HELP: &str = "\
A store is a folder, a database or a JSON file, and is only read. It is recognised by what is in
it; --from takes one of: agent-knowledge (its exports, or a log), server-memory,
mcp-memory-service, openmemory, mem0, yaad, knowledge-server, agentcache, claude-code,
basic-memory, knowledge-vault, obsidian (any folder of Markdown). The report counts what was read,
what is new and what is left out. Importing again writes only what is new. --undo takes back
what one import wrote, and nothing else.

In an agent file each bullet and each paragraph becomes a memory, of the kind that it says:
convention, error (a warning), decision, procedure or fact; importing it again also takes out what
was removed. Layout, comments and our own blocks are skipped; the files that it imports with @path
are read too. --found takes the rule files of all clients, at the top of the work tree and in its
packages (CLAUDE.md, AGENTS.md, .cursor/rules, .github/instructions and the like), and every file
imported before; it names what it does not read. --watch keeps running until Ctrl-C: it imports
changes, and updates the blocks that export has put into these files.

Imported text that reads like an instruction to its reader is held back by searches, as always.

Examples:
  agent-knowledge import ~/notes --dry-run
  agent-knowledge import ~/.claude/projects/-srv-api/memory
  agent-knowledge import .cursor/rules
  agent-knowledge import memory.jsonl --from server-memory --repo global
  agent-knowledge import --undo import-7Q2MB3KD";

/// Import memories of other tools, and files for agents such as CLAUDE.md
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub struct Import {
    /// A store of another tool, or agent files of this work tree or a folder of them
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
    /// All agent files of this work tree
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

/// Runs the command.
pub(super) fn import(context: &mut CommandContext<'_, '_>, command: &Import) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let messages = &mut *process.messages;
    let (exit, reply) = match (&command.undo, program.named_store(options, command)) {
        (Some(id), _) => {
            let extent = if command.dry_run { ChangeExtent::Show } else { ChangeExtent::Do };
            program.undo_import(options, id, extent)?
        }
        (None, store) => match store? {
            Some(path) => program.import_store(options, command, &path)?,
            None => program.import_agent_files(options, command, messages)?,
        },
    };
    Ok(CommandEnd::Answer { form: command.form, exit, reply })
}

impl Program<'_> {
    /// Returns the store that an import names, if it names one rather than agent files.
    fn named_store(
        &self,
        options: &GlobalOptions,
        command: &Import,
    ) -> Result<Option<PathBuf>, ApiError> {
        let path = |file: &PathBuf| self.surroundings.directory.path().join(file);
        let is_store = |file: &PathBuf| {
            ForeignPlace::is_likely(&path(file)) && !self.is_rule_folder(options, &path(file))
        };
        let is_store = command.from.is_some() || command.files.iter().any(is_store);
        match (is_store, &*command.files) {
            (true, [only_path]) => Ok(Some(path(only_path))),
            (true, _) => {
                Err(Problems::one("agent_file", "name one store, and no other file").into())
            }
            (false, _) if command.repo.is_some() => {
                Err(Problems::one("repo", "agent files belong to their own work tree").into())
            }
            (false, _) => Ok(None),
        }
    }
}
