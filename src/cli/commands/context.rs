//! `context`: a briefing at the start of work. Not here: what it tells (`api`), keeping it in a file (`watch`).

use std::path::PathBuf;

use clap::Args;
use requests::{ContextRequest, Request, Shape};
use retriever::options::Need;

use crate::args::request::Past;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult, shape};

mod watch;

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
    pub past: Past<ContextRequest>,
    /// Keep the briefing in this file
    #[arg(long, value_name = "FILE", conflicts_with = "as_of")]
    pub watch: Option<PathBuf>,
}

/// Runs the command; the model is needed only where something is asked.
pub(super) fn context(context: &mut CommandContext<'_, '_>, command: &Context) -> CommandResult {
    let Context { past: Past { arguments, form, .. }, watch } = command;
    let request: ContextRequest = arguments.read()?;
    let is_asked = request.task.is_some() || !request.files.is_empty();
    let need = if is_asked { Need::Meaning } else { Need::Words };
    let api = context.open(need)?;
    let reply = match watch {
        Some(file) => {
            let request = ContextRequest { shape: Shape::Words, ..request };
            watch::watch(&*api, &request, file, context.process.messages)?
        }
        None => {
            let request = ContextRequest { shape: shape(*form), ..request };
            api.ask(&Request::Context(request))?
        }
    };
    Ok(CommandEnd::answer(*form, reply))
}
