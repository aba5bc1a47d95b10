//! Assembles the program `agent-knowledge`: settings, store, model, engine and faces. Not here: the process itself
//! (its arguments, environment and clock), which `process` passes in.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::args;
use crate::args::agent_files::{Export, Import};
use crate::args::hook::Hook;
use crate::args::init::GettingReady;
use crate::args::person::PersonCommand;
use crate::args::token::TokenCommand;
use crate::args::upkeep::Upkeep;
use crate::args::{ModelCommand, Serve};
use crate::command_context::Process;
use crate::judge::ChatModel;
use crate::judge::decision::Decided;
use clients::hooks::last_seen;
use mcp::mcp_server::Options;
use mcp::stdio;
use requests::tool::ToolSet;
use requests::{Api, ApiError, Reply};
use retriever::options::{GlobalOptions, Need};
use retriever::serve_options::ServeOptions;
use retriever::startup::{Retriever, Surroundings};

mod add;
mod agent_files;
mod asking;
mod browser;
mod config_command;
mod config_findings;
mod edit;
mod editor;
mod foreign_import;
mod home;
mod hook;
mod init;
mod lesson_form;
mod man_pages;
mod model_calibrate;
mod model_command;
mod model_use;
mod pick;
mod project_settings;
mod session_consent;
mod session_drafts;
mod session_names;
mod session_review;
mod session_state;
mod sessions;
mod setting_names;
mod setup;
mod stats;
mod tag;
mod team_standing;
mod team_sync;
mod team_text;
mod token;
mod ui;
mod upkeep;

use retriever::failure::unavailable;

use index::embed::worker::{Progress, WorkerState};
use writer::exit::Exit;

/// How often the progress is checked.
const LOOK_MS: u64 = 50;

/// The program: the commands around the process that opens the memory.
pub struct Program<'a> {
    retriever: Retriever<'a>,
    /// What commands find open, in tests.
    #[cfg(test)]
    pub(crate) opened: Option<Arc<dyn Api>>,
    /// With which options commands have opened it, in tests.
    #[cfg(test)]
    pub(crate) openings: Vec<GlobalOptions>,
}

impl<'a> std::ops::Deref for Program<'a> {
    type Target = Retriever<'a>;

    fn deref(&self) -> &Self::Target {
        &self.retriever
    }
}

impl std::ops::DerefMut for Program<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.retriever
    }
}

impl<'a> Program<'a> {
    /// Makes the program; nothing is opened yet.
    #[must_use]
    pub fn new(surroundings: Surroundings<'a>) -> Self {
        Self {
            retriever: Retriever::new(surroundings),
            #[cfg(test)]
            opened: None,
            #[cfg(test)]
            openings: Vec::new(),
        }
    }
}

