//! Follows one log: complete lines only, each with its offset, and changes of the file. A segment of old lines
//! is followed in the same way, unpacked. Not here: what a line means (`event::codec`), when to look
//! (`engine::watch`).

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::cursor::{Cursor, FileChange, GUARD_BYTES};
use super::{StoreError, archive, layout};
use event::limits::READ_LINE_BYTES_MAX;

/// One complete line of a log, without its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// The offset of its first byte.
    pub offset: u64,
    /// The bytes of the line, cut just past the reading bound.
    pub bytes: &'a [u8],
    /// The full length, in bytes.
    pub line_bytes: u64,
}

impl LogLine<'_> {
    /// Returns the offset of its end, without the line break.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.line_bytes)
    }
}

/// A reader that follows one log.
#[derive(Debug)]
pub struct Tail {
    log: PathBuf,
    cursor: Cursor,
    was_there: bool,
    /// How many bytes at the end are read, if not the whole file.
    window_bytes: Option<u64>,
    /// Where reading stops, in a tail that reads what another one left out.
    until: Option<u64>,
    /// The parts of a segment that could not be read. Every read reports them.
    damage: Option<String>,
    /// A cursor at the beginning.
    unread: Cursor,
}

/// How many bytes are read at a time.
const BLOCK_BYTES: usize = 256 * 1024;

impl Tail {
    /// Follows a log from its beginning.
    #[must_use]
    pub fn from_beginning(log: impl Into<PathBuf>) -> Self {
        Self {
            log: log.into(),
            cursor: Cursor::default(),
            was_there: false,
            window_bytes: None,
            until: None,
            damage: None,
            unread: Cursor::default(),
        }
    }

    /// Follows a log from the first line that begins within its last `window_bytes`, or from its beginning if
    /// the log is shorter.
    #[must_use]
    pub fn near_the_end_of(log: impl Into<PathBuf>, window_bytes: u64) -> Self {
        Self { window_bytes: Some(window_bytes), ..Self::from_beginning(log) }
    }

    /// Follows a log from an earlier cursor, perhaps of another process.
    #[must_use]
    pub fn from_cursor(log: impl Into<PathBuf>, cursor: Cursor) -> Self {
        Self { cursor, was_there: true, ..Self::from_beginning(log) }
    }

    /// Returns the log.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Returns how far the log was read. If part of a segment could not be read, the cursor is at the
    /// beginning, because a later reader that resumed from the end would not learn of the damage.
    #[must_use]
    pub fn cursor(&self) -> &Cursor {
        if self.damage.is_some() { &self.unread } else { &self.cursor }
    }

    /// Returns what happened to the log since the last [`Tail::read`]. Reads at most 64 bytes of it.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the log exists but cannot be read. [`StoreError::Damaged`] if a segment was read
    /// as far as possible and part of it is damaged.
    pub fn detect_change(&self) -> Result<FileChange, StoreError> {
        // Most looks find nothing new, and the length shows that without opening the file. A link is not
        // followed, so a log that was moved and linked back is refused like any link.
        if self.log.symlink_metadata().is_ok_and(|metadata| self.cursor.is_at_end_of(&metadata)) {
            return self.whole(FileChange::None);
        }
        match self.compared()? {
            (FileChange::None, _) => self.whole(FileChange::None),
            (change, _) => Ok(change),
        }
    }

    fn whole(&self, change: FileChange) -> Result<FileChange, StoreError> {
        let damaged =
            |why: &String| StoreError::Damaged { path: self.log.clone(), why: why.clone() };
        self.damage.as_ref().map(damaged).map_or(Ok(change), Err)
    }

    /// Opens the log and compares it with the cursor.
    fn compared(&self) -> Result<(FileChange, Option<(File, Metadata)>), StoreError> {
        let Some((mut file, metadata)) = layout::open_to_read(&self.log)? else {
            return Ok((if self.was_there { FileChange::Gone } else { FileChange::None }, None));
        };
        let compared = self.cursor.compare(&mut file, &metadata);
        let change = match compared.map_err(StoreError::io("read", &self.log))? {
            // Nothing is ever added to a segment, and an empty segment is damaged.
            FileChange::Grown | FileChange::None
                if !self.was_there && archive::is_segment(&self.log) =>
            {
                FileChange::Grown
            }
            FileChange::Grown if archive::is_segment(&self.log) => FileChange::Replaced,
            change => change,
        };
        Ok((change, Some((file, metadata))))
    }

