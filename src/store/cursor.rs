//! How far a log was read, and how to notice that it is no longer the same log. Not here: reading (`tail`).

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

/// How many bytes before the offset are remembered, to notice that a file was rewritten in place.
pub(super) const GUARD_BYTES: usize = 64;

/// A position in one log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    offset: u64,
    identity: Option<(u64, u64)>,
    guard: Guard,
    /// The state of the file when it was last read to its end, including an unfinished last line.
    seen: Option<FileState>,
}

/// The bytes before the offset. A cursor that was saved has only their count and their SHA-256, because the
/// bytes may contain a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Guard {
    Bytes(Vec<u8>),
    Digest(u8, [u8; 32]),
}

impl Default for Guard {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

impl Guard {
    fn length_bytes(&self) -> u8 {
        match self {
            // The length is at most GUARD_BYTES.
            Self::Bytes(bytes) => u8::try_from(bytes.len()).unwrap_or(u8::MAX),
            Self::Digest(length_bytes, _) => *length_bytes,
        }
    }

    fn is(&self, now: &[u8]) -> bool {
        match self {
            Self::Bytes(bytes) => bytes == now,
            Self::Digest(_, digest) => *digest == <[u8; 32]>::from(Sha256::digest(now)),
        }
    }

    /// Advances past `read`. The bytes before a digest are unknown, so the guard becomes shorter.
    fn advance_by(&mut self, read: &[u8]) {
        let mut bytes = match std::mem::take(self) {
            Self::Bytes(bytes) => bytes,
            Self::Digest(..) => Vec::new(),
        };
        let last = read.get(read.len().saturating_sub(GUARD_BYTES)..).unwrap_or_default();
        bytes.extend_from_slice(last);
        let surplus = bytes.len().saturating_sub(GUARD_BYTES);
        bytes.drain(..surplus);
        *self = Self::Bytes(bytes);
    }
}

/// The length of a file and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState {
    length_bytes: u64,
    modified: SystemTime,
}

impl FileState {
    fn from_metadata(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok()?;
        Some(Self { length_bytes: metadata.len(), modified })
    }
}

/// What happened to a log since the cursor was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// Nothing.
    None,
    /// It is longer.
    Grown,
    /// It is another file, is shorter, or was rewritten. What was read from it no longer counts.
    Replaced,
    /// It was deleted. What was read from it no longer counts.
    Gone,
}

