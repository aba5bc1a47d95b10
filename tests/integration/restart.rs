//! A restart from a checkpoint knows exactly what a cold start over the same lines knows; one that is
//! damaged, old or of something else is never believed. Not here: how fast that is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::checkpoint::{CheckpointError, Checkpoints};
use engine::follow::{CatchUpReport, Follower, RestoreOutcome, SaveOutcome};
use engine::state_digest::StateDigest;
use event::Timestamp;
use index::embed::worker::{EmbeddedDocument, Job, WantedOutput};
use index::{
    late,
    late::{SIGN_WORDS, SignState, SignStore, TokenSigns},
};
use memory::MemoryBound;
use proptest::prelude::*;
use search::snapshot::Snapshot;
use search::{Query, search};
use serde_json::json;
use settings::Config;
use store::{FileLock, Store};

/// A store, a place for checkpoints beside it, and a bound.
struct Place {
    folder: tempfile::TempDir,
    bound: MemoryBound,
}

impl Place {
    fn new(bound: MemoryBound) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        Self { folder, bound }
    }

    fn with(lines: &[String]) -> Self {
        let place = Self::new(MemoryBound::NONE);
        place.append("a.jsonl", &lines.concat());
        place
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn append(&self, name: &str, text: &str) {
        fs::create_dir_all(self.log(name).parent().unwrap()).unwrap();
        let before = fs::read_to_string(self.log(name)).unwrap_or_default();
        // In place, as writers do: another file would be a replacement.
        use std::io::Write;
        let mut log =
            fs::OpenOptions::new().create(true).append(true).open(self.log(name)).unwrap();
        log.write_all(text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(self.log(name)).unwrap(), before + text);
    }

    fn checkpoints(&self) -> Checkpoints {
        Checkpoints::at(self.cache(), "program 1", Some("model"))
    }

    fn cold(&self) -> Follower {
        let store = Store::at(self.folder.path().join("logs"));
        Follower::new(store, Config::default(), self.bound, None)
    }

    fn restarted(&self) -> (Follower, RestoreOutcome) {
        let mut follower = self.cold();
        let restored = follower.restore(&self.checkpoints());
        (follower, restored)
    }

    fn saved(&self) -> Follower {
        let mut follower = self.cold();
        told(&mut follower);
        assert_eq!(follower.save(&self.checkpoints()).unwrap(), SaveOutcome::Written);
        follower
    }

    fn files(&self) -> BTreeSet<PathBuf> {
        let files = fs::read_dir(self.cache()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.file_name().unwrap() != "lock").collect()
    }
}

/// A direction for every text.
fn vector(text: &str) -> Vec<f32> {
    (1..=8_u32)
        .map(|place| {
            text.bytes().fold(0.1, |sum, byte| (sum * 1.3 + f32::from(byte) * place as f32) % 7.0)
        })
        .collect()
}

/// A place for the signs of every text, some of which are too long to have one.
fn signed(text: &str) -> SignState {
    let row = |sum: u32, byte: u8| sum.rotate_left(5) ^ u32::from(byte);
    match text.len() % 5 {
        0 => SignState::Never,
        _ => SignState::At(late::SignLocation { row: text.bytes().fold(7, row), check: 1 }),
    }
}

/// A sign_store whose signs tell the place they were asked for.
struct Telling;

impl SignStore for Telling {
    fn signs(&self, place: late::SignLocation) -> Option<TokenSigns> {
        Some(TokenSigns::new(std::iter::once([u64::from(place.row); SIGN_WORDS])))
    }
}

/// Catches up, vectors included.
fn caught_up(follower: &mut Follower) -> Snapshot {
    let followed = follower.catch_up();
    taken_in(follower, followed)
}

/// Makes the vectors that are wanted.
fn taken_in(follower: &mut Follower, followed: CatchUpReport) -> Snapshot {
    for wanted in followed.to_embed {
        if let Some(job) = follower.embedding_job(wanted, WantedOutput::Vector) {
            let vector = vector(&job.text);
            let (Job { doc, generation, .. }, signed) = (&job, signed(&job.text));
            follower.store_vector(&EmbeddedDocument {
                doc: *doc,
                generation: *generation,
                vector,
                signed,
            });
        }
    }
    follower.snapshot()
}

