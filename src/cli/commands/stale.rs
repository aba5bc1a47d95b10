//! `stale`: the memories that the work tree or its git history contradicts. Not here: the rules about values (`requests`).

use clap::Args;
use requests::Request;
use requests::listing::StaleRequest;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

const STALE_HELP: &str = "\
Compares each memory of this repository that names files (in its field or in its texts) or a
commit with git. The comparison starts at the commit the memory was written at, or at the last
report that it worked or holds. Reported are: files that were removed or changed since; code
names (in backticks or fences) that no longer occur in any of its files; and a commit that is in
no branch and no tag. Uncommitted changes do not count. Pinned memories are skipped. Nothing is
changed or hidden.";

/// List memories that this work tree or its git history contradicts
#[derive(Debug, Args)]
#[command(after_help = STALE_HELP)]
pub struct Stale {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<StaleRequest>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn stale(context: &mut CommandContext<'_, '_>, command: &Stale) -> CommandResult {
    let request = Request::Stale(command.arguments.read()?);
    Ok(CommandEnd::answer(command.form, context.ask(&request)?))
}
