//! The files that somebody names from a folder of a monorepo, by the real programs: what is saved, and what questions find. Not here:
//! every form of a path (`place`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::raw_client::{Client, Era};
use crate::world::{AGENT_KNOWLEDGE, World, run};

const LOG: &str = "github.com+acme+shop.jsonl";

/// A monorepo in which three files end alike.
fn monorepo(world: &World) -> PathBuf {
    let top = world.home().join("code/shop");
    for file in ["packages/web/src/cart.ts", "packages/api/src/cart.ts", "src/cart.ts", "Makefile"]
    {
        let path = top.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("// {file}\n")).unwrap();
    }
    world.git(&top, &["init", "--quiet"]);
    world.git(&top, &["remote", "add", "origin", "https://github.com/acme/shop.git"]);
    commit(world, &top);
    top
}

fn commit(world: &World, top: &Path) {
    world.git(top, &["add", "--all"]);
    world.git(top, &["commit", "--quiet", "--message", "x"]);
}

fn change(world: &World, top: &Path, file: &str) {
    std::fs::write(top.join(file), "export const changed = 1;\n").unwrap();
    commit(world, top);
}

fn saved_files(world: &World) -> Vec<String> {
    world.events(LOG).pop().unwrap().files
}

// S-PATH-1, S-PATH-4
#[test]
fn a_file_is_that_of_the_package_somebody_stands_in() {
    for world in [World::new(), World::sharing()] {
        let top = monorepo(&world);
        let web = top.join("packages/web");
        let lesson = "the web cart rounds half up";
        let args = ["--type", "fact", "--lesson", lesson, "--file", "src/cart.ts"];
        assert_eq!(world.log_memory_in(&web, &args).messages, "");
        assert_eq!(saved_files(&world), ["packages/web/src/cart.ts"]);
        let ask =
            |directory: &Path, args: &[&str]| world.agent_knowledge_in(directory, args).done();
        for other in ["src/cart.ts", "packages/api/src/cart.ts"] {
            assert!(!ask(&top, &["impact", other]).contains(lesson), "{other}");
            assert!(!ask(&top, &["search", &format!("file:{other}")]).contains(lesson), "{other}");
            assert!(!ask(&top, &["list", "--file", other]).contains(lesson), "{other}");
        }
        for (directory, named) in [
            (&top, "packages/web/src/cart.ts"),
            (&web, "src/cart.ts"),
            (&web, "../web/src/cart.ts"),
            (&web, web.join("src/cart.ts").to_str().unwrap()),
        ] {
            assert!(ask(directory, &["impact", named]).contains(lesson), "{named}");
            assert!(
                ask(directory, &["related", &format!("code:{named}")]).contains(lesson),
                "{named}"
            );
            assert!(
                ask(directory, &["search", "cart", "--file", named]).contains(lesson),
                "{named}"
            );
            assert!(ask(directory, &["list", "--file", named]).contains(lesson), "{named}");
            let context = ask(directory, &["context", "--file", named]);
            assert!(context.contains(lesson), "{context}");
        }
        change(&world, &top, "src/cart.ts");
        assert!(ask(&web, &["stale"]).starts_with("Nothing seems stale"));
        change(&world, &top, "packages/web/src/cart.ts");
        assert!(ask(&web, &["stale"]).contains("(changed: packages/web/src/cart.ts)"));
    }
}

