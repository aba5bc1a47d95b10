//! Whatever a client saves, changes or asks, by MCP or by REST: a text with secrets goes into every text of every tool and endpoint, as
//! the server itself describes them, so that a new one is tried too. Not here: what the client is called (`peers`), gRPC, which calls
//! the same requests.

use serde_json::{Map, Value, json};

use super::{FORMS_PER_CALL, assert_clean, joined, secret_runs};
use crate::http::client::{Server, request};
use crate::raw_client::{Client, Era};
use crate::session_secrets::SecretRuns;
use crate::world::World;
use guard::secrets::daily_forms::{PlantedSecret, one_in_each};

/// One text in so many is sent to every field: each is a call.
const TEXTS_STEP: usize = 6;

/// Streams that do not end, and codes of the page.
const WITHOUT_TEXTS: [&str; 3] = ["/api/v1/events", "/api/v1/sign-in", "/api/v1/sign-in/code"];

/// Names of memories, repositories and kinds, without which nothing is looked at.
fn usual(name: &str, id: &str) -> Option<Value> {
    Some(match name {
        "ids" => json!([id]),
        "id" | "superseded_by" | "other" | "source" | "target" | "memory" => json!(id),
        "repo" => json!("github.com/acme/api"),
        "verdict" => json!("worked"),
        "relation" => json!("related_to"),
        "lesson" | "query" | "task" => json!("bind port 0 in the tests"),
        "event_type" => json!("fact"),
        _ => return None,
    })
}

/// The texts that a description has, each with its schema.
fn texts_of(properties: &Value) -> Vec<(String, bool)> {
    let properties = properties.as_object().cloned().unwrap_or_default();
    let is_text = |schema: &Value| schema["type"] == "string" && schema["enum"].is_null();
    let texts = properties.into_iter().filter_map(|(name, schema)| {
        let is_list = schema["type"] == "array" && is_text(&schema["items"]);
        (is_text(&schema) || is_list).then_some((name, is_list))
    });
    texts.collect()
}

/// Arguments with the text in one field or in all of them, and what is usual in the others.
fn arguments(names: &[(String, bool)], text: &str, id: &str) -> Vec<Value> {
    let given = |filled: &dyn Fn(&str) -> bool| -> Value {
        let one = |(name, is_list): &(String, bool)| {
            let planted = if *is_list { json!([text]) } else { json!(text) };
            let value = if filled(name) { Some(planted) } else { usual(name, id) };
            Some((name.clone(), value?))
        };
        names.iter().filter_map(one).collect::<Map<_, _>>().into()
    };
    let all = given(&|name| !matches!(name, "id" | "ids" | "repo" | "event_type"));
    names.iter().map(|(one, _)| given(&|name| name == one)).chain([all]).collect()
}

fn texts(planted: &[PlantedSecret]) -> Vec<String> {
    let chunks: Vec<&[PlantedSecret]> = planted.chunks(FORMS_PER_CALL).collect();
    let alone = planted.iter().step_by(40).map(|one| one.text.clone());
    chunks.into_iter().step_by(TEXTS_STEP).map(joined).chain(alone).collect()
}

fn world_with_memory() -> (World, String) {
    let world = World::sharing();
    let args = ["--repo", "github.com/acme/api", "--type", "fact", "--lesson", "bind port 0"];
    let id = world.log_memory(&args).done().trim().to_owned();
    (world, id)
}

// S-WRITE-8, S-MCP-2
// P13
#[test]
fn no_secret_that_a_tool_is_given_is_kept_or_answered() {
    let (world, id) = world_with_memory();
    let planted = one_in_each();
    let runs = SecretRuns::of(secret_runs(&planted));
    let mut client = Client::open(&world, Era::Legacy);
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let mut accepted = 0;
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let fields = texts_of(&tool["inputSchema"]["properties"]);
        assert!(!fields.is_empty(), "{name}");
        for text in texts(&planted) {
            for arguments in arguments(&fields, &text, &id) {
                let (told, is_error) = client.call(name, &arguments);
                accepted += usize::from(!is_error);
                runs.assert_none_in(name, told.as_bytes());
            }
        }
    }
    assert!(accepted > 300, "{accepted}");
    runs.assert_none_in("messages", client.leave().messages.as_bytes());
    assert!(world.all_events().len() > 100);
    assert_clean(&world, &runs);
}

/// A text as a part of an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

// S-WRITE-8, S-REST-1
// P13
#[test]
fn no_secret_that_an_endpoint_is_given_is_kept_or_answered() {
    let (world, id) = world_with_memory();
    let planted = one_in_each();
    let runs = SecretRuns::of(secret_runs(&planted));
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let send = |method: &str, path: &str, body: &str| {
        let answer = server.send(&request(method, path, &[("Host", "localhost")], body));
        runs.assert_none_in(path.split('?').next().unwrap(), answer.all().as_bytes());
        answer
    };
    let described = send("GET", "/api/v1/openapi.json", "").body;
    let described: Value = serde_json::from_str(&described).unwrap();
    let mut accepted = 0;
    for (path, methods) in described["paths"].as_object().unwrap() {
        if WITHOUT_TEXTS.contains(&path.as_str()) {
            continue;
        }
        let whole =
            path.replace("{id}", &id).replace("{topic}", "searches").replace("{pattern}", "none");
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let in_query = parameters.iter().filter(|one| one["in"] == "query");
            let named = in_query
                .map(|one| (one["name"].as_str().unwrap().to_owned(), one["schema"].clone()));
            let in_query = texts_of(&named.collect::<Map<_, _>>().into());
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let in_body = texts_of(&schema["properties"]);
            for text in texts(&planted) {
                let queries = arguments(&in_query, &text, &id);
                let bodies = arguments(&in_body, &text, &id);
                for (query, body) in
                    queries.iter().flat_map(|query| bodies.iter().map(move |body| (query, body)))
                {
                    let pairs = query.as_object().unwrap().iter().map(|(name, value)| {
                        let value = value.as_str().or_else(|| value[0].as_str()).unwrap();
                        format!("{name}={}", encoded(value))
                    });
                    let query = pairs.collect::<Vec<_>>().join("&");
                    let body = if method == "get" { String::new() } else { body.to_string() };
                    let answer = send(&method.to_uppercase(), &format!("{whole}?{query}"), &body);
                    accepted += usize::from(answer.status < 300);
                }
            }
        }
    }
    assert!(accepted > 500, "{accepted}");
    drop(server);
    assert!(world.all_events().len() > 100);
    assert_clean(&world, &runs);
}
