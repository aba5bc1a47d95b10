//! Whether a command answers in text or JSON. Not here: the commands.

use clap::Args;

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct OutputFormat {
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
}
