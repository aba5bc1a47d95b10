//! `link`: links two memories or files, or many that stand in a file. Not here: the rules about values (`requests::links`),
//! ending a link (`unlink`).

use std::fs::File;
use std::io::{self, Read};

use clap::Args;
use requests::links::{LinkArguments, read_links};
use requests::{ApiError, LinkRequest};
use writer::exit::Exit;

use crate::args::output_format::OutputFormat;
use crate::args::request::Arguments;
use crate::command_context::{CommandContext, Process};
use crate::command_output::CommandResult;
use crate::memory_change;

const LINK_HELP: &str = "\
SOURCE and TARGET are ids of memories, or files: src/a.rs, code:Makefile, src/a.rs::parse.
Relations: related_to (or relates_to), supersedes, depends_on, contradicts, specializes,
part_of, alternative_to, builds_on, calls, imports, inherits, caused_by, led_to, learned_in,
touches. A cycle is refused for supersedes, part_of, caused_by, led_to and learned_in. A link
that exists already is updated. With --valid-to now a link ends and is kept.
--bulk reads one JSON object per line: {\"source\":…,\"relation\":…,\"target\":…}, optionally
with strength, valid_from, valid_to, origin and repo. Valid lines are written; invalid lines are
reported.";

/// Link two memories or files, or many with --bulk
#[derive(Debug, Args)]
#[command(after_help = LINK_HELP)]
pub struct Link {
    /// The link.
    #[command(flatten)]
    pub link: Arguments<LinkArguments>,
    /// Make the links in this file; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    pub bulk: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Most bytes of links in one input.
const BULK_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Runs the command.
pub(super) fn link(context: &mut CommandContext<'_, '_>, command: &Link) -> CommandResult {
    let request = match &command.bulk {
        Some(bulk) => {
            let text = bulk_text(context.process, bulk)?;
            read_links(&text, command.link.text("origin"))?
        }
        None => LinkRequest::One(command.link.read()?),
    };
    memory_change::ask_link(context, command.form, request)
}

fn bulk_text(process: &mut Process<'_>, path: &str) -> Result<String, ApiError> {
    let read = |input: &mut dyn Read| -> io::Result<String> {
        let mut bytes = Vec::new();
        input.take(BULK_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).is_ok_and(|len| len > BULK_BYTES_MAX) {
            return Err(io::Error::other(format!(
                "more than {BULK_BYTES_MAX} bytes; split it into parts"
            )));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = match path {
        "-" => read(process.input),
        path => File::open(path).and_then(|mut file| read(&mut file)),
    };
    text.map_err(|error| {
        let message = format!("failed to read the links in {path}: {error}");
        ApiError::Failed { exit: Exit::Io, message }
    })
}
