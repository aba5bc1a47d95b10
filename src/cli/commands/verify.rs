//! `verify`: checks every line of every log. Not here: the check (`upkeep`).

use std::path::{Path, PathBuf};

use clap::Args;
use requests::ApiError;
use retriever::failure::store_error;
use store::Store;
use upkeep::{SecretRecogniser, verify};

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::log_check;

const VERIFY_HELP: &str = "\
These are errors (exit 1): lines that hold no event, several contents under one id, secrets, lines
of the store that were edited, deleted, inserted or moved after they were written, damaged chains,
lines that are also in an earlier segment of their log, which archive takes out, and logs that
cannot be read.
These are only reported: repeated lines, events about memories that are in no log, times more
than a day in the future, and a last line without its line break, which is not read until it is
complete.

Lines of the store's logs that hold no event are copied to .quarantine in the store, without
secrets and each once. They also stay where they are: verify never removes anything from a log.";

/// Check every line of every log
#[derive(Debug, Args)]
#[command(after_help = VERIFY_HELP)]
pub struct Verify {
    /// Only these logs: paths, or names in the store; nothing is written for logs elsewhere
    #[arg(value_name = "LOG", conflicts_with = "repo")]
    pub files: Vec<PathBuf>,
    /// Only the log of this repository: its name, key or URL
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Do not copy damaged lines
    #[arg(long)]
    pub dry_run: bool,
    /// Accept changed logs as they are now
    #[arg(long, conflicts_with = "dry_run")]
    pub accept: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn verify(context: &mut CommandContext<'_, '_>, command: &Verify) -> CommandResult {
    let program = &*context.program;
    let directory = program.surroundings.directory.path().to_owned();
    let settled = program.resolve_settings(context.options)?;
    let store = &settled.store;
    let (logs, segments) = match command.repo.as_deref().filter(log_check::is_repo_given) {
        Some(named) => {
            let log = log_check::named_log(&settled, named, &directory)?;
            (vec![log.clone()], verify::Segments::Of(log))
        }
        None if command.files.is_empty() => {
            (store.logs().map_err(|error| store_error(&error))?, verify::Segments::All)
        }
        None => {
            let found = command.files.iter().map(|log| log_at(&directory, store, log));
            (found.collect::<Result<_, _>>()?, verify::Segments::None)
        }
    };
    let report = verify::verify(&verify::VerifyRequest {
        store,
        config: &settled.config,
        logs,
        segments,
        damaged: if command.dry_run {
            verify::DamagedLines::Leave
        } else {
            verify::DamagedLines::Copy
        },
        changed: if command.accept {
            verify::ChangedLogs::Accept
        } else {
            verify::ChangedLogs::Tell
        },
        now: (program.surroundings.clock)().now,
        recogniser: &SecretRecogniser::default(),
        places: log_check::own_folders(&settled),
    })
    .map_err(|error| store_error(&error))?;
    Ok(log_check::check_end(command.form, report))
}

/// Finds a log by its path, or by its name in the store.
fn log_at(directory: &Path, store: &Store, log: &Path) -> Result<PathBuf, ApiError> {
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let places = [directory.join(log), store.root().join(log)];
    let found = places.into_iter().find(|path| is_there(path));
    found.ok_or_else(|| log_check::missing_log(log, store))
}
