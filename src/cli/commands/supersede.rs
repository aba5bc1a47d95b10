//! `supersede`: one memory takes the place of others. Not here: the rules about values (`requests`).

use clap::Args;
use requests::change::SupersedeArguments;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change;

/// Replace memories by another memory
#[derive(Debug, Args)]
#[command(visible_alias = "replace")]
pub struct Supersede {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<SupersedeArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn supersede(
    context: &mut CommandContext<'_, '_>,
    command: &Supersede,
) -> CommandResult {
    memory_change::ask_change(context, command.form, command.arguments.read()?)
}
