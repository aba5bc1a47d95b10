//! How some verbs read their arguments, and what a caller over a network is told instead of some answers. Not here: the table (`verbs`).

use serde_json::Value;

use crate::analysis::PatternsArguments;
use crate::api_error::ApiError;
use crate::change::{ChangeRequest, ForgetArguments};
use crate::define::ApiRequest;
use crate::fields::CallArguments;
use crate::links::{LinkEdit, LinkRequest};
use crate::listing::Listing;
use crate::parameter::Parameter;
use crate::request::Request;
use crate::sessions::{SessionListRequest, SessionSearchRequest};
use reply::Reply;

/// The parameters of forgetting and of taking it back: which of both is in the path.
pub(crate) fn forget_parameters() -> Vec<Parameter> {
    named_parameters(&ForgetArguments::parameters(), &["ids", "reason"])
}

/// Says that a search needs a query. It does without one where ids are given, for which there are paths of their own.
pub(crate) fn query_parameters(mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    for parameter in &mut parameters {
        parameter.is_required |= parameter.name == "query";
    }
    parameters
}

/// Where no memory has the id, it could still be a file of a repository that is not named; then nothing is found.
pub(crate) fn related_or_unknown(
    request: &Request,
    answer: Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    let is_unnamed = matches!(request, Request::Related(request) if request.repo.is_none());
    answer.map_err(|error| match error {
        ApiError::Invalid(problems) if is_unnamed && problems.names("repo") => {
            let message = format!("no memory has this id; as a file, {problems}");
            ApiError::NotFound(message)
        }
        other => other,
    })
}

/// A caller over HTTP has no directory that could tell the repository, so it must be named.
pub(crate) fn named_repo_parameters(mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    for parameter in &mut parameters {
        parameter.is_required |= parameter.name == "repo";
    }
    parameters
}

/// The parameters of a search of sessions and of the list that takes its place where nothing is asked.
pub(crate) fn session_parameters() -> Vec<Parameter> {
    let mut parameters = SessionSearchRequest::parameters();
    parameters.extend(named_parameters(&SessionListRequest::parameters(), &["page"]));
    parameters
}

/// Reads a question to past sessions; without one, the request for the newest.
pub(crate) fn sessions_request(mut given: CallArguments) -> Result<Request, ApiError> {
    if given.keys().any(|name| !LISTS_SESSIONS.contains(&name.as_str())) {
        return Ok(SessionSearchRequest::from_http(given)?.into());
    }
    if let Some(tools) = given.remove("tools") {
        let first = tools.as_array().and_then(|tools| tools.first().cloned());
        given.insert("tool".to_owned(), first.unwrap_or(tools));
    }
    Ok(Listing::Sessions(SessionListRequest::from_http(given)?).into())
}

/// A session that is not kept is not found.
pub(crate) fn session_or_unknown(
    _: &Request,
    answer: Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    let reply = answer?;
    let found = reply.json.get("sessions").and_then(Value::as_array);
    if found.is_some_and(Vec::is_empty) {
        return Err(ApiError::NotFound(reply.text));
    }
    Ok(reply)
}

/// The fields of a list of sessions. Any other one asks for a search.
pub(crate) const LISTS_SESSIONS: [&str; 5] = ["repo", "since", "limit", "page", "tools"];

pub(crate) fn named_parameters(all: &[Parameter], names: &[&str]) -> Vec<Parameter> {
    all.iter().filter(|parameter| names.contains(&parameter.name)).cloned().collect()
}

pub(crate) fn change_request<R: ApiRequest + Into<ChangeRequest>>(
    given: CallArguments,
) -> Result<Request, ApiError> {
    let request: ChangeRequest = R::from_http(given)?.into();
    Ok(request.into())
}

pub(crate) fn model_change_request<R: ApiRequest + Into<ChangeRequest>>(
    given: CallArguments,
) -> Result<Request, ApiError> {
    let request: ChangeRequest = R::from_tool(given)?.into();
    Ok(request.into())
}

pub(crate) fn link_request(edit: LinkEdit) -> Result<Request, ApiError> {
    Ok(LinkRequest::One(edit).into())
}

pub(crate) fn patterns_request(given: CallArguments) -> Result<Request, ApiError> {
    let request: crate::analysis::PatternsRequest = PatternsArguments::from_http(given)?.into();
    Ok(request.into())
}
