//! The commands about links and what they connect, from their arguments to the answer. Not here: their options
//! (`args::links`), the rules about values (`requests::requests`).

use std::fs::File;
use std::io::{self, Read};

use serde_json::Value;

use crate::args::links::{Link, LinkCommand, Unlink};
use crate::command_context::Process;
use crate::program::Program;
use reply::Reply;
use requests::Request;
use requests::links::{end_origin, links};
use requests::{
    AcceptedPattern, AnalyzeRequest, Api, ApiError, FINDINGS_MAX, LinkRequest, PatternsRequest,
    RelatedRequest, TOKENS_MIN, Voice,
};
use retriever::options::{GlobalOptions, Need};
use writer::exit::Exit;

/// Most bytes of links in one input.
const BULK_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Runs a command, and returns how the program ends.
pub(super) fn follow(
    process: &mut Process<'_>,
    program: &mut Program<'_>,
    settings: &GlobalOptions,
    command: LinkCommand,
) -> Result<(Exit, Reply), ApiError> {
    let request = match command {
        LinkCommand::Link(link) => link_request(process, link)?,
        LinkCommand::Unlink(unlink) => unlink_request(unlink)?,
        LinkCommand::Related(related) => {
            let request: RelatedRequest = related.arguments.read()?;
            return Ok((
                Exit::Done,
                program.open(settings, Need::Words)?.ask(&Request::Related(request))?,
            ));
        }
        LinkCommand::Impact(impact) => {
            let request: RelatedRequest = impact.arguments.read()?;
            return Ok((
                Exit::Done,
                program.open(settings, Need::Words)?.ask(&Request::Related(request))?,
            ));
        }
        LinkCommand::Analyze(analyze) => {
            let request: AnalyzeRequest = analyze.arguments.read()?;
            return Ok((
                Exit::Done,
                program.open(settings, Need::Words)?.ask(&Request::Analyze(request))?,
            ));
        }
        LinkCommand::Patterns(patterns) => {
            let request: PatternsRequest = patterns.arguments.read()?;
            let api = program.open(settings, Need::Words)?;
            let request = by_mark(request, &*api)?;
            return Ok((Exit::Done, api.ask_as(&Request::Patterns(request), &Voice::Caller)?));
        }
    };
    let reply =
        program.open(settings, Need::Words)?.ask_as(&Request::Link(request), &Voice::Caller)?;
    let refused = reply.json.get("refused").and_then(Value::as_u64).unwrap_or(0);
    let exit = if refused > 0 { Exit::Invalid } else { Exit::Done };
    Ok((exit, reply))
}

/// Replaces the number of an accepted pattern by its mark. Numbers shift when a pattern is accepted, and a request
/// may be sent twice when the retriever goes away.
fn by_mark(request: PatternsRequest, api: &dyn Api) -> Result<PatternsRequest, ApiError> {
    let PatternsRequest::Accept(accepted) = &request else { return Ok(request) };
    let Some(place) = accepted.which.parse::<usize>().ok().and_then(|number| number.checked_sub(1))
    else {
        return Ok(request);
    };
    let list = PatternsRequest::List { limit: FINDINGS_MAX, max_tokens: TOKENS_MIN };
    let listed = api.ask_as(&Request::Patterns(list), &Voice::Caller)?;
    let mark = listed.json.pointer(&format!("/patterns/{place}/mark")).and_then(Value::as_str);
    let Some(mark) = mark else { return Ok(request) };
    let accepted = AcceptedPattern { which: mark.to_owned(), ..accepted.clone() };
    Ok(PatternsRequest::Accept(accepted))
}

fn link_request(process: &mut Process<'_>, link: Link) -> Result<LinkRequest, ApiError> {
    if let Some(bulk) = &link.bulk {
        let text = bulk_text(process, bulk)?;
        return Ok(links(&text, link.link.text("origin"))?);
    }
    Ok(LinkRequest::One(link.link.read()?))
}

fn unlink_request(unlink: Unlink) -> Result<LinkRequest, ApiError> {
    if let Some(origin) = &unlink.origin {
        return Ok(end_origin(origin)?);
    }
    Ok(LinkRequest::One(unlink.link.read()?))
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
