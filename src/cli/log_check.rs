//! What the commands that check and maintain logs share: finding the named log, and ending a check. Not here: the checks (`upkeep`).

use std::path::{Path, PathBuf};

use place::RepositoryWord;
use requests::ApiError;
use retriever::failure::write_error;
use retriever::resolved_settings::ResolvedSettings;
use store::Store;
use upkeep::surfaces::OwnFolders;
use upkeep::{CheckReport, CheckVerdict};
use writer::exit::Exit;
use writer::named_repository;

use crate::args::output_format::OutputFormat;
use crate::command_output::CommandEnd;

/// Where this program writes.
pub(super) fn own_folders(settled: &ResolvedSettings) -> OwnFolders<'_> {
    let (cache, sessions) = (&settled.cache_dir, &settled.sessions_dir);
    OwnFolders { store: settled.store.root(), cache, sessions }
}

/// Answers with what a check found.
pub(super) fn check_end(form: OutputFormat, report: CheckReport) -> CommandEnd {
    let exit = match report.verdict {
        CheckVerdict::Fine => Exit::Done,
        CheckVerdict::Wrong => Exit::NotFound,
    };
    CommandEnd::Answer { form, exit, reply: report.reply }
}

/// Tells whether a text names a repository. A word for no value, as scripts write it, is as if nothing was given.
pub(super) fn is_repo_given(named: &&str) -> bool {
    RepositoryWord::read(named) != Some(RepositoryWord::Missing)
}

/// Finds the log of a repository.
pub(super) fn named_log(
    settled: &ResolvedSettings,
    named: &str,
    from: &Path,
) -> Result<PathBuf, ApiError> {
    let ResolvedSettings { store, config, .. } = settled;
    let key = named_repository(store, config, from, named).map_err(|error| write_error(&error))?;
    let log = settled.store.log_of(&key);
    if log.symlink_metadata().is_ok() { Ok(log) } else { Err(missing_log(&log, &settled.store)) }
}

/// Refuses a log that is not there.
pub(super) fn missing_log(log: &Path, store: &Store) -> ApiError {
    let (log, root) = (log.display(), store.root().display());
    ApiError::NotFound(format!("there is no log {log}; the logs are in {root}"))
}
