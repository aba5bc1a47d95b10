//! The `tag` command, as clap parses it. Not here: finding tags (`search`), adding them (`program::tag`).

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::args::whole_number::whole;

const TAG_HELP: &str = "\
Without tags it only suggests: tags that similar memories have, and those that the memory names.
A log is never changed: adding saves a new version, which replaces the old one, as edit does.

  agent-knowledge tag ZSGJ6E1G           what suggests itself
  agent-knowledge tag ZSGJ6E1G --apply   add all of it
  agent-knowledge tag ZSGJ6E1G --ask     what the language model of [judge] suggests
  agent-knowledge tag ZSGJ6E1G ci npm    add these";

/// The `tag` command.
#[derive(Debug, Args)]
#[command(after_help = TAG_HELP)]
pub struct TagMemory {
    /// The memory: its id, or any unique short form of it
    #[arg(value_name = "ID")]
    pub id: String,
    /// Tags to add
    #[arg(value_name = "TAG", conflicts_with = "apply")]
    pub tags: Vec<String>,
    /// Ask the language model of the configuration; a private memory is never shown to it
    #[arg(long, conflicts_with = "tags")]
    pub ask: bool,
    /// Add the suggested tags
    #[arg(long)]
    pub apply: bool,
    /// Most suggestions, 1 to 20
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u8>(1..=20, 5))]
    pub limit: u8,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}
