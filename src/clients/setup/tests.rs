//! Round trips for every client, scope and platform, on typical files: set up, set up again, undo. Afterwards every
//! file is as it was, byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::clients::{ClientSpec, ServerForm};
use super::desired_state::{DesiredFile, desired_files};
use super::*;
use event::parse_timestamp;

const PROGRAM: &str = "/opt/my tools/agent-knowledge";

/// A machine in a folder of its own.
struct TestMachine {
    folder: tempfile::TempDir,
    platform: Platform,
}

fn nothing_set(_: &str) -> Option<OsString> {
    None
}

impl TestMachine {
    fn new(platform: Platform) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), platform }
    }

    fn machine(&self, program: &str) -> Machine<'static> {
        let place = |name: &str| self.folder.path().join(name);
        Machine {
            platform: self.platform,
            home: place("home"),
            project: place("project"),
            folders: Vec::new(),
            program: program.into(),
            store: None,
            lookup: &nothing_set,
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self, action: &str, program: &str, names: &[&str], scope: SetupScope) -> SetupReport {
        let data = self.data();
        let request = SetupRequest {
            machine: self.machine(program),
            data: &data,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            scope: Some(scope),
            mode: if action == "show" { SetupMode::DryRun } else { SetupMode::Apply },
            now: at("2026-11-22T04:00:00Z"),
        };
        match action {
            "undo" => take_back(&request).unwrap(),
            _ => set_up(&request).unwrap(),
        }
    }

    /// All client files and all folders.
    fn files(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().join("home"), self.folder.path().join("project")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                    found.insert(path, None);
                } else {
                    let bytes = std::fs::read(&path).unwrap();
                    found.insert(path, Some(bytes));
                }
            }
        }
        found
    }

    fn plant(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn at(time: &str) -> Timestamp {
    parse_timestamp(time).unwrap()
}

/// Every client with each of its scopes, on these platforms.
fn on(platforms: &[Platform]) -> Vec<(TestMachine, &'static ClientSpec, SetupScope)> {
    let mut all = Vec::new();
    for platform in platforms.iter().copied() {
        for client in clients::all_clients() {
            for scope in [SetupScope::User, SetupScope::Project] {
                if client.files(scope).is_some() {
                    all.push((TestMachine::new(platform), client, scope));
                }
            }
        }
    }
    all
}

fn desired_files_of(
    machine: &TestMachine,
    client: &'static ClientSpec,
    scope: SetupScope,
) -> Vec<DesiredFile> {
    desired_files(client, scope, &machine.machine(PROGRAM))
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json" || extension == "jsonc")
}

/// Typical contents of a file of this kind. Files that are ours alone have none.
fn existing(client: &ClientSpec, scope: SetupScope, path: &Path) -> Vec<String> {
    let form = client.files(scope).unwrap().server.form;
    if is_json(path) {
        let pretty = "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"o\"\n    }\n  },\n  \"hooks\": {\n    \"SessionStart\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\" }] }\n    ]\n  }\n}\n";
        let minified: String = pretty.split('\n').map(str::trim_start).collect();
        return vec![
            pretty.to_owned(),
            pretty.replace('\n', "\r\n"),
            pretty
                .replace("  \"theme\"", "  // colours: { \"dark\" }\n  \"theme\"")
                .replace("}\n  },", "} /* end */\n  },"),
            pretty.replace("    }\n  },", "    },\n  },"),
            format!("\u{FEFF}{}", pretty.replace("  ", "\t")),
            minified.replace("\": ", "\":"),
            minified,
            "{}".to_owned(),
            "{\n}\n".to_owned(),
            String::new(),
        ];
    }
    match (form, path.extension().and_then(|extension| extension.to_str())) {
        (ServerForm::Toml(_), Some("toml")) => vec![
            "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"o\"\n".to_owned(),
            "# only a comment".to_owned(),
            "a = 1\r\n[b]\r\nc = '''\r\n[x]\r\n'''\r\n".to_owned(),
            String::new(),
        ],
        (ServerForm::YamlExtension(key) | ServerForm::YamlList(key), Some("yaml")) => vec![
            format!("# mine\nname: a\n{key}:\nrules: []\n"),
            "name: a\r\nversion: 1\r\n".to_owned(),
            "name: a".to_owned(),
            format!("name: a\n{key}: {{}} # none\n"),
            String::new(),
        ],
        _ => Vec::new(),
    }
}

/// The formats do not depend on the scope, so two texts are enough for a project.
fn few(mut texts: Vec<String>, scope: SetupScope) -> Vec<String> {
    texts.truncate(if scope == SetupScope::Project { 2 } else { texts.len() });
    texts
}

// S-SETUP-1 S-SETUP-2 S-SETUP-6
#[test]
fn a_fresh_machine_is_set_up_and_restored() {
    for (machine, client, scope) in on(&[Platform::Linux, Platform::MacOs, Platform::Windows]) {
        let before = machine.files();
        let report = machine.run("set up", PROGRAM, &[client.name], scope);
        assert_eq!(report.status, ReportStatus::Fine, "{}: {}", client.title, report.text);
        // If no edition is installed, the first one is set up.
        let first = clients::all_clients().find(|other| other.name == client.name).unwrap();
        for desired in desired_files_of(&machine, first, scope) {
            let text = std::fs::read_to_string(&desired.path).unwrap();
            assert!(desired.is_in(&text).unwrap(), "{}: {text}", desired.path.display());
        }
        let after = machine.files();
        let again = machine.run("set up", PROGRAM, &[client.name], scope);
        assert!(!again.text.contains("wrote"), "{}", again.text);
        assert_eq!(machine.files(), after, "{}: twice is once", client.title);
        let undone = machine.run("undo", PROGRAM, &[], scope);
        assert_eq!(undone.status, ReportStatus::Fine, "{}", undone.text);
        let bases = |path: &PathBuf| {
            path.strip_prefix(machine.folder.path()).unwrap().components().count() > 1
        };
        let left: Vec<_> = machine.files().into_keys().filter(bases).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "{}", client.title);
        assert!(before.is_empty() && !machine.data().join("setup.json").exists());
    }
}

