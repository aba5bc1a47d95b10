//! `scrub`: removes secrets from logs. Not here: finding and removing them (`upkeep`).

use clap::Args;
use retriever::failure::store_error;
use store::Store;
use upkeep::{SecretRecogniser, scrub};

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::log_check;

const SCRUB_HELP: &str = "\
Each secret is replaced by [REDACTED:rule]. The rest of its line stays as it is, including the
id, and so does every other line. Ids themselves are not searched. Logs are rewritten under the
lock of their writers, so nothing written meanwhile is lost. After a crash either the old log is
there or the new one. Events waiting in .spool and lines in .quarantine are searched too.

Each removal is reported by log, line, field and rule, never with the secret, and so is what
remains to be done: above all, revoke the secret. Exit 1 when secrets are left, or with
--dry-run when there are any.";

/// Remove secrets from logs
#[derive(Debug, Args)]
#[command(after_help = SCRUB_HELP)]
pub struct Scrub {
    /// Only show what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Only the log of this repository: its name, key or URL
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn scrub(context: &mut CommandContext<'_, '_>, command: &Scrub) -> CommandResult {
    let settled = context.program.resolve_settings(context.options)?;
    let from = context.program.surroundings.directory.path();
    let named = command.repo.as_deref().filter(log_check::is_repo_given);
    let log = named.map(|named| log_check::named_log(&settled, named, from));
    let log = log.transpose()?;
    let report = scrub::scrub(&scrub::ScrubRequest {
        store: &settled.store,
        repo: log.as_deref().map(Store::repo_of),
        how: if command.dry_run { scrub::ScrubMode::DryRun } else { scrub::ScrubMode::Change },
        recogniser: &SecretRecogniser::default(),
        places: log_check::own_folders(&settled),
    })
    .map_err(|error| store_error(&error))?;
    Ok(log_check::check_end(command.form, report))
}
