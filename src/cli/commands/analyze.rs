//! `analyze`: hubs, bridges, gaps and clusters of the memory. Not here: the rules about values (`requests`).

use clap::Args;
use requests::Request;
use requests::analysis::AnalyzeRequest;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};

const ANALYZE_HELP: &str = "\
hubs      memories with the most links; links that a program made by itself (auto) do not count
bridges   memories that connect different kinds of knowledge (betweenness, from 64 sources)
gaps      memories with no link or one link, proven ones first
clusters  lessons that one repository has several times
brief     an overview in 200 tokens
reflect   memories without links and what they may belong to, as a task for an agent; no model
          is called
searches  searches that found nothing, grouped by wording; from a private log in the cache
          directory
With more than 20,000 memories only the newest 20,000 are analyzed.";

/// Find hubs, bridges, gaps, clusters and searches without hits
#[derive(Debug, Args)]
#[command(after_help = ANALYZE_HELP)]
pub struct Analyze {
    /// The request.
    #[command(flatten)]
    pub arguments: Arguments<AnalyzeRequest>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn analyze(context: &mut CommandContext<'_, '_>, command: &Analyze) -> CommandResult {
    let request = Request::Analyze(command.arguments.read()?);
    Ok(CommandEnd::answer(command.form, context.ask(&request)?))
}
