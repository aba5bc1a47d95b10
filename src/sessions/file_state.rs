//! Whether a transcript has changed since it was read: not at all, only grown, or rewritten. An unchanged file costs one
//! `stat`. Not here: where the states are kept (`session_rows`).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::stored_exchange::hash;

/// Bytes at the beginning, and before the old end, that must be the same in a file that has only grown.
const COMPARED_BYTES: u64 = 4 << 10;

/// What the system says of a file without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970; 0 if the system does not say.
    pub mtime_ns: i64,
    /// Its number in the file system; 0 where there is none.
    pub inode: u64,
}

/// What a file was like when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptState {
    /// What the system said before it was read.
    pub stat: FileStat,
    /// Identifies its first bytes.
    pub head: i64,
    /// Identifies the bytes before [`TranscriptState::end`].
    pub tail: i64,
    /// Where reading stopped.
    pub end: u64,
}

/// What happened to a file since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptChange {
    /// Nothing.
    Unchanged,
    /// Something was appended.
    Grown,
    /// It is another file, or was rewritten.
    Rewritten,
}

/// The extensions of databases, whose newest rows are in a second file.
const DATABASES: [&str; 4] = ["db", "sqlite", "sqlite3", "vscdb"];

impl FileStat {
    /// What no file is like: a file with this stat is read the next time, however it is.
    pub const UNREAD: Self = Self { size: 0, mtime_ns: 0, inode: 0 };

    /// Asks the system. Of a database, the file with its newest rows counts too.
    ///
    /// # Errors
    /// Those of the file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut stat = Self::of_one(path)?;
        let extension = path.extension().and_then(|extension| extension.to_str());
        if extension.is_some_and(|extension| DATABASES.contains(&extension)) {
            let mut log = path.as_os_str().to_owned();
            log.push("-wal");
            if let Ok(newest) = Self::of_one(Path::new(&log)) {
                stat.size = stat.size.saturating_add(newest.size);
                stat.mtime_ns = stat.mtime_ns.max(newest.mtime_ns);
            }
        }
        Ok(stat)
    }

    fn of_one(path: &Path) -> io::Result<Self> {
        let metadata = path.metadata()?;
        let written = metadata.modified().ok();
        let since = written.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let mtime_ns = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Ok(Self { size: metadata.len(), mtime_ns: mtime_ns.unwrap_or_default(), inode })
    }
}

impl TranscriptState {
    /// Describes a file that was read up to `end`; `stat` was asked before.
    ///
    /// # Errors
    /// Those of the file.
    pub fn read(path: &Path, stat: FileStat, end: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let head = hash_at(&mut file, 0, COMPARED_BYTES.min(end))?;
        let from = end.saturating_sub(COMPARED_BYTES);
        let tail = hash_at(&mut file, from, end - from)?;
        Ok(Self { stat, head, tail, end })
    }

    /// Tells what happened to the file since. Only a file whose `stat` is another is opened.
    ///
    /// # Errors
    /// Those of the file.
    pub fn change_since(&self, path: &Path, now: FileStat) -> io::Result<TranscriptChange> {
        if self.stat == now {
            return Ok(TranscriptChange::Unchanged);
        }
        if now.size < self.end {
            return Ok(TranscriptChange::Rewritten);
        }
        let then = Self::read(path, now, self.end)?;
        let is_longer = then.head == self.head && then.tail == self.tail;
        Ok(if is_longer { TranscriptChange::Grown } else { TranscriptChange::Rewritten })
    }
}

fn hash_at(file: &mut File, from: u64, bytes: u64) -> io::Result<i64> {
    file.seek(SeekFrom::Start(from))?;
    let mut buffer = Vec::new();
    file.take(bytes).read_to_end(&mut buffer)?;
    Ok(hash(&[&buffer]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_is_told_from_rewriting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let long = "line\n".repeat(3_000);
        let stat = || FileStat::read(&path).unwrap();
        let changed = |state: &TranscriptState| state.change_since(&path, stat()).unwrap();
        std::fs::write(&path, &long).unwrap();
        let state = TranscriptState::read(&path, stat(), long.len() as u64).unwrap();
        assert_eq!(changed(&state), TranscriptChange::Unchanged);
        std::fs::write(&path, format!("{long}more\n")).unwrap();
        assert_eq!(changed(&state), TranscriptChange::Grown);
        std::fs::write(&path, format!("{}LINE\nmore\n", long.strip_suffix("line\n").unwrap()))
            .unwrap();
        assert_eq!(changed(&state), TranscriptChange::Rewritten, "the end is another");
        std::fs::write(&path, "short").unwrap();
        assert_eq!(changed(&state), TranscriptChange::Rewritten);
    }

    #[test]
    fn rows_that_are_only_in_the_log_change_a_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        std::fs::write(&path, "x").unwrap();
        let before = FileStat::read(&path).unwrap();
        std::fs::write(folder.path().join("a.db-wal"), "rows").unwrap();
        assert_ne!(FileStat::read(&path).unwrap(), before);
    }
}
