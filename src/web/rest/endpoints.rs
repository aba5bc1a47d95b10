//! The table of endpoints: for each its method, its path, its parameters and the one call of [`Api`] that answers it. Not
//! here: how a request arrives (`rest`), what the parameters mean (`api::requests`).

use serde_json::Value;

use crate::rest::endpoint::{Endpoint, Given, ID, VerbKind, change, read};
use api::requests::analysis::PatternsArguments;
use api::requests::browse::BrowseRequest;
use api::requests::change::{
    DistinctArguments, FeedbackArguments, ForgetArguments, PinArguments, SupersedeArguments,
};
use api::requests::injected::{InjectedRequest, SavingsRequest};
use api::requests::links::{LinkArguments, UnlinkArguments};
use api::requests::listing::{ExportRequest, ShowArguments};
use api::requests::log_events::{AuditRequest, HistoryRequest, TimelineRequest};
use api::requests::parameter::Parameter;
use api::requests::related::ImpactArguments;
use api::requests::save;
use api::requests::sessions::SessionListRequest;
use api::{
    AnalyzeRequest, Api, ApiError, ApiRequest, ChangeRequest, ContextRequest, LinkRequest, Listing,
    LogEventsRequest, PatternsRequest, RelatedRequest, Reply, ReviewRequest, SearchRequest,
    SessionSearchRequest, StaleRequest, Topic, Voice,
};