    /// Tells whether anything was read from the log. If not, its loss has no consequence.
    #[must_use]
    pub fn was_read(&self) -> bool {
        self.was_there
    }

    /// Forgets what was read, so that the next [`Tail::read`] starts at the beginning.
    pub fn rewind(&mut self) {
        self.cursor = Cursor::default();
        self.was_there = false;
        self.damage = None;
    }

    /// Passes each complete new line to `each`. A last line without its line break stays for later, because its
    /// writer may not be done.
    ///
    /// Returns what happened to the log. With [`FileChange::Replaced`] and [`FileChange::Gone`], which may have
    /// occurred since the last [`Tail::look`], nothing was read.
    ///
    /// # Errors
    /// [`StoreError::Io`], or [`StoreError::Damaged`]. Lines that were passed on count as read.
    pub fn read(&mut self, each: impl FnMut(LogLine<'_>)) -> Result<FileChange, StoreError> {
        self.read_piece(u64::MAX, each)
    }

    /// Reads as [`Tail::read`], but at most about `bytes_max` bytes of a log. A longer line is read whole.
    ///
    /// # Errors
    /// Those of [`Tail::read`].
    pub fn read_piece(
        &mut self,
        bytes_max: u64,
        mut each: impl FnMut(LogLine<'_>),
    ) -> Result<FileChange, StoreError> {
        let (change, opened) = self.compared()?;
        let (FileChange::Grown, Some((mut file, metadata))) = (change, opened) else {
            return Ok(change);
        };
        self.was_there = true;
        #[cfg(feature = "archive")]
        if archive::is_segment(&self.log) {
            self.read_sealed(&mut file, &metadata, &mut each)?;
            return self.whole(change);
        }
        let log = self.log.clone();
        let wrap = |error| StoreError::io("read", &log)(error);
        let (from, end) = (self.cursor.offset(), self.until.unwrap_or(u64::MAX));
        let piece = from.saturating_add(bytes_max).min(end);
        self.read_from(&mut file, &metadata, piece, &mut each).map_err(wrap)?;
        if self.cursor.offset() == from && piece < end {
            self.read_from(&mut file, &metadata, end, &mut each).map_err(wrap)?;
        }
        Ok(change)
    }

    /// Where more than `backlog_bytes` are unread, moves to the first line that begins within the last `window_bytes`, and
    /// returns a tail that reads what is left out. The newest lines can so be read first, however fast others write.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn skip_ahead(
        &mut self,
        backlog_bytes: u64,
        window_bytes: u64,
    ) -> Result<Option<Self>, StoreError> {
        let (FileChange::Grown, Some((mut file, metadata))) = self.compared()? else {
            return Ok(None);
        };
        if metadata.len().saturating_sub(self.cursor.offset()) <= backlog_bytes {
            return Ok(None);
        }
        let start = metadata.len().saturating_sub(window_bytes);
        let found = cursor_after_line_break(&mut file, &metadata, start);
        let Some(ahead) = found.map_err(StoreError::io("read", &self.log))? else {
            return Ok(None);
        };
        let until = Some(ahead.offset());
        let cursor = std::mem::replace(&mut self.cursor, ahead);
        let was_there = std::mem::replace(&mut self.was_there, true);
        Ok(Some(Self { cursor, was_there, until, ..Self::from_beginning(&self.log) }))
    }

    /// Tells whether everything was read that another tail left out.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.until.is_none_or(|until| self.cursor.offset() >= until)
    }

