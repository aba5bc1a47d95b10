//! How an answer or an error leaves a command. Not here: what it says (`reply`).

use crate::args::output_format::OutputFormat;
use crate::command_context::Process;
use requests::{ApiError, Reply, Shape};
use writer::exit::{Exit, complain, deliver};

/// Prints a reply in the requested form.
pub fn answer(process: &mut Process<'_>, form: OutputFormat, reply: &Reply) -> Exit {
    let text = if form.json { reply.json_line() } else { reply.text.clone() };
    // Data has no room for what it lacks.
    let unsaid = reply.notices().into_iter().filter(|notice| !form.json && !text.contains(notice));
    unsaid.for_each(|notice| complain(process.messages, process.name, &notice));
    print(process, &format!("{}\n", text.trim_end_matches('\n')))
}

/// What a command returns.
pub type CommandResult = Result<CommandEnd, ApiError>;

/// How a command ends.
pub enum CommandEnd {
    /// With an answer.
    Answer {
        /// How it is printed.
        form: OutputFormat,
        /// The exit, if it can be printed.
        exit: Exit,
        /// The answer.
        reply: Reply,
    },
    /// With an answer about something that was saved, and must not be saved again.
    Saved {
        /// How it is printed.
        form: OutputFormat,
        /// The answer.
        reply: Reply,
    },
    /// It has printed what there is to print.
    Exit(Exit),
}

impl CommandEnd {
    /// Ends a command that has done what it should.
    #[must_use]
    pub fn answer(form: OutputFormat, reply: Reply) -> Self {
        Self::Answer { form, exit: Exit::Done, reply }
    }

    /// Prints the answer, and returns the exit of the command if that worked.
    pub(super) fn print(&self, process: &mut Process<'_>) -> Exit {
        match self {
            Self::Answer { form, exit, reply } => match answer(process, *form, reply) {
                Exit::Done => *exit,
                failed => failed,
            },
            Self::Saved { form, reply } => {
                let exit = answer(process, *form, reply);
                if exit == Exit::Io {
                    let message =
                        "it was done, but the answer could not be printed; do not do it again";
                    complain(process.messages, process.name, message);
                }
                exit
            }
            Self::Exit(exit) => *exit,
        }
    }
}

/// Prints why a command failed.
pub fn refuse(process: &mut Process<'_>, error: &ApiError) -> Exit {
    let (exit, text) = match error {
        ApiError::Invalid(problems) => {
            let lines = problems
                .iter()
                .map(|problem| format!("{}: {}", flag_name(&problem.field), problem.message));
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

/// Returns how the command line spells a field, for a message about it. A field that is spelled so already stays.
#[must_use]
pub fn flag_name(field: &str) -> String {
    if field.starts_with("--") || !field.contains(char::is_lowercase) {
        return field.to_owned();
    }
    match (requests::spelling(field), field) {
        (Some(spelling), _) => spelling,
        (None, "agent_file") => "FILE".to_owned(),
        (None, other) => format!("--{}", other.replace('_', "-")),
    }
}