/// Everything that a state can be asked for: digest, health, hits, neighbours, vectors.
fn told_of(snapshot: &Snapshot, bound: MemoryBound) -> String {
    let health = snapshot.health();
    let skips: BTreeSet<String> = health
        .skips
        .iter()
        .map(|skip| format!("{:?} {} {}", skip.log.file_name(), skip.offset, skip.reason))
        .collect();
    let counts = (health.lines, health.skipped, health.logs, health.early, health.without_vector);
    let now: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
    let id = |number: u32| {
        let memory = snapshot.memory(number).unwrap();
        format!("{} {:?}", memory.id, memory.provenance.log.origin.other())
    };
    let mut hits = Vec::new();
    for text in ["lesson 1", "words2 zebra", "heron", "api repo1"] {
        let meaning = vector(text);
        // A vector that moved for the bound has other last bits.
        let vector = (bound == MemoryBound::NONE).then_some(meaning.as_slice());
        for hit in search(snapshot, &Query { text, vector, ..Query::default() }, now, 9) {
            let also: Vec<_> = hit.duplicates.iter().map(|memory| memory.id.to_string()).collect();
            let event = format!("{:?} {:?}", hit.memory.event(), hit.memory.flagged());
            hits.push(format!("{} {:?} {also:?} {event}", id(hit.number), hit.score.total));
        }
    }
    let numbers = 0..u32::try_from(snapshot.memories().len()).unwrap();
    let near: BTreeMap<String, Vec<String>> = numbers
        .clone()
        .map(|number| (id(number), snapshot.neighbours_of(number).numbers().map(id).collect()))
        .collect();
    let vectors: BTreeSet<String> = numbers
        .clone()
        .filter(|number| snapshot.vectors().is_some_and(|vectors| vectors.contains(*number)))
        .map(id)
        .collect();
    let on_shelf = snapshot.clone().with_sign_store(Some(Arc::new(Telling)));
    let signs: BTreeMap<String, Option<TokenSigns>> =
        numbers.map(|number| (id(number), on_shelf.signs(number))).collect();
    let (digest, room, repos) =
        (StateDigest::compute(snapshot, None), snapshot.memory_usage(), snapshot.repos());
    format!(
        "{digest} {counts:?} {skips:?}\n{hits:#?}\n{near:?}\n{vectors:?}\n{signs:?}\n{room:?} {repos:?}"
    )
}

fn told(follower: &mut Follower) -> String {
    let snapshot = caught_up(follower);
    let told = told_of(&snapshot, snapshot_bound(follower));
    if snapshot.is_damaged() {
        // As whoever answers must: not from a state that lacks something.
        let snapshot = caught_up(follower);
        assert!(!snapshot.is_damaged());
        return told_of(&snapshot, snapshot_bound(follower));
    }
    told
}

fn snapshot_bound(follower: &Follower) -> MemoryBound {
    let room = follower.snapshot().memory_usage();
    if room.bytes_max == u64::MAX {
        MemoryBound::NONE
    } else {
        MemoryBound { bytes_max: room.bytes_max, vector_bytes: 0 }
    }
}

fn line() -> impl Strategy<Value = String> {
    let about = prop::option::weighted(0.25, 0..9_u8);
    (0..12_u8, 0..4_u8, about, 0..6_u8, 0..3_u8).prop_map(|(id, text, about, second, more)| {
        if id == 11 {
            return ["{\"torn\n", "[1]\n", "\"x\"\n", "{\"id\":\"e\"}\n"][usize::from(text)].to_owned();
        }
        let mut json = json!({
            "lesson": format!("lesson {text} words{text} zebra{id}"), "repo": format!("repo{}", text % 2),
            "agent_id": "codex", "success_rate": "2/3", "tags": ["api", "ü"],
        });
        if second > 0 {
            json["timestamp"] = format!("2026-01-01T00:00:0{second}Z").into();
            json["session_id"] = format!("s{}", second % 2).into();
        }
        if id > 0 {
            json["id"] = format!("e{id}").into();
        }
        if let Some(about) = about {
            json["memory_id"] = format!("e{about}").into();
        }
        if more > 0 {
            json["commit"] = format!("c{more}").into();
            json["unknown"] = json!({"b": [1.5, null], "a": more});
        }
        format!("{json}\n")
    })
}

/// Two logs of the own store, and a mirror of another origin's, which has other contents under the same ids.
const LOGS: [&str; 3] = ["a.jsonl", "b.jsonl", "team/other-0123456789abcdef/repo0.jsonl"];

