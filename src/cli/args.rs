//! The command line of `agent-knowledge`, as clap parses it. The options of a request come from `requests`;
//! this
//! folder has what several commands share. Not here: the commands (`commands`).

use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use terminal::highlight::ColourChoice;

use crate::commands::MainCommand;

pub mod help;
pub mod output_format;
pub mod request;
pub mod whole_number;

/// Recall what agents have learned, across repositories.
#[derive(Debug, Parser)]
#[command(name = "agent-knowledge", version, max_term_width = 100)]
pub struct CommandLine {
    /// The directory of the logs
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub logs: Option<PathBuf>,
    /// The directory of the embedding model
    #[arg(long, global = true, value_name = "DIR", help_heading = "Settings")]
    pub model: Option<PathBuf>,
    /// When there are colours: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = "Settings",
        value_parser = PossibleValuesParser::new(["auto", "always", "never"]).map(|word| ColourChoice::from_word(&word))
    )]
    pub color: ColourChoice,
    /// Print one line of JSON; goes after the command: agent-knowledge search x --json
    #[arg(long, hide_short_help = true)]
    pub json: bool,
    /// What to do; without it, the program shows where you are and what comes next.
    #[command(subcommand)]
    pub command: Option<MainCommand>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_help_tells_the_bounds_that_are_checked() {
        let help = |name: &str| {
            let mut command = CommandLine::command();
            command.find_subcommand_mut(name).unwrap().render_long_help().to_string()
        };
        let limit = format!("1 to {} [default: {}]", requests::LIMIT_MAX, requests::LIMIT_DEFAULT);
        let tokens = format!("{} to {} [default: ", requests::TOKENS_MIN, requests::TOKENS_MAX);
        for (command, bounds) in [
            ("search", limit.clone()),
            ("recent", limit),
            ("search", format!("{tokens}{}]", requests::SEARCH_TOKENS_DEFAULT)),
            ("context", format!("{tokens}{}]", requests::CONTEXT_TOKENS_DEFAULT)),
            ("export", format!("{tokens}{}]", requests::EXPORT_TOKENS_DEFAULT)),
            (
                "analyze",
                format!(
                    "{tokens}{}; for a brief {}]",
                    requests::ANALYSIS_TOKENS_DEFAULT,
                    requests::BRIEF_TOKENS_DEFAULT
                ),
            ),
        ] {
            assert!(help(command).contains(&bounds), "{command}: {bounds}\n{}", help(command));
        }
    }
}
