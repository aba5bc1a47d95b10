//! What readers and writers of a segment agree on. Not here: reading (`segment_reader`), writing (`segment_writer`).

/// The beginning of each of our parts: a gzip header with a comment. The reader finds the part after a damaged
/// one by it.
pub(super) const MARK: &[u8] = b"\x1F\x8B\x08\x10\0\0\0\0\0\xFFagent-knowledge\0";

/// The most bytes of lines in one segment; more lines go to the next one. A segment is read whole, and
/// rewritten whole to remove a secret.
pub(super) const SEGMENT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Whether a line has its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineBreak {
    /// The line has a line break.
    Present,
    /// The line is the end of the file, or of the part before a damaged one.
    Missing,
}
