//! The arguments of a request: from the path, and from the query of a read or the JSON body of a deed. Not here: what they
//! may be (`requests`).

use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::rest::problem::RestProblem;
use crate::rest::rest_content::JSON;
use event::{Problems, from_json, json_type, unknown_field};
use guard::text::{Layout, neutralise};
use requests::parameter::ParameterValues;
use requests::verb::{Verb, VerbKind};

/// Returns the method of a verb.
pub fn verb_method(verb: &Verb) -> Method {
    if verb.kind == VerbKind::Read { Method::GET } else { Method::POST }
}

/// Reads the arguments. `place` is what stands in the path.
///
/// # Errors
/// The problem, for the answer.
pub fn read_arguments(
    verb: &Verb,
    place: Option<&str>,
    parts: &Parts,
    body: &[u8],
) -> Result<Map<String, Value>, RestProblem> {
    let mut given = if verb.kind == VerbKind::Read {
        of_query(parts.uri.query().unwrap_or_default())?
    } else {
        body_object(parts, body)?
    };
    if !verb.takes_more {
        listed_only(verb, &given).map_err(|problems| RestProblem::from_error(&problems.into()))?;
    }
    not_blank(verb, &given).map_err(|problems| RestProblem::from_error(&problems.into()))?;
    if let (Some(place), Some((_, field))) = (place, verb.in_path) {
        let value = decoded(place)?;
        if is_blank(&value) {
            return Err(wrong(format!("{field}: is blank in the path")));
        }
        if given.insert(field.to_owned(), value.into()).is_some() {
            return Err(wrong(format!("{field}: stands in the path already; leave it out")));
        }
    }
    Ok(given)
}

/// Reads the JSON object in a body.
pub fn body_object(parts: &Parts, body: &[u8]) -> Result<Map<String, Value>, RestProblem> {
    if parts.uri.query().is_some_and(|query| !query.is_empty()) {
        return Err(wrong("this request takes its fields as JSON in the body, not in the query"));
    }
    of_body(&parts.headers, body)
}

/// Refuses fields that the verb does not list.
fn listed_only(verb: &Verb, given: &Map<String, Value>) -> Result<(), Problems> {
    let parameters = (verb.parameters)();
    let known: Vec<&str> = parameters.iter().map(|parameter| parameter.name).collect();
    let aliases =
        parameters.iter().flat_map(|one| one.aliases.iter().map(|alias| (*alias, one.name)));
    let aliases: Vec<(&str, &str)> = aliases.collect();
    let mut problems = Problems::none();
    for name in given.keys().filter(|name| !known.contains(&name.as_str())) {
        problems.push(unknown_field(name, &known, &aliases));
    }
    problems.or(())
}

/// Refuses a number, a switch or a word that is named and blank. A blank text counts as left out.
fn not_blank(verb: &Verb, given: &Map<String, Value>) -> Result<(), Problems> {
    let mut problems = Problems::none();
    for one in (verb.parameters)() {
        let is_text = matches!(
            one.values,
            ParameterValues::Text
                | ParameterValues::Time
                | ParameterValues::Sequence
                | ParameterValues::List
        );
        let value = given.get(one.name).and_then(Value::as_str);
        if !is_text && value.is_some_and(is_blank) {
            problems.add(one.name, "is blank; leave it out, or give a value");
        }
    }
    problems.or(())
}

/// Tells whether a text says nothing, as the requests see it.
fn is_blank(text: &str) -> bool {
    neutralise(text, Layout::Block).trim().is_empty()
}

fn of_query(query: &str) -> Result<Map<String, Value>, RestProblem> {
    let mut given = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (spaced(name)?, Value::from(spaced(value)?));
        match given.get_mut(&name) {
            None => drop(given.insert(name, value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = vec![first.take(), value].into(),
        }
    }
    Ok(given)
}

fn of_body(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, RestProblem> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    let sent = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = sent.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case(JSON) {
        let detail = format!("Content-Type: must be {JSON}");
        return Err(RestProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let text = std::str::from_utf8(body).map_err(|_| wrong("the body is not UTF-8"))?;
    match from_json(text) {
        Ok(Value::Object(given)) => Ok(given),
        Ok(other) => {
            Err(wrong(format!("the body must be a JSON object, got {}", json_type(&other))))
        }
        Err(error) => Err(wrong(format!("the body is not JSON: {error}"))),
    }
}

/// A part of a query, where `+` is a space.
fn spaced(part: &str) -> Result<String, RestProblem> {
    decoded(&part.replace('+', " "))
}

fn decoded(part: &str) -> Result<String, RestProblem> {
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.map(Into::into).map_err(|_| wrong("a part of the address is not UTF-8"))
}

fn wrong(detail: impl Into<String>) -> RestProblem {
    RestProblem::new(StatusCode::BAD_REQUEST, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use requests::verbs::VERBS;
    use serde_json::json;

    // S-REST-2
    #[test]
    fn a_blank_number_or_path_is_refused() {
        let browse = VERBS.iter().find(|one| one.name == "browse").unwrap();
        let analyze = VERBS.iter().find(|one| one.name == "analyze").unwrap();
        let asked = |verb, place, query: &str| {
            let request = hyper::Request::get(format!("/x?{query}")).body(()).unwrap();
            read_arguments(verb, place, &request.into_parts().0, b"").map(Value::Object)
        };
        assert_eq!(
            asked(browse, None, "limit=2&repo=").unwrap(),
            json!({"limit": "2", "repo": ""})
        );
        let refused = asked(browse, None, "limit=&repo=").unwrap_err();
        assert_eq!(
            refused,
            RestProblem::from_error(
                &Problems::one("limit", "is blank; leave it out, or give a value").into()
            )
        );
        assert!(asked(analyze, Some("hubs"), "").is_ok());
        assert!(asked(analyze, Some("%C2%82"), "").is_err(), "a control character says nothing");
    }

    #[test]
    fn a_query_is_read_as_forms_write_it() {
        let read = |query| Value::Object(of_query(query).unwrap());
        assert_eq!(read(""), json!({}));
        assert_eq!(read("query=a+b%2Bc&limit=3"), json!({ "query": "a b+c", "limit": "3" }));
        assert_eq!(read("tag=a&tag=b&&tag=c&x"), json!({ "tag": ["a", "b", "c"], "x": "" }));
        assert!(of_query("q=%FF").is_err());
    }
}
