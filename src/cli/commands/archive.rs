//! `archive`: moves old lines to compressed files beside their log. Not here: moving them (`upkeep`).

use clap::Args;
use event::{DayZone, Problems, Timestamp, quoted};
use requests::ApiError;
use retriever::failure::store_error;
use search::TimePoint;
use upkeep::archive;
use writer::exit::Exit;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::log_check;

const ARCHIVE_HELP: &str = "\
Lines move to archive/LOG/NUMBER.jsonl.gz in the store. The files hold the same lines,
compressed with gzip, so zcat, zgrep and 'zcat FILE | jq' read them. Searches, verify, digest
and scrub read them too; ids stay. Without --keep and --older-than, all but the newest 10000
lines of each log move. With both, a line moves if it exceeds either limit. Lines that hold no
event stay, and so does a line without a time when only --older-than is given.

This happens under the lock of the log's writers. After a crash at any moment every line is
still there: in the log, in a segment, or for a while in both, which the next run reports and
repairs. It also takes out lines with the same id that stand in a segment and again in a later file,
as an editor leaves them that saves an old copy of the log. Exit 75 when another process holds the lock.

In the configuration, archive_above_lines = 10000 makes a server move the older half of a log
that has more lines, and archive_older_than = \"90d\" makes it move older lines. Neither is set
by default.";

/// Move old lines to compressed files beside their log
#[derive(Debug, Args)]
#[command(after_help = ARCHIVE_HELP)]
pub struct Archive {
    /// Only the logs of these repositories: their names, keys or URLs
    #[arg(value_name = "REPO")]
    pub repos: Vec<String>,
    /// Most lines that stay in a log, the newest [default: 10000, unless --older-than is given]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub keep: Option<String>,
    /// Move lines older than this: an age or a day, such as 90d or 2026-03-01
    #[arg(long, value_name = "AGE", allow_hyphen_values = true)]
    pub older_than: Option<String>,
    /// Only show what would be moved
    #[arg(long)]
    pub dry_run: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn archive(context: &mut CommandContext<'_, '_>, command: &Archive) -> CommandResult {
    let settled = context.program.resolve_settings(context.options)?;
    let bounds = bounds(command, (context.program.surroundings.clock)().now)?;
    let named = command.repos.iter().map(String::as_str).filter(log_check::is_repo_given);
    let logs = match named.collect::<Vec<_>>().as_slice() {
        [] => settled.store.logs().map_err(|error| store_error(&error))?,
        repos => {
            let from = context.program.surroundings.directory.path();
            let found = repos.iter().map(|named| log_check::named_log(&settled, named, from));
            found.collect::<Result<_, _>>()?
        }
    };
    let how =
        if command.dry_run { archive::ArchiveMode::DryRun } else { archive::ArchiveMode::Change };
    let request = archive::ArchiveRequest { store: &settled.store, logs, bounds, how };
    let archive::ArchiveOutcome { checked, failed } = archive::archive(&request);
    let exit = failed.as_ref().map_or(Exit::Done, Exit::of_store);
    Ok(CommandEnd::Answer { form: command.form, exit, reply: checked.reply })
}

/// Wrong values are reported before anything is read.
fn bounds(command: &Archive, now: Timestamp) -> Result<archive::Bounds, ApiError> {
    let mut problems = Problems::none();
    let keep_lines = command.keep.as_deref().and_then(|text| {
        let lines = text.trim().parse::<u64>().ok();
        if lines.is_none() {
            problems
                .add("keep", format!("must be a whole number, 0 or more, got {}", quoted(text)));
        }
        lines
    });
    let not_before = command.older_than.as_deref().and_then(|text| {
        let point = TimePoint::parse(text);
        if point.is_none() {
            problems
                .add("older_than", format!("must be {}, got {}", TimePoint::ALLOWED, quoted(text)));
        }
        point.map(|point| point.first(now, DayZone::System))
    });
    let unasked = not_before.is_none().then_some(archive::KEEP_LINES_DEFAULT);
    let bounds = archive::Bounds { keep_lines: keep_lines.or(unasked), not_before };
    problems.or(bounds).map_err(ApiError::Invalid)
}
