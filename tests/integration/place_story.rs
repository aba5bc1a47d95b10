//! A week of one project, told as its author lives it: no remote, a remote, another owner, another folder, work trees that come and go. At its
//! end there is one repository, and each lesson is there once. With real git and real programs. Not here: each place alone (`place`).

use std::path::Path;

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, World, run};

fn commit(world: &World, top: &Path, file: &str) {
    std::fs::write(top.join(file), file).unwrap();
    world.git(top, &["add", file]);
    world.git(top, &["commit", "--quiet", "--message", file]);
}

fn learn(world: &World, directory: &Path, lesson: &str) {
    world.log_memory_in(directory, &["--type", "decision", "--lesson", lesson]).done();
}

fn briefing(world: &World, directory: &Path) -> String {
    world.agent_knowledge_in(directory, &["context"]).done()
}

/// Returns the command that a text tells somebody to run, as the words after the program.
fn told_command(text: &str) -> Vec<String> {
    let (_, after) = text.split_once("agent-knowledge config set ").expect(text);
    let line = after.lines().next().unwrap();
    let words = line.split_whitespace().take(2).map(str::to_owned);
    ["config".to_owned(), "set".to_owned()].into_iter().chain(words).collect()
}

fn keys(world: &World) -> Vec<String> {
    let status: Value =
        serde_json::from_str(&world.agent_knowledge(&["status", "--json"]).done()).unwrap();
    status["repos"].as_object().unwrap().keys().cloned().collect()
}

// S-REPO-5, S-REPO-6
#[test]
fn a_week_of_one_project_ends_with_one_repository() {
    let world = World::new();
    let shop = world.path("shop");
    std::fs::create_dir_all(&shop).unwrap();

    // Monday: a project begins on this machine alone.
    world.git(&shop, &["init", "--quiet"]);
    commit(&world, &shop, "cart.rs");
    learn(&world, &shop, "we keep money as integer cents");

    // Tuesday: it gets a remote, and the memory is simply there.
    world.git(&shop, &["remote", "add", "origin", "git@github.com:me/shop.git"]);
    let told = briefing(&world, &shop);
    assert!(told.contains("integer cents") && !told.contains("config set"), "{told}");
    assert_eq!(keys(&world), ["github.com/me/shop"]);
    learn(&world, &shop, "the cart rounds half up");

    // Wednesday: a company takes it over. The first briefing asks once; doctor and status go on asking.
    world.git(&shop, &["remote", "set-url", "origin", "https://github.com/acme/shop"]);
    let told = briefing(&world, &shop);
    assert!(told.contains("this directory was github.com/me/shop (2 memories)"), "{told}");
    assert!(!briefing(&world, &shop).contains("this directory was"), "asked twice");
    for command in [&["doctor"][..], &["status"], &["whoami"]] {
        let ran = world.agent_knowledge_in(&shop, command);
        assert!(ran.output.contains("this directory was github.com/me/shop"), "{}", ran.output);
    }
    let join = told_command(&told);
    world.agent_knowledge(&join.iter().map(String::as_str).collect::<Vec<_>>()).done();
    let told = briefing(&world, &shop);
    assert!(told.contains("integer cents") && told.contains("half up"), "{told}");

    // Thursday: agents work in trees of their own, which are removed after each task.
    let tree = shop.join(".claude/worktrees/fix-tax");
    world.git(&shop, &["worktree", "add", "--quiet", "-b", "fix-tax", tree.to_str().unwrap()]);
    learn(&world, &tree, "tax tables come from the finance service");
    world.git(&shop, &["worktree", "remove", "--force", tree.to_str().unwrap()]);
    let said = json!({ "session_id": "s", "cwd": tree, "hook_event_name": "SessionStart", "source": "startup" });
    let mut hook = world.command(AGENT_KNOWLEDGE);
    hook.args(["hook", "--agent", "claude-code"]);
    hook.env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    let told = run(&mut hook, said.to_string().as_bytes());
    assert!(told.output.contains("integer cents"), "{}{}", told.output, told.messages);

    // Friday: the folder moves, and a subfolder is where work goes on.
    let moved = world.path("code/store");
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::rename(&shop, &moved).unwrap();
    std::fs::create_dir_all(moved.join("src/deep")).unwrap();
    let told = briefing(&world, &moved.join("src/deep"));
    for lesson in ["integer cents", "half up", "finance service"] {
        assert_eq!(told.matches(lesson).count(), 1, "{lesson}: {told}");
    }
    assert_eq!(keys(&world), ["github.com/acme/shop"]);
}

// S-REPO-5
#[test]
fn a_moved_folder_without_a_remote_is_asked_about() {
    let world = World::new();
    let (shop, boutique) = (world.path("shop"), world.path("boutique"));
    std::fs::create_dir_all(&shop).unwrap();
    world.git(&shop, &["init", "--quiet"]);
    commit(&world, &shop, "cart.rs");
    learn(&world, &shop, "the till opens at nine");
    learn(&world, &shop, "the till closes at six");
    std::fs::rename(&shop, &boutique).unwrap();
    let told = briefing(&world, &boutique);
    assert!(told.contains("in another place as shop~"), "{told}");
    let join = told_command(&told);
    world.agent_knowledge(&join.iter().map(String::as_str).collect::<Vec<_>>()).done();
    assert!(briefing(&world, &boutique).contains("opens at nine"));
}

// S-REPO-5
#[test]
fn a_fork_is_not_joined_by_itself() {
    let world = World::new();
    let shop = world.path("shop");
    std::fs::create_dir_all(&shop).unwrap();
    world.git(&shop, &["init", "--quiet"]);
    commit(&world, &shop, "cart.rs");
    world.git(&shop, &["remote", "add", "origin", "https://github.com/acme/shop"]);
    learn(&world, &shop, "only acme knows this");
    learn(&world, &shop, "and this");
    let fork = world.path("fork");
    world.git(&world.work(), &["clone", "--quiet", shop.to_str().unwrap(), fork.to_str().unwrap()]);
    world.git(&fork, &["remote", "set-url", "origin", "https://github.com/me/shop"]);
    let told = briefing(&world, &fork);
    assert!(!told.contains("only acme knows"), "{told}");
    assert!(told.contains("if it is this repository"), "{told}");
}

// S-REPO-7
#[test]
fn nothing_is_saved_for_a_home_directory_by_itself() {
    let world = World::new();
    let home = world.home();
    let ran =
        world.log_memory_in(&home, &["--type", "fact", "--lesson", "the cart listens on 4400"]);
    assert_eq!(ran.exit, Some(65), "{}", ran.messages);
    assert!(ran.messages.contains("--repo"), "{}", ran.messages);
    assert!(world.log_names().is_empty());
    let ran = world.agent_knowledge_in(&home, &["search", "cart"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.messages);
    // A client that declares the project is believed.
    let mut declared = world.command(LOG_MEMORY);
    declared.current_dir(&home).env("CLAUDE_PROJECT_DIR", world.work());
    declared.args(["--type", "fact", "--lesson", "the cart listens on 4400"]);
    run(&mut declared, b"").done();
    assert_eq!(world.log_names().len(), 1);
}
