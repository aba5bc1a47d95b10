//! Setup, check and undo of clients by the real program in a home of its own; and real clients that read the result.
//! Not here: every format of every file, which the unit tests of `clients` try.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::pieces::clients;
use crate::terminal::on_terminal;
use crate::world::{AGENT_KNOWLEDGE, World, bytes_under, run};

/// Typical client files.
const FILES: [(&str, &str); 4] = [
    (".claude.json", "{\"numStartups\":3,\"mcpServers\":{\"other\":{\"command\":\"true\"}}}"),
    (".codex/config.toml", "model = \"x\" # mine\n"),
    (".gemini/settings.json", "{\n  // mine\n  \"theme\": \"dark\",\n}\n"),
    (".config/goose/config.yaml", "GOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true\n"),
];

fn plant(world: &World) {
    for (name, text) in FILES {
        let path = world.home().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Hides the programs of this machine, so that none of its clients is found.
fn alone(world: &World) -> Command {
    let mut command = world.command(AGENT_KNOWLEDGE);
    command.env("PATH", world.path("no-programs"));
    command
}

fn setup(world: &World, args: &[&str]) -> crate::world::Ran {
    run(alone(world).arg("setup").args(args), b"")
}

fn sign(world: &World, agent: &str, what: &str, time: &str) {
    let folder = world.path("cache/fired").join(agent);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(what), format!("{time}\n")).unwrap();
}

// S-INIT-1
#[cfg(unix)]
#[test]
fn init_asks_and_does_what_it_is_told() {
    let world = World::new();
    plant(&world);
    let before = bytes_under(&world.home());
    let init = |args: &[&str]| {
        let mut command = alone(&world);
        command.arg("init").args(args);
        command
    };
    // Nobody is there to answer.
    let ran = run(&mut init(&[]), b"").done();
    for left in ["--clients", "--fetch-model", "agents    ", "none set up"] {
        assert!(ran.contains(left), "no {left:?} in {ran}");
    }
    assert_eq!(bytes_under(&world.home()), before, "nothing was changed");
    // A person says no to the model and to the clients.
    let shown = on_terminal(&mut init(&[]), "n\nn\n");
    let asked = ["would write", "Set up these clients? [Y/n]", "Fetch it (107 MB)? [Y/n]"];
    assert!(asked.iter().all(|text| shown.contains(text)), "{shown}");
    assert!(shown.contains("agent-knowledge setup --dry-run shows every line"), "{shown}");
    assert!(!shown.contains("@@") && !shown.contains("  agent-knowledge init"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("  next: ")), "{shown}");
    assert_eq!(bytes_under(&world.home()), before);
    let shown = on_terminal(&mut init(&["--no-model"]), "\n");
    assert!(shown.contains("wrote ") && !shown.contains("107 MB"), "{shown}");
    setup(&world, &["--check"]);
    let again = on_terminal(&mut init(&["--no-model"]), "");
    assert!(!again.contains("[Y/n]"), "what is done is not asked again: {again}");
    setup(&world, &["--undo"]).done();
    assert_eq!(bytes_under(&world.home()), before);
    let json = run(&mut init(&["--yes", "--no-model", "--no-sessions", "--json"]), b"").done();
    let told: Value = serde_json::from_str(&json).unwrap();
    let parts = ["clients", "model", "sessions"].map(|part| told["init"][part].clone());
    assert_eq!(parts, ["done", "left", "no"], "{told}");
    assert!(!told["next"].to_string().contains("agent-knowledge init"), "{told}");
    let json = run(&mut init(&["--yes", "--no-model", "--json"]), b"").done();
    let told: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&told["init"]["clients"], &told["init"]["sessions"]),
        (&json!("unchanged"), &json!("no"))
    );
    let bare = World::new();
    let mut command = alone(&bare);
    let json = run(command.args(["init", "--yes", "--no-model", "--json"]), b"").done();
    let told: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&told["init"]["clients"], &told["init"]["sessions"]),
        (&json!("none"), &json!("left"))
    );
}

