//! The commands with which people write lessons, as clap parses them. The options of the fields come from `writer`, which
//! has them for `log-memory` too. Not here: what the commands do (`program`).

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use event::Draft;
use writer::field_flags::{FLAGS, FlagGroup, set};

use crate::args::output_format::OutputFormat;

const ADD_HELP: &str = "\
Without a lesson, on a terminal, the editor of $VISUAL or $EDITOR (else vi) opens a form. An
editor that returns at once needs its option to wait: EDITOR='code --wait'. Without --type it is
guessed from the words, and told. The answer is the id of the memory. Many lessons at once:
log-memory --json FILE.

  agent-knowledge add 'run the migrations before the tests' --type error --tags db,ci";

/// The `add` command.
#[derive(Debug, Args)]
#[command(after_help = ADD_HELP)]
pub struct Add {
    /// What to do next time, in one or two sentences; - reads it from standard input
    #[arg(value_name = "LESSON", conflicts_with_all = ["lesson", "form"])]
    pub words: Vec<String>,
    /// The fields.
    #[command(flatten)]
    pub fields: LessonFields,
    /// Return only when the memory is on disk, so that it survives a power loss
    #[arg(long)]
    pub durable: bool,
    /// Read a form from this file instead of opening an editor; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "lesson")]
    pub form: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    pub output: OutputFormat,
}

const EDIT_HELP: &str = "\
A log is never changed: saving makes a new memory, which replaces the old one; show tells both.
The editor is that of $VISUAL or $EDITOR, else vi. An editor that returns at once needs its option
to wait: EDITOR='code --wait'. If nothing is changed, nothing is saved.";

/// The `edit` command.
#[derive(Debug, Args)]
#[command(after_help = EDIT_HELP)]
pub struct EditMemory {
    /// The memory: its id, or any unique short form of it
    #[arg(value_name = "ID")]
    pub id: String,
    /// Read a form from this file instead of opening an editor; - is standard input
    #[arg(long, value_name = "FILE")]
    pub form: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    pub output: OutputFormat,
}

/// The fields of a lesson, as the command line gave them.
#[derive(Debug, Default)]
pub struct LessonFields {
    /// Those that were given.
    pub draft: Draft,
}

/// The option of lessons that never leave this machine.
const PRIVATE: &str = "private";

impl Args for LessonFields {
    fn augment_args(command: Command) -> Command {
        let fields = FLAGS.iter().map(|flag| {
            let action = if flag.is_repeatable() { ArgAction::Append } else { ArgAction::Set };
            Arg::new(flag.long)
                .long(flag.long)
                .aliases(flag.other_names())
                .value_name(flag.value)
                .help(sentence(&flag.text()))
                .action(action)
                .allow_hyphen_values(true)
                .hide(flag.group == FlagGroup::Import)
        });
        let private = Arg::new(PRIVATE).long(PRIVATE).action(ArgAction::SetTrue);
        let private = private
            .help("It never leaves this machine: it is in no export, no sync and no question to a language model");
        command.args(fields).arg(private)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Begins a text with a capital, as the other options of this program do.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

impl FromArgMatches for LessonFields {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut draft = Draft { private: matches.get_flag(PRIVATE), ..Draft::default() };
        for flag in &FLAGS {
            for text in matches.get_many::<String>(flag.long).into_iter().flatten() {
                set(&mut draft, flag.long, text.clone());
            }
        }
        Ok(Self { draft })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
