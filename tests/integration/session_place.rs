//! Where a session of MCP works: by the roots of its client, an argument, the environment, or in nobody's project. Not here: what
//! a repository is (`repository`), the rest of the protocol (`mcp`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::raw_client::{BOTH, Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World};

const SHOP: &str = "github.com/acme/shop";
const BLOG: &str = "github.com/acme/blog";

fn repository(world: &World, name: &str) -> PathBuf {
    let top = world.home().join("code").join(name);
    std::fs::create_dir_all(&top).unwrap();
    world.git(&top, &["init", "-q"]);
    world.git(&top, &["remote", "add", "origin", &format!("git@github.com:acme/{name}.git")]);
    top
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display().to_string().replace(' ', "%20"))
}

fn server_in(world: &World, directory: &Path, args: &[&str]) -> Command {
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.current_dir(directory).arg("mcp").args(args);
    command
}

/// Saves a lesson and returns the repository that the answer names.
#[track_caller]
fn saved_for(client: &mut Client, lesson: &str) -> String {
    let text = client.told("memory_save", &json!({"lesson": lesson, "event_type": "fact"}));
    let named = text.split(" for ").nth(1).unwrap_or_else(|| panic!("{text}"));
    named.trim_end_matches('.').split(". ").next().unwrap().to_owned()
}

fn worlds() -> [World; 2] {
    [World::new(), World::sharing()]
}

// S-MCP-12
#[test]
fn roots_decide_for_a_server_that_starts_in_home() {
    for world in worlds() {
        let (shop, blog) = (repository(&world, "shop"), repository(&world, "blog"));
        let web = shop.join("packages/my web");
        std::fs::create_dir_all(&web).unwrap();
        let mut command = server_in(&world, &world.home(), &[]);
        let mut client = Client::open_with_roots(&mut command, Some(&[&uri(&web)]));
        assert_eq!(saved_for(&mut client, "the cart listens on port 4400"), SHOP);
        let briefing = client.told("memory_context", &json!({"task": "cart"}));
        assert!(briefing.starts_with(&format!("**Memory of {SHOP}**")), "{briefing}");
        assert!(briefing.contains("port 4400"), "{briefing}");
        client.change_roots(Some(&[&uri(&blog)]));
        assert_eq!(saved_for(&mut client, "the blog is built by zola"), BLOG);
        assert_eq!(client.asked_for_roots, 2);
        client.change_roots(Some(&[]));
        let (text, is_error) = client.call("memory_save", &json!({"lesson": "nowhere"}));
        assert!(is_error && text.contains("repo: is missing"), "no folder is open: {text}");
        let logs = ["github.com+acme+blog.jsonl", "github.com+acme+shop.jsonl"];
        assert_eq!(world.log_names(), logs);
    }
}

// S-MCP-12
#[test]
fn of_several_roots_the_first_project_counts() {
    let world = World::new();
    let (shop, blog) = (repository(&world, "shop"), repository(&world, "blog"));
    let plain = world.home().join("notes");
    std::fs::create_dir_all(&plain).unwrap();
    let gone = world.home().join("gone");
    let roots = [&world.home(), &gone, &plain, &shop, &blog].map(|path| uri(path));
    let odd = ["https://example.org/x", "untitled:Untitled-1", "", "undefined"];
    let all: Vec<&str> = odd.into_iter().chain(roots.iter().map(String::as_str)).collect();
    let mut command = server_in(&world, &world.home(), &[]);
    let mut client = Client::open_with_roots(&mut command, Some(&all));
    assert_eq!(saved_for(&mut client, "a"), SHOP);
    client.change_roots(Some(&[&uri(&blog), &uri(&shop)]));
    assert_eq!(saved_for(&mut client, "b"), BLOG);
}

// S-MCP-12
#[test]
fn who_never_tells_roots_is_answered_all_the_same() {
    let world = World::new();
    let shop = repository(&world, "shop");
    let mut command = server_in(&world, &shop, &[]);
    let mut client = Client::open_with_roots(&mut command, None);
    assert_eq!(saved_for(&mut client, "the cart listens on port 4400"), SHOP);
    assert_eq!(client.asked_for_roots, 1);
    assert!(client.leave().status.success());
}

// S-MCP-12
#[test]
fn an_argument_or_the_environment_names_the_folder() {
    let world = World::new();
    let (shop, blog) = (repository(&world, "shop"), repository(&world, "blog"));
    let (shop_text, shop_uri) = (shop.display().to_string(), uri(&shop));
    for era in BOTH {
        for given in [&*shop_text, &shop_uri, "~/code/shop"] {
            let mut command = server_in(&world, &world.home(), &["--directory", given]);
            let mut client = Client::open_with(era, &mut command);
            assert_eq!(saved_for(&mut client, &format!("{era:?} {given}")), SHOP);
        }
        for unreplaced in ["${workspaceFolder}", "", "undefined", "$PWD"] {
            let mut command = server_in(&world, &blog, &["--directory", unreplaced]);
            let mut client = Client::open_with(era, &mut command);
            assert_eq!(saved_for(&mut client, &format!("{era:?} {unreplaced}")), BLOG);
        }
        for name in ["CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"] {
            let mut command = server_in(&world, &world.home(), &[]);
            let mut client = Client::open_with(era, command.env(name, &shop));
            assert_eq!(saved_for(&mut client, &format!("{era:?} {name}")), SHOP);
        }
    }
    let mut command = server_in(&world, &world.home(), &["--directory", &shop_text]);
    let mut client = Client::open_with_roots(&mut command, Some(&[&uri(&blog)]));
    assert_eq!(saved_for(&mut client, "an argument comes first"), SHOP);
}

