//! Cases about where one stands. Not here: what becomes of a repository over time (`identity`).

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{briefing, commit, hook, key_at, learn, repository, start_of_session};
use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, Ran, World, run};

const MONO: &str = "codeberg.org/nordlys/mono";

/// Runs a program in a directory that is removed before it starts; `$PWD` still names it.
fn in_removed(world: &World, gone: &Path, program: &str, args: &[&str], input: &str) -> Ran {
    std::fs::create_dir_all(gone).unwrap();
    let script = "cd \"$1\" && rmdir \"$1\" && shift && exec \"$@\"";
    let own = world.command(program);
    let mut shell = Command::new("sh");
    shell.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    shell.args(["-c", script, "sh"]).arg(gone).arg(program).args(args);
    run(&mut shell, input.as_bytes())
}

// S-HOOK-2, S-EXIT-3, S-REPO-6
#[test]
fn case_01_a_removed_directory() {
    let world = World::new();
    let shop = repository(&world, "kiosk", Some("git@gitlab.com:nordlys/kiosk.git"));
    learn(&world, &shop, "the printer speaks latin-1");
    let gone = shop.join(".claude/worktrees/quiet-owl");
    // A hook ends well and answers for the repository, whichever directory its input names.
    for (session, cwd) in [("k-1", &gone), ("k-2", &shop)] {
        let said = json!({ "hook_event_name": "SessionStart", "source": "startup", "session_id": session, "cwd": cwd });
        let args = ["hook", "--agent", "claude-code"];
        let ran = in_removed(&world, &gone, AGENT_KNOWLEDGE, &args, &said.to_string());
        assert_eq!((ran.exit, ran.messages.as_str()), (Some(0), ""), "{ran:?}");
        assert!(ran.output.contains("latin-1"), "{ran:?}");
    }
    // What needs no directory works; what needs one finds it by `$PWD`, or says why not.
    for (program, args) in [
        (AGENT_KNOWLEDGE, &["--version"][..]),
        (AGENT_KNOWLEDGE, &["--help"]),
        (AGENT_KNOWLEDGE, &["doctor"]),
        (AGENT_KNOWLEDGE, &["serve", "--stop"]),
        (AGENT_KNOWLEDGE, &["search", "printer", "--repo", "gitlab.com/nordlys/kiosk"]),
        (LOG_MEMORY, &["--version"]),
        (LOG_MEMORY, &["--repo", "nordlys/kiosk", "--type", "fact", "--lesson", "ink is dear"]),
    ] {
        let ran = in_removed(&world, &gone, program, args, "");
        assert_ne!(ran.exit, Some(74), "{args:?}: {ran:?}");
        assert!(!ran.output.is_empty() || !ran.messages.is_empty(), "{args:?} in silence");
    }
    let save = ["--type", "fact", "--lesson", "paper is 58 mm wide"];
    let lonely = world.path("nowhere/at/all");
    let refused = in_removed(&world, &lonely, LOG_MEMORY, &save, "");
    assert!(refused.exit != Some(0) && refused.messages.contains("--repo"), "{refused:?}");
    let client = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}});
    let server = in_removed(&world, &gone, AGENT_KNOWLEDGE, &["mcp"], &format!("{client}\n"));
    assert!(server.output.contains("serverInfo"), "{server:?}");
    // A folder that was made again is the same place.
    std::fs::create_dir_all(&gone).unwrap();
    let script = "cd \"$1\" && rmdir \"$1\" && mkdir \"$1\" && shift && exec \"$@\"";
    let own = world.command(LOG_MEMORY);
    let mut shell = Command::new("sh");
    shell.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.args(["-c", script, "sh"]).arg(&gone).arg(LOG_MEMORY).args(save);
    run(&mut shell, b"").done();
    assert!(briefing(&world, &shop).contains("58 mm"));
}

#[test]
fn case_10_ghosts_of_a_sandbox() {
    let world = World::new();
    let mono = repository(&world, "mono", Some("https://codeberg.org/nordlys/mono"));
    let package = mono.join("services/mail");
    std::fs::create_dir_all(&package).unwrap();
    learn(&world, &mono, "mail goes out by the relay alone");
    let ghosts = ["HEAD", "config", "hooks", "objects", "refs", "description"];
    let make = |folder: &Path| {
        std::fs::create_dir_all(folder).unwrap();
        ghosts.iter().for_each(|name| std::fs::write(folder.join(name), "").unwrap());
    };
    let remove =
        || ghosts.iter().for_each(|name| std::fs::remove_file(package.join(name)).unwrap());
    // The files come and go with each command, and the session stays where it was.
    for _ in 0..2 {
        make(&package);
        assert_eq!(key_at(&world, &package), MONO);
        learn(&world, &package, "the relay wants port 2525");
        remove();
        assert_eq!(key_at(&world, &package), MONO);
    }
    assert!(start_of_session(&world, &package).contains("relay alone"));
    // An empty `.git`, and one with the ghosts in it.
    std::fs::create_dir(package.join(".git")).unwrap();
    assert_eq!(key_at(&world, &package), MONO);
    make(&package.join(".git"));
    assert_eq!(key_at(&world, &package), MONO);
    std::fs::remove_dir_all(package.join(".git")).unwrap();
    std::fs::write(package.join(".git"), "").unwrap();
    assert_eq!(key_at(&world, &package), MONO);
    assert_eq!(world.git(&package, &["-C", "..", "rev-parse", "--show-toplevel"]), text(&mono));
    // Folders without a HEAD that git would read are none, and what git takes for a repository is one.
    std::fs::remove_file(package.join(".git")).unwrap();
    std::fs::create_dir_all(package.join("objects")).unwrap();
    std::fs::create_dir_all(package.join("refs")).unwrap();
    std::fs::write(package.join("HEAD"), "\n").unwrap();
    assert_eq!(key_at(&world, &package), MONO);
    let bare = mono.join("vendor/own.git");
    world.git(&bare, &["init", "--quiet", "--bare"]);
    assert!(key_at(&world, &bare).starts_with("own~"));
    assert_eq!(world.log_names(), ["codeberg.org+nordlys+mono.jsonl"]);
}

