//! `impact`: the memories that a change to a file may affect. Not here: the rules about values (`requests`).

use clap::Args;
use requests::related::{ImpactArguments, RelatedRequest};
use requests::{ApiError, Request};

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::CommandEnd;

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
pub(super) fn impact(
    context: &mut CommandContext<'_, '_>,
    command: &Impact,
) -> Result<CommandEnd, ApiError> {
    let request: RelatedRequest = command.arguments.read()?;
    Ok(CommandEnd::answer(command.form, context.ask(&Request::Related(request))?))
}
