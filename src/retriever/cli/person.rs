//! The commands that only people need, from the arguments to the answer. Not here: what they do (`program`).

use super::{GlobalOptions, Process, Wiring, answer, ended, piped};
use crate::args::PersonCommand;
use api::{ApiError, Reply};
use serde_json::json;
use writer::exit::{Exit, complain};

/// Runs a command.
pub(super) fn perform(
    process: &mut Process<'_>,
    wiring: &mut dyn Wiring,
    settings: &GlobalOptions,
    mut command: PersonCommand,
) -> Result<Exit, ApiError> {
    let form = command.form();
    if let PersonCommand::Add(add) = &mut command
        && add.words == ["-"]
    {
        add.words = vec![piped::text(process)?];
    }
    if let PersonCommand::Completions(command) = &command {
        let script = command.script();
        let json = json!({ "shell": command.shell, "script": script });
        // The script is code, so nothing in it is changed for a reader.
        return Ok(answer(process, form, &Reply { text: script, json }));
    }
    let done = wiring.person(settings, command, process)?;
    let exit = ended(process, form, &done);
    if exit == Exit::Io {
        let message = "it was done, but the answer could not be printed; do not do it again";
        complain(process.messages, process.name, message);
    }
    Ok(exit)
}
