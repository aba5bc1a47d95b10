//! The doctor, on stores with one problem each.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, symlink};

use std::path::{Path, PathBuf};

use super::*;
use clients::setup::ClientsStatus;
use engine::watch::WatchMode;
use search::snapshot::MemoryUsage;
use store::Store;

struct DoctorFixture {
    folder: tempfile::TempDir,
    store: Store,
}

impl DoctorFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        Self { folder, store }
    }

    fn with_log() -> Self {
        let world = Self::new();
        world.store.ensure().unwrap();
        std::fs::write(world.log(), "{\"lesson\":\"x\"}\n").unwrap();
        world.chmod(&world.log(), 0o600);
        world
    }

    fn log(&self) -> PathBuf {
        self.store.root().join("api.jsonl")
    }

    fn chmod(&self, path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn request(&self) -> DoctorRequest<'_> {
        DoctorRequest {
            store: Some(&self.store),
            config_file: Some(self.folder.path().join("config.toml")),
            settings_trouble: None,
            settings_findings: Vec::new(),
            model_dir: Some(self.folder.path().join("model")),
            cache_dir: Some(self.folder.path().join("cache")),
            room: None,
            watching: WatchMode::System,
            home: Some(self.folder.path().to_owned()),
            clients: ClientsStatus::default(),
            directory: self.folder.path(),
            program_folders: vec![self.folder.path().join("bin")],
            sessions: None,
            team: None,
            reranker: None,
            repository: None,
        }
    }

    fn examine(&self) -> CheckReport {
        examine(&self.request())
    }

    /// Runs the fix of the first finding that fails.
    fn run_fix(&self) -> String {
        let json = self.examine().reply.json;
        let failed =
            json["checks"].as_array().unwrap().iter().find(|check| check["state"] == "fail");
        let command = failed.unwrap()["mend"].as_str().unwrap().to_owned();
        let ran = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
        assert!(ran.status.success(), "{command}: {ran:?}");
        command
    }
}

