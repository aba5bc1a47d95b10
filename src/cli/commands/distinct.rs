//! `distinct`: two memories that contradict each other only by their words. Not here: the rules about values (`requests`).

use clap::Args;
use requests::change::DistinctArguments;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change;

/// Mark two memories as not contradicting each other
#[derive(Debug, Args)]
pub struct Distinct {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<DistinctArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn distinct(context: &mut CommandContext<'_, '_>, command: &Distinct) -> CommandResult {
    memory_change::ask_change(context, command.form, command.arguments.read()?)
}
