//! `config`: shows every setting with its value and what set it, and changes the configuration file. Not here: finding and
//! setting values (`setting_rows`), what the settings mean (`settings`).

use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::config::setting_rows::{rows_reply, unset};
use requests::Reply;
use retriever::failure::store_error;
use serde_json::json;
use store::StoreError;

mod findings;
mod project_settings;
mod setting_names;
pub(super) mod setting_rows;

const CONFIG_HELP: &str = "\
A key of a table has a dot: judge.model, sessions.exclude_paths, aliases.OLD-NAME. A list is
separated by commas. An option wins over a variable, and a variable over the file.

  agent-knowledge config set embedding int8
  agent-knowledge config set judge.url http://localhost:11434/v1 judge.model NAME
  agent-knowledge config set sessions.exclude_tools codex,cline
  agent-knowledge config set aliases.old-name github.com/acme/new-name";

/// Show and change the settings
#[derive(Debug, Args)]
#[command(after_help = CONFIG_HELP, args_conflicts_with_subcommands = true)]
pub struct Config {
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

/// Runs the command.
pub(super) fn config(context: &mut CommandContext<'_, '_>, command: &Config) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let path = program.config_path().ok_or_else(|| store_error(&StoreError::NoPlace))?;
    let shows_all = ConfigCommand::Show(command.form);
    let (form, reply) = match command.command.as_ref().unwrap_or(&shows_all) {
        ConfigCommand::Show(form) => {
            let rows = program.setting_rows(options, &path)?;
            let findings = program.report_findings(process)?;
            (form, rows_reply(&rows, &path, &findings))
        }
        ConfigCommand::Get { key, form } => (form, program.value_of(options, &path, key)?),
        ConfigCommand::Set { pairs, form } => (form, program.set_keys(&path, pairs, process)?),
        ConfigCommand::Unset { keys, form } => (form, unset(&path, keys)?),
        ConfigCommand::Path(form) => {
            let (file, exists) = (path.display().to_string(), path.exists());
            (form, Reply::new(file.clone(), json!({ "file": file, "exists": exists })))
        }
    };
    Ok(CommandEnd::answer(*form, reply))
}
