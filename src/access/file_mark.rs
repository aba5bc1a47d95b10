//! What changes when a file is replaced, written, or opened to others. Asking the system for it takes about a microsecond. Not
//! here: the files that are watched so (`http/known_tokens`, `http/tls`, `program/followed_config`).

use std::fs::Metadata;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The mark of a file.
pub type FileMark = [u64; 5];

/// Longest time in which two writes may leave one mark: the clock of FAT ticks every two seconds, others every few milliseconds.
const TICK: Duration = Duration::from_secs(2);

/// Returns the mark of a file.
#[cfg(unix)]
pub fn file_mark(found: &Metadata) -> FileMark {
    use std::os::unix::fs::MetadataExt;
    let whole = |number: i64| u64::from_ne_bytes(number.to_ne_bytes());
    let changed = whole(found.ctime());
    [found.ino(), found.size(), changed, whole(found.ctime_nsec()), whole(found.mtime_nsec())]
}

/// Returns the mark of a file.
#[cfg(not(unix))]
pub fn file_mark(found: &Metadata) -> FileMark {
    let modified = found.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let since = since.unwrap_or_default();
    [found.len(), since.as_secs(), u64::from(since.subsec_nanos()), 0, 0]
}

/// Returns the mark of a file that every later write changes. A file that was written a moment ago, or in the future, has none: it may be
/// written once more in the same tick of the clock, with a text of the same length.
pub fn settled_file_mark(found: &Metadata, now: SystemTime) -> Option<FileMark> {
    let age = now.duration_since(changed_at(found)?).ok()?;
    (age >= TICK).then(|| file_mark(found))
}

/// Returns when a file was last changed. Nobody can set this time, unlike that of the last write.
#[cfg(unix)]
fn changed_at(found: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(found.ctime()).ok()?))
}

/// Returns when a file was last written.
#[cfg(not(unix))]
fn changed_at(found: &Metadata) -> Option<SystemTime> {
    found.modified().ok()
}
