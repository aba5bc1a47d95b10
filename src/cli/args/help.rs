//! The help of the whole program: the commands in groups, of which `-h` leaves out those that only agents and scripts
//! need. Not here: the help of one command, which clap makes.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use crate::args::CommandLine;

/// A group of commands.
struct Group {
    title: &'static str,
    commands: &'static [&'static str],
}

/// What people use every day and now and then.
const SHORT: &[Group] = &[
    Group {
        title: "Recall",
        commands: &[
            "search", "context", "show", "list", "pick", "recent", "related", "sessions", "stats",
            "ui",
        ],
    },
    Group {
        title: "Keep it right",
        commands: &[
            "add",
            "edit",
            "feedback",
            "forget",
            "supersede",
            "tag",
            "review",
            "stale",
            "import",
            "export",
        ],
    },
    Group {
        title: "Set up and check",
        commands: &["init", "setup", "config", "model", "status", "doctor", "whoami"],
    },
];

/// What few people need, and what agents and scripts start.
const FURTHER: &[Group] = &[
    Group {
        title: "Links and analysis",
        commands: &["link", "unlink", "impact", "analyze", "patterns", "distinct"],
    },
    Group {
        title: "Upkeep",
        commands: &[
            "completions",
            "man-pages",
            "pin",
            "fade",
            "purge",
            "verify",
            "scrub",
            "archive",
            "sync",
            "index",
            "digest",
        ],
    },
    Group { title: "For agents and scripts", commands: &["mcp", "serve", "token", "hook", "help"] },
];

/// The columns of a line, at most.
const COLUMNS: usize = 100;

/// The columns of the names of commands, with the space around them.
const NAME_COLUMNS: usize = 15;

/// Returns the command line with its grouped help.
#[must_use]
pub fn command() -> Command {
    let mut command = CommandLine::command();
    command.build();
    let groups: String = SHORT.iter().map(|group| section(group, &command)).collect();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\nOptions:\n{{options}}{{after-help}}"
    );
    let further: String = FURTHER.iter().map(|group| section(group, &command)).collect();
    let more = format!("{}\n{MORE}", further.trim_start());
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

fn section(group: &Group, command: &Command) -> String {
    let mut text = format!("\n{}:\n", group.title);
    for name in group.commands {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        let mut start = format!("  {name:<width$}", width = NAME_COLUMNS - 2);
        let mut columns = NAME_COLUMNS;
        for word in about.split(' ') {
            if columns + 1 + word.chars().count() > COLUMNS {
                let _ = write!(start, "\n{:NAME_COLUMNS$}{word}", "");
                columns = NAME_COLUMNS + word.chars().count();
                continue;
            }
            let space = if columns == NAME_COLUMNS { "" } else { " " };
            let _ = write!(start, "{space}{word}");
            columns += space.len() + word.chars().count();
        }
        let _ = writeln!(text, "{start}");
    }
    text
}

const EXAMPLE: &str = "\
Example:
  cargo test 2>&1 | tail -40 | agent-knowledge search -

All commands, settings, exit codes and more examples: agent-knowledge --help";

const MORE: &str = "\
Environment:
  AGENT_KNOWLEDGE_LOGS       the directory of the logs, unless --logs is given
  AGENT_KNOWLEDGE_MODEL_DIR  the directory of the embedding model, unless --model is given
  AGENT_KNOWLEDGE_CACHE      the directory of caches, which may be deleted at any time
  AGENT_KNOWLEDGE_CONFIG     the configuration file
  AGENT_KNOWLEDGE_MEMORY_MIB memory limit for the memories in MiB (16 to 1048576, default 1024)
  AGENT_KNOWLEDGE_RETRIEVER  own: answer in this process instead of using the shared retriever
  AGENT_KNOWLEDGE_RUNTIME    the directory of the retriever's socket
  AGENT_KNOWLEDGE_QUERY_LOG  off: do not record searches that found nothing
  AGENT_KNOWLEDGE_HOOKS      off, or the hooks to keep on: start,prompt,failure,learn,end
  AGENT_KNOWLEDGE_SESSIONS   the directory of what is kept of past sessions
  AGENT_KNOWLEDGE_TOKEN      the token of a team's server, for serve --http and mcp --remote
  AGENT_KNOWLEDGE_AGENT      the name under which lessons are saved
  AGENT_KNOWLEDGE_POLL_ONLY  if set, do not watch the logs for changes

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
    fn every_command_is_in_one_group() {
        let mut listed: Vec<&str> =
            SHORT.iter().chain(FURTHER).flat_map(|group| group.commands).copied().collect();
        listed.sort_unstable();
        let mut command = CommandLine::command();
        command.build();
        let shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
        let mut known: Vec<&str> = shown.map(Command::get_name).collect();
        known.sort_unstable();
        assert_eq!(listed, known);
        let longest = known.iter().map(|name| name.len()).max().unwrap();
        assert!(longest + 4 <= NAME_COLUMNS, "{longest}");
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
