//! `impact`: the memories that a change to a file may affect. Not here: the rules about values (`requests`).

use clap::Args;
use requests::Request;
use requests::related::ImpactArguments;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// List memories that a change to a file may affect
#[derive(Debug, Args)]
pub struct Impact {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<ImpactArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn impact(context: &mut CommandContext<'_, '_>, command: &Impact) -> CommandResult {
    let request = Request::Related(command.arguments.read()?);
    Ok(CommandEnd::answer(command.form, context.ask(&request)?))
}
