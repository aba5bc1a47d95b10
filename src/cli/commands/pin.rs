//! `pin`: memories that do not age. Not here: the rules about values (`requests`).

use clap::Args;
use requests::change::PinArguments;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change;

/// Keep memories from aging; --undo lets them age again
#[derive(Debug, Args)]
pub struct Pin {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<PinArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn pin(context: &mut CommandContext<'_, '_>, command: &Pin) -> CommandResult {
    memory_change::ask_change(context, command.form, command.arguments.read()?)
}