// S-SETUP-2 S-SETUP-3 S-SETUP-6
#[test]
fn typical_files_are_restored_byte_for_byte() {
    let mut tried = 0;
    for (machine, client, scope) in on(&[Platform::Linux]) {
        for path in
            desired_files_of(&machine, client, scope).into_iter().map(|desired| desired.path)
        {
            let below = path.strip_prefix(machine.folder.path()).unwrap();
            for text in few(existing(client, scope, &path), scope) {
                let machine = TestMachine::new(machine.platform);
                let path = machine.folder.path().join(below);
                machine.plant(&path, &text);
                let before = machine.files();
                // The client is named, so it is set up even if it is not installed.
                let report = machine.run("set up", PROGRAM, &[client.name], scope);
                assert_eq!(
                    report.status,
                    ReportStatus::Fine,
                    "{}: {}",
                    path.display(),
                    report.text
                );
                let after = machine.files();
                assert!(after != before, "{}", path.display());
                machine.run("set up", PROGRAM, &[client.name], scope);
                assert_eq!(machine.files(), after, "{}: twice is once", path.display());
                // The program has moved.
                machine.run("set up", "/moved/agent-knowledge", &[client.name], scope);
                let moved = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
                assert!(!moved.contains("my tools"), "{moved}");
                machine.run("undo", PROGRAM, &[client.name], scope);
                let mut undone = machine.files();
                undone.retain(|path, _| before.contains_key(path));
                assert_eq!(undone, before, "{}\n{text}", path.display());
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

// S-SETUP-6
#[test]
fn later_changes_stay_and_only_our_part_is_removed() {
    for (machine, client, scope) in on(&[Platform::Linux]) {
        for path in
            desired_files_of(&machine, client, scope).into_iter().map(|desired| desired.path)
        {
            for text in few(existing(client, scope, &path), scope) {
                if text.trim().is_empty() {
                    continue;
                }
                machine.plant(&path, &text);
                machine.run("set up", PROGRAM, &[client.name], scope);
                // The user adds a line at the end, which every format allows.
                let set_up = std::fs::read_to_string(&path).unwrap();
                let (more, changed) = match set_up.rsplit_once('}').filter(|_| is_json(&path)) {
                    Some((head, tail)) => ("// new\n", format!("{head}\n// new\n}}{tail}")),
                    None => ("# new\n", format!("{set_up}# new\n")),
                };
                machine.plant(&path, &changed);
                let report = machine.run("undo", PROGRAM, &[client.name], scope);
                assert_eq!(report.status, ReportStatus::Fine, "{}\n{changed}", report.text);
                let left = std::fs::read_to_string(&path).unwrap();
                assert!(!left.contains("agent-knowledge") && left.contains(more), "{left}");
                for line in text.lines().map(str::trim).filter(|line| line.len() > 3) {
                    let line = line.trim_end_matches(['}', '{', ']', '[', ' ', ',']);
                    assert!(left.contains(line), "{line}\n{left}");
                }
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}

// S-SETUP-4
#[test]
fn a_damaged_file_is_reported_and_not_changed() {
    for (machine, client, scope) in on(&[Platform::Linux]) {
        for path in
            desired_files_of(&machine, client, scope).into_iter().map(|desired| desired.path)
        {
            if existing(client, scope, &path).is_empty() {
                continue;
            }
            machine.plant(&path, "\n = { \"a\": [\n");
            let report = machine.run("set up", PROGRAM, &[client.name], scope);
            assert_eq!(report.status, ReportStatus::Problem, "{}: {}", client.title, report.text);
            let place = format!("refused: {}:2:", path.display());
            assert!(report.text.contains(&place), "{}", report.text);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "\n = { \"a\": [\n");
            machine.run("undo", PROGRAM, &[client.name], scope);
            std::fs::remove_file(&path).unwrap();
        }
    }
}

// S-SETUP-4
#[test]
fn a_script_of_the_user_is_not_replaced() {
    let machine = TestMachine::new(Platform::Linux);
    let script = machine.folder.path().join("home/Documents/Cline/Hooks/TaskStart");
    machine.plant(&script, "#!/bin/sh\nmine\n");
    let report = machine.run("set up", PROGRAM, &["cline"], SetupScope::User);
    assert!(
        report.status == ReportStatus::Problem && report.text.contains("this file is yours"),
        "{}",
        report.text
    );
    machine.run("undo", PROGRAM, &[], SetupScope::User);
    assert_eq!(std::fs::read_to_string(&script).unwrap(), "#!/bin/sh\nmine\n");
    assert_eq!(std::fs::read_dir(script.parent().unwrap()).unwrap().count(), 1);
}

// S-SETUP-3
#[test]
fn an_existing_hooks_file_replaces_the_settings() {
    let machine = TestMachine::new(Platform::Linux);
    let place = |name: &str| machine.folder.path().join("home/.factory").join(name);
    machine.run("set up", PROGRAM, &["droid"], SetupScope::User);
    assert!(place("settings.json").exists() && !place("hooks.json").exists());
    // The client moves all hooks to a file for hooks.
    let settings = std::fs::read_to_string(place("settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    machine.plant(&place("hooks.json"), &settings["hooks"].to_string());
    machine.plant(&place("settings.json"), "{\"a\":1}");
    let report = machine.run("set up", PROGRAM, &["droid"], SetupScope::User);
    assert!(report.text.contains("unchanged"), "{}", report.text);
    machine.plant(&place("hooks.json"), "{}");
    machine.run("set up", PROGRAM, &["droid"], SetupScope::User);
    let hooks = std::fs::read_to_string(place("hooks.json")).unwrap();
    assert!(
        hooks.contains("\n  \"SessionStart\": [") && hooks.contains("hook --agent droid"),
        "{hooks}"
    );
    let report = machine.run("undo", PROGRAM, &[], SetupScope::User);
    assert_eq!(report.status, ReportStatus::Fine, "{}", report.text);
    assert_eq!(std::fs::read_to_string(place("settings.json")).unwrap(), "{\"a\":1}");
    assert_eq!(std::fs::read_to_string(place("hooks.json")).unwrap(), "{}");
}

#[test]
fn a_client_with_our_plugin_gets_a_note() {
    let machine = TestMachine::new(Platform::Linux);
    let settings = machine.folder.path().join("home/.claude/settings.json");
    for (on, has_note) in [("true", true), ("false", false)] {
        let text = format!("{{\"enabledPlugins\": {{\"agent-knowledge@agent-knowledge\": {on}}}}}");
        machine.plant(&settings, &text);
        let report = machine.run("show", PROGRAM, &["claude-code"], SetupScope::User);
        assert_eq!(report.text.contains("plugin is enabled here"), has_note, "{}", report.text);
    }
}

// S-SETUP-1
#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let machine = TestMachine::new(Platform::Linux);
    machine.plant(&machine.folder.path().join("home/.codex/config.toml"), "model = \"x\"\n");
    let before = machine.files();
    let report = machine.run("show", PROGRAM, &[], SetupScope::User);
    assert!(report.text.contains("+[mcp_servers.agent-knowledge]"), "{}", report.text);
    assert!(report.text.contains("trust the hooks of agent-knowledge"), "{}", report.text);
    assert!(!report.text.contains("Gemini"), "only those that are here: {}", report.text);
    assert_eq!(machine.files(), before);
    assert!(!machine.data().exists());
}

// S-SETUP-5
#[cfg(unix)]
#[test]
fn links_are_followed_and_broken_links_refused() {
    use std::os::unix::fs::symlink;
    let machine = TestMachine::new(Platform::Linux);
    let (link, real) = (
        machine.folder.path().join("home/.gemini/settings.json"),
        machine.folder.path().join("dotfiles/gemini.json"),
    );
    machine.plant(&real, "{}\n");
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    machine.run("set up", PROGRAM, &["gemini"], SetupScope::User);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("mcpServers"));
    machine.run("undo", PROGRAM, &[], SetupScope::User);
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{}\n");
    std::fs::remove_file(&real).unwrap();
    let report = machine.run("set up", PROGRAM, &["gemini"], SetupScope::User);
    assert!(
        report.text.contains("broken link") && report.status == ReportStatus::Problem,
        "{}",
        report.text
    );
    assert!(!real.exists());
}

#[test]
fn an_unknown_client_is_answered_with_the_known_ones() {
    let machine = TestMachine::new(Platform::Linux);
    let data = machine.data();
    let refusal_of = |name: &str, scope| {
        let request = SetupRequest {
            machine: machine.machine(PROGRAM),
            data: &data,
            names: vec![name.to_owned()],
            scope: Some(scope),
            mode: SetupMode::Apply,
            now: at("2026-11-22T04:00:00Z"),
        };
        set_up(&request).unwrap_err().to_string()
    };
    assert!(
        refusal_of("codx", SetupScope::User).contains("known clients are claude-code, codex, ")
    );
    assert!(refusal_of("windsurf", SetupScope::Project).contains("no project configuration"));
}

/// A check of everything that was set up, by this program.
fn check_of<'a>(machine: &TestMachine, program: &str, data: &'a Path) -> SetupRequest<'a> {
    SetupRequest {
        machine: machine.machine(program),
        data,
        names: Vec::new(),
        scope: None,
        mode: SetupMode::Apply,
        now: at("2026-11-22T06:00:00Z"),
    }
}

/// The result of a check, for these times of the last server start and the last start hook.
fn checked(machine: &TestMachine, server: Option<&str>, start: Option<&str>) -> SetupReport {
    let data = machine.data();
    let request = check_of(machine, PROGRAM, &data);
    let last_seen = |_: &str, call_kind: &str| match call_kind {
        "mcp" => server.map(at),
        "start" => start.map(at),
        _ => None,
    };
    check(&request, &last_seen).unwrap()
}

// S-SETUP-7
#[test]
fn hooks_that_do_not_run_are_found() {
    let machine = TestMachine::new(Platform::Linux);
    let program = machine.folder.path().join("agent-knowledge");
    std::fs::write(&program, "").unwrap();
    machine.run("set up", program.to_str().unwrap(), &["codex"], SetupScope::User);
    for (server, start, silent) in [
        (None, None, false),
        (Some("2026-11-22T03:00:00Z"), None, false),
        (Some("2026-11-22T05:55:00Z"), None, false),
        (Some("2026-11-22T05:00:00Z"), None, true),
        (Some("2026-11-22T05:00:00Z"), Some("2026-11-22T03:00:00Z"), true),
        (Some("2026-11-22T05:00:00Z"), Some("2026-11-22T04:59:59Z"), false),
        (Some("2026-11-22T05:00:00Z"), Some("2026-11-22T04:00:01Z"), false),
    ] {
        let report = checked(&machine, server, start);
        let status = if silent { ReportStatus::Problem } else { ReportStatus::Fine };
        assert_eq!(report.status, status, "{server:?} {start:?}: {}", report.text);
        assert_eq!(report.text.contains("trust them in /hooks"), silent, "{}", report.text);
    }
}

// S-SETUP-7
#[test]
fn changed_or_missing_files_are_found() {
    let machine = TestMachine::new(Platform::Linux);
    let program = machine.folder.path().join("agent-knowledge");
    std::fs::write(&program, "").unwrap();
    machine.run("set up", program.to_str().unwrap(), &["gemini"], SetupScope::User);
    assert_eq!(checked(&machine, None, None).status, ReportStatus::Fine);
    let settings = machine.folder.path().join("home/.gemini/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    for (spoilt, expected) in [
        (text.replace("\"mcp\"", "\"no\""), "no longer contains"),
        (text.replace("BeforeAgent", "Never"), "no longer contains"),
        ("{".to_owned(), "settings.json:1:1"),
    ] {
        std::fs::write(&settings, spoilt).unwrap();
        let report = checked(&machine, None, None);
        assert!(
            report.status == ReportStatus::Problem && report.text.contains(expected),
            "{}",
            report.text
        );
    }
    std::fs::remove_file(&settings).unwrap();
    assert!(checked(&machine, None, None).text.contains("is gone"));
    std::fs::write(&settings, text).unwrap();
    std::fs::remove_file(&program).unwrap();
    assert!(checked(&machine, None, None).text.contains("no longer exists"));
}

// S-SETUP-7
#[cfg(unix)]
#[test]
fn a_link_to_this_program_is_this_program() {
    use std::os::unix::fs::symlink;

    let place = |machine: &TestMachine, name: &str| machine.folder.path().join(name);
    let machine = TestMachine::new(Platform::Linux);
    let [program, link, other] =
        ["agent-knowledge", "link", "other"].map(|name| place(&machine, name));
    std::fs::write(&program, "").unwrap();
    std::fs::write(&other, "").unwrap();
    symlink(&program, &link).unwrap();
    let [program, link, other] = [&program, &link, &other].map(|path| path.to_str().unwrap());
    let data = machine.data();
    for (set_up, program_path, is_other) in
        [(program, link, false), (link, program, false), (link, other, true), (other, link, true)]
    {
        machine.run("set up", set_up, &["gemini"], SetupScope::User);
        let report = check(&check_of(&machine, program_path, &data), &|_, _| None).unwrap();
        assert_eq!(report.status, ReportStatus::Fine, "{}", report.text);
        assert_eq!(report.text.contains("note: it starts"), is_other, "{}", report.text);
    }
}

// S-SETUP-8
#[test]
fn installed_clients_that_were_never_seen_are_listed() {
    let machine = TestMachine::new(Platform::Linux);
    for folder in [".codex", ".gemini", ".qwen"] {
        std::fs::create_dir_all(machine.folder.path().join("home").join(folder)).unwrap();
    }
    machine.run("set up", PROGRAM, &["codex"], SetupScope::User);
    let last_seen = |agent: &str, _: &str| (agent == "qwen").then(|| at("2026-11-22T04:00:00Z"));
    let now = at("2026-11-22T05:00:00Z");
    let status = clients_status(machine.machine(PROGRAM), &machine.data(), now, &last_seen);
    assert_eq!(status.left_out, ["gemini"], "a plugin brings qwen here");
    assert_eq!(status.set_up, ["Codex (not seen yet)"]);
    assert!(status.problems[0].contains("no longer exists"), "{:?}", status.problems);
}
