//! `recent`: the newest memories. Not here: the rules about values (`requests`).

use clap::Args;
use requests::Request;
use requests::listing::RecentArguments;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// List the newest memories
#[derive(Debug, Args)]
pub struct Recent {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<RecentArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn recent(context: &mut CommandContext<'_, '_>, command: &Recent) -> CommandResult {
    let request: RecentArguments = command.arguments.read()?;
    Ok(CommandEnd::answer(command.form, context.ask(&Request::Recent(request))?))
}
