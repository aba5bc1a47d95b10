//! Runs the commands of `agent-knowledge`: one command, one answer. Not here: the options of the command line (`args`), what a
//! command does (`commands`), what only a process can do (`process`).

use std::ffi::OsString;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use guard::secrets::redacted;
use requests::ApiError;
use retriever::options::GlobalOptions;
use writer::exit::{Exit, complain};

use crate::args;
use crate::args::CommandLine;
use crate::args::output_format::OutputFormat;
use crate::command_context::{CommandContext, Process};
use crate::command_output::{print, refuse};
use crate::commands::MainCommand;
use crate::home::home;
use crate::program::Program;

/// Runs the program. A reader that closed the output early is no failure.
#[must_use]
pub fn run<'w>(process: &mut Process<'w>, program: &mut Program<'w>) -> Exit {
    let name = OsString::from(process.name);
    let as_json = crate::failure_json::is_asked(&process.args);
    let is_hook = process.args.first().is_some_and(|first| first == "hook");
    let words = std::iter::once(name).chain(std::mem::take(&mut process.args));
    let read = args::help::command().try_get_matches_from(words);
    let line = match read.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(line) => line,
        // A wrong command in a client's configuration is reported, but must not stop the agent.
        Err(error) => {
            let error = crate::command_guess::with_meaning(error);
            let exit = explain(process, &error);
            if as_json && exit != Exit::Done {
                crate::failure_json::print_usage_failure(process, &error, exit);
            }
            return if is_hook { Exit::Done } else { exit };
        }
    };
    if line.json && line.command.is_some() {
        complain(
            process.messages,
            process.name,
            "--json stands after the command: agent-knowledge COMMAND --json",
        );
        return Exit::Usage;
    }
    process.colour_choice = line.color;
    process.is_colourful = line.color.decides(process.is_colourful);
    let as_of = line.command.as_ref().and_then(MainCommand::as_of).map(str::to_owned);
    let settings = GlobalOptions { logs: line.logs, model: line.model, as_of };
    let is_told = line.command.as_ref().is_none_or(MainCommand::warns);
    let warnings = if is_told { program.warnings(&settings) } else { Vec::new() };
    for warning in &warnings {
        complain(process.messages, process.name, warning);
    }
    let mut context =
        CommandContext { program, process, options: &settings, command_line: args::help::command };
    let ended = match &line.command {
        Some(command) => command.run(&mut context),
        None => home(&mut context, OutputFormat { json: line.json }),
    };
    let done = ended.map(|end| end.print(context.process));
    if is_told {
        context.report_directory();
    }
    match done {
        Ok(exit) => exit,
        // What was told before is not told again.
        Err(ApiError::Failed { exit, message }) if warnings.contains(&message) => {
            if as_json {
                crate::failure_json::print_failure(
                    process,
                    &ApiError::Failed { exit, message },
                    exit,
                );
            }
            exit
        }
        Err(error) => {
            let exit = refuse(process, &error);
            if as_json {
                crate::failure_json::print_failure(process, &error, exit);
            }
            exit
        }
    }
}

/// Prints the message of clap, and returns the exit. Clap itself would end the process with 2.
pub fn explain(process: &mut Process<'_>, error: &clap::Error) -> Exit {
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return print(process, &text);
    }
    // A message that cannot be delivered changes nothing about the outcome. Clap repeats the argument that it
    // rejects, which may hold a secret.
    let text = redacted(&text);
    let _ = match text.strip_prefix("error: ") {
        Some(text) => writeln!(process.messages, "{}: {}", process.name, text.trim_end()),
        None => write!(process.messages, "{text}"),
    };
    Exit::Usage
}

#[cfg(test)]
mod tests;
