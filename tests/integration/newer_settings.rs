//! A configuration file that a newer version wrote, or that holds a slip, keeps no lesson from being saved. What it may forbid is
//! not done meanwhile. Not here: reading the file (`settings`), changing it (`by_hand`).

use std::path::Path;

use settings::{ConfigTable, Setting, SettingForm, UnknownRule};

use crate::world::{AGENT_KNOWLEDGE, LOG_MEMORY, Ran, World, run};

const SAVE: &[&str] = &["--repo", "acme/app", "--type", "fact", "--lesson", "the zebra pool has 8"];

/// The tables of a configuration file, from the settings.
fn tables() -> Vec<ConfigTable> {
    let mut names: Vec<&str> =
        Setting::all().filter_map(|setting| Some(setting.key.split_once('.')?.0)).collect();
    names.dedup();
    names.into_iter().map(|name| ConfigTable::named(name).expect(name)).collect()
}

/// Files that this version does not understand in full, each with its odd line, what is told of it, and what is set for `config set`
/// to leave alone.
fn odd_files() -> Vec<(String, usize, String)> {
    let mut files = vec![
        ("future = 3\n".to_owned(), 1, "\"future\" is no setting".to_owned()),
        ("\njournl = true\n".to_owned(), 2, "did you mean journal?".to_owned()),
        ("[future]\na = 1\n".to_owned(), 1, "\"future\" is no setting".to_owned()),
        ("memory_mib = 4\n".to_owned(), 1, "memory_mib must be".to_owned()),
        (
            "archive_older_than = \"2 moons\"\n".to_owned(),
            1,
            "archive_older_than must be".to_owned(),
        ),
        ("embedding = \"int4\"\n".to_owned(), 1, "embedding must be".to_owned()),
        ("[embedding]\nprovider = \"nova\"\nmodel = \"m\"\n".to_owned(), 1, "\"nova\"".to_owned()),
        ("[rerank]\nprovider = \"nova\"\nmodel = \"m\"\n".to_owned(), 1, "rerank".to_owned()),
        ("[sync]\ntrust = \"reviewed\"\n".to_owned(), 1, "sync: ".to_owned()),
        (
            "[engine]\nurl = \"x\"\nport = 3\n".to_owned(),
            3,
            "\"engine.port\" is no setting".to_owned(),
        ),
    ];
    for table in tables() {
        let name = table.as_str();
        if table.unknown_rule() == UnknownRule::Refused {
            continue;
        }
        let told =
            if name == "section_budgets" { "\"future\" is no section" } else { "is no setting" };
        files.push((format!("[{name}]\nfuture = 3\n"), 2, told.to_owned()));
    }
    files
}

#[track_caller]
fn told_once(ran: &Ran, (line, told): (usize, &str), text: &str) {
    assert_eq!(ran.exit, Some(0), "{text}: {}", ran.messages);
    assert_eq!(ran.messages.lines().count(), 1, "{text}: {}", ran.messages);
    let place = format!("config.toml, line {line}: ");
    assert!(
        ran.messages.contains(&place) && ran.messages.contains(told),
        "{text}: {}",
        ran.messages
    );
}

