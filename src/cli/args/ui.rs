//! The `ui` command, as clap parses it. Not here: what it does (`program`).

use clap::Args;

use crate::args::output_format::OutputFormat;

const UI_HELP: &str = "\
If the running retriever does not answer over HTTP, another one that does takes its place, and agents connect to that. It
exits when no client and no open dashboard has been connected for a while.
The link signs in once, within a minute. Nobody else should see it until then.";

/// The `ui` command.
#[derive(Debug, Args)]
#[command(after_help = UI_HELP)]
pub struct Ui {
    /// Where to listen unless a server does already: a loopback address or a port
    /// [default: 127.0.0.1:7421, or any free port if that one is taken]
    #[arg(long, value_name = "ADDRESS", visible_alias = "port")]
    pub http: Option<String>,
    /// Only print the link
    #[arg(long)]
    pub no_open: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
