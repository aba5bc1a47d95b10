//! The commands that only people need: agents have tools for the same. Not here: what they do (`program`).

use clap::Subcommand;

use super::OutputFormat;
use super::lesson::Add;

/// What only people need.
#[derive(Debug, Subcommand)]
pub enum PersonCommand {
    /// Save a lesson; without one, an editor opens
    Add(Box<Add>),
}

impl PersonCommand {
    /// Returns how the answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Add(command) => command.output,
        }
    }
}
