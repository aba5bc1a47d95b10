//! `patterns`: lessons that several repositories learned independently. Not here: finding them (`api`).

use clap::Args;
use requests::analysis::PatternsArguments;
use requests::{
    AcceptedPattern, Api, ApiError, FINDINGS_MAX, PatternsRequest, Request, TOKENS_MIN, Voice,
};
use retriever::options::MemoryNeed;
use serde_json::Value;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// List lessons that several repositories learned independently
#[derive(Debug, Args)]
pub struct Patterns {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<PatternsArguments>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn patterns(context: &mut CommandContext<'_, '_>, command: &Patterns) -> CommandResult {
    let request: PatternsRequest = command.arguments.read()?;
    let api = context.open(MemoryNeed::Words)?;
    let request = by_mark(request, &*api)?;
    let reply = api.ask_as(&Request::Patterns(request), &Voice::Caller)?;
    Ok(CommandEnd::answer(command.form, reply))
}

/// Replaces the number of an accepted pattern by its mark. Numbers shift when a pattern is accepted, and a request
/// may be sent twice when the retriever goes away.
fn by_mark(request: PatternsRequest, api: &dyn Api) -> Result<PatternsRequest, ApiError> {
    let PatternsRequest::Accept(accepted) = &request else { return Ok(request) };
    let Some(place) = accepted.which.parse::<usize>().ok().and_then(|number| number.checked_sub(1))
    else {
        return Ok(request);
    };
    let list = PatternsRequest::List { limit: FINDINGS_MAX, max_tokens: TOKENS_MIN };
    let listed = api.ask_as(&Request::Patterns(list), &Voice::Caller)?;
    let mark = listed.json.pointer(&format!("/patterns/{place}/mark")).and_then(Value::as_str);
    let Some(mark) = mark else { return Ok(request) };
    let accepted = AcceptedPattern { which: mark.to_owned(), ..accepted.clone() };
    Ok(PatternsRequest::Accept(accepted))
}
