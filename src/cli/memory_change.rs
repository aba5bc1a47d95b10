//! What the commands that change memories have in common: asking for the change. Not here: their options (`commands`), the rules
//! about values (`requests`).

use clap::Args;
use requests::{ChangeExtent, ChangeRequest, LinkRequest, Request, Sweep, SweepRequest, Voice};
use retriever::options::MemoryNeed;
use serde_json::Value;
use writer::exit::Exit;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// Changes some memories.
pub(super) fn ask_change(
    context: &mut CommandContext<'_, '_>,
    form: OutputFormat,
    request: ChangeRequest,
) -> CommandResult {
    let api = context.open(MemoryNeed::Words)?;
    Ok(CommandEnd::answer(form, api.ask_as(&Request::Change(request), &Voice::Caller)?))
}

/// Whether it is done, and why.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// Do it; without this it is only shown
    #[arg(long)]
    pub apply: bool,
    /// Why, in words
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub reason: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Changes many memories at once, or shows which.
pub(super) fn ask_sweep(
    context: &mut CommandContext<'_, '_>,
    sweep: Sweep,
    options: &SweepOptions,
) -> CommandResult {
    let extent = if options.apply { ChangeExtent::Do } else { ChangeExtent::Show };
    let request = SweepRequest { sweep, extent, note: options.reason.clone() };
    Ok(CommandEnd::answer(options.form, context.ask(&Request::Sweep(request))?))
}

/// Makes links or ends some. Links that were refused are a failure, and the others are made.
pub(super) fn ask_link(
    context: &mut CommandContext<'_, '_>,
    form: OutputFormat,
    request: LinkRequest,
) -> CommandResult {
    let reply = context.open(MemoryNeed::Words)?.ask_as(&Request::Link(request), &Voice::Caller)?;
    let refused = reply.json.get("refused").and_then(Value::as_u64).unwrap_or(0);
    let exit = if refused > 0 { Exit::Invalid } else { Exit::Done };
    Ok(CommandEnd::Answer { form, exit, reply })
}
