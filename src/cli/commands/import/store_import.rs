//! The command `import` for stores of other tools: reads one, compares it with what is known here, and writes what is new
//! as one import, which `--undo` takes back. Not here: agent files (`agent_files`), the forms of stores (crate `exchange`).

use crate::commands::import::foreign_failure::exchange_error;
use retriever::startup::Retriever;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::commands::export::records::read_records;
use crate::commands::import::Import;
use crate::commands::import::import_site::ImportSite;
use crate::commands::import::store_report::StoreReport;
use crate::program::Program;
use api::local::Local;
use event::{Author, Event, EventId, IMPORTED, Problems, RepoKey};
use exchange::foreign_place::ForeignPlace;
use exchange::gone_items::gone_items;
use exchange::import_batch::{
    BatchId, ImportBatch, ImportReach, ImportTarget, StoppedImport, TAKEN_BACK,
};
use exchange::known_items::{KnownItem, KnownItems, KnownState, SUPERSEDED_MAX};
use exchange::stores;
use reply::{BulkChange, BulkChangeAnswer, KnownAnswer, KnownMemory, ListAnswer};
use requests::caller::Caller;
use requests::listing::{KNOWN_IDS_MAX, RecordsRequest, RecordsScope};
use requests::{Api, ApiError, ChangeExtent, Listing, Reply, Request, Sweep, SweepRequest};
use retriever::failure::write_error;
use retriever::options::{GlobalOptions, MemoryNeed};
use writer::exit::Exit;
use writer::{BatchError, Writer, named_repository};

impl Program<'_> {
    /// Imports a store of another tool.
    pub(crate) fn import_store(
        &mut self,
        settings: &GlobalOptions,
        command: &Import,
        path: &Path,
    ) -> Result<(Exit, Reply), ApiError> {
        let site = self.import_site(settings)?;
        let repo = target_repo(&site, command.repo.as_deref())?;
        let named = command.from.as_deref().map(store_named).transpose()?;
        let place = ForeignPlace::inspect(path).map_err(|error| exchange_error(&error))?;
        let (store, mut harvest) =
            stores::read(&place, named).map_err(|error| exchange_error(&error))?;
        harvest.identify(store.name, &repo);
        let ids = harvest.items.iter().flat_map(|item| item.ids().map(String::from));
        let api = self.open(settings, MemoryNeed::Words)?;
        let known = known_items(&*api, ids.collect())?;
        let reach = match (named, &command.repo) {
            (Some(store), None) if store.name == stores::OURS => ImportReach::Named,
            _ => ImportReach::Own,
        };
        let gone = match known.is_empty() {
            true => Vec::new(),
            false => gone_items(&harvest, &memories_in(&*api, &repo, reach)?),
        };
        drop(api);
        let target = ImportTarget { writer: &site.writer, repo: &repo, reach, store: store.name };
        let moment = (self.surroundings.clock)();
        let batch = ImportBatch::plan(&harvest, &known, target, moment);
        let batch = batch.map_err(|error| write_error(&error))?;
        let mut report = StoreReport::new(path, store, &harvest, &gone, &batch, &repo);
        if !command.dry_run && !batch.is_done() {
            let id = batch.id.clone();
            let written = batch.carry_out(&site.writer, self.surroundings.clock);
            written.map_err(|stopped| stopped_error(&id, stopped))?;
            report.set_batch(&id);
        }
        Ok((report.exit(), report.reply()))
    }

    /// Takes back what one import wrote, and nothing else.
    pub(crate) fn undo_import(
        &mut self,
        settings: &GlobalOptions,
        name: &str,
        extent: ChangeExtent,
    ) -> Result<(Exit, Reply), ApiError> {
        let id = BatchId::parse(name).ok_or_else(|| {
            let expected = "must be what an import printed, such as import-7Q2MB3KD";
            Problems::one("undo", format!("{expected}; got {}", event::quoted(name)))
        })?;
        // In this process: thousands of events take longer than a request to the retriever may.
        let api = self.as_importer(settings)?;
        let session = id.as_str().to_owned();
        let sweep = Sweep::Purge(Author::Session(session.clone()));
        let note = Some(TAKEN_BACK.to_owned());
        let api: &dyn Api = &api;
        let swept = api.ask(&Request::Sweep(SweepRequest { sweep, extent, note }))?;
        let changes = swept.answer::<BulkChangeAnswer>().map(|swept| swept.changes);
        let changes = changes.unwrap_or_default();
        if changes.is_empty() {
            let wrote = Request::List(Listing::OfSession(session.clone()));
            if api.ask_for::<ListAnswer>(&wrote)?.memories.is_empty() {
                return Err(ApiError::NotFound(format!("no import {session} wrote to these logs")));
            }
            let text = format!("{session}: nothing to take back; it was taken back before");
            return Ok((Exit::Done, Reply::new(text, swept.json)));
        }
        let text = format!("{session}: {}\n", UndoCounts::count(&changes).text(extent));
        Ok((Exit::Done, Reply::new(text, swept.json).with_field("import", session.into())))
    }

    /// Opens the memory for an undo. Its events are marked as those of an import, so that what a person forgets with
    /// the same words is no undo.
    fn as_importer(&self, settings: &GlobalOptions) -> Result<Local, ApiError> {
        let settled = self.resolve_settings(settings)?;
        let (clock, directory) = (Box::new(self.surroundings.clock), self.working_directory());
        let core =
            Retriever::open_core(settled, MemoryNeed::Words, self.watch_choice(), clock, None)?;
        let caller = Caller { source: Some(IMPORTED.to_owned()), ..self.caller(directory) };
        Ok(Local::new(Arc::new(core), caller))
    }
}

