//! The place of the store, with the real programs: paths that no shell expanded, logs that cannot be read, root in the home of
//! another user, volumes that a group may write, and the store in clients' files. Not here: a store that others could have written
//! (`store_refusals`).
#![cfg(unix)]

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, Ran, World, run};

const RECORD: [&str; 6] = ["--repo", "acme/web", "--type", "fact", "--lesson", "the zebra port"];

/// The user of the home directory, where root runs the tests.
const OWNER: u32 = 65_534;

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    tempfile::NamedTempFile::new().unwrap().as_file().metadata().unwrap().uid() == 0
}

/// Tells whether the tests can become another user.
fn can_become_another() -> bool {
    let can = is_root() && Command::new("setpriv").arg("--version").output().is_ok();
    if !can {
        eprintln!("SKIPPED: only root can become another user, and only with setpriv");
    }
    can
}

/// Runs a program with more variables.
fn with_variables(world: &World, program: &str, args: &[&str], set: &[(&str, &str)]) -> Ran {
    let mut command = world.command(program);
    command.args(args).envs(set.iter().copied());
    run(&mut command, b"")
}

/// Copies of the programs that everybody can run, in a home that belongs to another user.
fn home_of_another(world: &World) -> PathBuf {
    for place in [world.path(""), world.home()] {
        chmod(&place, 0o755);
    }
    for place in [world.path(""), world.home(), world.work()] {
        chown(place, Some(OWNER), Some(OWNER)).unwrap();
    }
    let programs = world.path("programs");
    std::fs::create_dir_all(&programs).unwrap();
    for program in [LOG_MEMORY, AGENT_KNOWLEDGE] {
        let to = programs.join(Path::new(program).file_name().unwrap());
        std::fs::copy(program, &to).unwrap();
        chmod(&to, 0o755);
    }
    chmod(&programs, 0o755);
    programs
}

fn as_owner(world: &World, programs: &Path, program: &str, args: &[&str]) -> Ran {
    let mut command = world.command("setpriv");
    let user = OWNER.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
    command.arg(programs.join(program)).args(args).env("AGENT_KNOWLEDGE_RETRIEVER", "own");
    run(&mut command, b"")
}

fn everything_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = path.symlink_metadata().unwrap().is_dir();
        all.extend(if is_folder { everything_below(&path) } else { vec![path] });
    }
    all
}

// S-STORE-1
#[test]
fn a_path_that_no_shell_expanded_is_expanded_or_refused() {
    let world = World::new();
    for (place, text) in
        ["~/m0", "$HOME/m1", "${HOME}/m2", "%USERPROFILE%/m3"].into_iter().enumerate()
    {
        with_variables(&world, LOG_MEMORY, &RECORD, &[("AGENT_KNOWLEDGE_LOGS", text)]).done();
        assert!(world.home().join(format!("m{place}/acme+web.jsonl")).exists(), "{text}");
        let named = [&RECORD[..], &["--logs", text]].concat();
        world.log_memory(&named).done();
    }
    for variable in [
        "AGENT_KNOWLEDGE_LOGS",
        "AGENT_KNOWLEDGE_CONFIG",
        "AGENT_KNOWLEDGE_CACHE",
        "AGENT_KNOWLEDGE_SESSIONS",
        "AGENT_KNOWLEDGE_RUNTIME",
        "AGENT_KNOWLEDGE_MODEL_DIR",
    ] {
        for (wrong, why) in
            [("memory", "is relative"), (" ", "is blank"), ("$XDG_DATA/m", "$XDG_DATA")]
        {
            for (program, args) in [(LOG_MEMORY, &RECORD[..]), (AGENT_KNOWLEDGE, &["search", "x"])]
            {
                let ran = with_variables(&world, program, args, &[(variable, wrong)]);
                assert_eq!(ran.exit, Some(78), "{variable}={wrong}: {ran:?}");
                let example = format!("for example {variable}=~/");
                assert!(ran.messages.contains(why) && ran.messages.contains(&example), "{ran:?}");
            }
        }
    }
    let blank = world.log_memory(&[&RECORD[..], &["--logs", " "]].concat());
    assert!(blank.exit == Some(78) && blank.messages.contains("--logs ~/"), "{blank:?}");
}