    /// Returns the offset up to which the log was read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// Passes the line at an offset to `each`, without reading anything else. Nothing is passed on if the log no longer
    /// has a complete line there.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn read_line_at(
        log: &Path,
        offset: u64,
        mut each: impl FnMut(LogLine<'_>),
    ) -> Result<(), StoreError> {
        let Some((mut file, _)) = layout::open_to_read(log)? else { return Ok(()) };
        let mut bytes = Vec::new();
        let most = u64::try_from(READ_LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let wrap = |error| StoreError::io("read", log)(error);
        file.seek(SeekFrom::Start(offset)).map_err(wrap)?;
        BufReader::new(file.take(most)).read_until(b'\n', &mut bytes).map_err(wrap)?;
        if let Some(line) = bytes.strip_suffix(b"\n") {
            let line_bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
            each(LogLine { offset, bytes: line, line_bytes });
        }
        Ok(())
    }

    /// Moves to the start of the window, which is probably within a line. Returns whether it moved.
    fn skip_to_window(&mut self, metadata: &Metadata) -> bool {
        let Some(window_bytes) = self.window_bytes.filter(|_| self.cursor == Cursor::default())
        else {
            return false;
        };
        let start = metadata.len().saturating_sub(window_bytes);
        // One byte earlier, so that a line that begins exactly at the start is passed on.
        let before = start.checked_sub(1);
        self.cursor.skip_to(before.unwrap_or(0));
        before.is_some()
    }

    /// Reads a whole segment.
    #[cfg(feature = "archive")]
    fn read_sealed(
        &mut self,
        file: &mut File,
        metadata: &Metadata,
        each: &mut impl FnMut(LogLine<'_>),
    ) -> Result<(), StoreError> {
        let damage = archive::read(file, &self.log, &mut |piece| {
            if let archive::SegmentPiece::Line(line, _) = piece {
                let kept = line.bytes.get(..=READ_LINE_BYTES_MAX);
                each(LogLine { bytes: kept.unwrap_or(line.bytes), ..line });
            }
            Ok(())
        })?;
        self.damage = damage.map(|damage| damage.to_string());
        self.cursor.advance_by(metadata.len(), &[], metadata);
        self.cursor.at_end(metadata, 0);
        Ok(())
    }

    fn read_from(
        &mut self,
        file: &mut File,
        metadata: &Metadata,
        end: u64,
        each: &mut impl FnMut(LogLine<'_>),
    ) -> io::Result<()> {
        let mut is_cut = self.skip_to_window(metadata);
        file.seek(SeekFrom::Start(self.cursor.offset()))?;
        let mut block = vec![0; BLOCK_BYTES];
        let mut partial = Partial::default();
        // Up to the length at the beginning: writers that never pause would keep the reader for ever.
        let end = end.min(metadata.len());
        let mut known = (&*file).take(end.saturating_sub(self.cursor.offset()));
        loop {
            let mut rest = read_some(&mut known, &mut block)?;
            if rest.is_empty() {
                self.cursor.at_end(&file.metadata()?, partial.line_bytes);
                return Ok(());
            }
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let (head, tail) = rest.split_at(end + 1);
                partial.push(head);
                // A line that begins before the window is not passed on.
                if !std::mem::take(&mut is_cut) {
                    each(partial.line(self.cursor.offset()));
                }
                partial.advance(&mut self.cursor, metadata);
                rest = tail;
            }
            partial.push(rest);
        }
    }
}

/// Returns the cursor of a reader that has read up to the first line that begins at `start` or later.
fn cursor_after_line_break(
    file: &mut File,
    metadata: &Metadata,
    start: u64,
) -> io::Result<Option<Cursor>> {
    let guard_bytes = u64::try_from(GUARD_BYTES).unwrap_or(0);
    let from = start.saturating_sub(guard_bytes);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    let before = usize::try_from(start.saturating_sub(1).saturating_sub(from)).unwrap_or(0);
    (&*file).take(metadata.len().saturating_sub(from)).read_to_end(&mut bytes)?;
    let line_break = bytes.iter().skip(before).position(|byte| *byte == b'\n');
    let Some(read) = line_break.and_then(|at| bytes.get(..=before + at)) else { return Ok(None) };
    let mut cursor = Cursor::default();
    cursor.skip_to(from);
    cursor.advance_by(u64::try_from(read.len()).unwrap_or(0), read, metadata);
    Ok(Some(cursor))
}

/// Reads what is available, at most one block; nothing at the end. An interrupting signal is ignored.
fn read_some<'a>(from: &mut impl Read, block: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let count = loop {
        match from.read(block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    Ok(block.get(..count).unwrap_or_default())
}

/// The line being assembled. Of a line past the reading bound, only enough is kept for the decoder to notice
/// the length, and the last bytes for the cursor's guard.
#[derive(Default)]
struct Partial {
    kept: Vec<u8>,
    last: Vec<u8>,
    line_bytes: u64,
}

impl Partial {
    fn push(&mut self, bytes: &[u8]) {
        let kept_bytes = self.kept.len();
        let room = (READ_LINE_BYTES_MAX + 1).saturating_sub(kept_bytes);
        if room < bytes.len() {
            if self.last.is_empty() {
                // The remainder may be shorter than the guard.
                let start = kept_bytes.saturating_sub(GUARD_BYTES);
                self.last.extend_from_slice(self.kept.get(start..).unwrap_or_default());
            }
            self.last.extend_from_slice(bytes);
            let surplus = self.last.len().saturating_sub(BLOCK_BYTES);
            self.last.drain(..surplus);
        }
        self.kept.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        self.line_bytes += u64::try_from(bytes.len()).unwrap_or(0);
    }

    fn line(&self, offset: u64) -> LogLine<'_> {
        let bytes = self.kept.strip_suffix(b"\n").unwrap_or(&self.kept);
        LogLine { offset, bytes, line_bytes: self.line_bytes.saturating_sub(1) }
    }

    fn advance(&mut self, cursor: &mut Cursor, metadata: &Metadata) {
        let read = if self.last.is_empty() { &self.kept } else { &self.last };
        cursor.advance_by(self.line_bytes, read, metadata);
        self.kept.clear();
        self.last.clear();
        self.line_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::time::Duration;

    struct TailFixture {
        _folder: tempfile::TempDir,
        log: PathBuf,
        tail: Tail,
    }

    impl TailFixture {
        fn with(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let log = folder.path().join("a.jsonl");
            std::fs::write(&log, text).unwrap();
            Self { _folder: folder, tail: Tail::from_beginning(&log), log }
        }

        fn lines(&mut self) -> Vec<(u64, String)> {
            let mut lines = Vec::new();
            let take = |line: LogLine<'_>| {
                lines.push((line.offset, String::from_utf8_lossy(line.bytes).into_owned()));
            };
            self.tail.read(take).unwrap();
            lines
        }

        fn append(&self, text: &str) {
            let mut file = OpenOptions::new().append(true).open(&self.log).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
    }

    // S-READ-8
    #[test]
    fn the_newest_lines_can_be_read_first() {
        let lines: Vec<String> = (0..2_000).map(|number| format!("line{number:05}")).collect();
        let mut fixture = TailFixture::with("");
        assert!(fixture.tail.skip_ahead(50, 30).unwrap().is_none());
        let text = |range: std::ops::Range<usize>| lines[range].join("\n") + "\n";
        fixture.append(&text(0..3));
        assert_eq!(fixture.lines().len(), 3);
        fixture.append(&text(3..1_990));
        let mut behind = fixture.tail.skip_ahead(50, 30).unwrap().unwrap();
        let newest: Vec<String> = fixture.lines().into_iter().map(|(_, line)| line).collect();
        assert_eq!(newest, lines[1_987..1_990]);
        assert!(fixture.tail.skip_ahead(50, 30).unwrap().is_none(), "nothing is left out");
        let mut read = Vec::new();
        while !behind.is_done() {
            let before = read.len();
            let change = behind.read_piece(95, |line| {
                read.push(String::from_utf8_lossy(line.bytes).into_owned());
            });
            assert_eq!(change.unwrap(), FileChange::Grown);
            assert!((1..=9).contains(&(read.len() - before)), "{}", read.len() - before);
        }
        assert_eq!(read, lines[3..1_987]);
        fixture.append(&text(1_990..1_991));
        assert_eq!(fixture.lines().len(), 1);
        Tail::read_line_at(&fixture.log, 10 * 7, |line| assert_eq!(line.bytes, b"line00007"))
            .unwrap();
    }

    #[test]
    fn near_the_end_starts_at_the_first_line_that_begins_there() {
        for (window_bytes, expected) in [
            (1, vec![]),
            (4, vec!["ccc"]),
            (7, vec!["ccc"]),
            (8, vec!["bbb", "ccc"]),
            (11, vec!["bbb", "ccc"]),
            (12, vec!["aaa", "bbb", "ccc"]),
            (99, vec!["aaa", "bbb", "ccc"]),
        ] {
            let mut world = TailFixture::with("aaa\nbbb\nccc\n");
            world.tail = Tail::near_the_end_of(&world.log, window_bytes);
            let read: Vec<String> = world.lines().into_iter().map(|(_, line)| line).collect();
            assert_eq!(read, expected, "{window_bytes}");
            world.append("ddd\n");
            assert_eq!(world.lines(), [(12, "ddd".to_owned())], "{window_bytes}");
            std::fs::write(&world.log, "x\n").unwrap();
            assert_eq!(world.tail.detect_change().unwrap(), FileChange::Replaced);
        }
    }

    // S-LINE-1
    #[test]
    fn only_complete_lines_are_read_each_once() {
        let mut world = TailFixture::with("one\ntw");
        assert_eq!(world.lines(), [(0, "one".to_owned())]);
        world.append("o\nthree\n");
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::Grown);
        assert_eq!(world.tail.cursor().offset(), 4);
        assert_eq!(world.lines(), [(4, "two".to_owned()), (8, "three".to_owned())]);
        assert_eq!(world.tail.cursor().offset(), 14);
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::None);
        assert!(world.lines().is_empty());
    }