/// What an undo takes back.
struct UndoCounts {
    /// Memories that the import wrote.
    written: usize,
    /// Other memories about which it said something: that they are back, replaced or linked.
    others_count: usize,
}

impl UndoCounts {
    fn count(changes: &[BulkChange]) -> Self {
        let all: BTreeSet<&str> = changes.iter().map(|one| one.id.as_str()).collect();
        let retracted = changes.iter().filter(|one| one.change == "retract");
        let written = retracted.map(|one| &one.id).collect::<BTreeSet<_>>().len();
        Self { written, others_count: all.len() - written }
    }

    fn text(&self, extent: ChangeExtent) -> String {
        let would = if extent == ChangeExtent::Show { "would be " } else { "" };
        let memories = |count: usize| count_text(count, "memory", "memories");
        match (self.written, self.others_count) {
            (written, 0) => format!("{} {would}taken back", memories(written)),
            (0, others_count) => {
                format!("what it said about {} {would}taken back", memories(others_count))
            }
            (written, others_count) => {
                let others = count_text(others_count, "other", "others");
                format!("{} {would}taken back, and what it said about {others}", memories(written))
            }
        }
    }
}

/// Returns a number with its noun.
fn count_text(count: usize, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

/// Returns the repository that an import is for.
fn target_repo(site: &ImportSite, named: Option<&str>) -> Result<RepoKey, ApiError> {
    let Some(named) = named else { return Ok(site.repo.clone()) };
    let Writer { store, config, directory, .. } = &site.writer;
    named_repository(store, config, directory, named).map_err(|error| write_error(&error))
}

fn store_named(name: &str) -> Result<&'static stores::ForeignStore, ApiError> {
    stores::store_named(name).ok_or_else(|| {
        let message =
            format!("must be one of {}; got {}", stores::store_names(), event::quoted(name));
        Problems::one("from", message).into()
    })
}

/// A person may take a memory out of answers with the note of an undo, and then it stays out.
fn known_state(known: &KnownMemory) -> KnownState {
    let is_by_import = known.note_source.as_deref() == Some(IMPORTED);
    match known.superseded_by.clone() {
        _ if known.live => KnownState::Live,
        Some(by) if is_by_import => KnownState::Renewed { by },
        Some(by) => KnownState::Edited { by },
        None if is_by_import && known.note.as_deref() == Some(TAKEN_BACK) => KnownState::TakenBack,
        None => KnownState::SetAside,
    }
}

fn known_item(known: KnownMemory) -> (EventId, KnownItem) {
    let (repo, state) = (RepoKey::from_line(&known.repo), known_state(&known));
    (known.id, KnownItem { repo, state, texts: known.texts })
}

/// Returns what is known of these ids, and of the memories that superseded them.
fn known_items(api: &dyn Api, ids: Vec<String>) -> Result<KnownItems, ApiError> {
    let (mut known, mut wanted) = (KnownItems::new(), ids);
    for _ in 0..=SUPERSEDED_MAX {
        let mut later = BTreeSet::new();
        for some in wanted.chunks(KNOWN_IDS_MAX) {
            let asked = Request::List(Listing::Known(some.to_vec()));
            let KnownAnswer { memories } = api.ask_for(&asked)?;
            for (id, item) in memories.into_iter().map(known_item) {
                later.extend(item.state.superseded_by().cloned());
                known.insert(id, item);
            }
        }
        wanted = later.into_iter().filter(|id| !known.contains_key(id)).map(String::from).collect();
        if wanted.is_empty() {
            break;
        }
    }
    Ok(known)
}

/// Returns the memories that count where an import may write.
fn memories_in(api: &dyn Api, repo: &RepoKey, reach: ImportReach) -> Result<Vec<Event>, ApiError> {
    let of = match reach {
        ImportReach::Own => RecordsScope::Repo(repo.to_string()),
        ImportReach::Named => RecordsScope::All,
    };
    let request = RecordsRequest { of, ..RecordsRequest::default() };
    Ok(read_records(api, request)?.events().collect())
}

fn stopped_error(id: &BatchId, stopped: StoppedImport) -> ApiError {
    let (exit, why) = match stopped.error {
        BatchError::Refused(problems) => (Exit::Invalid, problems.to_string()),
        BatchError::Failed { exit, message } => (exit, message),
    };
    let (written, id) = (stopped.written, id.as_str());
    let were = count_text(written, "event was", "events were");
    let message = format!("{why}; {were} written: agent-knowledge import --undo {id}");
    ApiError::Failed { exit, message }
}
