//! The commands about what hangs together, from their arguments to the answer. Not here: the form of the command line
//! (`args::weave`), the rules about values (`wire`).

use std::fs::File;
use std::io::{self, Read};

use serde_json::{Map, Value};

use super::{GlobalOptions, Need, Process, Wiring};
use crate::args::{Analyze, Impact, Link, LinkCommand, Patterns, Related, Unlink};
use api::wire;
use api::{Api, ApiError, FINDINGS_MAX, LinkRequest, PatternsRequest, TOKENS_MIN, Voice};
use reply::Reply;
use writer::exit::Exit;

/// Most bytes of links that are taken at once.
const BULK_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Does what a command asks for; returns also how the program ends.
pub(super) fn woven(
    process: &mut Process<'_>,
    wiring: &mut dyn Wiring,
    settings: &GlobalOptions,
    command: LinkCommand,
) -> Result<(Exit, Reply), ApiError> {
    let request = match command {
        LinkCommand::Link(link) => link_request(process, link)?,
        LinkCommand::Unlink(unlink) => unlink_request(unlink)?,
        LinkCommand::Related(related) => {
            let request = wire::related(related_arguments(related))?;
            return Ok((Exit::Done, wiring.open(settings, Need::Words)?.related(&request)?));
        }
        LinkCommand::Impact(impact) => {
            let request = wire::related(impact_arguments(impact))?;
            return Ok((Exit::Done, wiring.open(settings, Need::Words)?.related(&request)?));
        }
        LinkCommand::Analyze(analyze) => {
            let request = wire::analysis(analyze_arguments(analyze))?;
            return Ok((Exit::Done, wiring.open(settings, Need::Words)?.analyze(&request)?));
        }
        LinkCommand::Patterns(patterns) => {
            let request = wire::patterns(patterns_arguments(patterns))?;
            let api = wiring.open(settings, Need::Words)?;
            let request = by_mark(request, &*api)?;
            return Ok((Exit::Done, api.patterns(&request, &Voice::Caller)?));
        }
    };
    let reply = wiring.open(settings, Need::Words)?.link(&request, &Voice::Caller)?;
    let refused = reply.json.get("refused").and_then(Value::as_u64).unwrap_or(0);
    let exit = if refused > 0 { Exit::Invalid } else { Exit::Done };
    Ok((exit, reply))
}

/// Names a pattern that is accepted by its mark: its number is another one once something was accepted, and a question may
/// be asked twice where the retriever goes away over it.
fn by_mark(request: PatternsRequest, api: &dyn Api) -> Result<PatternsRequest, ApiError> {
    let PatternsRequest::Accept(which) = &request else { return Ok(request) };
    let Some(place) = which.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else {
        return Ok(request);
    };
    let list = PatternsRequest::List { limit: FINDINGS_MAX, max_tokens: TOKENS_MIN };
    let listed = api.patterns(&list, &Voice::Caller)?;
    let mark = listed.json.pointer(&format!("/patterns/{place}/mark")).and_then(Value::as_str);
    Ok(mark.map_or(request, |mark| PatternsRequest::Accept(mark.to_owned())))
}

fn link_request(process: &mut Process<'_>, link: Link) -> Result<LinkRequest, ApiError> {
    if let Some(bulk) = &link.bulk {
        let text = bulk_text(process, bulk)?;
        return Ok(wire::links(&text, link.origin.as_deref())?);
    }
    let given = [
        ("source", link.source),
        ("relation", link.relation),
        ("target", link.target),
        ("repo", link.repo),
        ("strength", link.strength),
        ("valid_from", link.valid_from),
        ("valid_to", link.valid_to),
        ("origin", link.origin),
    ];
    Ok(LinkRequest::One(wire::link(arguments(given))?))
}

fn unlink_request(unlink: Unlink) -> Result<LinkRequest, ApiError> {
    if let Some(origin) = &unlink.origin {
        return Ok(wire::end_origin(origin)?);
    }
    let given = [
        ("source", unlink.source),
        ("relation", unlink.relation),
        ("target", unlink.target),
        ("repo", unlink.repo),
    ];
    Ok(LinkRequest::One(wire::unlink(arguments(given))?))
}

fn related_arguments(related: Related) -> Map<String, Value> {
    arguments([
        ("id", Some(related.of)),
        ("depth", related.depth),
        ("direction", related.direction),
        ("relation", related.relation),
        ("as_of", related.as_of),
        ("repo", related.repo),
        ("max_tokens", related.max_tokens),
    ])
}

fn impact_arguments(impact: Impact) -> Map<String, Value> {
    arguments([
        ("file", Some(impact.file)),
        ("depth", impact.depth),
        ("repo", impact.repo),
        ("max_tokens", impact.max_tokens),
    ])
}

fn analyze_arguments(analyze: Analyze) -> Map<String, Value> {
    arguments([
        ("topic", analyze.topic),
        ("repo", analyze.repo),
        ("limit", analyze.limit),
        ("max_tokens", analyze.max_tokens),
    ])
}

fn patterns_arguments(patterns: Patterns) -> Map<String, Value> {
    arguments([
        ("accept", patterns.accept),
        ("limit", patterns.limit),
        ("max_tokens", patterns.max_tokens),
    ])
}

fn arguments<const N: usize>(given: [(&str, Option<String>); N]) -> Map<String, Value> {
    given.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

fn bulk_text(process: &mut Process<'_>, path: &str) -> Result<String, ApiError> {
    let read = |input: &mut dyn Read| -> io::Result<String> {
        let mut bytes = Vec::new();
        input.take(BULK_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).is_ok_and(|len| len > BULK_BYTES_MAX) {
            return Err(io::Error::other(format!(
                "more than {BULK_BYTES_MAX} bytes; give it in parts"
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
