//! The announcer over real files: nothing is missed, nothing is repeated. Not here: processes.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use super::*;

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        Self { folder }
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    fn append(&self, name: &str, text: &str) {
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).open(self.log(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn save(&self, name: &str, id: &str) {
        self.append(name, &format!("{{\"id\":\"{id}\",\"lesson\":\"walrus {id}\"}}\n"));
    }

    fn journal(&self) -> Journal {
        Journal::for_store(self.folder.path(), &self.folder.path().join("logs"))
    }

    fn announcer(&self) -> Announcer {
        self.bounded(self.journal())
    }

    fn bounded(&self, journal: Journal) -> Announcer {
        let store = Store::at(self.folder.path().join("logs"));
        Announcer::new(journal, store, Config::default())
    }

    /// The announced ids, in order; `lost` stands for itself.
    fn announced(&self) -> Vec<String> {
        let kinds = [kind::ADDED, kind::CHANGED, kind::FEEDBACK, kind::LOST];
        let mut lines = self.journal().read_back(None, &kinds);
        lines.reverse();
        let name = |line: &Value| line["id"].as_str().unwrap_or("lost").to_owned();
        lines.iter().map(|(_, line)| name(line)).collect()
    }
}

// S-EVENT-2
#[test]
fn only_what_is_new_is_announced() {
    let world = World::new();
    world.save("a.jsonl", "old");
    let mut announcer = world.announcer();
    assert_eq!(announcer.announce_new_lines(now()), AnnouncedLines::default());
    world.save("a.jsonl", "m1");
    world.save("b.jsonl", "m2");
    world.append("b.jsonl", "no line\n\n");
    assert_eq!(announcer.announce_new_lines(now()), AnnouncedLines { lines: 2, ..<_>::default() });
    world.append("a.jsonl", "{\"id\":\"m3\",\"lesson\":\"half");
    assert_eq!(announcer.announce_new_lines(now()), AnnouncedLines::default());
    world.append("a.jsonl", "\"}\r\n");
    announcer.announce_new_lines(now());
    assert_eq!(world.announced(), ["m1", "m2", "m3"]);
}

// S-EVENT-1
#[test]
fn each_kind_of_line_is_told_apart() {
    let world = World::new();
    let mut announcer = world.announcer();
    announcer.announce_new_lines(now());
    for line in [
        r#"{"id":"m1","timestamp":"2026-01-01T00:00:00Z","agent_id":"codex","repo":"acme/web","session_id":"s","event_type":"error","lesson":"x"}"#,
        r#"{"id":"f1","memory_id":"m1","event_type":"feedback","verdict":"worked","agent_id":"codex","repo":"acme/web"}"#,
        r#"{"id":"r1","memory_id":"m1","event_type":"retract","agent_id":"codex","repo":"acme/web"}"#,
    ] {
        world.append("acme-web.jsonl", &format!("{line}\n"));
    }
    announcer.announce_new_lines(now());
    let mut lines = world.journal().read_back(None, &["added", "feedback", "changed"]);
    lines.reverse();
    let field = |at: usize, name: &str| lines[at].1[name].as_str().unwrap_or("-");
    let row =
        |at| ["event", "at", "id", "repo", "agent", "session", "verdict"].map(|it| field(at, it));
    let saved = ["added", "2026-01-01T00:00:00Z", "m1", "acme/web", "codex", "s", "-"];
    assert_eq!(row(0), saved);
    let reported = ["feedback", "2026-01-02T03:04:05Z", "m1", "acme/web", "codex", "-", "worked"];
    assert_eq!(row(1), reported);
    assert_eq!((field(2, "event"), field(2, "event_type")), ("changed", "retract"));
}

// S-EVENT-2
#[test]
fn the_next_process_goes_on_exactly_there() {
    let world = World::new();
    let mut announcer = world.announcer();
    announcer.announce_new_lines(now());
    let mut expected = Vec::new();
    for number in 0..20 {
        let id = format!("m{number}");
        world.save(["a.jsonl", "b.jsonl"][number % 2], &id);
        expected.push(id);
        if number % 3 == 0 {
            // A process that ends at any moment leaves what its last line says.
            announcer = world.announcer();
        }
        if number % 2 == 0 {
            announcer.announce_new_lines(now());
        }
    }
    drop(announcer);
    world.announcer().announce_new_lines(now());
    let mut announced = world.announced();
    announced.sort_unstable();
    expected.sort_unstable();
    assert_eq!(announced, expected);
}

// S-EVENT-2
#[test]
fn places_survive_the_end_of_a_generation() {
    let world = World::new();
    world.save("quiet.jsonl", "old");
    let journal = world.journal().with_bound(2_000);
    let mut announcer = world.bounded(journal.clone());
    announcer.announce_new_lines(now());
    let mut seen = Vec::new();
    let mut from = journal.end_sequence().unwrap();
    for number in 0..100 {
        world.save("a.jsonl", &format!("m{number}"));
        announcer.announce_new_lines(now());
        if number % 10 == 5 {
            drop(announcer);
            announcer = world.bounded(journal.clone());
            announcer.announce_new_lines(now());
        }
        loop {
            let piece =
                journal.read_on(from, 10_000).expect("a reader that keeps up loses nothing");
            seen.extend(
                piece.lines.iter().filter_map(|(_, it)| it["id"].as_str().map(str::to_owned)),
            );
            if piece.next == from {
                break;
            }
            from = piece.next;
        }
    }
    let expected: Vec<String> = (0..100).map(|number| format!("m{number}")).collect();
    assert_eq!(seen, expected);
}

// S-EVENT-2
#[test]
fn a_rebuilt_cache_announces_nothing_old() {
    let world = World::new();
    let mut announcer = world.announcer();
    announcer.announce_new_lines(now());
    world.save("a.jsonl", "m1");
    announcer.announce_new_lines(now());
    drop(announcer);
    std::fs::remove_dir_all(world.journal().folder()).unwrap();
    world.save("a.jsonl", "m2");
    let mut announcer = world.announcer();
    announcer.announce_new_lines(now());
    assert_eq!(world.announced(), Vec::<String>::new());
    world.save("a.jsonl", "m3");
    // The cache may go at any time.
    std::fs::remove_dir_all(world.journal().folder()).unwrap();
    let later = "2026-01-02T03:04:06Z".parse().unwrap();
    announcer.announce_new_lines(later);
    drop(announcer);
    world.save("a.jsonl", "m4");
    world.announcer().announce_new_lines(later);
    assert_eq!(world.announced(), ["m3", "m4"]);
}

// S-EVENT-3
#[test]
fn a_replaced_or_flooded_log_is_lost() {
    let world = World::new();
    world.save("a.jsonl", "m1");
    let mut announcer = world.announcer();
    announcer.announce_new_lines(now());
    // Other lines in place of those before, as scrub leaves them.
    std::fs::write(world.log("a.jsonl"), "{\"id\":\"m1\",\"lesson\":\"[REDACTED]\"}\n".repeat(3))
        .unwrap();
    assert_eq!(
        announcer.announce_new_lines(now()),
        AnnouncedLines { lost: true, ..<_>::default() }
    );
    (0..1_500).for_each(|number| world.save("a.jsonl", &format!("n{number}")));
    assert_eq!(
        announcer.announce_new_lines(now()),
        AnnouncedLines { lines: 1_000, lost: true, failed: false }
    );
    world.append("b.jsonl", &format!("{{\"lesson\":\"{}\"}}\n", "x".repeat(3 << 20)));
    assert_eq!(
        announcer.announce_new_lines(now()),
        AnnouncedLines { lost: true, ..<_>::default() }
    );
    world.save("b.jsonl", "m2");
    announcer.announce_new_lines(now());
    let announced = world.announced();
    assert_eq!((announced.len(), announced.last().unwrap().as_str()), (1_004, "m2"));
    std::fs::remove_file(world.log("b.jsonl")).unwrap();
    announcer.announce_new_lines(now());
    world.save("b.jsonl", "m3");
    announcer.announce_new_lines(now());
    assert_eq!(world.announced().last().unwrap(), "m3");
    // Replaced while no process announced.
    drop(announcer);
    std::fs::write(world.log("b.jsonl"), "{\"id\":\"m9\",\"lesson\":\"other\"}\n".repeat(9))
        .unwrap();
    world.announcer().announce_new_lines(now());
    assert_eq!(world.announced().last().unwrap(), "lost");
}

// S-EVENT-2
#[test]
fn of_two_processes_one_announces() {
    let world = World::new();
    let (mut first, mut second) = (world.announcer(), world.announcer());
    first.announce_new_lines(now());
    second.announce_new_lines(now());
    world.save("a.jsonl", "m1");
    second.announce_new_lines(now());
    first.announce_new_lines(now());
    assert_eq!(world.announced(), ["m1"]);
    drop(first);
    world.save("a.jsonl", "m2");
    second.announce_new_lines(now());
    assert_eq!(world.announced(), ["m1", "m2"]);
}

// S-EVENT-6
#[test]
fn a_journal_that_cannot_be_written_is_tried_again() {
    let world = World::new();
    let journal =
        Journal::for_store(&world.folder.path().join("cache"), &world.folder.path().join("logs"));
    std::fs::write(world.folder.path().join("cache"), "").unwrap();
    let mut announcer = world.bounded(journal.clone());
    assert!(announcer.announce_new_lines(now()).failed);
    std::fs::remove_file(world.folder.path().join("cache")).unwrap();
    std::fs::create_dir(world.folder.path().join("cache")).unwrap();
    assert_eq!(announcer.announce_new_lines(now()), AnnouncedLines::default());
    std::fs::remove_dir_all(world.folder.path().join("cache")).unwrap();
    std::fs::write(world.folder.path().join("cache"), "").unwrap();
    world.save("a.jsonl", "m1");
    assert!(announcer.announce_new_lines(now()).failed);
    std::fs::remove_file(world.folder.path().join("cache")).unwrap();
    std::fs::create_dir(world.folder.path().join("cache")).unwrap();
    assert_eq!(announcer.announce_new_lines(now()).lines, 1);
    assert_eq!(journal.read_back(None, &["added"]).len(), 1);
}