// S-MCP-13
#[test]
fn a_server_in_nobodys_project_asks_for_one() {
    let world = World::new();
    let shop = repository(&world, "shop");
    let temporary = std::env::temp_dir();
    for directory in [&world.home(), Path::new("/"), &temporary] {
        for era in BOTH {
            let mut client = Client::open_with(era, &mut server_in(&world, directory, &[]));
            let said = client.opened["instructions"].as_str().unwrap().to_owned();
            assert!(said.contains("knows no project"), "{said}");
            for tool in ["memory_save", "memory_context"] {
                let (text, is_error) = client.call(tool, &json!({"lesson": "x", "task": "x"}));
                let is_told =
                    text.contains("repo: is missing") && text.contains("github.com/acme/api");
                assert!(is_error && is_told, "{tool}: {text}");
            }
            let path = json!({"lesson": format!("{era:?} {directory:?}"), "repo": shop});
            let saved = client.told("memory_save", &path);
            assert!(saved.contains(&format!("for {SHOP}")), "{saved}");
        }
    }
    assert_eq!(world.log_names(), ["github.com+acme+shop.jsonl"], "no home~, no repo~");
    let mut known = Client::open_with(Era::Legacy, &mut server_in(&world, &shop, &[]));
    assert!(!known.opened["instructions"].to_string().contains("knows no project"));
    assert_eq!(saved_for(&mut known, "here"), SHOP);
}

/// Arguments with which each tool answers, besides `repo`. A tool that takes a repository needs a line here.
fn sample(tool: &str, id: &str) -> Value {
    match tool {
        "memory_search" => json!({"query": "cart"}),
        "memory_context" => json!({"task": "cart"}),
        "memory_save" => json!({"lesson": "the cart listens on port 4400", "event_type": "fact"}),
        "memory_related" => json!({"id": id}),
        "session_search" => json!({"query": "cart"}),
        "memory_link" => json!({"source": id, "relation": "related_to", "target": "src/cart.ts"}),
        "memory_unlink" => json!({"source": id, "relation": "related_to", "target": "src/cart.ts"}),
        "memory_stale" => json!({}),
        "memory_analyze" => json!({"topic": "gaps"}),
        other => panic!("no sample for {other}, which takes a repository"),
    }
}

// S-REPO-8
#[test]
fn every_tool_knows_the_repository_at_hand() {
    let world = World::new();
    let (shop, blog) = (repository(&world, "shop"), repository(&world, "blog"));
    let web = shop.join("packages/web");
    std::fs::create_dir_all(&web).unwrap();
    let there = world
        .log_memory_in(&shop, &["--type", "fact", "--lesson", "the cart listens on port 4400"]);
    let id = there.done().trim().to_owned();
    world.log_memory_in(&blog, &["--type", "fact", "--lesson", "the cart of the blog"]).done();
    let mut client =
        Client::open_with(Era::Modern, &mut server_in(&world, &shop, &["--tools", "full"]));
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let takes_repo = |tool: &&Value| tool["inputSchema"]["properties"].get("repo").is_some();
    let tools: Vec<String> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(takes_repo)
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(tools.len() >= 8, "{tools:?}");
    let paths = [shop.display().to_string(), web.display().to_string(), uri(&shop)];
    for tool in tools {
        let mut asked = |repo: Option<&str>| {
            let mut arguments = sample(&tool, &id);
            if let Some(repo) = repo {
                arguments["repo"] = repo.into();
            }
            client.call(&tool, &arguments)
        };
        // The first call may change something, so that the others find it done.
        asked(Some(SHOP));
        let (named, unnamed) = (asked(Some(SHOP)), asked(None));
        let words = [".", "./", "current", "this repo", "Current_Repository", "<current>"];
        for text in words.into_iter().chain(paths.iter().map(String::as_str)) {
            assert_eq!(asked(Some(text)), named, "{tool} with repo {text:?}");
        }
        for text in ["undefined", "null", "None", "", "${workspaceFolder}", "n/a"] {
            assert_eq!(asked(Some(text)), unnamed, "{tool} with repo {text:?}");
        }
    }
    let logs = ["github.com+acme+blog.jsonl", "github.com+acme+shop.jsonl"];
    assert_eq!(world.log_names(), logs, "no phantom log");
    for wrong in ["/no/such/folder", "../..", "My Project"] {
        let (text, is_error) = client.call("memory_save", &json!({"lesson": "x", "repo": wrong}));
        assert!(is_error && text.contains("repo: "), "{wrong}: {text}");
    }
    assert_eq!(world.log_names(), logs);
}

// S-REPO-8
#[test]
fn both_programs_know_the_repository_at_hand() {
    let world = World::new();
    let shop = repository(&world, "shop");
    let web = shop.join("packages/web");
    std::fs::create_dir_all(&web).unwrap();
    let shop_text = shop.display().to_string();
    for (place, repo) in
        [".", "current", "undefined", "null", &*shop_text, "../.."].iter().enumerate()
    {
        let lesson = format!("lesson {place}");
        let args = ["--repo", repo, "--type", "fact", "--lesson", &lesson];
        world.log_memory_in(&web, &args).done();
        let args =
            ["add", "--repo", repo, "--type", "fact", "--lesson", &format!("{lesson} added")];
        world.agent_knowledge_in(&web, &args).done();
    }
    assert_eq!(world.log_names(), ["github.com+acme+shop.jsonl"]);
    let from_home = ["--repo", &*shop_text, "--type", "fact", "--lesson", "from elsewhere"];
    world.log_memory_in(&world.home(), &from_home).done();
    assert_eq!(world.log_names(), ["github.com+acme+shop.jsonl"]);
    let listed = world.agent_knowledge_in(&web, &["list", "--repo", "."]).done();
    assert!(listed.contains("lesson 0") && listed.contains("from elsewhere"), "{listed}");
}