/// A Python that fetches for as long as there is no file `end`, and then fails.
#[cfg(unix)]
fn plant_slow_python(world: &World) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let programs = world.path("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let (runs, end) = (programs.join("runs"), programs.join("end"));
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\necho begun >> '{}'\necho 'fetch-model: 40 %' >&2\n\
         while [ ! -e '{}' ]; do sleep 0.02; done\necho 'fetch-model: failed: the server is away' >&2\nexit 1\n",
        runs.display(),
        end.display()
    );
    let python = programs.join("python3");
    std::fs::write(&python, script).unwrap();
    std::fs::set_permissions(&python, PermissionsExt::from_mode(0o755)).unwrap();
    programs
}

// S-INIT-3
#[cfg(unix)]
#[test]
fn init_goes_on_while_the_model_is_fetched() {
    let world = World::new();
    let programs = plant_slow_python(&world);
    let init = || {
        let mut command = world.command(AGENT_KNOWLEDGE);
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        let answers = ["init", "--fetch-model", "--no-clients", "--no-sessions", "--json"];
        let ran = run(command.args(answers), b"");
        serde_json::from_str::<Value>(&ran.output).unwrap()["init"]["model"].clone()
    };
    assert_eq!(init(), "fetching");
    for args in [&["status"][..], &["doctor"], &["model", "status"]] {
        let says = world.agent_knowledge(args).output;
        assert!(says.contains("40 %") && !says.contains("model fetch"), "{args:?}: {says}");
    }
    let says = world.agent_knowledge(&[]).done();
    assert!(says.contains("until the model is fetched") && !says.contains("model fetch"), "{says}");
    assert_eq!(init(), "fetching", "no second one is started");
    assert_eq!(std::fs::read_to_string(programs.join("runs")).unwrap(), "begun\n");
    std::fs::write(programs.join("end"), "").unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let says = loop {
        let says = world.agent_knowledge(&["status"]).done();
        if !says.contains("40 %") {
            break says;
        }
        assert!(std::time::Instant::now() < deadline, "{says}");
    };
    assert!(says.contains("the server is away; agent-knowledge model fetch tries again"), "{says}");
}

// S-INIT-1
#[test]
fn init_tells_of_past_sessions_that_nobody_read() {
    let world = World::new();
    let folder = world.home().join(".claude/projects/-work-p");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, told) in [
        ("a.jsonl", "1 transcript of a past session is on this disk"),
        ("b.jsonl", "2 transcripts of past sessions are on this disk"),
    ] {
        std::fs::write(folder.join(name), "{}\n").unwrap();
        let mut command = alone(&world);
        let shown = run(command.args(["init", "--no-clients", "--no-model"]), b"").done();
        assert!(shown.contains(told), "{shown}");
        assert!(shown.contains("sessions import asks before it reads"), "{shown}");
    }
}

// S-SETUP-5 S-SETUP-6
#[test]
fn concurrent_setups_wait_for_each_other() {
    let world = World::new();
    plant(&world);
    let before = bytes_under(&world.home());
    let names = ["cursor", "codex", "gemini", "qwen", "droid", "claude-code"];
    std::thread::scope(|scope| {
        let running = names.map(|name| {
            let world = &world;
            scope.spawn(move || setup(world, &[name]).done())
        });
        running.into_iter().for_each(|one| drop(one.join().unwrap()));
    });
    setup(&world, &["--undo"]).done();
    assert_eq!(bytes_under(&world.home()), before);
}

