//! No line stands twice: after an archiving that was killed, beside a log that changes, and in stores in which lines stood
//! twice before. Not here: kills of the real program (`faults::archive`).

use std::cell::Cell;
use std::path::Path;

use super::super::rewrite::RewriteTurn;
use super::super::{FileId, FileLock, LogLine, lines_of, rewrite};
use super::archiving_note::ArchivingNote;
use super::interrupted_archiving::remove_lines;
use super::tests::{ArchiveFixture, line, packed, text_of, unpacked};
use super::*;
use event::RepoKey;

/// A line without an id of its own, as a shell script writes it.
const PLAIN: &str = "{\"lesson\":\"chown first\"}\n";

impl ArchiveFixture {
    /// Archives the first `count` lines, and leaves what a process leaves that was killed before it replaced the log.
    fn archive_killed(&self, count: usize) {
        let root = self.store.root();
        let files =
            ["a.jsonl", ".chain/a.jsonl.chain", ".locks/a.jsonl.lock"].map(|name| root.join(name));
        let before = files.map(|path| std::fs::read(&path).map(|bytes| (path, bytes)));
        self.archive(count).unwrap();
        for (path, bytes) in before.into_iter().flatten() {
            std::fs::write(path, bytes).unwrap();
        }
        std::fs::write(self.note_path(), "000001.jsonl.gz\n").unwrap();
    }

    fn seal(&self, number: usize, text: &str) {
        std::fs::create_dir_all(self.segment(number).parent().unwrap()).unwrap();
        std::fs::write(self.segment(number), packed(text.as_bytes())).unwrap();
    }
}

// S-ARCH-3
#[test]
fn lines_left_over_leave_a_log_that_changed_since() {
    let edited = text_of(0..20).replacen("m3", "edited", 1);
    let without = text_of(0..5) + &text_of(6..20);
    let reversed: String = text_of(0..20).lines().rev().map(|line| format!("{line}\n")).collect();
    let inserted = text_of(0..4) + "by hand\n" + &text_of(4..20);
    let edited_line = line(3).replacen("m3", "edited", 1) + "\n";
    let reversed_rest: String =
        text_of(10..20).lines().rev().map(|line| format!("{line}\n")).collect();
    for (changed, taken, rest) in [
        (edited, 9, edited_line + &text_of(10..20)),
        (without, 9, text_of(10..20)),
        (reversed, 10, reversed_rest),
        (inserted, 10, "by hand\n".to_owned() + &text_of(10..20)),
        (text_of(0..22), 10, text_of(10..22)),
        (text_of(10..20), 0, text_of(10..20)),
    ] {
        let world = ArchiveFixture::with(&text_of(0..20));
        world.archive_killed(10);
        std::fs::write(&world.log, &changed).unwrap();
        assert_eq!(world.doubled(), taken);
        assert_eq!((world.settle(), world.logged()), (taken, rest));
        assert_eq!((world.doubled(), world.note_path().exists()), (0, false));
        assert_eq!(unpacked(&world.segment(1)), text_of(0..10));
    }
}

// S-ARCH-3
#[test]
fn what_somebody_wrote_twice_stays_twice() {
    let same = line(1) + "\n";
    for twice in [PLAIN, &same] {
        for archived in [1, 2] {
            let world = ArchiveFixture::with(&format!("{twice}{twice}last\n"));
            world.archive_killed(archived);
            assert_eq!(world.settle(), u64::try_from(archived).unwrap());
            let all = unpacked(&world.segment(1)) + &world.logged();
            assert_eq!(all, format!("{twice}{twice}last\n"), "{archived} of 2");
            // A script writes it once more, and nothing was interrupted.
            std::fs::write(&world.log, world.logged() + PLAIN).unwrap();
            assert_eq!(world.settle(), 0);
            assert!(world.logged().ends_with(PLAIN));
        }
    }
}

// S-ARCH-3
#[test]
fn a_note_that_was_only_not_removed_yet_takes_nothing_out() {
    let world = ArchiveFixture::with(&format!("{PLAIN}{PLAIN}last\n"));
    let appenders = FileLock::acquire(&world.note_path().with_extension("lock"), 0).unwrap();
    let note = std::thread::scope(|scope| {
        let archiving = scope.spawn(|| world.archive(1).unwrap());
        let note = loop {
            // It is written before the lock of the appenders is taken, and is complete once it has its line break.
            match std::fs::read(world.note_path()) {
                Ok(note) if note.ends_with(b"\n") => break note,
                _ => std::thread::yield_now(),
            }
        };
        drop(appenders);
        archiving.join().unwrap();
        note
    });
    // Killed right before it removed the note.
    std::fs::write(world.note_path(), note).unwrap();
    assert_eq!((world.doubled(), world.settle(), world.note_path().exists()), (0, 0, false));
    assert_eq!(world.logged(), format!("{PLAIN}last\n"));
    assert_eq!(unpacked(&world.segment(1)), PLAIN);
}

// S-ARCH-3
#[test]
fn a_note_is_read_by_earlier_versions_and_theirs_by_us() {
    let world = ArchiveFixture::with("one\n");
    let copy = world.log.with_file_name(".a.jsonl.rewrite");
    std::fs::write(&copy, "").unwrap();
    ArchivingNote::write(&world.note_path(), &world.segment(7), FileId::from_path(&copy)).unwrap();
    let bytes = std::fs::read(world.note_path()).unwrap();
    let name = String::from_utf8(bytes[..256].to_vec()).unwrap();
    assert_eq!(name.trim_end(), "000007.jsonl.gz", "all that an earlier version reads");
    let read = || ArchivingNote::read(&world.note_path(), &world.log).unwrap().unwrap();
    assert!(read().segment == world.segment(7) && !read().is_done(&world.log));
    std::fs::rename(&copy, &world.log).unwrap();
    assert!(read().is_copy(&world.log) && read().is_done(&world.log));
    std::fs::write(&copy, "somebody else edits the log").unwrap();
    std::fs::rename(&copy, &world.log).unwrap();
    assert!(read().is_done(&world.log));
    std::fs::write(world.note_path(), "000007.jsonl.gz\n").unwrap();
    assert!(read().segment == world.segment(7) && !read().is_done(&world.log));
}

