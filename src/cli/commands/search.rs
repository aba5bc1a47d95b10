//! `search`: memories about an error, a command or a question; highlighted for a person. Not here: the search (`api`), the
//! colours (`terminal`).

use clap::Args;
use requests::{Mode, Request, SearchRequest};
use retriever::options::Need;
use terminal::highlight::highlighted;

use crate::args::request::Past;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult, shape};
use crate::piped;

/// Find memories about an error, a command or a question
#[derive(Debug, Args)]
#[command(visible_alias = "find")]
pub struct Search {
    /// The request.
    #[command(flatten)]
    pub past: Past<SearchRequest>,
}

/// Runs the command.
pub(super) fn search(context: &mut CommandContext<'_, '_>, command: &Search) -> CommandResult {
    let Past { arguments, form, .. } = &command.past;
    let request = piped::with_query(context.process, arguments)?;
    let request = SearchRequest { shape: shape(*form), ..request };
    let need = if request.mode == Mode::Lexical { Need::Words } else { Need::Meaning };
    let mut reply = context.open(need)?.ask(&Request::Search(request.clone()))?;
    if context.process.is_colourful {
        reply.text = highlighted(&reply.text, &request.query);
    }
    Ok(CommandEnd::answer(*form, reply))
}