/// All endpoints.
pub const ENDPOINTS: &[Endpoint] = &[
    read(
        "search",
        "search",
        "Find memories",
        || of_query(SearchRequest::parameters()),
        |api, given, _| api.search(&SearchRequest::from_http(given)?),
    )
    .expensive_with(&["explain", "as_of"]),
    read(
        "context",
        "context",
        "Make the briefing for a task",
        || of_named_repo(ContextRequest::parameters()),
        |api, given, _| api.context(&ContextRequest::from_http(given)?),
    )
    .expensive(),
    read(
        "memories",
        "browse",
        "List memories page by page, the newest first",
        BrowseRequest::parameters,
        |api, given, _| api.list(&Listing::Page(Box::new(BrowseRequest::from_http(given)?))),
    ),
    Endpoint {
        kind: VerbKind::Make,
        takes_more: true,
        ..read(
            "memories",
            "save",
            "Save a lesson",
            || of_named_repo(save::parameters()),
            |api, given, voice| {
                let client = match voice {
                    Voice::Model { client, .. } => client.as_deref(),
                    Voice::Caller => None,
                };
                api.save(save::draft(given), client)
            },
        )
    },
    Endpoint {
        in_path: ID,
        ..read(
            "memories/{id}",
            "show",
            "Show a memory in full",
            ShowArguments::parameters,
            |api, given, _| api.show(&ShowArguments::from_http(given)?.ids),
        )
    },
    Endpoint {
        in_path: Some(("id", "id")),
        ..read(
            "memories/{id}/related",
            "related",
            "List what is linked to a memory",
            || {
                let all = RelatedRequest::parameters();
                all.into_iter().filter(|parameter| parameter.name != "file").collect()
            },
            |api, given, _| related(api, given),
        )
    },
    Endpoint {
        in_path: Some(("id", "id")),
        ..read(
            "memories/{id}/history",
            "history",
            "List who did what to a memory, the oldest first",
            HistoryRequest::parameters,
            |api, given, _| {
                api.log_events(&LogEventsRequest::History(HistoryRequest::from_http(given)?))
            },
        )
    },
    change(
        "memories/{id}/feedback",
        "feedback",
        "Report whether a memory worked",
        FeedbackArguments::parameters,
        |api, given, voice| changed::<FeedbackArguments>(api, given, voice),
    ),
    change(
        "memories/{id}/forget",
        "forget",
        "Forget a memory; restore brings it back",
        forgetting,
        |api, given, voice| changed::<ForgetArguments>(api, given, voice),
    ),
    change(
        "memories/{id}/restore",
        "restore",
        "Bring back a memory that was forgotten, replaced or faded",
        forgetting,
        |api, mut given, voice| {
            given.insert("undo".to_owned(), true.into());
            changed::<ForgetArguments>(api, given, voice)
        },
    ),
    change(
        "memories/{id}/supersede",
        "supersede",
        "Replace a memory by another one",
        SupersedeArguments::parameters,
        |api, given, voice| changed::<SupersedeArguments>(api, given, voice),
    ),
    change(
        "memories/{id}/distinct",
        "distinct",
        "Settle that two memories do not contradict each other",
        DistinctArguments::parameters,
        |api, given, voice| changed::<DistinctArguments>(api, given, voice),
    ),
    change(
        "memories/{id}/pin",
        "pin",
        "Let a memory not age, or age again",
        PinArguments::parameters,
        |api, given, voice| changed::<PinArguments>(api, given, voice),
    ),
    read(
        "impact",
        "impact",
        "List memories that a change to a file may affect",
        || of_named_repo(ImpactArguments::parameters()),
        |api, given, _| api.related(&ImpactArguments::from_http(given)?.into()),
    ),
    Endpoint {
        kind: VerbKind::Make,
        ..read(
            "links",
            "link",
            "Link two memories or files",
            LinkArguments::parameters,
            |api, given, voice| {
                api.link(&LinkRequest::One(LinkArguments::from_http(given)?.into()), voice)
            },
        )
    },
    Endpoint {
        kind: VerbKind::Deed,
        ..read(
            "links/end",
            "unlink",
            "End a link",
            UnlinkArguments::parameters,
            |api, given, voice| {
                api.link(&LinkRequest::One(UnlinkArguments::from_http(given)?.into()), voice)
            },
        )
    },
    read(
        "review",
        "review",
        "List pairs of memories that may contradict each other",
        || of_named_repo(ReviewRequest::parameters()),
        |api, given, _| api.review(&ReviewRequest::from_http(given)?),
    )
    .expensive(),
    read(
        "stale",
        "stale",
        "List memories that the files or git of a work tree contradict, in each work tree that an agent came from",
        || of_named_repo(StaleRequest::parameters()),
        |api, given, _| api.stale(&StaleRequest::from_http(given)?),
    )
    .for_admins()
    .expensive(),
    Endpoint {
        in_path: Some(("topic", "topic")),
        ..read(
            "analyze/{topic}",
            "analyze",
            "Analyze the whole memory",
            AnalyzeRequest::parameters,
            |api, given, _| api.analyze(&AnalyzeRequest::from_http(given)?),
        )
        .expensive()
    },
    read(
        "graph/stats",
        "graphStats",
        "Count the links of each kind, and list the memories with the most",
        || named(&AnalyzeRequest::parameters(), &["repo", "limit", "max_tokens"]),
        |api, mut given, _| {
            given.insert("topic".to_owned(), Topic::Stats.as_str().into());
            api.analyze(&AnalyzeRequest::from_http(given)?)
        },
    )
    .expensive(),
    read(
        "export",
        "export",
        "Show the lines that the command export would write into an agent file",
        || of_named_repo(ExportRequest::parameters()),
        |api, given, _| api.list(&Listing::Export(ExportRequest::from_http(given)?)),
    )
    .expensive(),
    read(
        "patterns",
        "patterns",
        "List lessons that several repositories learned independently",
        || named(&PatternsArguments::parameters(), &["limit", "max_tokens"]),
        |api, given, voice| patterns(api, given, voice),
    )
    .expensive(),
    Endpoint {
        kind: VerbKind::Make,
        in_path: Some(("pattern", "accept")),
        ..read(
            "patterns/{pattern}/accept",
            "acceptPattern",
            "Save a pattern as a memory",
            || named(&PatternsArguments::parameters(), &["accept", "only_here"]),
            |api, mut given, voice| {
                given.insert("apply".to_owned(), true.into());
                patterns(api, given, voice)
            },
        )
        .expensive()
    },
    read(
        "sessions",
        "searchSessions",
        "Search past sessions of other tools; without a query, list the newest",
        of_sessions,
        |api, given, _| sessions(api, given),
    )
    .expensive()
    .for_admins(),
    Endpoint {
        in_path: ID,
        ..read(
            "sessions/{id}",
            "session",
            "Show exchanges of a past session",
            || named(&SessionSearchRequest::parameters(), &["ids", "max_tokens"]),
            |api, given, _| session(api, given),
        )
        .for_admins()
    },
    read(
        "timeline",
        "timeline",
        "Count the events of each day, the oldest first",
        TimelineRequest::parameters,
        |api, given, _| {
            api.log_events(&LogEventsRequest::Timeline(TimelineRequest::from_http(given)?))
        },
    ),
    read(
        "audit",
        "audit",
        "List the events of all memories page by page, the newest first",
        AuditRequest::parameters,
        |api, given, _| api.log_events(&LogEventsRequest::Audit(AuditRequest::from_http(given)?)),
    ),
    read(
        "doctor",
        "doctor",
        "Check everything around the logs, without changing anything",
        Vec::new,
        |api, _, _| api.doctor(),
    )
    .expensive()
    .for_admins(),
    read(
        "status",
        "status",
        "Show the state of store, indexes and model",
        Vec::new,
        |api, _, _| api.status(),
    ),
    read(
        "injected",
        "injected",
        "List what hooks and tools told agents, the newest first",
        InjectedRequest::parameters,
        |api, given, _| api.list(&Listing::Injected(Box::new(InjectedRequest::from_http(given)?))),
    )
    .for_admins(),
    read(
        "savings",
        "savings",
        "Count what agents were told, beside the size of the logs",
        SavingsRequest::parameters,
        |api, given, _| api.list(&Listing::Savings(SavingsRequest::from_http(given)?)),
    ),
];

/// The parameters of forgetting and of taking it back: which of both is in the path.
fn forgetting() -> Vec<Parameter> {
    named(&ForgetArguments::parameters(), &["ids", "reason"])
}

/// Says that a search needs a query. It does without one where ids are given, for which there are paths of their own.
fn of_query(mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    for parameter in &mut parameters {
        parameter.is_required |= parameter.name == "query";
    }
    parameters
}