// S-SETUP-5
#[test]
fn what_a_killed_setup_left_is_gone_after_the_next() {
    let world = World::new();
    plant(&world);
    let before = bytes_under(&world.home());
    let goose = world.home().join(".config/goose");
    let (copies, other) =
        (world.home().join(".local/share/agent-knowledge/setup"), goose.join("second name"));
    let left =
        [goose.join("config.yaml.4711.tmp"), copies.join("0123456789ab-config.yaml.4711.tmp")];
    std::fs::create_dir_all(&copies).unwrap();
    left.iter().for_each(|path| std::fs::write(path, "token: x").unwrap());
    std::fs::write(goose.join("config.yaml"), "extensions: {} # none\n").unwrap();
    std::fs::hard_link(goose.join("config.yaml"), &other).unwrap();
    setup(&world, &["goose"]).done();
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
    assert!(std::fs::read_to_string(&other).unwrap().contains("agent-knowledge"));
    setup(&world, &["--undo"]).done();
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "extensions: {} # none\n");
    std::fs::remove_file(&other).unwrap();
    plant(&world);
    assert_eq!(bytes_under(&world.home()), before);
}

// S-SETUP-4
#[test]
fn yaml_that_setup_cannot_merge_is_refused_unchanged() {
    let world = World::new();
    let file = world.home().join(".config/goose/config.yaml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    for text in [
        "extensions:\n  - name: x\n",
        "extensions:\n  a: 1\nextensions:\n  b: 1\n",
        "- a: 1\n",
        "extensions: yes\n",
        "a: [1, 2\n",
    ] {
        std::fs::write(&file, text).unwrap();
        let ran = setup(&world, &["goose"]);
        assert_ne!(ran.exit, Some(0), "{text}");
        assert!(format!("{ran:?}").contains("config.yaml:"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

// S-SETUP-1 S-SETUP-2 S-SETUP-6
#[test]
fn setup_is_idempotent_and_undo_restores_all_files() {
    let world = World::new();
    plant(&world);
    let before = bytes_under(&world.home());
    let shown = setup(&world, &["--dry-run"]).done();
    assert!(shown.contains("+[mcp_servers.agent-knowledge]"), "{shown}");
    assert_eq!(bytes_under(&world.home()), before, "a dry run writes nothing");
    let told = setup(&world, &[]).done();
    for title in
        ["Claude Code (claude-code)", "Codex (codex)", "Gemini CLI (gemini)", "Goose (goose)"]
    {
        assert!(told.contains(&format!("{title}\n  wrote ")), "{told}");
    }
    assert!(
        !told.contains("OpenCode") && told.contains("next: start codex, open /hooks"),
        "{told}"
    );
    let after = bytes_under(&world.home());
    let text = |name: &str| String::from_utf8(after[Path::new(name)].clone()).unwrap();
    assert!(text(".codex/config.toml").starts_with("model = \"x\" # mine\n\n[mcp_servers.agent"));
    assert!(
        text(".gemini/settings.json").contains("  // mine\n")
            && text(".claude.json").lines().count() == 1
    );
    let hooks: Value = serde_json::from_str(&text(".claude/settings.json")).unwrap();
    let handler = &hooks["hooks"]["PostToolUseFailure"][0]["hooks"][0];
    let store = world.store().display().to_string();
    assert_eq!(
        handler["args"],
        serde_json::json!(["hook", "--agent", "claude-code", "--logs", store])
    );
    assert!(Path::new(handler["command"].as_str().unwrap()).is_absolute());
    assert!(!setup(&world, &[]).done().contains("wrote"), "twice is once");
    assert_eq!(bytes_under(&world.home()), after);
    let undone = setup(&world, &["--undo"]).done();
    assert!(undone.contains("restored ") && undone.contains("removed "), "{undone}");
    assert_eq!(bytes_under(&world.home()), before);
}

// S-SETUP-4
#[test]
fn a_damaged_file_is_reported_and_the_others_are_set_up() {
    let world = World::new();
    plant(&world);
    let broken = world.home().join(".gemini/settings.json");
    std::fs::write(&broken, "{\n  \"theme\": dark\n}\n").unwrap();
    let ran = setup(&world, &[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.messages);
    assert!(ran.output.contains("settings.json:2:12: unexpected word"), "{}", ran.output);
    assert!(ran.output.contains("wrote") && ran.output.contains("Codex"), "{}", ran.output);
    assert_eq!(std::fs::read_to_string(&broken).unwrap(), "{\n  \"theme\": dark\n}\n");
    let ran = setup(&world, &["claud"]);
    assert_eq!(ran.exit, Some(65));
    assert!(ran.messages.contains("known clients are claude-code, codex"), "{}", ran.messages);
}

// S-SETUP-7 S-SETUP-8
#[test]
fn silent_hooks_and_omitted_clients_are_found() {
    let world = World::new();
    plant(&world);
    setup(&world, &["codex"]).done();
    assert!(setup(&world, &["--check"]).done().contains("Codex (codex): ok\n  not seen yet"));
    let mut record = world.home().join(".local/share/agent-knowledge/setup.json");
    let text = std::fs::read_to_string(&record).unwrap();
    let at = text.split("\"at\": \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    std::fs::write(&record, text.replace(&at, "2026-01-02T03:04:05Z")).unwrap();
    record.pop();
    sign(&world, "codex", "mcp", "2026-01-03T03:04:05Z");
    let ran = setup(&world, &["--check"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.output);
    assert!(
        ran.output.contains("hooks do not run") && ran.output.contains("/hooks of Codex"),
        "{}",
        ran.output
    );
    let doctor = run(alone(&world).arg("doctor"), b"");
    assert!(
        doctor.output.contains("fix: agent-knowledge setup claude-code gemini goose"),
        "{}",
        doctor.output
    );
    assert!(doctor.output.contains("Codex (last seen: mcp "), "{}", doctor.output);
    sign(&world, "codex", "start", "2026-01-03T03:04:00Z");
    assert_eq!(setup(&world, &["--check"]).exit, Some(0));
}

// S-SETUP-1
#[test]
fn setup_says_how_a_client_is_named() {
    let world = World::new();
    let wrong = run(alone(&world).args(["setup", "nosuch"]), b"");
    let told = "CLIENT: \"nosuch\" is not a known client; known clients are ";
    assert!(wrong.exit == Some(65) && wrong.messages.contains(told), "{wrong:?}");
    assert!(wrong.messages.contains("for example: agent-knowledge setup codex"), "{wrong:?}");
    let none = run(alone(&world).args(["setup", "--yes"]), b"").done();
    let told =
        "No client was found on this machine. To set one up anyway: agent-knowledge setup codex.";
    assert!(none.contains(told), "{none}");
}

// S-SETUP-1
#[test]
fn a_project_is_set_up_from_any_folder_in_it() {
    let world = World::new();
    let root = world.work().join("repo");
    world.git(&root, &["init", "-q"]);
    let inside = root.join("src");
    std::fs::create_dir(&inside).unwrap();
    let named = ["setup", "cursor", "vscode", "--project"];
    run(alone(&world).current_dir(&inside).args(named), b"").done();
    assert!(root.join(".cursor/mcp.json").is_file() && root.join(".vscode/mcp.json").is_file());
    let undo = ["setup", "--undo", "--project"];
    let elsewhere = run(alone(&world).args(undo), b"").done();
    assert!(elsewhere.contains("Nothing to do"), "{elsewhere}");
    run(alone(&world).current_dir(&inside).args(undo), b"").done();
    assert!(!root.join(".cursor").exists() && !root.join(".vscode").exists());
}

/// Asks Claude Code which servers it knows, and whether it can connect to them.
fn claude_lists(world: &World, program: &Path, directory: &Path) -> String {
    let mut command = world.command(program);
    command.current_dir(directory).args(["mcp", "list"]);
    for quiet in ["DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] {
        command.env(quiet, "1");
    }
    run(&mut command, b"").done()
}

// S-SETUP-2
#[test]
fn clients_claude_code_reads_what_was_written() {
    let Some(found) = clients() else { return };
    let program: PathBuf = found.join("bin/claude");
    let world = World::new();
    setup(&world, &["claude-code"]).done();
    let listed = claude_lists(&world, &program, &world.work());
    assert!(listed.contains("agent-knowledge") && listed.contains("Connected"), "{listed}");
    setup(&world, &["--undo"]).done();
    let listed = claude_lists(&world, &program, &world.work());
    assert!(!listed.contains("agent-knowledge"), "{listed}");
}
