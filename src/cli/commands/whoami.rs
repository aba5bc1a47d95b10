//! `whoami`: the repository of this directory, and why. Not here: finding it (`store`).

use clap::Args;
use requests::Request;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// Show which repository this directory belongs to, and why
#[derive(Debug, Args)]
pub struct Whoami {
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn whoami(context: &mut CommandContext<'_, '_>, command: &Whoami) -> CommandResult {
    Ok(CommandEnd::answer(command.form, context.ask(&Request::Whoami)?))
}