/// None, or one that some of few memories fit in.
fn bound() -> impl Strategy<Value = MemoryBound> {
    let bytes = prop::option::weighted(0.5, 3_000..20_000_u64);
    bytes.prop_map(|bytes| {
        bytes.map_or(MemoryBound::NONE, |bytes_max| MemoryBound { bytes_max, vector_bytes: 0 })
    })
}

proptest! {
    // Each case writes some files.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_restart_anywhere_knows_what_a_cold_start_knows(
        lines in prop::collection::vec((line(), 0..LOGS.len(), 0..5_u8), 0..24), bound in bound(),
    ) {
        let place = Place::new(bound);
        let mut follower = place.cold();
        for (line, log, then) in lines {
            place.append(LOGS[log], &line);
            if then > 0 {
                caught_up(&mut follower);
            }
            if then > 1 {
                follower.save(&place.checkpoints()).unwrap();
            }
            if then > 2 {
                let (again, restored) = place.restarted();
                prop_assert!(matches!(restored, RestoreOutcome::FromCheckpoint { .. }), "{restored:?}");
                follower = again;
            }
        }
        let cold = told(&mut place.cold());
        prop_assert_eq!(&told(&mut follower), &cold);
        follower.save(&place.checkpoints()).unwrap();
        prop_assert_eq!(&told(&mut follower), &cold);
        prop_assert_eq!(&told(&mut place.restarted().0), &cold);
    }
}

/// A few lines of all kinds.
fn few() -> Vec<String> {
    let lines = [
        json!({"id": "m1", "lesson": "the heron eats zebra1 words2", "session_id": "s", "repo": "api",
            "timestamp": "2026-01-01T00:00:01Z", "success_rate": "3/4", "tags": ["x"], "k": [1]}),
        json!({"id": "m2", "lesson": "lesson 1 of the otter", "session_id": "s", "repo": "api",
            "timestamp": "2026-01-01T00:00:02Z"}),
        json!({"id": "m1", "lesson": "another under the id of the heron"}),
        json!({"id": "f1", "memory_id": "m2", "event_type": "feedback", "lesson": "it helped"}),
        json!({"id": "f2", "memory_id": "m9", "event_type": "feedback", "lesson": "too early"}),
        json!(["no event"]),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// One more, beside those.
fn more() -> String {
    let line = json!({"id": "m3", "lesson": "the badger", "session_id": "s", "repo": "api",
        "timestamp": "2026-01-01T00:00:03Z"});
    format!("{line}\n")
}

#[test]
fn no_damage_of_a_checkpoint_changes_an_answer() {
    let place = Place::with(&few());
    place.saved();
    place.append("a.jsonl", &more());
    let cold = told(&mut place.cold());
    let (mut used, mut refused) = (0, 0);
    let mut check = |what: &dyn Fn() -> String| {
        let (mut follower, restored) = place.restarted();
        match restored {
            RestoreOutcome::FromCheckpoint { .. } => used += 1,
            // Nothing of it is in the follower: that it then reads the logs needs no thousand proofs.
            RestoreOutcome::NotUsable(_) => {
                refused += 1;
                if refused % 50 > 0 {
                    return;
                }
            }
        }
        assert_eq!(told(&mut follower), cold, "{}", what());
    };
    for path in place.files() {
        let bytes = fs::read(&path).unwrap();
        // The index of words has many bytes that are alike.
        let step = 1 + bytes.len() / 600;
        for at in (0..bytes.len()).step_by(step) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).unwrap();
            check(&|| format!("{path:?} flipped at {at}"));
            fs::write(&path, &bytes[..at]).unwrap();
            check(&|| format!("{path:?} cut at {at}"));
        }
        fs::remove_file(&path).unwrap();
        check(&|| format!("{path:?} gone"));
        fs::write(&path, &bytes).unwrap();
    }
    // Records are compared when they are asked for; all else before.
    assert!(used > 50 && refused > 1_000, "{used} {refused}");
    assert!(matches!(
        place.restarted().1,
        RestoreOutcome::FromCheckpoint { memories: 2, without_vector: 0 }
    ));
}

