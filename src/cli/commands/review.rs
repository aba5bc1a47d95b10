//! `review`: pairs of memories that may contradict each other, and what the configured judge decides about them. Not here:
//! finding the pairs (`api`), carrying out a decision (`judgement`).

use clap::Args;
use requests::listing::ReviewRequest;
use requests::{ChangeExtent, Request};
use retriever::options::MemoryNeed;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::chat_failure::chat_error;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use providers::chat_model::ChatModel;

mod judgement;

/// List pairs of memories that may contradict each other
#[derive(Debug, Args)]
pub struct Review {
    /// The request.
    #[command(flatten)]
    pub request: Arguments<ReviewRequest>,
    /// Ask the configured judge about each pair (needs `[judge]` in the configuration)
    #[arg(long)]
    pub judge: bool,
    /// Carry out what the judge decides; without this it is only shown
    #[arg(long, requires = "judge")]
    pub apply: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn review(context: &mut CommandContext<'_, '_>, command: &Review) -> CommandResult {
    let request: ReviewRequest = command.request.read()?;
    let api = context.open(MemoryNeed::Words)?;
    let mut reply = api.ask(&Request::Review(request))?;
    if command.judge {
        let doing = if command.apply { ChangeExtent::Do } else { ChangeExtent::Show };
        let program = &*context.program;
        reply = judgement::judge_pairs(&*api, &reply, doing, &mut |pair| {
            let config = program.resolve_settings(context.options)?.config;
            let model =
                ChatModel::configured(&config, program.surroundings.lookup).map_err(chat_error)?;
            model.decide(pair).map_err(chat_error)
        })?;
    }
    Ok(CommandEnd::answer(command.form, reply))
}
