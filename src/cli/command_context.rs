//! What each command is given: the process around it. Not here: the options that all commands have (`retriever::options`), the commands.

use std::ffi::OsString;
use std::io::{Read, Write};

use terminal::highlight::ColourChoice;

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
