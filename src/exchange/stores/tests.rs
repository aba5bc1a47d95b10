//! Every store with its fixture and exact counts: what is read, what is taken, and what is left out and why.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::Value;

use super::super::foreign_place::{ForeignPlace, ForeignShape, JsonLines, NoteFile, NoteFolder};
use super::super::harvest::Harvest;
use super::*;
use event::RepoKey;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/exchange").join(name)
}

/// Makes the database that a fixture describes.
fn database(folder: &Path, fixture_name: &str) -> PathBuf {
    let path = folder.join("store.db");
    let text = std::fs::read_to_string(fixture(fixture_name)).unwrap();
    Connection::open(&path).unwrap().execute_batch(&text).unwrap();
    path
}

fn harvested(path: &Path) -> (&'static str, Harvest) {
    let place = ForeignPlace::inspect(path).unwrap();
    let (store, mut harvest) = read(&place, None).unwrap();
    harvest.identify(store.name, &RepoKey::parse("api").unwrap());
    (store.name, harvest)
}

/// What a store says of its fixture: its name, memories, links, and what is left out.
fn harvest_summary(path: &Path) -> String {
    let (name, harvest) = harvested(path);
    let left: Vec<String> =
        harvest.left_out.iter().map(|(why, count)| format!("{count} {why}")).collect();
    let (read, taken, links) = (harvest.read_count(), harvest.items.len(), harvest.links.len());
    format!("{name}: {read} read, {taken} taken, {links} links; {}", left.join(", "))
}

/// The memories of a fixture: kind, context, lesson, tags and who wrote it.
fn memories(path: &Path) -> Vec<String> {
    let line = |text: &Option<String>| text.clone().unwrap_or_default().replace('\n', " ");
    let (_, harvest) = harvested(path);
    let memories = harvest.items.iter().map(|item| {
        let draft = &item.draft;
        format!(
            "{} | {} | {} | {} | {}",
            line(&draft.event_type),
            line(&draft.context),
            line(&draft.lesson),
            draft.tags.join(","),
            line(&draft.agent_id)
        )
    });
    memories.collect()
}

// S-IMPORT-2, S-IMPORT-3
#[test]
fn each_folder_and_file_is_counted_exactly() {
    for (name, expected) in [
        (
            "server-memory/memory.jsonl",
            "server-memory: 9 read, 8 taken, 0 links; 1 entity without observations",
        ),
        ("basic-memory", "basic-memory: 3 read, 3 taken, 2 links; "),
        ("obsidian", "obsidian: 4 read, 3 taken, 3 links; 1 note without text"),
        ("claude-code", "claude-code: 4 read, 3 taken, 1 links; 1 index of the notes"),
        ("mem0/get_all.json", "mem0: 3 read, 3 taken, 0 links; "),
        (
            "openmemory/memories.json",
            "openmemory: 5 read, 2 taken, 0 links; 1 archived memory, 1 deleted memory, 1 paused memory",
        ),
        ("mcp-memory-service/export.json", "mcp-memory-service: 3 read, 3 taken, 0 links; "),
        ("knowledge-vault", "knowledge-vault: 3 read, 3 taken, 0 links; "),
    ] {
        assert_eq!(harvest_summary(&fixture(name)), expected);
    }
}

