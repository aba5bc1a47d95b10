//! `search`: memories about an error, a command or a question; highlighted for a person. Not here: the search (`api`), the
//! colours (`terminal`).

use clap::Args;
use reply::SearchAnswer;
use requests::{Mode, Request, SearchRequest, Shape};
use retriever::options::MemoryNeed;
use terminal::highlight::highlighted;

use crate::args::request::PastArguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult, shape};
use crate::piped_input;

/// Find memories about an error, a command or a question
#[derive(Debug, Args)]
#[command(visible_alias = "find")]
pub struct Search {
    /// The request.
    #[command(flatten)]
    pub past: PastArguments<SearchRequest>,
}

/// Runs the command.
pub(super) fn search(context: &mut CommandContext<'_, '_>, command: &Search) -> CommandResult {
    let PastArguments { arguments, form, .. } = &command.past;
    let request = piped_input::with_query(context.process, arguments)?;
    // The answer for programs says which words were read as filters.
    let is_colourful = context.process.is_colourful;
    let shape = if is_colourful { Shape::Whole } else { shape(*form) };
    let request = SearchRequest { shape, ..request };
    let need = if request.mode == Mode::Lexical { MemoryNeed::Words } else { MemoryNeed::Meaning };
    let mut reply = context.open(need)?.ask(&Request::Search(request.clone()))?;
    if is_colourful {
        let answer: SearchAnswer = reply.answer().unwrap_or_default();
        let filters = answer.filters.unwrap_or_default();
        reply.text = highlighted(&reply.text, &request.query, &filters);
    }
    Ok(CommandEnd::answer(*form, reply))
}
