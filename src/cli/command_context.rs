//! What each command is given: the program, the process around it and the options that all commands have. Not here: the commands.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::sync::Arc;

use requests::{Api, ApiError, Reply, Request};
use retriever::options::{GlobalOptions, MemoryNeed};
use terminal::highlight::ColourChoice;
use writer::exit::complain;

use crate::program::Program;

/// What the process gives the program.
pub struct Process<'a> {
    /// The program's name, which begins its messages.
    pub name: &'static str,
    /// The command line, without the program's name.
    pub args: Vec<OsString>,
    /// Standard input, which `search -` reads.
    pub input: &'a mut dyn Read,
    /// For data.
    pub output: &'a mut dyn Write,
    /// For messages.
    pub messages: &'a mut dyn Write,
    /// Whether the output is a terminal of somebody who wants colours.
    pub is_colourful: bool,
    /// When there are colours, as the command line says.
    pub colour_choice: ColourChoice,
    /// The columns of the output, where it is a terminal.
    pub columns: Option<usize>,
}

/// What a command is given.
pub struct CommandContext<'c, 'w> {
    /// What opens the memory.
    pub program: &'c mut Program<'w>,
    /// The streams of the process.
    pub process: &'c mut Process<'w>,
    /// The options that all commands have.
    pub options: &'c GlobalOptions,
    /// Returns the whole command line, as clap knows it.
    pub command_line: fn() -> clap::Command,
}

impl CommandContext<'_, '_> {
    /// Opens the memory.
    ///
    /// # Errors
    /// [`ApiError::Failed`] with the exit it calls for.
    pub fn open(&mut self, need: MemoryNeed) -> Result<Arc<dyn Api>, ApiError> {
        self.program.open(self.options, need)
    }

    /// Asks the memory what needs no model.
    ///
    /// # Errors
    /// [`ApiError`].
    pub fn ask(&mut self, request: &Request) -> Result<Reply, ApiError> {
        self.open(MemoryNeed::Words)?.ask(request)
    }

    /// Says that another directory was taken for the one that was removed, where that decided something.
    pub fn report_directory(&mut self) {
        if let Some(notice) = self.program.directory_notice(self.options) {
            complain(self.process.messages, self.process.name, &notice);
        }
    }
}
