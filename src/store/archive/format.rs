//! What readers and writers of a segment agree on. Not here: reading (`read`), writing (`write`).

/// What every part of ours begins with: the header of gzip with a comment. By it the next part is found
/// behind one that is damaged.
pub(super) const MARK: &[u8] = b"\x1F\x8B\x08\x10\0\0\0\0\0\xFFagent-knowledge\0";

/// The most bytes of lines that are put into one segment: past that there is another. One is read whole,
/// and rewritten whole to take a secret out.
pub(super) const SEGMENT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Whether a line has its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Yes.
    Yes,
    /// The file, or the part before one that is damaged, ends in it.
    No,
}
