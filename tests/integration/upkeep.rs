//! The commands that look after what is there, as people run them. Not here: every finding; those are
//! tested in `upkeep`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::{LOG_MEMORY, World, run};

// S-VERIFY-1, S-VERIFY-2
#[test]
fn verify_tells_each_bad_line_and_keeps_a_copy() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "x"]).done();
    assert_eq!(
        world.agent_knowledge(&["verify"]).done(),
        "1 log, 1 line, 1 event: no problems found\n"
    );
    let bytes = [world.log_lines("api.jsonl").concat(), b"\ntorn\n".to_vec()].concat();
    world.hand_write("api.jsonl", &bytes);
    for copied in [0, 1, 0] {
        let dry = if copied == 0 {
            &["verify", "--json", "--dry-run"][..]
        } else {
            &["verify", "--json"]
        };
        let ran = world.agent_knowledge(dry);
        assert_eq!(ran.exit, Some(1), "{}", ran.messages);
        let told: Value = serde_json::from_str(&ran.output).unwrap();
        assert_eq!((&told["skipped"], &told["copied"]), (&json!(1), &json!(copied)), "{told}");
    }
    assert_eq!(std::fs::read(world.store().join("api.jsonl")).unwrap(), bytes);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = world.store().join(".quarantine");
    assert_eq!((mode(&folder), mode(&folder.join("api.jsonl"))), (0o700, 0o600));
    assert_eq!(world.asked(&["status"])["memories"], 1, "copies are no memories");
}

// S-VERIFY-1
#[test]
fn verify_takes_logs_by_path_by_name_and_by_repository() {
    let world = World::new();
    for repo in ["github.com/acme/api", "web"] {
        world.log_memory(&["--repo", repo, "--type", "fact", "--lesson", "x"]).done();
    }
    std::fs::write(world.work().join("mine.jsonl"), "torn\n").unwrap();
    for (args, exit, log) in [
        (&["--repo", "api"][..], 0, "github.com+acme+api.jsonl"),
        (&["web.jsonl"], 0, "web.jsonl"),
        (&["mine.jsonl"], 1, "mine.jsonl"),
    ] {
        let ran = world.agent_knowledge(&[&["verify", "--json"], args].concat());
        assert_eq!(ran.exit, Some(exit), "{args:?} {}", ran.messages);
        let told: Value = serde_json::from_str(&ran.output).unwrap();
        let logs = told["logs"].as_array().unwrap();
        assert!(logs.len() == 1 && logs[0]["log"].as_str().unwrap().ends_with(log), "{told}");
    }
    assert!(!world.store().join(".quarantine").exists());
    for args in [&["verify", "nowhere.jsonl"][..], &["verify", "--repo", "nobody"]] {
        let ran = world.agent_knowledge(args);
        assert_eq!((ran.exit, ran.output.as_str()), (Some(1), ""));
        assert!(ran.messages.contains("there is no log"), "{}", ran.messages);
    }
}

// S-DOCTOR-1
#[test]
fn doctor_finds_what_is_wrong_and_its_advice_mends_it() {
    let world = World::new();
    world.log_memory(&["--repo", "api", "--type", "fact", "--lesson", "x"]).done();
    let programs = Path::new(LOG_MEMORY).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = format!("{}:{}", programs.display(), path.to_str().unwrap());
    let doctor = || {
        let mut command = world.command(crate::world::AGENT_KNOWLEDGE);
        run(command.env("PATH", &path).args(["doctor", "--json"]), b"")
    };
    let well: Value = serde_json::from_str(&doctor().done()).unwrap();
    let checks = |told: &Value, state: &str| -> Vec<String> {
        let checks = told["checks"].as_array().unwrap().iter();
        let found = checks.filter(|check| check["state"] == state);
        found.map(|check| check["check"].as_str().unwrap().to_owned()).collect()
    };
    assert!(checks(&well, "fail").is_empty(), "{well}");
    assert!(checks(&well, "ok").contains(&"log-memory".to_owned()), "{well}");
    std::fs::set_permissions(world.store(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let ran = doctor();
    assert_eq!(ran.exit, Some(1));
    let told: Value = serde_json::from_str(&ran.output).unwrap();
    let failed = told["checks"].as_array().unwrap().iter().find(|check| check["state"] == "fail");
    let mend = failed.unwrap()["mend"].as_str().unwrap();
    assert_eq!(mend, format!("chmod go-w {}", world.store().display()));
    run(world.command("sh").args(["-c", mend]), b"").done();
    let read: Value = serde_json::from_str(&doctor().done()).unwrap();
    assert!(checks(&read, "fail").is_empty(), "{read}");
}

// S-DOCTOR-1
#[test]
fn doctor_answers_where_nothing_else_does() {
    let world = World::new();
    world.configure("logs = 3\n");
    assert_eq!(world.agent_knowledge(&["status"]).exit, Some(78));
    let ran = world.agent_knowledge(&["doctor"]);
    assert_eq!(ran.exit, Some(1));
    let config = world.config_file();
    assert!(ran.output.starts_with("FAIL  configuration  failed to read the configuration"));
    assert!(ran.output.contains(&format!("fix: ${{EDITOR:-vi}} {}", config.display())));
}

// S-LINE-8, S-DOCTOR-1
#[test]
fn joined_lines_are_read_and_told() {
    let world = World::new();
    let [one, two, three] = ["walrus one", "walrus two", "walrus three"]
        .map(|lesson| json!({ "repo": "api", "event_type": "fact", "lesson": lesson }).to_string());
    world.hand_write("api.jsonl", format!("{one}{two}\n{three}\n{three}{{\"les\n"));
    let found = world.asked(&["search", "walrus", "--min-relevance", "0"]);
    assert_eq!(found["memories"].as_array().unwrap().len(), 3, "{found}");
    let told = "2 events without a line break between them; all are read";
    let verified = world.agent_knowledge(&["verify"]);
    assert!(verified.output.contains(told), "{verified:?}");
    let doctor = world.agent_knowledge(&["doctor"]).output;
    assert!(doctor.contains("1 line with several events"), "{doctor}");
}

// S-LINE-7, S-DOCTOR-1
#[test]
fn a_conflict_copy_belongs_to_its_original() {
    let world = World::new();
    let line =
        |id: &str| json!({ "id": id, "event_type": "fact", "lesson": format!("walrus {id}") });
    let own = line("one");
    world.hand_write("api.jsonl", format!("{own}\n"));
    for (name, id) in [
        ("api.sync-conflict-20261120-101010-ABCDEFG", "two"),
        ("api (laptop's conflicted copy 2026-11-20)", "three"),
        ("api 2", "four"),
    ] {
        world.hand_write(&format!("{name}.jsonl"), format!("{own}\n{}\n", line(id)));
        let doctor = world.agent_knowledge(&["doctor"]).output;
        assert!(doctor.contains(&format!("{name}.jsonl is a copy of api.jsonl")), "{doctor}");
    }
    let listed = world.asked(&["list", "--repo", "api"]);
    assert_eq!(listed["memories"].as_array().unwrap().len(), 4, "{listed}");
}
