//! Puts the `agent-knowledge` program together: settings, store, model, engine, faces.
//! Not here: the process itself (its arguments, environment, clock), which `main` passes in.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::api::{Api, ApiError, Reply};
use super::args::{self, Eval, Hook, Model, Serve, Upkeep};
use super::caller::{Caller, Patience};
use super::cli::{Need, Process, Settings, Wiring};
use super::life;
use super::local::{Core, Local};
use super::query_log::QueryLog;
use super::stdio;

mod as_of;
mod eval;
mod hook;
mod http;
mod setup;
mod shared;
mod unused;
mod upkeep;

use crate::retriever::CacheLock;
use crate::retriever::checkpoint::Checkpoints;
use crate::retriever::engine::{Dense, Engine, Setup};
use crate::retriever::index::embed::worker::WorkerState;
use crate::retriever::index::embed::{self, Provider, model};
use crate::retriever::index::vector::VECTOR_BYTES;
use crate::retriever::projection::Bound;
use crate::retriever::upkeep::Verdict;
use crate::retriever::watch::Watching;
use crate::store::{Config, Keeping, MemoryMib, Places, Store, StoreError};
use crate::writer::exit::Exit;
use crate::writer::program::settle;
use crate::writer::{Identity, Moment};

/// Threads of one inference: a background program must leave the machine to the work.
const THREADS: NonZeroUsize = NonZeroUsize::MIN;

/// Whether searches that found nothing are written down.
const QUERY_LOG: &str = "AGENT_KNOWLEDGE_QUERY_LOG";

/// How often progress is looked at.
const LOOK_MS: u64 = 50;

/// What the process gives the wiring.
pub struct Surroundings<'a> {
    /// Looks up an environment variable.
    pub lookup: &'a dyn Fn(&str) -> Option<OsString>,
    /// The working directory.
    pub directory: PathBuf,
    /// Where folders may be made that are removed again.
    pub temporary: PathBuf,
    /// This program, where the system tells it.
    pub program: Option<PathBuf>,
    /// The name of this machine, where it has one.
    pub host: Option<String>,
    /// Tells the time, and gives random bits.
    pub clock: fn() -> Moment,
    /// Gives bits that nobody can guess, where the system has any.
    pub secret: fn() -> Option<[u8; 32]>,
    /// Ends the process at once and well: for who may not be kept waiting.
    pub leave: fn(),
}

/// From where and when the memory is asked.
struct Asking {
    directory: PathBuf,
    clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

/// Whether the system is asked to watch the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watches {
    /// As the settings say.
    AsSet,
    /// No.
    Not,
}

/// The wiring of the program.
pub struct Program<'a> {
    surroundings: Surroundings<'a>,
    is_server: bool,
    /// Where signs of life go, once that is settled.
    life: Option<PathBuf>,
}

/// Everything that settings decide.
#[derive(Clone)]
struct Settled {
    store: Store,
    config: Config,
    bound: Bound,
    model_dir: PathBuf,
    cache_dir: PathBuf,
    watching: Watching,
}

impl<'a> Program<'a> {
    /// Prepares the wiring; nothing is opened yet.
    #[must_use]
    pub fn new(surroundings: Surroundings<'a>) -> Self {
        Self { surroundings, is_server: false, life: None }
    }

    fn settle(&self, settings: &Settings) -> Result<Settled, ApiError> {
        let lookup = self.surroundings.lookup;
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let (store, mut config) =
            settle(lookup, settings.logs.clone()).map_err(|error| failed(&error))?;
        if let Some(set) = lookup(QUERY_LOG).filter(|value| !value.is_empty()) {
            config.query_log = Keeping::parse(&set.to_string_lossy()).map_err(|why| {
                let message = format!("{QUERY_LOG} {why}");
                ApiError::Failed { exit: Exit::Config, message }
            })?;
        }
        let places = Places::of_platform();
        let place = |of: fn(&Places) -> &PathBuf| places.as_ref().map(|places| of(places).clone());
        let model_dir = settings.model.clone().or_else(|| set("AGENT_KNOWLEDGE_MODEL_DIR"));
        let model_dir =
            model_dir.or_else(|| config.model.clone()).or_else(|| place(|places| &places.model));
        let cache_dir = set("AGENT_KNOWLEDGE_CACHE").or_else(|| config.cache.clone());
        let cache_dir = cache_dir.or_else(|| place(|places| &places.cache));
        let (Some(model_dir), Some(cache_dir)) = (model_dir, cache_dir) else {
            return Err(failed(&StoreError::NoPlace));
        };
        let polls = set("AGENT_KNOWLEDGE_POLL_ONLY").is_some();
        let watching = if polls { Watching::PollOnly } else { Watching::System };
        let bound = self.bound(&config, &model_dir)?;
        Ok(Settled { store, config, bound, model_dir, cache_dir, watching })
    }

