//! `unlink`: ends a link, or all links of an origin. Not here: the rules about values (`requests::links`).

use clap::Args;
use requests::LinkRequest;
use requests::links::{UnlinkArguments, read_end_of_origin};

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::memory_change;

/// End a link, or all links of an origin
#[derive(Debug, Args)]
pub struct Unlink {
    /// The link.
    #[command(flatten)]
    pub link: Arguments<UnlinkArguments>,
    /// End every link of this origin
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, conflicts_with = "source")]
    pub origin: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn unlink(context: &mut CommandContext<'_, '_>, command: &Unlink) -> CommandResult {
    let request = match &command.origin {
        Some(origin) => read_end_of_origin(origin)?,
        None => LinkRequest::One(command.link.read()?),
    };
    memory_change::ask_link(context, command.form, request)
}
