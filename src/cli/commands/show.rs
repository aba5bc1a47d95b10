//! `show`: memories in full, with their history; on a terminal in lines that fit. Not here: the layout (`terminal`).

use clap::Args;
use requests::Request;
use requests::listing::ShowArguments;
use terminal::memory_card::{TitleStyle, cards};

use crate::args::request::PastArguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// Show memories in full, with their history
#[derive(Debug, Args)]
pub struct Show {
    /// The request.
    #[command(flatten)]
    pub past: PastArguments<ShowArguments>,
}

/// Runs the command.
pub(super) fn show(context: &mut CommandContext<'_, '_>, command: &Show) -> CommandResult {
    let request: ShowArguments = command.past.arguments.read()?;
    let mut reply = context.ask(&Request::Show(request.ids.to_vec()))?;
    if let Some(columns) = context.process.columns {
        let is_colourful = context.process.is_colourful;
        let style = if is_colourful { TitleStyle::Bold } else { TitleStyle::Plain };
        reply.text = cards(&reply.text, columns, style);
    }
    Ok(CommandEnd::answer(command.past.form, reply))
}
