//! `model`: fetches the model of this machine, shows what is installed and which model answers. Not here: using another one
//! (`model_use`), the files (`index::embed::model`).

use std::io::{IsTerminal, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::args::ModelCommand;
use crate::program::Program;
use index::embed::{RUNS_MODEL, model};
use requests::Request;
use requests::{ApiError, Reply};
use retriever::model_plan::ModelPlaces;
use retriever::options::GlobalOptions;
use retriever::options::Need;
use writer::exit::Exit;

/// What a line ends with that tells the share of a download that is there.
const SHARE_END: &str = " %";
/// Erases what an earlier text left to the right.
const TO_LINE_END: &str = "\u{1b}[K";

impl Program<'_> {
    /// Does what a `model` command says.
    pub(super) fn manage_model(
        &mut self,
        settings: &GlobalOptions,
        command: &ModelCommand,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        match command {
            ModelCommand::Use(command) => return self.use_model(settings, command, messages),
            ModelCommand::Calibrate(_) => return self.calibrate(settings),
            ModelCommand::Fetch(_) | ModelCommand::Status(_) => {}
        }
        let settled = self.settle(settings)?;
        if matches!(command, ModelCommand::Fetch(_)) {
            fetch(&settled.model_dir, messages)?;
        }
        let reply = installed(&settled.model_dir);
        match ModelPlaces::of(&settled).asks_others(&settled.config) {
            true => Ok(reply::with_model(
                reply,
                &self.open(settings, Need::Meaning)?.ask(&Request::Status)?,
            )),
            false => Ok(reply),
        }
    }
}

fn fetch(directory: &Path, messages: &mut dyn Write) -> Result<(), ApiError> {
    if !RUNS_MODEL {
        let message = "this build runs no model: it searches by words alone. Packages for Linux with glibc run one";
        return Err(ApiError::Failed { exit: Exit::Unavailable, message: message.to_owned() });
    }
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
fn installed(directory: &Path) -> Reply {
    let status = model::status(directory);
    let mut text = format!("model     {}\n", directory.display());
    for file in &status.files {
        text.push_str(&format!("          {}: {}, {} bytes\n", file.name, file.state, file.bytes));
    }
    if status.made_bytes > 0 {
        let made = format!("          derived files: {} bytes\n", status.made_bytes);
        text.push_str(&made);
    }
    let is_ready = status.is_ready() && RUNS_MODEL;
    text.push_str(match is_ready {
        true => "ready     yes",
        false if RUNS_MODEL => "ready     no: run agent-knowledge model fetch",
        false => "ready     no: this build runs no model, and searches by words",
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
