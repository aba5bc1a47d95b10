//! What the commands need of the program, so that they can be tried without a process. Not here: the commands (`cli`), the
//! program (`program`).

use std::io::Write;
use std::sync::Arc;

use serde_json::Value;

use crate::args;
use crate::args::agent_files::{Export, Import};
use crate::args::hook::Hook;
use crate::args::init::GettingReady;
use crate::args::person::PersonCommand;
use crate::args::token::TokenCommand;
use crate::args::upkeep::Upkeep;
use crate::args::{ModelCommand, Serve};
use crate::command_context::Process;
use providers::chat_model::Decided;
use requests::tool::ToolSet;
use requests::{Api, ApiError, Reply};
use retriever::options::{GlobalOptions, Need};
use writer::exit::Exit;

/// What the commands need and only the program can provide.
pub trait Wiring {
    /// Opens the memory for one command.
    ///
    /// # Errors
    /// [`ApiError::Failed`] with the exit it calls for.
    fn open(&mut self, settings: &GlobalOptions, need: Need) -> Result<Arc<dyn Api>, ApiError>;

    /// Opens the memory for a server, which answers now rather than wait for a model; joined with that of a team's server, if
    /// the address of one is given.
    ///
    /// # Errors
    /// Those of [`Wiring::open`].
    fn open_server(
        &mut self,
        settings: &GlobalOptions,
        team: Option<&str>,
    ) -> Result<Arc<dyn Api>, ApiError>;

    /// Says in a line that another directory was taken for the one that was removed, where that decided something.
    fn directory_notice(&self) -> Option<String> {
        None
    }

    /// Says in a line each what somebody should know about the settings, whatever the command is.
    fn warnings(&mut self, _settings: &GlobalOptions) -> Vec<String> {
        Vec::new()
    }

    /// Says where the caller is, what is known, and what to do next.
    ///
    /// # Errors
    /// [`ApiError::Failed`].
    fn home(&mut self, settings: &GlobalOptions) -> Result<Reply, ApiError>;

    /// Serves MCP on the standard streams of the process until the client leaves.
    fn serve_mcp(&mut self, api: Arc<dyn Api>, tools: ToolSet) -> Exit;

    /// Runs the shared retriever until it stops, or stops the running one.
    ///
    /// # Errors
    /// [`ApiError`].
    fn serve(
        &mut self,
        settings: &GlobalOptions,
        command: Serve,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError>;

    /// Makes, lists or revokes tokens for clients of `serve --http`.
    ///
    /// # Errors
    /// [`ApiError`].
    fn tokens(
        &mut self,
        command: &TokenCommand,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError>;

    /// Opens the dashboard.
    ///
    /// # Errors
    /// [`ApiError`].
    fn ui(&mut self, settings: &GlobalOptions, command: &args::Ui) -> Result<Reply, ApiError>;

    /// Answers a hook of an agent. The exit code never disturbs the agent, whatever happens.
    fn hook(&mut self, settings: &GlobalOptions, command: &Hook, process: &mut Process<'_>)
    -> Exit;

    /// Embeds the memories that have no vector yet, and shows the progress.
    ///
    /// # Errors
    /// [`ApiError`].
    fn index(
        &mut self,
        settings: &GlobalOptions,
        progress: &mut dyn Write,
    ) -> Result<Reply, ApiError>;

    /// Sets up clients, or asks what to set up; also returns how the program ends.
    ///
    /// # Errors
    /// [`ApiError`].
    fn get_ready(
        &mut self,
        settings: &GlobalOptions,
        command: GettingReady,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError>;

    /// Checks or maintains the logs, and tells `messages` what is not the answer; also returns how the program ends.
    ///
    /// # Errors
    /// [`ApiError`].
    fn upkeep(
        &mut self,
        settings: &GlobalOptions,
        command: Upkeep,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError>;

    /// Asks the configured judge about two memories, given as the JSON of a review.
    ///
    /// # Errors
    /// [`ApiError::Failed`], also where no judge is configured.
    fn judge(&mut self, settings: &GlobalOptions, pair: &Value) -> Result<Decided, ApiError>;

    /// Imports agent files, and reports to `progress` while it watches them; also returns how the program ends.
    ///
    /// # Errors
    /// [`ApiError`].
    fn import(
        &mut self,
        settings: &GlobalOptions,
        command: Import,
        progress: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError>;

    /// Adds the state of past sessions to an answer.
    fn with_sessions_and_team(&mut self, settings: &GlobalOptions, reply: Reply) -> Reply;

    /// Reads, lists, shows or forgets past sessions of other tools; also returns how the program ends.
    ///
    /// # Errors
    /// [`ApiError`].
    fn sessions(
        &mut self,
        settings: &GlobalOptions,
        command: args::sessions::Sessions,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError>;

    /// Exports proven memories into an agent file.
    ///
    /// # Errors
    /// [`ApiError`].
    fn export(&mut self, settings: &GlobalOptions, command: Export) -> Result<Reply, ApiError>;

    /// Does what only people need; also returns how the program ends.
    ///
    /// # Errors
    /// [`ApiError`].
    fn person(
        &mut self,
        settings: &GlobalOptions,
        command: PersonCommand,
        process: &mut Process<'_>,
    ) -> Result<(Exit, Reply), ApiError>;

    /// Downloads the embedding model, or shows its state.
    ///
    /// # Errors
    /// [`ApiError`].
    fn model(
        &mut self,
        command: ModelCommand,
        settings: &GlobalOptions,
        progress: &mut dyn Write,
    ) -> Result<Reply, ApiError>;
}
