//! Cases about the store: its place, its owner, volumes, sandboxes, odd settings of git and small limits. Not here: attacks on it
//! (`local_security`).

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{learn, repository};
use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, Ran, World, run};

/// The user of the cases: somebody who is not root.
const USER: u32 = 65_534;

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
        && Command::new("setpriv").arg("--version").output().is_ok()
}

/// Makes a program run as another user, with a home that is his, and without the variables that name a store.
fn as_user(world: &World, program: &str, args: &[&str]) -> Ran {
    let programs = world.path("programs");
    if !programs.exists() {
        std::fs::create_dir(&programs).unwrap();
        for program in [LOG_MEMORY, AGENT_KNOWLEDGE] {
            std::fs::copy(program, programs.join(Path::new(program).file_name().unwrap())).unwrap();
        }
        set_mode(&world.path(""), 0o755);
        for own in [world.home(), world.work()] {
            chown(own, Some(USER), Some(USER)).unwrap();
        }
    }
    let program = programs.join(Path::new(program).file_name().unwrap());
    let mut command = world.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(args);
    run(unnamed(&mut command), b"")
}

/// Takes from a command the places that tests name, so that the home decides.
fn unnamed(command: &mut Command) -> &mut Command {
    ["LOGS", "CACHE", "RUNTIME"]
        .iter()
        .fold(command, |command, name| command.env_remove(format!("AGENT_KNOWLEDGE_{name}")))
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn with_logs(world: &World, logs: &str, program: &str, args: &[&str]) -> Ran {
    run(world.command(program).env("AGENT_KNOWLEDGE_LOGS", logs).args(args), b"")
}

const SAVE: [&str; 6] =
    ["--repo", "ida/tower", "--type", "fact", "--lesson", "the bell weighs a ton"];

// S-UI-5
#[test]
fn case_08_the_dashboard_on_a_fresh_account() {
    let world = World::sharing();
    let mut command = world.command(AGENT_KNOWLEDGE);
    let ran = run(unnamed(command.args(["ui", "--no-open", "--http", "0", "--json"])), b"");
    run(unnamed(world.command(AGENT_KNOWLEDGE).args(["serve", "--stop"])), b"");
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert!(ran.output.contains("http://"), "{ran:?}");
}

#[test]
fn case_09_a_log_that_cannot_be_read() {
    if !is_root() {
        return;
    }
    let world = World::new();
    as_user(
        &world,
        LOG_MEMORY,
        &["--repo", "ida/nave", "--type", "fact", "--lesson", "the door sticks"],
    )
    .done();
    // Once as root, with the same home.
    run(unnamed(world.command(LOG_MEMORY).args(SAVE)), b"");
    let owned =
        |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let store = world.home().join(".local/share/agent-knowledge/logs");
    let log = store.join("ida+tower.jsonl");
    if log.exists() && log.metadata().unwrap().uid() == USER {
        let again = ["--repo", "ida/tower", "--type", "fact", "--lesson", "the rope is hemp"];
        as_user(&world, LOG_MEMORY, &again).done();
    }
    for entry in owned(store.clone()) {
        assert_eq!(entry.metadata().unwrap().uid(), USER, "{} is root's", entry.display());
    }
    // A log that another user closed is named in each answer, and the remedy fits its owner.
    let closed = store.join("ida+crypt.jsonl");
    std::fs::write(&closed, "").unwrap();
    chown(&closed, Some(0), Some(0)).unwrap();
    set_mode(&closed, 0o600);
    for args in [&["search", "door sticks"][..], &["context", "--repo", "ida/crypt"], &["list"]] {
        let ran = as_user(&world, AGENT_KNOWLEDGE, args);
        let told = format!("{}{}", ran.output, ran.messages);
        assert!(told.contains("ida+crypt") || told.contains("ida/crypt"), "{args:?}: {told}");
    }
    let ran = as_user(&world, AGENT_KNOWLEDGE, &["doctor"]);
    assert!(ran.output.contains("chown"), "{ran:?}");
}

// S-STORE-2
#[test]
fn case_13_stores_on_volumes() {
    let world = World::new();
    let volume = world.path("volume/logs");
    std::fs::create_dir_all(&volume).unwrap();
    let logs = volume.to_str().unwrap().to_owned();
    with_logs(&world, &logs, LOG_MEMORY, &SAVE).done();
    // As a volume is mounted for the next pod: another group, which may write.
    if is_root() {
        [volume.parent().unwrap(), &volume]
            .iter()
            .for_each(|folder| chown(folder, None, Some(2000)).unwrap());
    }
    set_mode(&volume, 0o2770);
    let refused = with_logs(&world, &logs, LOG_MEMORY, &SAVE);
    if refused.exit != Some(0) {
        let names_setting =
            refused.messages.contains("trust") || refused.messages.contains("config");
        assert!(names_setting, "the refusal names the setting: {refused:?}");
    }
    // The own configuration says that the folder is mine alone.
    world.agent_knowledge(&["config", "set", "trusted_folders", &logs]).done();
    with_logs(&world, &logs, LOG_MEMORY, &SAVE).done();
    let found = with_logs(&world, &logs, AGENT_KNOWLEDGE, &["search", "bell weighs"]).done();
    assert!(found.contains("a ton"), "{found}");
}

#[test]
fn case_17_the_path_of_the_store() {
    for logs in ["~/bells", "$HOME/bells", "${HOME}/bells"] {
        let world = World::new();
        let ran = with_logs(&world, logs, LOG_MEMORY, &SAVE);
        if ran.exit == Some(0) {
            assert!(world.home().join("bells/ida+tower.jsonl").exists(), "{logs}: {ran:?}");
        } else {
            let told = &ran.messages;
            assert!(told.contains('$') && told.contains("expand"), "{logs}: {told}");
        }
        assert!(!world.work().join(logs).exists(), "{logs}");
    }
    for logs in ["bells", "./bells", " ", "../bells"] {
        let world = World::new();
        let ran = with_logs(&world, logs, LOG_MEMORY, &SAVE);
        assert!(ran.exit != Some(0) && ran.messages.contains("whole path"), "{logs:?}: {ran:?}");
        assert_eq!(std::fs::read_dir(world.work()).unwrap().count(), 0, "{logs:?}");
    }
}

#[test]
fn case_19_a_read_only_home() {
    if !is_root() {
        return;
    }
    let world = World::new();
    as_user(&world, LOG_MEMORY, &SAVE).done();
    // Where a sandbox mounts the home read-only. Without the right to mount, the folder is closed.
    let script = "mount -o bind,ro \"$1\" \"$1\" 2>/dev/null || exit 77; shift; exec \"$@\"";
    let in_sandbox = |program: &str, args: &[&str]| {
        let mut command = world.command("unshare");
        command
            .args(["--mount", "sh", "-c", script, "sh"])
            .arg(world.home())
            .arg(program)
            .args(args);
        run(unnamed(&mut command), b"")
    };
    let ran = in_sandbox(LOG_MEMORY, &SAVE);
    if ran.exit == Some(77) || ran.messages.contains("unshare") {
        return;
    }
    assert!(ran.exit != Some(0) && ran.messages.contains("memory_save"), "{ran:?}");
    assert!(!ran.messages.contains("chmod"), "{ran:?}");
    let found = in_sandbox(AGENT_KNOWLEDGE, &["search", "bell weighs"]);
    assert!(found.output.contains("a ton"), "{found:?}");
    let told = in_sandbox(AGENT_KNOWLEDGE, &["doctor"]);
    assert!(!told.output.contains("chmod"), "{told:?}");
}

// S-SYNC-3
#[test]
fn case_22_odd_settings_of_git() {
    let team = World::new();
    let remote = team.path("memory.git");
    team.git(&remote, &["init", "--quiet", "--bare"]);
    let settings = "[safe]\n\tbareRepository = explicit\n[core]\n\tautocrlf = true\n\thooksPath = /no/hooks\n[commit]\n\tgpgsign = true\n\
        [push]\n\tdefault = nothing\n[fetch]\n\tfsckObjects = true\n[alias]\n\tpush = status\n[user]\n\tuseConfigOnly = true\n\
        [init]\n\tdefaultBranch = odd\n";
    let member = || {
        let world = World::new();
        world.configure(&format!(
            "[sync]\nremote = {:?}\nshare = [\"gitlab.com/ida/*\"]\n",
            remote.display()
        ));
        std::fs::write(world.home().join(".gitconfig"), settings).unwrap();
        let top = repository(&world, "organ", Some("git@gitlab.com:ida/organ.git"));
        (world, top)
    };
    let sync = |world: &World, top: &Path| {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.env_remove("GIT_CONFIG_GLOBAL").current_dir(top).args(["sync", "--yes"]);
        run(&mut command, b"").done()
    };
    let ((ute, her_top), (per, his_top)) = (member(), member());
    learn(&ute, &her_top, "pipes are tuned in May");
    assert!(sync(&ute, &her_top).contains("1 line"), "pushed");
    sync(&per, &his_top);
    let found = per.agent_knowledge_in(&his_top, &["search", "tuned pipes"]).done();
    assert!(found.contains("tuned in May"), "{found}");
}

#[test]
fn case_24_small_limits_of_the_system() {
    let world = World::new();
    for number in 0..60 {
        let line = format!(
            "{{\"v\":1,\"id\":\"01M7MZ000000000000000000{number:02}\",\"timestamp\":\"2026-11-01T10:00:00Z\",\"repo\":\"ida/bell{number}\",\
             \"event_type\":\"fact\",\"lesson\":\"bell {number} rings at noon\"}}\n"
        );
        world.hand_write(&format!("ida+bell{number}.jsonl"), line);
    }
    let script = "ulimit -n 20; exec \"$@\"";
    let mut shell = world.command("sh");
    shell.args([
        "-c",
        script,
        "sh",
        AGENT_KNOWLEDGE,
        "search",
        "which bell rings at noon",
        "--limit",
        "3",
    ]);
    let ran = run(&mut shell, b"");
    assert!(ran.exit == Some(0) && ran.output.contains("rings at noon"), "{ran:?}");
    // A home so deep that no socket fits below it.
    let world = World::sharing();
    let deep = world.path("d".repeat(120));
    std::fs::create_dir_all(&deep).unwrap();
    let mut command = world.command(LOG_MEMORY);
    run(command.env("AGENT_KNOWLEDGE_RUNTIME", deep.join("run")).args(SAVE), b"").done();
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.env("AGENT_KNOWLEDGE_RUNTIME", deep.join("run")).args(["search", "bell weighs"]);
    assert!(run(&mut command, b"").output.contains("a ton"));
    let mut command = world.command(AGENT_KNOWLEDGE);
    run(command.env("AGENT_KNOWLEDGE_RUNTIME", deep.join("run")).args(["serve", "--stop"]), b"");
}
