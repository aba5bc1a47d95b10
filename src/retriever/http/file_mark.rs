//! What changes when a file is replaced, written, or opened to others. Asking the system for it takes about a microsecond. Not
//! here: the files that are watched so (`known_tokens`, `tls`).

use std::fs::Metadata;

/// The mark of a file.
pub(super) type FileMark = [u64; 5];

/// Returns the mark of a file.
#[cfg(unix)]
pub(super) fn mark_of(found: &Metadata) -> FileMark {
    use std::os::unix::fs::MetadataExt;
    let whole = |number: i64| u64::from_ne_bytes(number.to_ne_bytes());
    let changed = whole(found.ctime());
    [found.ino(), found.size(), changed, whole(found.ctime_nsec()), whole(found.mtime_nsec())]
}

/// Returns the mark of a file.
#[cfg(not(unix))]
pub(super) fn mark_of(found: &Metadata) -> FileMark {
    let modified = found.modified().ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let since = since.unwrap_or_default();
    [found.len(), since.as_secs(), u64::from(since.subsec_nanos()), 0, 0]
}
