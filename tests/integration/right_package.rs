//! The packages of a monorepo, by the real programs: which one a lesson is of, and what another one is told. Not here: which folder is
//! a package (`place`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::http::client::{Server, request};
use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World};

const LOG: &str = "github.com+acme+shop.jsonl";

/// A monorepo of two packages.
fn monorepo(world: &World) -> PathBuf {
    let top = world.home().join("code/shop");
    for (file, text) in [
        ("package.json", r#"{"workspaces":["packages/*"]}"#),
        ("packages/web/package.json", "{}"),
        ("packages/web/src/cart.ts", ""),
        ("packages/api/package.json", "{}"),
    ] {
        let path = top.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    world.git(&top, &["init", "--quiet"]);
    world.git(&top, &["remote", "add", "origin", "https://github.com/acme/shop.git"]);
    top
}

fn save(world: &World, directory: &Path, lesson: &str, more: &[&str]) {
    let args = ["--type", "decision", "--lesson", lesson];
    world.log_memory_in(directory, &[&args[..], more].concat()).done();
}

fn saved_folder(world: &World) -> Option<String> {
    world.events(LOG).pop().unwrap().folder().map(|folder| folder.to_string())
}

/// Lessons of both packages and of the whole; that of the package in question is the oldest.
fn learned(world: &World) -> PathBuf {
    let top = monorepo(world);
    let [web, api] = ["web", "api"].map(|name| top.join("packages").join(name));
    save(world, &web, "walrus tests of the pages run with vitest", &[]);
    save(world, &top, "walrus releases are cut on Monday for all parts", &[]);
    save(world, &api, "walrus tests of the routes run with jest", &[]);
    top
}

fn ids(world: &World, directory: &Path, args: &[&str]) -> Vec<Value> {
    let text = world.agent_knowledge_in(directory, &[args, &["--json"]].concat()).done();
    let answer: Value = serde_json::from_str(&text).unwrap();
    let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}"));
    memories.iter().map(|memory| memory["folder"].clone()).collect()
}

// S-PATH-5
#[test]
fn a_lesson_is_of_the_package_it_was_learned_in() {
    let world = World::new();
    let top = monorepo(&world);
    let web = top.join("packages/web");
    let folder_after = |directory: &Path, more: &[&str]| {
        save(&world, directory, &format!("lesson {more:?} {}", directory.display()), more);
        saved_folder(&world)
    };
    let is_web = Some("packages/web".to_owned());
    assert_eq!(folder_after(&web.join("src"), &[]), is_web);
    assert_eq!(folder_after(&top, &[]), None);
    assert_eq!(folder_after(&top, &["--file", "packages/web/src/cart.ts"]), is_web);
    let both = ["--file", "packages/web/src/cart.ts", "--file", "package.json"];
    assert_eq!(folder_after(&top, &both), None);
    assert_eq!(folder_after(&web, &["--folder", "../api"]), Some("packages/api".to_owned()));
    assert_eq!(folder_after(&top, &["--folder", "."]), None);
    assert_eq!(folder_after(&web, &["--folder", "../.."]), None);
    assert_eq!(
        folder_after(&web, &["--scope", "repo", "--folder", "packages/api"]),
        Some("packages/api".to_owned())
    );
    let outside = ["--type", "fact", "--lesson", "x", "--folder", "../../.."];
    let ran = world.log_memory_in(&web, &outside);
    assert!(ran.messages.contains("such as packages/web, or . for none; got"), "{}", ran.messages);
    let mut client =
        Client::open_with(Era::Modern, world.command(AGENT_KNOWLEDGE).arg("mcp").current_dir(&web));
    client.told("memory_save", &json!({ "lesson": "the otter page caches its cart" }));
    assert_eq!(saved_folder(&world), is_web);
    client.told("memory_save", &json!({ "lesson": "the otter route locks", "folder": "../api" }));
    assert_eq!(saved_folder(&world), Some("packages/api".to_owned()));
}

// S-PATH-5, S-RANK-4, S-CONTEXT-11
#[test]
fn the_package_at_hand_comes_first_and_others_are_named() {
    for world in [World::new(), World::sharing()] {
        let top = learned(&world);
        let [web, api] = ["web", "api"].map(|name| top.join("packages").join(name));
        let ask =
            |directory: &Path, args: &[&str]| world.agent_knowledge_in(directory, args).done();
        let query = ["search", "how do walrus tests run"];
        for (directory, own) in [(&web, "packages/web"), (&api, "packages/api")] {
            assert_eq!(ids(&world, directory, &query)[0], own, "{}", ask(directory, &query));
        }
        let explained = ask(&web, &["search", "how do walrus tests run", "--explain"]);
        assert!(explained.contains(", package +0."), "{explained}");
        let text = ask(&web, &query);
        assert!(text.contains("in packages/api") && !text.contains("in packages/web"), "{text}");
        let briefing = ask(&web, &["context"]);
        let at = |word: &str| briefing.find(word).unwrap_or_else(|| panic!("{word}: {briefing}"));
        assert!(at("vitest") < at("jest") && at("Monday") < at("jest"), "{briefing}");
        assert!(briefing.contains("in packages/api"), "{briefing}");
        assert!(!briefing.contains("in packages/web"), "{briefing}");
        let alone = ask(&top, &["context", "--folder", "packages/web"]);
        assert!(alone.contains("vitest") && !alone.contains("jest"), "{alone}");
        // A package that has another name now is still found.
        std::fs::rename(&api, top.join("packages/routes")).unwrap();
        assert!(ask(&web, &query).contains("jest"));
    }
}

// S-PATH-5, S-FIND-1, S-FIND-2
#[test]
fn a_folder_filters_on_every_face() {
    let world = World::sharing();
    let top = learned(&world);
    let (web, api) = (top.join("packages/web"), json!("packages/api"));
    for (directory, args) in [
        (&top, &["search", "walrus", "--folder", "packages/api"][..]),
        (&top, &["search", "walrus folder:packages/api"]),
        (&web, &["search", "walrus", "--folder", "../api"]),
        (&web, &["search", "walrus", "--folder", "packages/api/"]),
        (&top, &["list", "--folder", "packages/api"]),
    ] {
        assert_eq!(ids(&world, directory, args), std::slice::from_ref(&api), "{args:?}");
    }
    assert_eq!(ids(&world, &top, &["search", "walrus", "--folder", "packages"]).len(), 2);
    assert_eq!(ids(&world, &top, &["search", "walrus", "--folder", "."]).len(), 3);
    let mut client =
        Client::open_with(Era::Modern, world.command(AGENT_KNOWLEDGE).arg("mcp").current_dir(&web));
    let told = client.told("memory_search", &json!({ "query": "walrus", "folders": ["../api"] }));
    assert!(told.contains("jest") && !told.contains("vitest"), "{told}");
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let read = |path: &str| {
        let path = format!("/api/v1/{path}");
        server.send(&request("GET", &path, &[("Host", "localhost")], "")).body
    };
    let found = read("search?query=walrus&repo=acme/shop&folders=packages/api");
    assert!(found.contains("jest") && !found.contains("vitest"), "{found}");
    for package in ["web", "api"] {
        let found = read(&format!(
            "search?query=how+do+walrus+tests+run&repo=acme/shop&all_repos=true&folders=packages/{package}"
        ));
        let found: Value = serde_json::from_str(&found).unwrap();
        let first = &found["memories"][0];
        assert_eq!(first["folder"], format!("packages/{package}"), "{found}");
    }
}