// S-READ-9
#[test]
fn a_log_that_cannot_be_read_is_named_in_each_answer() {
    let world = World::new();
    world.log_memory(&RECORD).done();
    world.log_memory(&["--repo", "acme/api", "--type", "fact", "--lesson", "the walrus"]).done();
    let log = world.store().join("acme+web.jsonl");
    let away = world.path("away.jsonl");
    std::fs::rename(&log, &away).unwrap();
    symlink(&away, &log).unwrap();
    let note = "the log of acme/web cannot be read";
    for args in [
        &["search", "zebra"][..],
        &["search", "zebra", "--repo", "acme/web"],
        &["context", "--repo", "acme/web"],
        &["list"],
        &["recent"],
        &["stats"],
        &["search", "zebra", "--json"],
        &["list", "--json"],
    ] {
        let told = world.agent_knowledge(args).done();
        assert!(told.contains(note) && told.matches(note).count() == 1, "{args:?}: {told}");
        assert!(!told.contains("no memories of acme/web"), "{args:?}: {told}");
        assert!(args[0] == "stats" || !told.contains("nothing yet"), "{args:?}: {told}");
    }
    let exported = world.agent_knowledge(&["export", "--format", "jsonl", "--all"]);
    assert!(exported.messages.contains(note) && !exported.output.contains(note), "{exported:?}");
    let shown = world.agent_knowledge(&["show", "01ZZZZZZ"]);
    assert!(shown.messages.contains(note), "{shown:?}");
    // An answer that lacks nothing says nothing.
    let other = world.agent_knowledge(&["context", "--repo", "acme/api"]).done();
    assert!(!other.contains(note), "{other}");
}

// S-STORE-8
#[test]
fn root_in_the_home_of_another_user_locks_nobody_out() {
    if !can_become_another() {
        return;
    }
    let world = World::new();
    let programs = home_of_another(&world);
    world.log_memory(&RECORD).done();
    world.agent_knowledge(&["search", "zebra"]).done();
    world.agent_knowledge(&["doctor"]);
    world.agent_knowledge(&["config", "set", "query_log", "on"]).done();
    let made = ["home", "logs", "cache"].map(|name| everything_below(&world.path(name)));
    for path in made.concat() {
        // A file for a moment may be gone by now.
        let Ok(found) = path.symlink_metadata() else { continue };
        assert_eq!(found.uid(), OWNER, "{}", path.display());
    }
    as_owner(&world, &programs, "log-memory", &RECORD).done();
    let found = as_owner(&world, &programs, "agent-knowledge", &["search", "zebra"]).done();
    assert!(found.contains("zebra port"), "{found}");
}

// S-STORE-9
#[test]
fn what_root_left_is_told_with_a_command_that_can_work() {
    if !can_become_another() {
        return;
    }
    let world = World::new();
    let programs = home_of_another(&world);
    as_owner(&world, &programs, "log-memory", &["--repo", "a", "--type", "fact", "--lesson", "x"])
        .done();
    // As a version of before left it.
    let log = world.store().join("acme+web.jsonl");
    for path in [&log, &world.store().join(".locks/acme+web.jsonl.lock")] {
        std::fs::write(path, "").unwrap();
        chmod(path, 0o600);
    }
    let saved = as_owner(&world, &programs, "log-memory", &RECORD);
    assert!(saved.exit == Some(0) && saved.messages.contains("waits in the spool"), "{saved:?}");
    let found = as_owner(&world, &programs, "agent-knowledge", &["search", "zebra"]).done();
    assert!(
        found.contains("zebra port") && found.contains("the log of acme/web cannot"),
        "{found}"
    );
    let doctor = as_owner(&world, &programs, "agent-knowledge", &["doctor"]);
    let fix = format!("sudo chown -R \"$(id -u)\" {}", world.store().display());
    assert!(doctor.output.contains(&fix), "{doctor:?}");
    // Where nothing can be kept, the line is printed, and can be saved later.
    chmod(&world.store().join(".spool"), 0o500);
    chown(world.store().join(".spool"), Some(0), Some(0)).unwrap();
    let refused = as_owner(&world, &programs, "log-memory", &RECORD);
    assert!(refused.exit == Some(74) && refused.messages.contains("sudo chown"), "{refused:?}");
    let line = refused.messages.lines().find_map(|line| line.split_once("log-memory: {"));
    let kept = world.path("kept.json");
    std::fs::write(&kept, format!("{{{}", line.unwrap().1)).unwrap();
    world.log_memory(&["--json", kept.to_str().unwrap()]).done();
}

