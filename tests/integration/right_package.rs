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

fn commit(world: &World, top: &Path) {
    world.git(top, &["add", "--all"]);
    world.git(top, &["commit", "--quiet", "--message", "x"]);
}

// S-PATH-6, S-RANK-4, S-FIND-1
#[test]
fn a_renamed_package_and_a_renamed_file_keep_their_lessons() {
    for (world, is_committed) in
        [(World::new(), true), (World::sharing(), true), (World::new(), false)]
    {
        let top = monorepo(&world);
        std::fs::write(top.join("packages/web/src/cart.ts"), "one\ntwo\nthree\nfour\n").unwrap();
        commit(&world, &top);
        let [web, api] = ["web", "api"].map(|name| top.join("packages").join(name));
        let file = ["--file", "src/cart.ts"];
        save(&world, &web, "walrus tests of the pages run with vitest", &file);
        save(&world, &api, "walrus tests of the routes run with jest", &["--file", "package.json"]);
        world.git(&top, &["mv", "packages/web", "packages/site"]);
        world.git(&top, &["mv", "packages/site/src/cart.ts", "packages/site/src/basket.ts"]);
        if is_committed {
            commit(&world, &top);
        }
        let site = top.join("packages/site");
        let ask =
            |directory: &Path, args: &[&str]| world.agent_knowledge_in(directory, args).done();
        let query = ["search", "how do walrus tests run"];
        let of_web = json!("packages/web");
        assert_eq!(ids(&world, &site, &query)[0], of_web, "{}", ask(&site, &query));
        let text = ask(&site, &[&query[..], &["--explain"]].concat());
        assert!(text.contains(", package +0.") && !text.contains("in packages/web"), "{text}");
        assert!(!text.contains("gone:"), "{text}");
        for folder in ["packages/web", "packages/site"] {
            for args in [
                &["search", "walrus", "--folder", folder][..],
                &["search", &format!("walrus folder:{folder}")],
                &["list", "--folder", folder],
                &["recent", "--folder", folder],
            ] {
                assert_eq!(ids(&world, &top, args), std::slice::from_ref(&of_web), "{args:?}");
            }
        }
        for named in ["packages/site/src/basket.ts", "packages/web/src/cart.ts"] {
            for args in [&["search", "walrus", "--file", named][..], &["list", "--file", named]] {
                assert_eq!(ids(&world, &top, args), std::slice::from_ref(&of_web), "{args:?}");
            }
        }
        let briefing = ask(&site, &["context", "--file", "src/basket.ts"]);
        assert!(briefing.contains("vitest") && !briefing.contains("gone:"), "{briefing}");
        let alone = ask(&top, &["context", "--folder", "packages/site"]);
        assert!(alone.contains("vitest") && !alone.contains("jest"), "{alone}");
        assert!(ask(&top, &["stale"]).starts_with("Nothing seems stale"));
    }
}

// S-PATH-5
#[cfg(unix)]
#[test]
fn a_link_to_a_package_is_that_package() {
    let world = World::new();
    let top = learned(&world);
    std::os::unix::fs::symlink("packages/web", top.join("weblink")).unwrap();
    save(&world, &top, "walrus links lead to pages", &["--folder", "weblink"]);
    assert_eq!(saved_folder(&world).as_deref(), Some("packages/web"));
    save(&world, &top.join("weblink/src"), "walrus links lead to carts", &[]);
    assert_eq!(saved_folder(&world).as_deref(), Some("packages/web"));
    for args in [
        ["search", "walrus", "--folder", "weblink"],
        ["search", "walrus", "--folder", "./weblink/"],
        ["search", "walrus", "--folder", "packages/web"],
    ] {
        assert_eq!(ids(&world, &top, &args).len(), 3, "{args:?}");
    }
}

// S-FIND-1
#[test]
fn a_folder_that_is_nowhere_is_named() {
    for world in [World::new(), World::sharing()] {
        let top = learned(&world);
        let web = top.join("packages/web");
        let said = "no folder \"packages/wbe\" is known in github.com/acme/shop; \
                    memories are of packages/api, packages/web.";
        for command in [
            &["search", "walrus"][..],
            &["list"],
            &["recent"],
            &["context"],
            &["stale"],
            &["review"],
            &["export", "--format", "jsonl", "--dry-run"],
        ] {
            let args = [command, &["--folder", "packages/wbe"]].concat();
            let ran = world.agent_knowledge_in(&top, &args);
            let told = format!("{}{}", ran.output, ran.messages);
            assert!(told.contains(said), "{args:?}: {told}");
            let args = [command, &["--folder", "../../.."]].concat();
            let ran = world.agent_knowledge_in(&web, &args);
            assert_eq!(ran.exit, Some(65), "{args:?}: {}", ran.output);
            assert!(ran.messages.contains("such as packages/web"), "{}", ran.messages);
        }
        std::fs::create_dir(top.join("docs")).unwrap();
        let quiet = world.agent_knowledge_in(&top, &["search", "walrus", "--folder", "docs"]);
        assert!(!quiet.done().contains("no folder"));
        let mut client = Client::open_with(
            Era::Modern,
            world.command(AGENT_KNOWLEDGE).arg("mcp").current_dir(&web),
        );
        for given in [
            json!({ "query": "walrus", "folders": ["packages/wbe"] }),
            json!({ "query": "walrus", "folder": "packages/wbe" }),
        ] {
            let told = client.told("memory_search", &given);
            assert!(told.contains(said) && !told.contains("vitest"), "{told}");
        }
        let told = client.told("memory_search", &json!({ "query": "walrus", "folder": "../api" }));
        assert!(told.contains("jest") && !told.contains("vitest"), "{told}");
        assert!(!told.contains("ignored"), "{told}");
    }
    let world = World::sharing();
    learned(&world);
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let path = "/api/v1/search?query=walrus&repo=acme/shop&folders=packages/wbe";
    let found = server.send(&request("GET", path, &[("Host", "localhost")], "")).body;
    assert!(found.contains("memories are of packages/api, packages/web."), "{found}");
}

