//! The command `import` for stores of other tools: reads one, compares it with what is known here, and writes what is new
//! as one import, which `--undo` takes back. Not here: agent files (`agent_files`), the forms of stores (crate `exchange`).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use self::store_report::StoreReport;
use super::agent_files::{ImportSite, listed, refused, shown};
use super::{GlobalOptions, Program, failed};
use crate::args::{Export, Import};
use crate::cli::{Need, Wiring};
use ::exchange::error::ExchangeError;
use ::exchange::foreign_place::ForeignPlace;
use ::exchange::import_batch::{
    BatchId, ImportBatch, ImportTarget, KnownItem, StoppedImport, TAKEN_BACK,
};
use ::exchange::stores;
use api::requests::listing::KNOWN_IDS_MAX;
use api::{Api, ApiError, Doing, Listing, Reply, Sweep, SweepRequest};
use event::{Author, EventId, Problems, RepoKey};
use writer::BatchError;
use writer::exit::Exit;

mod record_export;
mod store_report;

impl Program<'_> {
    /// Imports a store or agent files, or takes an import back.
    pub(super) fn bring_in(
        &mut self,
        settings: &GlobalOptions,
        command: &Import,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        if let Some(id) = &command.undo {
            let extent = if command.dry_run { Doing::Show } else { Doing::Do };
            return self.take_back(settings, id, extent);
        }
        match self.named_store(command)? {
            Some(path) => self.import_store(settings, command, &path),
            None => self.take_over(settings, command, messages),
        }
    }

    /// Exports memories for other tools, or into an agent file.
    pub(super) fn hand_out(
        &mut self,
        settings: &GlobalOptions,
        command: &Export,
    ) -> Result<Reply, ApiError> {
        match command.format {
            Some(format) => self.export_records(settings, command, format),
            None => self.write_block(settings, command),
        }
    }

    /// Returns the store that an import names, if it names one rather than agent files.
    fn named_store(&self, command: &Import) -> Result<Option<PathBuf>, ApiError> {
        let path = |file: &PathBuf| self.surroundings.directory.join(file);
        let is_store = command.from.is_some()
            || command.files.iter().any(|file| ForeignPlace::is_likely(&path(file)));
        match (is_store, &*command.files) {
            (true, [one]) => Ok(Some(path(one))),
            (true, _) => {
                Err(Problems::one("agent_file", "name one store, and no other file").into())
            }
            (false, _) if command.repo.is_some() => {
                Err(Problems::one("repo", "agent files belong to their own work tree").into())
            }
            (false, _) => Ok(None),
        }
    }

    /// Imports a store of another tool.
    fn import_store(
        &mut self,
        settings: &GlobalOptions,
        command: &Import,
        path: &Path,
    ) -> Result<(Exit, Reply), ApiError> {
        let site = self.place(settings)?;
        let repo = target_repo(&site, command.repo.as_deref())?;
        let named = command.from.as_deref().map(store_named).transpose()?;
        let place = ForeignPlace::look(path).map_err(|error| unread(&error))?;
        let (store, mut harvest) = stores::read(&place, named).map_err(|error| unread(&error))?;
        harvest.identify(store.name, &repo);
        let items = harvest.items.iter();
        let ids = items.flat_map(|item| {
            item.draft.id.iter().cloned().chain(item.replaces.clone().map(String::from))
        });
        let known = known_items(&*self.open(settings, Need::Words)?, &ids.collect::<Vec<_>>())?;
        let target = ImportTarget { writer: &site.writer, repo: &repo, store: store.name };
        let moment = (self.surroundings.clock)();
        let batch = ImportBatch::plan(&harvest, &known, target, moment);
        let batch = batch.map_err(|error| refused(&error))?;
        let mut report = StoreReport::of(path, store, &harvest, &batch);
        if !command.dry_run && !batch.is_done() {
            let id = batch.id.clone();
            let written = batch.carry_out(&site.writer, self.surroundings.clock);
            written.map_err(|stopped| stopped_at(&id, stopped))?;
            report.written_as(&id);
        }
        Ok((report.exit(), report.reply(&repo)))
    }

    /// Takes back what one import wrote, and nothing else.
    fn take_back(
        &mut self,
        settings: &GlobalOptions,
        name: &str,
        extent: Doing,
    ) -> Result<(Exit, Reply), ApiError> {
        let id = BatchId::parse(name).ok_or_else(|| {
            let what = "must be what an import printed, such as import-7Q2MB3KD";
            Problems::one("undo", format!("{what}; got {}", event::quoted(name)))
        })?;
        // In this process: thousands of events take longer than a request to the retriever may.
        let api = self.local(settings, Need::Words)?;
        let session = id.as_str().to_owned();
        let sweep = Sweep::Purge(Author::Session(session.clone()));
        let note = Some(TAKEN_BACK.to_owned());
        let swept = api.sweep(&SweepRequest { sweep, extent, note })?;
        let changes = array(&swept.json, "changes");
        let is_retract = |change: &&Value| change.get("change").is_some_and(|of| of == "retract");
        let retracted = changes.iter().filter(is_retract).count();
        if changes.is_empty() {
            let wrote = api.list(&Listing::OfSession(session.clone()))?.json;
            if array(&wrote, "memories").is_empty() {
                return Err(ApiError::NotFound(format!("no import {session} wrote to these logs")));
            }
            let text = format!("{session}: nothing to take back; it was taken back before");
            return Ok((Exit::Done, Reply::new(text, swept.json)));
        }
        let would = if extent == Doing::Show { "would be " } else { "" };
        let text = format!("{session}: {retracted} memories {would}taken back\n");
        Ok((Exit::Done, Reply::new(text, swept.json).with("import", session.into())))
    }
}

