//! REST at `/api/v1`: every endpoint answers from the same calls as MCP, errors name the field, and an action that is sent twice
//! is done once. Not here: who may connect (`http`).

use serde_json::{Value, json};

use super::client::{HttpAnswer, Server, request};
use crate::sessions::write_session;
use crate::world::World;

fn served() -> (World, Server) {
    let world = World::sharing();
    for (context, lesson) in [
        ("cargo test hangs in CI", "tests shared one port; bind port 0 and read it back"),
        ("npm install failed with EACCES", "verify ownership before npm operations"),
    ] {
        let args =
            ["--repo", "acme/web", "--type", "error", "--context", context, "--lesson", lesson];
        world.log_memory(&args).done();
    }
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    (world, server)
}

fn asked(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> HttpAnswer {
    let headers: Vec<_> = [("Host", "localhost")].iter().chain(headers).copied().collect();
    server.send(&request(method, &format!("/api/v1/{path}"), &headers, body))
}

fn read(server: &Server, path: &str) -> Value {
    let answer = asked(server, "GET", path, &[], "");
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    assert!(answer.has("content-type", "application/json"), "{answer:?}");
    assert!(answer.has("x-content-type-options", "nosniff"), "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

fn done(server: &Server, path: &str, body: &Value) -> Value {
    let answer = asked(server, "POST", path, &[("X-Agent", "Dash Board")], &body.to_string());
    assert!(matches!(answer.status, 200 | 201), "{path}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

/// The problem of a refused request.
fn problem(answer: &HttpAnswer) -> (u16, Value) {
    assert!(answer.has("content-type", "application/problem+json"), "{answer:?}");
    let problem: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(problem["status"], answer.status, "{problem}");
    (answer.status, problem)
}

// S-REST-1
#[test]
fn rest_every_endpoint_answers() {
    let (world, server) = served();
    let saved = done(
        &server,
        "memories",
        &json!({ "event_type": "pattern", "lesson": "freeze the clock in cart tests", "repo": "acme/web" }),
    );
    let id = saved["id"].as_str().unwrap().to_owned();
    let other = read(&server, "search?query=npm+EACCES&limit=1")["memories"][0]["id"].clone();
    let other = other.as_str().unwrap().to_owned();
    for (path, word) in [
        ("search?query=port%20hangs", "bind port 0"),
        ("context?task=cart+tests&repo=acme/web", "freeze the clock"),
        ("memories?limit=2", "freeze the clock"),
        (&*format!("memories/{id}"), "freeze the clock"),
        ("review?repo=acme/web", "{"),
        ("impact?file=src/a.rs&repo=acme/web", "{"),
        ("analyze/brief", "{"),
        ("patterns", "{"),
        ("sessions?query=anything", "{"),
        ("status", "memories"),
        ("timeline", "added"),
        ("doctor", "checks"),
        ("graph/stats", "relations"),
        ("export?repo=acme/web", "left_out"),
        ("audit", "freeze the clock"),
        (&*format!("memories/{id}/history"), "freeze the clock"),
    ] {
        let body = read(&server, path).to_string();
        assert!(body.contains(word), "{path}: {body}");
    }
    done(&server, "links", &json!({ "source": id, "relation": "related_to", "target": other }));
    let related = read(&server, &format!("memories/{id}/related")).to_string();
    assert!(related.contains("verify ownership"), "{related}");
    done(&server, "links/end", &json!({ "source": id, "relation": "related_to", "target": other }));
    for (deed, body) in [
        ("feedback", json!({ "verdict": "worked" })),
        ("pin", json!({})),
        ("distinct", json!({ "other": other })),
        ("forget", json!({ "reason": "was wrong" })),
        ("restore", json!({})),
        ("supersede", json!({ "superseded_by": other })),
    ] {
        done(&server, &format!("memories/{id}/{deed}"), &body);
    }
    let agents: Vec<_> = world.all_events().iter().map(|event| event.agent_id.clone()).collect();
    let deeds = agents.iter().filter(|agent| agent.to_string().contains("dash-board")).count();
    assert_eq!(deeds, 9, "{agents:?}");
    let bytes =
        "GET /api/v1/search?query=port HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n";
    let answer = server.send(bytes.as_bytes());
    assert!(answer.body.contains("bind port 0"), "{answer:?}");
    assert!(answer.has("content-type", "text/plain; charset=utf-8"), "{answer:?}");
}

// S-REST-2
#[test]
fn rest_errors_name_field_and_remedy() {
    let (_world, server) = served();
    for (method, path, body, status, word) in [
        ("GET", "search", "", 400, "query"),
        ("GET", "search?query=a&limit=0", "", 400, "limit"),
        ("GET", "search?query=a&colour=red", "", 400, "colour"),
        ("GET", "search?query=%FF", "", 400, "UTF-8"),
        ("GET", "memories/none-such", "", 404, "none-such"),
        ("GET", "analyze/everything", "", 400, "topic"),
        ("GET", "status?x=1", "", 400, "x"),
        ("GET", "timeline?days=367", "", 400, "days"),
        ("GET", "audit?cursor=x", "", 400, "cursor"),
        ("GET", "audit?since=gestern", "", 400, "since"),
        ("GET", "memories/none-such/history", "", 404, "none-such"),
        ("GET", "patterns?accept=1&apply=true", "", 400, "accept"),
        ("GET", "memories/a/related?file=b", "", 400, "file"),
        ("POST", "memories/a/forget", r#"{"undo":true}"#, 400, "undo"),
        ("GET", "nothing", "", 404, "openapi.json"),
        ("GET", "memories/../search", "", 404, "openapi.json"),
        ("DELETE", "memories/a", "", 405, "GET"),
        ("POST", "search", "{}", 405, "GET"),
        ("POST", "memories", "{", 400, "JSON"),
        ("POST", "memories", "[]", 400, "object"),
        ("POST", "memories", r#"{"event_type":"error"}"#, 400, "lesson"),
        ("POST", "memories?lesson=a", "{}", 400, "body"),
        ("POST", "memories/a/forget", r#"{"ids":["b"]}"#, 400, "in the path"),
        ("POST", "memories/a/feedback", r#"{"verdict":"good"}"#, 400, "worked, failed"),
    ] {
        let (answered, problem) = problem(&asked(&server, method, path, &[], body));
        assert_eq!(answered, status, "{method} {path}: {problem}");
        assert!(problem.to_string().contains(word), "{method} {path}: {problem}");
    }
    let answer = asked(&server, "PUT", "memories", &[], "");
    assert!(answer.has("allow", "GET, POST"), "{answer:?}");
    let bytes = "POST /api/v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(problem(&server.send(bytes.as_bytes())).0, 415);
    for header in ["X-Agent", "Idempotency-Key"] {
        let answer = asked(&server, "POST", "memories/a/pin", &[(header, "\u{e9} \u{1}x")], "{}");
        assert!(answer.status == 400, "{header}: {answer:?}");
    }
}

// S-REST-3
#[test]
fn rest_a_repeated_deed_is_done_once() {
    let (world, server) = served();
    let body = r#"{"event_type":"fact","lesson":"the cart service owns prices","repo":"acme/web"}"#;
    let send = |key: &str, body: &str| {
        asked(&server, "POST", "memories", &[("Idempotency-Key", key)], body)
    };
    let first = send("k-1", body);
    assert_eq!(first.status, 201, "{first:?}");
    let again = send("k-1", body);
    assert_eq!((again.status, &again.body), (201, &first.body));
    let other = send("k-1", &body.replace("prices", "stock"));
    assert_eq!(problem(&other).0, 409);
    assert_eq!(send("k-2", &body.replace("prices", "stock")).status, 201);
    let lessons = world.all_events().len();
    assert_eq!(lessons, 4, "two from before and two deeds");
}

// S-REST-3
#[test]
fn rest_a_deed_on_nothing_is_tried_again() {
    let (world, server) = served();
    let send = || {
        let body = r#"{"verdict":"worked"}"#;
        asked(&server, "POST", "memories/late/feedback", &[("Idempotency-Key", "k-1")], body)
    };
    let verdicts = || {
        let events = world.all_events().into_iter();
        events.filter(|event| event.memory_id.is_some()).count()
    };
    for _ in 0..2 {
        assert_eq!(problem(&send()).0, 404);
    }
    assert_eq!(verdicts(), 0);
    let line = r#"{"id":"late","event_type":"fact","repo":"acme/web","lesson":"it came late"}"#;
    assert_eq!(world.log_memory_json(line, &[]).exit, Some(0));
    let first = send();
    assert!((200..300).contains(&first.status), "{first:?}");
    let again = send();
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(verdicts(), 1, "what was done is not done again");
}

// S-REST-1
#[test]
fn rest_needs_the_token_and_no_page() {
    let world = World::sharing();
    let server = Server::start(&world, &["--http", "127.0.0.1:0"]);
    assert_eq!(asked(&server, "GET", "status", &[], "").status, 401);
    let told: Value = serde_json::from_str(&server.said).unwrap();
    let token = std::fs::read_to_string(told["http"]["token_file"].as_str().unwrap()).unwrap();
    let shown = format!("Bearer {}", token.trim());
    let own = ("Authorization", &*shown);
    assert_eq!(asked(&server, "GET", "status", &[own], "").status, 200);
    let page = [own, ("Origin", "http://evil.example")];
    assert_eq!(asked(&server, "GET", "status", &page, "").status, 403);
}

// S-REST-4
#[test]
fn rest_describes_itself() {
    let (_world, server) = served();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(read(&server, "openapi.json") == committed, "docs/openapi.json is not what is served");
}

// S-REST-1
#[test]
fn rest_pages_go_on_where_they_ended() {
    let (world, server) = served();
    for number in 0..7 {
        let lesson = format!("lesson number {number} about caches");
        world.log_memory(&["--repo", "acme/api", "--type", "fact", "--lesson", &lesson]).done();
    }
    let ids = |page: &Value| -> Vec<String> {
        let memories = page["memories"].as_array().unwrap().iter();
        memories.map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
    };
    let whole = ids(&read(&server, "memories?limit=100"));
    assert_eq!(whole.len(), 9);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for _ in 0..5 {
        let page = read(&server, &format!("memories?limit=2{cursor}"));
        seen.extend(ids(&page));
        // What is saved meanwhile is newer than every page that follows.
        world.log_memory(&["--repo", "acme/api", "--type", "fact", "--lesson", "new"]).done();
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={}", next.replace(':', "%3A"));
    }
    assert_eq!(seen, whole);
    let of_web = read(&server, "memories?repo=acme/web&kinds=error");
    assert_eq!((ids(&of_web).len(), &of_web["next"]), (2, &Value::Null));
    let first = ids(&of_web)[0].clone();
    done(&server, &format!("memories/{first}/forget"), &json!({}));
    let counts = |state: &str| {
        read(&server, &format!("memories?repo=acme/web&state={state}"))["total"].clone()
    };
    assert_eq!(["live", "forgotten", "archived", "any"].map(counts), [1, 1, 0, 2].map(Value::from));
    let (status, wrong) = problem(&asked(&server, "GET", "memories?cursor=x", &[], ""));
    assert_eq!((status, wrong["problems"][0]["field"].as_str()), (400, Some("cursor")));
}

// S-REST-5
#[test]
fn rest_counts_events_of_every_day() {
    let (world, server) = served();
    let old = json!({ "id": "old-1", "timestamp": "2020-01-01T00:00:00Z", "repo": "acme/api", "event_type": "fact",
        "lesson": "from before" });
    world.hand_write("acme%2Fapi.jsonl", format!("{old}\n"));
    let id = read(&server, "memories?limit=1")["memories"][0]["id"].as_str().unwrap().to_owned();
    for (deed, body) in
        [("feedback", json!({ "verdict": "worked" })), ("pin", json!({})), ("forget", json!({}))]
    {
        done(&server, &format!("memories/{id}/{deed}"), &body);
    }
    let days = |query: &str| read(&server, &format!("timeline{query}"))["days"].clone();
    let counted = days("");
    let counted = counted.as_array().unwrap();
    assert_eq!(counted.len(), 30);
    let names: Vec<_> = counted.iter().map(|day| day["day"].as_str().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");
    // The test may run over midnight.
    let sum = |field: &str| counted.iter().map(|day| day[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(["added", "changed", "feedback"].map(sum), [2, 2, 1]);
    assert_eq!((&counted[0]["added"], days("?days=1").as_array().unwrap().len()), (&json!(0), 1));
    let elsewhere = days("?days=366&repo=acme/api");
    assert_eq!(elsewhere.as_array().unwrap().len(), 366);
    assert!(elsewhere.as_array().unwrap().iter().all(|day| day["added"] == 0), "{elsewhere}");
}

// S-REST-6
#[test]
fn rest_tells_who_did_what() {
    let (_world, server) = served();
    let ids = ["query=npm+EACCES", "query=port+hangs"].map(|query| {
        let found = read(&server, &format!("search?{query}&limit=1"));
        found["memories"][0]["id"].as_str().unwrap().to_owned()
    });
    let [npm, port] = ids;
    done(
        &server,
        &format!("memories/{npm}/feedback"),
        &json!({ "verdict": "failed", "note": "not on macOS" }),
    );
    done(&server, "links", &json!({ "source": npm, "relation": "depends_on", "target": port }));
    done(&server, &format!("memories/{npm}/supersede"), &json!({ "superseded_by": port }));
    let history = read(&server, &format!("memories/{npm}/history"));
    let events = history["events"].as_array().unwrap();
    let types: Vec<_> = events.iter().map(|event| event["event_type"].as_str().unwrap()).collect();
    assert_eq!(types[0], "error", "what made it comes first");
    let of_type = |kind: &str| events.iter().find(|event| event["event_type"] == kind).unwrap();
    assert_eq!(of_type("feedback")["verdict"], "failed");
    assert_eq!(of_type("feedback")["text"], "not on macOS");
    assert_eq!(of_type("feedback")["agent"], "dash-board");
    let link = &of_type("link")["link"];
    assert_eq!((&link["source"]["id"], &link["target"]["id"]), (&json!(npm), &json!(port)));
    assert_eq!(link["target"]["title"], "cargo test hangs in CI");
    assert_eq!(of_type("supersede")["other"]["id"], json!(port));
    assert_eq!((history["id"].as_str(), events.len()), (Some(&*npm), 4));

    let whole = read(&server, "audit?limit=100")["events"].clone();
    assert_eq!(whole.as_array().unwrap().len(), 5);
    let newest_first = |event: &Value| (event["at"].to_string(), event["id"].to_string());
    assert!(whole.as_array().unwrap().iter().map(newest_first).rev().is_sorted(), "{whole}");
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = read(&server, &format!("audit?limit=2{cursor}"));
        seen.extend(page["events"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={}", next.replace(':', "%3A"));
    }
    assert_eq!(Value::from(seen), whole);
    assert!(whole.as_array().unwrap().iter().all(|event| event["title"].is_string()), "{whole}");
    let count =
        |query: &str| read(&server, &format!("audit?{query}"))["events"].as_array().unwrap().len();
    assert_eq!(["agent=DASH-BOARD", "repo=acme/none", "since=1d"].map(count), [3, 0, 5]);
}

// S-REST-7
#[test]
fn rest_explains_what_was_not_found() {
    let (_world, server) = served();
    let found = read(&server, "search?query=npm+EACCES+ownership&explain=true&repo=acme/web");
    assert_eq!(found["memories"].as_array().map(Vec::len), Some(1), "{found}");
    let id = found["memories"][0]["id"].as_str().unwrap().to_owned();
    done(&server, &format!("memories/{id}/forget"), &json!({}));
    let ask = |more: &str| read(&server, &format!("search?query=npm+EACCES+ownership{more}"));
    assert!(ask("").get("near_misses").is_none());
    let explained = ask("&explain=true");
    let misses = explained["near_misses"].as_array().unwrap();
    let forgotten = misses.iter().find(|miss| miss["id"] == json!(id)).unwrap();
    assert_eq!(
        (&forgotten["lost_by"], &forgotten["why"]),
        (&json!("retracted"), &json!("It was forgotten."))
    );
    assert!(
        forgotten["score"]["total"].is_number() && forgotten["lesson"].is_string(),
        "{forgotten}"
    );
    done(&server, &format!("memories/{id}/restore"), &json!({}));
    let filtered = ask("&explain=true&kinds=decision");
    let why = filtered["near_misses"][0]["why"].as_str().unwrap();
    assert_eq!(why, "Its kind is error, which the filter by kind leaves out.");
    let bytes = "GET /api/v1/search?query=npm+EACCES+ownership&explain=true&kinds=decision HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n";
    let text = server.send(bytes.as_bytes()).body;
    assert!(text.contains("Near misses:\n- npm install failed"), "{text}");
}

// S-REST-8
#[test]
fn rest_tells_what_the_doctor_says() {
    let (world, server) = served();
    let shown = read(&server, "doctor");
    let printed: Value =
        serde_json::from_str(&world.agent_knowledge(&["doctor", "--json"]).output).unwrap();
    let checks = |report: &Value| -> Vec<(String, String)> {
        let checks = report["checks"].as_array().unwrap().iter();
        checks.map(|check| (check["check"].to_string(), check["state"].to_string())).collect()
    };
    assert_eq!(checks(&shown), checks(&printed));
    assert_eq!(shown["fine"], printed["fine"]);
    assert!(!checks(&shown).is_empty());
    let refused = asked(&server, "POST", "doctor", &[], "{}");
    assert_eq!(problem(&refused).0, 405, "it offers no deed");
}

// S-REST-9
#[test]
fn rest_counts_links_and_exports_what_is_proven() {
    let (world, server) = served();
    let ids: Vec<String> = read(&server, "memories")["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["id"].as_str().unwrap().to_owned())
        .collect();
    done(
        &server,
        "links",
        &json!({ "source": ids[0], "relation": "depends_on", "target": ids[1] }),
    );
    let stats = read(&server, "graph/stats");
    assert_eq!((&stats["links"], &stats["linked_memories"]), (&json!(1), &json!(2)), "{stats}");
    assert_eq!(stats["relations"], json!({ "depends_on": 1 }));
    assert_eq!(stats["found"].as_array().map(Vec::len), Some(2), "the hubs");
    let none = read(&server, "graph/stats?repo=acme/none");
    assert_eq!((&none["links"], &none["found"]), (&json!(0), &json!([])));
    let args = [
        "--repo",
        "acme/web",
        "--type",
        "decision",
        "--lesson",
        "prices are integers",
        "--success-rate",
        "9/9",
    ];
    world.log_memory(&args).done();
    let saved =
        read(&server, "memories?kinds=decision")["memories"][0]["id"].as_str().unwrap().to_owned();
    for agent in ["ann", "bob", "eve"] {
        let body = json!({ "verdict": "worked" }).to_string();
        let path = format!("memories/{saved}/feedback");
        assert_eq!(asked(&server, "POST", &path, &[("X-Agent", agent)], &body).status, 200);
    }
    let lines = read(&server, "export?repo=acme/web")["lines"].clone();
    assert_eq!(lines.as_array().map(Vec::len), Some(1), "{lines}");
    assert!(lines[0].as_str().unwrap().starts_with("- prices are integers (decision "), "{lines}");
    let few = asked(&server, "GET", "export?repo=acme/web&max_tokens=99", &[], "");
    assert_eq!(problem(&few).0, 400);
}

// S-REST-10
#[test]
fn rest_shows_where_a_memory_stands() {
    let (world, server) = served();
    let ids: Vec<String> = ["query=npm+EACCES", "query=port+hangs"]
        .iter()
        .map(|query| {
            let found = read(&server, &format!("search?{query}&limit=1"));
            found["memories"][0]["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let standing =
        |id: &str| read(&server, &format!("memories/{id}"))["memories"][0]["standing"].clone();
    let before = standing(&ids[0]);
    assert_eq!((&before["state"], &before["maturity"]), (&json!("live"), &json!("candidate")));
    assert_eq!(before["verdicts"], json!({ "worked": 0, "failed": 0, "stale": 0, "confirmed": 0 }));
    assert_eq!(before["written_by"]["agent"], "Tester");
    assert_eq!(before["seen_in"], json!(["acme/web"]));
    assert_eq!((&before["changed_files"], &before["links"]), (&Value::Null, &json!([])));
    done(
        &server,
        "links",
        &json!({ "source": ids[0], "relation": "touches", "target": "code:src/a.rs", "repo": "acme/web" }),
    );
    done(&server, &format!("memories/{}/feedback", ids[0]), &json!({ "verdict": "failed" }));
    done(&server, &format!("memories/{}/supersede", ids[0]), &json!({ "superseded_by": ids[1] }));
    let after = standing(&ids[0]);
    assert_eq!((&after["state"], &after["verdicts"]["failed"]), (&json!("superseded"), &json!(1)));
    assert_eq!(after["replaced_by"]["title"], "cargo test hangs in CI");
    let links = after["links"].as_array().unwrap();
    assert!(links.iter().any(|link| link["to"]["file"] == "src/a.rs"), "{after}");
    let other = standing(&ids[1]);
    assert_eq!(other["replaces"][0]["title"], "npm install failed with EACCES");
    assert_eq!(other["links"][0]["direction"], "outbound");
    let odd = json!({ "id": "odd-1", "repo": "acme/api", "event_type": "fact", "lesson": "x", "standing": "mine" });
    world.hand_write("acme%2Fapi.jsonl", format!("{odd}\n"));
    let shown = read(&server, "memories/odd-1")["memories"][0].clone();
    assert_eq!(
        (&shown["field standing"], &shown["standing"]["state"]),
        (&json!("mine"), &json!("live"))
    );
}

// S-REST-11
#[test]
fn rest_says_what_a_caller_has_already() {
    let (_world, server) = served();
    let tag_of = |answer: &HttpAnswer| answer.header("etag").unwrap().to_owned();
    let first = asked(&server, "GET", "memories?limit=1", &[], "");
    let tag = tag_of(&first);
    let again = asked(&server, "GET", "memories?limit=1", &[("If-None-Match", &tag)], "");
    assert_eq!((again.status, again.body.as_str(), tag_of(&again)), (304, "", tag.clone()));
    let listed = format!("\"x\", W/{tag}");
    let among = asked(&server, "GET", "memories?limit=1", &[("If-None-Match", &listed)], "");
    assert_eq!(among.status, 304);
    let other = asked(&server, "GET", "memories?limit=2", &[("If-None-Match", &tag)], "");
    assert_eq!(other.status, 200, "another answer has another tag");
    let id = serde_json::from_str::<Value>(&first.body).unwrap()["memories"][0]["id"].clone();
    done(&server, &format!("memories/{}/pin", id.as_str().unwrap()), &json!({}));
    let changed = asked(&server, "GET", "memories?limit=1", &[("If-None-Match", &tag)], "");
    assert_eq!(changed.status, 200);
    assert_ne!(tag_of(&changed), tag);
    let wrong = asked(&server, "GET", "memories?limit=0", &[("If-None-Match", "*")], "");
    assert_eq!(wrong.status, 400);
}

// S-REST-12
#[test]
fn rest_lists_the_newest_sessions() {
    let world = World::sharing();
    world.git(&world.work(), &["init", "-q"]);
    world.git(&world.work(), &["remote", "add", "origin", "https://github.com/acme/shop.git"]);
    let ids = ["aaaaaaaa-1111", "bbbbbbbb-2222", "cccccccc-3333"];
    for (id, day) in ids.into_iter().zip(["2026-09-10", "2026-09-12", "2026-09-11"]) {
        write_session(&world, id, day, &[]);
    }
    world.agent_knowledge(&["sessions", "import", "--yes"]).done();
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let listed = |path: &str| -> (Vec<String>, bool) {
        let page = read(&server, path);
        let ids = page["sessions"].as_array().unwrap().iter().map(|one| one["id"].as_str());
        (ids.map(|id| id.unwrap().to_owned()).collect(), page["more"] == true)
    };
    let [oldest, newest, middle] = ids.map(str::to_owned);
    let all = vec![newest.clone(), middle.clone(), oldest.clone()];
    assert_eq!(listed("sessions"), (all.clone(), false));
    assert_eq!(listed("sessions?limit=2"), (vec![newest.clone(), middle.clone()], true));
    assert_eq!(listed("sessions?limit=2&page=2"), (vec![oldest], false));
    assert_eq!(listed("sessions?since=2026-09-11"), (vec![newest, middle], false));
    assert_eq!(listed("sessions?tools=claude-code"), (all, false));
    assert_eq!(listed("sessions?tools=codex"), (vec![], false));
    let found = read(&server, "sessions?query=cart+test+flaky");
    assert!(found["sessions"][0]["session"].is_object(), "{found}");
    let (status, refused) = problem(&asked(&server, "GET", "sessions?query=cart&page=2", &[], ""));
    assert_eq!(status, 400, "{refused}");
}
