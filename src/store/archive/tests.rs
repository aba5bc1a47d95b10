//! Segments under every kind of damage and interruption, with files made by the tests.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::super::{FileChange, FileLock, LogLine, Store, StoreError, Tail, lines_of, rewrite};
use super::segment_format::{LineBreak, MARK};
use super::segment_reader::{SegmentPiece, read_within};
use super::segment_writer::SegmentWriter;
use super::*;

pub(super) struct ArchiveFixture {
    _folder: tempfile::TempDir,
    pub store: Store,
    pub log: PathBuf,
}

/// Returns a long line that packs badly, so that a part has few lines.
pub(super) fn line(number: usize) -> String {
    let seed = u64::try_from(number).unwrap();
    let noise: String = (0..40)
        .map(|n| {
            format!("{:x}", (seed + 1).wrapping_mul(n + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15))
        })
        .collect();
    format!("{{\"id\":\"m{number}\",\"lesson\":\"{noise}\"}}")
}

pub(super) fn text_of(numbers: std::ops::Range<usize>) -> String {
    numbers.map(|number| line(number) + "\n").collect()
}

impl ArchiveFixture {
    pub fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        let log = store.root().join("a.jsonl");
        std::fs::write(&log, text).unwrap();
        Self { _folder: folder, store, log }
    }

    /// Archives the first `count` lines.
    pub fn archive(&self, count: usize) -> Result<MovedLines, StoreError> {
        self.archive_meanwhile(count, |_| ())
    }

    pub fn archive_meanwhile(
        &self,
        count: usize,
        meanwhile: impl Fn(&LogLine<'_>),
    ) -> Result<MovedLines, StoreError> {
        let (mut left, meanwhile) = (count, &meanwhile);
        archive(&self.store, &self.log, &mut || {
            let mut seen = 0;
            let wanted = std::mem::take(&mut left);
            let moves: MoveRule<'_> = Box::new(move |line| {
                meanwhile(line);
                seen += 1;
                seen <= wanted
            });
            Ok((wanted > 0).then_some(moves))
        })
    }

    pub fn segment(&self, number: usize) -> PathBuf {
        self.store.root().join(format!("archive/a/{number:06}.jsonl.gz"))
    }

    pub fn logged(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Returns all lines of segments and log, in order.
    fn all(&self) -> String {
        let segments = self.store.segments().unwrap();
        segments.iter().map(|path| unpacked(path)).collect::<String>() + &self.logged()
    }

    pub fn note_path(&self) -> PathBuf {
        self.store.root().join(".locks/a.jsonl.archiving")
    }

    /// Returns how many lines stand in two files.
    pub fn doubled(&self) -> u64 {
        self.store.doubled(&self.log).unwrap().iter().map(|doubled| doubled.lines).sum()
    }

    /// Does what any process does that archives next.
    pub fn settle(&self) -> u64 {
        archive(&self.store, &self.log, &mut || Ok(None)).unwrap().cleaned_lines
    }
}

/// Unpacks a file like zcat.
pub(super) fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

