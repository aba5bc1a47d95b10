//! What each command is given: the process around it, the options that all commands have, and what it needs of the memory. Not here:
//! the commands.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;

use super::highlight::ColourChoice;

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
    /// The columns of the output, where it is a terminal.
    pub columns: Option<usize>,
}

/// The options of every command, read before anything is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GlobalOptions {
    /// The directory of the logs, if given.
    pub logs: Option<PathBuf>,
    /// The directory of the embedding model, if given.
    pub model: Option<PathBuf>,
    /// The past position of the store that the command asks about, if given.
    pub as_of: Option<String>,
    /// Whether there are colours, where that is not decided by standard output.
    pub color: ColourChoice,
}

/// The parts of the memory that a command needs. Loading the model takes longer than everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The logs and their words.
    Words,
    /// Also the embedding model.
    Meaning,
}
