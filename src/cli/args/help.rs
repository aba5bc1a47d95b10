//! The help of the whole program: the commands in groups, of which `-h` leaves out those that only agents and scripts
//! need, and the variables. Not here: which groups there are (`commands`), the help of one command, which clap makes.

use std::fmt::Write;

use clap::{Command, CommandFactory};
use settings::variables::VARIABLES;
use settings::{Setting, SettingForm};

use crate::args::CommandLine;
use crate::commands::{CommandGroup, GROUPS, HelpExtent};

/// The columns of a line, at most.
const COLUMNS: usize = 100;

/// The columns of the names of commands, with the space around them.
const NAME_COLUMNS: usize = 15;

/// The same of the names of variables.
const VARIABLE_COLUMNS: usize = 37;

/// Returns the command line with its grouped help.
#[must_use]
pub fn command() -> Command {
    let mut command = CommandLine::command();
    command.build();
    let groups = sections(HelpExtent::Short, &command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\nOptions:\n{{options}}{{after-help}}"
    );
    let mut further = sections(HelpExtent::Long, &command);
    // clap makes this command, which ends the last group.
    further += &line(NAME_COLUMNS, "help", &about(&command, "help"));
    let more = format!("{}\nEnvironment:\n{}\n{MORE}", further.trim_start(), variables());
    let command = CommandLine::command().mut_subcommands(with_aliases);
    command.help_template(template).after_help(EXAMPLE).after_long_help(more)
}

/// Lists the other names of a command at the end of its help.
fn with_aliases(command: Command) -> Command {
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    if aliases.is_empty() {
        return command;
    }
    let also = format!("Also called: {}", aliases.join(", "));
    let text =
        command.get_after_help().map_or_else(|| also.clone(), |text| format!("{text}\n\n{also}"));
    command.after_help(text)
}

fn sections(extent: HelpExtent, command: &Command) -> String {
    let groups = GROUPS.iter().filter(|group| group.extent == extent);
    groups.map(|group| section(group, command)).collect()
}

fn section(group: &CommandGroup, command: &Command) -> String {
    let names = group.files.iter().map(|file| file.replace('_', "-"));
    let lines: String =
        names.map(|name| line(NAME_COLUMNS, &name, &about(command, &name))).collect();
    format!("\n{}:\n{lines}", group.title)
}

fn about(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    about.map(ToString::to_string).unwrap_or_default()
}

/// Returns every variable of the environment, and what it is for.
fn variables() -> String {
    let of_settings = Setting::all().filter_map(|setting| {
        let about = first_sentence(setting.about);
        let about = match setting.form {
            SettingForm::Directory => about,
            _ => format!("{about} ({})", setting.allowed),
        };
        Some((setting.variable?, about))
    });
    let others = VARIABLES.iter().map(|variable| (variable.name, first_sentence(variable.about)));
    of_settings.chain(others).map(|(name, about)| line(VARIABLE_COLUMNS, name, &about)).collect()
}

/// Returns the first sentence of a text as the help has it: without its capital, its backticks and its end.
fn first_sentence(text: &str) -> String {
    let sentence = text.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let sentence = sentence.replace('`', "");
    let mut characters = sentence.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

/// Returns a name and what it is for, which begins at a column and is broken where it is too wide.
fn line(start: usize, name: &str, about: &str) -> String {
    let mut text = format!("  {name:<width$}", width = start - 2);
    let mut columns = start;
    for word in about.split(' ') {
        if columns + 1 + word.chars().count() > COLUMNS {
            let _ = write!(text, "\n{:start$}{word}", "");
            columns = start + word.chars().count();
            continue;
        }
        let space = if columns == start { "" } else { " " };
        let _ = write!(text, "{space}{word}");
        columns += space.len() + word.chars().count();
    }
    text + "\n"
}

const EXAMPLE: &str = "\
Example:
  cargo test 2>&1 | tail -40 | agent-knowledge search -

All commands, settings, exit codes and more examples: agent-knowledge --help";

const MORE: &str = "\
Exit codes:
  0 done, also when nothing was found    1 no such memory, or a check found a problem
  64 wrong option, or a value that the option never takes
  65 wrong field (all are listed)        69 model not installed  70 internal error
  74 file error    75 busy, try again    78 wrong configuration.   Never 2.

Examples:
  agent-knowledge search npm install EACCES
  cargo test 2>&1 | tail -40 | agent-knowledge search -
  agent-knowledge search 'flaky test' --this-repo --kind error --json | jq .
  agent-knowledge context --task 'upgrade the ORM' --file src/db.rs

Lessons are written with agent-knowledge add, and with log-memory, which is made for scripts.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_command_is_in_no_group_of_the_help() {
        let whole = CommandLine::command();
        for group in GROUPS {
            for file in group.files {
                let name = file.replace('_', "-");
                let command = whole.find_subcommand(&name).unwrap();
                let is_hidden = command.is_hide_set();
                assert_eq!(is_hidden, group.extent == HelpExtent::Hidden, "{name}");
                assert!(is_hidden || name.len() + 4 <= NAME_COLUMNS, "{name} is too long");
            }
        }
    }

    // S-CONFIG-1
    #[test]
    fn the_help_lists_every_variable() {
        let help = command().render_long_help().to_string();
        let of_settings = Setting::all().filter_map(|setting| setting.variable);
        let others = VARIABLES.iter().map(|variable| variable.name);
        for name in of_settings.chain(others) {
            assert!(help.contains(&format!("\n  {name} ")), "{name}: {help}");
            assert!(name.len() + 4 <= VARIABLE_COLUMNS, "{name} is too long");
        }
    }

    #[test]
    fn the_short_help_fits_a_screen() {
        let short = command().render_help().to_string();
        assert!(short.lines().count() <= 48, "{} lines\n{short}", short.lines().count());
        assert!(short.lines().all(|line| line.chars().count() <= COLUMNS), "{short}");
        assert!(!short.contains("  mcp ") && !short.contains("Exit codes"), "{short}");
        let long = command().render_long_help().to_string();
        assert!(long.contains("\n  mcp ") && long.contains("Exit codes:"), "{long}");
        assert!(long.lines().all(|line| line.chars().count() <= COLUMNS), "{long}");
    }

    #[test]
    fn the_help_of_each_command_fits_a_screen() {
        fn check(command: &Command, before: &[&str]) {
            let words = [before, &[command.get_name()]].concat();
            let help_words = [&words[..], &["--help"]].concat();
            let help = super::command().try_get_matches_from(help_words).unwrap_err().to_string();
            let lines = help.lines().count();
            assert!(lines <= 48, "{words:?}: {lines} lines\n{help}");
            let own =
                command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
            own.for_each(|subcommand| check(subcommand, &words));
        }
        let whole = command();
        whole.get_subcommands().for_each(|one| check(one, &["agent-knowledge"]));
    }

    #[test]
    fn no_help_of_a_command_is_too_wide() {
        fn check(command: &mut Command) {
            // clap breaks a longer line again, and the indent of an example is lost.
            let own = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let help = command.clone().term_width(COLUMNS).render_long_help().to_string();
            let examples = own.lines().filter(|line| line.starts_with(' '));
            let wide = examples.chain(help.lines()).find(|line| line.chars().count() > COLUMNS);
            assert_eq!(wide, None, "{}", command.get_name());
            command.get_subcommands_mut().for_each(check);
        }
        command().get_subcommands_mut().for_each(check);
    }
}