fn text(path: &Path) -> String {
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

// S-REPO-3
#[test]
fn case_11_a_project_without_git() {
    let world = World::new();
    // A folder above has memories.
    let notes = world.path("orchard");
    let deep = notes.join("pears/2026");
    std::fs::create_dir_all(&deep).unwrap();
    learn(&world, &notes, "the pump needs a new seal each spring");
    assert_eq!(key_at(&world, &deep), key_at(&world, &notes));
    assert!(start_of_session(&world, &deep).contains("new seal"));
    // A mark, before anything is known.
    for mark in ["AGENTS.md", "CLAUDE.md", "package.json", "pyproject.toml", "go.mod"] {
        let top = world.path(format!("marked-{}", mark.replace('.', "-")));
        let below = top.join("internal/edge");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(top.join(mark), "{}\n").unwrap();
        learn(&world, &below, "timeouts are two seconds");
        assert_eq!(key_at(&world, &below), key_at(&world, &top), "{mark}");
    }
    // A client declares it.
    let plain = world.path("plain");
    let part = plain.join("part");
    std::fs::create_dir_all(&part).unwrap();
    let mut declared = world.command(LOG_MEMORY);
    declared.current_dir(&part).env("CLAUDE_PROJECT_DIR", &plain);
    declared.args(["--type", "fact", "--lesson", "the bell rings twice"]);
    run(&mut declared, b"").done();
    assert!(briefing(&world, &plain).contains("rings twice"));
    // Jujutsu alone, its second workspace, Mercurial, Sapling: their files lead to a remote.
    let jj = world.path("jj");
    world.git(&jj.join(".jj/repo/store/git"), &["init", "--quiet", "--bare"]);
    let url = "ssh://git@codeberg.org/nordlys/boat.git";
    world.git(&jj.join(".jj/repo/store/git"), &["remote", "add", "origin", url]);
    std::fs::write(jj.join(".jj/repo/store/git_target"), "git").unwrap();
    std::fs::create_dir_all(jj.join("hull/keel")).unwrap();
    assert_eq!(key_at(&world, &jj.join("hull/keel")), "codeberg.org/nordlys/boat");
    let second = world.path("jj-second");
    std::fs::create_dir_all(second.join(".jj")).unwrap();
    std::fs::create_dir_all(second.join("mast")).unwrap();
    std::fs::write(second.join(".jj/repo"), "../../jj/.jj/repo").unwrap();
    assert_eq!(key_at(&world, &second.join("mast")), "codeberg.org/nordlys/boat");
    for (folder, settings) in [(".hg", "hgrc"), (".sl", "config")] {
        let top = world.path(format!("top{folder}"));
        std::fs::create_dir_all(top.join(folder).join("store")).unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join(folder).join("requires"), "store\n").unwrap();
        let paths = "[ui]\nverbose = no\n[paths]\ndefault = ssh://hg@hg.werk.example/crew/anchor\n";
        std::fs::write(top.join(folder).join(settings), paths).unwrap();
        assert_eq!(key_at(&world, &top.join("a/b")), "hg.werk.example/crew/anchor", "{folder}");
        assert_eq!(key_at(&world, &top), "hg.werk.example/crew/anchor", "{folder}");
    }
    let lonely = world.path("lonely-jj");
    std::fs::create_dir_all(lonely.join(".jj/repo/store")).unwrap();
    std::fs::create_dir_all(lonely.join("x/y")).unwrap();
    assert_eq!(key_at(&world, &lonely.join("x/y")), key_at(&world, &lonely));
    // Without a remote it is said which program controls it.
    let told = world.agent_knowledge_in(&lonely, &["whoami"]).done();
    assert!(told.contains("its Jujutsu repository"), "{told}");
    let lonely = world.path("lonely-hg");
    std::fs::create_dir_all(lonely.join(".hg/store")).unwrap();
    std::fs::write(lonely.join(".hg/requires"), "store\n").unwrap();
    let told = world.agent_knowledge_in(&lonely, &["whoami"]).done();
    assert!(told.contains("its Mercurial repository") && !told.contains("git directory"), "{told}");
    // Two projects side by side stay two.
    assert_ne!(key_at(&world, &notes), key_at(&world, &plain));
}

#[test]
fn case_18_a_work_tree_without_its_repository() {
    let world = World::new();
    let main = repository(&world, "harbour", None);
    let tree = world.path("trees/tug");
    world.git(&main, &["worktree", "add", "--quiet", "-b", "tug", &tree.display().to_string()]);
    let key = key_at(&world, &main);
    assert_eq!(key_at(&world, &tree), key);
    learn(&world, &main, "tugs come at high tide");
    // The container has the work tree only.
    std::fs::rename(&main, world.path("not-mounted")).unwrap();
    std::fs::create_dir_all(tree.join("bridge")).unwrap();
    for place in [&tree, &tree.join("bridge")] {
        assert_eq!(key_at(&world, place), key);
    }
    assert!(start_of_session(&world, &tree).contains("high tide"));
    learn(&world, &tree, "the tug is called Elbe");
    std::fs::rename(world.path("not-mounted"), &main).unwrap();
    commit(&world, &main, "log.md", "day one\n");
    let told =
        hook(&world, &main, json!({ "hook_event_name": "SessionStart", "source": "startup" }));
    assert!(told.contains("called Elbe"), "{told}");
}
