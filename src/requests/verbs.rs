//! The table of verbs: for each its path, its parameters, the request that it reads, its right, its cost and its tool. REST, gRPC, MCP and
//! the OpenAPI document follow from it. Not here: how a request arrives (the faces), what the parameters mean (a file each).

use crate::analysis::{AnalyzeRequest, PatternsArguments, Topic};
use crate::browse::BrowseRequest;
use crate::change::{
    DistinctArguments, FeedbackArguments, ForgetArguments, PinArguments, SupersedeArguments,
};
use crate::context::ContextRequest;
use crate::define::ApiRequest;
use crate::injected::{InjectedRequest, SavingsRequest};
use crate::links::{LinkArguments, UnlinkArguments};
use crate::listing::{ExportRequest, Listing, ReviewRequest, ShowArguments, StaleRequest};
use crate::log_events::{AuditRequest, HistoryRequest, LogEventsRequest, TimelineRequest};
use crate::related::{ImpactArguments, RelatedRequest};
use crate::search::SearchRequest;
use crate::sessions::SessionSearchRequest;
use crate::tool::{self, ToolSet, VerbTool};
use crate::verb::{ID, Verb, VerbKind, change, read};
use crate::verb_arguments::{
    accepted_pattern, change_request, forget_parameters, link_request, model_change_request,
    named_parameters, named_repo_parameters, patterns_request, query_parameters,
    related_or_unknown, restored, session_or_unknown, session_parameters, sessions_request,
};
use crate::{request::Request, save};

