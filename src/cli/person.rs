//! The commands that only people need, from the arguments to the answer. Not here: what they do (`program`).

use crate::args::person::PersonCommand;
use crate::command_context::Process;
use crate::command_output::ended;
use crate::piped;
use crate::program::Program;
use requests::ApiError;
use retriever::options::GlobalOptions;
use writer::exit::{Exit, complain};

/// Runs a command.
pub(super) fn perform(
    process: &mut Process<'_>,
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    mut command: PersonCommand,
) -> Result<Exit, ApiError> {
    let form = command.form();
    if let PersonCommand::Add(add) = &mut command
        && add.words == ["-"]
    {
        add.words = vec![piped::text(process)?];
    }
    let saves = matches!(command, PersonCommand::Add(_) | PersonCommand::Edit(_));
    let done = program.person(settings, command, process)?;
    if done.0 == Exit::NotFound && done.1.text.is_empty() && !form.json {
        // Somebody left without choosing.
        return Ok(done.0);
    }
    let exit = ended(process, form, &done);
    if saves && exit == Exit::Io {
        let message = "it was done, but the answer could not be printed; do not do it again";
        complain(process.messages, process.name, message);
    }
    Ok(exit)
}
