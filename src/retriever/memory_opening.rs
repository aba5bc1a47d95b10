//! Opens a memory from the settings: which store, how much memory, which model, and an engine. Not here: the commands
//! (`cli`), the shared retriever (`shared_retriever`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::failure::store_error;
use crate::model_plan::{ModelPlaces, bound_with_vectors};
use crate::options::{GlobalOptions, MemoryNeed};
use crate::resolved_settings::{ResolvedSettings, WatchChoice};
use crate::startup::Retriever;
use crate::{engine_source, reranking};
use api::journal::agent_delivery::DeliveryJournal;
use api::local::{Core, Local};
use api::query_log::QueryLog;
use engine::checkpoint::Checkpoints;
use engine::watch::WatchMode;
use engine::{DenseSetup, Engine, EngineSetup, InterimSearch};
use index::embed::{SpaceId, model};
use index::vector::VECTOR_BYTES;
use memory::MemoryBound;
use requests::ApiError;
use requests::caller::{Caller, Patience};
use sessions::past_sessions::PastSessions;
use settings::variables::{POLL_ONLY, SESSIONS};
use settings::{MemoryMib, PlatformDirs, Switch};
use store::{StoreError, user_config_file};
use writer::exit::Exit;
use writer::log_memory::settle;
use writer::project_directory::{known_directories, project_directory, remember_change};
use writer::{Identity, Moment};

/// The directory and the clock of a memory that is opened.
pub struct OpeningContext {
    /// The working directory; none where it was removed.
    pub directory: Option<PathBuf>,
    /// Returns the time and random bits.
    pub clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

impl Retriever<'_> {
    /// Reads all settings before anything is opened.
    ///
    /// # Errors
    /// [`ApiError::Failed`], naming the setting.
    pub fn resolve_settings(&self, settings: &GlobalOptions) -> Result<ResolvedSettings, ApiError> {
        let lookup = self.surroundings.lookup;
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let (store, config) =
            settle(lookup, settings.logs.as_deref()).map_err(|error| store_error(&error))?;
        let mut config = store.with_certain_joins(config);
        config
            .set_variables(lookup)
            .map_err(|message| ApiError::Failed { exit: Exit::Config, message })?;
        if let Some(engine) = &mut config.engine {
            let variable = engine.settings.password_env.as_deref().and_then(lookup);
            engine.password = variable.map(|value| value.to_string_lossy().into_owned());
        }
        let places = PlatformDirs::of_platform();
        let place = |folder: fn(&PlatformDirs) -> &PathBuf| {
            places.as_ref().map(|places| folder(places).clone())
        };
        // Where things are stands beside the configuration: whichever way names a store, one retriever answers for it.
        let general = &mut config.general;
        let (logs, model, cache) =
            (general.logs.take(), general.model.take(), general.cache.take());
        let model_dir = settings.model.clone().or(model);
        let model_dir = model_dir.or_else(|| place(|places| &places.model));
        let cache_dir = cache.or_else(|| place(|places| &places.cache));
        let sessions_dir = set(SESSIONS).or_else(|| place(|places| &places.sessions));
        let (Some(model_dir), Some(cache_dir), Some(sessions_dir)) =
            (model_dir, cache_dir, sessions_dir)
        else {
            return Err(store_error(&StoreError::NoPlace));
        };
        let polls = set(POLL_ONLY).is_some();
        let watching = if polls { WatchMode::PollOnly } else { WatchMode::System };
        let bound = bound(config.general.memory_mib, &model_dir);
        let is_store_named = settings.logs.is_some() || logs.is_some();
        Ok(ResolvedSettings {
            store,
            config,
            bound,
            model_dir,
            cache_dir,
            sessions_dir,
            watching,
            is_store_named,
            variable: self.surroundings.variable,
            config_file: self.config_path(),
        })
    }

    /// Returns where the configuration file is; nothing if the system names no home.
    pub fn config_path(&self) -> Option<PathBuf> {
        user_config_file(self.surroundings.lookup)
    }

    /// Opens the memory in this process, for a caller in the working directory.
    ///
    /// # Errors
    /// [`ApiError::Failed`].
    pub fn open_local(
        &self,
        settings: &GlobalOptions,
        need: MemoryNeed,
    ) -> Result<Local, ApiError> {
        let (directory, settled) = self.settled_directory(settings)?;
        let clock = Box::new(self.surroundings.clock);
        self.open_local_with(settled, need, OpeningContext { directory, clock })
    }

    /// Returns the directory that tells the caller's repository, and the settings, which are read again where the directory was
    /// joined just now.
    ///
    /// # Errors
    /// [`ApiError::Failed`], naming the setting.
    pub fn settled_directory(
        &self,
        settings: &GlobalOptions,
    ) -> Result<(Option<PathBuf>, ResolvedSettings), ApiError> {
        let settled = self.resolve_settings(settings)?;
        let Some(directory) = self.chosen_directory(&settled) else { return Ok((None, settled)) };
        let settled = match self.remember_change(&settled, &directory) {
            true => self.resolve_settings(settings)?,
            false => settled,
        };
        Ok((Some(directory), settled))
    }

    /// Opens a memory in this process.
    ///
    /// # Errors
    /// [`ApiError::Failed`].
    pub fn open_local_with(
        &self,
        settled: ResolvedSettings,
        need: MemoryNeed,
        asking: OpeningContext,
    ) -> Result<Local, ApiError> {
        let caller = self.caller(asking.directory);
        let core = Self::open_core(settled, need, self.watch_choice(), asking.clock, None)?;
        Ok(Local::new(Arc::new(core), caller))
    }