fn array<'a>(json: &'a Value, name: &str) -> &'a [Value] {
    json.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the repository that an import is for.
fn target_repo(site: &ImportSite, named: Option<&str>) -> Result<RepoKey, ApiError> {
    let Some(named) = named else { return Ok(site.repo.clone()) };
    if named.trim() == event::GLOBAL_REPO {
        return Ok(RepoKey::global());
    }
    let key = RepoKey::parse(named).map_err(|error| Problems::one("repo", error.to_string()))?;
    site.writer.store.resolve(&key, &site.writer.config).map_err(|error| failed(&error))
}

fn store_named(name: &str) -> Result<&'static stores::ForeignStore, ApiError> {
    stores::named(name).ok_or_else(|| {
        let message = format!("must be one of {}; got {}", stores::names(), event::quoted(name));
        Problems::one("from", message).into()
    })
}

/// The JSON of a listing of known ids.
#[derive(Deserialize)]
struct KnownIds {
    memories: Vec<KnownId>,
}

#[derive(Deserialize)]
struct KnownId {
    id: EventId,
    live: bool,
    note: Option<String>,
}

/// Returns what is known of these ids.
fn known_items(api: &dyn Api, ids: &[String]) -> Result<BTreeMap<EventId, KnownItem>, ApiError> {
    let mut known = BTreeMap::new();
    for some in ids.chunks(KNOWN_IDS_MAX) {
        let KnownIds { memories } = listed(api, &Listing::Known(some.to_vec()))?;
        known.extend(memories.into_iter().map(|one| {
            let state = match (one.live, one.note.as_deref()) {
                (true, _) => KnownItem::Live,
                (false, Some(TAKEN_BACK)) => KnownItem::TakenBack,
                (false, _) => KnownItem::SetAside,
            };
            (one.id, state)
        }));
    }
    Ok(known)
}

/// Turns the error of a store into that of a command.
fn unread(error: &ExchangeError) -> ApiError {
    let exit = match error {
        ExchangeError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
            Exit::NotFound
        }
        ExchangeError::Io { .. } | ExchangeError::Database(_) => Exit::Io,
        ExchangeError::Form { .. } => Exit::NotFound,
    };
    ApiError::Failed { exit, message: shown(&error.to_string()) }
}

fn stopped_at(id: &BatchId, stopped: StoppedImport) -> ApiError {
    let (exit, why) = match stopped.error {
        BatchError::Refused(problems) => (Exit::Invalid, problems.to_string()),
        BatchError::Failed { exit, message } => (exit, message),
    };
    let (written, id) = (stopped.written, id.as_str());
    let message =
        format!("{why}; {written} events were written: agent-knowledge import --undo {id}");
    ApiError::Failed { exit, message }
}
