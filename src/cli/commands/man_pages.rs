//! `man-pages`: writes the manual pages into a directory, for packages and for people who have only the program. They are made from
//! clap's description and help. Not here: that help (`args::help`).

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use requests::{ApiError, Reply};
use serde_json::json;
use writer::exit::Exit;

/// The section of commands that users run.
const SECTION: &str = "1";

/// Write the manual pages into a directory
#[derive(Debug, Args)]
pub struct ManPages {
    /// The directory, which is made if it is not there; packages use share/man/man1
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn man_pages(context: &mut CommandContext<'_, '_>, command: &ManPages) -> CommandResult {
    let directory = context.program.path_from_here(&command.directory)?;
    let names =
        write_pages(&directory, (context.command_line)()).map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to write the pages into {}: {error}", directory.display()),
        })?;
    let text = format!("wrote {} pages into {}", names.len(), directory.display());
    let json = json!({ "directory": directory.display().to_string(), "files": names });
    Ok(CommandEnd::answer(command.form, Reply::new(text, json)))
}

/// Writes the pages, in the place of older ones, and returns their names.
fn write_pages(directory: &Path, command: Command) -> io::Result<Vec<String>> {
    std::fs::create_dir_all(directory)?;
    let mut names = Vec::new();
    for page in pages(command, &writer::help())? {
        std::fs::write(directory.join(&page.file), &page.text)?;
        names.push(page.file);
    }
    Ok(names)
}

/// One page.
struct ManPage {
    /// The name of its file.
    file: String,
    /// What is in it.
    text: Vec<u8>,
}

/// Makes the pages: one for the program, one for each of its commands, and one for `log-memory`, from its help.
fn pages(command: Command, log_memory_help: &str) -> io::Result<Vec<ManPage>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = vec![log_memory(log_memory_help)];
    add_page(&command, &mut pages)?;
    Ok(pages)
}

fn add_page(command: &Command, pages: &mut Vec<ManPage>) -> io::Result<()> {
    pages.push(page(command)?);
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        add_page(subcommand, pages)?;
    }
    Ok(())
}

fn page(command: &Command) -> io::Result<ManPage> {
    let notes = command.get_after_long_help().or_else(|| command.get_after_help());
    let notes = notes.map(ToString::to_string);
    let page = Man::new(command.clone()).section(SECTION).manual("agent-knowledge");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    text.extend(verbatim("SYNOPSIS", &usage(command)).into_bytes());
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    if let Some(notes) = notes {
        text.extend(verbatim("NOTES", &notes).into_bytes());
    }
    Ok(ManPage { file: page.get_filename(), text })
}

/// The usage as the help has it, which names the values of options.
fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    usage.trim_start_matches("Usage: ").lines().map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// `log-memory` has its own parser, so its help is the page.
fn log_memory(help: &str) -> ManPage {
    let (about, rest) = help.split_once("\n\n").unwrap_or((help, ""));
    let name = escaped(about.trim_end_matches('.'));
    let text = format!(
        ".TH log-memory {SECTION} \"\" \"\" agent-knowledge\n.SH NAME\nlog\\-memory \\- {name}\n{}.SH \"SEE ALSO\"\n\\fBagent\\-knowledge\\fR({SECTION})\n",
        verbatim("DESCRIPTION", rest)
    );
    ManPage { file: format!("log-memory.{SECTION}"), text: text.into_bytes() }
}

/// A section whose lines stay as they are: they hold tables and commands.
fn verbatim(title: &str, text: &str) -> String {
    let lines: String =
        text.trim_end().lines().map(|line| format!("{}\n", escaped(line))).collect();
    format!(".SH {title}\n.nf\n{lines}.fi\n")
}

/// Takes the meaning from what roff reads as its own.
fn escaped(line: &str) -> String {
    let line =
        line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
    let commands = line.starts_with('.');
    format!("{}{line}", if commands { "\\&" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-COMPLETE-2
    #[test]
    fn every_shown_command_has_a_page() {
        let pages = pages(
            crate::args::help::command(),
            "Append one lesson.\n\nUsage: log-memory\n.x 'a' \\b\n",
        )
        .unwrap();
        let files: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
        for file in
            ["agent-knowledge.1", "agent-knowledge-search.1", "agent-knowledge-sessions-show.1"]
        {
            assert!(files.contains(&file), "{files:?}");
        }
        assert!(!files.iter().any(|file| file.contains("complete-words")), "{files:?}");
        let log_memory = String::from_utf8(pages[0].text.clone()).unwrap();
        assert!(log_memory.contains("\n\\&.x \\(aqa\\(aq \\eb\n"), "{log_memory}");
    }
}
