//! The folders and files that a question names: under their former names, from where somebody stands, and nowhere. Not here: how git is
//! asked (`search::staleness`), the programs (`tests/integration/right_package`).

use serde_json::{Value, json};

use super::fixture_world::World;
use crate::local::Local;
use requests::browse::BrowseRequest;
use requests::listing::{
    ExportRequest, RecentArguments, RecordsRequest, ReviewRequest, StaleRequest,
};
use requests::{Api, ContextRequest, Listing, Reply, Request, SearchRequest};

fn note(id: &str, folder: &str, lesson: &str, more: &Value) -> Value {
    let mut line = json!({"id": id, "timestamp": "2026-02-01T00:00:00Z", "repo": "example.org/acme/api", "event_type": "decision",
        "source": "agent", "agent_id": "codex", "lesson": lesson, "folder": folder});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

/// A repository of two packages, each with a lesson.
fn monorepo() -> World {
    let world = World::empty();
    for (file, text) in [
        ("package.json", r#"{"workspaces":["packages/*"]}"#),
        ("packages/web/package.json", r#"{"name":"web"}"#),
        ("packages/web/src/cart.ts", "one\ntwo\nthree\nfour\n"),
        ("packages/api/package.json", r#"{"name":"api"}"#),
    ] {
        world.write_file(file, text);
    }
    world.commit();
    let cart = json!({"files": ["packages/web/src/cart.ts"], "timestamp": "2026-01-10T00:00:00Z"});
    world.write_log(&[
        note("web", "packages/web", "walrus tests of the pages run with vitest", &cart),
        note(
            "api",
            "packages/api",
            "walrus tests of the routes run with jest",
            &json!({"files": ["packages/api/package.json"]}),
        ),
    ]);
    world
}

fn ask(local: &Local, request: impl Into<Request>) -> Reply {
    local.ask(&request.into()).unwrap()
}

fn search(local: &Local, query: &str, change: impl FnOnce(&mut SearchRequest)) -> Reply {
    let mut request = SearchRequest { query: query.into(), ..SearchRequest::default() };
    change(&mut request);
    ask(local, request)
}

fn ids(reply: &Reply) -> Vec<&str> {
    let memories = reply.json["memories"].as_array().into_iter().flatten();
    memories.filter_map(|memory| memory["id"].as_str()).collect()
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

// S-PATH-6, S-RANK-4, S-FIND-1, S-FIND-2
#[test]
fn a_renamed_package_and_file_keep_their_lessons() {
    for is_committed in [true, false] {
        let world = monorepo();
        world.rename("packages/web", "packages/site");
        world.rename("packages/site/src/cart.ts", "packages/site/src/basket.ts");
        if is_committed {
            world.commit();
        }
        let site = world.agent_below("packages/site");
        let found = search(&site, "how do walrus tests run", |_| ());
        assert_eq!(ids(&found), ["web", "api"], "{}", found.text);
        assert!(!found.text.contains("in packages/web"), "{}", found.text);
        assert!(!found.text.contains("gone:"), "{}", found.text);
        for folder in ["packages/web", "packages/site"] {
            let folders = || texts(&[folder]);
            assert_eq!(ids(&search(&site, "walrus", |one| one.folders = folders())), ["web"]);
            assert_eq!(ids(&search(&site, &format!("walrus folder:{folder}"), |_| ())), ["web"]);
            let page = BrowseRequest { folders: folders(), ..<_>::default() };
            assert_eq!(ids(&ask(&site, Listing::Page(Box::new(page)))), ["web"]);
            let recent = RecentArguments { folders: folders(), ..<_>::default() };
            assert_eq!(ids(&ask(&site, Request::Recent(recent))), ["web"]);
            let folder = Some(folder.to_owned());
            let briefing = ask(&site, ContextRequest { folder, ..<_>::default() }).text;
            assert!(briefing.contains("vitest") && !briefing.contains("jest"), "{briefing}");
        }
        for file in ["packages/site/src/basket.ts", "packages/web/src/cart.ts", "src/basket.ts"] {
            let found = search(&site, "walrus", |one| one.files = texts(&[file]));
            assert_eq!(ids(&found), ["web"], "{file}");
        }
        let briefing = ask(&site, ContextRequest::default()).text;
        assert!(briefing.contains("vitest") && !briefing.contains("gone:"), "{briefing}");
    }
}

// S-PATH-6
#[test]
fn a_removed_package_is_nobody_elses() {
    let world = monorepo();
    world.rename("packages/web/src/cart.ts", "cart.ts");
    world.remove("packages/web");
    world.commit();
    let api = world.agent_below("packages/api");
    let found = search(&api, "how do walrus tests run", |_| ());
    assert_eq!(ids(&found), ["api", "web"], "{}", found.text);
    let found = search(&api, "walrus", |one| one.folders = texts(&["packages/web"]));
    assert_eq!(ids(&found), ["web"], "its lessons are still found");
}

// S-FIND-1
#[test]
fn a_folder_that_is_nowhere_is_named() {
    let world = monorepo();
    let web = world.agent_below("packages/web");
    let folders = || texts(&["packages/wbe"]);
    let expected = "no folder \"packages/wbe\" is known in example.org/acme/api; memories are of packages/api, packages/web.";
    let page = BrowseRequest { folders: folders(), ..<_>::default() };
    let folder = Some("packages/wbe".to_owned());
    let records = RecordsRequest { folders: folders(), ..<_>::default() };
    for request in [
        SearchRequest { query: "walrus".into(), folders: folders(), ..<_>::default() }.into(),
        Listing::Page(Box::new(page)).into(),
        Request::Recent(RecentArguments { folders: folders(), ..<_>::default() }),
        ContextRequest { folder, ..<_>::default() }.into(),
        StaleRequest { folders: folders(), ..<_>::default() }.into(),
        ReviewRequest { folders: folders(), ..<_>::default() }.into(),
        Listing::Export(ExportRequest { folders: folders(), ..<_>::default() }).into(),
        Listing::Records(records).into(),
    ] {
        let reply = ask(&web, request);
        let told = reply.json["notices"].to_string().replace("\\\"", "\"");
        assert!(told.contains(expected), "{told}");
        assert!(reply.text.contains(expected), "{}", reply.text);
    }
    let quiet = search(&web, "walrus", |one| one.folders = texts(&["src"]));
    assert!(!quiet.text.contains("is known"), "{}", quiet.text);
    for outside in ["../../..", "/srv/web", "~/elsewhere"] {
        let folders = texts(&[outside]);
        let request = SearchRequest { query: "walrus".into(), folders, ..<_>::default() };
        let error = web.ask(&request.into()).unwrap_err().to_string();
        assert!(error.contains("such as packages/web"), "{outside}: {error}");
    }
}

// S-FIND-2
#[test]
fn a_folder_in_a_query_may_be_relative_and_have_spaces() {
    let world = monorepo();
    world.write_file("packages/ui kit/my src/b.ts", "");
    let kit = json!({"files": ["packages/ui kit/my src/b.ts"]});
    world.write_log(&[
        note("api", "packages/api", "walrus tests of the routes run with jest", &json!({})),
        note("kit", "packages/ui kit", "walrus buttons are round", &kit),
    ]);
    for (directory, query, expected) in [
        ("packages/web", "walrus folder:../api", "api"),
        ("packages", "folder:./api/ walrus", "api"),
        ("", "walrus folder:\"packages/ui kit\"", "kit"),
        ("packages/web", "folder:\"../ui kit\" walrus", "kit"),
        ("packages/ui kit", "walrus file:\"my src/b.ts\"", "kit"),
    ] {
        let found = search(&world.agent_below(directory), query, |_| ());
        assert_eq!(ids(&found), [expected], "{query}: {}", found.text);
    }
    for text in ["walrus folder:../none", "walrus folder:\"no such\""] {
        let found = search(&world.agent_below("packages/web"), text, |_| ());
        let possible = found.json["possible"].as_array().map_or(0, Vec::len);
        assert_ne!(ids(&found).len() + possible, 0, "it is text: {text}");
    }
}
