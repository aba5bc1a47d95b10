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
use super::args::{Eval, Model, Upkeep};
use super::cli::{Need, Settings, Wiring};
use super::local::{Local, Parts};
use super::stdio;

mod eval;
mod upkeep;

use crate::retriever::CacheLock;
use crate::retriever::engine::{Dense, Engine, Setup};
use crate::retriever::index::embed::worker::WorkerState;
use crate::retriever::index::embed::{self, Provider, model};
use crate::retriever::index::vector::VECTOR_BYTES;
use crate::retriever::projection::Bound;
use crate::retriever::upkeep::Verdict;
use crate::retriever::watch::Watching;
use crate::store::{Config, MemoryMib, Places, Store, StoreError};
use crate::writer::exit::Exit;
use crate::writer::program::settle;
use crate::writer::{Identity, Moment, Writer};

/// Threads of one inference: a background program must leave the machine to the work.
const THREADS: NonZeroUsize = NonZeroUsize::MIN;

/// How long a command waits for its query's vector, the loading of the model included. A person who
/// asks by hand waits once; loading was measured to take about a second on a busy machine.
const COMMAND_QUERY_WAIT_MS: u64 = 15_000;

/// How long a server's query waits: an agent would rather have the words' answer now, and a client
/// that has left is waited for no longer than half a second.
const SERVER_QUERY_WAIT_MS: u64 = 400;

/// How long a command lets new memories be embedded before it answers: a handful is worth a moment,
/// a whole store is what `index` is for.
const COMMAND_EMBED_WAIT_MS: u64 = 1_500;

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
    /// The name of this machine, where it has one.
    pub host: Option<String>,
    /// Tells the time, and gives random bits.
    pub clock: fn() -> Moment,
}

/// From where and when the memory is asked.
struct Asking {
    directory: PathBuf,
    clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

/// The wiring of the program.
pub struct Program<'a> {
    surroundings: Surroundings<'a>,
    is_server: bool,
}

/// Everything that settings decide.
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
        Self { surroundings, is_server: false }
    }

    fn settle(&self, settings: &Settings) -> Result<Settled, ApiError> {
        let lookup = self.surroundings.lookup;
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let (store, config) =
            settle(lookup, settings.logs.clone()).map_err(|error| failed(&error))?;
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
        let watching = if self.is_server { settled.watching } else { Watching::PollOnly };
        if watching == Watching::System {
            // A store that does not exist yet could not be watched. What cannot be made is reported
            // by the reading that follows.
            let _ = settled.store.ensure();
        }
        let model_dir = settled.model_dir.clone();
        let dense = (need == Need::Meaning).then(|| Dense {
            load: Box::new(move || embed::load(Provider::Local, &model_dir, THREADS)),
            lock: Arc::new(CacheLock::of(&settled.cache_dir)),
            cache_dir: settled.cache_dir,
        });
        let setup = Setup {
            store: settled.store.clone(),
            config: settled.config.clone(),
            bound: settled.bound,
            watching,
            dense,
        };
        let engine = Engine::start(setup).map_err(|error| ApiError::Failed {
            exit: Exit::Internal,
            message: format!("failed to start the retriever: {error}"),
        })?;
        let writer = Writer {
            store: settled.store,
            config: settled.config,
            directory: asking.directory,
            identity: Identity::from_environment(self.surroundings.lookup)
                .on(self.surroundings.host.as_deref()),
        };
        let wait_ms = if self.is_server { SERVER_QUERY_WAIT_MS } else { COMMAND_QUERY_WAIT_MS };
        Ok(Local::new(Parts {
            engine,
            writer,
            model_dir: settled.model_dir,
            clock: asking.clock,
            query_wait: Duration::from_millis(wait_ms),
            embed_wait: Duration::from_millis(if self.is_server {
                0
            } else {
                COMMAND_EMBED_WAIT_MS
            }),
        }))
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
        Ok(Arc::new(self.local(settings, need)?))
    }

    fn open_server(&mut self, settings: &Settings) -> Result<Arc<dyn Api>, ApiError> {
        self.is_server = true;
        self.open(settings, Need::Meaning)
    }

    fn serve_mcp(&mut self, api: Arc<dyn Api>) -> Exit {
        stdio::serve_stdio(api)
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

    fn upkeep(&mut self, settings: &Settings, command: Upkeep) -> Result<(Exit, Reply), ApiError> {
        let checked = match command {
            Upkeep::Digest(_) => {
                return Ok((Exit::Done, self.open(settings, Need::Words)?.digest()?));
            }
            Upkeep::Verify(command) => self.verify(settings, &command)?,
            Upkeep::Scrub(command) => self.scrub(settings, &command)?,
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
