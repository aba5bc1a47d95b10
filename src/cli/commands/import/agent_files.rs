//! The commands about agent files: finds the work tree, its memories and the files. Not here: the text of an agent
//! file (`clients::agent_files`), which memories are listed (`api::local::list`).

use crate::commands::import::import_site::{ImportSite, WriteMode, imported_rules, neutral_line};
use std::io::Write;
use std::path::Path;

use crate::commands::import::{Import, import_watch};
use crate::program::Program;
use clients::agent_files::{
    FollowedImports, FoundFiles, ImportPlan, NamedFiles, SourceRead, UnreadableFile,
    files_to_import, path_below,
};
use event::Problems;
use requests::{Api, ApiError, Reply};
use retriever::failure::write_error;
use retriever::options::{GlobalOptions, MemoryNeed};
use writer::exit::Exit;
use writer::{Identity, UNNAMED, Writer};

use crate::commands::import::report::ImportReport;

impl Program<'_> {
    pub(crate) fn import_agent_files(
        &mut self,
        settings: &GlobalOptions,
        command: &Import,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let place = self.import_site(settings)?;
        let named = self.named_files(&place, command)?;
        let api = self.open(settings, MemoryNeed::Words)?;
        if command.watch {
            return import_watch::watch_agent_files(self, &place, &named, &*api, messages);
        }
        let report = self.import_all(&place, &named, &*api, command.dry_run.into())?;
        Ok((report.exit(), report.reply(&place.repo)))
    }

    /// Finds where the command runs, and for whom.
    pub(crate) fn import_site(&self, settings: &GlobalOptions) -> Result<ImportSite, ApiError> {
        let settled = self.resolve_settings(settings)?;
        let directory = self.needed_directory()?;
        let place = settled.store.place_at(&directory, &settled.config);
        let top = place.top;
        let identity = Identity::from_environment(self.surroundings.lookup, &directory)
            .with_host(self.surroundings.host.as_deref());
        let repo = place.repository.ok_or_else(|| Problems::one("repo", UNNAMED))?;
        let (store, config) = (settled.store, settled.config);
        Ok(ImportSite { top, repo, writer: Writer { store, config, directory, identity } })
    }

    /// Tells whether a path is a folder of rules in this work tree, and not a folder of notes.
    pub(crate) fn is_rule_folder(&self, settings: &GlobalOptions, path: &Path) -> bool {
        let Ok(place) = self.import_site(settings) else { return false };
        let name = path_below(&place.top, self.surroundings.directory.path(), path);
        let is_rules = |name: String| !FoundFiles::in_folder(&place.top, &name).is_empty();
        path.is_dir() && name.is_ok_and(is_rules)
    }

    /// Returns the files that the command names, relative to the top of the work tree; none where it asks for all.
    fn named_files(&self, place: &ImportSite, command: &Import) -> Result<NamedFiles, ApiError> {
        let mut problems = Problems::none();
        let mut named = NamedFiles::default();
        for file in &command.files {
            match path_below(&place.top, self.surroundings.directory.path(), file) {
                Ok(name) => named.add(&place.top, name),
                Err(why) => {
                    let is_missing = !self.surroundings.directory.path().join(file).exists();
                    let why = if is_missing { UnreadableFile::Missing } else { why };
                    problems.add(
                        "agent_file",
                        format!("{}: {why}", neutral_line(&file.to_string_lossy())),
                    );
                }
            }
        }
        problems.or(named).map_err(ApiError::Invalid)
    }

    /// Imports files, and those that they import. A problem with one does not stop the others.
    pub(super) fn import_all(
        &self,
        place: &ImportSite,
        named: &NamedFiles,
        api: &dyn Api,
        how: WriteMode,
    ) -> Result<ImportReport, ApiError> {
        let known = imported_rules(api)?;
        let mut report = ImportReport::new(how);
        let found = named.find(&place.top);
        let mut sources = Vec::new();
        for (name, why) in files_to_import(&place.top, named, &found, &known) {
            match SourceRead::read(&place.top, &name, why, &known) {
                SourceRead::File(source) => sources.push(source),
                SourceRead::Nothing => {}
                SourceRead::Left(left) => report.leave(left),
                SourceRead::Unreadable(trouble) => report.unreadable(&name, &trouble),
            }
        }
        let followed = FollowedImports::follow(&place.top, &sources.iter().collect::<Vec<_>>());
        let left = named.left.iter().chain(&found.left).chain(&followed.left);
        left.for_each(|left| report.leave(left.clone()));
        for source in sources.iter().chain(&followed.files) {
            let moment = (self.surroundings.clock)();
            let plan = ImportPlan::compare(source, &known, &place.writer, &place.repo, moment);
            let plan = plan.map_err(|error| write_error(&error))?;
            if how == WriteMode::Change {
                let written = plan.carry_out(&place.writer, &place.repo, self.surroundings.clock);
                written.map_err(|error| write_error(&error))?;
            }
            report.add(&plan);
        }
        Ok(report)
    }
}
