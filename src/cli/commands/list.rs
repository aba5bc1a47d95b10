//! `list`: all memories, page by page; on a terminal as a table. Not here: the table (`terminal`).

use clap::Args;
use requests::browse::BrowseRequest;
use requests::{Listing, Request};
use terminal::memory_table;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// List all memories, page by page
#[derive(Debug, Args)]
#[command(visible_alias = "ls")]
pub struct List {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<BrowseRequest>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn list(context: &mut CommandContext<'_, '_>, command: &List) -> CommandResult {
    let listing = Listing::Page(Box::new(command.arguments.read()?));
    let mut reply = context.ask(&Request::List(listing))?;
    let columns = context.process.columns;
    let table = columns.zip(reply.answer().ok());
    let table = table.and_then(|(columns, page)| memory_table::table(&page, columns));
    reply.text = table.unwrap_or(reply.text);
    Ok(CommandEnd::answer(command.form, reply))
}