pub(super) fn packed(text: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

/// Returns what a follower reads from a segment, and the damage it reports.
fn followed(path: &Path) -> (Vec<String>, Option<String>) {
    let mut lines = Vec::new();
    let mut tail = Tail::from_beginning(path);
    let outcome = tail.read(|line| lines.push(String::from_utf8_lossy(line.bytes).into_owned()));
    let trouble = outcome.err().map(|error| error.to_string());
    let again = tail.detect_change().err().map(|error| error.to_string());
    assert_eq!(trouble, again, "it is told with every look");
    (lines, trouble)
}

// S-ARCH-1, S-ARCH-2
#[test]
fn old_lines_move_as_they_are_and_what_is_no_line_yet_stays() {
    let world = ArchiveFixture::with("one\r\n\ntwo\n\0three\nfour\nhalf");
    let moved = world.archive(3).unwrap();
    assert_eq!(unpacked(&world.segment(1)), "one\r\n\ntwo\n");
    assert_eq!(world.logged(), "\0three\nfour\nhalf");
    let packed_bytes = std::fs::metadata(world.segment(1)).unwrap().len();
    let expected = MovedLines {
        segments: vec![world.segment(1)],
        lines: 3,
        line_bytes: 10,
        packed_bytes,
        cleaned_lines: 0,
    };
    assert_eq!(moved, expected);
    world.archive(9).unwrap();
    assert_eq!(unpacked(&world.segment(2)), "\0three\nfour\n");
    assert_eq!(world.logged(), "half", "a last line without line break is none yet");
    assert_eq!(world.archive(9).unwrap(), MovedLines::default(), "nothing is sealed for nothing");
    assert_eq!(world.store.segments().unwrap(), [world.segment(1), world.segment(2)]);
    assert_eq!(world.store.segments_of(&world.log).unwrap().len(), 2);
    assert!(!world.note_path().exists());
}

#[cfg(unix)]
// S-ARCH-1, S-STORE-2
#[test]
fn segments_are_private_and_no_link_leads_them_elsewhere() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = ArchiveFixture::with("one\ntwo\n");
    world.archive(1).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let archive = world.store.root().join("archive");
    let modes = (mode(&archive), mode(&archive.join("a")), mode(&world.segment(1)));
    assert_eq!(modes, (0o700, 0o700, 0o600));
    assert_eq!(Store::repo_of(&world.segment(1)), Store::repo_of(&world.log));
    assert_eq!(Store::log_of_segment(&world.segment(1)), Some(world.log.clone()));
    let away = archive.with_extension("away");
    std::fs::rename(archive.join("a"), &away).unwrap();
    symlink(&away, archive.join("a")).unwrap();
    assert!(matches!(world.store.segments(), Err(StoreError::Untrusted { .. })));
    assert!(matches!(world.archive(1), Err(StoreError::Untrusted { .. })));
    assert_eq!(world.logged(), "two\n");
    let other = ArchiveFixture::with("one\n");
    std::fs::create_dir_all(other.segment(1).parent().unwrap()).unwrap();
    symlink(away.join("000001.jsonl.gz"), other.segment(1)).unwrap();
    assert!(matches!(
        Tail::from_beginning(other.segment(1)).detect_change(),
        Err(StoreError::NotALog { .. })
    ));
}

// S-ARCH-3
#[test]
fn lines_appended_while_archiving_stay_in_the_log() {
    let world = ArchiveFixture::with("one\ntwo\nha");
    let append = |text: &str| {
        let mut file = std::fs::OpenOptions::new().append(true).open(&world.log).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    world
        .archive_meanwhile(2, |line| {
            if line.bytes == b"two" {
                append("lf\nthree\n");
            }
        })
        .unwrap();
    assert_eq!(unpacked(&world.segment(1)), "one\ntwo\n");
    assert_eq!(world.logged(), "half\nthree\n");
    let world = ArchiveFixture::with("one\ntwo\n");
    let moved = world.archive_meanwhile(1, |line| {
        if line.bytes == b"one" {
            std::fs::write(&world.log, "1\n2\n").unwrap();
        }
    });
    // The plan is called again and selects nothing more.
    assert_eq!(moved.unwrap(), MovedLines::default());
    assert_eq!((world.all().as_str(), world.logged().as_str()), ("1\n2\n", "1\n2\n"));
}

// S-ARCH-3
#[test]
fn who_died_between_the_segment_and_the_log_is_cleaned_up_after() {
    let text = format!("no event\n{}", text_of(0..20));
    for (cut, in_log) in [(0, true), (0, false)] {
        let world = ArchiveFixture::with(&text);
        let pick = |world: &ArchiveFixture| {
            let mut left = 10;
            archive(&world.store, &world.log, &mut || {
                let mut wanted = std::mem::take(&mut left);
                let is_asked = wanted > 0;
                let moves: MoveRule<'_> = Box::new(move |line| {
                    let moves = line.bytes.starts_with(b"{") && wanted > cut;
                    wanted -= usize::from(moves);
                    moves
                });
                Ok(is_asked.then_some(moves))
            })
        };
        pick(&world).unwrap();
        let archived = world.logged();
        // The state that a process leaves if it dies before, or right after, the log is rewritten.
        std::fs::write(world.note_path(), "000001.jsonl.gz\n").unwrap();
        if in_log {
            std::fs::write(&world.log, format!("{text}later\n")).unwrap();
        }
        assert_eq!(world.doubled(), if in_log { 10 } else { 0 });
        let moved = archive(&world.store, &world.log, &mut || Ok(None)).unwrap();
        let expected = if in_log { (10, format!("{archived}later\n")) } else { (0, archived) };
        assert_eq!((moved.cleaned_lines, world.logged()), expected);
        assert!(!world.note_path().exists() && world.doubled() == 0);
        assert_eq!(unpacked(&world.segment(1)), text_of(0..10));
    }
}

