//! The official clients drive the built server: the Python client and the MCP Inspector through
//! tools, resources, prompts and errors in both eras of the protocol; Claude Code connects. Agents that `setup` or
//! a package set up connect, brief, recall at a failure and learn what fixed it.
//! Not here: the checks themselves; those are the drivers in `tests/clients`.

use std::path::Path;
use std::process::Command;

use crate::pieces;
use crate::world::{AGENT_KNOWLEDGE, World, run};

/// Runs a driver on the built server, and fails with all its lines where a check failed.
fn drive(mut driver: Command, clients: &Path, store: &Path, checks_min: usize) {
    driver.env("AGENT_KNOWLEDGE_TEST_CLIENTS", clients);
    // The store as an argument: some clients hand on no environment.
    let ran = run(driver.args([AGENT_KNOWLEDGE, "mcp", "--logs"]).arg(store), b"");
    assert_eq!(ran.exit, Some(0), "{}\n{}", ran.output, ran.messages);
    let passed = ran.output.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(passed >= checks_min, "only {passed} checks ran:\n{}\n{}", ran.output, ran.messages);
}

fn driver(name: &str) -> String {
    format!("{}/tests/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn clients_python_finds_what_it_needs_in_both_eras() {
    let Some(clients) = pieces::clients() else { return };
    let world = World::new();
    let mut python = world.command(clients.join("python/bin/python"));
    python.arg(driver("drive_python.py"));
    drive(python, &clients, &world.store(), 105);
}

#[test]
fn clients_inspector_finds_what_it_needs_in_both_eras() {
    let Some(clients) = pieces::clients() else { return };
    let world = World::new();
    drive(world.command(driver("drive_inspector.sh")), &clients, &world.store(), 18);
}

#[test]
fn clients_claude_code_is_connected() {
    let Some(clients) = pieces::clients() else { return };
    let world = World::new();
    drive(world.command(driver("drive_claude.sh")), &clients, &world.store(), 6);
}

/// Lets `drive_agents.py` try one agent, in a home of its own.
fn agent(name: &str, checks_min: usize) {
    let Some(clients) = pieces::clients() else { return };
    let world = World::new();
    let mut python = world.command(clients.join("python/bin/python"));
    python.arg(driver("drive_agents.py")).arg(name).arg(AGENT_KNOWLEDGE);
    python.env("AGENT_KNOWLEDGE_TEST_CLIENTS", &clients);
    let ran = run(&mut python, b"");
    assert_eq!(ran.exit, Some(0), "{}\n{}", ran.output, ran.messages);
    let passed = ran.output.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(passed >= checks_min, "only {passed} checks ran:\n{}", ran.output);
}

#[test]
fn clients_claude_code_is_set_up_briefed_told_and_learns() {
    agent("claude", 24);
}

#[test]
fn clients_codex_is_set_up_briefed_told_and_learns() {
    agent("codex", 25);
}

#[test]
fn clients_gemini_is_set_up_briefed_told_and_learns() {
    agent("gemini", 20);
}

#[test]
fn clients_opencode_is_set_up_briefed_told_and_learns() {
    // Its package for other systems than this is not everywhere to be had.
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        agent("opencode", 15);
    } else {
        eprintln!("skipped: OpenCode is installed on x86-64 Linux only");
    }
}

#[test]
fn clients_another_program_reads_what_setup_wrote_for_editors() {
    agent("readers", 24);
}

#[test]
fn clients_conformance_has_only_the_gaps_that_are_listed() {
    agent("conformance", 4);
}
