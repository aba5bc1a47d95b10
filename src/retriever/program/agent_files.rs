//! The commands about agent files: finds the work tree, its memories and the files. Not here: the text of an agent
//! file (`clients::agent_files`), which memories are listed (`api::local::listing`).

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{GlobalOptions, Program, failed};
use crate::args::Import;
use crate::cli::{Need, Wiring};
use api::{Api, ApiError, Listing, Reply};
use clients::agent_files::{
    AgentFile, FOUND, ImportPlan, ImportedRule, UnreadableFile, is_below, path_below,
};
use event::{EventId, Problems, RepoKey};
use guard::text::{Layout, neutralise};
use store::DetectedRepo;
use writer::exit::Exit;
use writer::{Identity, RecordError, Writer};

use self::export::{grown, with_block};
use self::report::Report;

mod export;
mod report;
mod watch;

/// The caller's work tree, with the writer of its memories.
pub(super) struct ImportSite {
    top: PathBuf,
    pub(super) repo: RepoKey,
    pub(super) writer: Writer,
}

impl Program<'_> {
    pub(super) fn take_over(
        &mut self,
        settings: &GlobalOptions,
        command: &Import,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let place = self.place(settings)?;
        let named = self.named(&place, command)?;
        let api = self.open(settings, Need::Words)?;
        if command.watch {
            return watch::watch(self, &place, &named, &*api, messages);
        }
        let report = self.import_all(&place, &named, &*api, command.dry_run.into())?;
        Ok((report.exit(), report.reply(&place.repo)))
    }

    /// Finds where the command runs, and for whom.
    pub(super) fn place(&self, settings: &GlobalOptions) -> Result<ImportSite, ApiError> {
        let settled = self.settle(settings)?;
        let directory = self.needed_directory()?;
        let found = DetectedRepo::of_directory(&directory);
        let top = found.top().to_owned();
        let identity = Identity::from_environment(self.surroundings.lookup, &directory)
            .on(self.surroundings.host.as_deref());
        let repo = settled.config.current(&found.key);
        let (store, config) = (settled.store, settled.config);
        Ok(ImportSite { top, repo, writer: Writer { store, config, directory, identity } })
    }

    /// Returns the files that the command names, relative to the top of the work tree; none where it asks for all.
    fn named(&self, place: &ImportSite, command: &Import) -> Result<BTreeSet<String>, ApiError> {
        let mut problems = Problems::none();
        let mut named = BTreeSet::new();
        for file in &command.files {
            match path_below(&place.top, self.surroundings.directory.path(), file) {
                Ok(name) => {
                    named.insert(name);
                }
                Err(why) => {
                    let is_missing = !self.surroundings.directory.path().join(file).exists();
                    let why = if is_missing { UnreadableFile::Missing } else { why };
                    problems
                        .add("agent_file", format!("{}: {why}", shown(&file.to_string_lossy())));
                }
            }
        }
        problems.or(named).map_err(ApiError::Invalid)
    }

    /// Imports files. A problem with one does not stop the others.
    fn import_all(
        &self,
        place: &ImportSite,
        named: &BTreeSet<String>,
        api: &dyn Api,
        how: WriteMode,
    ) -> Result<Report, ApiError> {
        let known = known(api)?;
        let mut report = Report::new(how);
        for (name, why) in files(named, &known) {
            let source = match AgentFile::read(&place.top, &name) {
                Err(UnreadableFile::Missing) if why != ImportReason::Named => {
                    if known.iter().all(|known| known.file != name) {
                        continue;
                    }
                    AgentFile::gone(&name)
                }
                // Only a line in a log asked for this file.
                Err(trouble)
                    if why == ImportReason::Earlier
                        && !matches!(trouble, UnreadableFile::Unended(_)) =>
                {
                    continue;
                }
                Err(trouble) => {
                    report.unreadable(&name, &trouble);
                    continue;
                }
                Ok(source) => source,
            };
            let moment = (self.surroundings.clock)();
            let plan = ImportPlan::of(&source, &known, (&place.writer, &place.repo), moment);
            let plan = plan.map_err(|error| refused(&error))?;
            if how == WriteMode::Change {
                let written = plan.carry_out(&place.writer, &place.repo, self.surroundings.clock);
                written.map_err(|error| refused(&error))?;
            }
            report.add(&plan);
        }
        Ok(report)
    }
}

/// The JSON of a listing of imported memories.
#[derive(Deserialize)]
struct Imported {
    memories: Vec<OneImported>,
}

#[derive(Deserialize)]
struct OneImported {
    id: EventId,
    file: String,
    live: bool,
    note: Option<String>,
    note_source: Option<String>,
    is_rule: bool,
}

/// Returns what was imported into this repository before.
fn known(api: &dyn Api) -> Result<Vec<ImportedRule>, ApiError> {
    let Imported { memories } = listed(api, &Listing::OfAgentFiles)?;
    let known = |one: OneImported| {
        let OneImported { id, file, live, note, note_source, is_rule } = one;
        ImportedRule { id, file, is_live: live, note, note_source, is_rule }
    };
    Ok(memories.into_iter().map(known).collect())
}

pub(super) fn listed<T: DeserializeOwned>(api: &dyn Api, listing: &Listing) -> Result<T, ApiError> {
    serde_json::from_value(api.list(listing)?.json).map_err(|error| ApiError::Failed {
        exit: Exit::Internal,
        message: format!("failed to parse a listing: {error}"),
    })
}

/// Why a file is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImportReason {
    /// The command names it.
    Named,
    /// Agents read it.
    Found,
    /// It was imported before.
    Earlier,
}

/// Returns the files to import: those named, or all that are found. Which were imported before is known from the logs
/// alone.
fn files(named: &BTreeSet<String>, known: &[ImportedRule]) -> Vec<(String, ImportReason)> {
    if !named.is_empty() {
        return named.iter().map(|name| (name.clone(), ImportReason::Named)).collect();
    }
    let earlier = known.iter().filter(|known| known.vouches_for_file() && is_below(&known.file));
    let earlier = earlier.map(|known| known.file.clone());
    let earlier: BTreeSet<String> = earlier.filter(|file| !FOUND.contains(&&**file)).collect();
    let found = FOUND.map(|name| (name.to_owned(), ImportReason::Found));
    found.into_iter().chain(earlier.into_iter().map(|name| (name, ImportReason::Earlier))).collect()
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteMode {
    DryRun,
    Change,
}

impl From<bool> for WriteMode {
    fn from(is_dry_run: bool) -> Self {
        if is_dry_run { Self::DryRun } else { Self::Change }
    }
}

pub(super) fn shown(text: &str) -> String {
    neutralise(text, Layout::Line)
}

pub(super) fn refused(error: &RecordError) -> ApiError {
    match error {
        RecordError::Invalid(problems) => ApiError::Invalid(problems.clone()),
        RecordError::Store(error) => failed(error),
    }
}

/// Returns when a file was last written, and its length; `None` where there is none.
fn look(top: &Path, name: &str) -> Option<(std::time::SystemTime, u64)> {
    let found = top.join(name).symlink_metadata().ok()?;
    Some((found.modified().ok()?, found.len()))
}