    /// Returns the next of these results on each read.
    struct Answers(Vec<io::Result<usize>>);

    impl Read for Answers {
        fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
            block.fill(b'x');
            self.0.remove(0)
        }
    }

    #[test]
    fn a_signal_does_not_end_a_read_and_a_failure_does() {
        let failed = |kind: io::ErrorKind| Err(io::Error::from(kind));
        let interrupted = || failed(io::ErrorKind::Interrupted);
        let mut block = [0; 8];
        let mut from = Answers(vec![interrupted(), interrupted(), Ok(3), interrupted(), Ok(0)]);
        assert_eq!(read_some(&mut from, &mut block).unwrap(), b"xxx");
        assert_eq!(read_some(&mut from, &mut block).unwrap(), b"");
        let mut from = Answers(vec![failed(io::ErrorKind::PermissionDenied), Ok(1)]);
        let error = read_some(&mut from, &mut block).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    // S-READ-2
    #[test]
    fn a_line_past_the_bound_by_any_few_bytes_is_no_replacement() {
        for surplus in [0, 1, 2, 3, GUARD_BYTES, GUARD_BYTES + 1, BLOCK_BYTES, BLOCK_BYTES + 1] {
            let mut world = TailFixture::with("short\n");
            world.append(&"x".repeat(READ_LINE_BYTES_MAX + surplus));
            world.append("\n");
            assert_eq!(world.lines().len(), 2);
            world.append("more\n");
            assert_eq!(
                world.tail.detect_change().unwrap(),
                FileChange::Grown,
                "{surplus} bytes past the bound"
            );
            assert_eq!(world.lines().len(), 1);
        }
    }

    // S-READ-2
    #[test]
    fn a_replaced_shortened_or_rewritten_log_is_noticed() {
        let mut world = TailFixture::with("one\ntwo\n");
        world.lines();
        std::fs::write(&world.log, "one\n").unwrap();
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::Replaced);
        world.tail.rewind();
        assert_eq!(world.lines().len(), 1);
        std::fs::write(&world.log, "eno\nmore\n").unwrap();
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::Replaced);
        world.tail.rewind();
        world.lines();
        let other = world.log.with_extension("new");
        std::fs::write(&other, "eno\nmore\nand more\n").unwrap();
        std::fs::rename(&other, &world.log).unwrap();
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::Replaced);
    }

    // S-READ-2
    #[test]
    fn a_deleted_log_is_gone_and_one_that_comes_is_read() {
        let mut world = TailFixture::with("one\n");
        world.lines();
        std::fs::remove_file(&world.log).unwrap();
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::Gone);
        world.tail.rewind();
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::None);
        std::fs::write(&world.log, "two\n").unwrap();
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::Grown);
        assert_eq!(world.lines(), [(0, "two".to_owned())]);
    }

    // S-READ-2
    #[test]
    fn a_log_replaced_before_the_read_is_not_read_from_its_middle() {
        let mut world = TailFixture::with("one\ntwo\n");
        world.lines();
        world.append("three\n");
        assert_eq!(world.tail.detect_change().unwrap(), FileChange::Grown);
        let other = world.log.with_extension("new");
        std::fs::write(&other, "1\n2\n3\n4\n5\n6\n7\n8\n").unwrap();
        std::fs::rename(&other, &world.log).unwrap();
        let change = world.tail.read(|line| panic!("read {line:?}")).unwrap();
        assert_eq!(change, FileChange::Replaced);
        assert_eq!(
            world.tail.detect_change().unwrap(),
            FileChange::Replaced,
            "still, until rewound"
        );
        world.tail.rewind();
        assert_eq!(world.lines().len(), 8);
        std::fs::remove_file(&world.log).unwrap();
        assert_eq!(world.tail.read(|_| ()).unwrap(), FileChange::Gone);
    }

    // S-READ-2
    #[test]
    fn an_unfinished_last_line_does_not_hide_a_rewrite() {
        for text in ["one\nhalf", "half"] {
            let mut world = TailFixture::with(text);
            world.lines();
            assert_eq!(
                world.tail.detect_change().unwrap(),
                FileChange::None,
                "{text:?}: nothing new to read"
            );
            let file = OpenOptions::new().write(true).open(&world.log).unwrap();
            let later = file.metadata().unwrap().modified().unwrap() + Duration::from_secs(1);
            std::fs::write(&world.log, text.replace("half", "flah")).unwrap();
            file.set_modified(later).unwrap();
            assert_eq!(
                world.tail.detect_change().unwrap(),
                FileChange::Replaced,
                "{text:?}: rewritten"
            );
            world.tail.rewind();
            world.lines();
            world.append(" more\n");
            assert_eq!(
                world.tail.detect_change().unwrap(),
                FileChange::Grown,
                "{text:?}: finished"
            );
            assert_eq!(world.lines().last().unwrap().1, "flah more");
            world.append("half");
            world.lines();
            file.set_len(world.tail.cursor().offset()).unwrap();
            assert_eq!(
                world.tail.detect_change().unwrap(),
                FileChange::Replaced,
                "{text:?}: shortened"
            );
        }
    }

    #[cfg(unix)]
    // S-STORE-2
    #[test]
    fn a_log_moved_away_and_linked_back_is_refused() {
        let mut world = TailFixture::with("one\n");
        world.lines();
        let moved = world.log.with_extension("moved");
        std::fs::rename(&world.log, &moved).unwrap();
        std::os::unix::fs::symlink(&moved, &world.log).unwrap();
        assert!(matches!(world.tail.detect_change(), Err(StoreError::NotALog { .. })));
        assert!(matches!(world.tail.read(|_| ()), Err(StoreError::NotALog { .. })));
    }

    // S-LINE-8
    #[test]
    fn a_line_past_the_bound_is_cut_and_the_next_is_whole() {
        let long = "x".repeat(READ_LINE_BYTES_MAX + 3 * BLOCK_BYTES);
        let mut world = TailFixture::with(&format!("{long}\nnext\n"));
        let mut seen = Vec::new();
        world.tail.read(|line| seen.push((line.bytes.len(), line.line_bytes))).unwrap();
        let long_bytes = u64::try_from(long.len()).unwrap();
        assert_eq!(seen, [(READ_LINE_BYTES_MAX + 1, long_bytes), (4, 4)]);
        world.append("last\n");
        assert_eq!(world.lines(), [(long_bytes + 6, "last".to_owned())]);
    }
}
