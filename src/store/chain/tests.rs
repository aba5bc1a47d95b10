//! Chains of logs made by the tests: what is taken in, what is told, and what a crash may leave. Not here: scrubbing,
//! archiving and all mixtures (`tests/integration/chain_laws.rs`).

use std::io::Write as _;
use std::path::PathBuf;

use event::{Decoded, EncodedLine, RepoKey, clean, codec};

use super::*;
use crate::edit::rewrite;
use crate::{Durability, Store, append, lock};

struct ChainFixture {
    _folder: tempfile::TempDir,
    store: Store,
}

impl ChainFixture {
    /// A store with `count` appended lines.
    fn with(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { store: Store::at(folder.path().join("logs")), _folder: folder };
        (0..count).for_each(|number| world.append(&format!("m{number}")));
        world
    }

    fn append(&self, lesson: &str) {
        let repo = RepoKey::parse("api").unwrap();
        append(&self.store, &repo, &[line(lesson)], Durability::Written).unwrap();
    }

    fn by_hand(&self, text: &str) {
        let mut log = std::fs::OpenOptions::new().append(true).open(self.log()).unwrap();
        log.write_all(text.as_bytes()).unwrap();
    }

    fn log(&self) -> PathBuf {
        self.store.root().join("api.jsonl")
    }

    fn chain(&self) -> PathBuf {
        self.store.root().join(".chain/api.jsonl.chain")
    }

    fn audit(&self) -> ChainAudit {
        self.store.audit_chain(&self.log()).unwrap().unwrap()
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.log()).unwrap();
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    /// What is told once the log has these lines instead.
    fn told_of(&self, lines: &[String]) -> Vec<(ChainFaultKind, (u64, u64))> {
        std::fs::write(self.log(), lines.concat()).unwrap();
        let faults = self.audit().faults;
        faults.into_iter().map(|fault| (fault.kind, fault.lines)).collect()
    }
}

fn line(lesson: &str) -> EncodedLine {
    let json = serde_json::json!({ "id": lesson, "lesson": lesson }).to_string();
    let Decoded::Event(event) = codec::decode(json.as_bytes(), "api") else { panic!() };
    codec::encode(&clean::clean(*event))
}

// S-CHAIN-1, S-CHAIN-2
#[test]
fn a_chain_can_be_computed_by_hand() {
    let world = ChainFixture::with(70);
    let text = std::fs::read_to_string(world.chain()).unwrap();
    let first = text.lines().next().unwrap();
    let (said, begin) = first.rsplit_once(" head ").unwrap();
    assert_eq!(ChainHash::of(said.as_bytes()).to_string(), begin);
    let mut head = begin.to_owned();
    for line in world.lines() {
        let digest = ChainHash::of(line.as_bytes()).to_string();
        head = ChainHash::of(format!("{head}{digest}").as_bytes()).to_string();
    }
    let found = world.store.chain_head(&world.log()).unwrap().unwrap();
    assert_eq!((found.head.to_string(), found.lines), (head, 70));
    assert!(text.contains("\n2 lines 1-32 bytes 0-"), "{text}");
    let audit = world.audit();
    assert!(audit.is_whole() && audit.lines == 70 && audit.taken_in == 0, "{audit:?}");
}

// S-CHAIN-3
#[test]
fn lines_of_others_are_taken_in_with_a_mark() {
    let world = ChainFixture::with(1);
    world.by_hand("{\"lesson\":\"by hand\"}\n\nhalf");
    let before = world.audit();
    assert_eq!((before.is_whole(), before.lines, before.uncovered_bytes > 0), (true, 1, true));
    world.append("mine");
    let after = world.audit();
    assert!(after.is_whole(), "{after:?}");
    assert_eq!((after.lines, after.taken_in, after.uncovered_bytes), (5, 3, 0));
    let old = ChainFixture::with(0);
    old.store.ensure().unwrap();
    std::fs::write(old.log(), "{\"lesson\":\"of old\"}\n".repeat(50)).unwrap();
    assert_eq!(old.store.audit_chain(&old.log()).unwrap(), None);
    old.append("new");
    assert_eq!((old.audit().lines, old.audit().taken_in), (51, 50));
}

