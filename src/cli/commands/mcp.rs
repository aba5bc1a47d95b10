//! `mcp`: serves MCP on standard input and output. Not here: the protocol (`mcp`), opening a memory for it (`retriever`).

use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clients::hooks::last_seen;
use mcp::server_options::McpOptions;
use mcp::stdio::serve_stdio;
use requests::tool::ToolSet;
use retriever::team_member::AgentMemory;

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
    /// Where the session works, if that is not the working directory. What a client should have replaced, such as
    /// ${workspaceFolder}, counts as not given
    #[arg(long, value_name = "DIR")]
    pub directory: Option<String>,
}

/// Runs the command.
pub(super) fn mcp(context: &mut CommandContext<'_, '_>, command: &Mcp) -> CommandResult {
    let (team, directory) = (command.remote.as_deref(), command.directory.as_deref());
    let AgentMemory { api, place } =
        context.program.open_for_agents(context.options, team, directory)?;
    // The directory may decide something in the calls of the client, so the notice comes before them.
    context.report_directory();
    let program = &mut *context.program;
    let clock = program.surroundings.clock;
    let on_client_name = program.last_seen_folder.clone().map(|cache| {
        Arc::new(move |client: &str| {
            last_seen::record(&cache, last_seen::agent_of_client(client), "mcp", clock().now);
        }) as Arc<dyn Fn(&str) + Send + Sync>
    });
    let (tool_set, recorder) = (command.tools, program.recorder.take());
    let place = Some(place);
    let options = McpOptions { tool_set, on_client_name, recorder, place, ..McpOptions::default() };
    Ok(CommandEnd::Exit(serve_stdio(api, options)))
}
