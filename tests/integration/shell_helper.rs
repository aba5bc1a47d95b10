//! `scripts/log_memory.sh`, the helper that agents call: takes the flags of `log-memory` and needs
//! nothing but that program. Not here: what the program does with them (`door`).
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{LOG_MEMORY, Ran, World, run};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/log_memory.sh");
const FOUNDING: [&str; 12] = [
    "--repo",
    "gptcoach2",
    "--type",
    "error",
    "--context",
    "npm install failed with EACCES",
    "--command",
    "sudo chown -R $USER . && npm ci",
    "--lesson",
    "it's \"ownership\" * first\n-x",
    "--tags",
    "npm,permissions",
];

/// A copy of the script in a checkout of its own, so that no program built here is found by chance.
fn checkout(world: &World) -> PathBuf {
    let scripts = world.path("checkout/scripts");
    std::fs::create_dir_all(&scripts).unwrap();
    let script = scripts.join("log_memory.sh");
    std::fs::copy(SCRIPT, &script).unwrap();
    script
}

fn link(program: &str, place: &Path) {
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(program, place).unwrap();
}

/// Calls the script with nothing on `PATH`: it must not need any other program.
fn call(world: &World, script: &Path, change: impl Fn(&mut Command) -> &mut Command) -> Ran {
    let mut command = world.command(script);
    command.env("PATH", world.path("bin")).args(FOUNDING);
    change(&mut command);
    run(&mut command, b"")
}

// S-WRITE-6
#[test]
fn the_program_is_found_on_the_path() {
    let world = World::new();
    link(LOG_MEMORY, &world.path("bin/log-memory"));
    let id = call(&world, &checkout(&world), |command| command).done();
    let [event] = world.events("gptcoach2.jsonl").try_into().unwrap();
    assert_eq!(id, format!("{}\n", event.id));
    assert_eq!(
        event.lesson, "it's \"ownership\" * first\n-x",
        "arguments arrive as they were given"
    );
    assert_eq!(event.command, "sudo chown -R $USER . && npm ci");
}

#[test]
fn the_program_is_found_in_the_checkout_the_script_stands_in() {
    for profile in ["debug", "release"] {
        let world = World::new();
        let script = checkout(&world);
        link(LOG_MEMORY, &world.path(format!("checkout/target/{profile}/log-memory")));
        call(&world, &script, |command| command).done();
        let folder = script.parent().unwrap();
        call(&world, Path::new("./log_memory.sh"), |command| command.current_dir(folder)).done();
        assert_eq!(world.events("gptcoach2.jsonl").len(), 2);
    }
}

#[test]
fn a_named_program_wins_and_a_wrong_name_is_said() {
    let world = World::new();
    let script = checkout(&world);
    call(&world, &script, |command| command.env("LOG_MEMORY", LOG_MEMORY)).done();
    let wrong = call(&world, &script, |command| command.env("LOG_MEMORY", world.work()));
    assert_eq!((wrong.exit, wrong.output.as_str()), (Some(69), ""));
    assert!(wrong.messages.contains("LOG_MEMORY is set to"), "{}", wrong.messages);
}

#[test]
fn without_the_program_the_remedy_is_told() {
    let world = World::new();
    let ran = call(&world, &checkout(&world), |command| command);
    assert_eq!((ran.exit, ran.output.as_str()), (Some(69), ""));
    for word in ["nothing was written", "cargo build --release", "LOG_MEMORY"] {
        assert!(ran.messages.contains(word), "no {word:?} in {}", ran.messages);
    }
    assert!(!world.store().exists());
}

#[test]
fn exit_codes_and_input_pass_through() {
    let world = World::new();
    let script = checkout(&world);
    let mut wrong = world.command(&script);
    assert_eq!(run(wrong.env("LOG_MEMORY", LOG_MEMORY).arg("--nonsense"), b"").exit, Some(64));
    let mut batch = world.command(&script);
    batch.env("LOG_MEMORY", LOG_MEMORY).args(["--json", "-"]);
    run(&mut batch, br#"{"repo":"a","event_type":"fact","lesson":"x"}"#).done();
    assert_eq!(world.events("a.jsonl").len(), 1);
}
