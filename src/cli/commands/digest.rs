//! `digest`: a checksum of the memories. Not here: computing it (`engine`).

use clap::Args;
use requests::Request;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

const DIGEST_HELP: &str = "\
The checksum depends on the set of lines alone. It does not depend on their order, on
repetitions, on how many files hold them, or on restarts. It covers the memories, what is said
about them, conflicts, and the index of words. It does not cover vectors, whose last bits depend
on the processor. A line that names no repository counts for the one its file is named after.

A running MCP server gives the checksum of its own state as the resource memory://digest.";

/// Print a checksum of the memories; equal memories give equal checksums
#[derive(Debug, Args)]
#[command(after_help = DIGEST_HELP)]
pub struct Digest {
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn digest(context: &mut CommandContext<'_, '_>, command: &Digest) -> CommandResult {
    Ok(CommandEnd::answer(command.form, context.ask(&Request::Digest)?))
}
