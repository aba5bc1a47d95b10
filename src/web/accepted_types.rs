//! The media types that a client of MCP accepts. The protocol asks clients to name two; many name fewer, or none, and read JSON all
//! the same. Not here: the other headers of the protocol, which rmcp checks.

use hyper::header::{ACCEPT, HeaderValue};
use hyper::{HeaderMap, Method};

use crate::request_guard::Refusal;

/// What the protocol asks for.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Lets a client that accepts JSON pass as one that names both types.
///
/// # Errors
/// [`Refusal::MediaType`] where it accepts none of our answers.
pub fn accept_json(method: &Method, headers: &mut HeaderMap) -> Result<(), Refusal> {
    if method != Method::POST {
        return Ok(());
    }
    if !takes_json(headers) {
        return Err(Refusal::MediaType);
    }
    headers.insert(ACCEPT, BOTH);
    Ok(())
}

fn takes_json(headers: &HeaderMap) -> bool {
    let given = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges = given.flat_map(|value| value.split(',')).map(str::trim);
    let mut ranges = ranges.filter(|range| !range.is_empty()).peekable();
    ranges.peek().is_none() || ranges.any(is_json)
}

/// Tells whether a range, such as `application/*;q=0.5`, contains JSON.
fn is_json(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let quality = |part: &str| part.strip_prefix("q=")?.trim().parse::<f32>().ok();
    let is_refused = parts.filter_map(quality).any(|quality| quality <= 0.0);
    matches!(&*name, "*/*" | "*" | "application/*" | "application/json") && !is_refused
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-HTTP-1
    #[test]
    fn whoever_reads_json_is_answered() {
        for (given, is_answered) in [
            (&[][..], true),
            (&[""], true),
            (&["*/*"], true),
            (&["application/json"], true),
            (&["application/json, text/event-stream"], true),
            (&["text/html, application/xhtml+xml, */*;q=0.8"], true),
            (&["text/event-stream", "Application/*; q=0.5"], true),
            (&["text/event-stream"], false),
            (&["text/html"], false),
            (&["application/json;q=0, text/html"], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            let before = headers.clone();
            assert_eq!(accept_json(&Method::POST, &mut headers).is_ok(), is_answered, "{given:?}");
            assert!(headers.get(ACCEPT) == Some(&BOTH) || !is_answered, "{given:?}");
            assert!(accept_json(&Method::GET, &mut before.clone()).is_ok(), "rmcp answers GET");
        }
    }
}
