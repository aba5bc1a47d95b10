//! The commands that only people need: agents have tools for the same. Not here: what they do (`program`).

use clap::{Args, Subcommand};

use crate::args::completions::Completions;
use crate::args::config::ConfigArguments;
use crate::args::lesson::{Add, EditMemory};
use crate::args::man_pages::ManPages;
use crate::args::output_format::OutputFormat;
use crate::args::pick::Pick;
use crate::args::tag::TagMemory;
use crate::args::whole_number::whole;

/// What only people need.
#[derive(Debug, Subcommand)]
pub enum PersonCommand {
    /// Save a lesson; without one, an editor opens
    Add(Box<Add>),
    /// Change a memory in your editor
    Edit(EditMemory),
    /// Suggest tags for a memory, or add some
    Tag(TagMemory),
    /// Choose a memory from a list that shortens as you type
    Pick(Box<Pick>),
    /// Show what was added, told to agents and reported over the last days
    Stats(Stats),
    /// Print the script that completes commands, options and ids in your shell
    #[command(visible_alias = "completion")]
    Completions(Completions),
    /// Write the manual pages into a directory
    ManPages(ManPages),
    /// Show and change the settings
    Config(ConfigArguments),
}

/// The `stats` command.
#[derive(Debug, Args)]
#[command(after_help = STATS_HELP)]
pub struct Stats {
    /// How many days, of which today is the last, 1 to 366; a day begins at 0:00 UTC
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = whole::<u16>(1..=366, 30))]
    pub days: u16,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

const STATS_HELP: &str = "\
told: memories that hooks and tools gave to agents. helped and failed: those that an agent
reported on after it was told them. tokens of logs: what reading the log of the repository
instead would have cost, once for each session.";

impl PersonCommand {
    /// Returns how the answer is printed.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match self {
            Self::Add(command) => command.output,
            Self::Edit(command) => command.output,
            Self::Tag(command) => command.form,
            Self::Pick(command) => command.form,
            Self::Stats(command) => command.form,
            Self::Completions(command) => command.form,
            Self::ManPages(command) => command.form,
            Self::Config(command) => command.form(),
        }
    }
}
