//! How far a log has been read, and how to notice that it is no longer the same log.
//! Not here: reading (`tail`).

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::SystemTime;

/// How many bytes before the offset are remembered, to notice that a file was rewritten in place.
pub(super) const GUARD_BYTES: usize = 64;

/// A position in one log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    offset: u64,
    identity: Option<(u64, u64)>,
    guard: Vec<u8>,
    /// What the file was when it had last been read to its end, an unfinished last line included.
    seen: Option<Seen>,
}

/// How long a file was and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    length_bytes: u64,
    modified: SystemTime,
}

impl Seen {
    fn of(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok()?;
        Some(Self { length_bytes: metadata.len(), modified })
    }
}

/// What happened to a log since the cursor was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// It is longer.
    Grown,
    /// It is another file, shorter, or was rewritten: what was read from it no longer counts.
    Replaced,
    /// It is gone: what was read from it no longer counts.
    Gone,
}

impl Cursor {
    /// Returns how many bytes have been read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Compares the log with what it was; looks at its length first, since that is all most calls need.
    pub(super) fn compare(&self, file: &mut File, metadata: &Metadata) -> io::Result<Change> {
        let is_new = self.identity.is_none();
        if !is_new && (self.identity != Some(identity(metadata)) || metadata.len() < self.offset) {
            return Ok(Change::Replaced);
        }
        if let Some(seen) = &self.seen {
            if Seen::of(metadata).as_ref() == Some(seen) {
                return Ok(Change::None);
            }
            if metadata.len() <= seen.length_bytes {
                // Written to, yet no longer than before: rewritten in place.
                return Ok(Change::Replaced);
            }
        } else if metadata.len() == self.offset {
            return Ok(Change::None);
        }
        let start = self.offset.saturating_sub(u64::try_from(self.guard.len()).unwrap_or(0));
        file.seek(SeekFrom::Start(start))?;
        let mut now = vec![0; self.guard.len()];
        file.read_exact(&mut now)?;
        Ok(if now == self.guard { Change::Grown } else { Change::Replaced })
    }

    /// Moves on by a line, of which `read` are at least the last bytes.
    pub(super) fn advance_by(&mut self, line_bytes: u64, read: &[u8], metadata: &Metadata) {
        self.identity = Some(identity(metadata));
        self.offset += line_bytes;
        self.guard.extend_from_slice(
            read.get(read.len().saturating_sub(GUARD_BYTES)..).unwrap_or_default(),
        );
        let surplus = self.guard.len().saturating_sub(GUARD_BYTES);
        self.guard.drain(..surplus);
    }

    /// Tells whether the file is the one that was read to its end, and untouched since.
    pub(super) fn is_at_end_of(&self, metadata: &Metadata) -> bool {
        self.seen.is_some()
            && self.seen == Seen::of(metadata)
            && self.identity == Some(identity(metadata))
    }

    /// Notes that the file has been read to its end, `unfinished_bytes` of a last line without its
    /// line break included, unless it has grown meanwhile.
    pub(super) fn at_end(&mut self, metadata: &Metadata, unfinished_bytes: u64) {
        let is_end = metadata.len() == self.offset + unfinished_bytes;
        self.seen = Seen::of(metadata).filter(|_| is_end);
        self.identity = Some(identity(metadata));
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> (u64, u64) {
    // Without inode numbers the time of creation tells a new file from the old one.
    let created =
        metadata.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    (0, created.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::path::PathBuf;

    struct Log {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl Log {
        fn of(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.jsonl");
            std::fs::write(&path, text).unwrap();
            Self { _folder: folder, path }
        }

        fn opened(&self) -> (File, Metadata) {
            let file = File::open(&self.path).unwrap();
            let metadata = file.metadata().unwrap();
            (file, metadata)
        }

        /// A cursor behind the first `line_bytes` of it, which is not known to be its end.
        fn read_to(&self, line_bytes: usize) -> Cursor {
            let (bytes, mut cursor) = (std::fs::read(&self.path).unwrap(), Cursor::default());
            let length = u64::try_from(line_bytes).unwrap();
            cursor.advance_by(length, &bytes[..line_bytes], &self.opened().1);
            cursor
        }

        fn compared_with(&self, cursor: &Cursor) -> Change {
            let (mut file, metadata) = self.opened();
            cursor.compare(&mut file, &metadata).unwrap()
        }

        fn set_length(&self, bytes: u64) {
            OpenOptions::new().write(true).open(&self.path).unwrap().set_len(bytes).unwrap();
        }
    }

    // S-READ-2
    #[test]
    fn a_length_below_the_offset_is_a_replacement_and_the_offset_itself_is_nothing_new() {
        let log = Log::of("one\ntwo\n");
        assert_eq!(log.compared_with(&log.read_to(4)), Change::Grown);
        let cursor = log.read_to(8);
        assert_eq!(log.compared_with(&cursor), Change::None);
        log.set_length(7);
        assert_eq!(log.compared_with(&cursor), Change::Replaced);
        log.set_length(0);
        assert_eq!(log.compared_with(&cursor), Change::Replaced);
    }

    // S-READ-2
    #[test]
    fn another_file_of_the_same_bytes_and_time_is_a_replacement() {
        let (log, other) = (Log::of("one\ntwo\n"), Log::of("one\ntwo\n"));
        let mut cursor = log.read_to(8);
        assert_eq!(other.compared_with(&cursor), Change::Replaced);
        let (_, metadata) = log.opened();
        cursor.at_end(&metadata, 0);
        File::options()
            .write(true)
            .open(&other.path)
            .unwrap()
            .set_modified(metadata.modified().unwrap())
            .unwrap();
        assert!(cursor.is_at_end_of(&metadata));
        assert!(!cursor.is_at_end_of(&other.opened().1));
        assert_eq!(other.compared_with(&cursor), Change::Replaced);
    }

    #[test]
    fn the_end_is_known_only_where_nothing_came_meanwhile() {
        let log = Log::of("one\ntwo\nthr");
        let (mut cursor, (_, metadata)) = (log.read_to(8), log.opened());
        for (unfinished_bytes, is_end) in [(2, false), (4, false), (3, true)] {
            cursor.at_end(&metadata, unfinished_bytes);
            assert_eq!(cursor.is_at_end_of(&metadata), is_end, "{unfinished_bytes}");
        }
        assert!(!Cursor::default().is_at_end_of(&metadata));
    }

    // S-READ-2
    #[test]
    fn the_guard_is_the_bytes_before_the_offset_and_no_more_than_it_needs() {
        let long = format!("{}\n", "x".repeat(2 * GUARD_BYTES));
        for first in ["a\n", &long, &format!("{}\n", "y".repeat(GUARD_BYTES - 1))] {
            let log = Log::of(&format!("{first}{long}more\n"));
            let mut cursor = log.read_to(first.len());
            assert_eq!(cursor.guard.len(), first.len().min(GUARD_BYTES));
            let line = u64::try_from(long.len()).unwrap();
            cursor.advance_by(line, long.as_bytes(), &log.opened().1);
            assert_eq!(cursor.guard.len(), GUARD_BYTES);
            assert_eq!(cursor.offset(), u64::try_from(first.len()).unwrap() + line);
            assert_eq!(log.compared_with(&cursor), Change::Grown);
            // The last byte before the offset, then one far before it.
            let mut bytes = std::fs::read(&log.path).unwrap();
            let end = first.len() + long.len();
            bytes[end - 2] = b'z';
            std::fs::write(&log.path, &bytes).unwrap();
            assert_eq!(log.compared_with(&cursor), Change::Replaced);
        }
    }
}
