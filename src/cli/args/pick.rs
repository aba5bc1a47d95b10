//! The `pick` command, as clap parses it. Not here: choosing (`picker`).

use api::requests::browse::OutlineRequest;
use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;

const PICK_HELP: &str = "\
Type to filter: every word must fit, its letters in their order. Arrows, page keys, Ctrl-P and
Ctrl-N choose, Enter prints the id, Esc leaves with exit 1. The list has the newest 20,000.

  agent-knowledge show \"$(agent-knowledge pick)\"
  agent-knowledge forget \"$(agent-knowledge pick flaky test)\"";

/// The `pick` command.
#[derive(Debug, Args)]
#[command(after_help = PICK_HELP)]
pub struct Pick {
    /// The words to begin with
    #[arg(value_name = "WORD")]
    pub words: Vec<String>,
    /// Print the whole memory instead of its id
    #[arg(long)]
    pub text: bool,
    /// What to choose from.
    #[command(flatten)]
    pub arguments: Arguments<OutlineRequest>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