// S-FIND-2
#[test]
fn a_folder_in_a_query_may_be_relative_and_have_spaces() {
    let world = World::new();
    let top = learned(&world);
    let kit = top.join("packages/ui kit");
    std::fs::create_dir_all(kit.join("my src")).unwrap();
    std::fs::write(kit.join("package.json"), "{}").unwrap();
    std::fs::write(kit.join("my src/b.ts"), "").unwrap();
    save(&world, &kit, "walrus buttons are round", &["--file", "my src/b.ts"]);
    let (api, kit) = (json!("packages/api"), json!("packages/ui kit"));
    for (directory, query, folder) in [
        ("packages/web", "walrus folder:../api", &api),
        ("packages/web", "walrus folder:../api/", &api),
        ("packages", "folder:./api walrus", &api),
        ("", "walrus folder:\"packages/ui kit\"", &kit),
        ("packages/web", "folder:\"../ui kit\" walrus", &kit),
        ("packages/ui kit", "walrus file:\"my src/b.ts\"", &kit),
    ] {
        let found = ids(&world, &top.join(directory), &["search", query]);
        assert_eq!(found, std::slice::from_ref(folder), "{query}");
    }
    let absolute = format!("walrus folder:{}", top.join("packages/api").display());
    assert_eq!(ids(&world, &top, &["search", &absolute]), [api]);
    for text in ["walrus folder:../none", "walrus folder:\"no such\""] {
        let told = world.agent_knowledge_in(&top, &["search", text, "--json"]).done();
        let told: Value = serde_json::from_str(&told).unwrap();
        let found = ["memories", "possible"].map(|list| told[list].as_array().unwrap().len());
        assert_ne!(found, [0, 0], "{text} is text: {told}");
    }
}

// S-STALE-4
#[test]
fn a_check_of_a_folder_says_of_which() {
    let world = World::new();
    let top = monorepo(&world);
    commit(&world, &top);
    let web = top.join("packages/web");
    save(&world, &web, "walrus carts are rounded", &["--file", "src/cart.ts"]);
    save(&world, &top, "walrus packages are listed", &["--file", "package.json"]);
    for (directory, args, expected) in [
        (
            &web,
            &["stale", "--folder", "."][..],
            "1 memory checked in packages/web of github.com/acme/shop.",
        ),
        (
            &top,
            &["stale", "--folder", "packages/api"],
            "0 memories checked in packages/api of github.com/acme/shop.",
        ),
        (&top, &["stale"], "2 memories checked in github.com/acme/shop."),
    ] {
        let told = world.agent_knowledge_in(directory, args).done();
        assert!(told.contains(expected), "{args:?}: {told}");
    }
}

// S-FIND-1
#[test]
fn lists_and_exports_may_be_of_a_folder() {
    let world = World::new();
    let top = learned(&world);
    let api = json!("packages/api");
    assert_eq!(ids(&world, &top, &["recent", "--folder", "packages/api"]), [api]);
    let export = ["export", "--format", "jsonl", "--folder", "packages/api"];
    let lines = world.agent_knowledge_in(&top, &export).done();
    assert!(lines.contains("jest") && lines.trim().lines().count() == 1, "{lines}");
    let review = ["review", "--folder", "packages/api"];
    assert!(world.agent_knowledge_in(&top, &review).done().starts_with("Nothing to review"));
    let block = world.agent_knowledge_in(&top, &["export", "--folder", "packages/api"]);
    assert_eq!(block.exit, Some(64), "{}", block.messages);
}

// S-PATH-5
#[test]
fn a_save_over_rest_records_its_folder() {
    let world = World::sharing();
    let top = monorepo(&world);
    let server = Server::start(&world, &["--http", "127.0.0.1:0", "--no-token"]);
    let post = |fields: Value| {
        let mut body = json!({ "event_type": "fact", "repo": "github.com/acme/shop" });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let headers = [("Host", "localhost"), ("Content-Type", "application/json")];
        let asked = request("POST", "/api/v1/memories", &headers, &body.to_string());
        let answer = server.send(&asked);
        assert_eq!(answer.status, 201, "{}", answer.body);
        saved_folder(&world)
    };
    assert_eq!(post(json!({ "lesson": "the otter page caches" })), None, "nobody stands anywhere");
    let folder = post(json!({ "lesson": "the otter route locks", "folder": "packages/api" }));
    assert_eq!(folder.as_deref(), Some("packages/api"));
    let directory = top.join("packages/web");
    let add = ["add", "the otter cart rounds", "--type", "fact", "--folder", "../api"];
    world.agent_knowledge_in(&directory, &add).done();
    assert_eq!(saved_folder(&world).as_deref(), Some("packages/api"));
    world
        .agent_knowledge_in(&directory, &["add", "the otter cart is blue", "--type", "fact"])
        .done();
    assert_eq!(saved_folder(&world).as_deref(), Some("packages/web"));
}
