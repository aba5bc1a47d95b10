//! `serve`: the retriever that agents share. Not here: running it (`retriever`).

use clap::Args;
use retriever::serve_options::ServeOptions;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

const SERVE_HELP: &str = "\
Each user has one retriever per store and per set of settings that changes answers. mcp, search and the other queries
connect to it, and start it in the background if none is running. It exits when no client has been connected for a while.
A newer version replaces an older one.
With --http it also answers at http://ADDRESS/mcp, and `agent-knowledge ui` opens the dashboard. HTTP callers have no directory, so they must name the repository.
They must send a token, as \"Authorization: Bearer TOKEN\". It is read from AGENT_KNOWLEDGE_TOKEN, or else from a file
that only you can read; the first start creates that file and says where it is. agent-knowledge token makes others, with rights.
With --listen it answers others too, inside TLS 1.3: serve --listen 0.0.0.0:7443 --cert cert.pem --key key.pem
With AGENT_KNOWLEDGE_RETRIEVER=own a command does everything in its own process.";

/// Run the retriever that agents share; they start it
#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct Serve {
    /// What to serve, and to whom.
    #[command(flatten)]
    pub options: ServeOptions,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn serve(context: &mut CommandContext<'_, '_>, command: &Serve) -> CommandResult {
    let doctor = context.program.doctor_of_server(context.options);
    let options = ServeOptions { is_json: command.form.json, ..command.options.clone() };
    let messages = &mut *context.process.messages;
    let reply = context.program.serve_others(context.options, &options, doctor, messages)?;
    Ok(CommandEnd::answer(command.form, reply))
}
