//! Runs `agent-knowledge-eval`: parses the command line, measures, and prints the report. Not here: the
//! arguments (`args`), measuring (`run`).

use std::ffi::OsString;

use clap::Parser;
use cli::command_context::Process;
use cli::program::Program;
use cli::{command_output, dispatch};
use retriever::options::GlobalOptions;
use writer::exit::Exit;

use crate::args::{CommandLine, EvalTask};
use crate::measurement::measure;
use crate::request::EvalOutput;

/// Runs the program. It is not a failure if the reader closed the pipe early.
#[must_use]
pub fn run(process: &mut Process<'_>, program: &mut Program<'_>) -> Exit {
    let words =
        std::iter::once(OsString::from(process.name)).chain(std::mem::take(&mut process.args));
    let line = match CommandLine::try_parse_from(words) {
        Ok(line) => line,
        Err(error) => return dispatch::explain(process, &error),
    };
    let settings = GlobalOptions { logs: line.logs, model: line.model, ..GlobalOptions::default() };
    let (eval, output) = match line.task {
        Some(EvalTask::Features(eval)) => (eval, EvalOutput::Features),
        None => (line.eval, EvalOutput::Report),
    };
    let form = eval.form;
    match measure(program, &settings, (eval, output), process.messages) {
        Ok(reply) => command_output::answer(process, form, &reply),
        Err(error) => command_output::refuse(process, &error),
    }
}
