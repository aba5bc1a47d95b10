//! Verification, on logs made by the tests.

use serde_json::{Value, json};

use super::super::secret_lines::tests::TEST;
use super::*;
use reply::Reply;

struct VerifyFixture {
    _folder: tempfile::TempDir,
    store: Store,
}

impl VerifyFixture {
    fn with(logs: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        for (name, text) in logs {
            std::fs::write(store.root().join(name), text).unwrap();
        }
        Self { _folder: folder, store }
    }

    fn verify_as(&self, damaged: DamagedLines, logs: Vec<PathBuf>) -> CheckReport {
        let request = VerifyRequest {
            store: &self.store,
            config: &Config::default(),
            logs,
            segments: Segments::All,
            damaged,
            changed: ChangedLogs::Tell,
            now: "2026-01-01T00:00:00Z".parse().unwrap(),
            recogniser: &TEST,
            places: OwnFolders {
                store: self.store.root(),
                cache: &self._folder.path().join("cache"),
                sessions: &self._folder.path().join("past"),
            },
        };
        verify(&request).unwrap()
    }

    fn verify(&self) -> CheckReport {
        self.verify_as(DamagedLines::Copy, self.store.logs().unwrap())
    }

    fn quarantined(&self) -> Vec<Value> {
        let path = self.store.root().join(".quarantine/a.jsonl");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

// S-VERIFY-1
#[test]
fn a_log_that_is_replaced_while_it_is_read_is_said_to_be() {
    let world = VerifyFixture::with(&[("a.jsonl", "{\"lesson\":\"one\"}\n{\"lesson\":\"two\"}\n")]);
    let log = world.store.root().join("a.jsonl");
    let mut seen = 0;
    let error = read(&log, &mut |_| {
        seen += 1;
        let other = log.with_extension("other");
        std::fs::write(&other, format!("{{\"lesson\":\"other {seen}\"}}\n")).unwrap();
        std::fs::rename(&other, &log).unwrap();
    });
    assert!(error.unwrap_err().to_string().contains("replaced it during the check"));
    let error = read(&log, &mut |_| std::fs::remove_file(&log).unwrap());
    assert!(error.is_err(), "gone is not well");
}

// S-VERIFY-1
#[test]
fn logs_that_are_well_take_one_line() {
    let world = VerifyFixture::with(&[
        ("a.jsonl", "{\"id\":\"m1\",\"lesson\":\"x\"}\n\n{\"id\":\"m2\",\"lesson\":\"y\"}\r\n"),
        ("b.jsonl", ""),
    ]);
    let checked = world.verify();
    assert_eq!(checked.verdict, CheckVerdict::Fine);
    assert_eq!(checked.reply.text, "2 logs, 3 lines, 2 events: no problems found");
    assert_eq!(
        (&checked.reply.json["blank"], &checked.reply.json["fine"]),
        (&json!(1), &json!(true))
    );
    assert!(!world.store.root().join(".quarantine").exists(), "nothing is made without need");
}

// S-VERIFY-1
#[test]
fn what_is_no_harm_is_only_told() {
    let same = "{\"id\":\"m1\",\"repo\":\"r\",\"lesson\":\"x\"}\n";
    let later =
        "{\"id\":\"m1\",\"repo\":\"r\",\"lesson\":\"x\",\"timestamp\":\"2025-01-01T00:00:00Z\"}\n";
    let about = "{\"id\":\"e1\",\"memory_id\":\"gone\"}\n{\"id\":\"e2\",\"memory_id\":\"late\"}\n";
    let late = "{\"id\":\"late\",\"lesson\":\"x\",\"timestamp\":\"2026-01-02T00:00:00Z\"}\n";
    let future =
        "{\"id\":\"f\",\"lesson\":\"x\",\"timestamp\":\"2026-01-02T00:00:01Z\"}\n{\"half\":";
    let world = VerifyFixture::with(&[
        ("a.jsonl", &format!("{same}{same}{about}")),
        ("b.jsonl", &format!("{later}{late}{future}")),
    ]);
    let CheckReport { verdict, reply: Reply { text, json } } = world.verify();
    assert_eq!(verdict, CheckVerdict::Fine, "{text}");
    assert_eq!((&json["repeated"], &json["orphan_count"]), (&json!(2), &json!(1)));
    assert_eq!(json["orphans"][0]["id"], "gone");
    assert_eq!(json["orphans"][0]["lines"][0]["line"], 3);
    let log = &json["logs"][1];
    assert_eq!((&log["future_lines"], &log["unfinished_bytes"]), (&json!([3]), &json!(8)));
    for told in [
        "memory gone is in none of these logs, but named in a.jsonl line 3",
        "the last line has no line break yet (8 bytes)",
        "1 time in the future, the first in line 3",
    ] {
        assert!(text.contains(told), "no {told:?} in {text}");
    }
}

// S-VERIFY-1
#[test]
fn damage_and_conflicts_are_wrong_and_told_with_their_places() {
    let good = "{\"id\":\"m1\",\"lesson\":\"x\",\"repo\":\"r\"}\n";
    let world = VerifyFixture::with(&[
        ("a.jsonl", &format!("{good}not json\n[1]\n")),
        ("b.jsonl", &good.replace("x", "other")),
    ]);
    std::fs::create_dir(world.store.root().join("c.jsonl")).unwrap();
    let CheckReport { verdict, reply: Reply { text, json } } = world.verify();
    assert_eq!(verdict, CheckVerdict::Wrong);
    let skips = &json["logs"][0]["skips"];
    let offset = good.len();
    assert_eq!((&skips[0]["line"], &skips[0]["offset"]), (&json!(2), &json!(offset)), "{json}");
    assert_eq!(skips[1]["reason"], "an array, not a JSON object");
    assert_eq!(json["conflicts"][0]["id"], "m1");
    let lines: Vec<&Value> = json["conflicts"][0]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| &place["line"])
        .collect();
    assert_eq!(lines, [1, 1]);
    for told in [
        "a.jsonl: line 3, byte",
        "m1 has different contents: a.jsonl line 1, b.jsonl line 1",
        "TROUBLE ",
        ": problems found",
    ] {
        assert!(text.contains(told), "no {told:?} in {text}");
    }
}

// S-VERIFY-2
#[test]
fn damaged_lines_are_copied_once_and_stay() {
    let bytes = "torn {\n{\"id\":\"m1\",\"lesson\":\"x\"}\n\0\0\ntorn {\n";
    let world = VerifyFixture::with(&[("a.jsonl", bytes)]);
    let left = world.verify_as(DamagedLines::Leave, world.store.logs().unwrap());
    assert!(left.verdict == CheckVerdict::Wrong && world.quarantined().is_empty());
    let copied: Vec<Value> = (0..2).map(|_| world.verify().reply.json["copied"].clone()).collect();
    assert_eq!(copied, [3, 0]);
    let kept = world.quarantined();
    assert_eq!(kept.len(), 3);
    assert_eq!((&kept[0]["line"], &kept[0]["offset"]), (&json!("torn {"), &json!(0)));
    assert_eq!(std::fs::read_to_string(world.store.root().join("a.jsonl")).unwrap(), bytes);
}

// S-VERIFY-2
#[test]
fn a_log_from_elsewhere_is_only_read() {
    let world = VerifyFixture::with(&[]);
    let log = world._folder.path().join("other.jsonl");
    std::fs::write(&log, "torn\n").unwrap();
    let checked = world.verify_as(DamagedLines::Copy, vec![log]);
    assert_eq!((checked.verdict, &checked.reply.json["copied"]), (CheckVerdict::Wrong, &json!(0)));
    let missing = world.verify_as(DamagedLines::Copy, vec![world._folder.path().join("no.jsonl")]);
    assert!(missing.reply.text.contains("TROUBLE"), "{}", missing.reply.text);
}

// S-VERIFY-3
#[test]
fn a_secret_is_told_by_its_place_and_never_shown_nor_copied() {
    let world = VerifyFixture::with(&[(
        "a.jsonl",
        "{\"id\":\"m1\",\"lesson\":\"hush-1\",\"pin\":4711}\ntorn hush-2\n",
    )]);
    let CheckReport { verdict, reply } = world.verify();
    assert_eq!(verdict, CheckVerdict::Wrong);
    let told = &reply.json["logs"][0]["secret_places"];
    assert_eq!(told[0], json!({ "line": 1, "field": "lesson", "rule": "test-word" }));
    assert_eq!((&told[1]["field"], &told[2]["line"]), (&json!("pin"), &json!(2)));
    assert!(reply.text.contains("line 1, lesson: test-word") && reply.text.contains("scrub"));
    assert_eq!(world.quarantined()[0]["line"], "torn [REDACTED:test-word]");
    for shown in [reply.text, reply.json.to_string(), format!("{:?}", world.quarantined())] {
        assert!(!shown.contains("hush-") && !shown.contains("4711"), "{shown}");
    }
}

// S-VERIFY-1
#[test]
fn many_findings_are_counted_and_some_are_told() {
    let world = VerifyFixture::with(&[("a.jsonl", &"torn\n".repeat(1_500))]);
    let CheckReport { reply, .. } =
        world.verify_as(DamagedLines::Leave, world.store.logs().unwrap());
    let log = &reply.json["logs"][0];
    assert_eq!((&log["skipped"], log["skips"].as_array().unwrap().len()), (&json!(1_500), 1_000));
    assert!(reply.text.contains("and 1490 more skipped lines") && reply.text.lines().count() < 20);
}

/// A store with one log and the mirrors of two origins, of one line each.
fn with_mirrors() -> (VerifyFixture, [PathBuf; 2]) {
    let world = VerifyFixture::with(&[("a.jsonl", "{\"id\":\"m1\",\"lesson\":\"x\"}\n")]);
    let turn = world.store.team_turn(0).unwrap();
    let (store, repo) = (&world.store, event::RepoKey::parse("api").unwrap());
    let paths = [1, 2].map(|random| {
        let origin = event::StoreOrigin::mint("you", random);
        let mirror = store.mirror(&turn, &origin, &repo).unwrap();
        mirror.append(0, b"{\"id\":\"m2\",\"lesson\":\"y\"}\n").unwrap();
        store.mirror_of(&origin, "api.jsonl")
    });
    drop(turn);
    (world, paths)
}

// S-VERIFY-1
#[test]
fn mirrors_are_counted_apart() {
    let (world, [one, _]) = with_mirrors();
    let CheckReport { verdict, reply } = world.verify();
    assert_eq!(verdict, CheckVerdict::Fine, "{}", reply.text);
    assert_eq!(reply.text, "1 log, 2 mirrors, 1 line, 1 event: no problems found");
    assert_eq!(reply.json["mirrors"][1]["chain"]["head"]["lines"], 1, "{}", reply.json);
    std::fs::write(&one, "{\"id\":\"m2\",\"lesson\":\"z\"}\n").unwrap();
    let CheckReport { verdict, reply: Reply { text, json } } = world.verify();
    assert_eq!(verdict, CheckVerdict::Wrong);
    assert!(text.ends_with("1 log, 2 mirrors, 1 line, 1 event, 1 changed mirror: problems found"));
    assert!(text.contains("delete a changed mirror") && !text.contains("--accept"), "{text}");
    assert_eq!((&json["changed_logs"], &json["changed_mirrors"]), (&json!(0), &json!(1)));
    assert_eq!(json["logs"].as_array().unwrap().len(), 1, "{json}");
}

// S-VERIFY-1
#[test]
fn mirrors_that_cannot_be_listed_are_told() {
    let world = VerifyFixture::with(&[]);
    std::fs::write(world.store.root().join("team"), "").unwrap();
    let CheckReport { verdict, reply } = world.verify();
    assert_eq!(verdict, CheckVerdict::Wrong, "{}", reply.text);
    assert!(reply.text.contains("TROUBLE") && reply.text.contains("team"), "{}", reply.text);
}

// S-VERIFY-1, S-ARCH-7
#[test]
fn a_line_in_two_files_is_told_with_its_remedy() {
    let line = |number: usize| format!("{{\"id\":\"m{number}\",\"lesson\":\"lesson {number}\"}}\n");
    let lines = |numbers: std::ops::Range<usize>| numbers.map(line).collect::<String>();
    let plain = "{\"lesson\":\"from a script\"}\n";
    let world = VerifyFixture::with(&[("a.jsonl", &(lines(0..6) + plain))]);
    let log = world.store.root().join("a.jsonl");
    let archive = |keep_lines| {
        let bounds = crate::archive::Bounds { keep_lines: Some(keep_lines), not_before: None };
        let (store, how) = (&world.store, crate::archive::ArchiveMode::Change);
        let logs = vec![log.clone()];
        crate::archive::archive(&crate::archive::ArchiveRequest { store, logs, bounds, how })
    };
    archive(3);
    assert_eq!(world.verify().verdict, CheckVerdict::Fine);
    // A program saved what it had read before, and one line was archived again.
    for (text, number, said) in [
        (lines(0..6) + plain, 4, "a.jsonl: 4 lines are also in segment 1, the first is line 1\n"),
        (lines(5..6) + &line(2) + plain, 1, "a.jsonl: line 2 is also in segment 1\n"),
    ] {
        std::fs::write(&log, text).unwrap();
        let CheckReport { verdict, reply: Reply { text, json } } = world.verify();
        assert_eq!(verdict, CheckVerdict::Wrong, "{text}");
        assert!(text.contains(said) && text.contains("agent-knowledge archive a takes"), "{text}");
        assert_eq!(
            (&json["doubled"], &json["logs"][0]["doubled"][0]["lines"]),
            (&json!(number), &json!(number))
        );
        let told = archive(100).checked.reply;
        assert!(told.text.contains("removed, because a segment has"), "{}", told.text);
        assert_eq!(told.json["cleaned"], number);
        assert_eq!(world.verify().verdict, CheckVerdict::Fine);
    }
    // Without an id, a person may have written it twice.
    archive(0);
    std::fs::write(&log, plain).unwrap();
    assert_eq!(world.verify().verdict, CheckVerdict::Fine);
    archive(100);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), plain);
}

// S-VERIFY-1
#[test]
fn a_log_that_is_being_archived_is_not_compared() {
    let text = "{\"id\":\"m1\",\"lesson\":\"x\"}\n";
    let world = VerifyFixture::with(&[("a.jsonl", text)]);
    let log = world.store.root().join("a.jsonl");
    let mut plan = vec![Box::new(|_: &LogLine<'_>| true) as store::MoveRule<'_>];
    store::archive(&world.store, &log, &mut || Ok(plan.pop())).unwrap();
    std::fs::write(&log, text).unwrap();
    let lock = world.store.root().join(".locks/a.jsonl.rewrite");
    let held = store::FileLock::acquire(&lock, 0).unwrap();
    let CheckReport { verdict, reply } = world.verify();
    assert_eq!(verdict, CheckVerdict::Fine, "{}", reply.text);
    assert!(reply.text.contains("not compared with its segments"), "{}", reply.text);
    drop(held);
    assert_eq!(world.verify().verdict, CheckVerdict::Wrong);
}