/// Answers what is linked to a memory. Where no memory has the id, it could still be a file of a repository that is not
/// named; then nothing is found.
fn related(api: &dyn Api, given: Given) -> Result<Reply, ApiError> {
    let request = RelatedRequest::from_http(given)?;
    api.related(&request).map_err(|error| match error {
        ApiError::Invalid(problems) if request.repo.is_none() && problems.names("repo") => {
            let message = format!("no memory has this id; as a file, {problems}");
            ApiError::NotFound(message)
        }
        other => other,
    })
}

/// A caller over HTTP has no directory that could tell the repository, so it must be named.
fn of_named_repo(mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    for parameter in &mut parameters {
        parameter.is_required |= parameter.name == "repo";
    }
    parameters
}

/// The parameters of a search of sessions and of the list that takes its place where nothing is asked.
fn of_sessions() -> Vec<Parameter> {
    let mut parameters = SessionSearchRequest::parameters();
    parameters.extend(named(&SessionListRequest::parameters(), &["page"]));
    parameters
}

/// Answers a question to past sessions; without one, lists the newest.
fn sessions(api: &dyn Api, mut given: Given) -> Result<Reply, ApiError> {
    if given.keys().any(|name| !LISTS_SESSIONS.contains(&name.as_str())) {
        return api.search_sessions(&SessionSearchRequest::from_http(given)?);
    }
    if let Some(tools) = given.remove("tools") {
        let first = tools.as_array().and_then(|tools| tools.first().cloned());
        given.insert("tool".to_owned(), first.unwrap_or(tools));
    }
    api.list(&Listing::Sessions(SessionListRequest::from_http(given)?))
}

/// Shows one session.
fn session(api: &dyn Api, given: Given) -> Result<Reply, ApiError> {
    let reply = api.search_sessions(&SessionSearchRequest::from_http(given)?)?;
    let found = reply.json.get("sessions").and_then(Value::as_array);
    if found.is_some_and(Vec::is_empty) {
        return Err(ApiError::NotFound(reply.text));
    }
    Ok(reply)
}

/// The fields of a list of sessions. Any other one asks for a search.
const LISTS_SESSIONS: [&str; 5] = ["repo", "since", "limit", "page", "tools"];

fn named(all: &[Parameter], names: &[&str]) -> Vec<Parameter> {
    all.iter().filter(|parameter| names.contains(&parameter.name)).cloned().collect()
}

fn changed<R: ApiRequest + Into<ChangeRequest>>(
    api: &dyn Api,
    given: Given,
    voice: &Voice,
) -> Result<Reply, ApiError> {
    api.change(&R::from_http(given)?.into(), voice)
}

fn patterns(api: &dyn Api, given: Given, voice: &Voice) -> Result<Reply, ApiError> {
    let request: PatternsRequest = PatternsArguments::from_http(given)?.into();
    api.patterns(&request, voice)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use hyper::Method;

    use super::*;
    use access::rights::Rights;

    #[test]
    fn a_path_leads_to_one_endpoint() {
        let found = |path: &str, method: Method| {
            let fits = |one: &&Endpoint| one.place_in(path).is_some() && one.method() == method;
            ENDPOINTS.iter().filter(fits).map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(found("memories", Method::GET), ["browse"]);
        assert_eq!(found("memories", Method::POST), ["save"]);
        assert_eq!(found("memories/ab", Method::GET), ["show"]);
        assert_eq!(found("memories/ab/related", Method::GET), ["related"]);
        for path in ["", "memories/", "memories/ab/", "memories//related", "x", "search/x"] {
            assert!(found(path, Method::GET).is_empty(), "{path}");
        }
        for endpoint in ENDPOINTS {
            let path = endpoint.path.replace(['{', '}'], "");
            assert_eq!(found(&path, endpoint.method()), [endpoint.name]);
        }
    }

    // S-TOKEN-3
    #[test]
    fn a_deed_needs_the_right_to_write() {
        for endpoint in ENDPOINTS {
            let is_of_owner = ["doctor", "searchSessions", "session", "stale", "injected"]
                .contains(&endpoint.name);
            let needed = match endpoint.method() {
                _ if is_of_owner => Rights::Admin,
                Method::GET => Rights::Read,
                _ => Rights::Write,
            };
            assert_eq!(endpoint.rights(), needed, "{}", endpoint.name);
        }
    }

    #[test]
    fn a_segment_fills_a_parameter_that_exists() {
        let mut names = HashSet::new();
        for endpoint in ENDPOINTS {
            assert!(names.insert(endpoint.name), "{}", endpoint.name);
            let segment = endpoint.in_path.map(|(segment, _)| format!("{{{segment}}}"));
            let in_braces = endpoint.path.split('/').find(|part| part.starts_with('{'));
            assert_eq!(segment.as_deref(), in_braces, "{}", endpoint.path);
            let Some((_, field)) = endpoint.in_path else { continue };
            let parameters = (endpoint.parameters)();
            assert!(parameters.iter().any(|one| one.name == field), "{field}");
        }
    }
}
