//! Tests of reading requests: the forms that models send are understood, and every problem is reported.

use serde_json::{Map, Value, json};

use super::bounds::{IDS_MAX, LIMIT_DEFAULT, QUERY_BYTES_MAX, TOKENS_MAX, TOKENS_MIN};
use super::context::ContextRequest;
use super::define::ApiRequest;
use super::listing::{RecentArguments, ShowArguments};
use super::prompts::{CompleteRequest, RecallArguments};
use super::search::{SearchRequest, SearchScope};
use super::verbs::VERBS;
use super::{file_search, save};
use crate::{CompletionSlot, Explain, Flagged, TimePoint};
use event::limits::ID_BYTES_MAX;

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

fn searched(value: Value) -> SearchRequest {
    SearchRequest::from_tool(object(value)).unwrap()
}

fn recalled(value: Value) -> SearchRequest {
    RecallArguments::from_tool(object(value)).unwrap().into()
}

fn refused(value: Value) -> String {
    SearchRequest::from_tool(object(value)).unwrap_err().to_string()
}

#[test]
fn a_bare_query_gets_the_defaults() {
    let request = searched(json!({"query": " npm EACCES "}));
    assert_eq!(request.query, "npm EACCES");
    assert_eq!((request.limit, request.max_tokens), (5, 500));
    assert_eq!((request.scope, request.explain), (SearchScope::All(None), Explain::Silent));
}

// S-MCP-2
#[test]
fn the_forms_that_models_send_are_understood() {
    for (limit, tokens, explain) in [
        (json!(7), json!(700), json!(true)),
        (json!("7"), json!("700"), json!("True")),
        (json!(7.0), json!("700.0"), json!(" true ")),
    ] {
        let request = searched(
            json!({"query": "x", "limit": limit, "max_tokens": tokens, "explain": explain}),
        );
        assert_eq!((request.limit, request.max_tokens), (7, 700));
        assert_eq!(request.explain, Explain::Components);
    }
    for list in [json!(["a", "b"]), json!("a, b"), json!("[\"a\",\"b\"]"), json!(["a", "", "b "])] {
        let request = searched(json!({"query": "x", "kinds": list, "tags": list, "files": list}));
        assert_eq!(request.kinds, ["a", "b"]);
        assert_eq!((request.tags, request.files.len()), (request.kinds, 2));
    }
}

// S-FIND-1
#[test]
fn time_and_agent_filters_are_read_or_refused() {
    let request =
        searched(json!({"query": "x", "agents": "codex", "since": "30d", "until": "2026-01-01"}));
    assert_eq!(request.agents, ["codex"]);
    assert_eq!(
        (request.since, request.until),
        (TimePoint::parse("30d"), TimePoint::parse("2026-01-01"))
    );
    for field in ["since", "until"] {
        let message = refused(json!({"query": "x", field: "gestern"}));
        assert!(
            message.starts_with(&format!("{field}: must be a time, a day or an age, for")),
            "{message}"
        );
        assert!(message.ends_with("got \"gestern\"") && message.contains("30d"), "{message}");
        assert!(refused(json!({"query": "x", field: 7})).contains("must be a string"));
    }
    assert!(refused(json!({"query": "x", "agent": "codex"})).contains("agents"));
}

#[test]
fn flagged_memories_are_shown_only_on_request() {
    assert_eq!(searched(json!({"query": "x"})).flagged, Flagged::HeldBack);
    let request = searched(json!({"query": "x", "include_flagged": "true"}));
    assert_eq!(request.flagged, Flagged::Included);
    assert_eq!(recalled(json!({"topic": "x"})).flagged, Flagged::HeldBack);
}

#[test]
fn null_and_empty_fields_count_as_left_out() {
    let full = json!({"query": "x", "repo": "", "all_repos": null, "kinds": [], "tags": "",
        "files": [""], "limit": null, "max_tokens": "", "ids": [], "explain": null});
    assert_eq!(searched(full), searched(json!({"query": "x"})));
}

#[test]
fn the_scope_follows_what_was_named() {
    for (given, scope) in [
        (json!({"query": "x", "all_repos": true}), SearchScope::All(None)),
        (json!({"query": "x", "all_repos": false}), SearchScope::Only(None)),
        (json!({"query": "x", "repo": "api"}), SearchScope::Only(Some("api".into()))),
        (
            json!({"query": "x", "repo": "api", "all_repos": "false"}),
            SearchScope::Only(Some("api".into())),
        ),
        (
            json!({"query": "x", "repo": "api", "all_repos": true}),
            SearchScope::All(Some("api".into())),
        ),
    ] {
        assert_eq!(searched(given).scope, scope);
    }
}

