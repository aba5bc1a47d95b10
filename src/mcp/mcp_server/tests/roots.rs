//! Asking clients for their roots, as far as the protocol goes. Not here: which root counts (`retriever::session_memory`).

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use super::*;
use crate::session_place::SessionPlace;

/// Remembers the roots that it learns, and takes the first for the place.
#[derive(Default)]
struct LearntRoots(Mutex<Vec<Vec<String>>>);

impl SessionPlace for LearntRoots {
    fn learn_roots(&self, roots: &[String]) {
        self.0.lock().unwrap().push(roots.to_vec());
    }

    fn directory(&self) -> Option<PathBuf> {
        self.0.lock().unwrap().last()?.first().map(PathBuf::from)
    }
}

/// Opens a session of a client with these capabilities.
async fn open(era: Era, capabilities: Value) -> (LineClient, Arc<LearntRoots>, Value) {
    let place = Arc::new(LearntRoots::default());
    let options = McpOptions { place: Some(place.clone()), ..McpOptions::default() };
    let mut client = LineClient::connect_as(era, FakeApi::new(), 1 << 20, options);
    let opened = match era {
        Era::Legacy => {
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
                "clientInfo": {"name": "c", "version": "1"}});
            let opened = client.ask("initialize", hello).await;
            client.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
            opened
        }
        Era::Modern => client.ask("server/discover", json!({})).await,
    };
    (client, place, opened["result"]["instructions"].clone())
}

async fn answer(client: &mut LineClient, roots: &[&str]) {
    let asked = client.read().await;
    assert_eq!(asked["method"], "roots/list", "{asked}");
    let roots: Vec<Value> = roots.iter().map(|uri| json!({"uri": uri, "name": "n"})).collect();
    client.write(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})).await;
}

// S-MCP-12
#[test]
fn roots_are_asked_for_and_again_when_they_change() {
    run(async {
        let (mut client, place, told) =
            open(Era::Legacy, json!({"roots": {"listChanged": true}})).await;
        assert_eq!(told, schema::INSTRUCTIONS, "where it works is not known yet");
        answer(&mut client, &["file:///srv/api", "file:///srv/web"]).await;
        client.call(tool::SEARCH, json!({"query": "x"})).await;
        let learnt = || place.0.lock().unwrap().clone();
        assert_eq!(learnt(), [["file:///srv/api", "file:///srv/web"]]);
        let changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        client.write(changed).await;
        answer(&mut client, &["file:///srv/shop"]).await;
        client.call(tool::SEARCH, json!({"query": "x"})).await;
        assert_eq!(learnt()[1..], [["file:///srv/shop"]], "and a call waits for the new ones");
        assert_eq!(client.leave().await.0, Exit::Done);
    });
}

// S-MCP-12
#[test]
fn a_client_that_never_answers_hangs_no_call() {
    run(async {
        let (mut client, place, _) = open(Era::Legacy, json!({"roots": {}})).await;
        for longest_ms in [4_000, 1_000] {
            let began = Instant::now();
            let found = client.call(tool::SEARCH, json!({"query": "x"})).await;
            assert_eq!(text(&found), "search \"x\" All(None) Hybrid");
            assert!(began.elapsed().as_millis() < longest_ms, "{:?}", began.elapsed());
        }
        assert!(client.notes.iter().any(|note| note["method"] == "roots/list"));
        assert_eq!(place.directory(), None);
        let late = client.notes.iter().find(|note| note["method"] == "roots/list").unwrap();
        let roots = json!({"roots": [{"uri": "file:///srv/late"}]});
        let id = late["id"].clone();
        client.write(json!({"jsonrpc": "2.0", "id": id, "result": roots})).await;
        while place.directory().is_none() {
            client.call(tool::SEARCH, json!({"query": "x"})).await;
        }
        assert_eq!(client.leave().await.0, Exit::Done);
    });
}

// S-MCP-12
#[test]
fn only_those_are_asked_who_offer_roots() {
    run(async {
        for (era, capabilities) in [(Era::Legacy, json!({})), (Era::Modern, json!({}))] {
            let (mut client, place, told) = open(era, capabilities).await;
            assert_eq!(told, schema::instructions(ProjectKnowledge::Unknown), "{era:?}");
            client.call(tool::SEARCH, json!({"query": "x"})).await;
            assert!(client.notes.is_empty(), "{:?}", client.notes);
            assert!(place.0.lock().unwrap().is_empty());
        }
        let (mut client, place, _) = open(Era::Legacy, json!({"roots": {}})).await;
        let asked = client.read().await;
        let error = json!({"code": -32601, "message": "Method not found"});
        client.write(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).await;
        let found = client.call(tool::SEARCH, json!({"query": "x"})).await;
        assert_eq!(text(&found), "search \"x\" All(None) Hybrid");
        assert!(place.0.lock().unwrap().is_empty(), "it offers what it does not have");
    });
}
