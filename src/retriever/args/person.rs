//! The commands that only people need: agents have tools for the same. Not here: what they do (`program`).

use clap::Subcommand;

use super::OutputFormat;
use super::config::ConfigArguments;
use super::lesson::{Add, EditMemory};

/// What only people need.
#[derive(Debug, Subcommand)]
pub enum PersonCommand {
    /// Save a lesson; without one, an editor opens
    Add(Box<Add>),
    /// Change a memory in your editor
    Edit(EditMemory),
    /// Show and change the settings
    Config(ConfigArguments),
}

impl PersonCommand {
    /// Returns how the answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Add(command) => command.output,
            Self::Edit(command) => command.output,
            Self::Config(command) => command.form(),
        }
    }
}