// S-CHAIN-4
#[test]
fn what_was_done_is_told_with_its_lines() {
    use ChainFaultKind::{Deleted, Edited, Inserted, Reordered};
    let world = ChainFixture::with(100);
    let all = world.lines();
    let changed = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = all.clone();
        change(&mut lines);
        world.told_of(&lines)
    };
    assert_eq!(changed(&|_| ()), []);
    assert_eq!(changed(&|lines| lines[40] = lines[40].replace("m40", "x40")), [(Edited, (41, 41))]);
    assert_eq!(changed(&|lines| lines[99] = "{}\n".to_owned()), [(Edited, (100, 100))]);
    assert_eq!(changed(&|lines| drop(lines.drain(10..12))), [(Deleted, (11, 12))]);
    assert_eq!(changed(&|lines| lines.truncate(98)), [(Deleted, (99, 100))]);
    assert_eq!(changed(&|lines| lines.insert(5, "{}\n".to_owned())), [(Inserted, (6, 6))]);
    assert_eq!(changed(&|lines| lines.swap(3, 70)), [(Reordered, (4, 4)), (Reordered, (71, 71))]);
    assert_eq!(changed(&|lines| lines.clear()), [(Deleted, (1, 100))]);
    std::fs::remove_file(world.log()).unwrap();
    assert_eq!(world.store.logs_gone().unwrap(), [world.log()]);
    assert_eq!(world.audit().faults[0].kind, Deleted);
}

// S-CHAIN-4
#[test]
fn a_change_that_an_append_meets_stays_told() {
    let world = ChainFixture::with(40);
    let mut lines = world.lines();
    lines.remove(20);
    std::fs::write(world.log(), lines.concat()).unwrap();
    world.append("after");
    world.append("and after");
    let audit = world.audit();
    assert!(audit.faults.is_empty() && !audit.is_whole(), "{audit:?}");
    let broken = audit.events.last().unwrap();
    assert_eq!((broken.kind, broken.found.as_str()), (ChainEventKind::Broken, "deleted:21-21"));
    assert_eq!(audit.lines, 41);
}

