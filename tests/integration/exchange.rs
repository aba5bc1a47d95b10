//! Stores of other tools with the real program: imported with exact counts, imported again, taken back; and memories
//! exported and read back equal. Not here: what each store's fields become (the unit tests of `exchange`).

use std::path::{Path, PathBuf};

use event::Event;
use serde_json::{Value, json};

use crate::world::{World, bytes_under};

/// Each fixture: where it is, its store, and how much of it is read, taken, left out, and linked.
const STORES: [(&str, &str, [u64; 4]); 12] = [
    ("server-memory/memory.jsonl", "server-memory", [9, 8, 1, 0]),
    ("basic-memory", "basic-memory", [3, 3, 0, 2]),
    ("obsidian", "obsidian", [4, 3, 1, 3]),
    ("claude-code", "claude-code", [4, 3, 1, 1]),
    ("mem0/get_all.json", "mem0", [3, 3, 0, 0]),
    ("openmemory/memories.json", "openmemory", [5, 2, 3, 0]),
    ("mcp-memory-service/export.json", "mcp-memory-service", [3, 3, 0, 0]),
    ("mcp-memory-service/memories.sql", "mcp-memory-service", [4, 3, 1, 1]),
    ("knowledge-vault", "knowledge-vault", [3, 3, 0, 0]),
    ("yaad/yaad.sql", "yaad", [6, 2, 4, 1]),
    ("knowledge-server/knowledge.sql", "knowledge-server", [5, 2, 3, 1]),
    ("agentcache/agentcache.sql", "agentcache", [5, 3, 2, 0]),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/exchange")
}

/// The path of a store: the fixture, or the database that it describes.
fn store(world: &World, fixture: &str) -> PathBuf {
    let path = fixtures().join(fixture);
    if path.extension().is_none_or(|extension| extension != "sql") {
        return path;
    }
    let database = world.path(fixture.replace('/', "-")).with_extension("db");
    let text = std::fs::read_to_string(path).unwrap();
    rusqlite::Connection::open(&database).unwrap().execute_batch(&text).unwrap();
    database
}

fn imported(world: &World, path: &Path, more: &[&str]) -> Value {
    world.asked(&[&["import", path.to_str().unwrap(), "--repo", "zoo"], more].concat())
}

fn listed(world: &World) -> Vec<String> {
    let page = world.asked(&["list", "--limit", "100"]);
    let memories = page["memories"].as_array().unwrap().iter();
    let mut lessons: Vec<String> =
        memories.map(|memory| memory["lesson"].as_str().unwrap().to_owned()).collect();
    lessons.sort();
    lessons
}

/// What of an import must be equal after a round trip: all but who vouches, where and in which import.
fn content(mut events: Vec<Event>) -> Vec<Event> {
    for event in &mut events {
        (event.source, event.session_id, event.host) = (None, None, None);
    }
    events.sort_by(|a, b| a.id.cmp(&b.id));
    events
}

