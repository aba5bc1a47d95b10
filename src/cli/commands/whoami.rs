//! `whoami`: the repository of this directory, and why. Not here: finding it (`place`).

use clap::Args;
use serde_json::json;

use requests::Request;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// Show which repository this directory belongs to, and why
#[derive(Debug, Args)]
pub struct Whoami {
    /// Show the steps by which it was found
    #[arg(long)]
    pub explain: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn whoami(context: &mut CommandContext<'_, '_>, command: &Whoami) -> CommandResult {
    let steps = match command.explain {
        true => context.program.place_steps(&context.program.resolve_settings(context.options)?),
        false => Vec::new(),
    };
    let reply = match context.ask(&Request::Whoami) {
        Ok(reply) => reply,
        Err(error) => {
            // The steps say most where no repository was found.
            for step in &steps {
                let _ = writeln!(context.process.messages, "step      {step}");
            }
            return Err(error);
        }
    };
    let reply = steps.iter().fold(reply, |reply, step| reply.with_line("step", step));
    let reply = match steps.is_empty() {
        true => reply,
        false => reply.with_field("steps", json!(steps)),
    };
    Ok(CommandEnd::answer(command.form, reply))
}
