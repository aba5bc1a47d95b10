//! `forget`: takes memories out of all answers. Not here: the rules about values (`requests`).

use clap::Args;
use requests::change::ForgetArguments;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change;

/// Take memories out of all answers; --undo brings them back
#[derive(Debug, Args)]
#[command(visible_aliases = ["rm", "delete"])]
pub struct Forget {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<ForgetArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn forget(context: &mut CommandContext<'_, '_>, command: &Forget) -> CommandResult {
    memory_change::ask_change(context, command.form, command.arguments.read()?)
}