// S-IMPORT-2, S-IMPORT-3
#[test]
fn each_database_is_counted_exactly() {
    for (name, expected) in [
        (
            "mcp-memory-service/memories.sql",
            "mcp-memory-service: 4 read, 3 taken, 2 links; 1 deleted memory",
        ),
        (
            "yaad/yaad.sql",
            "yaad: 6 read, 2 taken, 2 links; 1 forgotten memory, 2 node that is only a name, 1 session",
        ),
        (
            "knowledge-server/knowledge.sql",
            "knowledge-server: 5 read, 2 taken, 2 links; 1 archived entry, 1 deleted entry, 1 entry that another one replaced",
        ),
        (
            "agentcache/agentcache.sql",
            "agentcache: 5 read, 3 taken, 0 links; 1 earlier version of a memory, 1 observation of work",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path(), name);
        let before = std::fs::read(&path).unwrap();
        assert_eq!(harvest_summary(&path), expected);
        assert_eq!(std::fs::read(&path).unwrap(), before, "a store of others is never changed");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

// S-IMPORT-3
#[test]
fn fields_of_others_become_ours() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        memories(&database(folder.path(), "yaad/yaad.sql")),
        [
            "decision | queues | Penguin queues live in one table, not one per tenant | queue,tables,penguin | claude",
            "error |  | The worker hangs when the table is locked; set a timeout | bug,penguin | yaad",
        ]
    );
    let file = |name: &str| memories(&fixture(name));
    assert_eq!(
        file("server-memory/memory.jsonl")[6..],
        [
            "fact | Mira | Mira maintains Penguin API | Mira,Penguin API | server-memory",
            "fact | Penguin API | Penguin API depends on Walrus build | Penguin API,Walrus build | server-memory",
        ]
    );
    assert_eq!(
        file("claude-code")[0],
        "convention | No mocks in walrus tests: Tests of the walrus store run against a real database | \
         Use a real database in tests of the walrus store.  **Why:** a mock hid a broken migration. \
         **How to apply:** see [[user-role]] for how to explain it. | feedback | claude-code"
    );
    assert_eq!(file("mem0/get_all.json")[0].rsplit(" | ").next(), Some("helper"));
    assert_eq!(
        file("openmemory/memories.json")[0],
        "preference |  | Mira prefers trains over planes | preference,travel | cursor"
    );
    assert_eq!(
        file("knowledge-vault")[0],
        "decision | Queue: one table | All penguin queues live in one table. | queue,penguin,decisions | knowledge-vault"
    );
    assert_eq!(
        file("obsidian")[1],
        "fact | Garden | Water the beds at dawn, never at noon. #water See [[Compost|the heap]] and [[Tools/Spade]]. | \
         garden,raised beds,water | obsidian"
    );
}

// S-IMPORT-4
#[test]
fn a_database_equals_its_export() {
    let folder = tempfile::tempdir().unwrap();
    let ids = |path: &Path| {
        let (_, harvest) = harvested(path);
        let mut ids: Vec<_> = harvest.items.into_iter().filter_map(|item| item.draft.id).collect();
        ids.sort();
        ids
    };
    let export = ids(&fixture("mcp-memory-service/export.json"));
    assert_eq!(ids(&database(folder.path(), "mcp-memory-service/memories.sql")), export);
}

// S-IMPORT-2
#[test]
fn files_without_memories_are_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, text: &str, store: Option<&str>| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let read = ForeignPlace::inspect(&path)
            .and_then(|place| read(&place, store.and_then(store_named)).map(|_| ()));
        read.unwrap_err().to_string()
    };
    assert!(
        refused("a.json", "{\"a\": 1}", None)
            .contains("is no store that is known (agent-knowledge, server-memory,")
    );
    assert!(
        refused("a.json", "{\"a\": 1}", Some("mem0")).contains("is no mem0 (the JSON of get_all")
    );
    assert!(refused("a.json", "prose", None).contains("is neither JSON nor a database"));
    let empty = "{\"type\":\"entity\",\"name\":\"a\",\"observations\":[]}\n{broken\n";
    let message = refused("memory.jsonl", empty, None);
    assert!(
        message.ends_with(
            "none of its 2 items is a memory: 1 entity without observations, 1 line that is no JSON"
        ),
        "{message}"
    );
    let nothing = folder.path().join("nothing");
    std::fs::create_dir(&nothing).unwrap();
    let place = ForeignPlace::inspect(&nothing).unwrap();
    assert!(read(&place, None).is_err());
    let message = read(&place, store_named("obsidian")).unwrap_err().to_string();
    assert!(message.contains("has nothing that can be read as a memory of obsidian"), "{message}");
}