#[test]
fn ids_ask_for_whole_memories_and_need_no_query() {
    for ids in [json!(["a1", "b2"]), json!("a1,b2")] {
        assert_eq!(searched(json!({"ids": ids})).ids, ["a1", "b2"]);
        assert_eq!(searched(json!({"ids": ids, "query": "x"})).ids.len(), 2);
    }
    assert!(refused(json!({"ids": vec!["x"; IDS_MAX + 1]})).contains("at most 20"));
    assert!(refused(json!({"ids": ["x".repeat(ID_BYTES_MAX + 1)]})).contains("128 bytes"));
}

#[test]
fn a_pasted_terminal_screen_is_a_query_like_any_other() {
    let pasted = "\u{1B}[31merror\u{1B}[0m: EACCES\r\n\u{7}at x\u{202E}";
    assert_eq!(searched(json!({"query": pasted})).query, "error: EACCES\nat x");
}

#[test]
fn an_empty_query_is_refused_and_a_long_one_cut() {
    for empty in [json!({}), json!({"query": ""}), json!({"query": " \u{1B}[0m\u{200B} "})] {
        assert!(refused(empty.clone()).starts_with("query: is empty; say what"), "{empty}");
    }
    let full = "x".repeat(QUERY_BYTES_MAX);
    assert_eq!(searched(json!({"query": full})).query.len(), QUERY_BYTES_MAX);
    let long = format!("{}the end", "x é ".repeat(QUERY_BYTES_MAX));
    let cut = searched(json!({"query": long})).query;
    assert!(cut.len() <= QUERY_BYTES_MAX && cut.ends_with("the end"), "{} {cut}", cut.len());
    let noise = "   Compiling something v1.0.0\n".repeat(2_000);
    let error = "error[E0432]: unresolved import `walrus::gateway`";
    let log =
        format!("{noise}{error}\n{noise}error: could not compile `api` due to 1 previous error\n");
    let cut = searched(json!({"query": log})).query;
    assert!(cut.contains(error) && cut.len() < 1_000, "{cut}");
}

// S-MCP-2
#[test]
fn numbers_outside_their_bounds_are_refused_with_the_bounds() {
    for limit in
        [json!(0), json!(21), json!(-1), json!(2.5), json!("many"), json!([5]), json!(true)]
    {
        let message = refused(json!({"query": "x", "limit": limit}));
        assert!(
            message.starts_with("limit: must be a whole number from 1 to 20, got"),
            "{message}"
        );
    }
    for tokens in [json!(TOKENS_MIN - 1), json!(TOKENS_MAX + 1), json!({})] {
        let message = refused(json!({"query": "x", "max_tokens": tokens}));
        assert!(
            message.starts_with("max_tokens: must be a whole number from 100 to 8000"),
            "{message}"
        );
    }
}

#[test]
fn unknown_fields_are_refused_with_the_likely_one() {
    for (given, meant) in [
        ("q", "query"),
        ("quer", "query"),
        ("type", "kinds"),
        ("kind", "kinds"),
        ("tag", "tags"),
        ("file", "files"),
        ("top_k", "limit"),
        ("maxTokens", "max_tokens"),
        ("repository", "repo"),
        ("id", "ids"),
        ("all-repos", "all_repos"),
    ] {
        let mut call = object(json!({"query": "x"}));
        call.insert(given.into(), json!("y"));
        let message = SearchRequest::from_tool(call).unwrap_err().to_string();
        let expected = format!("{given}: unknown field {given:?}; did you mean {meant:?}?");
        assert_eq!(message, expected);
    }
    let message = refused(json!({"query": "x", "zzz": 1}));
    assert!(message.contains("the fields are query, repo, all_repos"), "{message}");
    let message = ContextRequest::from_tool(object(json!({"query": "x"}))).unwrap_err().to_string();
    assert!(message.contains("did you mean \"task\"?"), "{message}");
}

#[test]
fn every_problem_is_reported_at_once() {
    let message = refused(json!({"query": 5, "repo": [], "all_repos": "maybe", "kinds": {},
        "tags": [1], "files": 3, "limit": "x", "max_tokens": 1, "ids": false, "explain": 2, "include_flagged": [], "zz": 1}));
    let named: Vec<&str> = message.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(
        named,
        [
            "zz",
            "query",
            "repo",
            "all_repos",
            "kinds",
            "tags",
            "files",
            "limit",
            "max_tokens",
            "ids",
            "explain",
            "include_flagged"
        ]
    );
    assert!(message.contains("query: must be a string, got a number"), "{message}");
    assert!(message.contains("all_repos: must be true or false, got \"maybe\""), "{message}");
}