// S-ARCH-3
#[test]
fn only_lines_that_a_segment_really_has_are_taken_out() {
    let world = ArchiveFixture::with(&text_of(0..20));
    world.archive(10).unwrap();
    for note in ["000002.jsonl.gz\n", "", "../../a.jsonl\n"] {
        let log = text_of(0..20);
        std::fs::write(world.note_path(), note).unwrap();
        std::fs::write(&world.log, &log).unwrap();
        let moved = archive(&world.store, &world.log, &mut || Ok(None)).unwrap();
        assert_eq!((moved, world.logged()), (MovedLines::default(), log), "{note:?}");
    }
}

// S-ARCH-3
#[test]
fn a_held_lock_leaves_everything_as_it_is() {
    let world = ArchiveFixture::with("one\ntwo\n");
    let turn = FileLock::acquire(&world.note_path().with_extension("lock"), 0).unwrap();
    assert!(matches!(world.archive(1), Err(StoreError::Busy { .. })));
    drop(turn);
    assert_eq!((world.logged().as_str(), world.store.segments().unwrap().len()), ("one\ntwo\n", 0));
    let folder = world.segment(1).parent().unwrap().to_owned();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0, "nothing unfinished is left");
    world.archive(1).unwrap();
    assert_eq!((unpacked(&world.segment(1)).as_str(), world.logged().as_str()), ("one\n", "two\n"));
}

// S-ARCH-4
#[test]
fn a_damaged_part_costs_only_itself_and_is_told() {
    let text = text_of(0..3_000);
    let world = ArchiveFixture::with(&text);
    world.archive(3_000).unwrap();
    let segment = world.segment(1);
    let bytes = std::fs::read(&segment).unwrap();
    let marks: Vec<usize> = bytes
        .windows(MARK.len())
        .enumerate()
        .filter(|(_, window)| *window == MARK)
        .map(|(place, _)| place)
        .collect();
    assert!(marks.len() > 4 && marks[0] == 0, "{marks:?}");
    assert_eq!(followed(&segment), (text.lines().map(str::to_owned).collect(), None));
    let good: std::collections::HashSet<&str> = text.lines().collect();
    for (part, place) in [(0, 3), (1, 40), (2, 1_000)] {
        let mut damaged = bytes.clone();
        damaged[marks[part] + place] ^= 0x40;
        std::fs::write(&segment, &damaged).unwrap();
        let (lines, trouble) = followed(&segment);
        let told = trouble.unwrap();
        let from = format!("1 damaged place, the first at byte {}:", marks[part]);
        assert!(told.contains(&from), "{told}");
        assert!(lines.len() > 2_000 && lines.len() < 3_000);
        assert!(lines.iter().all(|line| good.contains(line.as_str())), "nothing wrong is read");
        assert_eq!(lines.last().unwrap(), text.lines().last().unwrap());
        assert_eq!(lines_of(&segment, |_| ()).unwrap(), 1);
    }
    std::fs::write(&segment, &bytes[..bytes.len() - 9]).unwrap();
    let (lines, trouble) = followed(&segment);
    assert!(lines.len() > 2_000 && trouble.is_some(), "a torn end");
    for (bytes, lines) in [(&b""[..], 0), (b"no gzip", 0), (&packed(b"one\ntwo"), 2)] {
        std::fs::write(&segment, bytes).unwrap();
        let (found, trouble) = followed(&segment);
        assert_eq!((found.len(), trouble.is_none()), (lines, lines > 0));
    }
}

// S-ARCH-4
#[test]
fn what_unpacks_to_too_much_is_not_unpacked() {
    let world = ArchiveFixture::with("one\n");
    world.archive(1).unwrap();
    let segment = world.segment(1);
    let good = std::fs::read(&segment).unwrap();
    let bomb = packed(&vec![b'x'; 40 << 20]);
    std::fs::write(&segment, [good.clone(), bomb, good.clone()].concat()).unwrap();
    let (lines, trouble) = followed(&segment);
    assert_eq!(lines, ["one", "one"], "what follows it is read");
    assert!(trouble.unwrap().contains("it unpacks to more than the limit"));
    // Many parts that are each small enough.
    let part = packed(&[b'\n'; 1_000]);
    std::fs::write(&segment, part.repeat(100)).unwrap();
    let (mut count, mut file) = (0, std::fs::File::open(&segment).unwrap());
    let damage = read_within(50_500, &mut file, &segment, &mut |piece| {
        count += usize::from(matches!(piece, SegmentPiece::Line(..)));
        Ok(())
    });
    assert_eq!((damage.unwrap().unwrap().places, count), (1, 50_000));
}

