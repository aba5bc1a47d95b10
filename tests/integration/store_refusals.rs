//! A store that others could have written is not trusted: refused by both programs, with the one
//! command that repairs it. Not here: a store as we make it (`local_security`).
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::world::{Ran, World, bytes_under};

const RECORD: [&str; 6] = ["--repo", "api", "--type", "fact", "--lesson", "the walrus"];

fn used_world() -> World {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "the zebra"]).done();
    world
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Everything that opens the store.
fn all_programs(world: &World) -> Vec<Ran> {
    vec![
        world.log_memory(&RECORD),
        world.agent_knowledge(&["search", "zebra"]),
        world.agent_knowledge(&["context"]),
        world.agent_knowledge(&["recent"]),
    ]
}

// S-STORE-2
#[test]
fn a_store_that_others_can_write_is_refused_with_the_fix() {
    for mode in [0o770, 0o707, 0o722, 0o777, 0o1777] {
        let world = used_world();
        let before = bytes_under(&world.store());
        chmod(&world.store(), mode);
        for ran in all_programs(&world) {
            assert!(ran.exit == Some(74) || ran.exit == Some(78), "{mode:o}: {ran:?}");
            assert!(!ran.output.contains("zebra"), "{mode:o}: {ran:?}");
            let mends = ran.messages.lines().find_map(|line| line.split_once("chmod "));
            let (_, arguments) = mends.unwrap_or_else(|| panic!("{mode:o}: {ran:?}"));
            assert!(arguments.contains(world.store().to_str().unwrap()), "{mode:o}: {ran:?}");
        }
        // What is asked for the state tells it.
        let state = world.agent_knowledge(&["status"]).done();
        assert!(state.contains("chmod ") && state.contains("memories  0"), "{mode:o}: {state}");
        assert_eq!(bytes_under(&world.store()), before, "{mode:o}: refused, and still wrote");
        // The command that is told does mend it.
        let told = world.log_memory(&RECORD).messages;
        let (_, rest) = told.split_once("chmod ").unwrap();
        let command = rest.lines().next().unwrap().trim_end_matches(['`', '\'', '"', '.', ')']);
        let mended = Command::new("sh").args(["-c", &format!("chmod {command}")]).status().unwrap();
        assert!(mended.success(), "chmod {command}");
        world.log_memory(&RECORD).done();
    }
}

// S-STORE-2
#[test]
fn a_store_that_others_can_only_read_is_used() {
    for mode in [0o700, 0o750, 0o755] {
        let world = used_world();
        chmod(&world.store(), mode);
        assert!(all_programs(&world).iter().all(|ran| ran.exit == Some(0)), "{mode:o}");
    }
}

// S-STORE-2
#[test]
fn a_hidden_folder_that_is_a_link_is_refused() {
    for hidden in [".locks", ".spool"] {
        let world = used_world();
        let folder = world.store().join(hidden);
        if folder.is_dir() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        let elsewhere = world.path("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, &folder).unwrap();
        for args in [&RECORD[..], &[&RECORD[..], &["--durable"]].concat()] {
            let ran = world.log_memory(args);
            assert!(matches!(ran.exit, Some(0 | 74)), "{hidden}: {ran:?}");
            assert!(hidden != ".locks" || ran.exit == Some(74), "{hidden}: {ran:?}");
        }
        assert_eq!(bytes_under(&elsewhere).len(), 0, "{hidden}");
    }
}

// S-STORE-2
#[test]
fn what_keeps_the_locks_out_of_git_is_private_too() {
    let world = World::new();
    let mut command = world.command("sh");
    command.args(["-c", "umask 000; exec \"$0\" \"$@\"", crate::world::LOG_MEMORY]).args(RECORD);
    assert!(command.status().unwrap().success());
    let ignore = world.store().join(".locks/.gitignore");
    assert_eq!(ignore.metadata().unwrap().permissions().mode() & 0o022, 0);
}
