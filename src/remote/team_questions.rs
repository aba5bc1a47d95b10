//! Turns a call into the same question to the team's server, and reads the reply in its answer. Not here: actions (`team_actions`), how
//! long an answer is waited for (`remote_team`).

use guard::text::{Layout, neutralise};
use serde_json::{Map, Value, json};

use crate::team_server::{
    AnswerContentType, ServerAnswer, ServerRequest, TeamServerError, query_string,
};
use requests::{
    ContextRequest, Explain, Flagged, Mode, QuerySyntax, Reply, SearchRequest, SearchScope, Tiers,
    as_pasted,
};

/// Returns the reply in an answer. `None` where the server has none, such as for a repository that it does not know.
pub fn reply_in(answer: &ServerAnswer) -> Result<Option<Reply>, TeamServerError> {
    if answer.is_reply() {
        let text = answer.json.get("text").and_then(Value::as_str).unwrap_or_default();
        // The text comes from another machine, which may not have neutralised it.
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
    // Without `..`, so that a new field is either sent or keeps the question here.
    let SearchRequest {
        query,
        syntax,
        scope,
        kinds,
        not_kinds,
        tags,
        files,
        folders,
        agents,
        branches,
        since,
        until,
        limit,
        max_tokens,
        ids: _,
        mode,
        explain,
        flagged,
        min_relevance_percent,
        as_of,
        tiers,
        failure,
        shape: _,
        // Only the own work tree tells.
        unmerged: _,
    } = request;
    let is_plain = as_of.is_none()
        && since.is_none()
        && until.is_none()
        && *mode == Mode::Hybrid
        && *tiers == Tiers::Both
        && failure.is_none()
        && not_kinds.is_empty()
        && *explain == Explain::Silent;
    let mut fields = Map::new();
    // The server reads the words by what it knows, so only a paste is respelled.
    let sent = match syntax {
        QuerySyntax::Typed => query.clone(),
        QuerySyntax::Pasted => as_pasted(query),
    };
    fields.insert("query".to_owned(), sent.as_str().into());
    if let Some(repo) = repo {
        let is_all = matches!(scope, SearchScope::All(_));
        fields.insert("repo".to_owned(), repo.into());
        fields.insert("all_repos".to_owned(), is_all.into());
    }
    for (name, values) in [
        ("kinds", kinds),
        ("tags", tags),
        ("files", files),
        ("folders", folders),
        ("agents", agents),
        ("branches", branches),
    ] {
        if !values.is_empty() {
            fields.insert(name.to_owned(), json!(values));
        }
    }
    fields.insert("limit".to_owned(), (*limit).into());
    fields.insert("max_tokens".to_owned(), (*max_tokens).into());
    fields.insert("min_relevance".to_owned(), (*min_relevance_percent).into());
    if *flagged == Flagged::Included {
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
    fields.extend(request.folder.as_deref().map(|folder| ("folder".to_owned(), folder.into())));
    fields.insert("max_tokens".to_owned(), request.max_tokens.into());
    let is_now = request.as_of.is_none();
    is_now.then(|| ServerRequest::get(format!("context?{}", query_string(&fields))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_asked_with_every_filter() {
        let named = |name: &str| vec![name.to_owned()];
        let request = SearchRequest {
            kinds: named("error"),
            tags: named("npm"),
            files: named("Makefile"),
            folders: named("web"),
            agents: named("codex"),
            branches: named("main"),
            ..SearchRequest::default()
        };
        let sent = search_request(&request, None).unwrap();
        let asked = format!("{sent:?}");
        for filter in [
            "kinds=error",
            "tags=npm",
            "files=Makefile",
            "folders=web",
            "agents=codex",
            "branches=main",
        ] {
            assert!(asked.contains(filter), "{filter}: {asked}");
        }
        let syntax = QuerySyntax::Pasted;
        let piped = SearchRequest { query: "x kind:error".into(), syntax, ..<_>::default() };
        let sent = search_request(&piped, None).unwrap();
        assert!(format!("{sent:?}").contains("query=x%0Akind%3Aerror"), "{sent:?}");
        let of_hooks = SearchRequest { not_kinds: named("fact"), ..SearchRequest::default() };
        assert!(search_request(&of_hooks, None).is_none(), "only this machine can answer");
    }
}