impl Cursor {
    /// Returns how many bytes have been read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Serialises a cursor. Returns `None` if nothing of the log was read.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let (device, inode) = self.identity?;
        let seen = self.seen.as_ref().and_then(|seen| {
            let since = seen.modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some([seen.length_bytes, since.as_secs(), since.subsec_nanos().into()])
        });
        let mut bytes = Vec::new();
        let numbers = [self.offset, device, inode, u64::from(seen.is_some())];
        for number in numbers.into_iter().chain(seen.unwrap_or_default()) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.push(self.guard.length_bytes());
        bytes.extend_from_slice(&match &self.guard {
            Guard::Bytes(bytes) => Sha256::digest(bytes).into(),
            Guard::Digest(_, digest) => *digest,
        });
        Some(bytes)
    }

    /// Reads what [`Cursor::to_bytes`] wrote. The next look compares the log with this cursor as usual.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, guard) = bytes.split_first_chunk::<{ 7 * 8 }>()?;
        let mut numbers = numbers
            .chunks_exact(8)
            .filter_map(|chunk| Some(u64::from_le_bytes(chunk.try_into().ok()?)));
        let mut next = || numbers.next();
        let (offset, identity, has_seen) = (next()?, Some((next()?, next()?)), next()?);
        let (length_bytes, seconds, nanos) = (next()?, next()?, u32::try_from(next()?).ok()?);
        let since = Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanos.into()))?;
        let modified = SystemTime::UNIX_EPOCH.checked_add(since)?;
        let seen = (has_seen == 1).then_some(FileState { length_bytes, modified });
        let (length_bytes, digest) = guard.split_first()?;
        let guard = Guard::Digest(*length_bytes, digest.try_into().ok()?);
        let is_guard =
            usize::from(*length_bytes) <= GUARD_BYTES && u64::from(*length_bytes) <= offset;
        is_guard.then_some(Self { offset, identity, guard, seen })
    }

    /// Compares the log with its earlier state. The length comes first, because most calls need nothing else.
    pub(super) fn compare(&self, file: &mut File, metadata: &Metadata) -> io::Result<FileChange> {
        let is_new = self.identity.is_none();
        if !is_new && (self.identity != Some(identity(metadata)) || metadata.len() < self.offset) {
            return Ok(FileChange::Replaced);
        }
        if let Some(seen) = &self.seen {
            if FileState::from_metadata(metadata).as_ref() == Some(seen) {
                return Ok(FileChange::None);
            }
            if metadata.len() <= seen.length_bytes {
                // The file was written to and is no longer than before, so it was rewritten in place.
                return Ok(FileChange::Replaced);
            }
        } else if metadata.len() == self.offset {
            return Ok(FileChange::None);
        }
        let length_bytes = self.guard.length_bytes();
        file.seek(SeekFrom::Start(self.offset.saturating_sub(length_bytes.into())))?;
        let mut now = vec![0; length_bytes.into()];
        file.read_exact(&mut now)?;
        Ok(if self.guard.is(&now) { FileChange::Grown } else { FileChange::Replaced })
    }

    /// Moves to an offset without having read the bytes before it.
    pub(super) fn skip_to(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// Advances by a line. `read` holds at least its last bytes.
    pub(super) fn advance_by(&mut self, line_bytes: u64, read: &[u8], metadata: &Metadata) {
        self.identity = Some(identity(metadata));
        self.offset += line_bytes;
        self.guard.advance_by(read);
    }

    /// Tells whether this file was read to its end and has not changed since.
    pub(super) fn is_at_end_of(&self, metadata: &Metadata) -> bool {
        self.seen.is_some()
            && self.seen == FileState::from_metadata(metadata)
            && self.identity == Some(identity(metadata))
    }

    /// Records that the file was read to its end, including `unfinished_bytes` of a last line without a line
    /// break, unless the file has grown meanwhile.
    pub(super) fn at_end(&mut self, metadata: &Metadata, unfinished_bytes: u64) {
        let is_end = metadata.len() == self.offset + unfinished_bytes;
        self.seen = FileState::from_metadata(metadata).filter(|_| is_end);
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
    // Without inode numbers, the creation time distinguishes a new file from the old one.
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
        fn with_text(text: &str) -> Self {
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

        /// A cursor after the first `line_bytes`, which need not be the end of the file.
        fn read_to(&self, line_bytes: usize) -> Cursor {
            let (bytes, mut cursor) = (std::fs::read(&self.path).unwrap(), Cursor::default());
            let length = u64::try_from(line_bytes).unwrap();
            cursor.advance_by(length, &bytes[..line_bytes], &self.opened().1);
            cursor
        }

        fn compared_with(&self, cursor: &Cursor) -> FileChange {
            let (mut file, metadata) = self.opened();
            cursor.compare(&mut file, &metadata).unwrap()
        }

        fn set_length(&self, bytes: u64) {
            OpenOptions::new().write(true).open(&self.path).unwrap().set_len(bytes).unwrap();
        }
    }

    // S-READ-2
    #[test]
    fn a_log_shorter_than_the_offset_is_a_replacement() {
        let log = Log::with_text("one\ntwo\n");
        assert_eq!(log.compared_with(&log.read_to(4)), FileChange::Grown);
        let cursor = log.read_to(8);
        assert_eq!(log.compared_with(&cursor), FileChange::None);
        log.set_length(7);
        assert_eq!(log.compared_with(&cursor), FileChange::Replaced);
        log.set_length(0);
        assert_eq!(log.compared_with(&cursor), FileChange::Replaced);
    }

    // S-READ-2
    #[test]
    fn a_saved_cursor_notices_the_same_changes() {
        let log = Log::with_text("one\ntwo\n");
        let mut cursor = log.read_to(8);
        assert_eq!(Cursor::default().to_bytes(), None);
        for is_at_end in [false, true] {
            if is_at_end {
                cursor.at_end(&log.opened().1, 0);
            }
            let bytes = cursor.to_bytes().unwrap();
            let mut again = Cursor::from_bytes(&bytes).unwrap();
            assert_eq!(again.to_bytes().unwrap(), bytes);
            assert_eq!(log.compared_with(&again), log.compared_with(&cursor));
            assert!((0..bytes.len()).all(|end| Cursor::from_bytes(&bytes[..end]).is_none()));
            assert!(!bytes.windows(3).any(|window| window == b"two"), "it may be secret");
            std::fs::write(&log.path, "one\ntwo\nmore\n").unwrap();
            assert_eq!(log.compared_with(&again), FileChange::Grown);
            again.advance_by(5, b"more\n", &log.opened().1);
            assert_eq!(again.guard, Guard::Bytes(b"more\n".to_vec()));
            log.set_length(8);
        }
        std::fs::write(&log.path, "one\ntwx\nmore\n").unwrap();
        let again = Cursor::from_bytes(&cursor.to_bytes().unwrap()).unwrap();
        assert_eq!(log.compared_with(&again), FileChange::Replaced);
    }

    // S-READ-2
    #[test]
    fn another_file_of_the_same_bytes_and_time_is_a_replacement() {
        let (log, other) = (Log::with_text("one\ntwo\n"), Log::with_text("one\ntwo\n"));
        let mut cursor = log.read_to(8);
        assert_eq!(other.compared_with(&cursor), FileChange::Replaced);
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
        assert_eq!(other.compared_with(&cursor), FileChange::Replaced);
    }

    #[test]
    fn the_end_is_known_only_where_nothing_came_meanwhile() {
        let log = Log::with_text("one\ntwo\nthr");
        let (mut cursor, (_, metadata)) = (log.read_to(8), log.opened());
        for (unfinished_bytes, is_end) in [(2, false), (4, false), (3, true)] {
            cursor.at_end(&metadata, unfinished_bytes);
            assert_eq!(cursor.is_at_end_of(&metadata), is_end, "{unfinished_bytes}");
        }
        assert!(!Cursor::default().is_at_end_of(&metadata));
    }

    // S-READ-2
    #[test]
    fn the_guard_holds_only_the_bytes_before_the_offset() {
        let long = format!("{}\n", "x".repeat(2 * GUARD_BYTES));
        for first in ["a\n", &long, &format!("{}\n", "y".repeat(GUARD_BYTES - 1))] {
            let log = Log::with_text(&format!("{first}{long}more\n"));
            let mut cursor = log.read_to(first.len());
            assert_eq!(usize::from(cursor.guard.length_bytes()), first.len().min(GUARD_BYTES));
            let line = u64::try_from(long.len()).unwrap();
            cursor.advance_by(line, long.as_bytes(), &log.opened().1);
            assert_eq!(usize::from(cursor.guard.length_bytes()), GUARD_BYTES);
            assert_eq!(cursor.offset(), u64::try_from(first.len()).unwrap() + line);
            assert_eq!(log.compared_with(&cursor), FileChange::Grown);
            // First the last byte before the offset changes, then one far before it.
            let mut bytes = std::fs::read(&log.path).unwrap();
            let end = first.len() + long.len();
            bytes[end - 2] = b'z';
            std::fs::write(&log.path, &bytes).unwrap();
            assert_eq!(log.compared_with(&cursor), FileChange::Replaced);
        }
    }
}
