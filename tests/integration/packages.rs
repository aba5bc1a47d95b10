//! The packages that clients install agree with each other and with the program: versions, commands, one skill. Not
//! here: whether clients accept them (`clients`).

use std::path::{Path, PathBuf};

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn every_package_has_the_version_of_the_program() {
    for path in [
        "packages/claude-code/.claude-plugin/plugin.json",
        "packages/codex/.codex-plugin/plugin.json",
        "packages/gemini/gemini-extension.json",
        "packages/mcpb/manifest.json",
    ] {
        assert_eq!(json(path)["version"], env!("CARGO_PKG_VERSION"), "{path}");
        assert_eq!(json(path)["name"], "agent-knowledge", "{path}");
    }
}

#[test]
fn the_skill_is_the_same_everywhere() {
    let skill = text("packages/skill/agent-knowledge/SKILL.md");
    assert!(skill.starts_with("---\nname: agent-knowledge\ndescription: "));
    for client in ["claude-code", "codex", "gemini"] {
        let copy = format!("packages/{client}/skills/agent-knowledge/SKILL.md");
        assert!(text(&copy) == skill, "{copy} differs from packages/skill");
    }
}

#[test]
fn every_hook_calls_our_program_for_its_client() {
    for (client, seconds) in [("claude-code", 1), ("codex", 1), ("gemini", 1_000)] {
        let hooks = json(&format!("packages/{client}/hooks/hooks.json"));
        let events = hooks["hooks"].as_object().unwrap();
        assert!(events.len() >= 5, "{client}");
        for (event, entries) in events {
            let hook = &entries[0]["hooks"][0];
            let command = hook["command"].as_str().unwrap();
            let called = format!("agent-knowledge hook --agent {client}");
            // If the program is missing, only the hook at the start reports it.
            let is_loud = event == "SessionStart";
            let expected = if is_loud { called } else { format!("{called} || exit 0") };
            assert_eq!(command, expected, "{client} {event}");
            let timeout = hook["timeout"].as_u64().unwrap();
            assert!(timeout >= seconds && timeout <= 5 * seconds, "{client} {event}: {timeout}");
        }
    }
}

#[test]
fn every_server_is_our_program() {
    for (path, pointer) in [
        ("packages/claude-code/.claude-plugin/plugin.json", "/mcpServers/agent-knowledge"),
        ("packages/codex/.mcp.json", "/mcpServers/agent-knowledge"),
        ("packages/gemini/gemini-extension.json", "/mcpServers/agent-knowledge"),
    ] {
        let found = json(path);
        let server = found.pointer(pointer).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(
            (&server["command"], &server["args"][0]),
            (&"agent-knowledge".into(), &"mcp".into())
        );
    }
}

#[test]
fn no_package_names_a_path_that_only_one_machine_has() {
    for path in files_below(&root().join("packages")) {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("/home/") && !text.contains("/Users/"), "{}", path.display());
    }
}

// S-UI-1
#[test]
fn the_part_of_the_dashboard_is_pinned() {
    let locked = json("src/dashboard/parts/package-lock.json");
    let packages = locked["packages"].as_object().unwrap();
    assert_eq!(packages.keys().collect::<Vec<_>>(), ["", "node_modules/htm"], "one part, no more");
    let part = &packages["node_modules/htm"];
    assert_eq!(part["version"], json("src/dashboard/parts/package.json")["dependencies"]["htm"]);
    assert!(part["integrity"].as_str().unwrap().starts_with("sha512-"), "{part}");
    // Whoever builds chooses the registry, and the checksum decides.
    assert!(part.get("resolved").is_none(), "{part}");
    // As in deny.toml, which sees no packages but crates.
    let licence = part["license"].as_str().unwrap();
    assert!(text("deny.toml").contains(&format!("  \"{licence}\",\n")), "{licence}");
    let sums = text("src/dashboard/parts/sha256");
    for file in ["preact/standalone.module.js", "LICENSE"] {
        let line = sums.lines().find(|line| line.ends_with(&format!("  {file}"))).unwrap();
        assert_eq!(line.split(' ').next().unwrap().len(), 64, "{line}");
    }
}