// S-STORE-2
#[test]
fn a_group_or_a_folder_is_trusted_by_the_users_settings_alone() {
    let world = World::new();
    world.log_memory(&RECORD).done();
    chmod(&world.store(), 0o2770);
    let group = world.store().metadata().unwrap().gid().to_string();
    let refused = world.log_memory(&RECORD);
    assert_eq!(refused.exit, Some(74), "{refused:?}");
    for word in ["trusted_groups", "fsGroupChangePolicy", "chmod go-w"] {
        assert!(refused.messages.contains(word), "{word}: {refused:?}");
    }
    let groups = [("AGENT_KNOWLEDGE_TRUSTED_GROUPS", group.as_str())];
    with_variables(&world, LOG_MEMORY, &RECORD, &groups).done();
    world.agent_knowledge(&["config", "set", "trusted_groups", &group]).done();
    world.log_memory(&RECORD).done();
    assert!(world.agent_knowledge(&["search", "zebra"]).done().contains("zebra port"));
    chmod(&world.store(), 0o777);
    assert_eq!(world.log_memory(&RECORD).exit, Some(74), "everybody is no group");
    let store = world.store();
    world.agent_knowledge(&["config", "set", "trusted_folders", store.to_str().unwrap()]).done();
    world.log_memory(&RECORD).done();
}

// S-SETUP-9
#[test]
fn clients_are_told_a_store_that_they_would_not_find() {
    let world = World::new();
    let shelf = world.home().join("shelf");
    let set = [("AGENT_KNOWLEDGE_LOGS", shelf.to_str().unwrap())];
    let run = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.env_remove("AGENT_KNOWLEDGE_LOGS").args(args).envs(set.iter().copied());
        run(&mut command, b"")
    };
    let clients = ["codex", "cursor", "claude-code", "goose"];
    let args = [&["setup", "--user", "--yes"][..], &clients[..]].concat();
    run(&args, &set).done();
    let files =
        [".codex/config.toml", ".cursor/mcp.json", ".claude.json", ".config/goose/config.yaml"];
    for file in files {
        let text = std::fs::read_to_string(world.home().join(file)).unwrap();
        assert!(
            text.contains("--logs") && text.contains(shelf.to_str().unwrap()),
            "{file}: {text}"
        );
    }
    assert!(run(&["setup", "--check"], &set).exit == Some(0));
    let elsewhere = run(&["setup", "--check"], &[]);
    assert_eq!(elsewhere.exit, Some(1), "{elsewhere:?}");
    for client in clients {
        let told = format!("; run agent-knowledge setup {client}");
        assert!(elsewhere.output.contains(&told), "{client}: {elsewhere:?}");
    }
    assert!(elsewhere.output.contains("saves into"), "{elsewhere:?}");
    run(&args, &[]).done();
    assert_eq!(run(&["setup", "--check"], &[]).exit, Some(0));
    for file in files {
        let text = std::fs::read_to_string(world.home().join(file)).unwrap();
        assert!(!text.contains("--logs"), "{file}: {text}");
    }
}

// S-SETUP-3, S-SETUP-5
#[test]
fn valid_toml_of_any_form_is_edited_or_refused_truly() {
    for (text, is_edited) in [
        ("mcp_servers.docs.command = \"d\"\n", true),
        ("mcp_servers = { docs = { command = \"d\" } }\n", false),
        ("mcp_servers.agent-knowledge.command = \"d\"\n", false),
    ] {
        let world = World::new();
        let file = world.home().join(".codex/config.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let ran = world.agent_knowledge(&["setup", "codex", "--user", "--yes"]);
        assert_eq!(ran.exit == Some(0), is_edited, "{text}: {ran:?}");
        assert!(is_edited || ran.output.contains("valid"), "{text}: {ran:?}");
        assert!(std::fs::read_to_string(&file).unwrap().starts_with(text), "{text}");
        let check = world.agent_knowledge(&["setup", "--check"]);
        assert_eq!(check.exit == Some(0), is_edited, "{text}: {check:?}");
        assert!(
            is_edited || check.output.contains("its MCP server is not in"),
            "{text}: {check:?}"
        );
    }
}