// S-READ-2
#[test]
fn a_replaced_log_is_read_from_its_beginning() {
    let change: [&dyn Fn(&Place); 5] = [
        &|place| fs::remove_file(place.log("b.jsonl")).unwrap(),
        &|place| fs::rename(place.log("b.jsonl"), place.log("c.jsonl")).unwrap(),
        &|place| fs::write(place.log("a.jsonl"), few()[1..].concat()).unwrap(),
        &|place| fs::write(place.log("a.jsonl"), few().concat().replace("heron", "wolfs")).unwrap(),
        &|place| {
            fs::write(place.log("new"), few().concat() + &more()).unwrap();
            fs::rename(place.log("new"), place.log("a.jsonl")).unwrap();
        },
    ];
    for (number, change) in change.into_iter().enumerate() {
        let place = Place::with(&few());
        place.append("b.jsonl", &more());
        place.saved();
        change(&place);
        let (mut follower, restored) = place.restarted();
        assert!(matches!(restored, RestoreOutcome::FromCheckpoint { .. }));
        assert_eq!(told(&mut follower), told(&mut place.cold()), "{number}");
        follower.save(&place.checkpoints()).unwrap();
        assert_eq!(told(&mut place.restarted().0), told(&mut place.cold()), "{number}");
    }
}

#[test]
fn a_checkpoint_of_something_else_is_not_used() {
    let place = Place::with(&few());
    assert!(matches!(place.restarted().1, RestoreOutcome::NotUsable(CheckpointError::Missing)));
    place.saved();
    let foreign = |follower: &mut Follower, program: &str| {
        let checkpoints = Checkpoints::at(place.cache(), program, Some("model"));
        matches!(
            follower.restore(&checkpoints),
            RestoreOutcome::NotUsable(CheckpointError::Foreign(_))
        )
    };
    assert!(foreign(&mut place.cold(), "program 2"));
    let at = |root: &Path, config: Config, bound: MemoryBound| {
        Follower::new(Store::at(root), config, bound, None)
    };
    let logs = place.folder.path().join("logs");
    let other = MemoryBound { bytes_max: 1 << 30, vector_bytes: 0 };
    assert!(foreign(&mut at(&place.cache(), Config::default(), MemoryBound::NONE), "program 1"));
    assert!(foreign(&mut at(&logs, Config::default(), other), "program 1"));
    let mut config = Config::default();
    let key = |text: &str| event::RepoKey::parse(text).unwrap();
    config.aliases.insert(key("old"), key("new"));
    assert!(foreign(&mut at(&logs, config, MemoryBound::NONE), "program 1"));
    // Another model: all but its vectors.
    let mut follower = place.cold();
    let restored = follower.restore(&Checkpoints::at(place.cache(), "program 1", Some("other")));
    assert!(matches!(restored, RestoreOutcome::FromCheckpoint { memories: 2, without_vector: 2 }));
    assert_eq!(told(&mut follower), told(&mut place.cold()));
}

#[test]
fn a_record_damaged_later_is_not_shown_and_recovers() {
    let place = Place::with(&few());
    let mut follower = place.saved();
    let texts = place.files().into_iter().find(|path| path.to_str().unwrap().contains("texts"));
    let texts = texts.unwrap();
    let mut bytes = fs::read(&texts).unwrap();
    bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(&texts, bytes).unwrap();
    let snapshot = follower.snapshot();
    let now = "2026-02-01T00:00:00Z".parse().unwrap();
    let query = Query { text: "heron", ..Query::default() };
    assert!(search(&snapshot, &query, now, 9).is_empty());
    assert!(snapshot.is_damaged());
    let followed = follower.catch_up();
    assert!(followed.started_over);
    taken_in(&mut follower, followed);
    assert_eq!(told(&mut follower), told(&mut place.cold()));
    assert_eq!(follower.save(&place.checkpoints()).unwrap(), SaveOutcome::Written);
    assert_eq!(told(&mut place.restarted().0), told(&mut place.cold()));
}