/// All verbs.
pub const VERBS: &[Verb] = &[
    read::<reply::SearchOrShown>(
        "search",
        "search",
        "Find memories",
        || query_parameters(SearchRequest::parameters()),
        |given| Ok(SearchRequest::from_http(given)?.into()),
    )
    .expensive_with(&["explain", "as_of"])
    .with_tool(VerbTool {
        name: tool::SEARCH,
        title: "Search memory",
        when: tool::SEARCH_WHEN,
        set: ToolSet::Usual,
        place: 0,
        parameters: SearchRequest::parameters,
        request: |given| Ok(SearchRequest::from_tool(given)?.into()),
    }),
    read::<reply::ContextAnswer>(
        "context",
        "context",
        "Make the briefing for a task",
        || named_repo_parameters(ContextRequest::parameters()),
        |given| Ok(ContextRequest::from_http(given)?.into()),
    )
    .expensive()
    .with_tool(VerbTool {
        name: tool::CONTEXT,
        title: "Start-of-work briefing",
        when: tool::CONTEXT_WHEN,
        set: ToolSet::Usual,
        place: 1,
        parameters: ContextRequest::parameters,
        request: |given| Ok(ContextRequest::from_tool(given)?.into()),
    }),
    read::<reply::PageAnswer>(
        "memories",
        "browse",
        "List memories page by page, the newest first",
        BrowseRequest::parameters,
        |given| Ok(Listing::Page(Box::new(BrowseRequest::from_http(given)?)).into()),
    ),
    Verb {
        kind: VerbKind::Make,
        takes_more: true,
        ..read::<reply::SaveAnswer>(
            "memories",
            "save",
            "Save a lesson",
            || named_repo_parameters(save::parameters()),
            |given| Ok(Request::Save(Box::new(save::draft(given)))),
        )
    }
    .with_tool(VerbTool {
        name: tool::SAVE,
        title: "Save a lesson",
        when: tool::SAVE_WHEN,
        set: ToolSet::Usual,
        place: 2,
        parameters: save::parameters,
        request: |given| Ok(Request::Save(Box::new(save::draft(given)))),
    }),
    Verb {
        in_path: ID,
        ..read::<reply::ShownMemories>(
            "memories/{id}",
            "show",
            "Show a memory in full",
            ShowArguments::parameters,
            |given| Ok(Request::Show(ShowArguments::from_http(given)?.ids)),
        )
    },
    Verb {
        in_path: Some(("id", "id")),
        ..read::<reply::RelatedAnswer>(
            "memories/{id}/related",
            "related",
            "List what is linked to a memory",
            || {
                let all = RelatedRequest::parameters();
                all.into_iter().filter(|parameter| parameter.name != "file").collect()
            },
            |given| Ok(RelatedRequest::from_http(given)?.into()),
        )
    }
    .answered(related_or_unknown)
    .with_tool(VerbTool {
        name: tool::RELATED,
        title: "Related notes",
        when: tool::RELATED_WHEN,
        set: ToolSet::Usual,
        place: 5,
        parameters: RelatedRequest::parameters,
        request: |given| Ok(RelatedRequest::from_tool(given)?.into()),
    }),
    Verb {
        in_path: Some(("id", "id")),
        ..read::<reply::HistoryAnswer>(
            "memories/{id}/history",
            "history",
            "List who did what to a memory, the oldest first",
            HistoryRequest::parameters,
            |given| Ok(LogEventsRequest::History(HistoryRequest::from_http(given)?).into()),
        )
    },
    change(
        "memories/{id}/feedback",
        "feedback",
        "Report whether a memory worked",
        FeedbackArguments::parameters,
        change_request::<FeedbackArguments>,
    )
    .with_tool(VerbTool {
        name: tool::FEEDBACK,
        title: "Rate a lesson",
        when: tool::FEEDBACK_WHEN,
        set: ToolSet::Usual,
        place: 3,
        parameters: FeedbackArguments::parameters,
        request: model_change_request::<FeedbackArguments>,
    }),
    change(
        "memories/{id}/forget",
        "forget",
        "Forget a memory; restore brings it back",
        forget_parameters,
        change_request::<ForgetArguments>,
    )
    .with_tool(VerbTool {
        name: tool::FORGET,
        title: "Forget a lesson",
        when: tool::FORGET_WHEN,
        set: ToolSet::Usual,
        place: 4,
        parameters: ForgetArguments::parameters,
        request: model_change_request::<ForgetArguments>,
    }),
    change(
        "memories/{id}/restore",
        "restore",
        "Bring back a memory that was forgotten, replaced or faded",
        forget_parameters,
        restored,
    ),
    change(
        "memories/{id}/supersede",
        "supersede",
        "Replace a memory by another one",
        SupersedeArguments::parameters,
        change_request::<SupersedeArguments>,
    ),
    change(
        "memories/{id}/distinct",
        "distinct",
        "Settle that two memories do not contradict each other",
        DistinctArguments::parameters,
        change_request::<DistinctArguments>,
    ),
    change(
        "memories/{id}/pin",
        "pin",
        "Let a memory not age, or age again",
        PinArguments::parameters,
        change_request::<PinArguments>,
    ),
    read::<reply::RelatedAnswer>(
        "impact",
        "impact",
        "List memories that a change to a file may affect",
        || named_repo_parameters(ImpactArguments::parameters()),
        |given| Ok(RelatedRequest::from(ImpactArguments::from_http(given)?).into()),
    ),
    Verb {
        kind: VerbKind::Make,
        ..read::<reply::LinkAnswer>(
            "links",
            "link",
            "Link two memories or files",
            LinkArguments::parameters,
            |given| link_request(LinkArguments::from_http(given)?.into()),
        )
    }
    .with_tool(VerbTool {
        name: tool::LINK,
        title: "Link memories",
        when: tool::LINK_WHEN,
        set: ToolSet::Full,
        place: 7,
        parameters: LinkArguments::parameters,
        request: |given| link_request(LinkArguments::from_tool(given)?.into()),
    }),
    Verb {
        kind: VerbKind::Action,
        ..read::<reply::LinkAnswer>(
            "links/end",
            "unlink",
            "End a link",
            UnlinkArguments::parameters,
            |given| link_request(UnlinkArguments::from_http(given)?.into()),
        )
    }
    .with_tool(VerbTool {
        name: tool::UNLINK,
        title: "End a link",
        when: tool::UNLINK_WHEN,
        set: ToolSet::Full,
        place: 8,
        parameters: UnlinkArguments::parameters,
        request: |given| link_request(UnlinkArguments::from_tool(given)?.into()),
    }),
    read::<reply::ReviewAnswer>(
        "review",
        "review",
        "List pairs of memories that may contradict each other",
        || named_repo_parameters(ReviewRequest::parameters()),
        |given| Ok(ReviewRequest::from_http(given)?.into()),
    )
    .expensive(),
    read::<reply::StaleEverywhere>(
        "stale",
        "stale",
        "List memories that the files or git of a work tree contradict, in each work tree that an \
         agent came from",
        || named_repo_parameters(StaleRequest::parameters()),
        |given| Ok(StaleRequest::from_http(given)?.into()),
    )
    .for_admins()
    .expensive()
    .with_tool(VerbTool {
        name: tool::STALE,
        title: "Stale memories",
        when: tool::STALE_WHEN,
        set: ToolSet::Full,
        place: 9,
        parameters: StaleRequest::parameters,
        request: |given| Ok(StaleRequest::from_tool(given)?.into()),
    }),
    Verb {
        in_path: Some(("topic", "topic")),
        ..read::<reply::AnalysisAnswer>(
            "analyze/{topic}",
            "analyze",
            "Analyze the whole memory",
            AnalyzeRequest::parameters,
            |given| Ok(AnalyzeRequest::from_http(given)?.into()),
        )
        .expensive()
    }
    .with_tool(VerbTool {
        name: tool::ANALYZE,
        title: "Analyze memory",
        when: tool::ANALYZE_WHEN,
        set: ToolSet::Full,
        place: 10,
        parameters: AnalyzeRequest::parameters,
        request: |given| Ok(AnalyzeRequest::from_tool(given)?.into()),
    }),
    read::<reply::AnalysisAnswer>(
        "graph/stats",
        "graphStats",
        "Count the links of each kind, and list the memories with the most",
        || named_parameters(&AnalyzeRequest::parameters(), &["repo", "limit", "max_tokens"]),
        |mut given| {
            given.insert("topic".to_owned(), Topic::Stats.as_str().into());
            Ok(AnalyzeRequest::from_http(given)?.into())
        },
    )
    .expensive(),
    read::<reply::ExportAnswer>(
        "export",
        "export",
        "Show the lines that the command export would write into an agent file",
        || named_repo_parameters(ExportRequest::parameters()),
        |given| Ok(Listing::Export(ExportRequest::from_http(given)?).into()),
    )
    .expensive(),
    read::<reply::PatternsAnswer>(
        "patterns",
        "patterns",
        "List lessons that several repositories learned independently",
        || named_parameters(&PatternsArguments::parameters(), &["limit", "max_tokens"]),
        patterns_request,
    )
    .expensive(),
    Verb {
        kind: VerbKind::Make,
        in_path: Some(("pattern", "accept")),
        ..read::<reply::SavedPattern>(
            "patterns/{pattern}/accept",
            "acceptPattern",
            "Save a pattern as a memory",
            || named_parameters(&PatternsArguments::parameters(), &["accept", "only_here"]),
            accepted_pattern,
        )
        .expensive()
    },
    read::<reply::SessionsAnswer>(
        "sessions",
        "searchSessions",
        "Search past sessions of other tools; without a query, list the newest",
        session_parameters,
        sessions_request,
    )
    .expensive()
    .for_admins()
    .with_tool(VerbTool {
        name: tool::SESSIONS,
        title: "Search past sessions",
        when: tool::SESSIONS_WHEN,
        set: ToolSet::Usual,
        place: 6,
        parameters: SessionSearchRequest::parameters,
        request: |given| Ok(SessionSearchRequest::from_tool(given)?.into()),
    }),
    Verb {
        in_path: ID,
        ..read::<reply::SessionExchangesAnswer>(
            "sessions/{id}",
            "session",
            "Show exchanges of a past session",
            || named_parameters(&SessionSearchRequest::parameters(), &["ids", "max_tokens"]),
            |given| Ok(SessionSearchRequest::from_http(given)?.into()),
        )
        .for_admins()
    }
    .answered(session_or_unknown),
    read::<reply::TimelineAnswer>(
        "timeline",
        "timeline",
        "Count the events of each day, the oldest first",
        TimelineRequest::parameters,
        |given| Ok(LogEventsRequest::Timeline(TimelineRequest::from_http(given)?).into()),
    ),
    read::<reply::AuditAnswer>(
        "audit",
        "audit",
        "List the events of all memories page by page, the newest first",
        AuditRequest::parameters,
        |given| Ok(LogEventsRequest::Audit(AuditRequest::from_http(given)?).into()),
    ),
    read::<reply::DoctorAnswer>(
        "doctor",
        "doctor",
        "Check everything around the logs, without changing anything",
        Vec::new,
        |_| Ok(Request::Doctor),
    )
    .expensive()
    .for_admins(),
    read::<reply::StatusAnswer>(
        "status",
        "status",
        "Show the state of store, indexes and model",
        Vec::new,
        |_| Ok(Request::Status),
    ),
    read::<reply::InjectedAnswer>(
        "injected",
        "injected",
        "List what hooks and tools showed agents, the newest first",
        InjectedRequest::parameters,
        |given| Ok(Listing::Injected(Box::new(InjectedRequest::from_http(given)?)).into()),
    )
    .for_admins(),
    read::<reply::SavingsAnswer>(
        "savings",
        "savings",
        "Count what agents were shown, beside the size of the logs",
        SavingsRequest::parameters,
        |given| Ok(Listing::Savings(SavingsRequest::from_http(given)?).into()),
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::rights::Rights;

    #[test]
    fn a_path_leads_to_one_verb() {
        let found = |path: &str, is_read: bool| {
            let fits = |one: &&Verb| {
                one.place_in(path).is_some() && (one.kind == VerbKind::Read) == is_read
            };
            VERBS.iter().filter(fits).map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(found("memories", true), ["browse"]);
        assert_eq!(found("memories", false), ["save"]);
        assert_eq!(found("memories/ab", true), ["show"]);
        assert_eq!(found("memories/ab/related", true), ["related"]);
        for path in ["", "memories/", "memories/ab/", "memories//related", "x", "search/x"] {
            assert!(found(path, true).is_empty(), "{path}");
        }
        for verb in VERBS {
            let path = verb.path.replace(['{', '}'], "");
            assert_eq!(found(&path, verb.kind == VerbKind::Read), [verb.name]);
        }
    }

    // S-TOKEN-3
    #[test]
    fn an_action_needs_the_right_to_write() {
        for verb in VERBS {
            let is_of_owner =
                ["doctor", "searchSessions", "session", "stale", "injected"].contains(&verb.name);
            let needed = match verb.kind {
                _ if is_of_owner => Rights::Admin,
                VerbKind::Read => Rights::Read,
                VerbKind::Action | VerbKind::Make => Rights::Write,
            };
            assert_eq!(verb.rights(), needed, "{}", verb.name);
        }
    }

    #[test]
    fn a_segment_fills_a_parameter_that_exists() {
        let mut names = HashSet::new();
        for verb in VERBS {
            assert!(names.insert(verb.name), "{}", verb.name);
            let segment = verb.in_path.map(|(segment, _)| format!("{{{segment}}}"));
            let in_braces = verb.path.split('/').find(|part| part.starts_with('{'));
            assert_eq!(segment.as_deref(), in_braces, "{}", verb.path);
            let Some((_, field)) = verb.in_path else { continue };
            let parameters = (verb.parameters)();
            assert!(parameters.iter().any(|one| one.name == field), "{field}");
        }
    }
}