#[test]
fn messages_repeat_input_short_and_neutralised() {
    let mut call = object(json!({"query": "x"}));
    call.insert(format!("\u{1B}[31m{}", "z".repeat(5_000)), json!(1));
    let message = SearchRequest::from_tool(call).unwrap_err().to_string();
    assert!(message.len() < 300 && !message.contains('\u{1B}'), "{message}");
}

#[test]
fn a_briefing_needs_nothing() {
    let request = ContextRequest::from_tool(Map::new()).unwrap();
    assert_eq!(request, ContextRequest { max_tokens: 800, ..ContextRequest::default() });
    let request = ContextRequest::from_tool(object(
        json!({"task": "t", "files": "a.rs", "max_tokens": "900"}),
    ))
    .unwrap();
    assert_eq!((request.task.as_deref(), request.max_tokens), (Some("t"), 900));
}

#[test]
fn empty_fields_of_an_event_count_as_left_out() {
    let draft = save::draft(object(
        json!({"event_type": "error", "lesson": "l", "repo": "", "tags": "a,b",
        "command": null, "success_rate": " "}),
    ));
    assert_eq!((draft.repo, draft.success_rate, draft.tags.len()), (None, None, 2));
    let message = save::draft(object(json!({"type": "x"}))).problems.to_string();
    assert!(message.contains("did you mean \"event_type\"?"), "{message}");
}

#[test]
fn the_recall_prompt_requires_its_topic() {
    assert_eq!(recalled(json!({"topic": "ci"})).query, "ci");
    assert!(
        RecallArguments::from_tool(Map::new())
            .unwrap_err()
            .to_string()
            .starts_with("topic: is empty")
    );
    let narrow =
        recalled(json!({"topic": "ci", "kind": "error, fact", "file": "a.rs", "repo": "api"}));
    assert_eq!((narrow.kinds.len(), narrow.files.len()), (2, 1));
    assert_eq!(narrow.scope, SearchScope::Only(Some("api".to_owned())));
}

#[test]
fn completion_accepts_empty_and_refuses_too_long_input() {
    let nothing = CompleteRequest { slot: CompletionSlot::Tag, typed: String::new() };
    assert_eq!(CompleteRequest::read(CompletionSlot::Tag, "").unwrap(), nothing);
    let message =
        CompleteRequest::read(CompletionSlot::File, &"x".repeat(5_000)).unwrap_err().to_string();
    assert!(message.starts_with("argument.value: has 5000 bytes; at most 1024"), "{message}");
    assert!(file_search(" ").unwrap_err().to_string().starts_with("path: is empty"));
}

#[test]
fn the_command_line_has_the_same_bounds() {
    let recent = |limit: Value| RecentArguments::from_command(object(json!({ "limit": limit })));
    assert_eq!(recent(Value::Null).unwrap().limit, LIMIT_DEFAULT);
    assert_eq!(recent(json!("20")).unwrap().limit, 20);
    assert!(recent(json!("21")).is_err());
    let show = |ids: Value| ShowArguments::from_command(object(json!({ "ids": ids })));
    assert!(show(json!([" "])).unwrap_err().to_string().starts_with("ids: is empty"));
    assert_eq!(show(json!(["a", "b"])).unwrap().ids, ["a", "b"]);
}

#[test]
fn a_tool_refuses_what_only_the_command_line_offers() {
    let message = refused(json!({"query": "x", "mode": "lexical"}));
    assert!(message.starts_with("mode: unknown field"), "{message}");
    let command = object(json!({"query": "x", "mode": "Lexical"}));
    let request = SearchRequest::from_command(command).unwrap();
    assert_eq!(request.mode, crate::Mode::Lexical);
}

#[test]
fn a_field_is_spelled_one_way_on_the_command_line() {
    for (field, spelling) in
        [("query", "QUERY"), ("kinds", "--kind"), ("superseded_by", "--by"), ("ids", "ID")]
    {
        assert_eq!(super::spelling(field).as_deref(), Some(spelling));
    }
    assert_eq!(super::spelling("shape"), None);
}

#[test]
fn a_verb_that_needs_a_repository_takes_the_directory() {
    for verb in VERBS {
        let parameters = (verb.parameters)();
        let required = || parameters.iter().filter(|parameter| parameter.is_required);
        if !required().any(|parameter| parameter.name == "repo") {
            continue;
        }
        let others = required().filter(|parameter| parameter.name != "repo");
        let given = others.map(|parameter| (parameter.name.to_owned(), json!("x"))).collect();
        let request = (verb.request)(given).unwrap_or_else(|why| panic!("{}: {why}", verb.name));
        // An export that names no repository asks for none: the program asks for the lines of the directory.
        let is_directory_taken = request.takes_directory() || verb.name == "export";
        assert!(is_directory_taken, "say in `takes_directory` when {} takes it", verb.name);
    }
}
