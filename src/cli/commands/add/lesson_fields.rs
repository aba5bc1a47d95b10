//! The options for the fields of a lesson. They come from `writer`, which has them for `log-memory` too. Not here: the command
//! (`add`).

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use event::Draft;
use writer::field_flags::{FLAGS, FlagGroup, set};

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
