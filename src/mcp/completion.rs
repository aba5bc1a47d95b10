//! Completion of the arguments of prompts and of the parts of resource addresses. Not here: the values (`search`).

use rmcp::model::{CompleteRequestParams, CompletionInfo, Reference};
use serde_json::Value;

use crate::{prompts, resources};
use event::Problems;
use requests::Request;
use requests::{Api, ApiError, CompleteRequest, CompletionSlot};

/// Reads what the client wants completed.
///
/// # Errors
/// [`ApiError::Invalid`] where there is no such prompt, template or argument, or too much was typed.
pub fn completion_request(params: &CompleteRequestParams) -> Result<CompleteRequest, ApiError> {
    let slots = match &params.r#ref {
        Reference::Prompt(prompt) => of_prompt(&prompt.name)?,
        Reference::Resource(resource) => resources::slots(&resource.uri)?,
        _ => return Err(Problems::one("ref.type", "must be ref/prompt or ref/resource").into()),
    };
    let argument = &params.argument;
    let slot = slots.iter().find(|(name, _)| *name == argument.name);
    let Some((_, slot)) = slot else {
        let names = slots.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let message = format!("must be one of {names}");
        return Err(Problems::one("argument.name", message).into());
    };
    Ok(CompleteRequest::read(*slot, &argument.value)?)
}

/// Returns the arguments of a prompt.
fn of_prompt(name: &str) -> Result<&'static [(&'static str, CompletionSlot)], ApiError> {
    match name {
        prompts::RECALL => Ok(&[
            ("topic", CompletionSlot::Tag),
            ("kind", CompletionSlot::Kind),
            ("file", CompletionSlot::File),
            ("repo", CompletionSlot::Repo),
        ]),
        prompts::HANDOFF | prompts::RETRO => Ok(&[("repo", CompletionSlot::Repo)]),
        _ => Err(prompts::unknown_prompt()),
    }
}

/// Returns the values.
///
/// # Errors
/// Those of [`Api::complete`].
pub fn completion_values(
    api: &dyn Api,
    request: &CompleteRequest,
) -> Result<CompletionInfo, ApiError> {
    let reply = api.ask(&Request::Complete(request.clone()))?.json;
    let values = reply.get("values").and_then(Value::as_array);
    let values: Vec<String> = values
        .into_iter()
        .flatten()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .take(CompletionInfo::MAX_VALUES)
        .collect();
    let total = reply.get("total").and_then(Value::as_u64).unwrap_or_default();
    let has_more = u64::try_from(values.len()).is_ok_and(|shown| total > shown);
    // No more values were taken than the protocol allows.
    let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), has_more);
    Ok(info.unwrap_or_default())
}