// S-CHAIN-5
#[test]
fn a_lost_or_damaged_chain_blocks_nothing_and_is_told() {
    type Damage = fn(&ChainFixture);
    let damages: [Damage; 5] = [
        |world| std::fs::remove_file(world.chain()).unwrap(),
        |world| std::fs::write(world.chain(), "").unwrap(),
        |world| std::fs::write(world.chain(), "nothing\n").unwrap(),
        |world| {
            let text = std::fs::read_to_string(world.chain()).unwrap();
            std::fs::write(world.chain(), text.replace(" lines 33-64 ", " lines 34-64 ")).unwrap();
        },
        |world| {
            let text = std::fs::read_to_string(world.chain()).unwrap();
            std::fs::write(world.chain(), text.replace("1 begin at 2", "1 begin at 1")).unwrap();
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let world = ChainFixture::with(100);
        damage(&world);
        assert!(!world.audit().is_whole(), "{number}");
        (0..40).for_each(|line| world.append(&format!("later {line}")));
        assert_eq!(world.lines().len(), 140);
        assert!(!world.audit().is_whole(), "{number}");
    }
}

// S-CHAIN-5
#[test]
fn a_lock_file_that_is_gone_is_no_fault() {
    let world = ChainFixture::with(40);
    std::fs::remove_file(lock::path_of(&world.log())).unwrap();
    assert!(world.audit().is_whole());
    world.append("after");
    let audit = world.audit();
    assert_eq!((audit.is_whole(), audit.lines, audit.taken_in), (true, 41, 8));
}

// S-CHAIN-5
#[test]
fn a_torn_last_entry_of_the_chain_is_no_fault() {
    let world = ChainFixture::with(32);
    let mut chain = std::fs::OpenOptions::new().append(true).open(world.chain()).unwrap();
    chain.write_all(b"3 lines 33-").unwrap();
    assert!(world.audit().is_whole());
    (0..70).for_each(|line| world.append(&format!("later {line}")));
    let audit = world.audit();
    assert_eq!((audit.is_whole(), audit.lines), (true, 102), "{audit:?}");
}

// S-CHAIN-6
#[test]
fn a_rewritten_log_says_what_changed() {
    let world = ChainFixture::with(50);
    let before = world.store.chain_head(&world.log()).unwrap().unwrap();
    world.by_hand("{}\n");
    rewrite(&world.store, &world.log(), &mut |line| {
        (line.bytes.windows(5).any(|part| part == b"\"m40\"")).then(|| b"{}".to_vec())
    })
    .unwrap();
    let audit = world.audit();
    assert!(audit.is_whole(), "{audit:?}");
    assert_eq!((audit.lines, world.lines().len()), (51, 51), "nothing is doubled");
    let event = audit.events.last().unwrap();
    assert_eq!((event.kind, event.changed, event.after), (ChainEventKind::Scrub, 1, before.head));
    world.append("after");
    assert_eq!((world.audit().lines, world.audit().is_whole()), (52, true));
}

// S-CHAIN-6
#[test]
fn rewriting_does_not_hide_an_earlier_change() {
    let world = ChainFixture::with(50);
    let mut lines = world.lines();
    lines.swap(3, 4);
    std::fs::write(world.log(), lines.concat()).unwrap();
    rewrite(&world.store, &world.log(), &mut |line| (line.offset == 0).then(|| b"{}".to_vec()))
        .unwrap();
    let audit = world.audit();
    assert!(audit.faults.is_empty() && !audit.is_whole());
    assert_eq!(audit.events.last().unwrap().found, "reordered:4-5");
}

// S-CHAIN-6
#[test]
fn a_crash_while_rewriting_leaves_a_fitting_chain() {
    let world = ChainFixture::with(50);
    let (log, chain) = (world.log(), world.chain());
    let (old_log, old_chain) = (std::fs::read(&log).unwrap(), std::fs::read(&chain).unwrap());
    let note = std::fs::read(lock::path_of(&log)).unwrap();
    rewrite(&world.store, &log, &mut |line| (line.offset == 0).then(|| b"{}".to_vec())).unwrap();
    let (new_log, new_chain) = (std::fs::read(&log).unwrap(), std::fs::read(&chain).unwrap());
    for (has_new_log, has_note) in [(false, false), (false, true), (true, false), (true, true)] {
        std::fs::write(&log, if has_new_log { &new_log } else { &old_log }).unwrap();
        std::fs::write(&chain, &old_chain).unwrap();
        std::fs::write(chain.with_extension("next"), &new_chain).unwrap();
        let note = if has_note { note.as_slice() } else { b"rewriting\n" };
        std::fs::write(lock::path_of(&log), note).unwrap();
        let audit = world.audit();
        assert!(audit.is_whole(), "{has_new_log} {has_note}: {audit:?}");
        assert!(!chain.with_extension("next").exists());
        world.append("after");
        let audit = world.audit();
        assert_eq!((audit.is_whole(), audit.lines), (true, 51), "{audit:?}");
        let last = audit.events.last().unwrap().kind;
        assert_eq!(last == ChainEventKind::Scrub, has_new_log);
    }
}

// S-CHAIN-7
#[test]
fn a_copy_is_compared_with_a_head() {
    let world = ChainFixture::with(40);
    let head = world.store.chain_head(&world.log()).unwrap().unwrap();
    let copy = world.store.root().join("copy");
    let all = world.lines();
    let fit = |lines: &[String]| {
        std::fs::write(&copy, lines.concat()).unwrap();
        fit_of(&copy, &head).unwrap()
    };
    assert_eq!(fit(&all), HeadFit::Same);
    assert_eq!(fit(&[all.concat(), "{}\n".to_owned()]), HeadFit::Longer(3));
    assert!(matches!(fit(&all[..39]), HeadFit::Shorter(_)));
    let mut swapped = all.clone();
    swapped.swap(0, 1);
    assert_eq!(fit(&swapped), HeadFit::Different);
    // Who holds the store can make both the log and its chain anew; the head that was kept elsewhere tells.
    std::fs::write(world.log(), swapped.concat()).unwrap();
    std::fs::remove_file(world.chain()).unwrap();
    std::fs::remove_file(lock::path_of(&world.log())).unwrap();
    world.append("after");
    assert!(world.audit().is_whole());
    assert_eq!(fit_of(&world.log(), &head).unwrap(), HeadFit::Different);
}

#[cfg(unix)]
// S-CHAIN-1
#[test]
fn a_chain_is_private_and_follows_no_link() {
    use std::os::unix::fs::PermissionsExt;
    let world = ChainFixture::with(40);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&world.chain()), mode(world.chain().parent().unwrap())), (0o600, 0o700));
    let target = world.store.root().join("target");
    std::fs::write(&target, "kept").unwrap();
    std::fs::remove_file(world.chain()).unwrap();
    std::os::unix::fs::symlink(&target, world.chain()).unwrap();
    (0..40).for_each(|line| world.append(&format!("later {line}")));
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
    assert_eq!(world.lines().len(), 80);
}
