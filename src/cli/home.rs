//! Collects what the program shows when it is called without a command. Not here: the words (`reply`).

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::program::Program;
use index::embed::model::{FetchState, fetch_state};
use reply::{Home, StatusAnswer, WhoamiAnswer};
use requests::{ApiError, Reply, Request};
use retriever::options::{GlobalOptions, MemoryNeed};

/// Answers a call without a command.
pub(super) fn home(context: &mut CommandContext<'_, '_>, form: OutputFormat) -> CommandResult {
    let reply = context.program.home_reply(context.options)?;
    Ok(CommandEnd::answer(form, reply))
}

impl Program<'_> {
    /// Says where the caller is, what is known, and what to do next.
    ///
    /// # Errors
    /// [`ApiError::Failed`] if the store cannot be opened.
    pub(super) fn home_reply(&mut self, settings: &GlobalOptions) -> Result<Reply, ApiError> {
        let settled = self.resolve_settings(settings)?;
        let api = self.open(settings, MemoryNeed::Words)?;
        // Without a working directory there is no repository at hand, nor in one that is no project.
        let here = match self.working_directory() {
            Some(_) => api.ask_for::<WhoamiAnswer>(&Request::Whoami).ok(),
            None => None,
        };
        let status: StatusAnswer = api.ask_for(&Request::Status)?;
        // Past sessions that cannot be read are for `doctor` to explain.
        let sessions = self.sessions_state(&settled).ok().and_then(|state| state.state_note());
        let clients = self.clients(Some(&settled.cache_dir)).unwrap_or_default();
        let home = Home {
            memories_here: here.as_ref().map_or(0, |here| here.memories),
            repo: here.map_or_else(String::new, |here| here.repo),
            memories: status.memories,
            repos: status.repos.len(),
            sessions,
            set_up: clients.set_up,
            left_out: clients.left_out,
            has_model: status.model.works,
            fetches_model: matches!(fetch_state(&settled.model_dir), FetchState::Running(_)),
        };
        Ok(home.reply())
    }
}
