//! `context`: a briefing at the start of work. Not here: what it tells (`api`), keeping it in a file (`watch`).

use std::path::PathBuf;

use clap::Args;
use requests::{ContextRequest, Request, Shape};
use retriever::options::MemoryNeed;

use crate::args::request::PastArguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult, shape};

mod briefing_watch;

const CONTEXT_HELP: &str = "\
--watch is for tools that load a file and run no hook: it writes the briefing there, at most once a
second, and again whenever the memories change it, until it is stopped. A file that it has not
written itself is never overwritten.";

/// Get a briefing at the start of work
#[derive(Debug, Args)]
#[command(after_help = CONTEXT_HELP)]
pub struct Context {
    /// The briefing.
    #[command(flatten)]
    pub past: PastArguments<ContextRequest>,
    /// Keep the briefing in this file
    #[arg(long, value_name = "FILE", conflicts_with = "as_of")]
    pub watch: Option<PathBuf>,
}

/// Runs the command; the model is needed only where something is asked.
pub(super) fn context(context: &mut CommandContext<'_, '_>, command: &Context) -> CommandResult {
    let Context { past: PastArguments { arguments, form, .. }, watch } = command;
    let request: ContextRequest = arguments.read()?;
    let is_asked = request.task.is_some() || !request.files.is_empty();
    let need = if is_asked { MemoryNeed::Meaning } else { MemoryNeed::Words };
    let api = context.open(need)?;
    let reply = match watch {
        Some(file) => {
            let request = ContextRequest { shape: Shape::Words, ..request };
            briefing_watch::watch_briefing(&*api, &request, file, context.process.messages)?
        }
        None => {
            let request = ContextRequest { shape: shape(*form), ..request };
            api.ask(&Request::Context(request))?
        }
    };
    Ok(CommandEnd::answer(*form, reply))
}