// S-ARCH-4
#[test]
fn lines_that_others_cut_in_two_are_whole() {
    let world = ArchiveFixture::with("one\n");
    world.archive(1).unwrap();
    let parts = [packed(b"one\ntw"), packed(b"o"), packed(b"\nthree\nfour")];
    std::fs::write(world.segment(1), parts.concat()).unwrap();
    let expected = ["one", "two", "three", "four"].map(str::to_owned).to_vec();
    assert_eq!(followed(&world.segment(1)), (expected, None));
}

// S-READ-2
#[test]
fn a_segment_that_changes_at_all_is_another() {
    let world = ArchiveFixture::with("one\ntwo\nthree\n");
    world.archive(1).unwrap();
    let segment = world.segment(1);
    let mut tail = Tail::from_beginning(&segment);
    assert_eq!(tail.detect_change().unwrap(), FileChange::Grown);
    tail.read(|_| ()).unwrap();
    assert_eq!(tail.detect_change().unwrap(), FileChange::None);
    let mut file = std::fs::OpenOptions::new().append(true).open(&segment).unwrap();
    file.write_all(&packed(b"more\n")).unwrap();
    assert_eq!(tail.detect_change().unwrap(), FileChange::Replaced);
    tail.rewind();
    let mut lines = 0;
    tail.read(|_| lines += 1).unwrap();
    assert_eq!(lines, 2);
    std::fs::remove_file(&segment).unwrap();
    assert_eq!(tail.detect_change().unwrap(), FileChange::Gone);
}

// S-ARCH-5
#[test]
fn a_segment_is_packed_anew_and_what_is_damaged_in_it_stays() {
    let world = ArchiveFixture::with(&format!("secret\n{}secret\n", text_of(0..3_000)));
    world.archive(3_002).unwrap();
    let segment = world.segment(1);
    let change = |line: LogLine<'_>| (line.bytes == b"secret").then(|| b"*".to_vec());
    rewrite(&world.store, &segment, &mut { change }).unwrap();
    assert_eq!(unpacked(&segment), format!("*\n{}*\n", text_of(0..3_000)));
    let mut bytes = std::fs::read(&segment).unwrap();
    let second = bytes.windows(MARK.len()).skip(1).position(|window| window == MARK).unwrap() + 1;
    bytes[second + 100] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    let before = followed(&segment);
    rewrite(&world.store, &segment, &mut |line| (line.bytes == b"*").then(|| b"+".to_vec()))
        .unwrap();
    let after = followed(&segment);
    assert_eq!(after.0.len(), before.0.len());
    assert!(after.1.is_some() && after.0.first().unwrap() == "+");
    let third =
        second + bytes[second + 1..].windows(MARK.len()).position(|w| w == MARK).unwrap() + 1;
    let kept = std::fs::read(&segment).unwrap();
    assert!(kept.ends_with(&bytes[second..third]), "the damaged bytes are there");
    let folder = segment.parent().unwrap();
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "nothing unfinished is left");
}

#[test]
fn a_part_begins_with_the_mark_and_none_is_too_large_to_read() {
    let world = ArchiveFixture::with("");
    let folder = world.store.root().join("archive/a");
    std::fs::create_dir_all(&folder).unwrap();
    let like = std::fs::metadata(&world.log).unwrap();
    let mut sealing = SegmentWriter::begin(&folder, &like).unwrap();
    let long = vec![b'x'; 40 << 20];
    sealing.add(&long, LineBreak::Present).unwrap();
    sealing.add(b"short", LineBreak::Present).unwrap();
    sealing.sync().unwrap();
    sealing.put_at(&world.segment(1)).unwrap();
    assert!(std::fs::read(world.segment(1)).unwrap().starts_with(MARK));
    let mut read_bytes = 0;
    assert_eq!(lines_of(&world.segment(1), |line| read_bytes += line.bytes.len()).unwrap(), 0);
    assert_eq!(read_bytes, (40 << 20) + 5);
    assert_eq!(unpacked(&world.segment(1)).len(), (40 << 20) + 7);
}
