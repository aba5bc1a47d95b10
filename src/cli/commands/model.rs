//! `model`: fetches the model of this machine, shows what is installed and which model answers. Not here: using another one
//! (`model::use_model`), the files (`index::embed::model`).

use std::io::{IsTerminal, Write};
use std::path::Path;

use serde_json::{Value, json};

use clap::{Args, Subcommand};

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::model::use_model::ModelUse;
use crate::program::Program;
use index::embed::model::{self, FetchState};
use requests::{ApiError, Reply, Request};
use retriever::model_plan::ModelPlaces;
use retriever::options::{GlobalOptions, MemoryNeed};
use writer::exit::Exit;

mod calibrate;
mod use_model;

/// The end of a line about the progress of a download.
const SHARE_END: &str = " %";
/// Erases what an earlier text left to the right.
const TO_LINE_END: &str = "\u{1b}[K";

/// Manage the embedding model
#[derive(Debug, Args)]
pub struct Model {
    /// What to do with it.
    #[command(subcommand)]
    pub command: ModelCommand,
}

/// The `model` commands.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Download the model
    Fetch(ModelFetch),
    /// Show which model is installed, if any, and which one answers
    Status(OutputFormat),
    /// Use another model for embeddings; tells first what is sent where, and asks
    Use(Box<ModelUse>),
    /// Fit the likelihoods to the model that is used, on your own memories
    Calibrate(OutputFormat),
}

/// How the model is downloaded.
#[derive(Debug, Clone, Copy, Args)]
pub struct ModelFetch {
    /// Go on without the process that started this one; `init` does that
    #[arg(long, hide = true)]
    pub detached: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn model(context: &mut CommandContext<'_, '_>, command: &Model) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let messages = &mut *process.messages;
    let (form, reply) = match &command.command {
        ModelCommand::Use(model) => (model.form, program.use_model(options, model, messages)?),
        ModelCommand::Calibrate(form) => (*form, program.calibrate(options)?),
        ModelCommand::Fetch(command) => {
            if command.detached {
                daemon::process::detach();
            }
            (command.form, fetch_model(program, options, messages)?)
        }
        ModelCommand::Status(form) => (*form, model_status(program, options)?),
    };
    Ok(CommandEnd::answer(form, reply))
}

/// Fetches the model of this machine, and returns its state.
pub(super) fn fetch_model(
    program: &mut Program<'_>,
    options: &GlobalOptions,
    messages: &mut dyn Write,
) -> Result<Reply, ApiError> {
    fetch(&program.resolve_settings(options)?.model_dir, messages)?;
    model_status(program, options)
}

/// Returns which model is installed, and which one answers.
fn model_status(program: &mut Program<'_>, options: &GlobalOptions) -> Result<Reply, ApiError> {
    let settled = program.resolve_settings(options)?;
    let reply = installed_reply(&settled.model_dir);
    if !ModelPlaces::from_settings(&settled).asks_others(&settled.config) {
        return Ok(reply);
    }
    let status = program.open(options, MemoryNeed::Meaning)?.ask(&Request::Status)?;
    Ok(reply::with_model(reply, &status))
}

fn fetch(directory: &Path, messages: &mut dyn Write) -> Result<(), ApiError> {
    let is_terminal = std::io::stderr().is_terminal();
    let mut tell = |line: &str| {
        let shown = match is_terminal {
            // A share takes the place of the one before, and the next line that of the last share.
            true if line.ends_with(SHARE_END) => format!("\r{line}{TO_LINE_END}"),
            true => format!("\r{line}{TO_LINE_END}\n"),
            false => format!("{line}\n"),
        };
        // A message that cannot be delivered changes nothing about the outcome.
        let _ = messages.write_all(shown.as_bytes()).and_then(|()| messages.flush());
    };
    model::fetch(directory, &mut tell)
        .map_err(|error| ApiError::Failed { exit: Exit::Unavailable, message: error.to_string() })
}

/// Returns the state of the model in this directory.
fn installed_reply(directory: &Path) -> Reply {
    let status = model::status(directory);
    let mut text = format!("model     {}\n", directory.display());
    for file in &status.files {
        text.push_str(&format!("          {}: {}, {} bytes\n", file.name, file.state, file.bytes));
    }
    if status.made_bytes > 0 {
        let derived_text = format!("          derived files: {} bytes\n", status.made_bytes);
        text.push_str(&derived_text);
    }
    let is_ready = status.is_ready();
    text.push_str(&match model::fetch_state(directory) {
        _ if is_ready => "ready     yes".to_owned(),
        FetchState::Running(line) => format!("ready     no: it is being fetched: {line}"),
        FetchState::Failed(why) => {
            format!("ready     no: {why}; agent-knowledge model fetch tries again")
        }
        FetchState::None => "ready     no: run agent-knowledge model fetch".to_owned(),
    });
    let files: Vec<Value> = status
        .files
        .iter()
        .map(|file| json!({ "name": file.name, "state": file.state.to_string(), "bytes": file.bytes }))
        .collect();
    let json =
        json!({ "directory": directory.display().to_string(), "ready": is_ready, "files": files });
    Reply::new(text, json)
}
