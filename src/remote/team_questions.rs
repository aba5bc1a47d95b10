//! Which request asks the team's server the same as a call, and the reply in its answer. Not here: deeds (`team_actions`), how long
//! an answer is waited for (`remote_team`).

use guard::text::{Layout, neutralise};
use serde_json::{Map, Value, json};

use crate::team_server::{
    AnswerContentType, ServerAnswer, ServerRequest, TeamServerError, query_string,
};
use requests::{ContextRequest, Explain, Flagged, Mode, Reply, SearchRequest, SearchScope, Tiers};

/// Returns the reply in an answer. `None` where the server has none, such as for a repository that it does not know.
pub fn reply_in(answer: &ServerAnswer) -> Result<Option<Reply>, TeamServerError> {
    if answer.is_reply() {
        let text = answer.json.get("text").and_then(Value::as_str).unwrap_or_default();
        // It comes from another machine, whatever that does with texts.
        let text = neutralise(text, Layout::Block);
        return Ok(Some(Reply::new(text, answer.json.get("json").cloned().unwrap_or_default())));
    }
    match (answer.status, answer.form) {
        (400 | 404, AnswerContentType::Problem) => Ok(None),
        (status, _) => Err(TeamServerError { why: answer.shown(), status: Some(status) }),
    }
}

/// Returns the request that asks the same of the server about a repository. `None` for one that only this machine can answer.
pub fn search_request(request: &SearchRequest, repo: Option<String>) -> Option<ServerRequest> {
    let is_plain = request.as_of.is_none()
        && request.since.is_none()
        && request.until.is_none()
        && request.mode == Mode::Hybrid
        && request.tiers == Tiers::Both
        && request.failure.is_none()
        && request.not_kinds.is_empty()
        && request.explain == Explain::Silent;
    let mut fields = Map::new();
    fields.insert("query".to_owned(), request.query.as_str().into());
    if let Some(repo) = repo {
        let is_all = matches!(request.scope, SearchScope::All(_));
        fields.insert("repo".to_owned(), repo.into());
        fields.insert("all_repos".to_owned(), is_all.into());
    }
    for (name, values) in [
        ("kinds", &request.kinds),
        ("tags", &request.tags),
        ("files", &request.files),
        ("agents", &request.agents),
    ] {
        if !values.is_empty() {
            fields.insert(name.to_owned(), json!(values));
        }
    }
    fields.insert("limit".to_owned(), request.limit.into());
    fields.insert("max_tokens".to_owned(), request.max_tokens.into());
    fields.insert("min_relevance".to_owned(), request.min_relevance_percent.into());
    if request.flagged == Flagged::Included {
        fields.insert("include_flagged".to_owned(), true.into());
    }
    is_plain.then(|| ServerRequest::get(format!("search?{}", query_string(&fields))))
}

/// Returns the request for a briefing about a repository. `None` for one of another time.
pub fn context_request(request: &ContextRequest, repo: String) -> Option<ServerRequest> {
    let mut fields = Map::new();
    fields.insert("repo".to_owned(), repo.into());
    fields.extend(request.task.as_deref().map(|task| ("task".to_owned(), task.into())));
    if !request.files.is_empty() {
        fields.insert("files".to_owned(), json!(request.files));
    }
    fields.insert("max_tokens".to_owned(), request.max_tokens.into());
    let is_now = request.as_of.is_none();
    is_now.then(|| ServerRequest::get(format!("context?{}", query_string(&fields))))
}