    /// Returns the directory that tells the caller's repository: the working directory, or one that the client declares.
    pub fn project_directory(&self, settled: &ResolvedSettings) -> Option<PathBuf> {
        let chosen = self.chosen_directory(settled)?;
        self.remember_change(settled, &chosen);
        Some(chosen)
    }

    fn chosen_directory(&self, settled: &ResolvedSettings) -> Option<PathBuf> {
        let start = &self.surroundings.directory;
        let known = known_directories(None, start, &settled.store, self.surroundings.lookup);
        project_directory(&settled.store, &settled.config, start, &known)
    }

    /// Remembers a directory whose repository became another one. Tells whether it did.
    pub fn remember_change(&self, settled: &ResolvedSettings, directory: &Path) -> bool {
        let now = (self.surroundings.clock)().now;
        remember_change(&settled.store, &settled.config, directory, now)
    }

    /// A command reads the logs once and need not watch them.
    pub fn watch_choice(&self) -> WatchChoice {
        if self.is_server { WatchChoice::Configured } else { WatchChoice::Off }
    }

    /// Returns the caller in a directory, by the variables of the environment.
    pub fn caller(&self, directory: Option<PathBuf>) -> Caller {
        let place = directory.as_deref().unwrap_or_else(|| self.surroundings.directory.path());
        let identity = Identity::from_environment(self.surroundings.lookup, place)
            .with_host(self.surroundings.host.as_deref());
        let Identity { agent_id, session_id, source, host } = identity;
        let patience = if self.is_server { Patience::FOR_AGENT } else { Patience::FOR_PERSON };
        Caller { directory, agent_id, session_id, source, host, patience }
    }

    /// Opens the memory in this process.
    pub fn open_core(
        settled: ResolvedSettings,
        need: MemoryNeed,
        watches: WatchChoice,
        clock: Box<dyn Fn() -> Moment + Send + Sync>,
        checkpoints: Option<Checkpoints>,
    ) -> Result<Core, ApiError> {
        let places = ModelPlaces::from_settings(&settled);
        let bound = bound_with_vectors(settled.bound, &settled.config);
        let of_machine = SpaceId::from_name(&places.name(None));
        let reranker = Some(reranking::followed_reranker(&settled));
        let ResolvedSettings {
            store,
            config,
            model_dir,
            cache_dir,
            sessions_dir,
            watching,
            is_store_named,
            ..
        } = settled;
        let watching = match watches {
            WatchChoice::Configured => watching,
            WatchChoice::Off => WatchMode::PollOnly,
        };
        if watching == WatchMode::System && !is_store_named {
            // A store that does not exist yet could not be watched. If it cannot be created, the reading that follows
            // reports it.
            let _ = store.ensure();
        }
        // A search of the past says nothing about missing knowledge now.
        let is_noted = config.general.query_log == Switch::On && config.as_of.is_none();
        let past_cache = cache_dir.clone();
        let delivery_journal = DeliveryJournal::for_store(&cache_dir, &store, &config);
        let query_log = is_noted.then(|| QueryLog::for_store(&cache_dir, store.root()));
        let plan = (need == MemoryNeed::Meaning).then(|| places.plan(config.provider.as_ref()));
        let (dense, next) = plan.map(|plan| (plan.present, plan.next)).unzip();
        let checkpoints = checkpoints.map(|kept| with_vectors_of(dense.as_ref(), kept));
        let setup = EngineSetup {
            store: store.clone(),
            config: config.clone(),
            bound,
            watching,
            dense,
            checkpoints,
        };
        let second_source = engine_source::configured_engine(&config, of_machine);
        let engine = Engine::start(setup).map_err(|error| ApiError::Failed {
            exit: Exit::Internal,
            message: format!("failed to start the retriever: {error}"),
        })?;
        if let Some((next, on_whole)) = next.flatten() {
            // Without a thread the present model goes on.
            let _ = engine.switch(next, on_whole, InterimSearch::PresentModel);
        }
        Ok(Core {
            engine,
            store,
            config,
            model_dir,
            query_log,
            delivery_journal,
            watching,
            past_sessions: PastSessions::at(&sessions_dir, &past_cache),
            links: <_>::default(),
            analysis_cache: <_>::default(),
            doctor: <_>::default(),
            work_trees: <_>::default(),
            past: <_>::default(),
            second_source,
            reranker,
            clock,
        })
    }
}

/// Returns the memory limit. Where a model is installed its vectors count, also for a command that makes none: it
/// must have the same memories as a server.
fn bound(memory: MemoryMib, model_dir: &Path) -> MemoryBound {
    let has_vectors = model::status(model_dir).is_ready();
    let vector_bytes = if has_vectors { VECTOR_BYTES } else { 0 };
    MemoryBound { bytes_max: memory.bytes(), vector_bytes }
}

/// Lets checkpoints keep the vectors of an external model, which cost money.
fn with_vectors_of(dense: Option<&DenseSetup>, mut checkpoints: Checkpoints) -> Checkpoints {
    if let Some(dense) = dense.filter(|dense| dense.may_see.is_some()) {
        checkpoints.keep_vectors_of(&dense.name);
    }
    checkpoints
}
