//! Chains of logs made by the tests: what is taken in, what is told, and what a crash may leave. Not here: scrubbing,
//! archiving and all mixtures (`tests/integration/chain_laws.rs`).

use std::io::Write as _;
use std::path::PathBuf;

use event::{DecodedLine, EncodedLine, RepoKey, clean, codec};

use super::chain_entry::{LineAuthor, Range};
use super::open_entry::OpenEntries;
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
    let DecodedLine::Event(event) = codec::decode(json.as_bytes(), "api") else { panic!() };
    codec::encode(&clean::clean(*event))
}

// S-CHAIN-1, S-CHAIN-2
#[test]
fn a_chain_can_be_computed_by_hand() {
    let world = ChainFixture::with(70);
    let text = std::fs::read_to_string(world.chain()).unwrap();
    let first = text.lines().next().unwrap();
    let (said, begin) = first.rsplit_once(" head ").unwrap();
    assert_eq!(ChainHash::digest(said.as_bytes()).to_string(), begin);
    let mut head = begin.to_owned();
    for line in world.lines() {
        let digest = ChainHash::digest(line.as_bytes()).to_string();
        head = ChainHash::digest(format!("{head}{digest}").as_bytes()).to_string();
    }
    let found = world.audit();
    assert_eq!((found.head.hash.to_string(), found.lines), (head, 70));
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
    let gone = &world.audit().faults[0];
    assert_eq!((gone.kind, gone.lines), (ChainFaultKind::Gone, (1, 100)));
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
    let before = world.audit().head;
    world.by_hand("{}\n");
    rewrite(&world.store, &world.log(), &mut |line| {
        (line.bytes.windows(5).any(|part| part == b"\"m40\"")).then(|| b"{}".to_vec())
    })
    .unwrap();
    let audit = world.audit();
    assert!(audit.is_whole(), "{audit:?}");
    assert_eq!((audit.lines, world.lines().len()), (51, 51), "nothing is doubled");
    let event = audit.events.last().unwrap();
    assert_eq!((event.kind, event.changed, event.after), (ChainEventKind::Scrub, 1, before.hash));
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

// S-CHAIN-3
#[test]
fn what_a_kill_at_a_seal_leaves_is_whole() {
    // Whether the chain has the sealed entry, what the file of the lock says, and how many lines are taken in then.
    let closed = |open: &str| format!("rewriting\n{open}");
    for (has_sealed, note, taken_in) in [
        (false, "{old}", 1),
        (false, closed("{old}").as_str(), 1),
        (false, closed("").as_str(), 32),
        (true, closed("{old}").as_str(), 0),
        (true, closed("").as_str(), 0),
        (true, "{new}", 0),
    ] {
        let world = ChainFixture::with(31);
        let lock = lock::path_of(&world.log());
        let (chain, old) = (std::fs::read(world.chain()), std::fs::read_to_string(&lock));
        world.append("seals");
        if !has_sealed {
            std::fs::write(world.chain(), chain.unwrap()).unwrap();
        }
        let new = std::fs::read_to_string(&lock).unwrap();
        let said = note.replace("{old}", &old.unwrap()).replace("{new}", &new);
        std::fs::write(&lock, said).unwrap();
        assert!(world.audit().is_whole(), "{has_sealed} {note}: {:?}", world.audit());
        (0..70).for_each(|line| world.append(&format!("later {line}")));
        let audit = world.audit();
        assert!(audit.is_whole(), "{has_sealed} {note}: {audit:?}");
        assert_eq!((audit.lines, audit.taken_in), (102, taken_in), "{has_sealed} {note}");
    }
}

/// What is in the place of a file that is written as a whole makes that fail, as a full disk does.
fn blocked(world: &ChainFixture, act: impl FnOnce()) {
    let place = world.chain().with_extension("new");
    std::fs::create_dir(&place).unwrap();
    act();
    std::fs::remove_dir(&place).unwrap();
}

// S-CHAIN-6
#[test]
fn a_failed_rewriting_seals_no_entry_twice() {
    let world = ChainFixture::with(40);
    blocked(&world, || {
        let same = |line: crate::LogLine<'_>| Some(line.bytes.to_vec());
        rewrite(&world.store, &world.log(), &mut { same }).unwrap();
    });
    (0..70).for_each(|line| world.append(&format!("later {line}")));
    let audit = world.audit();
    assert_eq!((audit.is_whole(), audit.lines, audit.taken_in), (true, 110, 0), "{audit:?}");
}

// S-CHAIN-4
#[test]
fn a_failed_acceptance_leaves_the_chain_as_it_was() {
    let world = ChainFixture::with(40);
    let mut lines = world.lines();
    lines[35] = lines[35].replace("m35", "x35");
    std::fs::write(world.log(), lines.concat()).unwrap();
    let before = world.audit();
    blocked(&world, || assert!(world.store.accept_chain(&world.log()).is_err()));
    assert_eq!(world.audit(), before);
    world.append("after");
    assert_eq!(world.audit().faults, before.faults);
    world.store.accept_chain(&world.log()).unwrap();
    (0..70).for_each(|line| world.append(&format!("later {line}")));
    assert_eq!((world.audit().is_whole(), world.audit().lines), (true, 111));
}

// S-CHAIN-5
#[test]
fn a_long_log_is_not_checked_while_appenders_wait() {
    let world = ChainFixture::with(40);
    std::fs::write(world.chain(), "").unwrap();
    std::fs::remove_file(lock::path_of(&world.log())).unwrap();
    let log = std::fs::OpenOptions::new().write(true).open(world.log()).unwrap();
    // A hole, which takes no room on the disk.
    log.set_len(256 * 1024 * 1024 + 1).unwrap();
    world.append("after");
    let chain = std::fs::read_to_string(world.chain()).unwrap();
    assert!(chain.contains(" broken ") && chain.contains(" found lost "), "{chain}");
}

// S-CHAIN-2
#[test]
fn many_lines_at_once_make_no_long_chain() {
    let world = ChainFixture::with(1);
    let loaded = || chain_state::load(&world.log()).unwrap().unwrap().evidence;
    // Each line is long enough for an entry of its own.
    let after = |open: Range, lines: u32| {
        let mut links = OpenEntries::after(open);
        let hash = |line: u32| ChainHash::digest(&line.to_le_bytes());
        (0..lines).for_each(|line| links.add(hash(line), 16 * 1024, LineAuthor::Other));
        links
    };
    let links = after(loaded().open().unwrap(), 30_000);
    let text = links.sealed_text();
    let last = Range::parse(text.lines().next_back().unwrap()).unwrap();
    assert!(text.lines().count() < 9_000, "{}", text.lines().count());
    assert_eq!((last.lines_end, last.head), (30_001, links.open.head));
    let mut open = loaded().open().unwrap();
    for _ in 0..4 {
        let links = after(open, 8_000);
        chain_file::append(&world.log(), &links.sealed_text()).unwrap();
        assert!(std::fs::metadata(world.chain()).unwrap().len() < 4 * 1024 * 1024);
        open = links.open;
    }
    let ranges = loaded().ranges().1.len();
    assert!(ranges < 9_000 && loaded().head() == open.head, "{ranges}");
}

// S-CHAIN-4
#[test]
fn in_a_long_log_the_rest_is_told() {
    let world = ChainFixture::with(100);
    let mut lines = world.lines();
    lines.remove(70);
    std::fs::write(world.log(), lines.concat()).unwrap();
    let loaded = chain_state::load(&world.log()).unwrap().unwrap();
    let (file, length) = loaded.file.unwrap();
    let told = |lines_max| {
        let audit = audit::audit_up_to(lines_max, (&file, length), &loaded.evidence).unwrap();
        audit.faults.into_iter().map(|fault| (fault.kind, fault.lines)).collect::<Vec<_>>()
    };
    assert_eq!(told(100), [(ChainFaultKind::Deleted, (71, 71))]);
    // The log has 99 lines, and its chain covers 100.
    assert_eq!(told(99), [(ChainFaultKind::Edited, (65, 100))]);
    world.by_hand(&"\n".repeat(50));
    let length = std::fs::metadata(world.log()).unwrap().len();
    let audit = audit::audit_up_to(100, (&file, length), &loaded.evidence).unwrap();
    assert_eq!(audit.faults[0].lines, (65, 100), "149 lines");
}

// S-CHAIN-5
#[test]
fn a_forged_chain_makes_no_long_report() {
    let world = ChainFixture::with(1);
    let mut chain = std::fs::read_to_string(world.chain()).unwrap();
    for number in 2..3_000 {
        let (first, head) = (number * 1_000_000_000_000_u64, ChainHash::NONE);
        let bytes = first + 1_000_000;
        chain +=
            &format!("{number} lines {first}-{bytes} bytes {first}-{bytes} of - head {head}\n");
    }
    std::fs::write(world.chain(), chain).unwrap();
    let audit = world.audit();
    assert!(!audit.is_whole() && audit.faults.len() <= 1_000, "{}", audit.faults.len());
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