// S-IMPORT-1, S-IMPORT-2, S-IMPORT-3
#[test]
fn every_store_comes_over_with_exact_counts() {
    for (fixture, name, [read, taken, left_out, links]) in STORES {
        let world = World::new();
        let path = store(&world, fixture);
        let before = path.is_dir().then(|| bytes_under(&path));
        let tried = imported(&world, &path, &["--dry-run"]);
        assert_eq!((&tried["new"], &tried["import"]), (&json!(taken), &json!(null)), "{fixture}");
        assert!(!world.store().exists(), "{fixture}: nothing is written");
        let done = imported(&world, &path, &[]);
        let left: u64 =
            done["left_out"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!(
            (&done["store"], &done["read"], &done["new"], left, &done["links"]),
            (&json!(name), &json!(read), &json!(taken), left_out, &json!(links)),
            "{fixture}: {done}"
        );
        assert_eq!(listed(&world).len() as u64, taken, "{fixture}");
        assert_eq!(world.log_lines("zoo.jsonl").len() as u64, taken + links, "{fixture}");
        let again = imported(&world, &path, &[]);
        assert_eq!(
            (&again["new"], &again["unchanged"], &again["links"], &again["import"]),
            (&json!(0), &json!(taken), &json!(0), &json!(null)),
            "{fixture}"
        );
        assert_eq!(world.log_lines("zoo.jsonl").len() as u64, taken + links, "{fixture}");
        assert_eq!(path.is_dir().then(|| bytes_under(&path)), before, "{fixture}");
    }
}

// S-IMPORT-6
#[test]
fn an_import_is_taken_back_as_one() {
    for world in [World::new(), World::sharing()] {
        let mine = "Walrus jobs need a lock of their own";
        world.log_memory(&["--repo", "zoo", "--type", "fact", "--lesson", mine]).done();
        let other = imported(&world, &store(&world, "mem0/get_all.json"), &[]);
        let before = listed(&world);
        let vault = store(&world, "obsidian");
        let done = imported(&world, &vault, &[]);
        let id = done["import"].as_str().unwrap().to_owned();
        assert_ne!(done["import"], other["import"]);
        let told = world.agent_knowledge(&["import", "--undo", &id, "--dry-run"]).done();
        assert_eq!(told, format!("{id}: 3 memories would be taken back\n"));
        assert_eq!(listed(&world).len(), before.len() + 3);
        let told = world.agent_knowledge(&["import", "--undo", &id]).done();
        assert_eq!(told, format!("{id}: 3 memories taken back\n"));
        assert_eq!(listed(&world), before, "and nothing else");
        let lines = world.log_lines("zoo.jsonl");
        let told = world
            .agent_knowledge(&["import", "--undo", id.strip_prefix("import-").unwrap()])
            .done();
        assert!(told.contains("nothing to take back"), "{told}");
        assert_eq!(world.log_lines("zoo.jsonl"), lines);
        // What was taken back comes back, and is taken back again under the new name.
        let back = imported(&world, &vault, &[]);
        assert_eq!(
            (&back["new"], &back["back"], &back["links"]),
            (&json!(0), &json!(3), &json!(3))
        );
        assert_eq!(listed(&world).len(), before.len() + 3);
        let id = back["import"].as_str().unwrap();
        let told = world.agent_knowledge(&["import", "--undo", id]).done();
        assert_eq!(told, format!("{id}: what it said about 3 memories taken back\n"));
        assert_eq!(listed(&world), before);
    }
}

// S-IMPORT-6
#[test]
fn only_imports_can_be_taken_back() {
    let world = World::new();
    imported(&world, &store(&world, "mem0/get_all.json"), &[]);
    for (id, exit) in [("import-00000000", 1), ("s1", 65), ("", 65)] {
        assert_eq!(world.agent_knowledge(&["import", "--undo", id]).exit, Some(exit), "{id}");
    }
    assert_eq!(listed(&world).len(), 3);
}

// S-IMPORT-2
#[test]
fn what_somebody_forgot_stays_forgotten() {
    let world = World::new();
    let path = store(&world, "mem0/get_all.json");
    imported(&world, &path, &[]);
    let id = world.asked(&["list"])["memories"][0]["id"].as_str().unwrap().to_owned();
    world.agent_knowledge(&["forget", &id]).done();
    let again = imported(&world, &path, &[]);
    assert_eq!((&again["unchanged"], &again["set_aside"]), (&json!(2), &json!(1)));
    // A person may say the same words as an undo.
    let other = world.asked(&["list"])["memories"][0]["id"].as_str().unwrap().to_owned();
    world.agent_knowledge(&["forget", &other, "--reason", "import taken back"]).done();
    let again = imported(&world, &path, &[]);
    assert_eq!((&again["back"], &again["set_aside"]), (&json!(0), &json!(2)));
}

// S-IMPORT-2
#[test]
fn a_wrong_path_is_explained() {
    let world = World::new();
    let folder = world.path("folder");
    std::fs::create_dir(&folder).unwrap();
    for (name, args, exit, said) in [
        ("", vec![], 1, "is no store that is known (agent-knowledge, server-memory"),
        ("none.jsonl", vec!["--from", "yaad"], 1, "failed to read"),
        (
            "a.json",
            vec!["--from", "nonsense"],
            65,
            "--from: must be one of agent-knowledge, server-memory",
        ),
        ("a.json", vec![], 1, "is neither JSON nor a database"),
    ] {
        std::fs::write(folder.join("a.json"), "prose").unwrap();
        let path = folder.join(name);
        let ran = world.agent_knowledge(&[&["import", path.to_str().unwrap()], &*args].concat());
        assert_eq!(ran.exit, Some(exit), "{name}: {}", ran.messages);
        assert!(ran.messages.contains(said), "{name}: {}", ran.messages);
    }
    assert!(!world.store().exists());
}

/// Odd memories, one of them private, one for all repositories.
fn write_odd_memories(world: &World) {
    let lines = [
        json!({ "repo": "zoo", "event_type": "error", "context": "- npm: \"install\"\n  EACCES", "command": "sudo chown -R $(whoami) ~/.npm # 'yes'",
            "lesson": "First line\n\n---\n# not: front matter\n```\n[[x]]\n```", "success_rate": "9/10", "tags": ["npm", "a, b", "true", "~"],
            "symptoms": ["EACCES: permission\ndenied"], "files": ["src/a b.rs"], "confidence": "inferred", "expires": "2099-01-01" }),
        json!({ "repo": "zoo", "event_type": "decision", "lesson": "=1+1 is a formula, 数据 and é are words" }),
        json!({ "scope": "global", "event_type": "preference", "lesson": "null" }),
        json!({ "repo": "zoo", "event_type": "fact", "lesson": "a private walrus", "private": true }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    world.log_memory_json(text, &[]).done();
}

// S-EXPORT-1, S-EXPORT-2, S-WRITE-9
#[test]
fn exported_memories_come_back_equal() {
    let world = World::new();
    write_odd_memories(&world);
    let public = |world: &World| {
        let events = world.all_events().into_iter().filter(|event| !event.is_private());
        content(events.collect())
    };
    let lines = world.path("all.jsonl");
    let told = world
        .agent_knowledge(&["export", "--format", "jsonl", "--all", "--to", lines.to_str().unwrap()])
        .done();
    assert!(
        told.starts_with("3 memories in ") && told.ends_with("1 private ones stay here\n"),
        "{told}"
    );
    let vault = world.path("vault");
    let told =
        world.asked(&["export", "--format", "markdown", "--all", "--to", vault.to_str().unwrap()]);
    assert_eq!((&told["written"], &told["private"]), (&json!(3), &json!(1)));
    for path in [lines, vault] {
        let other = World::new();
        // Whoever wrote a file must not choose where it goes.
        let tried = other.asked(&["import", path.to_str().unwrap()]);
        assert_eq!((&tried["new"], other.store().exists()), (&json!(0), false));
        let done = other.asked(&["import", path.to_str().unwrap(), "--from", "agent-knowledge"]);
        assert_eq!(
            (&done["store"], &done["read"], &done["new"]),
            (&json!("agent-knowledge"), &json!(3), &json!(3))
        );
        assert_eq!(public(&other), public(&world), "{}", path.display());
        assert!(other.all_events().iter().all(|event| event.source.as_deref() == Some("imported")));
        // In the store that they came from they are known.
        let here = world.asked(&["import", path.to_str().unwrap()]);
        assert_eq!((&here["new"], &here["unchanged"]), (&json!(0), &json!(3)));
    }
}

/// A store with one memory in `zoo`, whose note is in a vault. Returns the vault and the note.
fn exported_note(world: &World) -> (PathBuf, PathBuf) {
    world.log_memory(&["--repo", "zoo", "--type", "fact", "--lesson", "penguins eat fish"]).done();
    let vault = world.path("vault");
    let to = vault.to_str().unwrap();
    world.agent_knowledge(&["export", "--format", "markdown", "--repo", "zoo", "--to", to]).done();
    let note = std::fs::read_dir(vault.join("zoo")).unwrap().next().unwrap().unwrap().path();
    (vault, note)
}

/// Changes a file as a person does.
fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

fn undone(world: &World, import: &Value) -> String {
    world.agent_knowledge(&["import", "--undo", import["import"].as_str().unwrap()]).done()
}

// S-EXPORT-2, S-IMPORT-6
#[test]
fn a_changed_note_replaces_its_memory() {
    for how in [["--repo", "zoo"], ["--from", "agent-knowledge"]] {
        let world = World::new();
        let (vault, note) = exported_note(&world);
        let to = vault.to_str().unwrap();
        let import = ["import", to, how[0], how[1]];
        assert!(note.file_name().unwrap().to_str().unwrap().starts_with("penguins eat fish "));
        let old = world.asked(&["list"])["memories"][0]["id"].as_str().unwrap().to_owned();
        edit(&note, "\npenguins eat fish\n", "\npenguins eat krill\n");
        let tried = world.agent_knowledge(&[&import[..], &["--dry-run"]].concat()).done();
        assert!(tried.contains(&format!(" replaces {old}\n")), "{tried}");
        let done = world.asked(&import);
        assert_eq!((&done["new"], &done["replaced"]), (&json!(1), &json!(1)));
        assert_eq!(listed(&world), ["penguins eat krill"]);
        assert_eq!(world.log_lines("zoo.jsonl").len(), 3, "all is said where the memory is");
        assert_eq!(world.asked(&import)["unchanged"], 1);
        // The note still names the first memory when it is changed again.
        edit(&note, "\npenguins eat krill\n", "\npenguins eat squid\n");
        let again = world.asked(&import);
        assert_eq!((&again["new"], &again["replaced"]), (&json!(1), &json!(1)));
        assert_eq!(listed(&world), ["penguins eat squid"]);
        for (one, left) in [(again, "penguins eat krill"), (done, "penguins eat fish")] {
            undone(&world, &one);
            assert_eq!(listed(&world), [left]);
        }
        // What comes back replaces again what it had replaced.
        let back = world.asked(&import);
        assert_eq!((&back["back"], &back["replaced"]), (&json!(1), &json!(1)));
        assert_eq!(listed(&world), ["penguins eat squid"]);
    }
}

// S-EXPORT-2, S-IMPORT-1
#[test]
fn a_note_of_others_replaces_nothing() {
    let world = World::new();
    let (vault, note) = exported_note(&world);
    std::fs::write(vault.join("mine.md"), "walruses sleep on ice").unwrap();
    edit(&note, "repo: \"zoo\"", "repo: \"other\"");
    edit(&note, "\npenguins eat fish\n", "\npenguins eat ice\n");
    let done = imported(&world, &vault, &[]);
    assert_eq!((&done["new"], &done["replaced"]), (&json!(1), &json!(0)));
    let left_out = done["left_out"].as_object().unwrap();
    assert!(left_out.keys().all(|why| why.starts_with("memory of another repository")), "{done}");
    assert_eq!((left_out.len(), &done["read"]), (1, &json!(2)));
    assert_eq!(listed(&world), ["penguins eat fish", "walruses sleep on ice"]);
    // A person who says that these are our memories is believed, and still nothing of zoo is replaced.
    let done = world.asked(&["import", vault.to_str().unwrap(), "--from", "agent-knowledge"]);
    assert_eq!((&done["replaced"], &world.log_lines("other.jsonl").len()), (&json!(0), &1));
    assert!(listed(&world).contains(&"penguins eat fish".to_owned()));
}

// S-IMPORT-7
#[test]
fn texts_changed_on_both_sides_stay() {
    let world = World::new();
    let (vault, note) = exported_note(&world);
    let old = world.asked(&["list"])["memories"][0]["id"].as_str().unwrap().to_owned();
    world
        .log_memory(&["--repo", "zoo", "--type", "fact", "--lesson", "penguins eat shrimp"])
        .done();
    let memories = world.asked(&["list"])["memories"].as_array().unwrap().clone();
    let ids = memories.iter().map(|memory| memory["id"].as_str().unwrap());
    let mine = ids.filter(|id| *id != old).collect::<String>();
    world.agent_knowledge(&["supersede", &old, "--by", &mine]).done();
    assert_eq!(listed(&world), ["penguins eat shrimp"]);
    edit(&note, "\npenguins eat fish\n", "\npenguins eat krill\n");
    let to = vault.to_str().unwrap();
    let told = world.agent_knowledge(&["import", to, "--repo", "zoo", "--dry-run"]).done();
    assert!(told.contains("with another text here, so that both stay: 1\n"), "{told}");
    assert!(told.contains(&format!(" beside {mine}\n")), "{told}");
    let done = imported(&world, &vault, &[]);
    assert_eq!((&done["replaced"], &done["beside"][0]["old"]), (&json!(0), &json!(mine)));
    assert_eq!(listed(&world), ["penguins eat krill", "penguins eat shrimp"]);
    undone(&world, &done);
    assert_eq!(listed(&world), ["penguins eat shrimp"]);
}

// S-IMPORT-7
#[test]
fn a_changed_line_is_not_unchanged() {
    let world = World::new();
    world.log_memory(&["--repo", "zoo", "--type", "fact", "--lesson", "penguins eat fish"]).done();
    let file = world.path("zoo.jsonl");
    let to = file.to_str().unwrap();
    world.agent_knowledge(&["export", "--format", "jsonl", "--repo", "zoo", "--to", to]).done();
    assert_eq!(imported(&world, &file, &[])["unchanged"], 1);
    edit(&file, "penguins eat fish", "penguins eat krill");
    let done = imported(&world, &file, &[]);
    assert_eq!((&done["new"], &done["unchanged"]), (&json!(1), &json!(0)));
    assert_eq!(done["beside"].as_array().unwrap().len(), 1);
    assert_eq!(listed(&world), ["penguins eat fish", "penguins eat krill"]);
    let again = imported(&world, &file, &[]);
    assert_eq!((&again["new"], &again["unchanged"]), (&json!(0), &json!(1)));
}

// S-IMPORT-7, S-IMPORT-6
#[test]
fn what_a_store_no_longer_has_is_told() {
    let world = World::new();
    let vault = world.path("vault");
    std::fs::create_dir(&vault).unwrap();
    let write = |name: &str, text: &str| std::fs::write(vault.join(name), text).unwrap();
    write("a.md", "penguins eat fish");
    write("b.md", "walruses sleep on ice");
    let first = imported(&world, &vault, &[]);
    std::fs::remove_file(vault.join("b.md")).unwrap();
    write("c.md", "seals bark at noon");
    let told =
        world.agent_knowledge(&["import", vault.to_str().unwrap(), "--repo", "zoo", "--dry-run"]);
    let told = told.done();
    assert!(told.contains("no longer in it: 1 of earlier imports, which stay here\n"), "{told}");
    let second = imported(&world, &vault, &[]);
    let gone = second["gone"][0].as_str().unwrap();
    let shown = world.asked(&["show", gone]);
    assert_eq!(shown["memories"][0]["lesson"], "walruses sleep on ice");
    let all = ["penguins eat fish", "seals bark at noon", "walruses sleep on ice"];
    assert_eq!(listed(&world), all);
    // Each undo takes back its own import, and the store brings back only what it has.
    undone(&world, &second);
    assert_eq!(listed(&world), ["penguins eat fish", "walruses sleep on ice"]);
    assert!(undone(&world, &first).contains("2 memories taken back"));
    assert!(listed(&world).is_empty());
    let third = imported(&world, &vault, &[]);
    assert_eq!((&third["back"], &third["gone"]), (&json!(2), &json!([])));
    assert_eq!(listed(&world), ["penguins eat fish", "seals bark at noon"]);
}

// S-EXPORT-1, S-EXPORT-3
#[test]
fn tables_and_lines_go_to_standard_output() {
    let world = World::new();
    write_odd_memories(&world);
    let table = world.agent_knowledge(&["export", "--format", "csv", "--repo", "zoo"]).done();
    assert!(table.starts_with("id,timestamp,agent_id,repo,event_type,context,lesson,"), "{table}");
    assert!(
        table.ends_with("\r\n") && table.contains("\"'=1+1 is a formula, 数据 and é are words\""),
        "{table}"
    );
    assert!(!table.contains("walrus"), "{table}");
    let lines = world.agent_knowledge(&["export", "--format", "jsonl", "--repo", "zoo"]).done();
    let written = world.log_lines("zoo.jsonl");
    // Written in one second, they are in the order of their random ids.
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let expected = written[..2].iter().map(|line| String::from_utf8(line.clone()).unwrap());
    let lines = lines.lines().map(str::to_owned).collect();
    assert_eq!(sorted(lines), sorted(expected.collect()));
    let file = world.path("there.csv");
    std::fs::write(&file, "mine").unwrap();
    let ran = world.agent_knowledge(&[
        "export",
        "--format",
        "csv",
        "--repo",
        "zoo",
        "--to",
        file.to_str().unwrap(),
    ]);
    assert!(ran.exit == Some(1) && ran.messages.contains("is there already"), "{}", ran.messages);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine");
}

// S-EXPORT-1
#[test]
fn more_memories_than_a_page_are_exported() {
    let world = World::new();
    let line = |number: usize| {
        format!(
            "{}\n",
            json!({ "repo": "zoo", "event_type": "fact", "lesson": format!("fact {number}") })
        )
    };
    world.log_memory_json((0..2_345).map(line).collect::<String>(), &[]).done();
    let lines = world.agent_knowledge(&["export", "--format", "jsonl", "--repo", "zoo"]).done();
    let mut lessons: Vec<&str> =
        lines.lines().filter_map(|line| line.split("\"fact ").nth(1)).collect();
    lessons.sort_unstable();
    lessons.dedup();
    assert_eq!((lines.lines().count(), lessons.len()), (2_345, 2_345));
}

// S-IMPORT-1
#[test]
fn help_of_both_commands_fits_a_screen() {
    let world = World::new();
    for command in ["import", "export"] {
        let help = world.agent_knowledge(&[command, "--help"]).done();
        assert!(help.lines().count() <= 48, "{command}: {}\n{help}", help.lines().count());
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