    /// Returns how much memory the memories may take. Where a model is installed their vectors count,
    /// also for a command that makes none: it must have the same memories as a server.
    fn bound(&self, config: &Config, model_dir: &Path) -> Result<Bound, ApiError> {
        let name = "AGENT_KNOWLEDGE_MEMORY_MIB";
        let set = (self.surroundings.lookup)(name).filter(|value| !value.is_empty());
        let set = set.map(|value| MemoryMib::parse(&value.to_string_lossy())).transpose();
        let set = set.map_err(|why| ApiError::Failed {
            exit: Exit::Config,
            message: format!("{name} {why}"),
        })?;
        let memory = set.or(config.memory).unwrap_or(MemoryMib::DEFAULT);
        let has_vectors = model::status(model_dir).is_ready();
        let vector_bytes = if has_vectors { VECTOR_BYTES } else { 0 };
        Ok(Bound { bytes_max: memory.bytes(), vector_bytes })
    }

    fn local(&self, settings: &Settings, need: Need) -> Result<Local, ApiError> {
        let settled = self.settle(settings)?;
        let directory = self.surroundings.directory.clone();
        self.local_over(
            settled,
            need,
            Asking { directory, clock: Box::new(self.surroundings.clock) },
        )
    }

    fn local_over(&self, settled: Settled, need: Need, asking: Asking) -> Result<Local, ApiError> {
        let caller = self.caller(asking.directory);
        let core = Self::core(settled, need, self.watching(), asking.clock, None)?;
        Ok(Local::new(Arc::new(core), caller))
    }

    /// A command looks once.
    fn watching(&self) -> Watches {
        if self.is_server { Watches::AsSet } else { Watches::Not }
    }

    fn caller(&self, directory: PathBuf) -> Caller {
        let identity = Identity::from_environment(self.surroundings.lookup)
            .on(self.surroundings.host.as_deref());
        let Identity { agent_id, session_id, source, host } = identity;
        let patience = if self.is_server { Patience::OF_AN_AGENT } else { Patience::OF_A_PERSON };
        Caller { directory: Some(directory), agent_id, session_id, source, host, patience }
    }

    /// Opens the memory in this process.
    fn core(
        settled: Settled,
        need: Need,
        watches: Watches,
        clock: Box<dyn Fn() -> Moment + Send + Sync>,
        checkpoints: Option<Checkpoints>,
    ) -> Result<Core, ApiError> {
        let Settled { store, config, bound, model_dir, cache_dir, watching } = settled;
        let watching = match watches {
            Watches::AsSet => watching,
            Watches::Not => Watching::PollOnly,
        };
        if watching == Watching::System {
            // A store that does not exist yet could not be watched. What cannot be made is reported
            // by the reading that follows.
            let _ = store.ensure();
        }
        // What was not known then is no gap now.
        let is_noted = config.query_log == Keeping::On && config.as_of.is_none();
        let query_log = is_noted.then(|| QueryLog::of(&cache_dir, store.root()));
        let place = model_dir.clone();
        let provider = Provider::Local(config.embedding);
        let dense = (need == Need::Meaning).then(|| Dense {
            load: Box::new(move || embed::load(provider, &place, THREADS)),
            lock: Arc::new(CacheLock::of(&cache_dir)),
            cache_dir,
        });
        let setup = Setup {
            store: store.clone(),
            config: config.clone(),
            bound,
            watching,
            dense,
            checkpoints,
        };
        let engine = Engine::start(setup).map_err(|error| ApiError::Failed {
            exit: Exit::Internal,
            message: format!("failed to start the retriever: {error}"),
        })?;
        Ok(Core { engine, store, config, model_dir, query_log, links: <_>::default(), clock })
    }
}

/// Shows how far long work is, when a person watches.
fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("embedding {bar:30} {pos}/{len} {eta}");
    let bar = ProgressBar::new(0);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn unavailable(message: String) -> ApiError {
    ApiError::Failed { exit: Exit::Unavailable, message }
}

fn failed(error: &StoreError) -> ApiError {
    ApiError::Failed { exit: Exit::of_store(error), message: format!("failed to {error}") }
}

