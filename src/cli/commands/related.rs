//! `related`: what is linked to a memory or a file. Not here: the rules about values (`requests`).

use clap::Args;
use requests::Request;
use requests::related::RelatedRequest;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// List what is related to a memory or a file
#[derive(Debug, Args)]
pub struct Related {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<RelatedRequest>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn related(context: &mut CommandContext<'_, '_>, command: &Related) -> CommandResult {
    let request = Request::Related(command.arguments.read()?);
    Ok(CommandEnd::answer(command.form, context.ask(&request)?))
}
