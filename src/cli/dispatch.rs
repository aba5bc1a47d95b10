//! Runs the commands of `agent-knowledge`: one command, one answer. Not here: the options of the command line
//! (`args`), the rules about values (`requests::requests`), what only a process can do (`process`).

use crate::command_context::Process;
use crate::command_output::{answer, refuse};
use crate::command_output::{ended, print, shape};
use retriever::options::{GlobalOptions, Need};
use std::ffi::OsString;
use std::sync::Arc;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use crate::args;
use crate::args::output_format::OutputFormat;
use crate::args::request::RequestCommand;
use crate::args::{CommandLine, MainCommand, Past, WatchedContext};
use guard::secrets::redacted;
use requests::Request;
use requests::browse::BrowseRequest;
use requests::listing::{RecentArguments, ShowArguments};
use requests::tool::ToolSet;
use requests::{Api, ApiError, ContextRequest, Listing, Mode, Reply, SearchRequest, Shape};
use terminal::memory_table;
use writer::exit::{Exit, complain};

use crate::program::Program;

/// Runs the program. A reader that closed the output early is no failure.
#[must_use]
pub fn run(process: &mut Process<'_>, program: &mut Program<'_>) -> Exit {
    let name = OsString::from(process.name);
    let as_json = crate::failure_json::is_asked(&process.args);
    let is_hook = process.args.first().is_some_and(|first| first == "hook");
    let words = std::iter::once(name).chain(std::mem::take(&mut process.args));
    let read = args::help::command().try_get_matches_from(words);
    let line = match read.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(line) => line,
        // A wrong command in a client's configuration is reported, but must not stop the agent.
        Err(error) => {
            let error = crate::guess::with_meaning(error);
            let exit = explain(process, &error);
            if as_json && exit != Exit::Done {
                crate::failure_json::tell_usage(process, &error, exit);
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
    let is_told = line.command.as_ref().is_none_or(warns);
    let warnings = if is_told { program.warnings(&settings) } else { Vec::new() };
    for warning in &warnings {
        complain(process.messages, process.name, warning);
    }
    let done = match line.command {
        Some(command) => perform(process, program, &settings, command),
        None => program
            .home(&settings)
            .map(|reply| answer(process, OutputFormat { json: line.json }, &reply)),
    };
    if is_told {
        tell_directory(process, program);
    }
    match done {
        Ok(exit) => exit,
        // What was told before is not told again.
        Err(ApiError::Failed { exit, message }) if warnings.contains(&message) => {
            if as_json {
                crate::failure_json::tell(process, &ApiError::Failed { exit, message }, exit);
            }
            exit
        }
        Err(error) => {
            let exit = refuse(process, &error);
            if as_json {
                crate::failure_json::tell(process, &error, exit);
            }
            exit
        }
    }
}

/// Serves a client, for whose calls the directory may decide something, which is told before they come.
fn serve_mcp(
    process: &mut Process<'_>,
    program: &mut Program<'_>,
    api: Arc<dyn Api>,
    tools: ToolSet,
) -> Exit {
    tell_directory(process, program);
    program.serve_mcp(api, tools)
}

/// Says that another directory was taken for the one that was removed, where that decided something.
fn tell_directory(process: &mut Process<'_>, program: &Program<'_>) {
    if let Some(notice) = program.directory_notice() {
        complain(process.messages, process.name, &notice);
    }
}

/// Tells whether a command says first what is odd about the settings. A hook and a shell that completes words are told nothing,
/// some commands need no settings, and `doctor` and `config` answer with all of it.
fn warns(command: &MainCommand) -> bool {
    !matches!(
        command,
        MainCommand::Hook(_)
            | MainCommand::CompleteWords(_)
            | MainCommand::Upkeep(args::Upkeep::Doctor(_))
            | MainCommand::Person(
                args::PersonCommand::Completions(_) | args::PersonCommand::Config(_)
            )
    )
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

fn perform(
    process: &mut Process<'_>,
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    command: MainCommand,
) -> Result<Exit, ApiError> {
    // Wrong values are reported before anything is opened.
    let (form, reply) = match command {
        MainCommand::Search(search) => searched(process, program, settings, search)?,
        MainCommand::Person(command) => {
            return crate::person::perform(process, program, settings, command);
        }
        MainCommand::Context(context) => briefed(process, program, settings, context)?,
        MainCommand::Show(show) => shown(process, program, settings, show)?,
        MainCommand::Curation(command) => crate::curation::curate(program, settings, command)?,
        MainCommand::Links(command) => {
            let form = command.form();
            let done = crate::links::follow(process, program, settings, command)?;
            return Ok(ended(process, form, &done));
        }
        MainCommand::Import(command) => {
            let form = command.form;
            let done = program.import(settings, command, process.messages)?;
            return Ok(ended(process, form, &done));
        }
        MainCommand::Sessions { command } => {
            let form = command.form();
            let done = program.sessions(settings, command, process.messages)?;
            return Ok(ended(process, form, &done));
        }
        MainCommand::Export(command) => (command.form, program.export(settings, command)?),
        MainCommand::List(list) => listed(process, program, settings, list)?,
        MainCommand::Recent(recent) => {
            let request: RecentArguments = recent.arguments.read()?;
            (
                recent.form,
                program.open(settings, Need::Words)?.ask(&Request::Recent(request.limit))?,
            )
        }
        MainCommand::Status(form) => {
            let status = program.open(settings, Need::Words)?.ask(&Request::Status)?;
            (form, program.with_sessions_and_team(settings, status))
        }
        MainCommand::Whoami(form) => {
            (form, program.open(settings, Need::Words)?.ask(&Request::Whoami)?)
        }
        MainCommand::Mcp(command) => {
            let api = program.open_server(settings, command.remote.as_deref())?;
            return Ok(serve_mcp(process, program, api, command.tools));
        }
        MainCommand::Serve(command) => {
            (command.form, program.serve(settings, command, process.messages)?)
        }
        MainCommand::Token { command } => {
            (command.form(), program.tokens(&command, process.messages)?)
        }
        MainCommand::Ui(command) => (command.form, program.ui(settings, &command)?),
        MainCommand::CompleteWords(asked) => {
            return Ok(crate::shell_words::complete(process, program, settings, &asked));
        }
        MainCommand::Hook(command) => return Ok(program.hook(settings, &command, process)),
        MainCommand::Index(form) => (form, program.index(settings, process.messages)?),
        MainCommand::Upkeep(command) => {
            let form = command.form();
            let checked = program.upkeep(settings, command, process.messages)?;
            return Ok(ended(process, form, &checked));
        }
        MainCommand::GettingReady(command) => {
            let form = command.form();
            let done = program.get_ready(settings, command, process.messages)?;
            return Ok(ended(process, form, &done));
        }
        MainCommand::Model { command } => {
            (command.form(), program.model(command, settings, process.messages)?)
        }
    };
    Ok(answer(process, form, &reply))
}

/// Lists memories; on a terminal as a table.
fn listed(
    process: &Process<'_>,
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    command: RequestCommand<BrowseRequest>,
) -> Result<(OutputFormat, Reply), ApiError> {
    let listing = Listing::Page(Box::new(command.arguments.read()?));
    let mut reply = program.open(settings, Need::Words)?.ask(&Request::List(listing))?;
    let table = process.columns.and_then(|wide| memory_table::table(&reply.json, wide));
    reply.text = table.unwrap_or(reply.text);
    Ok((command.form, reply))
}

/// Shows memories in full; on a terminal in lines that fit.
fn shown(
    process: &Process<'_>,
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    command: Past<ShowArguments>,
) -> Result<(OutputFormat, Reply), ApiError> {
    let request: ShowArguments = command.arguments.read()?;
    let mut reply =
        program.open(settings, Need::Words)?.ask(&Request::Show(request.ids.to_vec()))?;
    if let Some(columns) = process.columns {
        let style = if process.is_colourful {
            terminal::memory_card::TitleStyle::Bold
        } else {
            terminal::memory_card::TitleStyle::Plain
        };
        reply.text = terminal::memory_card::cards(&reply.text, columns, style);
    }
    Ok((command.form, reply))
}

/// Searches, and highlights the answer for a person.
fn searched(
    process: &mut Process<'_>,
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    command: Past<SearchRequest>,
) -> Result<(OutputFormat, Reply), ApiError> {
    let Past { arguments, form, .. } = command;
    let arguments = crate::piped::with_query(process, arguments)?;
    let request = SearchRequest { shape: shape(form), ..arguments.read()? };
    let need = if request.mode == Mode::Lexical { Need::Words } else { Need::Meaning };
    let mut reply = program.open(settings, need)?.ask(&Request::Search(request.clone()))?;
    if process.is_colourful {
        reply.text = terminal::highlight::highlighted(&reply.text, &request.query);
    }
    Ok((form, reply))
}

/// Makes a briefing; the model is needed only where something is asked.
fn briefed(
    process: &mut Process<'_>,
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    command: WatchedContext,
) -> Result<(OutputFormat, Reply), ApiError> {
    let WatchedContext { past: Past { arguments, form, .. }, watch } = command;
    let request: ContextRequest = arguments.read()?;
    let is_asked = request.task.is_some() || !request.files.is_empty();
    let need = if is_asked { Need::Meaning } else { Need::Words };
    if let Some(file) = watch {
        let api = program.open(settings, need)?;
        let request = ContextRequest { shape: Shape::Words, ..request };
        return Ok((form, crate::context_watch::watch(&*api, &request, &file, process.messages)?));
    }
    let request = ContextRequest { shape: shape(form), ..request };
    Ok((form, program.open(settings, need)?.ask(&Request::Context(request))?))
}

#[cfg(test)]
mod tests;
