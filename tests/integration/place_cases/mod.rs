//! The kinds of faults that users of other memory tools reported about the place of a lesson, one test for each:
//! `scripts/test case_06` runs the sixth. With the real programs, real git,
//! and made-up homes. Not here: each place alone (`place`), and a week through many of them (`place_story`).

// Where one stands: a removed directory, ghosts of a sandbox, no version control, an unmounted main repository.
mod standing;
// Which repository it is, over time and for a team.
mod identity;
// What clients of MCP send, and where they start a server.
mod clients;
// Files of a lesson, commits as evidence, files of rules and notes.
mod files;
// Where the store lies, who may read it, and odd machines.
mod stores;
// Words that people paste and write.
mod words;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::{AGENT_KNOWLEDGE, Ran, World, run};

/// Makes a repository with one commit, and a remote where one is given.
fn repository(world: &World, name: &str, remote: Option<&str>) -> PathBuf {
    let top = world.path(name);
    world.git(&top, &["init", "--quiet"]);
    commit(world, &top, "README.md", "x\n");
    if let Some(url) = remote {
        world.git(&top, &["remote", "add", "origin", url]);
    }
    top
}

/// Writes a file of a repository and commits it.
fn commit(world: &World, top: &Path, file: &str, text: &str) {
    let path = top.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    world.git(top, &["add", "--all"]);
    world.git(top, &["commit", "--quiet", "--message", file]);
}

/// Saves a fact in a directory.
#[track_caller]
fn learn(world: &World, directory: &Path, lesson: &str) {
    world.log_memory_in(directory, &["--type", "fact", "--lesson", lesson]).done();
}

#[track_caller]
fn key_at(world: &World, directory: &Path) -> String {
    let whoami = world.agent_knowledge_in(directory, &["whoami", "--json"]).json();
    whoami["repo"].as_str().unwrap().to_owned()
}

/// All that a command says in a directory.
fn everything(world: &World, directory: &Path, args: &[&str]) -> String {
    let ran = world.agent_knowledge_in(directory, args);
    ran.output + &ran.messages
}

fn briefing(world: &World, directory: &Path) -> String {
    world.agent_knowledge_in(directory, &["context"]).done()
}

/// What a hook of Claude Code answers to an event in a directory.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "callers write the fields in place")]
fn hook(world: &World, directory: &Path, more: Value) -> String {
    let mut input = json!({ "session_id": "s-1", "cwd": directory });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.args(["hook", "--agent", "claude-code"]);
    command.env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "60000");
    // Where it is silent, it says why.
    command.env("AGENT_KNOWLEDGE_HOOKS_DEBUG", "1");
    let ran = run(&mut command, input.to_string().as_bytes());
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    ran.output + &ran.messages
}

#[track_caller]
fn start_of_session(world: &World, directory: &Path) -> String {
    hook(world, directory, json!({ "hook_event_name": "SessionStart", "source": "startup" }))
}

/// Returns the command that a text tells somebody to run, as the words after the program.
#[track_caller]
fn told_command(text: &str, beginning: &str) -> Vec<String> {
    let (_, after) = text.split_once(&format!("agent-knowledge {beginning} ")).expect(text);
    let line = after.lines().next().unwrap();
    let words = line.split_whitespace().take(2).map(str::to_owned);
    beginning.split(' ').map(str::to_owned).chain(words).collect()
}

#[track_caller]
fn follow(world: &World, directory: &Path, command: &[String]) -> Ran {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    world.agent_knowledge_in(directory, &words)
}