/// Returns a progress bar with the parts that `template` names, visible when a person watches.
#[must_use]
pub fn bar(template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Program<'_> {
    /// Opens the memory for one command.
    ///
    /// # Errors
    /// [`ApiError::Failed`] with the exit it calls for.
    pub(crate) fn open(
        &mut self,
        settings: &GlobalOptions,
        need: Need,
    ) -> Result<Arc<dyn Api>, ApiError> {
        #[cfg(test)]
        if let Some(opened) = &self.opened {
            self.openings.push(settings.clone());
            return Ok(Arc::clone(opened));
        }
        if let Some(as_of) = &settings.as_of {
            return Ok(Arc::new(self.as_of(settings, need, as_of)?));
        }
        let api: Arc<dyn Api> = match self.remote(settings, need, "command")? {
            Some(remote) => Arc::new(remote),
            None => Arc::new(self.local(settings, need)?),
        };
        Ok(match self.surroundings.directory.notice() {
            Some(_) => self.directory_asked.noting(api),
            None => api,
        })
    }

    pub(crate) fn warnings(&mut self, settings: &GlobalOptions) -> Vec<String> {
        // Settings that cannot be read are told by the command that needs them.
        let settled = self.settle(settings).ok();
        settled.and_then(|settled| settled.config.warning()).into_iter().collect()
    }

    pub(crate) fn directory_notice(&self) -> Option<String> {
        self.surroundings.directory.notice().filter(|_| self.directory_asked.take())
    }

    pub(crate) fn open_server(
        &mut self,
        settings: &GlobalOptions,
        team: Option<&str>,
    ) -> Result<Arc<dyn Api>, ApiError> {
        self.opened_for_agents(settings, team)
    }

    pub(crate) fn serve(
        &mut self,
        settings: &GlobalOptions,
        command: Serve,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let doctor = self.doctor_of_server(settings);
        let options = ServeOptions { is_json: command.form.json, ..command.options };
        self.serve_others(settings, &options, doctor, messages)
    }

    pub(crate) fn tokens(
        &mut self,
        command: &TokenCommand,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        self.manage_tokens(command, messages)
    }

    pub(crate) fn ui(
        &mut self,
        settings: &GlobalOptions,
        command: &args::Ui,
    ) -> Result<Reply, ApiError> {
        self.show_dashboard(settings, command)
    }

    pub(crate) fn judge(
        &mut self,
        settings: &GlobalOptions,
        pair: &Value,
    ) -> Result<Decided, ApiError> {
        let config = self.settle(settings)?.config;
        ChatModel::configured(&config, self.surroundings.lookup)?.decided(pair)
    }

    pub(crate) fn home(&mut self, settings: &GlobalOptions) -> Result<Reply, ApiError> {
        self.home_of(settings)
    }

    pub(crate) fn serve_mcp(&mut self, api: Arc<dyn Api>, set: ToolSet) -> Exit {
        let clock = self.surroundings.clock;
        let heard = self.life.clone().map(|cache| {
            Arc::new(move |client: &str| {
                last_seen::record(&cache, last_seen::agent_of_client(client), "mcp", clock().now);
            }) as Arc<dyn Fn(&str) + Send + Sync>
        });
        stdio::serve_stdio(
            api,
            Options { set, heard, telling: self.telling.take(), ..Options::default() },
        )
    }

    pub(crate) fn hook(
        &mut self,
        settings: &GlobalOptions,
        command: &Hook,
        process: &mut Process<'_>,
    ) -> Exit {
        self.answer_hook(settings, command, process)
    }

    pub(crate) fn index(
        &mut self,
        settings: &GlobalOptions,
        _messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let local = self.local(settings, Need::Meaning)?;
        let bar = bar("embedding {bar:30} {pos}/{len} {eta}");
        let progress = loop {
            let (embedded, memories) = local.embedded()?;
            bar.set_length(u64::try_from(memories).unwrap_or(u64::MAX));
            bar.set_position(u64::try_from(embedded).unwrap_or(u64::MAX));
            let (progress, next) = (local.engine().embedding(), local.engine().next_embedding());
            // While a model is changed, the next one has the work.
            match next.as_ref().or(progress.as_ref()).map(|progress| &progress.state) {
                None => return Err(unavailable("no embedding model in this build".to_owned())),
                Some(WorkerState::Failed(error)) => return Err(unavailable(error.to_string())),
                Some(WorkerState::Loading | WorkerState::Ready { .. }) => {}
            }
            // A model that is loading may still fail, also where nothing is left to do.
            let is_whole = |progress: &Progress| {
                let is_loaded = progress.state != WorkerState::Loading;
                is_loaded && next.is_none() && embedded + progress.failed >= memories
            };
            if let Some(progress) = progress.filter(is_whole) {
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

    pub(crate) fn get_ready(
        &mut self,
        settings: &GlobalOptions,
        command: GettingReady,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        match command {
            GettingReady::Setup(setup) => self.set_up(settings, setup, messages),
            GettingReady::Init(init) => self.initialise(settings, init, messages),
        }
    }

    pub(crate) fn upkeep(
        &mut self,
        settings: &GlobalOptions,
        command: Upkeep,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        self.maintain(settings, command, messages)
    }

    pub(crate) fn import(
        &mut self,
        settings: &GlobalOptions,
        command: Import,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        self.bring_in(settings, &command, messages)
    }

    pub(crate) fn with_sessions_and_team(
        &mut self,
        settings: &GlobalOptions,
        reply: Reply,
    ) -> Reply {
        let settled = match self.settle(settings) {
            Ok(settled) => settled,
            Err(error) => return reply.and("settings", &error.to_string()),
        };
        let reply = match self.sessions_state(&settled) {
            Ok(state) => state.added_to(reply),
            Err(error) => reply.and("sessions", &error.to_string()),
        };
        self.with_team(&settled, reply)
    }

    pub(crate) fn sessions(
        &mut self,
        settings: &GlobalOptions,
        command: args::sessions::Sessions,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        self.past_sessions(settings, command, messages)
    }

    pub(crate) fn export(
        &mut self,
        settings: &GlobalOptions,
        command: Export,
    ) -> Result<Reply, ApiError> {
        self.hand_out(settings, &command)
    }

    pub(crate) fn person(
        &mut self,
        settings: &GlobalOptions,
        command: PersonCommand,
        process: &mut Process<'_>,
    ) -> Result<(Exit, Reply), ApiError> {
        match command {
            PersonCommand::Add(command) => self.add(settings, *command, process),
            PersonCommand::Edit(command) => self.edit(settings, &command, process),
            PersonCommand::Tag(command) => self.tag(settings, &command, process),
            PersonCommand::Pick(command) => self.pick(settings, *command, process.colour_choice),
            PersonCommand::Stats(command) => {
                let api = self.open(settings, Need::Words)?;
                Ok((Exit::Done, stats::stats(&*api, usize::from(command.days))?))
            }
            // The script is code, so nothing in it is changed for a reader.
            PersonCommand::Completions(command) => {
                let text = command.script(args::help::command());
                let json = json!({ "shell": command.shell, "script": text });
                Ok((Exit::Done, Reply { text, json }))
            }
            PersonCommand::ManPages(command) => {
                Ok((Exit::Done, man_pages::write(&self.path_from_here(&command.directory)?)?))
            }
            PersonCommand::Config(command) => self.config(settings, command, process),
        }
    }

    pub(crate) fn model(
        &mut self,
        command: ModelCommand,
        settings: &GlobalOptions,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        self.manage_model(settings, &command, messages)
    }
}