impl Wiring for Program<'_> {
    fn open(&mut self, settings: &Settings, need: Need) -> Result<Arc<dyn Api>, ApiError> {
        if let Some(as_of) = &settings.as_of {
            return Ok(Arc::new(self.as_of(settings, need, as_of)?));
        }
        match self.remote(settings, need, "command")? {
            Some(remote) => Ok(Arc::new(remote)),
            None => Ok(Arc::new(self.local(settings, need)?)),
        }
    }

    fn open_server(&mut self, settings: &Settings) -> Result<Arc<dyn Api>, ApiError> {
        self.is_server = true;
        self.life = Some(self.settle(settings)?.cache_dir);
        let Some(remote) = self.remote(settings, Need::Meaning, "mcp")? else {
            return Ok(Arc::new(self.local(settings, Need::Meaning)?));
        };
        let remote = Arc::new(remote);
        let prepared = Arc::clone(&remote);
        // Without a thread the first question waits a little longer.
        let _ = std::thread::Builder::new()
            .name("prepare".to_owned())
            .spawn(move || prepared.prepare());
        Ok(remote)
    }

    fn serve(
        &mut self,
        settings: &Settings,
        command: Serve,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        self.serve_others(settings, &command, messages)
    }

    fn serve_mcp(&mut self, api: Arc<dyn Api>) -> Exit {
        let clock = self.surroundings.clock;
        let heard = self.life.clone().map(|cache| {
            Arc::new(move |client: &str| {
                life::note(&cache, life::agent_of_client(client), "mcp", clock().now);
            }) as Arc<dyn Fn(&str) + Send + Sync>
        });
        stdio::serve_stdio(api, heard)
    }

    fn hook(&mut self, settings: &Settings, command: &Hook, process: &mut Process<'_>) -> Exit {
        self.answer_hook(settings, command, process)
    }

    fn index(&mut self, settings: &Settings, _messages: &mut dyn Write) -> Result<Reply, ApiError> {
        let local = self.local(settings, Need::Meaning)?;
        let bar = bar();
        let progress = loop {
            let (embedded, memories) = local.embedded()?;
            bar.set_length(u64::try_from(memories).unwrap_or(u64::MAX));
            bar.set_position(u64::try_from(embedded).unwrap_or(u64::MAX));
            let progress = local.engine().embedding();
            match progress.as_ref().map(|progress| &progress.state) {
                None => return Err(unavailable("no embedding model in this build".to_owned())),
                Some(WorkerState::Failed(error)) => return Err(unavailable(error.to_string())),
                Some(WorkerState::Loading | WorkerState::Ready { .. }) => {}
            }
            if let Some(progress) =
                progress.filter(|progress| embedded + progress.failed >= memories)
            {
                break progress;
            }
            std::thread::park_timeout(Duration::from_millis(LOOK_MS));
        };
        bar.finish_and_clear();
        let fresh = progress.done.saturating_sub(progress.from_cache);
        let text = format!(
            "{fresh} memories embedded now, {} from the cache, {} failed",
            progress.from_cache, progress.failed
        );
        let json = json!({ "embedded": fresh, "from_cache": progress.from_cache, "failed": progress.failed });
        Ok(Reply::new(text, json))
    }

    fn setup(
        &mut self,
        settings: &Settings,
        command: args::Setup,
    ) -> Result<(Exit, Reply), ApiError> {
        self.set_up(settings, command)
    }

    fn upkeep(&mut self, settings: &Settings, command: Upkeep) -> Result<(Exit, Reply), ApiError> {
        let checked = match command {
            Upkeep::Digest(_) => {
                return Ok((Exit::Done, self.open(settings, Need::Words)?.digest()?));
            }
            Upkeep::Verify(command) => self.verify(settings, &command)?,
            Upkeep::Scrub(command) => self.scrub(settings, &command)?,
            Upkeep::Archive(command) => return self.archive(settings, &command),
            Upkeep::Doctor(_) => self.doctor(settings),
        };
        let exit = match checked.verdict {
            Verdict::Fine => Exit::Done,
            Verdict::Wrong => Exit::NotFound,
        };
        Ok((exit, checked.reply))
    }

    fn eval(
        &mut self,
        settings: &Settings,
        command: Eval,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        self.measure(settings, command, messages)
    }

    fn model(
        &mut self,
        command: Model,
        settings: &Settings,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let directory = self.settle(settings)?.model_dir;
        if command == Model::Fetch {
            let mut tell = |line: &str| {
                // A message that cannot be delivered changes nothing about what happens.
                let _ = writeln!(messages, "{line}");
            };
            model::fetch(&directory, &mut tell).map_err(|error| ApiError::Failed {
                exit: Exit::Unavailable,
                message: error.to_string(),
            })?;
        }
        let status = model::status(&directory);
        let mut text = format!("model     {}\n", directory.display());
        for file in &status.files {
            text.push_str(&format!(
                "          {}: {}, {} bytes\n",
                file.name, file.state, file.bytes
            ));
        }
        text.push_str(if status.is_ready() {
            "ready     yes"
        } else {
            "ready     no: run agent-knowledge model fetch"
        });
        let json =
            json!({ "directory": directory.display().to_string(), "ready": status.is_ready() });
        Ok(Reply::new(text, json))
    }
}