// S-IMPORT-1
#[cfg(unix)]
#[test]
fn links_lead_out_of_no_folder() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (vault, outside) = (folder.path().join("vault"), folder.path().join("outside"));
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::fs::create_dir(&vault).unwrap();
    std::fs::write(outside.join("secret.md"), "secret").unwrap();
    std::fs::write(outside.join("deep/more.md"), "more").unwrap();
    std::fs::write(vault.join("mine.md"), "mine").unwrap();
    std::fs::write(vault.join("long.md"), "x".repeat((1 << 20) + 1)).unwrap();
    std::fs::write(vault.join("bytes.md"), b"\xFF\xFEx").unwrap();
    symlink(outside.join("secret.md"), vault.join("link.md")).unwrap();
    symlink(outside.join("deep"), vault.join("deep")).unwrap();
    symlink(&vault, vault.join("round")).unwrap();
    assert_eq!(
        harvest_summary(&vault),
        "obsidian: 4 read, 1 taken, 0 links; 1 file above 1 MiB, 1 file that is a link, 1 file that is no UTF-8 text"
    );
}

// S-IMPORT-2
#[test]
fn a_log_is_more_than_memories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api.jsonl");
    let lines = [
        r#"{"id":"m1","repo":"web","event_type":"error","lesson":"a","source":"human","private":true}"#,
        r#"{"id":"m1","repo":"web","event_type":"error","lesson":"a","source":"human"}"#,
        r#"{"memory_id":"m1","event_type":"retract"}"#,
        "torn {",
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    assert_eq!(
        harvest_summary(&path),
        "agent-knowledge: 4 read, 1 taken, 0 links; 1 event about a memory, 1 item that is there twice, 1 line that is no JSON"
    );
    let (_, harvest) = harvested(&path);
    let draft = &harvest.items[0].draft;
    assert_eq!((draft.repo.as_deref(), draft.source.as_deref()), (Some("web"), Some("imported")));
    assert!(draft.private, "what must not leave a machine is marked so on the next");
}

/// Names that some reader looks for, with values of any form.
const FIELDS: [&str; 18] = [
    "type",
    "name",
    "entityType",
    "observations",
    "from",
    "to",
    "relationType",
    "memories",
    "results",
    "memory",
    "content",
    "metadata",
    "tags",
    "apps",
    "id",
    "state",
    "lesson",
    "event_type",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "entity|relation|active|\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let field = prop::sample::select(&FIELDS[..]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((field, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    // S-IMPORT-2
    #[test]
    fn every_store_reads_odd_values(
        values in prop::collection::vec(any_json(), 1..6),
        notes in prop::collection::vec("(---\n)?[a-z:#\\[\\]\\- \n`\\PC]{0,80}(\n---\n)?\\PC{0,40}", 0..4),
    ) {
        let file = |(number, text): (usize, &String)| NoteFile {
            name: format!("notes/{number}.md"), text: text.clone(), written: None,
        };
        let notes = notes.iter().enumerate().map(file).collect();
        let lines = JsonLines { values: (1..).zip(values.iter().cloned()).collect(), broken: 1 };
        let shapes = [
            ForeignShape::Json(Value::from(values)),
            ForeignShape::Lines(lines),
            ForeignShape::Notes(NoteFolder { notes, ..NoteFolder::default() }),
        ];
        for shape in shapes {
            let place = ForeignPlace { path: PathBuf::from("nowhere"), shape };
            for store in STORES {
                let _ = (store.recognises)(&place);
                if let Ok(mut harvest) = (store.read)(&place) {
                    let read = harvest.read_count();
                    harvest.identify(store.name, &RepoKey::parse("api").unwrap());
                    prop_assert_eq!(harvest.read_count(), read);
                }
            }
        }
    }
}