// S-PATH-1, S-PATH-2
#[test]
fn every_way_to_save_takes_files_from_where_somebody_stands() {
    let world = World::new();
    let top = monorepo(&world);
    let web = top.join("packages/web");
    let add = [
        "add",
        "the cart is kept in the session",
        "--type",
        "fact",
        "--file",
        "../../Makefile,src/cart.ts",
    ];
    world.agent_knowledge_in(&web, &add).done();
    assert_eq!(saved_files(&world), ["Makefile", "packages/web/src/cart.ts"]);
    let absolute = top.join("src/cart.ts");
    let lesson = json!({ "event_type": "fact", "lesson": "the top cart is generated", "files": [absolute, "none.ts"] });
    let mut command = world.command(crate::world::LOG_MEMORY);
    let ran = run(command.current_dir(&web).args(["--json", "-"]), lesson.to_string().as_bytes());
    assert!(ran.output.contains("missing_files"), "{}", ran.output);
    assert_eq!(saved_files(&world), ["src/cart.ts", "none.ts"]);
    let args =
        ["--type", "fact", "--lesson", "x y z", "--file", "none.ts:4", "--file", "src/cart.ts#L2"];
    let ran = world.log_memory_in(&web, &args);
    assert!(ran.messages.contains("no such file: none.ts:4; saved as given"), "{}", ran.messages);
    assert_eq!(saved_files(&world), ["none.ts:4", "packages/web/src/cart.ts#L2"]);
    let mut client =
        Client::open_with(Era::Modern, world.command(AGENT_KNOWLEDGE).arg("mcp").current_dir(&web));
    let arguments = json!({ "event_type": "fact", "lesson": "the cart of the api wants a lock",
        "files": ["../api/src/cart.ts", "packages\\web\\src\\cart.ts", "gone.ts"] });
    let reply = client.told("memory_save", &arguments);
    assert!(reply.contains("no such file: gone.ts; saved as given"), "{reply}");
    let expected = ["packages/api/src/cart.ts", "packages/web/src/cart.ts", "gone.ts"];
    assert_eq!(saved_files(&world), expected);
}

// S-PATH-3
#[test]
fn no_path_of_a_home_is_written_or_shared() {
    let world = World::new();
    let top = monorepo(&world);
    std::fs::write(world.home().join(".npmrc"), "").unwrap();
    let npmrc = world.home().join(".npmrc");
    let args = [
        "--type",
        "fact",
        "--lesson",
        "the registry needs a scope",
        "--file",
        npmrc.to_str().unwrap(),
    ];
    assert_eq!(world.log_memory_in(&top, &args).messages, "");
    assert_eq!(saved_files(&world), ["~/.npmrc"]);
    let remote = world.path("team.git");
    world.git(&world.work(), &["init", "--quiet", "--bare", remote.to_str().unwrap()]);
    let old = json!({ "id": "old1", "timestamp": "2026-02-01T00:00:00Z", "event_type": "fact", "agent_id": "codex",
        "lesson": "an older line", "files": ["/home/ana/code/shop/src/cart.ts"] });
    let lines = world.log_lines(LOG).into_iter().chain([old.to_string().into_bytes()]);
    let text = lines.flat_map(|line| [line, b"\n".to_vec()].concat()).collect::<Vec<u8>>();
    world.hand_write(LOG, text);
    world.configure(&format!(
        "[sync]\nremote = {:?}\nshare = [\"github.com/acme/*\"]\n",
        remote.to_str().unwrap()
    ));
    let printed = world.agent_knowledge_in(&top, &["sync", "--dry-run"]).done();
    assert!(
        printed.contains("~/code/shop/src/cart.ts") && !printed.contains("/home/ana"),
        "{printed}"
    );
}

// S-HOOK-13, S-PATH-1
#[test]
fn a_session_names_its_files_from_the_top() {
    let world = World::new();
    let top = monorepo(&world);
    let web = top.join("packages/web");
    let hook = |said: Value| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command
            .args(["hook", "--agent", "claude-code"])
            .env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
        run(&mut command, said.to_string().as_bytes()).done();
    };
    hook(
        json!({ "session_id": "s1", "cwd": web, "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": { "command": "npm install" }, "error": "Exit code 1\nnpm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve" }),
    );
    for file in ["src/cart.ts".to_owned(), top.join("Makefile").display().to_string()] {
        hook(
            json!({ "session_id": "s1", "cwd": web, "hook_event_name": "PostToolUse", "tool_name": "Edit",
            "tool_input": { "file_path": file, "old_string": "a", "new_string": "b" }, "tool_response": {} }),
        );
    }
    hook(
        json!({ "session_id": "s1", "cwd": web, "hook_event_name": "SessionEnd", "reason": "other" }),
    );
    let event = world.events(LOG).pop().unwrap();
    assert_eq!(event.files, ["packages/web/src/cart.ts", "Makefile"], "{}", event.lesson);
}
