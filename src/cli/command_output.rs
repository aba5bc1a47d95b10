//! How an answer or an error leaves a command. Not here: what it says (`reply`).

use crate::args;
use crate::args::output_format::OutputFormat;
use crate::command_context::Process;
use api::{ApiError, Reply, Shape};
use writer::exit::{Exit, complain, deliver};

/// Prints a reply in the requested form.
pub fn answer(process: &mut Process<'_>, form: OutputFormat, reply: &Reply) -> Exit {
    let text = if form.json { reply.json_line() } else { reply.text.clone() };
    print(process, &format!("{}\n", text.trim_end_matches('\n')))
}

/// Prints a reply, and returns the exit of the command if the output worked.
pub(super) fn ended(
    process: &mut Process<'_>,
    form: OutputFormat,
    (exit, reply): &(Exit, Reply),
) -> Exit {
    match answer(process, form, reply) {
        Exit::Done => *exit,
        failed => failed,
    }
}

/// Prints why a command failed.
pub fn refuse(process: &mut Process<'_>, error: &ApiError) -> Exit {
    let (exit, text) = match error {
        ApiError::Invalid(problems) => {
            let lines = problems
                .iter()
                .map(|problem| format!("{}: {}", args::flag_of(&problem.field), problem.message));
            (Exit::Invalid, lines.collect::<Vec<_>>().join("\n"))
        }
        ApiError::NotFound(message) => (Exit::NotFound, message.clone()),
        ApiError::Failed { exit, message } => (*exit, message.clone()),
    };
    complain(process.messages, process.name, &text);
    exit
}

pub(super) fn print(process: &mut Process<'_>, text: &str) -> Exit {
    match deliver(process.output, text) {
        Ok(()) => Exit::Done,
        Err(error) => {
            let text = format!("failed to print the answer: {error}");
            complain(process.messages, process.name, &text);
            Exit::Io
        }
    }
}

/// A form that is not printed is not made.
pub(super) fn shape(form: OutputFormat) -> Shape {
    if form.json { Shape::Whole } else { Shape::Words }
}