#[test]
fn processes_in_one_folder_keep_each_others_records() {
    let place = Place::with(&few());
    let mut one = place.saved();
    let (mut other, _) = place.restarted();
    let frozen = one.snapshot();
    let before = told_of(&frozen, MemoryBound::NONE);
    place.append("a.jsonl", &more());
    let cold = told(&mut place.cold());
    for follower in [&mut other, &mut one] {
        assert_eq!(told(follower), cold);
        assert_eq!(follower.save(&place.checkpoints()).unwrap(), SaveOutcome::Written);
        assert_eq!(follower.save(&place.checkpoints()).unwrap(), SaveOutcome::Unchanged);
    }
    assert_eq!((told(&mut one), told(&mut other)), (cold.clone(), cold.clone()));
    assert_eq!(told_of(&frozen, MemoryBound::NONE), before);
    assert_eq!(told(&mut place.restarted().0), cold);
    assert_eq!(place.files().len(), 5, "what no checkpoint needs is removed");
    let _held = FileLock::acquire(&place.cache().join("lock"), 0).unwrap();
    place.append("a.jsonl", &more().replace("m3", "m4"));
    one.catch_up();
    assert!(matches!(one.save(&place.checkpoints()), Err(CheckpointError::Busy)));
}

#[test]
fn what_a_dying_writer_left_is_passed_over_and_removed() {
    let place = Place::with(&few());
    place.saved();
    let texts = place.files().into_iter().find(|path| path.to_str().unwrap().contains("texts"));
    let texts = texts.unwrap();
    fs::write(&texts, [fs::read(&texts).unwrap(), b"half a rec".to_vec()].concat()).unwrap();
    fs::write(place.cache().join("heads-2"), "half").unwrap();
    fs::write(place.cache().join("manifest.new"), "half").unwrap();
    place.append("a.jsonl", &more());
    let (mut follower, restored) = place.restarted();
    assert!(matches!(restored, RestoreOutcome::FromCheckpoint { .. }));
    assert_eq!(told(&mut follower), told(&mut place.cold()));
    follower.save(&place.checkpoints()).unwrap();
    assert_eq!(told(&mut place.restarted().0), told(&mut place.cold()));
    assert_eq!(place.files().len(), 5);
}

#[test]
fn records_that_nobody_needs_do_not_pile_up() {
    let place = Place::new(MemoryBound::NONE);
    let mut follower = place.cold();
    let mut most = 0;
    // Each content is older than the one before, and takes its place.
    for second in (10..28).rev() {
        let line = json!({"id": "m1", "timestamp": format!("2026-01-01T00:00:{second}Z"),
            "lesson": "one", "long": format!("{second} ").repeat(100_000)});
        place.append("a.jsonl", &format!("{line}\n"));
        caught_up(&mut follower);
        follower.save(&place.checkpoints()).unwrap();
        let texts =
            place.files().into_iter().filter(|path| path.to_str().unwrap().contains("texts"));
        most = most.max(texts.map(|path| path.metadata().unwrap().len()).sum());
        if second % 7 == 0 {
            follower = place.restarted().0;
        }
    }
    assert!((300_000..4_800_000).contains(&most), "{most}");
    assert!(told(&mut follower) == told(&mut place.cold()));
}

#[test]
fn no_secret_gets_into_a_checkpoint() {
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let line = json!({"id": "m1", "lesson": format!("push with {secret}"), "tags": [secret],
        "x": {"y": secret}, "command": format!("TOKEN={secret}")});
    let place = Place::with(&[format!("{line}\n"), format!("{{\"{secret}\n")]);
    place.saved();
    for path in place.files() {
        let bytes = fs::read(&path).unwrap();
        let part = &secret.as_bytes()[4..16];
        let lower = part.to_ascii_lowercase();
        for part in [part, &lower] {
            let at = bytes.windows(part.len()).position(|window| window == part);
            assert_eq!(at, None, "{path:?} {:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_checkpoint_is_private_and_no_planted_link_is_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::with(&few());
    let elsewhere = place.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, place.cache()).unwrap();
    let mut follower = place.cold();
    follower.catch_up();
    assert!(follower.save(&place.checkpoints()).is_err());
    assert!(matches!(place.restarted().1, RestoreOutcome::NotUsable(_)));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(place.cache()).unwrap();
    follower.save(&place.checkpoints()).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.cache()), 0o700);
    assert!(place.files().iter().all(|path| mode(path) == 0o600));
    // A link in the place of a file is as good as none.
    for path in place.files() {
        let away = place.folder.path().join("away");
        fs::rename(&path, &away).unwrap();
        symlink(&away, &path).unwrap();
        let (mut restarted, restored) = place.restarted();
        assert!(matches!(restored, RestoreOutcome::NotUsable(_)), "{path:?}");
        assert_eq!(told(&mut restarted), told(&mut place.cold()));
        fs::rename(&away, &path).unwrap();
    }
}
