//! Reads standard input as an argument of the command line, where `-` stands for it. Not here: the commands that take one.

use std::io::Read;

use crate::args::request::Arguments;
use crate::command_context::Process;
use requests::{ApiError, QuerySyntax, SearchRequest};
use writer::exit::Exit;

/// Most bytes read from standard input: the log of a long CI run. The request cuts it to its telling lines.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// Reads a search, whose query comes from standard input where it is `-`.
pub(super) fn with_query(
    process: &mut Process<'_>,
    arguments: &Arguments<SearchRequest>,
) -> Result<SearchRequest, ApiError> {
    if arguments.text(QUERY) != Some("-") {
        return Ok(arguments.read()?);
    }
    let request: SearchRequest = arguments.with(QUERY, read_piped_text(process)?).read()?;
    // A program that pipes a log cannot put its words in quotes.
    Ok(SearchRequest { syntax: QuerySyntax::Pasted, ..request })
}

/// The parameter of a search that `-` may stand for.
const QUERY: &str = "query";

/// Reads standard input.
pub(super) fn read_piped_text(process: &mut Process<'_>) -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    match process.input.take(INPUT_BYTES_MAX).read_to_end(&mut bytes) {
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => Err(ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to read standard input: {error}"),
        }),
    }
}
