//! `feedback`: what became of a memory that somebody used. Not here: the rules about values (`requests`).

use clap::Args;
use requests::change::FeedbackArguments;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change;

/// Report whether a memory worked, failed, is stale or is still true
#[derive(Debug, Args)]
pub struct Feedback {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<FeedbackArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn feedback(context: &mut CommandContext<'_, '_>, command: &Feedback) -> CommandResult {
    memory_change::ask_change(context, command.form, command.arguments.read()?)
}