fn state<'a>(checked: &'a CheckReport, about: &str) -> (&'a str, &'a str) {
    let checks = checked.reply.json["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == about).unwrap();
    (check["state"].as_str().unwrap(), check["says"].as_str().unwrap())
}

// S-DOCTOR-1
#[test]
fn a_store_that_is_well_or_not_there_yet_is_fine() {
    for world in [DoctorFixture::new(), DoctorFixture::with_log()] {
        let checked = world.examine();
        assert_eq!(checked.verdict, CheckVerdict::Fine, "{}", checked.reply.text);
        assert!(!checked.reply.text.contains("FAIL"), "{}", checked.reply.text);
        // Search by words is enough to work with.
        let fetches = checked.reply.text.contains("fix: agent-knowledge model fetch");
        let expected = ("warn", true);
        assert_eq!((state(&checked, "model").0, fetches), expected);
    }
}

// S-DOCTOR-1
#[test]
fn each_command_it_gives_fixes_what_it_says() {
    type Plant = fn(&DoctorFixture);
    let plant: [(&str, Plant); 9] = [
        ("chmod go-w", |world| world.chmod(world.store.root(), 0o777)),
        ("chmod go-w", |world| world.chmod(&world.log(), 0o622)),
        ("chmod go-w", |world| world.chmod(&world.store.root().join(".locks"), 0o770)),
        ("mv ", |world| symlink("/dev/null", world.store.root().join("a link.jsonl")).unwrap()),
        ("mv ", |world| std::fs::create_dir(world.store.root().join("dir.jsonl")).unwrap()),
        ("mv ", |world| symlink("/", world.store.root().join(".spool")).unwrap()),
        ("cp -p ", |world| {
            std::fs::hard_link(world.log(), world.folder.path().join("second")).unwrap();
        }),
        ("mv ", |world| {
            let fifo = world.store.root().join("fifo.jsonl");
            assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
        }),
        ("mv ", |world| {
            std::fs::remove_dir_all(world.store.root()).unwrap();
            std::fs::write(world.store.root(), "").unwrap();
        }),
    ];
    for (place, (command, plant)) in plant.into_iter().enumerate() {
        let world = DoctorFixture::with_log();
        plant(&world);
        assert_eq!(world.examine().verdict, CheckVerdict::Wrong, "{place}");
        assert!(world.run_fix().starts_with(command), "{place}");
        let after = world.examine();
        assert_eq!(after.verdict, CheckVerdict::Fine, "{place}: {}", after.reply.text);
    }
}

// S-DOCTOR-1
#[test]
fn a_lock_that_nobody_lets_go_is_told_with_its_file() {
    let world = DoctorFixture::with_log();
    let lock = world.store.root().join(".locks/api.jsonl.lock");
    let held = store::FileLock::acquire(&lock, 0).unwrap();
    let checked = world.examine();
    let (state, says) = state(&checked, "locks");
    assert!(state == "fail" && says.contains("api.jsonl has been locked"), "{says}");
    assert!(checked.reply.text.contains(&format!("fix: fuser -v {}", lock.display())));
    drop(held);
    assert_eq!(world.examine().verdict, CheckVerdict::Fine, "the file that stays does no harm");
}

#[test]
fn what_waits_and_what_is_damaged_is_counted() {
    let world = DoctorFixture::with_log();
    let files = [(".spool", "api@00.jsonl", "{}\n{}\n"), (".quarantine", "api.jsonl", "{}\n")];
    for (folder, name, text) in files {
        store::make_private_dir(&world.store.root().join(folder)).unwrap();
        std::fs::write(world.store.root().join(folder).join(name), text).unwrap();
    }
    let checked = world.examine();
    assert!(state(&checked, "spool").1.starts_with("2 lines in 1 files wait"));
    assert!(state(&checked, "quarantine").1.starts_with("1 damaged lines"));
    assert_eq!(checked.verdict, CheckVerdict::Fine);
}

#[test]
fn settings_that_cannot_be_read_are_a_fault() {
    let world = DoctorFixture::with_log();
    std::fs::write(world.folder.path().join("config.toml"), "log = 3").unwrap();
    let trouble = Some("failed to read the configuration: \"log\" is unknown".to_owned());
    let checked =
        examine(&DoctorRequest { settings_trouble: trouble, store: None, ..world.request() });
    assert_eq!(checked.verdict, CheckVerdict::Wrong);
    let (state, says) = state(&checked, "configuration");
    assert!(state == "fail" && says.contains("\"log\" is unknown"), "{says}");
}

#[test]
fn a_program_that_hangs_when_asked_its_version_is_stopped() {
    let world = DoctorFixture::with_log();
    let folder = world.folder.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join("log-memory");
    let ours = env!("CARGO_PKG_VERSION");
    assert!(state(&world.examine(), "log-memory").1.contains("not in PATH"));
    for (script, expected) in [
        (format!("echo log-memory {ours}"), "ok"),
        ("echo log-memory 99.0.0".to_owned(), "warn"),
        ("echo something else".to_owned(), "warn"),
        ("exec sleep 60".to_owned(), "warn"),
    ] {
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        world.chmod(&program, 0o700);
        assert_eq!(state(&world.examine(), "log-memory").0, expected, "{script}");
    }
}

#[test]
fn clients_that_name_us_are_told() {
    let world = DoctorFixture::with_log();
    assert!(state(&world.examine(), "clients").1.starts_with("no known"));
    let at_home = world.folder.path().join(".codex");
    std::fs::create_dir(&at_home).unwrap();
    std::fs::write(at_home.join("config.toml"), "[mcp_servers.agent-knowledge]\n").unwrap();
    let project = world.folder.path().join("project/src");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(world.folder.path().join("project/.mcp.json"), "{\"agent-knowledge\":1}")
        .unwrap();
    let request = DoctorRequest { directory: &project, ..world.request() };
    let checked = examine(&request);
    let (level, says) = state(&checked, "clients");
    assert!(level == "ok" && says.contains("Codex (") && says.contains("Claude Code ("), "{says}");
}

// S-SETUP-8
#[test]
fn clients_that_are_not_set_up_are_named_with_the_command() {
    let world = DoctorFixture::with_log();
    let clients = ClientsStatus {
        set_up: vec!["Codex (not seen yet)".to_owned()],
        left_out: vec!["gemini", "zed"],
        problems: vec!["Codex: its hooks do not run".to_owned()],
    };
    let checked = examine(&DoctorRequest { clients, ..world.request() });
    let text = &checked.reply.text;
    for expected in [
        "set up         Codex (not seen yet)",
        "set up         Codex: its hooks do not run",
        "fix: agent-knowledge setup --check",
        "set up         installed but not set up: gemini, zed",
        "fix: agent-knowledge setup gemini zed",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert_eq!(checked.verdict, CheckVerdict::Fine, "memories can be written and read");
}

// S-BOUND-3
#[test]
fn memories_over_the_limit_are_reported_with_the_setting() {
    let world = DoctorFixture::new();
    let examined = |left_out| {
        let room = Some(MemoryUsage { bytes_max: 16 << 20, held_bytes: 15 << 20, left_out });
        examine(&DoctorRequest { room, ..world.request() })
    };
    assert_eq!(state(&examined(0), "memory"), ("ok", "15 of 16 MiB, by estimate"));
    let (level, says) = (examined(7), "the 7 oldest memories are left out (memory_mib is 16;");
    let (level, message) = state(&level, "memory");
    assert!(level == "warn" && message.starts_with(says), "{message}");
}
