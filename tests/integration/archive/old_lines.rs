//! Which lines move, and that no reader's state changes with it, on stores of the tests' own making. Not
//! here: the command.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::state_digest::StateDigest;
use engine::watch::WatchMode;
use engine::{Engine, EngineSetup};
use event::Timestamp;
use memory::MemoryBound;
use proptest::prelude::*;
use settings::{Config, GeneralSettings};
use store::{Store, StoreError, lines_of};
use upkeep::CheckVerdict;
use upkeep::archive::{ArchiveMode, ArchiveOutcome, ArchiveRequest, Bounds, archive, by_policy};

struct World {
    _folder: tempfile::TempDir,
    store: Store,
}

impl World {
    fn with(logs: &[(&str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        for (name, text) in logs {
            std::fs::write(store.root().join(name), text).unwrap();
        }
        Self { _folder: folder, store }
    }

    fn archive_as(
        &self,
        how: ArchiveMode,
        keep_lines: Option<u64>,
        not_before: Option<&str>,
    ) -> ArchiveOutcome {
        let not_before = not_before.map(|text| text.parse().unwrap());
        let bounds = Bounds { keep_lines, not_before };
        archive(&ArchiveRequest {
            store: &self.store,
            logs: self.store.logs().unwrap(),
            bounds,
            how,
        })
    }

    fn keep(&self, lines: u64) -> ArchiveOutcome {
        self.archive_as(ArchiveMode::Change, Some(lines), None)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.store.root().join(name)).unwrap()
    }

    fn reader(&self) -> Engine {
        let (store, config) = (self.store.clone(), Config::default());
        let (bound, watching) = (MemoryBound::NONE, WatchMode::PollOnly);
        Engine::start(EngineSetup {
            store,
            config,
            bound,
            watching,
            dense: None,
            checkpoints: None,
        })
        .unwrap()
    }

    fn digest(&self) -> String {
        told_of(&self.reader())
    }
}

/// The digest, and what went wrong.
fn told_of(reader: &Engine) -> String {
    let snapshot = reader.snapshot().unwrap();
    format!("{} {:?}", StateDigest::compute(&snapshot, None), snapshot.health().troubles)
}

fn line(number: usize) -> String {
    format!(
        "{{\"id\":\"m{number}\",\"lesson\":\"lesson {number}\",\"timestamp\":\"2026-01-{:02}T00:00:00Z\"}}\n",
        number + 1
    )
}

fn lines(numbers: std::ops::Range<usize>) -> String {
    numbers.map(line).collect()
}

// S-ARCH-2
#[test]
fn the_newest_lines_stay_and_what_holds_no_event_does_too() {
    let world = World::with(&[
        ("a.jsonl", format!("torn\n{}\n{}half", lines(0..4), lines(4..6))),
        ("b.jsonl", lines(0..2)),
    ]);
    let before = world.digest();
    let dry = world.archive_as(ArchiveMode::DryRun, Some(2), None);
    assert_eq!(
        (&dry.checked.reply.json["lines"], world.store.segments().unwrap().len()),
        (&4.into(), 0)
    );
    let ArchiveOutcome { checked, failed } = world.keep(2);
    assert!(failed.is_none() && checked.verdict == CheckVerdict::Fine, "{}", checked.reply.text);
    assert_eq!(world.text("a.jsonl"), format!("torn\n\n{}half", lines(4..6)));
    assert_eq!(world.text("b.jsonl"), lines(0..2));
    let json = checked.reply.json;
    assert_eq!(
        (&json["lines"], &json["logs"][0]["lines"], &json["logs"][1]["lines"]),
        (&4.into(), &4.into(), &0.into())
    );
    assert_eq!(world.digest(), before);
    let again = world.keep(2).checked.reply;
    assert_eq!(again.text, "nothing to archive");
}

// S-ARCH-2
#[test]
fn old_lines_move_and_lines_without_a_time_stay() {
    let timeless = "{\"id\":\"t\",\"lesson\":\"timeless\"}\n";
    let world =
        World::with(&[("a.jsonl", [&line(5), timeless, &line(1), &line(6), &line(2)].concat())]);
    let before = world.digest();
    world.archive_as(ArchiveMode::Change, None, Some("2026-01-04T00:00:00Z"));
    assert_eq!(world.text("a.jsonl"), [&line(5), timeless, &line(6)].concat());
    assert_eq!(world.digest(), before);
    // Over either bound.
    world.archive_as(ArchiveMode::Change, Some(2), Some("2026-01-04T00:00:00Z"));
    assert_eq!(world.text("a.jsonl"), [timeless, &line(6)].concat());
    assert_eq!(world.digest(), before);
}

// S-ARCH-6
#[test]
fn the_policy_waits_until_it_is_worth_a_segment() {
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let aged = |number: usize| {
        format!(
            "{{\"id\":\"o{number}\",\"lesson\":\"x\",\"timestamp\":\"2025-01-01T00:00:00Z\"}}\n"
        )
    };
    let aged = |count: usize| -> String { (0..count).map(aged).collect() };
    let lines_in = |world: &World| world.text("a.jsonl").lines().count();
    let above = || GeneralSettings { archive_above_lines: Some(100), ..<_>::default() };
    let day = Some(Duration::from_secs(86_400));
    let age = || GeneralSettings { archive_older_than: day, ..<_>::default() };
    for (count, policy, left) in [
        (100, above(), 100),
        (101, above(), 50),
        (255, age(), 255),
        (256, age(), 0),
        (300, GeneralSettings::default(), 300),
    ] {
        let world = World::with(&[("a.jsonl", aged(count))]);
        let before = world.digest();
        let done = by_policy(&world.store, &policy, now);
        assert_eq!(
            (lines_in(&world), done.len()),
            (left, usize::from(left < count)),
            "{count} {policy:?}"
        );
        assert_eq!(world.digest(), before);
        assert!(by_policy(&world.store, &policy, now).is_empty(), "not over it again at once");
    }
}

// S-ARCH-3
#[test]
fn a_log_that_cannot_be_archived_is_told_and_keeps_no_other() {
    let world = World::with(&[("a.jsonl", lines(0..3)), ("c.jsonl", lines(3..6))]);
    std::fs::create_dir(world.store.root().join("b.jsonl")).unwrap();
    let ArchiveOutcome { checked, failed } = world.keep(1);
    assert!(
        checked.verdict == CheckVerdict::Wrong
            && matches!(failed, Some(StoreError::NotALog { .. }))
    );
    assert!(checked.reply.text.contains("FAILED "), "{}", checked.reply.text);
    assert_eq!((world.text("a.jsonl"), world.text("c.jsonl")), (line(2), line(5)));
}

// S-ARCH-4
#[test]
fn a_damaged_segment_is_named_and_the_rest_is_served() {
    let world = World::with(&[("a.jsonl", lines(0..3))]);
    world.keep(2);
    world.keep(1);
    let first = world.store.segments().unwrap().remove(0);
    let mut bytes = std::fs::read(&first).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&first, bytes).unwrap();
    let reader = world.reader();
    for _ in 0..2 {
        let snapshot = reader.snapshot().unwrap();
        let health = snapshot.health();
        assert_eq!((snapshot.memories().len(), health.segments, health.logs), (2, 2, 1));
        let told = health.troubles.get(&first).unwrap();
        assert!(told.contains("1 damaged place, the first at byte 0"), "{told}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // S-ARCH-4, S-ARCH-7, S-DIGEST-1
    #[test]
    fn a_reader_that_runs_and_one_that_starts_see_no_difference(
        steps in prop::collection::vec((0..3_usize, 0..6_u64, any::<bool>()), 1..10),
    ) {
        let world = World::with(&[]);
        let plain = World::with(&[]);
        let (running, mut written) = (world.reader(), BTreeMap::new());
        for (place, (log, keep, looks)) in steps.into_iter().enumerate() {
            let name = format!("r{log}.jsonl");
            // Ids that meet, a line without id, one that names no repository.
            let text = format!(
                "{{\"id\":\"m{keep}\",\"lesson\":\"lesson {}\"}}\n{{\"lesson\":\"no id {keep}\"}}\n",
                place % 3
            );
            for world in [&world, &plain] {
                let path = world.store.root().join(&name);
                let mut log = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
                std::io::Write::write_all(&mut log, text.as_bytes()).unwrap();
            }
            for line in text.lines() {
                *written.entry((name.clone(), line.to_owned())).or_insert(0) += 1;
            }
            if looks {
                running.snapshot().unwrap();
            }
            prop_assert!(world.keep(keep).failed.is_none());
            prop_assert_eq!(told_of(&running), plain.digest());
        }
        prop_assert_eq!(world.digest(), plain.digest());
        let mut found = BTreeMap::new();
        for path in [world.store.logs().unwrap(), world.store.segments().unwrap()].concat() {
            let name = format!("{}.jsonl", Store::repo_of(&path));
            lines_of(&path, |line| {
                let line = String::from_utf8_lossy(line.bytes).into_owned();
                *found.entry((name.clone(), line)).or_insert(0) += 1;
            }).unwrap();
        }
        // A line with an id is one event, however often it was written; any other stands as often as it was written.
        prop_assert!(found.keys().eq(written.keys()));
        for (line, times) in found {
            let has_id = line.1.starts_with("{\"id\"");
            prop_assert!(times == written[&line] || has_id && times < written[&line], "{:?}", line);
        }
    }
}
