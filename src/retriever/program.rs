//! Puts the `agent-knowledge` program together: settings, store, model, engine, faces.
//! Not here: the process itself (its arguments, environment, clock), which `main` passes in.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::args::{self, Export, Hook, Import, Model, Serve, Upkeep};
use super::cli::{Need, Process, Settings, Wiring};
use super::judge::{self, Decided};
use crate::mcp::stdio;
use api::{Api, ApiError, Reply};
use clients::hooks::life;

mod agent_files;
mod as_of;
mod hook;
mod http;
mod opening;
mod setup;
mod shared;
mod unused;
mod upkeep;

use opening::Watches;

pub use opening::{Asking, Settled};

use ::upkeep::CheckVerdict;
use index::embed::model;
use index::embed::worker::WorkerState;
use store::StoreError;
use writer::Moment;
use writer::exit::Exit;

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

/// The wiring of the program.
pub struct Program<'a> {
    surroundings: Surroundings<'a>,
    is_server: bool,
    /// Where signs of life go, once that is settled.
    life: Option<PathBuf>,
}

impl<'a> Program<'a> {
    /// Prepares the wiring; nothing is opened yet.
    #[must_use]
    pub fn new(surroundings: Surroundings<'a>) -> Self {
        Self { surroundings, is_server: false, life: None }
    }

    /// Returns what the process gave.
    #[must_use]
    pub fn surroundings(&self) -> &Surroundings<'a> {
        &self.surroundings
    }
}

/// Shows how far long work is, when a person watches.
#[must_use]
pub fn bar() -> ProgressBar {
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

    fn judge(&mut self, settings: &Settings, pair: &Value) -> Result<Decided, ApiError> {
        let Some(judge) = self.settle(settings)?.config.judge else {
            let message = "there is no judge: the configuration has no [judge] that names a command, or a url and a model".to_owned();
            return Err(ApiError::Failed { exit: Exit::Config, message });
        };
        judge::decided(&judge, pair, self.surroundings.lookup)
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
            CheckVerdict::Fine => Exit::Done,
            CheckVerdict::Wrong => Exit::NotFound,
        };
        Ok((exit, checked.reply))
    }

    fn import(
        &mut self,
        settings: &Settings,
        command: Import,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        self.take_over(settings, &command, messages)
    }

    fn export(&mut self, settings: &Settings, command: Export) -> Result<Reply, ApiError> {
        self.write_block(settings, &command)
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
        if status.made_bytes > 0 {
            let made = format!("          made of them: {} bytes\n", status.made_bytes);
            text.push_str(&made);
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