// S-ARCH-3, S-SCRUB-2
#[test]
fn who_scrubs_first_takes_out_what_an_archiving_left() {
    let secret = "{\"id\":\"s\",\"lesson\":\"secret\"}\n";
    let text = format!("{secret}{}{secret}", text_of(0..3));
    let clean = |line: LogLine<'_>| {
        let text = String::from_utf8_lossy(line.bytes);
        text.contains("secret").then(|| text.replace("secret", "*").into_bytes())
    };
    let world = ArchiveFixture::with(&text);
    world.archive_killed(2);
    // It is killed before it comes to the segment.
    rewrite(&world.store, &world.log, &mut { clean }).unwrap();
    assert_eq!(world.logged(), text_of(1..3) + &secret.replace("secret", "*"));
    assert_eq!(unpacked(&world.segment(1)), format!("{secret}{}", text_of(0..1)));
    let world = ArchiveFixture::with(&text);
    world.archive_killed(2);
    rewrite(&world.store, &world.segment(1), &mut { clean }).unwrap();
    assert_eq!((world.logged(), world.note_path().exists()), (text_of(1..3) + secret, false));
}

// S-ARCH-3
#[test]
fn a_log_that_keeps_changing_is_told_and_left_as_it_is() {
    let world = ArchiveFixture::with(&text_of(0..4));
    world.archive_killed(2);
    let turn = RewriteTurn::acquire(&world.store, &world.log.with_file_name("b.jsonl")).unwrap();
    let number = Cell::new(0);
    let outcome = remove_lines(&turn, &world.log, &[world.segment(1)], &|| {
        Box::new(|_| {
            number.set(number.get() + 1);
            std::fs::write(&world.log, format!("{}\n{}", number.get(), text_of(0..4))).unwrap();
            true
        })
    });
    assert!(outcome.unwrap_err().to_string().contains("try again"));
    assert!(world.logged().ends_with(&text_of(0..4)) && world.note_path().exists());
    std::fs::remove_file(world.segment(1)).unwrap();
    let outcome = remove_lines(&turn, &world.log, &[world.segment(1)], &|| Box::new(|_| true));
    assert!(outcome.is_err(), "the segment is gone, so the log must keep its lines");
    assert!(world.logged().ends_with(&text_of(0..4)));
}

// S-ARCH-7
#[test]
fn lines_that_stand_in_two_files_leave_the_later_one() {
    let world = ArchiveFixture::with(&(text_of(0..2) + PLAIN + &text_of(3..6) + &text_of(8..9)));
    world.seal(1, &(text_of(0..3) + PLAIN));
    world.seal(2, &text_of(1..4));
    world.seal(3, &text_of(0..2));
    let doubled = |file: &Path, number, lines, first_line| DoubledLines {
        file: file.to_owned(),
        segment: world.segment(number),
        lines,
        first_line,
    };
    let expected = [
        doubled(&world.segment(2), 1, 2, 1),
        doubled(&world.segment(3), 1, 2, 1),
        doubled(&world.log, 1, 2, 1),
        doubled(&world.log, 2, 1, 4),
    ];
    assert_eq!(world.store.doubled(&world.log).unwrap(), expected);
    assert_eq!(take_out_doubled(&world.store, &world.log).unwrap(), 7);
    assert_eq!(world.logged(), PLAIN.to_owned() + &text_of(4..6) + &text_of(8..9));
    let sealed = [1, 2, 3].map(|number| unpacked(&world.segment(number)));
    assert_eq!(sealed, [text_of(0..3) + PLAIN, text_of(3..4), String::new()]);
    assert_eq!(lines_of(&world.segment(3), |_| ()).unwrap(), 0, "it is not damaged");
    assert_eq!((world.doubled(), take_out_doubled(&world.store, &world.log).unwrap()), (0, 0));
    world.archive(1).unwrap();
    assert!(world.segment(4).exists(), "no other segment gets the name of one");
}

// S-CHAIN-3, S-CHAIN-6
#[test]
fn the_chain_fits_after_lines_were_taken_out() {
    let world = ArchiveFixture::with("");
    let repo = RepoKey::parse("a").unwrap();
    let append = || {
        let json = serde_json::json!({ "lesson": "last" }).to_string();
        let event::DecodedLine::Event(event) = event::codec::decode(json.as_bytes(), "a") else {
            panic!()
        };
        let line = event::codec::encode(&event::clean::clean(*event));
        crate::append(&world.store, &repo, &[line], crate::Durability::Written).unwrap();
    };
    std::fs::write(&world.log, text_of(0..6)).unwrap();
    append();
    world.archive_killed(3);
    let is_whole = || world.store.audit_chain(&world.log).unwrap().unwrap().is_whole();
    assert!(is_whole());
    assert_eq!((world.settle(), is_whole()), (3, true));
    world.seal(2, &text_of(4..5));
    assert_eq!(take_out_doubled(&world.store, &world.log).unwrap(), 1);
    assert!(is_whole());
    append();
    assert!(is_whole());
}
