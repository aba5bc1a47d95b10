//! `status`: the state of the logs, the indexes and the model, of past sessions and of the team. Not here: the words (`reply`).

use clap::Args;
use requests::Request;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

mod sessions_state;
mod team_status;

/// Show the state of the logs, the indexes and the model
#[derive(Debug, Args)]
pub struct Status {
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn status(context: &mut CommandContext<'_, '_>, command: &Status) -> CommandResult {
    let reply = context.ask(&Request::Status)?;
    let program = &*context.program;
    let settled = match program.resolve_settings(context.options) {
        Ok(settled) => settled,
        Err(error) => {
            return Ok(CommandEnd::answer(
                command.form,
                reply.with_line("settings", &error.to_string()),
            ));
        }
    };
    let reply = match program.sessions_state(&settled) {
        Ok(state) => state.added_to(reply),
        Err(error) => reply.with_line("sessions", &error.to_string()),
    };
    Ok(CommandEnd::answer(command.form, program.with_team(&settled, reply)))
}
