//! Finds what the program says when it is called alone. Not here: the words (`reply`).

use serde_json::{Map, Value};

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::program::Program;
use index::embed::RUNS_MODEL;
use reply::Home;
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
        // Without a working directory there is no repository at hand.
        let here = match self.working_directory() {
            Some(_) => api.ask(&Request::Whoami)?.json,
            None => Value::Null,
        };
        let status = api.ask(&Request::Status)?.json;
        // Past sessions that cannot be read are for `doctor` to explain.
        let sessions = self.sessions_state(&settled).ok().and_then(|state| state.state_note());
        let clients = self.clients(Some(&settled.cache_dir)).unwrap_or_default();
        let count = |of: &Value, name: &str| of.get(name).and_then(Value::as_u64).unwrap_or(0);
        let repos = status.get("repos").and_then(Value::as_object).map_or(0, Map::len);
        let home = Home {
            repo: here.get("repo").and_then(Value::as_str).unwrap_or_default().to_owned(),
            memories_here: count(&here, "memories"),
            memories: count(&status, "memories"),
            repos: repos as u64,
            sessions,
            set_up: clients.set_up,
            left_out: clients.left_out,
            runs_model: RUNS_MODEL,
            has_model: status.pointer("/model/works") == Some(&Value::Bool(true)),
        };
        Ok(home.reply())
    }
}