// S-CONFIG-4
#[test]
fn what_this_version_does_not_know_stops_no_save_and_no_search() {
    for (text, line, told) in odd_files() {
        let world = World::new();
        world.configure(&text);
        told_once(&world.log_memory(SAVE), (line, &told), &text);
        let add = ["add", "the yak pool has 9", "--repo", "acme/app", "--type", "fact"];
        told_once(&world.agent_knowledge(&add), (line, &told), &text);
        let found = world.agent_knowledge(&["search", "zebra pool"]);
        told_once(&found, (line, &told), &text);
        assert!(found.output.contains("zebra pool has 8"), "{text}: {}", found.output);
        let batch =
            world.log_memory_json(r#"{"event_type":"fact","lesson":"l","repo":"api"}"#, &[]);
        told_once(&batch, (line, &told), &text);
    }
}

// S-CONFIG-4, S-HOOK-2
#[test]
fn clients_and_hooks_go_on_without_noise() {
    for (text, line, told) in odd_files() {
        let world = World::new();
        world.log_memory(SAVE).done();
        world.configure(&text);
        let input = format!(
            r#"{{"hook_event_name":"SessionStart","source":"startup","session_id":"s","cwd":{:?}}}"#,
            world.work()
        );
        let mut hook = world.command(AGENT_KNOWLEDGE);
        hook.args(["hook", "--agent", "claude-code"]);
        hook.env("AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS", "20000");
        let ran = run(&mut hook, input.as_bytes());
        assert_eq!((ran.exit, ran.messages.as_str()), (Some(0), ""), "{text}");
        let told_why = run(hook.env("AGENT_KNOWLEDGE_HOOKS_DEBUG", "1"), input.as_bytes());
        assert!(told_why.messages.contains(&told), "{text}: {}", told_why.messages);
        let served = run(world.command(AGENT_KNOWLEDGE).arg("mcp"), b"");
        told_once(&served, (line, &told), &text);
        assert_eq!(served.output, "", "{text}");
    }
}

// S-CONFIG-4
#[test]
fn doctor_and_config_show_it_and_a_change_leaves_it_alone() {
    for (text, line, told) in odd_files() {
        let world = World::new();
        world.configure(&text);
        let doctor = world.agent_knowledge(&["doctor"]);
        let place = format!("config.toml, line {line}: ");
        let warned = doctor.output.lines().any(|says| {
            says.starts_with("warn  configuration") && says.contains(&place) && says.contains(&told)
        });
        assert!(warned && doctor.exit == Some(0), "{text}: {}", doctor.output);
        let shown = world.agent_knowledge(&["config"]);
        assert!(
            shown.exit == Some(0) && shown.messages.contains(&told),
            "{text}: {}",
            shown.messages
        );
        let json = world.asked(&["config"]);
        assert!(json["not_counted"][0].as_str().unwrap().contains(&place), "{text}: {json}");
        world.agent_knowledge(&["config", "set", "query_log", "off"]).done();
        world.agent_knowledge(&["config", "unset", "query_log"]).done();
        let kept = std::fs::read_to_string(world.config_file()).unwrap();
        assert_eq!(kept.trim_start(), text.trim_start());
        // What this version itself would not take is still refused.
        let refused = world.agent_knowledge(&["config", "set", "memory_mib", "5"]);
        assert_eq!(refused.exit, Some(65), "{text}: {}", refused.messages);
    }
}

// S-CONFIG-4
#[test]
fn a_named_configuration_that_is_absent_stops_nothing() {
    let world = World::new();
    for absent in [world.path("none.toml"), world.path("no/such/config.toml")] {
        let with = |program: &str, args: &[&str]| {
            let mut command = world.command(program);
            run(command.env("AGENT_KNOWLEDGE_CONFIG", &absent).args(args), b"")
        };
        for ran in [
            with(LOG_MEMORY, SAVE),
            with(AGENT_KNOWLEDGE, &["search", "zebra"]),
            with(AGENT_KNOWLEDGE, &["mcp"]),
            with(AGENT_KNOWLEDGE, &["config"]),
        ] {
            assert_eq!(ran.exit, Some(0), "{}", ran.messages);
            let told = format!("{}: AGENT_KNOWLEDGE_CONFIG names this file", absent.display());
            assert!(ran.messages.contains(&told), "{}", ran.messages);
        }
        let doctor = with(AGENT_KNOWLEDGE, &["doctor"]).output;
        let lines: Vec<&str> =
            doctor.lines().filter(|line| line.contains("  configuration  ")).collect();
        assert!(lines.len() == 1 && lines[0].contains("which does not exist"), "{doctor}");
    }
    assert_eq!(world.log_lines("acme+app.jsonl").len(), 2);
}

// S-CONFIG-4, S-EXIT-1
#[test]
fn a_wrong_type_and_what_decides_where_things_go_are_refused() {
    for (text, told) in [
        ("logs =", "line 1"),
        ("logs = 3", "logs is of a wrong type: it must be a text in quotes"),
        ("logs = \"elsewhere\"", "logs must be an absolute path"),
        ("memory_mib = \"much\"", "memory_mib is of a wrong type"),
        ("sync = true", "sync is of a wrong type: it must be a table [sync]"),
        ("[sync]\nshare = 3", "sync.share is of a wrong type: it must be a list of texts"),
        ("[judge]\ncommand = \"ask\"", "judge.command is of a wrong type"),
        ("[aliases]\nold = 3", "aliases.old is of a wrong type: it must be a text in quotes"),
        ("[aliases]\nold = \"../new\"", "github.com/acme/api"),
    ] {
        let world = World::new();
        world.configure(text);
        for ran in [world.log_memory(SAVE), world.agent_knowledge(&["search", "zebra"])] {
            assert_eq!((ran.exit, ran.output.as_str()), (Some(78), ""), "{text}: {}", ran.messages);
            assert!(ran.messages.contains("config.toml"), "{text}: {}", ran.messages);
            assert!(ran.messages.contains(told), "{text}: {}", ran.messages);
        }
        assert!(!Path::new(&world.store()).exists(), "{text}");
    }
}

/// What is at the place of the configuration and can be none, with what is told of it.
#[cfg(unix)]
fn odd_places(world: &World) -> Vec<(std::path::PathBuf, &'static str)> {
    let (bytes, long) = (world.path("bytes"), world.path("long"));
    std::fs::write(&bytes, b"logs = \"\xFF\"").unwrap();
    std::fs::write(&long, "#".repeat(2_000_000)).unwrap();
    let circle = world.path("circle");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    vec![
        (world.work(), "is a directory; a configuration is a text file, for example"),
        (bytes, "line 1: has a character that is not in UTF-8; write it again"),
        (long, "is longer than 1048576 bytes, which no settings take; shorten it"),
        (circle, "cannot be read: "),
    ]
}

// S-CONFIG-4, S-EXIT-1
#[cfg(unix)]
#[test]
fn what_can_be_no_configuration_is_told_once_with_the_remedy() {
    let world = World::new();
    for (place, told) in odd_places(&world) {
        let with = |program: &str, args: &[&str]| {
            let mut command = world.command(program);
            run(command.env("AGENT_KNOWLEDGE_CONFIG", &place).args(args), b"")
        };
        for ran in [
            with(LOG_MEMORY, SAVE),
            with(AGENT_KNOWLEDGE, &["search", "zebra"]),
            with(AGENT_KNOWLEDGE, &["status"]),
            with(AGENT_KNOWLEDGE, &["mcp"]),
            with(AGENT_KNOWLEDGE, &["config"]),
            with(AGENT_KNOWLEDGE, &["config", "set", "journal", "off"]),
            with(AGENT_KNOWLEDGE, &["sync"]),
        ] {
            assert_eq!(ran.exit, Some(78), "{told}: {}", ran.messages);
            assert_eq!(ran.messages.lines().count(), 1, "{}", ran.messages);
            assert!(ran.messages.contains(told), "{}", ran.messages);
            assert!(!ran.messages.contains("os error"), "{}", ran.messages);
        }
        let doctor = with(AGENT_KNOWLEDGE, &["doctor"]);
        let lines = doctor.output.lines().filter(|line| line.contains("  configuration  "));
        let lines: Vec<&str> = lines.collect();
        assert!(lines.len() == 1 && lines[0].contains(told), "{}", doctor.output);
        assert!(!doctor.output.contains("os error"), "{}", doctor.output);
    }
}

// S-CONFIG-4, S-EXIT-1
#[test]
fn a_wrong_type_of_each_setting_is_told_once_with_its_line() {
    let world = World::new();
    for setting in Setting::all() {
        let key = setting.key.replace('*', "gotchas");
        let wrong = if setting.form == SettingForm::Number { "\"x\"" } else { "7.5" };
        let (text, line) = match key.split_once('.') {
            Some((table, name)) => (format!("[{table}]\n{name} = {wrong}\n"), 2),
            None => (format!("{key} = {wrong}\n"), 1),
        };
        world.configure(&text);
        for ran in [
            world.log_memory(SAVE),
            world.agent_knowledge(&["status"]),
            world.agent_knowledge(&["sync"]),
        ] {
            assert_eq!(ran.exit, Some(78), "{key}: {}", ran.messages);
            assert_eq!(ran.messages.lines().count(), 1, "{}", ran.messages);
            let place = format!("config.toml, line {line}: {key} is of a wrong type");
            for told in [&*place, setting.allowed, "for example "] {
                assert!(ran.messages.contains(told), "{}", ran.messages);
            }
        }
    }
}

/// What a table allows, as commands that must be refused while it is held; none where this build has no command that does it
/// alone, and searches go on without it.
fn own_actions(table: ConfigTable, id: &str) -> Option<Vec<Vec<&str>>> {
    match table {
        ConfigTable::Sync => Some(vec![
            vec!["sync"],
            vec!["sync", "--dry-run"],
            vec!["sync", "--remote", "/nowhere", "--yes"],
            vec!["serve", "--team", "--http", "127.0.0.1:0"],
        ]),
        ConfigTable::Sessions => Some(vec![
            vec!["sessions", "import", "--yes"],
            vec!["sessions", "list"],
            vec!["sessions", "search", "zebra"],
            vec!["sessions", "review"],
        ]),
        ConfigTable::Judge => Some(vec![vec!["tag", id, "--ask"]]),
        ConfigTable::Embedding => {
            Some(vec![vec!["model", "use", "local", "--yes"], vec!["model", "calibrate"]])
        }
        ConfigTable::Rerank | ConfigTable::Engine => None,
        ConfigTable::SectionBudgets | ConfigTable::Aliases => panic!("{table:?} is not held"),
    }
}

// S-CONFIG-4
#[test]
fn a_table_with_an_unknown_key_refuses_what_it_allows() {
    for table in tables() {
        let UnknownRule::Holds { held } = table.unknown_rule() else { continue };
        let world = World::new();
        let id = world.log_memory(SAVE).done();
        let name = table.as_str();
        world.configure(&format!("[{name}]\nnever = [\"acme\"]\n"));
        for command in own_actions(table, id.trim()).unwrap_or_default() {
            let ran = world.agent_knowledge(&command);
            assert_eq!(ran.exit, Some(78), "{command:?}: {}{}", ran.output, ran.messages);
            let told = format!("\"{name}.never\" is no setting of this version");
            assert!(
                ran.messages.contains(&told) && ran.messages.contains(held),
                "{}",
                ran.messages
            );
            assert!(ran.messages.contains("config.toml, line 2: "), "{}", ran.messages);
            assert_eq!(ran.messages.lines().count(), 1, "{}", ran.messages);
            let remedy = ["allowed are ", "for example ", "correct or remove that line"];
            assert!(remedy.iter().all(|told| ran.messages.contains(told)), "{}", ran.messages);
        }
        let found = world.agent_knowledge(&["search", "zebra pool"]);
        assert!(found.output.contains("zebra pool has 8"), "{name}: {}", found.output);
        assert!(found.messages.contains(held), "{name}: {}", found.messages);
        assert!(world.agent_knowledge(&["status"]).exit == Some(0), "{name}");
    }
}

// S-CONFIG-3
#[test]
fn a_project_may_hold_what_this_version_does_not_know() {
    let world = World::new();
    let folder = world.work().join(".agent-knowledge");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("config.toml");
    std::fs::write(&file, "future = 1\n[section_budgets]\ndecisions = 200\nfuture = 3\n").unwrap();
    let shown = world.agent_knowledge(&["config"]);
    for told in ["\"future\" is no setting", "\"future\" is no section"] {
        assert!(shown.messages.contains(told), "{}", shown.messages);
    }
    assert!(shown.output.contains("section_budgets.decisions"), "{}", shown.output);
    assert_eq!(world.log_memory(SAVE).messages, "");
    std::fs::write(&file, "[sync]\nshare = [\"*\"]\n").unwrap();
    assert!(world.agent_knowledge(&["config"]).messages.contains("this file is ignored"));
}
