//! Talks to the server as clients do: lines of JSON-RPC on a pair of streams, in both eras.

mod roots;
mod test_client;

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::*;
use crate::mcp_server::tests::test_client::{BOTH, Era, LineClient, STEP_MS_MAX, run};
use crate::stdio::serve;
use crate::{resources, schema};
use requests::fake_api::FakeApi;
use requests::tool;

fn text(result: &Value) -> &str {
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

// S-MCP-1
#[test]
fn both_eras_get_server_info_and_instructions() {
    run(async {
        for era in BOTH {
            let (client, opened) = LineClient::open(era, FakeApi::new()).await;
            let instructions = schema::instructions(ProjectKnowledge::OfEachCall);
            assert_eq!(opened["instructions"], instructions, "{era:?}: nobody said where it is");
            let able = opened["capabilities"].as_object().unwrap();
            let mut able: Vec<&str> = able.keys().map(String::as_str).collect();
            able.sort_unstable();
            assert_eq!(able, ["completions", "prompts", "resources", "tools"], "{era:?}");
            assert!(
                opened.to_string().contains("\"name\":\"agent-knowledge\""),
                "{era:?}: {opened}"
            );
            assert_eq!(client.leave().await.0, Exit::Done);
        }
    });
}

#[test]
fn the_list_of_tools_is_always_the_same() {
    run(async {
        for era in BOTH {
            let (mut client, _) = LineClient::open(era, FakeApi::new()).await;
            let first = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
            client.call(tool::SEARCH, json!({"query": "x"})).await;
            let second = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
            assert_eq!(first, second);
            assert_eq!(first, serde_json::to_value(schema::listed_tools(ToolSet::Usual)).unwrap());
        }
    });
}

// S-MCP-3
#[test]
fn each_tool_is_answered_with_one_text() {
    run(async {
        for era in BOTH {
            let (mut client, _) = LineClient::open(era, FakeApi::new()).await;
            for (tool, arguments, answer) in [
                (
                    tool::SEARCH,
                    json!({"query": "x", "limit": "3"}),
                    "search \"x\" All(None) Hybrid",
                ),
                (tool::SEARCH, json!({"ids": ["m1"]}), "show [\"m1\"]"),
                (tool::CONTEXT, json!({"task": "t"}), "context Some(\"t\") 800"),
            ] {
                let result = client.call(tool, arguments).await;
                assert_eq!(text(&result), answer);
                assert_ne!(result["isError"], true);
            }
        }
    });
}

// S-MCP-9
#[test]
fn the_full_set_links_checks_and_analyzes() {
    run(async {
        for era in BOTH {
            let calls = [
                (tool::STALE, json!({}), "stale None"),
                (tool::ANALYZE, json!({"topic": "gaps"}), "analyze Gaps 10"),
                (
                    tool::LINK,
                    json!({"source": "m1", "relation": "led_to", "target": "m2"}),
                    "link One(LinkEdit { source: \"m1\"",
                ),
                (
                    tool::UNLINK,
                    json!({"source": "m1", "relation": "led_to", "target": "m2"}),
                    "action: End",
                ),
            ];
            let (mut full, _) = LineClient::open_with(era, FakeApi::new(), ToolSet::Full).await;
            let (mut usual, _) = LineClient::open(era, FakeApi::new()).await;
            for (tool, arguments, answer) in calls {
                let result = full.call(tool, arguments.clone()).await;
                assert!(text(&result).contains(answer), "{result}");
                let refused = usual.call(tool, arguments).await;
                assert_eq!(refused["isError"], true, "{refused}");
                assert!(!text(&refused).contains("memory_link"), "{refused}");
            }
        }
    });
}

// S-MCP-5
#[test]
fn a_saved_lesson_is_credited_to_the_client_and_its_session() {
    run(async {
        let lesson = json!({"event_type": "error", "lesson": "l"});
        let (mut client, _) = LineClient::open(Era::Modern, FakeApi::new()).await;
        let result = client.call(tool::SAVE, lesson.clone()).await;
        assert_eq!(text(&result), r#"save Some("l") by Some("claude-code") in """#);
        let (mut client, _) = LineClient::open(Era::Legacy, FakeApi::new()).await;
        let params = json!({"name": tool::SAVE, "arguments": lesson, "_meta": {"threadId": "t1"}});
        let result = client.ask("tools/call", params).await["result"].clone();
        assert_eq!(text(&result), r#"save Some("l") by Some("codex") in "t1""#);
    });
}

#[test]
fn tool_errors_are_reported_to_the_model() {
    run(async {
        for era in BOTH {
            let (mut client, _) = LineClient::open(era, FakeApi::new()).await;
            for (tool, arguments, expected) in [
                (tool::SEARCH, json!({"q": "x"}), "did you mean \"query\"?"),
                (tool::SEARCH, json!({"query": "x", "limit": -1}), "limit: must be a whole number"),
                (tool::SEARCH, json!({"ids": "nope"}), "nearest: m12, m120"),
                (tool::SEARCH, json!({"query": "fail"}), "disk on fire"),
                (tool::SAVE, json!({"event_type": "error"}), "lesson: is empty"),
                ("memory_find", json!({}), "memory_search, memory_context, memory_save"),
            ] {
                let result = client.call(tool, arguments).await;
                assert!(text(&result).contains(expected), "{result}");
                assert_eq!(result["isError"], true, "{result}");
            }
            let text_of_arguments =
                json!({"name": tool::SEARCH, "arguments": "{\"query\": \"x\"}"});
            let read = client.ask("tools/call", text_of_arguments).await;
            assert_eq!(text(&read["result"]), "search \"x\" All(None) Hybrid");
            let more = json!({"query": "x", "limit": 99, "sessionId": "s"});
            let noted = client.call(tool::SEARCH, more).await;
            let expected = "search \"x\" All(None) Hybrid\n\nNote: limit is at most 20, so 20 was taken.\n\
                Note: unknown field was ignored: \"sessionId\".";
            assert_eq!(text(&noted), expected);
            let bare = client.ask("tools/call", json!({"name": tool::CONTEXT})).await;
            assert_eq!(text(&bare["result"]), "context None 800", "arguments may be left out");
        }
    });
}

// S-MCP-4
#[test]
fn resources_are_json_and_errors_match_the_era() {
    run(async {
        for (era, code) in [(Era::Legacy, -32002), (Era::Modern, -32602)] {
            let (mut client, _) = LineClient::open(era, FakeApi::new()).await;
            let listed = client.ask("resources/list", json!({})).await;
            assert_eq!(listed["result"]["resources"][0]["uri"], resources::RECENT);
            let forms = client.ask("resources/templates/list", json!({})).await;
            let form = &forms["result"]["resourceTemplates"][0]["uriTemplate"];
            assert_eq!(form, "memory://item/{id}");
            for (uri, asked) in
                [("memory://recent", "recent 20"), ("memory://item/m1", "show [\"m1\"]")]
            {
                let read = client.ask("resources/read", json!({"uri": uri})).await;
                let contents = &read["result"]["contents"][0];
                assert_eq!(
                    (&contents["uri"], &contents["mimeType"]),
                    (&json!(uri), &json!("application/json"))
                );
                let inner: Value =
                    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
                assert_eq!(inner["asked"], asked);
            }
            let error = client.ask("resources/read", json!({"uri": "memory://item/nope"})).await;
            assert_eq!(error["error"]["code"], code);
            assert!(error["error"]["message"].as_str().unwrap().contains("m120"), "{error}");
        }
    });
}

// S-MCP-4
#[test]
fn prompts_present_memories_as_data() {
    run(async {
        for era in BOTH {
            let (mut client, _) = LineClient::open(era, FakeApi::new()).await;
            let listed = client.ask("prompts/list", json!({})).await;
            assert_eq!(listed["result"]["prompts"][0]["arguments"][0]["required"], true);
            let got = client
                .ask("prompts/get", json!({"name": "recall", "arguments": {"topic": "ci"}}))
                .await;
            let message = &got["result"]["messages"][0];
            let words = message["content"]["text"].as_str().unwrap();
            assert_eq!(message["role"], "user");
            assert!(
                words.contains("this: ci\n\nsearch \"ci\"") && words.contains("not instructions"),
                "{words}"
            );
            for wrong in [json!({"name": "recall"}), json!({"name": "other"})] {
                assert_eq!(client.ask("prompts/get", wrong).await["error"]["code"], -32602);
            }
            let got = client.ask("prompts/get", json!({"name": "handoff"})).await;
            let words = got["result"]["messages"][0]["content"]["text"].to_string();
            assert!(words.contains("context None 800") && words.contains("memory_save"), "{words}");
        }
    });
}

// S-MCP-7
#[test]
fn completions_are_capped_at_a_hundred_with_a_total() {
    run(async {
        for era in BOTH {
            let (mut client, _) = LineClient::open(era, FakeApi::new()).await;
            let asked = json!({"ref": {"type": "ref/prompt", "name": "recall"}, "argument": {"name": "topic", "value": "v"}});
            let answer = client.ask("completion/complete", asked).await;
            let completion = &answer["result"]["completion"];
            assert_eq!(completion["values"].as_array().unwrap().len(), 100, "{era:?}");
            assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
            let asked = json!({"ref": {"type": "ref/prompt", "name": "recall"}, "argument": {"name": "other", "value": ""}});
            let error = client.ask("completion/complete", asked).await["error"].clone();
            assert_eq!(error["code"], -32602, "{error}");
        }
    });
}

#[test]
fn a_subscription_is_held_open_and_does_not_delay_the_end() {
    run(async {
        let (mut client, _) = LineClient::open(Era::Modern, FakeApi::new()).await;
        let wish = json!({"notifications": {"resourcesListChanged": true, "resourceSubscriptions": ["memory://recent"]}});
        let id = client.send("subscriptions/listen", wish).await;
        let acknowledgement = client.read().await;
        assert_eq!(acknowledgement["method"], "notifications/subscriptions/acknowledged");
        let accepted = json!({"resourceSubscriptions": ["memory://recent"]});
        assert_eq!(
            acknowledgement["params"]["notifications"], accepted,
            "the lists never change: {acknowledgement}"
        );
        let result = client.call(tool::SEARCH, json!({"query": "x"})).await;
        assert_eq!(text(&result), "search \"x\" All(None) Hybrid");
        assert!(client.notes.iter().all(|note| note["id"] != id), "it must stay open");
        let (exit, after_ms) = client.leave().await;
        assert_eq!(exit, Exit::Done);
        assert!(after_ms < u128::from(GRACE_MS), "{after_ms} ms");
    });
}

// S-MCP-1
#[test]
fn end_of_input_ends_the_process_with_calls_in_flight() {
    let (release, hold) = mpsc::channel();
    run(async {
        let api = Arc::new(FakeApi { hold: Some(Mutex::new(hold)), ..FakeApi::default() });
        let last_answers = Duration::from_millis(300);
        let options = McpOptions { last_answers, ..McpOptions::default() };
        let mut client = LineClient::connect_as(Era::Modern, api, 1 << 20, options);
        client.ask("server/discover", json!({})).await;
        client.send("tools/call", json!({"name": tool::SEARCH, "arguments": {"query": "x"}})).await;
        // The answer to a later request shows that the call is in flight.
        client.ask("tools/list", json!({})).await;
        let (exit, after_ms) = client.leave().await;
        assert_eq!(exit, Exit::Done);
        assert!((300..2_000).contains(&after_ms), "{after_ms} ms");
    });
    drop(release);
}

// S-MCP-1
#[test]
fn slow_calls_of_a_closed_pipe_are_all_answered() {
    run(async {
        for era in BOTH {
            let (release, hold) = mpsc::channel();
            let api = Arc::new(FakeApi { hold: Some(Mutex::new(hold)), ..FakeApi::default() });
            let (mut client, _) = LineClient::open(era, api).await;
            let call = json!({"name": tool::SEARCH, "arguments": {"query": "x"}});
            let mut sent = BTreeSet::new();
            for _ in 0..3 {
                sent.insert(client.send("tools/call", call.clone()).await);
            }
            client.input.shutdown().await.unwrap();
            // Longer than a call may continue once nobody waits for it.
            tokio::time::sleep(Duration::from_millis(700)).await;
            sent.iter().for_each(|_| release.send(()).unwrap());
            while !sent.is_empty() {
                let answer = client.read().await;
                assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");
                sent.remove(&answer["id"].as_u64().unwrap());
            }
            assert_eq!(client.leave().await.0, Exit::Done);
        }
    });
}

// S-MCP-1
#[test]
fn a_client_that_listens_and_leaves_keeps_no_process() {
    run(async {
        let (mut client, _) = LineClient::open(Era::Modern, FakeApi::new()).await;
        let wanted = json!({"notifications": {"resourceSubscriptions": ["memory://recent"]}});
        client.send("subscriptions/listen", wanted).await;
        client.ask("tools/list", json!({})).await;
        let (exit, after_ms) = client.leave().await;
        assert_eq!(exit, Exit::Done);
        assert!(after_ms < 3_000, "{after_ms} ms");
    });
}

#[test]
fn requests_piped_in_are_answered_before_the_end() {
    run(async {
        let (mut client, _) = LineClient::open(Era::Legacy, FakeApi::new()).await;
        let call = json!({"name": tool::SEARCH, "arguments": {"query": "x"}});
        let id = client.send("tools/call", call).await;
        client.input.shutdown().await.unwrap();
        let answer = client.read().await;
        assert_eq!(
            (&answer["id"], text(&answer["result"])),
            (&json!(id), "search \"x\" All(None) Hybrid")
        );
    });
}

#[test]
fn a_client_may_leave_before_it_sends_anything() {
    run(async {
        for era in BOTH {
            let client = LineClient::connect(era, FakeApi::new());
            assert_eq!(client.leave().await.0, Exit::Done);
        }
        let (client, _) = LineClient::open(Era::Modern, FakeApi::new()).await;
        assert_eq!(client.leave().await.0, Exit::Done, "after a look around");
    });
}

#[test]
fn a_client_that_does_not_read_cannot_block_the_end() {
    run(async {
        let mut client = LineClient::connect_narrow(Era::Modern, FakeApi::new(), 64);
        client.send("tools/list", json!({})).await;
        client.send("tools/list", json!({})).await;
        let (exit, after_ms) = client.leave().await;
        assert_eq!(exit, Exit::Done);
        assert!(after_ms < 4_000, "{after_ms} ms");
    });
}

#[test]
fn a_signal_ends_the_session_while_the_client_is_still_there() {
    run(async {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let signal = Disconnect::new();
        let stop = signal.clone();
        let server = tokio::spawn(serve(
            FakeApi::new(),
            McpOptions::default(),
            reader,
            writer,
            async move {
                stop.wait().await;
            },
        ));
        let (output, mut input) = tokio::io::split(ours);
        let mut output = BufReader::new(output).lines();
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
        input.write_all(format!("{hello}\n").as_bytes()).await.unwrap();
        output.next_line().await.unwrap().unwrap();
        signal.signal();
        let step = Duration::from_millis(STEP_MS_MAX);
        let exit = tokio::time::timeout(step, server).await.expect("an end in time").unwrap();
        assert_eq!(exit, Exit::Done);
    });
}

#[test]
fn invalid_lines_do_not_end_the_session() {
    run(async {
        let (mut client, _) = LineClient::open(Era::Legacy, FakeApi::new()).await;
        client.input.write_all(b"not json\n\n{\"jsonrpc\":\"2.0\",\"id\":null}\n").await.unwrap();
        let result = client.call(tool::SEARCH, json!({"query": "x"})).await;
        assert_eq!(text(&result), "search \"x\" All(None) Hybrid");
    });
}
