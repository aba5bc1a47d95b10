//! The `config` command, as clap parses it. Not here: what it does (`program`), the settings (`store`).

use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;

const CONFIG_HELP: &str = "\
A key of a table has a dot: judge.model, sessions.exclude_paths, aliases.OLD-NAME. A list is
separated by commas. An option wins over a variable, and a variable over the file.

  agent-knowledge config set embedding int8
  agent-knowledge config set judge.url http://localhost:11434/v1 judge.model NAME
  agent-knowledge config set sessions.exclude_tools codex,cline
  agent-knowledge config set aliases.old-name github.com/acme/new-name";

/// The `config` command.
#[derive(Debug, Args)]
#[command(after_help = CONFIG_HELP, args_conflicts_with_subcommands = true)]
pub struct ConfigArguments {
    /// What to do; without it, all settings are shown.
    #[command(subcommand)]
    pub command: Option<ConfigCommand>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// What is done with the configuration.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting, its value, and what set it
    Show(OutputFormat),
    /// Print the value of a setting
    Get {
        /// The setting
        key: String,
        /// How to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// Change settings in the configuration file; comments and order stay
    Set {
        /// A setting and its value; several at once are checked together
        #[arg(value_name = "KEY VALUE", required = true, num_args = 1.., allow_negative_numbers = true)]
        pairs: Vec<String>,
        /// How to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// Remove settings from the configuration file, so that their defaults hold
    Unset {
        /// The settings
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<String>,
        /// How to print.
        #[command(flatten)]
        form: OutputFormat,
    },
    /// Print where the configuration file is
    Path(OutputFormat),
}

impl ConfigArguments {
    /// Returns how to print.
    #[must_use]
    pub fn form(&self) -> OutputFormat {
        match &self.command {
            None => self.form,
            Some(ConfigCommand::Show(form) | ConfigCommand::Path(form)) => *form,
            Some(
                ConfigCommand::Get { form, .. }
                | ConfigCommand::Set { form, .. }
                | ConfigCommand::Unset { form, .. },
            ) => *form,
        }
    }
}
