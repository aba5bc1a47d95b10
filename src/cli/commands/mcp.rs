//! `mcp`: serves MCP on standard input and output. Not here: the protocol (`mcp`), opening a memory for it (`retriever`).

use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clients::hooks::last_seen;
use mcp::mcp_server::McpOptions;
use mcp::stdio::serve_stdio;
use requests::tool::ToolSet;

use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

/// Serve MCP on standard input and output; agents start it
#[derive(Debug, Args)]
pub struct Mcp {
    /// The tools: `usual`, or `full` with those that link, check and analyze the memory
    #[arg(
        long,
        value_name = "SET",
        default_value = "usual",
        value_parser = PossibleValuesParser::new(["usual", "full"]).map(|word| ToolSet::named(&word))
    )]
    pub tools: ToolSet,
    /// Also ask this team's server, an https address, and deliver what is saved to it (docs/operate/replicas.md).
    /// The token is read from AGENT_KNOWLEDGE_TOKEN
    #[arg(long, value_name = "URL")]
    pub remote: Option<String>,
}

/// Runs the command.
pub(super) fn mcp(context: &mut CommandContext<'_, '_>, command: &Mcp) -> CommandResult {
    let api = context.program.open_for_agents(context.options, command.remote.as_deref())?;
    // For the calls of the client the directory may decide something, which is told before they come.
    context.report_directory();
    let program = &mut *context.program;
    let clock = program.surroundings.clock;
    let heard = program.last_seen_folder.clone().map(|cache| {
        Arc::new(move |client: &str| {
            last_seen::record(&cache, last_seen::agent_of_client(client), "mcp", clock().now);
        }) as Arc<dyn Fn(&str) + Send + Sync>
    });
    let (set, telling) = (command.tools, program.recorder.take());
    let options = McpOptions {
        tool_set: set,
        on_client_name: heard,
        recorder: telling,
        ..McpOptions::default()
    };
    Ok(CommandEnd::Exit(serve_stdio(api, options)))
}
